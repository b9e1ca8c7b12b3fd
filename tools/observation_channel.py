# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored numbers of one band turned into what they measure: fills, numbers out of range and
cells of poor quality become NaN, and how many did is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy
from osgeo import gdal, gdal_array

from .base import MendableError
from .observation_product import Measure, Quality

_UNDECLARED = (-9999.0, -99999.0, -32768.0)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")

Window = tuple[int, int, int, int]
"""First column, first row, columns and rows of some cells."""


@dataclass
class Loss:
    """How many cells were read, and how many were lost to what."""

    cells: int = 0
    fill: int = 0
    range: int = 0
    quality: int = 0

    def add(self, other: Loss) -> None:
        """Take the counts of another reading in."""
        self.cells += other.cells
        self.fill += other.fill
        self.range += other.range
        self.quality += other.quality

    def counts(self) -> tuple[int, int, int, int]:
        """Return the cells, and those lost to fill, range and quality."""
        return self.cells, self.fill, self.range, self.quality

    def reason(self) -> str:
        """Say why cells without a value have none: the most frequent cause."""
        causes = {
            "fill values": self.fill,
            "values out of range": self.range,
            "cloud or poor quality": self.quality,
        }
        return max(causes, key=lambda name: causes[name]) if any(causes.values()) else "outside"

    def words(self) -> str:
        """Say how many cells were left out, "" for none."""
        parts = [
            (self.fill, "fill"), (self.quality, "cloud or poor quality"),
            (self.range, "out of range"),
        ]  # fmt: skip
        said = [f"{count} {what}" for count, what in parts if count]
        return f"Left out of {self.cells} cells read: {', '.join(said)}." if said else ""


@dataclass
class Flags:
    """The quality flags of a channel, on a grid of their own."""

    dataset: gdal.Dataset
    bands: tuple[int, ...]
    quality: Quality

    def poor(self, place: int, window: Window, grid: tuple[float, ...]) -> Any:
        """Return which cells of a window on the channel's grid are poor; `place` is that of the
        channel's band. Cells beyond the flags are poor."""
        column, row, columns, rows = window
        left, width, _, top, _, height = self.dataset.GetGeoTransform()
        x = grid[0] + (column + numpy.arange(columns) + 0.5) * grid[1]
        y = grid[3] + (row + numpy.arange(rows) + 0.5) * grid[5]
        across = numpy.floor((x - left) / width).astype(int)
        down = numpy.floor((y - top) / height).astype(int)
        in_x = (across >= 0) & (across < self.dataset.RasterXSize)
        in_y = (down >= 0) & (down < self.dataset.RasterYSize)
        found = numpy.ones((rows, columns), dtype=bool)
        if not (in_x.any() and in_y.any()):
            return found
        first_x, first_y = across[in_x].min(), down[in_y].min()
        size = int(across[in_x].max() - first_x + 1), int(down[in_y].max() - first_y + 1)
        band = self.bands[place] if len(self.bands) > place else self.bands[0]
        raw = read_band(self.dataset, band, (int(first_x), int(first_y), *size))
        bad = self._bad(raw.astype(numpy.int64))
        part = bad[numpy.ix_(down[in_y] - first_y, across[in_x] - first_x)]
        found[numpy.ix_(in_y, in_x)] = part
        return found

    def _bad(self, flags: Any) -> Any:
        bad = numpy.zeros(flags.shape, dtype=bool)
        for check in self.quality.checks:
            bits = (flags >> check.shift) & ((1 << check.width) - 1)
            bad |= ~numpy.isin(bits, check.good)
        return bad


def read_band(dataset: gdal.Dataset, band: int, window: Window) -> Any:
    """Return cells of a band as they are stored. Raises MendableError."""
    name = dataset.GetDescription().replace("\\", "/").rpartition("/")[2] or "The raster"
    try:
        found = dataset.GetRasterBand(band).ReadAsArray(*window)
    except RuntimeError as error:
        raise MendableError(f"{name} is damaged: {error}") from error
    if found is None:
        raise MendableError(f"{name} is damaged: {gdal.GetLastErrorMsg()}")
    return found


@dataclass
class Channel:
    """One band, or several that are averaged, of one grid."""

    dataset: gdal.Dataset
    bands: tuple[int, ...]
    measure: Measure
    flags: Flags | None = None
    loss: Loss = field(default_factory=Loss)

    def __post_init__(self) -> None:
        self.grid = self.dataset.GetGeoTransform()

    def read(self, window: Window, mask: Any = None) -> Any:
        """Return what the cells of a window measure, as float64 with NaN for no value; what is
        lost is counted in the cells of a mask alone."""
        if len(self.bands) == 1:
            return self._band(0, self.bands[0], window, mask)
        total = numpy.zeros((window[3], window[2]))
        count = numpy.zeros((window[3], window[2]))
        for place, band in enumerate(self.bands):
            values = self._band(place, band, window, mask)
            there = ~numpy.isnan(values)
            total[there] += values[there]
            count += there
        with numpy.errstate(invalid="ignore", divide="ignore"):
            return total / count

    def _band(self, place: int, band: int, window: Window, mask: Any) -> Any:
        raw = read_band(self.dataset, band, window)
        values = raw.astype(float)
        hole = self._holes(values, band)
        wrong = numpy.zeros(hole.shape, dtype=bool)
        if self.measure.least is not None:
            wrong |= values < self.measure.least
        if self.measure.most is not None:
            wrong |= values > self.measure.most
        wrong &= ~hole
        poor = numpy.zeros(hole.shape, dtype=bool)
        if self.flags is not None:
            poor = self.flags.poor(place, window, self.grid) & ~hole & ~wrong
        counted = mask if mask is not None else numpy.ones(hole.shape, dtype=bool)
        lost = [int((one & counted).sum()) for one in (counted, hole, wrong, poor)]
        self.loss.add(Loss(*lost))
        values = values * self.measure.scale + self.measure.offset
        values[hole | wrong | poor] = numpy.nan
        return values

    def _holes(self, values: Any, band: int) -> Any:
        declared = self.dataset.GetRasterBand(band)
        hole = ~numpy.isfinite(values) | numpy.isin(values, self.measure.fill)
        nodata = declared.GetNoDataValue()
        if nodata is not None:
            stored = gdal_array.GDALTypeCodeToNumericTypeCode(declared.DataType)
            floating = numpy.issubdtype(stored, numpy.floating)
            hole |= values == (float(numpy.asarray(nodata, stored)) if floating else nodata)
        return hole


def own_measure(dataset: gdal.Dataset, name: str, number: int) -> Measure:
    """Return what a band's own file says of its numbers: scale, offset and valid range."""
    band = dataset.GetRasterBand(number)
    metadata = {**dataset.GetMetadata(), **band.GetMetadata()}
    limits = [
        float(one)
        for key, text in metadata.items()
        if key == "valid_range" or key.endswith("#valid_range")
        for one in _NUMBER.findall(text)
    ]
    least, most = limits if len(limits) == 2 else (None, None)
    undeclared = band.GetNoDataValue() is None
    scale, offset = band.GetScale(), band.GetOffset()
    return Measure(
        name,
        scale=1.0 if scale is None else scale,
        offset=0.0 if offset is None else offset,
        fill=_UNDECLARED if undeclared else (),
        least=least,
        most=most,
        unit=band.GetUnitType() or "",
    )
