# SPDX-License-Identifier: GPL-2.0-or-later
"""The grid of a raster: where its cells lie, how large they are on the ground, and rasters brought
onto one grid or made fit for an algorithm, as virtual files in a folder of the call."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal
from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsDistanceArea,
    QgsGeometry,
    QgsPoint,
    QgsPointXY,
    QgsRectangle,
    QgsReferencedRectangle,
    QgsUnitTypes,
)

from .base import LastingError
from .context import Context
from .distance import around, needs_crs, transform
from .raster import Reader, opened, opened_file
from .source import WGS_84, LayerSource, RasterSource

_AREA_STRETCH = 0.005
_LENGTH_STRETCH = 0.02
_SAME = 1e-3
"""Share of a cell by which two grids may differ and still be one."""


@dataclass(frozen=True)
class Grid:
    """Columns and rows of cells; left and top in units of the CRS, width and height of a cell."""

    columns: int
    rows: int
    left: float
    top: float
    width: float
    height: float
    crs: QgsCoordinateReferenceSystem

    def is_same(self, other: Grid) -> bool:
        """Tell whether every cell of the other lies on a cell of this one."""
        near = (
            abs(self.left - other.left) <= _SAME * self.width
            and abs(self.top - other.top) <= _SAME * abs(self.height)
            and abs(self.width - other.width) * self.columns <= _SAME * self.width
            and abs(self.height - other.height) * self.rows <= _SAME * abs(self.height)
        )
        shape = (self.columns, self.rows) == (other.columns, other.rows)
        return near and shape and self.crs == other.crs

    def bounds(self) -> tuple[float, float, float, float]:
        """Return left, bottom, right and top."""
        bottom = self.top + self.rows * self.height
        right = self.left + self.columns * self.width
        return self.left, min(self.top, bottom), right, max(self.top, bottom)

    def squared(self) -> Grid:
        """Return the grid with square cells, as small as the shorter side."""
        left, bottom, right, top = self.bounds()
        side = min(self.width, abs(self.height))
        columns, rows = round((right - left) / side), round((top - bottom) / side)
        return Grid(columns, rows, left, top, side, -side, self.crs)

    def is_square(self) -> bool:
        """Tell whether the cells are square and the first row is the northern one."""
        longest = max(self.columns, self.rows)
        return abs(self.width + self.height) * longest <= _SAME * self.width

    def around(self, box: QgsRectangle) -> QgsReferencedRectangle:
        """Return the rectangle of whole cells of this grid that holds `box`, as far as it goes."""
        left, bottom, *_ = self.bounds()
        width, height = self.width, abs(self.height)
        first = max(0, math.floor((box.xMinimum() - left) / width))
        last = min(self.columns, math.ceil((box.xMaximum() - left) / width))
        lower = max(0, math.floor((box.yMinimum() - bottom) / height))
        upper = min(self.rows, math.ceil((box.yMaximum() - bottom) / height))
        found = QgsRectangle(
            left + first * width,
            bottom + lower * height,
            left + last * width,
            bottom + upper * height,
        )
        return QgsReferencedRectangle(found, self.crs)

    def words(self) -> str:
        """Describe the grid in a sentence's part."""
        unit = QgsUnitTypes.toAbbreviatedString(self.crs.mapUnits()) if self.crs.isValid() else ""
        size = f"{self.width:.6g} x {abs(self.height):.6g} {unit}".strip()
        return f"{self.columns} x {self.rows} cells of {size}"

    def row_areas(self, context: Context) -> Any:
        """Return the area in square metres of a cell of each row, as an array of rows.

        Planar where the projection keeps areas (within 0.5 %), else on the ellipsoid, row by row.
        """
        _, bottom, _, top = self.bounds()
        middle = self.left + self.columns * self.width / 2
        if self.crs.isGeographic() or any(
            self._stretches(middle, y) for y in (bottom, (bottom + top) / 2, top)
        ):
            return self._measured(middle, context)
        unit = QgsUnitTypes.fromUnitToUnitFactor(self.crs.mapUnits(), Qgis.DistanceUnit.Meters)
        return numpy.full(self.rows, abs(self.width * self.height) * unit * unit)

    def _stretches(self, x: float, y: float) -> bool:
        way = transform(self.crs, QgsCoordinateReferenceSystem("EPSG:4326"))
        factors = self.crs.factors(QgsPoint(way.transform(QgsPointXY(x, y))))
        return not factors.isValid() or abs(factors.arealScale() - 1) > _AREA_STRETCH

    def _measured(self, middle: float, context: Context) -> Any:
        measurer = QgsDistanceArea()
        measurer.setSourceCrs(self.crs, context.call(context.project.transformContext))
        measurer.setEllipsoid(self.crs.ellipsoidAcronym() or WGS_84)
        areas = numpy.empty(self.rows)
        for row in range(self.rows):
            y = self.top + row * self.height
            cell = QgsRectangle(middle, y, middle + self.width, y + self.height)
            areas[row] = measurer.measureArea(QgsGeometry.fromRect(cell))
        return areas


def grid_of(source: RasterSource) -> Grid:
    """Return the grid of a raster layer. Raises MendableError."""
    dataset = opened(source)
    left, width, _, top, _, height = dataset.GetGeoTransform()
    columns, rows = dataset.RasterXSize, dataset.RasterYSize
    return Grid(columns, rows, left, top, width, height, source.crs)


