# SPDX-License-Identifier: GPL-2.0-or-later
"""Dates that names of rasters and bands tell."""

from __future__ import annotations

import datetime

import pytest

from geo_olm.tools.date_name import date_of


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("MOD13Q1.A2023060.h18v04", (2023, 3, 1)),
        ("A2024366", (2024, 12, 31)),
        ("S2A_MSIL2A_20230601T101031", (2023, 6, 1)),
        ("July 1999 (1999-07-16)", (1999, 7, 16)),
        ("2023_6_1", (2023, 6, 1)),
        ("soil_202203", (2022, 3, 1)),
        ("ndvi_mar_2023", (2023, 3, 1)),
        ("2021 December", (2021, 12, 1)),
        ("lc2015", (2015, 1, 1)),
    ],
)
def test_a_name_tells_its_date(name: str, wanted: tuple[int, int, int]) -> None:
    assert date_of(name) == datetime.date(*wanted)


@pytest.mark.parametrize("name", ["dem", "A2023366", "x12345678", "EPSG_32632", "m3", "20231345"])
def test_a_name_without_a_date_tells_none(name: str) -> None:
    assert date_of(name) is None
