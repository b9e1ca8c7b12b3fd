# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds an answer's numbers to the results: known ones are written in the user's locale,
unknown ones are found, so that no number of the model's own reaches the user."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Format = Callable[[float], str]
"""Writes a number in the user's locale."""

_REFERENCE = re.compile(r"\{?\b(r\d+)\.([\w ]+?)\}|\b(r\d+)\.(\w+)")
_CODE = (
    r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?)?(?![\w-])|\d{1,2}:\d\d(?::\d\d)?"
    r"|\d+(?:\.\d+){2,}|[A-Z]{2,}:\d+"
)
_UNIT = r"(?:[kcm]?m|ha|mi|ft)[\u00b2\u00b323]?"
_NUMBER = re.compile(
    rf"(?<![\w.])(?:(?P<code>{_CODE})|[-+\u2212]?(?:"
    r"\d{1,3}(?:[.\u00a0\u202f ]\d{3})+,\d+|\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?"
    rf"|\d+,\d+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?))(?=(?:{_UNIT})?(?!\w))"
)
"""A date, a time, a version or a code such as EPSG:4326 as a whole; else a number with either
decimal mark, perhaps with a unit right behind it."""
_YEARS = (1500, 2100)
_MARKER = re.compile(r"(?:^|\n)[ \t]*$")


@dataclass(frozen=True)
class Worded:
    """The text with its numbers written for the user, those that no result holds, and those of
    results that it says."""

    text: str
    unknown: tuple[str, ...]
    said: tuple[float, ...] = ()

    def leaves_out(self, value: float) -> bool:
        """Tell whether the text says other numbers of results but not `value`."""
        return bool(self.said) and not any(
            math.isclose(abs(one), abs(value), rel_tol=5e-3) for one in self.said
        )


def parse_number(text: str) -> float | None:
    """Read a number as written in a sentence, with or without group marks; None if unreadable."""
    plain = re.sub(r"(?<=\d)[,\u00a0\u202f ](?=\d{3}(\D|$))", "", text.replace("\u2212", "-"))
    try:
        return float(plain.replace(",", "."))
    except ValueError:
        return None


def matches(written: str, number: float, known: float) -> bool:
    """Tell whether `number`, written with its digits, is `known` rounded to these digits."""
    if math.isclose(number, known, rel_tol=1e-9, abs_tol=1e-12):
        return True
    digits = len(written.split(".")[1]) if "." in written else 0
    significant = len(re.sub(r"\D", "", written).lstrip("0"))
    if significant < 3 and known != round(known) and (digits == 0 or abs(known) >= 10):
        return False
    return abs(number - known) <= 0.5 * 10.0**-digits + 1e-12 and (digits > 0 or abs(known) >= 1)


def readings(written: str) -> list[tuple[str, float]]:
    """Return what a written number may mean, each with its digits: "1.234" is either."""
    plain = re.sub(r"[\u00a0\u202f ]", "", written.replace("\u2212", "-"))
    forms = [plain.replace(",", ""), plain.replace(".", "").replace(",", ".")]
    if "," in plain and not re.search(r",\d{3}(\D|$)", plain):
        forms = forms[1:]
    elif not re.search(r"\.\d{3}(\D|$)|,", plain):
        forms = forms[:1]
    numbers = [(form, parse_number(form)) for form in forms]
    return [(form, number) for form, number in numbers if number is not None]


def meant(
    written: str, numbers: Iterable[float], fits: Callable[[str, float, float], bool]
) -> float | None:
    """Return the known number that is written, None for no such; "fell by 5" may mean -5."""
    for known in numbers:
        for digits, number in readings(written):
            if fits(digits, number, known):
                return known
            if number > 0 and fits(digits, -number, known):
                return -known
    return None


def _is(_digits: str, number: float, known: float) -> bool:
    return math.isclose(number, known, rel_tol=1e-9, abs_tol=1e-12)


def reword(
    text: str, numbers: Mapping[str, float], allowed: Iterable[str], write: Format
) -> Worded:
    """Fill in references such as {r2.count}, and rewrite every number that a result holds.

    `numbers` holds the results by reference. Numbers that stand in one of the `allowed` texts
    (the question, layer and field names, text values) are left as they are, and so are years;
    a date, a version or a code is left when it stands there as a whole.
    """

    def fill(match: re.Match[str]) -> str:
        key = f"{match.group(1) or match.group(3)}.{match.group(2) or match.group(4)}"
        return repr(numbers[key]) if key in numbers else match.group(0)

    given = " ".join(allowed)
    spoken = {found.group(0) for found in _NUMBER.finditer(given)}
    unknown: list[str] = []
    said: list[float] = []

    def replace(match: re.Match[str]) -> str:
        written = match.group(0)
        exact = None if match.group("code") else meant(written, numbers.values(), _is)
        if exact is not None:
            said.append(exact)
            year = re.fullmatch(r"\d{4}", written) and _YEARS[0] <= int(written) <= _YEARS[1]
            return written if year else write(exact)
        listed = match.string[match.end() : match.end() + 2] in (". ", ") ")
        if written in spoken or (listed and _MARKER.search(match.string[: match.start()])):
            return written
        rounded = None if match.group("code") else meant(written, numbers.values(), matches)
        if rounded is not None:
            said.append(rounded)
            return write(rounded)
        unknown.append(written)
        return written

    reworded = _NUMBER.sub(replace, _REFERENCE.sub(fill, text))
    return Worded(reworded, tuple(unknown), tuple(said))
