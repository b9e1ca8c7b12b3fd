# SPDX-License-Identifier: GPL-2.0-or-later
"""Built-up surface and people: GHSL in tiles for two epochs (GeoTIFF), WorldPop (cloud-optimised
GeoTIFF)."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy

from .chance import chance
from .ground import labels
from .raster_file import raster_file
from .setting import Setting
from .tally import Tally
from .truth import Truth

EPOCHS = ("2000", "2020")
_GROWTH = {"2000": 1.0, "2020": 1.35}
_TILES = ("R4_C19", "R4_C20")


def make_urban(setting: Setting, truth: Truth) -> None:
    """Write all products of the application and keep what is true of them."""
    fine = setting.size.arcseconds < 30
    for epoch in EPOCHS:
        _ghsl(setting, epoch, "BUILT_S", "uint16" if fine else "uint32", truth)
        _ghsl(setting, epoch, "POP", "float64", truth)
    _worldpop(setting, truth)


def _ghsl(setting: Setting, epoch: str, product: str, kind: str, truth: Truth) -> None:
    grid, zones = setting.people, setting.districts
    nodata = {"uint16": 65535.0, "uint32": 4294967295.0, "float64": -200.0}[kind]
    step = f"{setting.size.arcseconds}ss"
    half = grid.columns // 2
    tiles = ((0, half), (half, grid.columns - half))
    tally = Tally(len(zones))
    with ExitStack() as stack:
        files = [
            stack.enter_context(raster_file(
                setting.place("products", "urban", "ghsl",
                              f"GHS_{product}_E{epoch}_GLOBE_R2023A_4326_{step}_V1_0_{name}.tif"),
                grid.part(*tile), kind, nodata,
            ))
            for name, tile in zip(_TILES, tiles)
        ]  # fmt: skip
        for row, rows in grid.blocks():
            values = _towns(setting, row, rows, epoch, product)
            stored = numpy.where(numpy.isnan(values), nodata, values).astype(kind)
            for file, (first, columns) in zip(files, tiles):
                file.write(row, stored[:, first : first + columns])
            tally.add(labels(zones, grid, row, rows), values)
    measure = "built-up" if product == "BUILT_S" else "population"
    truth.take(measure, f"{epoch}-01-01", zones, tally)


def _towns(setting: Setting, row: int, rows: int, epoch: str, product: str) -> Any:
    """Return square metres or people in each cell, NaN for no data: most in the south-west, and
    next to nothing in the open country."""
    grid = setting.people
    shape = (rows, grid.columns)
    numbers = chance(setting.seed, f"{product} {epoch}", row)
    across, down = grid.shares(row, rows)
    dense = numpy.exp(-8 * ((across - 0.25) ** 2 + (down - 0.7) ** 2)) + 0.15 * across
    share = dense * numbers.uniform(0.2, 1.0, shape) * _GROWTH[epoch]
    share[numbers.random(shape) < 0.3] = 0
    size = (setting.size.arcseconds / 30) ** 2
    if product == "BUILT_S":
        found = numpy.round(share * 250_000 * size)
    else:
        found = numpy.round(share * 900 * size, 6)
    found[numbers.random(shape) > 0.99] = numpy.nan
    return found


def _worldpop(setting: Setting, truth: Truth) -> None:
    grid, zones = setting.people, setting.districts
    name = "xwd_ppp_2020.tif" if setting.size.arcseconds < 30 else "xwd_ppp_2020_1km_Aggregated.tif"
    tally = Tally(len(zones))
    path = setting.place("products", "urban", "worldpop", name)
    with raster_file(path, grid, "float32", -99999.0, "COG") as file:
        for row, rows in grid.blocks():
            numbers = chance(setting.seed, name, row)
            values = _towns(setting, row, rows, "2020", "POP")
            values = (values * numbers.uniform(0.8, 1.3, values.shape)).astype(numpy.float32)
            file.write(row, numpy.where(numpy.isnan(values), numpy.float32(-99999), values))
            tally.add(labels(zones, grid, row, rows), values.astype(float))
    truth.take("worldpop", "2020-01-01", zones, tally)
