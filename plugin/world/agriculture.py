# SPDX-License-Identifier: GPL-2.0-or-later
"""Vegetation of the world: MODIS months and days (HDF-EOS 2), VIIRS months (HDF-EOS 5), Sentinel-2
scenes (JPEG 2000)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from .chance import chance, spread, strewn
from .eos_file import Eos2File, Eos5File
from .ground import Grid, labels
from .raster_file import RasterFile, raster_file
from .setting import Setting
from .struct_metadata import EosGrid, Field
from .tally import Tally
from .truth import Truth

MONTHS = {"2024-03-01": "061", "2024-04-01": "092", "2024-05-01": "122", "2024-07-01": "183",
          "2024-08-01": "214", "2024-09-01": "245"}  # fmt: skip
"""Months of the MODIS series and their days of the year; June was lost."""
_SEASON = {"2024-03-01": -900, "2024-04-01": 100, "2024-05-01": 1100, "2024-07-01": 1600,
           "2024-08-01": 900, "2024-09-01": -300}  # fmt: skip
CLEAR_DAY, CLOUDY_DAY = "2024-07-09", "2024-07-10"
DAYS = {CLEAR_DAY: "191", CLOUDY_DAY: "192"}
"""Days of reflectance; on the second the west lies under cloud."""
VIIRS_MONTHS = {"2024-07-01": "183", "2024-08-01": "214"}
SCENES = {"2024-06-12": "20240612T101031", "2024-07-22": "20240722T101031"}
"""Days of Sentinel-2 and what their names say."""
_TILE, _PRODUCED = "h18v04", "2024300000000"


def make_agriculture(setting: Setting, truth: Truth) -> None:
    """Write all products of the application and keep what is true of them."""
    for month in MONTHS:
        _modis_month(setting, month, truth)
    for day in DAYS:
        _modis_day(setting, day, truth)
    for month in VIIRS_MONTHS:
        _viirs_month(setting, month, truth)
    for day in SCENES:
        _sentinel_scene(setting, day, truth)


def _vegetation(grid: Grid, row: int, rows: int, season: int, numbers: Any) -> Any:
    """Return NDVI * 10000: more to the east and a little more to the south."""
    across, down = grid.shares(row, rows)
    found = 3000 + season + 3200 * across + 900 * down
    return numpy.round(found + spread(numbers, (rows, grid.columns), 250.0))


def _modis_month(setting: Setting, month: str, truth: Truth) -> None:
    grid, zones = setting.modis, setting.sinusoidal_districts
    form = EosGrid(
        "MOD_Grid_monthly_1km_VI", grid,
        (Field("1 km monthly NDVI", "int16", -3000), Field("1 km monthly EVI", "int16", -3000),
         Field("1 km monthly pixel reliability", "int8", -1)),
    )  # fmt: skip
    name = f"MOD13A3.A2024{MONTHS[month]}.{_TILE}.061.{_PRODUCED}.hdf"
    tallies = {"ndvi": Tally(len(zones)), "evi": Tally(len(zones))}
    with Eos2File(setting.place("products", "agriculture", "modis", name), [form]) as file:
        for row, rows in grid.blocks():
            numbers = chance(setting.seed, name, row)
            ndvi = _vegetation(grid, row, rows, _SEASON[month], numbers)
            evi = numpy.round(ndvi * 0.6)
            wrong = numbers.random(ndvi.shape)
            ndvi[wrong < 0.01] = 12000  # beyond the valid range
            reliability = strewn(numbers, ndvi.shape, (0, 1, 2, 3), (0.7, 0.2, 0.04, 0.06))
            hole = wrong > 0.98
            ndvi[hole], evi[hole], reliability[hole] = -3000, -3000, -1
            zone = labels(zones, grid, row, rows)
            for measure, stored in (("ndvi", ndvi), ("evi", evi)):
                good = (stored >= -2000) & (stored <= 10000) & numpy.isin(reliability, (0, 1))
                tallies[measure].add(zone, numpy.where(good, stored * 0.0001, numpy.nan))
            for one, values in zip(form.fields, (ndvi, evi, reliability)):
                file.write(form.name, one.name, row, values)
    for measure, tally in tallies.items():
        truth.take(measure, month, zones, tally)


def _modis_day(setting: Setting, day: str, truth: Truth) -> None:
    coarse, zones = setting.modis, setting.sinusoidal_districts
    fine = coarse.finer(2)
    state = EosGrid("MODIS_Grid_1km_2D", coarse, (Field("state_1km_1", "uint16", 65535),))
    bands = EosGrid(
        "MODIS_Grid_500m_2D", fine,
        (Field("sur_refl_b01_1", "int16", -28672), Field("sur_refl_b02_1", "int16", -28672)),
    )  # fmt: skip
    name = f"MOD09GA.A2024{DAYS[day]}.{_TILE}.061.{_PRODUCED}.hdf"
    tallies = {one: Tally(len(zones)) for one in ("red", "nir")}
    with Eos2File(setting.place("products", "agriculture", "daily", name), [state, bands]) as file:
        for row, rows in coarse.blocks():
            numbers = chance(setting.seed, name, row)
            flags = _state(coarse, row, rows, day, numbers)
            file.write(state.name, "state_1km_1", row, flags)
            clear = numpy.isin(flags & 3, (0, 3)) & ((flags >> 2) & 1 == 0)
            clear = numpy.repeat(numpy.repeat(clear, 2, axis=0), 2, axis=1)
            zone = labels(zones, fine, 2 * row, 2 * rows)
            for measure, one in zip(tallies, bands.fields):
                stored = _reflectance(fine, 2 * row, 2 * rows, measure, numbers)
                good = clear & (stored >= -100) & (stored <= 16000)
                tallies[measure].add(zone, numpy.where(good, stored * 0.0001, numpy.nan))
                file.write(bands.name, one.name, 2 * row, stored)
    for measure, tally in tallies.items():
        truth.take(measure, day, zones, tally)


def _state(grid: Grid, row: int, rows: int, day: str, numbers: Any) -> Any:
    """Return state flags: cloud in bits 0 and 1, shadow in bit 2, land in bits 3 to 5."""
    shape = (rows, grid.columns)
    cloud = strewn(numbers, shape, (0, 1, 2, 3), (0.8, 0.08, 0.04, 0.08))
    shadow = strewn(numbers, shape, (0, 1), (0.95, 0.05))
    if day == CLOUDY_DAY:
        across, _ = grid.shares(row, rows)
        cloud[:, across[0] < 0.36] = 1
    return (cloud | shadow << 2 | 1 << 3).astype(numpy.uint16)


def _reflectance(grid: Grid, row: int, rows: int, measure: str, numbers: Any) -> Any:
    across, down = grid.shares(row, rows)
    level = 900 - 400 * across if measure == "red" else 2400 + 1500 * across
    stored = numpy.round(level + 200 * down + spread(numbers, (rows, grid.columns), 60.0))
    wrong = numbers.random(stored.shape)
    stored[wrong < 0.005] = 16001
    stored[wrong > 0.99] = -28672
    return stored


def _viirs_month(setting: Setting, month: str, truth: Truth) -> None:
    grid, zones = setting.modis, setting.sinusoidal_districts
    form = EosGrid(
        "VIIRS_Grid_monthly_VI_1km", grid,
        (Field("1 km monthly NDVI", "int16", -15000), Field("1 km monthly EVI", "int16", -15000),
         Field("1 km monthly pixel reliability", "int8", -4)),
    )  # fmt: skip
    name = f"VNP13A3.A2024{VIIRS_MONTHS[month]}.{_TILE}.002.{_PRODUCED}.h5"
    tally = Tally(len(zones))
    with Eos5File(setting.place("products", "agriculture", "viirs", name), [form]) as file:
        for row, rows in grid.blocks():
            numbers = chance(setting.seed, name, row)
            ndvi = _vegetation(grid, row, rows, _SEASON[month] + 200, numbers)
            reliability = strewn(numbers, ndvi.shape, (0, 2, 7, 9), (0.75, 0.15, 0.05, 0.05))
            hole = numbers.random(ndvi.shape) > 0.98
            ndvi[hole], reliability[hole] = -15000, -4
            good = (ndvi >= -10000) & numpy.isin(reliability, (0, 2))
            zone = labels(zones, grid, row, rows)
            tally.add(zone, numpy.where(good, ndvi * 0.0001, numpy.nan))
            evi = numpy.where(hole, -15000, numpy.round(ndvi * 0.6))
            for one, values in zip(form.fields, (ndvi, evi, reliability)):
                file.write(form.name, one.name, row, values)
    truth.take("viirs ndvi", month, zones, tally)


def _sentinel_scene(setting: Setting, day: str, truth: Truth) -> None:
    grid, zones = setting.scene, setting.fields
    sensed = SCENES[day]
    name = f"S2B_MSIL2A_{sensed}_N0510_R022_T32TNR_{sensed[:8]}T150000"
    images = ("products", "agriculture", "sentinel", f"{name}.SAFE", "GRANULE",
              f"L2A_T32TNR_A000001_{sensed}", "IMG_DATA")  # fmt: skip
    path = {
        band: setting.place(*images, f"R{size}m", f"T32TNR_{sensed}_{band}_{size}m.jp2")
        for band, size in (("B04", 10), ("B08", 10), ("SCL", 20))
    }
    coarse = Grid(grid.crs, grid.left, grid.top, grid.cell * 2, grid.columns // 2, grid.rows // 2)
    tally, cloud = Tally(len(zones)), 0
    with (
        raster_file(path["B04"], grid, "uint16", driver="JP2OpenJPEG") as red_file,
        raster_file(path["B08"], grid, "uint16", driver="JP2OpenJPEG") as near_file,
        raster_file(path["SCL"], coarse, "uint8", driver="JP2OpenJPEG") as class_file,
    ):
        files = {"B04": red_file, "B08": near_file, "SCL": class_file}
        for row, rows in coarse.blocks():
            numbers = chance(setting.seed, name, row)
            cloud += _sentinel_block(setting, day, (row, rows), numbers, files, tally)
    share = 100 * cloud / (coarse.columns * coarse.rows)
    text = f"<root><Cloud_Coverage_Assessment>{share:.4f}</Cloud_Coverage_Assessment></root>\n"
    told = setting.place("products", "agriculture", "sentinel", f"{name}.SAFE", "MTD_MSIL2A.xml")
    told.write_text(text, encoding="utf-8")
    truth.take("sentinel ndvi", day, zones, tally)
    truth.numbers[f"sentinel cloud {day}"] = float(f"{share:.4f}")


def _sentinel_block(
    setting: Setting, day: str, span: tuple[int, int], numbers: Any,
    files: Mapping[str, RasterFile], tally: Tally,
) -> int:  # fmt: skip
    """Write some rows of 20 m and the cells of 10 m in them; return the cloudy ones."""
    grid, (row, rows) = setting.scene, span
    shape = (2 * rows, grid.columns)
    across, down = grid.shares(2 * row, 2 * rows)
    late = 300 if day == "2024-07-22" else 0
    red = numpy.round(1900 - 500 * across + spread(numbers, shape, 40.0))
    near = numpy.round(3200 + late + 1400 * across + 700 * down + spread(numbers, shape, 90.0))
    hole = numbers.random(shape) > 0.99
    red[hole], near[hole] = 0, 0
    classes = strewn(numbers, (rows, grid.columns // 2), (4, 5, 8, 9, 3), (0.6, 0.25, 0.05, 0.06,
                                                                          0.04))  # fmt: skip
    files["B04"].write(2 * row, red.astype(numpy.uint16))
    files["B08"].write(2 * row, near.astype(numpy.uint16))
    files["SCL"].write(row, classes.astype(numpy.uint8))
    clear = numpy.isin(classes, (4, 5))
    clear = numpy.repeat(numpy.repeat(clear, 2, axis=0), 2, axis=1) & ~hole
    one, two = red * 0.0001 - 0.1, near * 0.0001 - 0.1
    ndvi = numpy.where(clear, (two - one) / (two + one), numpy.nan)
    tally.add(labels(setting.fields, grid, 2 * row, 2 * rows), ndvi)
    return int(numpy.isin(classes, (8, 9)).sum())
