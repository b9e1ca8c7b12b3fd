# SPDX-License-Identifier: GPL-2.0-or-later
"""Bands of a raster read strip by strip as numbers: NaN where there is no data, declared or not,
scale and offset applied, so that memory stays bounded and a run can be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy
from osgeo import gdal, gdal_array
from qgis.core import QgsProviderRegistry, QgsRasterRange

from . import wording
from .base import BandProfile, MendableError
from .context import Context
from .source import RasterSource
from .spelling import folded

_STRIP_CELLS = 1_000_000
_FILLS = (-9999.0, -99999.0, -32768.0)
_ENORMOUS = 1e19
"""What stands for "no data" by custom; a value of this size measures nothing on the ground."""


def band_of(source: RasterSource, wanted: Any) -> BandProfile:
    """Return the band that a number or a name means; the only one when none is named.

    Raises MendableError.
    """
    if wanted is None:
        if len(source.bands) == 1:
            return source.bands[0]
        raise MendableError(
            f"{source.key} has {len(source.bands)} bands: say which. {_listed(source)}"
        )
    text = str(wanted).strip()
    if text.isdigit():
        if 1 <= int(text) <= len(source.bands):
            return source.bands[int(text) - 1]
        raise MendableError(f"{source.key} has no band {text}; it has {len(source.bands)}.")
    inside = [band for band in source.bands if folded(text) in folded(band.name)]
    if len(inside) == 1:
        return inside[0]
    raise MendableError(f'{source.key} has no single band "{text}". {_listed(source)}')


def _listed(source: RasterSource) -> str:
    listed = [f"{band.number} is {wording.value(band.name)}" for band in source.bands[:15]]
    return f"Bands: {', '.join(listed)}."


def raster_of(name: str, context: Context) -> RasterSource:
    """Return the raster layer that `name` means. Raises MendableError, LastingError."""
    found = context.layer(name)
    if not isinstance(found, RasterSource):
        raise MendableError(f"{found.key} is a {found.geometry} layer; this tool takes a raster.")
    return found


def opened(source: RasterSource) -> gdal.Dataset:
    """Open the file behind a raster layer for reading on this thread; one whose cells do not
    point north is refused. Raises MendableError."""
    found = opened_as_is(source)
    _, _, turn, _, twist, _ = found.GetGeoTransform()
    if turn or twist:
        raise MendableError(
            f"The cells of {source.key} do not point north. Run gdal:warpreproject on it first."
        )
    return found


def opened_as_is(source: RasterSource) -> gdal.Dataset:
    """Open the file behind a raster layer, whichever way its cells point. Raises MendableError."""
    if source.provider.name() != "gdal":
        raise MendableError(
            f"{source.key} does not come from a file ({source.provider.name()}): export it as a "
            "GeoTIFF and add that."
        )
    parts = QgsProviderRegistry.instance().decodeUri("gdal", source.source)
    path = str(parts.get("path") or source.source)
    if parts.get("layerName"):
        path = source.source.partition("|")[0]
    return opened_file(path, source.key)


def opened_file(path: str, name: str) -> gdal.Dataset:
    """Open a raster file; `name` is told when it cannot be. Raises MendableError."""
    try:
        found = gdal.Open(path)
    except RuntimeError as error:
        raise MendableError(f"{name} cannot be read: {error}") from error
    if found is None:
        raise MendableError(f"{name} cannot be read: {gdal.GetLastErrorMsg() or 'no raster file'}")
    return found


@dataclass
class _Band:
    """One band with what tells its holes, and how its numbers are scaled."""

    band: gdal.Band
    nodata: float | None
    ranges: list[QgsRasterRange]
    undeclared: bool
    mask: gdal.Band | None
    scale: float
    offset: float
    filled: int = 0

    def raw(self, row: int, rows: int, name: str) -> Any:
        """Return rows of the band as they are stored. Raises MendableError."""
        try:
            found = self.band.ReadAsArray(0, row, self.band.XSize, rows)
        except RuntimeError as error:
            raise MendableError(f"{name} cannot be read: {error}") from error
        if found is None:
            raise MendableError(f"{name} cannot be read: {gdal.GetLastErrorMsg()}")
        if numpy.iscomplexobj(found):
            raise MendableError(f"{name} holds complex numbers, which have no single value.")
        return found

    def read(self, row: int, rows: int, name: str) -> Any:
        """Return rows of the band as float64 with NaN for holes. Raises MendableError."""
        raw = self.raw(row, rows, name)
        values = raw.astype(float)
        values[~numpy.isfinite(values)] = numpy.nan
        if self.nodata is not None:
            values[raw == _as_stored(self.nodata, raw.dtype)] = numpy.nan
        elif self.undeclared:
            holes = numpy.isin(values, _FILLS) | (numpy.abs(values) >= _ENORMOUS)
            self.filled += int(numpy.count_nonzero(holes))
            values[holes] = numpy.nan
        if self.mask is not None:
            values[self.mask.ReadAsArray(0, row, self.band.XSize, rows) == 0] = numpy.nan
        if (self.scale, self.offset) != (1.0, 0.0):
            values = values * self.scale + self.offset
        for one in self.ranges:
            values[(values >= one.min()) & (values <= one.max())] = numpy.nan
        return values


def _as_stored(nodata: float, kind: Any) -> Any:
    """Return a nodata value as cells of the type hold it; NaN when they cannot."""
    if numpy.issubdtype(kind, numpy.floating):
        with numpy.errstate(over="ignore"):
            return kind.type(nodata)
    limits = numpy.iinfo(kind)
    fits = numpy.isfinite(nodata) and limits.min <= nodata <= limits.max
    return kind.type(nodata) if fits else numpy.nan


class Reader:
    """Some bands of one raster. Made and used on one thread, for one call."""

    def __init__(self, source: RasterSource, bands: list[int], context: Context) -> None:
        self._source = source
        self._context = context
        self._dataset = opened(source)
        self._bands = [self._band(number) for number in bands]
        self.columns, self.rows = self._dataset.RasterXSize, self._dataset.RasterYSize

    def _band(self, number: int) -> _Band:
        band, provider = self._dataset.GetRasterBand(number), self._source.provider
        declared = provider.sourceHasNoDataValue(number)
        used = declared and provider.useSourceNoDataValue(number)
        nodata = band.GetNoDataValue() if used else None
        flags = band.GetMaskFlags()
        own_mask = flags & gdal.GMF_PER_DATASET and not flags & gdal.GMF_ALPHA
        signed = numpy.dtype(
            gdal_array.GDALTypeCodeToNumericTypeCode(band.DataType) or float
        ).kind in ("i", "f")
        return _Band(
            band,
            nodata,
            list(provider.userNoDataValues(number)),
            undeclared=signed and not declared,
            mask=band.GetMaskBand() if own_mask else None,
            scale=1.0 if band.GetScale() is None else band.GetScale(),
            offset=0.0 if band.GetOffset() is None else band.GetOffset(),
        )

    def strips(self) -> Iterator[tuple[int, list[Any]]]:
        """Yield the first row and the bands' values of each strip, from the top.

        Values are float64 arrays of (rows, columns) with NaN for no data. Says at the end how
        many cells held an undeclared fill value. Raises MendableError, ToolCancelled.
        """
        for row, rows in self._spans():
            yield row, [one.read(row, rows, self._source.key) for one in self._bands]
            self._context.progress(100.0 * (row + rows) / self.rows)
        filled = max(one.filled for one in self._bands)
        if filled:
            self._context.note(
                f"{filled} cells of {self._source.key} hold a value such as -9999, which is not "
                "declared as no data but was taken as such."
            )

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Yield the first row and the number of rows of each strip. Raises ToolCancelled."""
        height = max(1, _STRIP_CELLS // self.columns)
        for row in range(0, self.rows, height):
            self._context.stop_if_cancelled()
            yield row, min(height, self.rows - row)

    def fills(self) -> list[float]:
        """Return the undeclared fill values that the bands hold, by reading them all."""
        found: set[float] = set()
        for one in self._bands:
            for row, rows in self._spans() if one.undeclared else ():
                raw = one.raw(row, rows, self._source.key)
                found.update(value for value in _FILLS if (raw == value).any())
                large = raw[numpy.abs(raw.astype(float)) >= _ENORMOUS]
                found.update(float(value) for value in numpy.unique(large)[:2])
        return sorted(found)
