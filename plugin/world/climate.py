# SPDX-License-Identifier: GPL-2.0-or-later
"""Surface temperature and aerosol of MODIS (HDF-EOS 2), air temperature by month (netCDF)."""

from __future__ import annotations

import datetime
from typing import Any

import numpy

from .chance import chance, spread, strewn
from .cube_file import Packed, write_cube
from .eos_file import Eos2File
from .ground import DEGREES, Grid, labels
from .setting import Setting
from .struct_metadata import EosGrid, Field
from .tally import Tally
from .truth import Truth

EMPTY_PERIOD = "2024-07-27"
PERIODS = {"2024-07-03": "185", "2024-07-11": "193", "2024-07-19": "201", EMPTY_PERIOD: "209"}
"""First days of 8 days each; the last has no value at all."""
_WARMTH = {"2024-07-03": 0, "2024-07-11": 150, "2024-07-19": 260, EMPTY_PERIOD: 0}
AEROSOL_DAYS = {"2024-07-19": "201", "2024-07-20": "202"}
ORBITS = 2
YEAR = 2024
AIR = Packed("tas", "degC", 0.01, 10.0, -32767)
_LAST_ROWS = 24
_TILE, _PRODUCED = "h18v04", "2024300000000"


def make_climate(setting: Setting, truth: Truth) -> None:
    """Write all products of the application and keep what is true of them."""
    for day in PERIODS:
        _period(setting, day, truth)
    for day in AEROSOL_DAYS:
        _aerosol_day(setting, day, truth)
    _air(setting, truth)


def months() -> list[str]:
    """Return the first days of the months of air temperature."""
    return [f"{YEAR}-{number:02}-01" for number in range(1, 13)]


def _period(setting: Setting, day: str, truth: Truth) -> None:
    grid, zones = setting.modis, setting.sinusoidal_districts
    fields = (Field("LST_Day_1km", "uint16", 0), Field("QC_Day", "uint8"),
              Field("LST_Night_1km", "uint16", 0))  # fmt: skip
    form = EosGrid("MODIS_Grid_8Day_1km_LST", grid, fields)
    name = f"MYD11A2.A2024{PERIODS[day]}.{_TILE}.061.{_PRODUCED}.hdf"
    tally = Tally(len(zones))
    with Eos2File(setting.place("products", "climate", "modis", name), [form]) as file:
        for row, rows in grid.blocks():
            numbers = chance(setting.seed, name, row)
            stored, flags = _surface(grid, row, rows, day, numbers)
            good = (stored >= 7500) & numpy.isin(flags & 3, (0, 1))
            celsius = numpy.where(good, stored * 0.02 - 273.15, numpy.nan)
            tally.add(labels(zones, grid, row, rows), celsius)
            night = numpy.where(stored > 0, stored - 600, 0)
            for one, values in zip(fields, (stored, flags, night)):
                file.write(form.name, one.name, row, values)
    truth.take("temperature", day, zones, tally)


def _surface(grid: Grid, row: int, rows: int, day: str, numbers: Any) -> tuple[Any, Any]:
    """Return stored kelvin / 0.02 and quality flags: warmer to the south and to the west."""
    shape = (rows, grid.columns)
    across, down = grid.shares(row, rows)
    stored = numpy.round(
        14900 + _WARMTH[day] + 350 * down - 180 * across + spread(numbers, shape, 25.0)
    )
    wrong = numbers.random(shape)
    stored[wrong < 0.01] = 7000  # below the valid range
    stored[wrong > 0.97] = 0
    if day == EMPTY_PERIOD:
        stored[:] = 0
    flags = strewn(numbers, shape, (0, 1, 2, 3), (0.6, 0.25, 0.1, 0.05))
    return stored, flags | strewn(numbers, shape, (0, 1), (0.5, 0.5)) << 6


def _aerosol_day(setting: Setting, day: str, truth: Truth) -> None:
    grid, zones = setting.modis, setting.sinusoidal_districts
    fields = (Field("Optical_Depth_047", "int16", -28672, ORBITS),
              Field("Optical_Depth_055", "int16", -28672, ORBITS),
              Field("AOD_QA", "uint16", 0, ORBITS))  # fmt: skip
    form = EosGrid("grid1km", grid, fields)
    name = f"MCD19A2.A2024{AEROSOL_DAYS[day]}.{_TILE}.061.{_PRODUCED}.hdf"
    tally = Tally(len(zones))
    with Eos2File(setting.place("products", "climate", "aerosol", name), [form]) as file:
        for row, rows in grid.blocks():
            numbers = chance(setting.seed, name, row)
            orbits = []
            for orbit in range(ORBITS):
                depth, flags = _orbit(grid, row, rows, numbers)
                good = (depth >= -100) & (depth <= 5000) & (flags & 7 == 1)
                orbits.append(numpy.where(good, depth * 0.001, numpy.nan))
                blue = numpy.where(depth > -28672, depth + 40, depth)
                for one, values in zip(fields, (blue, depth, flags)):
                    file.write(form.name, one.name, row, values, orbit)
            tally.add(labels(zones, grid, row, rows), _averaged(orbits))
    truth.take("aerosol", day, zones, tally)


def _orbit(grid: Grid, row: int, rows: int, numbers: Any) -> tuple[Any, Any]:
    """Return aerosol depth * 1000 and quality flags: hazier to the north and to the east."""
    shape = (rows, grid.columns)
    across, down = grid.shares(row, rows)
    depth = numpy.round(150 + 120 * across - 60 * down + spread(numbers, shape, 12.0))
    depth[numbers.random(shape) > 0.95] = -28672
    return depth, strewn(numbers, shape, (1, 2, 3, 5), (0.75, 0.1, 0.1, 0.05)) | 1 << 3


def _averaged(orbits: list[Any]) -> Any:
    """Return the mean of the orbits that have a value, cell by cell."""
    count = sum((~numpy.isnan(one)).astype(int) for one in orbits)
    total = sum(numpy.where(numpy.isnan(one), 0.0, one) for one in orbits)
    return numpy.where(count > 0, total / numpy.maximum(count, 1), numpy.nan)


def _air(setting: Setting, truth: Truth) -> None:
    """Write a year of monthly air temperature, about a fiftieth of a degree a cell."""
    west, south, east, north = setting.box
    cell = max(0.02, (north - south) / _LAST_ROWS / 4)
    columns, rows = int((east - west) / cell) + 2, int((north - south) / cell) + 2
    grid = Grid(DEGREES, west - cell / 2, north + cell / 2, cell, columns, rows)
    numbers = chance(setting.seed, "tas")
    across, down = grid.shares(0, rows)
    stored, days = [], []
    for number, month in enumerate(months()):
        season = -1300 * numpy.cos(2 * numpy.pi * (number - 0.5) / 12)
        level = 300 + season + 150 * down + 90 * across
        values = numpy.round(level + spread(numbers, (rows, columns), 20.0))
        values[numbers.random(values.shape) > 0.98] = AIR.fill
        stored.append(values)
        days.append((datetime.date.fromisoformat(month) - datetime.date(YEAR, 1, 1)).days)
        tally = Tally(len(setting.districts))
        good = numpy.where(values == AIR.fill, numpy.nan, values * AIR.scale + AIR.offset)
        tally.add(labels(setting.districts, grid, 0, rows), good)
        truth.take("air", month, setting.districts, tally)
    path = setting.place("products", "climate", "air", f"air_temperature_{YEAR}.nc")
    write_cube(path, AIR, grid, days, f"{YEAR}-01-01", numpy.stack(stored))
