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
_NUMBER = re.compile(
    r"(?<![\w.])[-+\u2212]?(?:\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?"
    r"|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\d+,\d+)(?![\w])"
)
_MARKER = re.compile(r"(?:^|\n)[ \t]*$")


@dataclass(frozen=True)
class Worded:
    """The text with its numbers written for the user, and the numbers that no result holds."""

    text: str
    unknown: tuple[str, ...]


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
    if significant < 3 and known != round(known) and abs(known) >= 10:
        return False
    return abs(number - known) <= 0.5 * 10.0**-digits + 1e-12 and (digits > 0 or abs(known) >= 1)


def reword(
    text: str, numbers: Mapping[str, float], allowed: Iterable[str], write: Format
) -> Worded:
    """Fill in references such as {r2.count}, and rewrite every number that a result holds.

    `numbers` holds the results by reference. Numbers that stand in one of the `allowed` texts
    (the question, layer and field names, text values) are left as they are.
    """

    def fill(match: re.Match[str]) -> str:
        key = f"{match.group(1) or match.group(3)}.{match.group(2) or match.group(4)}"
        return repr(numbers[key]) if key in numbers else match.group(0)

    given = " ".join(allowed)
    spoken = {found.group(0) for found in _NUMBER.finditer(given)}
    unknown: list[str] = []

    def replace(match: re.Match[str]) -> str:
        written = match.group(0)
        number = parse_number(written)
        if number is None:
            return written
        plain = written.replace(",", "") if "." in written else written
        for known in numbers.values():
            if matches(plain, number, known) or matches(plain, -number, known):
                return write(known if number * known >= 0 else -known)
        listed = match.string[match.end() : match.end() + 2] in (". ", ") ")
        if written in spoken or (listed and _MARKER.search(match.string[: match.start()])):
            return written
        unknown.append(written)
        return written

    return Worded(_NUMBER.sub(replace, _REFERENCE.sub(fill, text)), tuple(unknown))
