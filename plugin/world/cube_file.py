# SPDX-License-Identifier: GPL-2.0-or-later
"""A netCDF file by the conventions for climate data: one packed variable over time, latitude and
longitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal

from .ground import DEGREES, Grid
from .raster_file import system


@dataclass(frozen=True)
class Packed:
    """A packed variable: value = stored * scale + offset, `fill` for none."""

    name: str
    unit: str
    scale: float
    offset: float
    fill: int


def write_cube(
    path: Path, packed: Packed, grid: Grid, days: Sequence[int], since: str, stored: Any
) -> None:
    """Write stored numbers (days, rows, columns) of int16; `days` are counted from `since`."""
    file = gdal.GetDriverByName("netCDF").CreateMultiDimensional(str(path), [], ["FORMAT=NC4"])
    root = file.GetRootGroup()
    _told(root, "Conventions", "CF-1.8")
    places = {
        "time": numpy.asarray(days, dtype=float),
        "lat": grid.top - grid.cell * (numpy.arange(grid.rows) + 0.5),
        "lon": grid.left + grid.cell * (numpy.arange(grid.columns) + 0.5),
    }
    kinds = {"time": ("TEMPORAL", ""), "lat": ("HORIZONTAL_Y", "NORTH"),
             "lon": ("HORIZONTAL_X", "EAST")}  # fmt: skip
    said = {
        "time": {"units": f"days since {since}", "calendar": "standard"},
        "lat": {"units": "degrees_north", "standard_name": "latitude"},
        "lon": {"units": "degrees_east", "standard_name": "longitude"},
    }
    axes, held = [], []
    for name, values in places.items():
        axes.append(root.CreateDimension(name, *kinds[name], len(values)))
        real = gdal.ExtendedDataType.Create(gdal.GDT_Float64)
        held.append(root.CreateMDArray(name, [axes[-1]], real))
        held[-1].Write(values)
        for key, text in said[name].items():
            _told(held[-1], key, text)
    array = root.CreateMDArray(packed.name, axes, gdal.ExtendedDataType.Create(gdal.GDT_Int16))
    array.SetSpatialRef(system(DEGREES))
    array.SetNoDataValueDouble(packed.fill)
    array.SetScale(packed.scale)
    array.SetOffset(packed.offset)
    array.SetUnit(packed.unit)
    array.Write(numpy.ascontiguousarray(stored, dtype=numpy.int16))


def _told(holder: Any, key: str, text: str) -> None:
    holder.CreateAttribute(key, [], gdal.ExtendedDataType.CreateString()).Write(text)
