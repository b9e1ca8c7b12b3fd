# SPDX-License-Identifier: GPL-2.0-or-later
"""What the files of satellite products measure: scale, offset, fill, valid range and quality flags
by product, taken from the families of resources/products.json."""

from __future__ import annotations

import calendar
import datetime
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .date_name import date_of

_TABLE = Path(__file__).resolve().parent.parent / "resources" / "products.json"
NDVI = "ndvi"
VALUE = "value"
"""The measure of a raster whose product is not known: its numbers as its file means them."""
AMOUNTS = ("built-up", "population")
MEASURES = (
    NDVI, "evi", "red", "nir", "blue", "green", "swir1", "swir2", "temperature", "aerosol",
    "aerosol 047", "tree cover", "tree loss", *AMOUNTS, VALUE,
)  # fmt: skip
"""What scenes measure, as tools take it; a test holds it to the table."""


@dataclass(frozen=True)
class Measure:
    """One thing that a product measures: value = stored * scale + offset for a stored number that
    is no fill and lies within least to most.

    `band` is a regular expression on the names of a scene's parts, in capitals, `number` a band of
    a file without names; `bands` "mean" averages the bands of a part (the orbits of a day).
    """

    name: str
    band: str = ""
    scale: float = 1.0
    offset: float = 0.0
    fill: tuple[float, ...] = ()
    least: float | None = None
    most: float | None = None
    unit: str = ""
    amount: bool = False
    bands: str = "one"
    number: int = 0


@dataclass(frozen=True)
class Check:
    """Bits of a quality flag, from `shift` and `width` wide, and their good values."""

    shift: int
    width: int
    good: tuple[int, ...]


@dataclass(frozen=True)
class Quality:
    """The part that holds the quality flags, and what each check of a good cell wants."""

    band: str
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class ProductFamily:
    """Files of one product; `period` is how long one of them stands for."""

    id: str
    title: str
    sensor: str
    match: str
    period: str
    source: str
    measures: tuple[Measure, ...]
    quality: Quality | None = None
    date: str = ""

    def measure(self, name: str) -> Measure | None:
        """Return what is measured under a name, None for what the product does not measure."""
        return next((one for one in self.measures if one.name == name), None)

    def names(self) -> tuple[str, ...]:
        """Return what the product measures, NDVI too where it is made of red and near infrared."""
        own = tuple(one.name for one in self.measures)
        return (*own, NDVI) if {"red", "nir"} <= set(own) and NDVI not in own else own

    def day(self, name: str) -> datetime.date | None:
        """Return the date that the name of a file tells, None for none."""
        if self.date:
            found = re.search(self.date, name.upper())
            return datetime.date(int(found.group(1)), 1, 1) if found else None
        return date_of(name)

    def until(self, day: datetime.date) -> datetime.date:
        """Return the last day that a file of this day stands for."""
        if self.period == "8 days":  # the last period of a year is shorter
            return min(day + datetime.timedelta(7), datetime.date(day.year, 12, 31))
        if self.period == "month":
            return day.replace(day=calendar.monthrange(day.year, day.month)[1])
        return day.replace(month=12, day=31) if self.period == "year" else day


@lru_cache(maxsize=1)
def families() -> dict[str, ProductFamily]:
    """Return the product families by id, in the order in which names are tried."""
    data = json.loads(_TABLE.read_text(encoding="utf-8"))["families"]
    return {one["id"]: _family(one) for one in data}


def _family(data: dict[str, Any]) -> ProductFamily:
    quality = data.get("quality")
    if quality:
        checks = [
            Check(one["shift"], one["width"], tuple(one["good"])) for one in quality["checks"]
        ]
        quality = Quality(quality["band"], tuple(checks))
    measures = tuple(Measure(**{**one, "fill": tuple(one["fill"])}) for one in data["measures"])
    return ProductFamily(**{**data, "measures": measures, "quality": quality})


def recognised(name: str) -> ProductFamily | None:
    """Return the family that the name of a scene (a file, a SAFE folder) tells, None for none."""
    text = name.upper()
    return next((one for one in families().values() if re.search(one.match, text)), None)