def metric_crs(
    source: LayerSource, what: str, stretch: float = _LENGTH_STRETCH, metres_only: bool = False
) -> QgsCoordinateReferenceSystem | None:
    """Return a CRS in which lengths on the layer are metres, None when its own does.

    Its own does when it stretches lengths by less than `stretch`, with `metres_only` only when
    its unit is the metre too. The other is the UTM zone of the layer's middle, for a wide or polar
    layer one around the middle. Raises UnanswerableError for a layer without CRS; `what` ends that
    sentence.
    """
    needs_crs(source, what)
    extent, crs = source.extent, source.crs
    way = transform(crs, QgsCoordinateReferenceSystem("EPSG:4326"))
    middle = way.transform(extent.center())
    in_metres = crs.mapUnits() == Qgis.DistanceUnit.Meters
    if not crs.isGeographic() and (in_metres or not metres_only):
        factors = crs.factors(QgsPoint(middle))
        scales = (factors.meridionalScale(), factors.parallelScale())
        if factors.isValid() and all(abs(one - 1) <= stretch for one in scales):
            return None
    degrees = way.transformBoundingBox(extent)
    if degrees.width() > 12 or abs(middle.y()) > 84:
        return around(middle.x(), middle.y())
    zone = min(60, max(1, int((middle.x() + 180) // 6) + 1))
    return QgsCoordinateReferenceSystem(f"EPSG:{(32600 if middle.y() >= 0 else 32700) + zone}")


@contextmanager
def workspace(context: Context) -> Iterator[Path]:
    """Give a folder for files that only this call needs; it is removed afterwards."""
    context.temporary_folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=context.temporary_folder))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def told(context: Context) -> Callable[..., int]:
    """Return a callback of GDAL that passes progress on and stops when the user does."""

    def callback(share: float, _message: str, _data: Any) -> int:
        context.progress(100.0 * share)
        return 0 if context.cancelled() else 1

    return callback


def made(what: str, make: Callable[[], Any], context: Context) -> Any:
    """Return what a function of GDAL made. Raises LastingError naming `what`, ToolCancelled."""
    try:
        found = make()
    except RuntimeError as error:
        context.stop_if_cancelled()
        raise LastingError(f"{what} could not be made: {error}") from error
    context.stop_if_cancelled()
    if found is None:
        raise LastingError(f"{what} could not be made: {gdal.GetLastErrorMsg()}")
    return found


def prepared(
    source: RasterSource,
    folder: Path,
    context: Context,
    nodata: float | None = None,
    copy: bool = False,
) -> str:
    """Return what an algorithm may take as the raster: the layer's id, or a virtual copy.

    The copy declares what the file does not: `nodata`, the value that the user set, or a fill
    value found in the cells; scale and offset are applied. With `copy` it is always one.
    Raises MendableError, LastingError.
    """
    dataset = opened(source)
    numbers = [band.number for band in source.bands]
    bands = [dataset.GetRasterBand(number) for number in numbers]
    scaled = any(
        band.GetScale() not in (None, 1.0) or band.GetOffset() not in (None, 0.0) for band in bands
    )
    user = [one for number in numbers for one in source.provider.userNoDataValues(number)]
    hole = nodata
    if hole is None and user:
        hole = user[0].min()
    elif hole is None:
        fills = Reader(source, numbers, context).fills()
        hole = fills[0] if fills else None
        if fills:
            context.note(f"{source.key} holds {fills[0]:g} without declaring it: taken as no data.")
    if hole is None and not scaled and not copy:
        return source.id
    path = _free(folder)
    options = {"format": "VRT", "unscale": scaled}
    if scaled:
        options["outputType"] = gdal.GDT_Float32
    if hole is not None:
        options["noData"] = hole
    made(f"A copy of {source.key}", lambda: gdal.Translate(str(path), dataset, **options), context)
    return str(path)


def opened_given(source: RasterSource, given: str) -> gdal.Dataset:
    """Open what `prepared` gave for a raster. Raises MendableError."""
    return opened(source) if given == source.id else opened_file(given, source.key)


def aligned(source: RasterSource, grid: Grid, folder: Path, context: Context) -> str:
    """Return a virtual copy of a raster on the grid of another, which is noted.

    Whole numbers keep their values (nearest cell), others are interpolated. Raises as `prepared`.
    """
    needs_crs(source, "it cannot be laid over another raster")
    whole = all(
        band.type.lower().lstrip("u") in ("byte", "int8", "int16", "int32", "int64")
        for band in source.bands
    )
    way = "nearest" if whole else "bilinear"
    path = warped(source, grid.crs, folder, context, way, grid)
    context.note(
        f"{source.key} was brought onto {grid.words()} ({'nearest cell' if whole else way})."
    )
    return path


def warped(
    source: RasterSource,
    crs: QgsCoordinateReferenceSystem,
    folder: Path,
    context: Context,
    way: str,
    grid: Grid | None = None,
) -> str:
    """Return a virtual copy of a raster in another CRS; without `grid` in cells of its own size.

    Cells without data stay without, whether declared or not.
    """
    given = prepared(source, folder, context)
    dataset = opened_given(source, given)
    band = dataset.GetRasterBand(1)
    hole = band.GetNoDataValue()
    options: dict[str, Any] = {
        "format": "VRT",
        "srcSRS": source.crs.toWkt(),
        "dstSRS": crs.toWkt(),
        "resampleAlg": way,
        "dstNodata": -9999.0 if hole is None else hole,
        "outputType": gdal.GDT_Float32 if hole is None else gdal.GDT_Unknown,
    }
    if grid is not None:
        options.update(outputBounds=grid.bounds(), width=grid.columns, height=grid.rows)
    path = _free(folder)
    made(f"A copy of {source.key}", lambda: gdal.Warp(str(path), dataset, **options), context)
    return str(path)


def _free(folder: Path) -> Path:
    return folder / f"copy_{len(list(folder.iterdir()))}.vrt"
