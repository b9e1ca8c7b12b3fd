# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds an answer's numbers to the results: known ones are written in the user's locale,
unknown ones are found, so that no number of the model's own reaches the user."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .reading import NUMBER, equals, matches, meant

Format = Callable[[float], str]
"""Writes a number in the user's locale."""

_REFERENCE = re.compile(r"\{?\b(r\d+)\.([\w ]+?)\}|\b(r\d+)\.(\w+)")
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
    spoken = {found.group(0) for found in NUMBER.finditer(given)}
    unknown: list[str] = []
    said: list[float] = []

    def replace(match: re.Match[str]) -> str:
        written = match.group(0)
        exact = None if match.group("code") else meant(written, numbers.values(), equals)
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

    reworded = NUMBER.sub(replace, _REFERENCE.sub(fill, text))
    return Worded(reworded, tuple(unknown), tuple(said))
