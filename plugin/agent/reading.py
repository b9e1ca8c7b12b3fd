# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds and reads the numbers of a sentence: with either decimal mark, and apart from dates and
codes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

_CODE = (
    r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?)?(?![\w-])|\d{1,2}:\d\d(?::\d\d)?"
    r"|\d+(?:\.\d+){2,}|[A-Z]{2,}:\d+"
)
_UNIT = r"(?:[kcm]?m|ha|mi|ft)[\u00b2\u00b323]?"
NUMBER = re.compile(
    rf"(?<![\w.])(?:(?P<code>{_CODE})|[-+\u2212]?(?:"
    r"\d{1,3}(?:[.\u00a0\u202f ]\d{3})+,\d+|\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?"
    rf"|\d+,\d+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?))(?=(?:{_UNIT})?(?!\w))"
)
"""A date, a time, a version or a code such as EPSG:4326 as a whole; else a number with either
decimal mark, perhaps with a unit right behind it."""


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


def equals(_digits: str, number: float, known: float) -> bool:
    """Tell whether a number is the known one, not rounded."""
    return math.isclose(number, known, rel_tol=1e-9, abs_tol=1e-12)
