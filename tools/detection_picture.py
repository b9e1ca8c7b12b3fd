# SPDX-License-Identifier: GPL-2.0-or-later
"""A raster as a detector sees it: sensor, bands, size of a cell, day, and tiles as numbers; its
cells may point any way."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal
from qgis.core import Qgis, QgsDistanceArea, QgsGeometry, QgsPointXY, QgsRasterLayer

from .base import MendableError
from .context import Context
from .date_name import date_of
from .detector import Normalisation
from .distance import needs_crs
from .observation_channel import Window, read_band
from .product import ROLES, names_of, recognised, role_bands
from .raster import opened_as_is, raster_of
from .source import WGS_84, RasterSource

_RADAR = re.compile(
    r"(?:^|[^A-Z0-9])(?:S1[ABCD]|SENTINEL.?1|SAR|GRD|SLC|VV|VH|HH|HV|SIGMA.?0|GAMMA.?0|ALOS|PALSAR"
    r"|TERRASAR|TSX|RADARSAT|RCM|ICEYE|CAPELLA|COSMO)(?:[^A-Z0-9]|$)"
)
_POLARISATIONS = ("VV", "VH", "HH", "HV")
_COLOURS = {
    gdal.GCI_RedBand: "red", gdal.GCI_GreenBand: "green", gdal.GCI_BlueBand: "blue",
}  # fmt: skip
_DAY_FORMS = ("%Y%m%d", "%Y-%m-%d", "%Y%j", "%Y_%m_%d", "%Y.%m.%d")
_DAY_TAGS = ("TIFFTAG_DATETIME", "ACQUISITIONDATETIME", "ACQUISITION_DATE", "DATE_ACQUIRED")

Affine = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Picture:
    """A raster with what it tells of itself. `bands` are the numbers of its bands by what they
    see, in small letters; `cell` the longer side of a cell in metres; `sensor` "" where nothing
    tells it. Made and read on one thread."""

    source: RasterSource
    dataset: gdal.Dataset
    affine: Affine
    sensor: str
    bands: dict[str, int]
    cell: float
    day: datetime.date | None
    measurer: QgsDistanceArea

    @property
    def columns(self) -> int:
        """How many cells it is wide."""
        return int(self.dataset.RasterXSize)

    @property
    def rows(self) -> int:
        """How many cells it is high."""
        return int(self.dataset.RasterYSize)

    def point(self, column: float, row: float) -> QgsPointXY:
        """Return the place of a corner of cells, in the raster's CRS."""
        left, across, turn, top, twist, down = self.affine
        return QgsPointXY(
            left + column * across + row * turn, top + column * twist + row * down
        )  # fmt: skip

    def polygon(self, left: float, top: float, right: float, bottom: float) -> QgsGeometry:
        """Return a box of cells as a polygon in the raster's CRS."""
        corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
        return QgsGeometry.fromPolygonXY([[self.point(*one) for one in corners]])

    def area(self, polygon: QgsGeometry) -> float:
        """Return the area of a polygon on the ellipsoid, in square metres."""
        area = self.measurer.measureArea(polygon)
        return float(self.measurer.convertAreaMeasurement(area, Qgis.AreaUnit.SquareMeters))


def picture_of(name: str, context: Context) -> Picture:
    """Return the picture that a raster layer is. Raises MendableError, and UnanswerableError for a
    raster without CRS."""
    source = raster_of(name, context)
    needs_crs(source, "the place and the size of what is detected are not known")
    dataset = opened_as_is(source)
    affine = dataset.GetGeoTransform(can_return_null=True)
    if affine is None:
        raise MendableError(
            f"{source.key} has no georeference, so what is detected would have no place. "
            "Georeference it first."
        )
    measurer = QgsDistanceArea()
    measurer.setSourceCrs(source.crs, context.call(lambda: context.project.transformContext()))
    measurer.setEllipsoid(source.crs.ellipsoidAcronym() or WGS_84)
    bands = _bands(source, dataset)
    return Picture(
        source, dataset, affine, _sensor(source, dataset, bands), bands,
        _cell(dataset, affine, measurer), _day(source, dataset, context), measurer,
    )  # fmt: skip


def _bands(source: RasterSource, dataset: gdal.Dataset) -> dict[str, int]:
    """Return the bands by what their names, the product or their colours tell."""
    try:
        product = recognised(source) if not _turned(dataset) else None
    except MendableError:  # Sentinel-2 of an unknown baseline: the bands' names are enough
        product = None
    found = role_bands(source, product)
    for band in source.bands[: dataset.RasterCount]:  # QGIS adds one to a turned raster
        name = band.name.upper()
        for one in _POLARISATIONS:
            if re.search(rf"(?:^|[^A-Z0-9]){one}(?:[^A-Z0-9]|$)", name):
                found.setdefault(one.lower(), band.number)
        colour = _COLOURS.get(dataset.GetRasterBand(band.number).GetColorInterpretation())
        if colour and not any(role in found for role in ROLES if role not in _COLOURS.values()):
            found.setdefault(colour, band.number)
    return found


