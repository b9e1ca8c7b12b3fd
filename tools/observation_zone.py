# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells of a grid that belong to each zone: those whose middle lies in a polygon, the one cell
under a point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy
from osgeo import gdal, ogr, osr
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCsException,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
)

from .base import Family, MendableError
from .context import Context
from .distance import needs_crs, transform
from .feature_name import named, naming_field
from .grid import Grid
from .observation_channel import Window
from .source import VectorSource

_STRIP_CELLS = 2_000_000
_KEPT_CELLS = 20_000_000
_PLANE = osr.SpatialReference('LOCAL_CS["cells",UNIT["metre",1]]')
"""What shape and cells share, whatever their CRS is; without one GDAL warns at every zone."""


@dataclass(frozen=True)
class Zone:
    """A polygon or point with its name; the feature carries its geometry in the layer's CRS."""

    name: str
    feature: QgsFeature

    def geometry(self, source: VectorSource, crs: QgsCoordinateReferenceSystem) -> QgsGeometry:
        """Return the geometry in another CRS; empty where it has no place there."""
        found = QgsGeometry(self.feature.geometry())
        try:
            found.transform(transform(source.crs, crs))
        except QgsCsException:
            return QgsGeometry()
        return found


class ZoneGrid:
    """Zones laid over grids; the cells of a zone are kept while the grid stays the same."""

    def __init__(self, source: VectorSource, context: Context) -> None:
        if source.family not in (Family.POLYGON, Family.POINT):
            raise MendableError(f"{source.key} is a {source.geometry} layer: zones are polygons "
                                "or points.")  # fmt: skip
        needs_crs(source, f"{source.key} cannot be laid over scenes")
        self.source = source
        self._context = context
        label = naming_field(source, context)
        self.zones = [
            Zone(named(one, label), one)
            for one in source.rows(context.cancelled, geometry=True)
            if one.hasGeometry() and not one.geometry().isEmpty()
        ]
        if not self.zones:
            raise MendableError(f"{source.key} has no feature with a geometry.")
        self._grid: Grid | None = None
        self._kept: dict[int, list[tuple[Window, Any]]] = {}
        self._held = 0

    def cells(self, place: int, grid: Grid) -> Iterator[tuple[Window, Any]]:
        """Yield windows of a grid with the mask of the cells of a zone, by its place in `zones`;
        nothing for a zone outside. Raises ToolCancelled."""
        if self._grid is None or not self._grid.is_same(grid):
            self._grid, self._kept, self._held = grid, {}, 0
        if place in self._kept:
            yield from self._kept[place]
            return
        made: list[tuple[Window, Any]] = []
        keeping = True
        for window, mask in self._masks(self.zones[place], grid):
            self._context.stop_if_cancelled()
            keeping = keeping and self._held + mask.size <= _KEPT_CELLS
            if keeping:
                made.append((window, mask))
                self._held += mask.size
            yield window, mask
        if keeping:
            self._kept[place] = made

    def _masks(self, zone: Zone, grid: Grid) -> Iterator[tuple[Window, Any]]:
        geometry = zone.geometry(self.source, grid.crs)
        if geometry.isEmpty():
            return
        if self.source.family is Family.POINT:
            for point in geometry.vertices():
                yield from _cell_at(QgsPointXY(point), grid)
            return
        whole = window_of(geometry, grid)
        if whole is None:
            return
        column, row, columns, rows = whole
        height = max(1, _STRIP_CELLS // columns)
        met = False
        for first in range(row, row + rows, height):
            window = (column, first, columns, min(height, row + rows - first))
            mask = cells_in(geometry, window, grid)
            met = met or bool(mask.any())
            yield window, mask
        if not met:  # smaller than a cell: the one under it
            yield from _cell_at(geometry.pointOnSurface().asPoint(), grid)


def _cell_at(point: QgsPointXY, grid: Grid) -> Iterator[tuple[Window, Any]]:
    column = math.floor((point.x() - grid.left) / grid.width)
    row = math.floor((point.y() - grid.top) / grid.height)
    if 0 <= column < grid.columns and 0 <= row < grid.rows:
        yield (column, row, 1, 1), numpy.ones((1, 1), dtype=bool)


def window_of(geometry: QgsGeometry, grid: Grid) -> Window | None:
    """Return the cells that the box of a geometry of the grid's CRS meets, None for none."""
    box = geometry.boundingBox()
    left = math.floor((box.xMinimum() - grid.left) / grid.width)
    right = math.ceil((box.xMaximum() - grid.left) / grid.width)
    ends = sorted((one - grid.top) / grid.height for one in (box.yMaximum(), box.yMinimum()))
    column, row = max(0, left), max(0, math.floor(ends[0]))
    columns = min(grid.columns, right) - column
    rows = min(grid.rows, math.ceil(ends[1])) - row
    return (column, row, columns, rows) if columns > 0 and rows > 0 else None


def cells_in(geometry: QgsGeometry, window: Window, grid: Grid) -> Any:
    """Return which cells of a window have their middle in a polygon of the grid's CRS."""
    shape = ogr.CreateGeometryFromWkb(bytes(geometry.asWkb()))
    column, row, columns, rows = window
    target = gdal.GetDriverByName("MEM").Create("", columns, rows, 1, gdal.GDT_Byte)
    left, top = grid.left + column * grid.width, grid.top + row * grid.height
    target.SetGeoTransform((left, grid.width, 0, top, 0, grid.height))
    target.SetSpatialRef(_PLANE)
    holder = ogr.GetDriverByName("Memory").CreateDataSource("zone")
    layer = holder.CreateLayer("zone", _PLANE, shape.GetGeometryType())
    feature = ogr.Feature(layer.GetLayerDefn())
    feature.SetGeometry(shape)
    layer.CreateFeature(feature)
    gdal.RasterizeLayer(target, [1], layer, burn_values=[1])
    return target.GetRasterBand(1).ReadAsArray() == 1
