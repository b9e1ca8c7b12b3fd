# SPDX-License-Identifier: GPL-2.0-or-later
"""The grid of a raster: where its cells lie and how large they are on the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy
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

from .context import Context
from .distance import around, needs_crs, transform
from .raster import opened
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
        measurer.setSourceCrs(self.crs, context.call(lambda: context.project.transformContext()))
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
