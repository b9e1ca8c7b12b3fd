# SPDX-License-Identifier: GPL-2.0-or-later
"""Dates read from texts."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_olm.tools.base import MendableError
from geo_olm.tools.moment import Span, order_of, read

DAY = datetime.timedelta(days=1)


def at(*parts: int) -> datetime.datetime:
    return datetime.datetime(*parts)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024", at(2024, 1, 1), at(2025, 1, 1)),
        ("2024-02", at(2024, 2, 1), at(2024, 3, 1)),
        ("2024-12", at(2024, 12, 1), at(2025, 1, 1)),
        ("2024-02-29", at(2024, 2, 29), at(2024, 3, 1)),
        ("2024/2/9", at(2024, 2, 9), at(2024, 2, 10)),
        ("20240229", at(2024, 2, 29), at(2024, 3, 1)),
        ("2024-05-06T07:08", at(2024, 5, 6, 7, 8), at(2024, 5, 6, 7, 9)),
        ("2024-05-06 07:08:09.5+02:00", at(2024, 5, 6, 5, 8, 9, 500_000), None),
        ("2024-05-06T00:30:00-0130", at(2024, 5, 6, 2), None),
        ("2024-05-06T07:08:09Z", at(2024, 5, 6, 7, 8, 9), None),
    ],
)
def test_a_text_names_a_span(
    text: str, start: datetime.datetime, end: datetime.datetime | None
) -> None:
    found = read(text)
    assert found is not None
    assert found.start == start
    assert found.end == (end or start + datetime.timedelta(microseconds=1))


@pytest.mark.parametrize(
    "text", ["", "soon", "2024-13", "2023-02-29", "31/02/2024", "12:00", "1.5"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read(text, "day first") is None


def test_the_order_of_a_column_is_told_by_its_other_values() -> None:
    assert order_of(["03/04/2024", "13/04/2024"], "d") == "day first"
    assert order_of(["03/04/2024", "04/13/2024"], "d") == "month first"
    assert order_of(["03.04.2024"], "d") == "day first"
    assert order_of(["2024-03-04", "soon"], "d") == ""
    with pytest.raises(MendableError, match="d holds dates such as 03/04/2020"):
        order_of(["03/04/2024"], "d")
    assert read("03/04/2024", "month first") == Span(at(2024, 3, 4), at(2024, 3, 5))


@given(st.datetimes(min_value=at(1, 1, 1), max_value=at(9998, 1, 1)))
def test_every_date_is_read_as_it_is_written(when: datetime.datetime) -> None:
    found = read(when.isoformat())
    assert found is not None
    assert found.start == when
    day = read(f"{when:%d.%m.}{when.year:04d}", "day first")
    assert day is not None
    assert (day.start, day.end - day.start) == (at(when.year, when.month, when.day), DAY)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading(text: str) -> None:
    read(text)
    read(text, "day first")