def _turned(dataset: gdal.Dataset) -> bool:
    affine = dataset.GetGeoTransform()
    return bool(affine[2] or affine[4])


def _sensor(source: RasterSource, dataset: gdal.Dataset, bands: dict[str, int]) -> str:
    metadata = dataset.GetMetadata()
    tags = [str(metadata.get(key, "")) for key in ("SENSOR", "INSTRUMENT", "PLATFORM", "MISSION")]
    if _RADAR.search(" ".join([names_of(source), *tags]).upper()):
        return "SAR"
    return "optical" if set(bands) & set(ROLES) else ""


def _cell(dataset: gdal.Dataset, affine: Affine, measurer: QgsDistanceArea) -> float:
    """Return the longer side of the cell in the middle, in metres on the ellipsoid."""
    column, row = dataset.RasterXSize // 2, dataset.RasterYSize // 2
    left, across, turn, top, twist, down = affine
    here = QgsPointXY(left + column * across + row * turn, top + column * twist + row * down)
    beside = QgsPointXY(here.x() + across, here.y() + twist)
    below = QgsPointXY(here.x() + turn, here.y() + down)
    longer = max(measurer.measureLine(here, one) for one in (beside, below))
    return float(measurer.convertLengthMeasurement(longer, Qgis.DistanceUnit.Meters))


def _day(source: RasterSource, dataset: gdal.Dataset, context: Context) -> datetime.date | None:
    """Return the day of a picture: of the layer, of the file's tags, or of a whole date in its
    names; None where none of them tells one."""

    def of_layer() -> datetime.date | None:
        layer = context.map_layer(source)
        if not isinstance(layer, QgsRasterLayer):
            return None
        properties = layer.temporalProperties()
        fixed = properties.mode() == Qgis.RasterTemporalMode.FixedTemporalRange
        if not (properties.isActive() and fixed):
            return None
        begin = properties.fixedTemporalRange().begin().date()
        return datetime.date(begin.year(), begin.month(), begin.day()) if begin.isValid() else None

    told = context.call(of_layer)
    if told is not None:
        return told
    metadata = dataset.GetMetadata()
    tags = [str(metadata[key]).replace(":", "-") for key in _DAY_TAGS if key in metadata]
    for text in (*tags, source.key, Path(source.source.partition("|")[0]).stem):
        day = date_of(text)
        if day is not None and any(day.strftime(form) in text for form in _DAY_FORMS):
            return day
    return None


class TileReader:
    """Reads tiles of a picture as a model is fed them."""

    def __init__(self, picture: Picture, bands: list[int], how: Normalisation) -> None:
        self._dataset, self._bands = picture.dataset, bands
        self._divide = how.divide
        self._mean = _column(how.mean, 0.0)
        self._std = _column(how.std, 1.0)

    def read(self, window: Window) -> tuple[Any, Any]:
        """Return (bands, rows, columns) of float32, 0 where there is no data, and which cells of
        (rows, columns) have data. Raises MendableError."""
        stored = numpy.stack([read_band(self._dataset, one, window) for one in self._bands])
        if numpy.iscomplexobj(stored):
            raise MendableError("The raster holds complex numbers: take their amplitude first.")
        there = numpy.isfinite(stored).all(axis=0)
        for one in self._bands:
            band = self._dataset.GetRasterBand(one)
            if not band.GetMaskFlags() & gdal.GMF_ALL_VALID:
                there &= band.GetMaskBand().ReadAsArray(*window) != 0
        values = (stored.astype(numpy.float32) / self._divide - self._mean) / self._std
        return numpy.where(there, values, 0).astype(numpy.float32), there


def _column(numbers: tuple[float, ...], default: float) -> Any:
    """Return numbers by band, or one for all, as they lie over (bands, rows, columns)."""
    return numpy.array(numbers or (default,), numpy.float32)[:, None, None]


def padded(values: Any, size: tuple[int, int]) -> Any:
    """Return a tile of (bands, rows, columns) with zeros to the right and below, up to columns and
    rows."""
    _, rows, columns = values.shape
    if (columns, rows) == size:
        return values
    return numpy.pad(values, ((0, 0), (0, size[1] - rows), (0, size[0] - columns)))
