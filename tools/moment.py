# SPDX-License-Identifier: GPL-2.0-or-later
"""Dates and times read from texts as people and programs write them. No QGIS here.

A column is read as a whole: whether 03/04 is March or April is told by its other values.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass

from .base import MendableError

_CLOCK = (
    r"(?:[T ]\s*(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?)?"
)
_ZONE = r"\s*(?P<zone>Z|[+-]\d\d:?\d\d)?"
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?:(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?)?"
    + _CLOCK + _ZONE
)  # fmt: skip
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)" + _CLOCK + _ZONE)
_YEAR_LAST = re.compile(
    r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<next>\d{1,2})(?P=mark)(?P<year>\d{4})" + _CLOCK + _ZONE
)
_DAY_FIRST, _MONTH_FIRST = "day first", "month first"
ORDERS = (_DAY_FIRST, _MONTH_FIRST)


@dataclass(frozen=True)
class Span:
    """What a text names: its first moment and the first one after it, in UTC or without zone."""

    start: datetime.datetime
    end: datetime.datetime


def order_of(texts: Iterable[str], name: str) -> str:
    """Return whether day or month stands first in texts such as 03/04/2020, "" when none is so.

    Raises MendableError when nothing tells.
    """
    seen = False
    for text in texts:
        found = _YEAR_LAST.fullmatch(text.strip())
        if not found:
            continue
        if found["mark"] == "." or int(found["first"]) > 12:
            return _DAY_FIRST
        if int(found["next"]) > 12:
            return _MONTH_FIRST
        seen = True
    if seen:
        raise MendableError(
            f"{name} holds dates such as 03/04/2020, and nothing tells whether the day or the "
            f"month stands first: say order = {_DAY_FIRST} or {_MONTH_FIRST}."
        )
    return ""


def read(text: str, order: str = "") -> Span | None:
    """Return what a text names: a year, a month, a day or a moment; None when it is none."""
    text = text.strip()
    found = _COMPACT.fullmatch(text) or _YEAR_FIRST.fullmatch(text)
    try:
        if found:
            return _span(found, found["month"], found["day"])
        found = _YEAR_LAST.fullmatch(text)
        if found and order:
            parts = found["first"], found["next"]
            day, month = parts if order == _DAY_FIRST else parts[::-1]
            return _span(found, month, day)
    except ValueError:
        return None  # such as 31 February
    return None


def _span(found: re.Match[str], month: str | None, day: str | None) -> Span:
    year = int(found["year"])
    if month is None:
        return Span(datetime.datetime(year, 1, 1), datetime.datetime(year + 1, 1, 1))
    if day is None:
        days = calendar.monthrange(year, int(month))[1]
        start = datetime.datetime(year, int(month), 1)
        return Span(start, start + datetime.timedelta(days=days))
    start = datetime.datetime(year, int(month), int(day))
    if found["hour"] is None:
        return Span(start, start + datetime.timedelta(days=1))
    micro = int((found["part"] or "0")[:6].ljust(6, "0"))
    moment = start + datetime.timedelta(
        hours=int(found["hour"]),
        minutes=int(found["minute"]),
        seconds=int(found["second"] or 0),
        microseconds=micro,
    )
    moment -= _offset(found["zone"])
    length = (
        datetime.timedelta(microseconds=1) if found["second"] else (datetime.timedelta(minutes=1))
    )
    return Span(moment, moment + length)


def _offset(zone: str | None) -> datetime.timedelta:
    if not zone or zone == "Z":
        return datetime.timedelta()
    sign = -1 if zone[0] == "-" else 1
    return sign * datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
