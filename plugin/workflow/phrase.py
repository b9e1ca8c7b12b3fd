# SPDX-License-Identifier: GPL-2.0-or-later
"""What the words of an objective or a question say: distances, years, operations, returns."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NUMBER = r"\d{1,3}(?:[ ,\u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d{2}(?![\d,]|\.\d)")
_DATE = re.compile(r"\b\d{4}-\d{2}(?:-\d{2})?\b")
_CRS = re.compile(r"\b(?:EPSG|ESRI|OGC):\s?\w+\b|\bWGS ?84\b|\bUTM\b", re.IGNORECASE)
_VERBS = (
    "are|is|have|has|had|were|was|lie|lies|live|lives|lived|do|does|did|can|could|touch|border"
    "|cross|intersect|contain|stand|overlap|fall|exist|belong"
)
_AFTER = "within|in|of|on|at|with|without|there|that|which"
_COUNTED = re.compile(
    rf"\bhow many (?:other |more |different |of the )?(.+?)(?= (?:{_VERBS}|{_AFTER})\b|[?,.]|$)",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?<![\w/])[\w-]+\.(?:gpkg|geojson|json|csv|shp|tiff?|png|pdf|svg|kml|fgb|parquet|xlsx)\b",
    re.I,
)
_PLAIN = re.compile(rf"(?<![\w.,:/\-])(?=\d\d|\d[ .,]\d)(?:{_NUMBER})(?![\w%:/]|[.,-]\d|\s?%|-)")
_SHORT, _STEM = 2, 3
_MADE_OF = r"[a-z]{0,3}"
_QUOTED = re.compile("[\"“”«»']([^\"“”«»']{2,60})[\"“”«»']")


@dataclass(frozen=True)
class Distance:
    """A length as a text says it: the number, the unit and the metres that both mean."""

    number: float
    unit: str
    metres: float
    text: str


@dataclass(frozen=True)
class Large:
    """A number with a word such as million, as a text says it."""

    number: float
    text: str


@dataclass(frozen=True)
class Operation:
    """A kind of work that an objective may ask for, and the parts that it then has to name."""

    name: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]


class Phrases:
    """The words of operations, units and numbers in five languages, from data."""

    def __init__(self, form: Mapping[str, Any]) -> None:
        self._operations = tuple(
            Operation(one["name"], tuple(one["needs"]), _words(one["words"]))
            for one in form["operations"]
        )
        self._returns = _words(form["returns"])
        self._metres: dict[str, float] = form["metres"]
        self._units = {unit: _whole(words) for unit, words in form["units"].items()}
        self._spelt = {word: float(one) for word, one in form["numbers"].items()}
        spelt = "|".join(sorted(self._spelt, key=len, reverse=True))
        units = "|".join(word for words in form["units"].values() for word in words)
        self._distance = re.compile(
            rf"(?<![\w.])({_NUMBER}|{spelt})[\s\u00a0\u202f-]?({units})(?![\w²³^])", re.IGNORECASE
        )

        self._areas = {
            unit: re.compile(rf"(?<![\w/])(?<!per )(?:{'|'.join(words)})(?![\w²])", re.IGNORECASE)
            for unit, words in form["areas"].items()
        }
        self._ends = {key: _words(words) for key, words in form["ends"].items()}
        scales = [(float(one), words) for one, words in form["scales"].items()]
        self._scales = [(one, _whole(words)) for one, words in scales]
        named = "|".join(word for _, words in scales for word in words)
        self._large = re.compile(rf"(?<![\w.,])({_NUMBER})[\s\u00a0\u202f]({named})(?!\w)", re.I)

    def operations(self, text: str) -> tuple[Operation, ...]:
        """Return the operations that a text asks for, in the order of the data."""
        return tuple(one for one in self._operations if one.pattern.search(text))

    def returns(self, text: str) -> bool:
        """Tell whether a text says what is given back."""
        return bool(self._returns.search(text))

    def distances(self, text: str) -> Iterator[Distance]:
        """Yield the lengths in a text that have a unit."""
        for found in self._distance.finditer(text):
            number = self._value(found.group(1))
            unit = next(
                key for key, words in self._units.items() if words.fullmatch(found.group(2))
            )
            yield Distance(number, unit, number * self._metres[unit], found.group(0))

    def areas(self, text: str) -> frozenset[str]:
        """Return the units of area that a text says, but those of a density."""
        return frozenset(unit for unit, words in self._areas.items() if words.search(text))

    def is_area(self, unit: str) -> bool:
        """Tell whether a unit is one of area."""
        return unit in self._areas

    def ends(self, text: str) -> frozenset[str]:
        """Return the sides whose end a text asks for, as x_max for the easternmost."""
        return frozenset(key for key, words in self._ends.items() if words.search(text))

    def is_end(self, key: str) -> bool:
        """Tell whether a number is the end of a side."""
        return key in self._ends

    def large_numbers(self, text: str) -> Iterator[Large]:
        """Yield the numbers of a text that are said with a word such as million."""
        for found in self._large.finditer(text):
            scale = next(one for one, words in self._scales if words.fullmatch(found.group(2)))
            yield Large(self._value(found.group(1)) * scale, found.group(0))

    def plain_numbers(self, text: str) -> Iterator[tuple[float, str]]:
        """Yield the numbers of two digits or more that are no distance, year, date, code, share,
        area or part of a name, and are not said with a word such as million."""
        for found in (self._distance, self._large, _CRS, _DATE, _YEAR, _QUOTED):
            text = found.sub(" ", text)
        for match in _PLAIN.finditer(text):
            rest = text[match.end() :].lstrip()
            if not any(words.match(rest) for words in self._areas.values()):
                yield self._value(match.group(0)), match.group(0)

    def says_number(self, text: str) -> bool:
        """Tell whether a text says a number that is no distance, date, code or part of a name."""
        numbers = (*self.plain_numbers(text), *self.large_numbers(text))
        return bool(numbers)

    def _value(self, text: str) -> float:
        for pattern, value in self._spelt.items():
            if re.fullmatch(pattern, text, re.IGNORECASE):
                return value
        return float(re.sub(r"[ ,\u00a0\u202f]", "", text))


def load(path: Path) -> Phrases:
    """Return the phrases of a file. Raises OSError and ValueError."""
    return Phrases(json.loads(path.read_text(encoding="utf-8")))


def years(text: str) -> frozenset[str]:
    """Return the years that a text names, those in dates too."""
    return frozenset(_YEAR.findall(text))


def counted(text: str) -> str:
    """Return what an English question asks the number of ("other counties"), "" for none."""
    found = _COUNTED.search(text)
    return found.group(1).strip() if found else ""


def files(text: str) -> tuple[str, ...]:
    """Return the names of files that a text says."""
    return tuple(_FILE.findall(text))


def has_dates(text: str) -> bool:
    """Tell whether a text names a date or a year."""
    return bool(_YEAR.search(text) or _DATE.search(text))


def has_crs(text: str) -> bool:
    """Tell whether a text names a CRS."""
    return bool(_CRS.search(text))


def quoted(text: str) -> tuple[str, ...]:
    """Return what stands in quotes."""
    return tuple(one.strip() for one in _QUOTED.findall(text))


def names(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names that a text says as words of their own, whatever their case."""
    folded = text.casefold()
    return tuple(
        one for one in known if re.search(rf"(?<!\w){re.escape(one.casefold())}(?!\w)", folded)
    )


def proper(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the proper names that a text says: with a capital, in the very spelling, as words of
    their own, and the longest where one lies within another. A word made of a name, such as
    African, says the name."""
    found = [
        one
        for one in known
        if one in text
        and re.search(rf"(?<!\w){re.escape(one)}{_MADE_OF if len(one) > _STEM else ''}(?!\w)", text)
    ]
    return tuple(one for one in found if not any(one != other and one in other for other in found))


def is_proper(text: str) -> bool:
    """Tell whether a text may be a proper name: it begins with a capital and goes on."""
    return len(text) > _SHORT and text[0].isupper() and not text.isupper()


def _words(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})", re.IGNORECASE)


def _whole(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)
