# SPDX-License-Identifier: GPL-2.0-or-later
"""The date that a name tells: A2023060, 20230601, 2023-06, June 2023."""

from __future__ import annotations

import datetime
import re

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_YEAR = r"(?P<year>(?:19|20)\d{2})"
_SPELLED = "|".join(f"{one}[a-z]*" for one in _MONTHS)
_PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}-(?P<month>\d{{2}})-(?P<day>\d{{2}})(?!\d)",
        rf"(?<!\d){_YEAR}(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?!\d)",
        rf"(?<!\d){_YEAR}(?P<doy>[0-3]\d{{2}})(?!\d)",
        rf"(?<!\d){_YEAR}[-_.](?P<month>\d{{1,2}})[-_.](?P<day>\d{{1,2}})(?!\d)",
        rf"(?<!\d){_YEAR}[-_. ]?(?P<month>0[1-9]|1[0-2])(?!\d)",
        rf"(?<![a-z])(?P<word>{_SPELLED})[-_. ]*{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}[-_. ]*(?P<word>{_SPELLED})(?![a-z])",
        rf"(?<!\d){_YEAR}(?!\d)",
    )
]


def date_of(text: str) -> datetime.date | None:
    """Return the first date that a text tells, the first of its month or year where it says no
    day; None for none."""
    for pattern in _PATTERNS:
        for found in pattern.finditer(text):
            date = _made(found.groupdict())
            if date is not None:
                return date
    return None


def _made(parts: dict[str, str | None]) -> datetime.date | None:
    year = int(parts["year"] or 0)
    month, day = int(parts.get("month") or 1), int(parts.get("day") or 1)
    if parts.get("word"):
        month = _MONTHS.index(str(parts["word"]).lower()[:3]) + 1
    try:
        if parts.get("doy"):
            date = datetime.date(year, 1, 1) + datetime.timedelta(int(parts["doy"] or 1) - 1)
            return date if date.year == year else None
        return datetime.date(year, month, day)
    except ValueError:
        return None
