# SPDX-License-Identifier: GPL-2.0-or-later
"""Tree cover and its loss as Hansen's tiles, and a land cover of classes (GeoTIFF)."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .chance import chance, strewn
from .ground import Grid, labels
from .raster_file import raster_file
from .setting import Setting
from .truth import Truth

LAST_YEAR = 2023
THRESHOLDS = (30, 60)
CLASSES = {1: "water", 2: "forest", 3: "pasture", 4: "arable land", 5: "built-up land"}
_SEMIMAJOR, _FLATTENING = 6378137.0, 1 / 298.257223563
_HECTARE = 10_000.0


def make_forest(setting: Setting, truth: Truth) -> None:
    """Write all products of the application and keep what is true of them."""
    _trees(setting, truth)
    _land_cover(setting, truth)


def cell_area(grid: Grid, row: int, rows: int) -> Any:
    """Return the square metres of a cell of each row (rows, 1) of a grid in degrees: the zone
    between two parallels of the WGS 84 ellipsoid, by its closed form."""
    squared = _FLATTENING * (2 - _FLATTENING)
    e = math.sqrt(squared)
    minor = _SEMIMAJOR * (1 - _FLATTENING)
    edges = numpy.radians(grid.top - (row + numpy.arange(rows + 1)) * grid.cell)
    sine = numpy.sin(edges)
    north = minor**2 / 2 * (sine / (1 - squared * sine**2) + numpy.arctanh(e * sine) / e)
    return (math.radians(grid.cell) * (north[:-1] - north[1:]))[:, None]


def _trees(setting: Setting, truth: Truth) -> None:
    grid, zones = setting.trees, setting.forests
    start = "Hansen_GFC-2023-v1.11"
    paths = {
        layer: setting.place("products", "forest", f"{start}_{layer}_50N_000E.tif")
        for layer in ("treecover2000", "lossyear")
    }
    cover = numpy.zeros((len(THRESHOLDS), len(zones)))
    lost = numpy.zeros((len(THRESHOLDS), len(zones), 100))
    with (
        raster_file(paths["treecover2000"], grid, "uint8") as cover_file,
        raster_file(paths["lossyear"], grid, "uint8") as loss_file,
    ):
        for row, rows in grid.blocks():
            numbers = chance(setting.seed, "trees", row)
            canopy, year = _stand(grid, row, rows, numbers)
            cover_file.write(row, canopy.astype(numpy.uint8))
            loss_file.write(row, year.astype(numpy.uint8))
            zone = labels(zones, grid, row, rows)
            areas = numpy.broadcast_to(cell_area(grid, row, rows), zone.shape) / _HECTARE
            for place, threshold in enumerate(THRESHOLDS):
                trees = (zone >= 0) & (canopy >= threshold)
                cover[place] += numpy.bincount(
                    zone[trees], weights=areas[trees], minlength=len(zones)
                )
                gone = trees & (year > 0)
                numpy.add.at(lost[place], (zone[gone], year[gone]), areas[gone])
    for place, threshold in enumerate(THRESHOLDS):
        for at, one in enumerate(zones):
            truth.numbers[f"cover {threshold} {one.name}"] = float(cover[place, at])
            for year in range(1, LAST_YEAR - 2000 + 1):
                key = f"loss {threshold} {one.name} {2000 + year}"
                truth.numbers[key] = float(lost[place, at, year])


def _stand(grid: Grid, row: int, rows: int, numbers: Any) -> tuple[Any, Any]:
    """Return canopy in percent and year of loss, 0 for none: more trees to the west, most lost in
    the middle years."""
    shape = (rows, grid.columns)
    across, _ = grid.shares(row, rows)
    canopy = numpy.clip(numpy.round(90 - 55 * across + numbers.normal(0, 18, shape)), 0, 100)
    year = numpy.clip(numpy.round(numbers.normal(12, 4, shape)), 1, LAST_YEAR - 2000).astype(int)
    year[numbers.random(shape) > 0.08 + 0.1 * across] = 0
    return canopy.astype(int), year


def _land_cover(setting: Setting, truth: Truth) -> None:
    grid = setting.scene
    counts = numpy.zeros(max(CLASSES) + 1, dtype=numpy.int64)
    with raster_file(setting.place("land", "land_cover.tif"), grid, "uint8", 0.0) as file:
        for row, rows in grid.blocks():
            numbers = chance(setting.seed, "land cover", row)
            classes = strewn(numbers, (rows, grid.columns), (0, *CLASSES),
                             (0.01, 0.09, 0.3, 0.2, 0.28, 0.12))  # fmt: skip
            file.write(row, classes.astype(numpy.uint8))
            counts += numpy.bincount(classes.ravel(), minlength=len(counts))
    for key in CLASSES:
        truth.numbers[f"land cover {key}"] = float(counts[key])
