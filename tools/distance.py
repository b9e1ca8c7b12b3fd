# SPDX-License-Identifier: GPL-2.0-or-later
"""Distances in metres whatever the CRS: measured in a metric CRS around each place, never in
degrees and not in a projection that stretches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCoordinateTransformContext,
    QgsCsException,
    QgsDistanceArea,
    QgsGeometry,
    QgsPoint,
    QgsPointXY,
    QgsRectangle,
)

from .base import MendableError, UnanswerableError
from .source import LayerSource

_STRETCH = 0.002
CELL_DEGREES = 2.0
_METRES_PER_DEGREE = 110_574.0
_WIDEST_M = 690_000.0
"""As far from its centre an azimuthal equidistant CRS stretches by 0.2 %: c / sin c - 1."""


def needs_crs(source: LayerSource, what: str) -> None:
    """Refuse a layer without CRS. Raises UnanswerableError."""
    if not source.crs.isValid():
        raise UnanswerableError(
            f"{source.key} has no coordinate reference system, so {what}. "
            "Set the layer's CRS first; a guess would give a wrong number."
        )


def is_true_metric(crs: QgsCoordinateReferenceSystem, centre: QgsPointXY) -> bool:
    """Tell whether a CRS is in metres and stretches by less than 0.2 % at `centre` (in it)."""
    if not crs.isValid() or crs.isGeographic():
        return False
    if crs.mapUnits() != Qgis.DistanceUnit.Meters:
        return False
    factors = crs.factors(_geographic(crs, centre))
    scales = (factors.meridionalScale(), factors.parallelScale())
    return factors.isValid() and all(abs(scale - 1) <= _STRETCH for scale in scales)


def metric_for(
    source: LayerSource, call: Callable[..., Any]
) -> QgsCoordinateReferenceSystem | None:
    """Return a CRS in metres that stretches by less than 0.2 % over a whole layer.

    That is its own CRS where it is such a one, else an azimuthal equidistant one around the
    layer's centre, made on the main thread through `call`; None for a layer that is too wide,
    or crosses the date line.
    """
    corners = _corners(source.extent)
    if all(is_true_metric(source.crs, point) for point in corners):
        return source.crs
    way = transform(source.crs, _lon_lat())
    try:
        box = transformed(source.extent, way)
    except QgsCsException:
        return None
    if box.width() > 180 or not box.isFinite():
        return None
    centre = box.center()
    measurer = QgsDistanceArea()
    measurer.setEllipsoid("EPSG:7030")
    far = max(measurer.measureLine(centre, point) for point in _corners(box))
    return call(lambda: around(centre.x(), centre.y())) if far <= _WIDEST_M else None


def transformed(box: QgsRectangle, way: QgsCoordinateTransform) -> QgsRectangle:
    """Return the box in the target CRS of `way` that holds a box, also one without width or
    height, of which QGIS would transform one corner alone. Raises QgsCsException."""
    if box.width() and box.height():
        return way.transformBoundingBox(box)
    return way.transformBoundingBox(box.buffered(1e-6 if way.sourceCrs().isGeographic() else 0.1))


def _corners(box: QgsRectangle) -> list[QgsPointXY]:
    east, west, south, north = box.xMaximum(), box.xMinimum(), box.yMinimum(), box.yMaximum()
    points = [QgsPointXY(x, y) for x in (west, east) for y in (south, north)]
    return [*points, QgsPointXY(box.center())]


def _geographic(crs: QgsCoordinateReferenceSystem, point: QgsPointXY) -> QgsPoint:
    return QgsPoint(transform(crs, _lon_lat()).transform(point))


def _lon_lat() -> QgsCoordinateReferenceSystem:
    return QgsCoordinateReferenceSystem("EPSG:4326")


def transform(
    source: QgsCoordinateReferenceSystem, target: QgsCoordinateReferenceSystem
) -> QgsCoordinateTransform:
    """Return a transform that may be used on any one thread."""
    return QgsCoordinateTransform(source, target, QgsCoordinateTransformContext())


def cell_of(point: QgsPointXY) -> tuple[float, float]:
    """Return longitude and latitude of the middle of the cell of two degrees around a place.

    A CRS around it stretches by 0.01 % within the cell.
    """
    x, y = (round(one / CELL_DEGREES) * CELL_DEGREES for one in (point.x(), point.y()))
    return x, max(-90.0, min(90.0, y))


def around(longitude: float, latitude: float) -> QgsCoordinateReferenceSystem:
    """Return the azimuthal equidistant CRS in metres around a place."""
    return QgsCoordinateReferenceSystem.fromProj(
        f"+proj=aeqd +lat_0={latitude:.6f} +lon_0={longitude:.6f} +datum=WGS84 +units=m +no_defs"
    )


def moved(geometry: QgsGeometry, way: QgsCoordinateTransform) -> QgsGeometry:
    """Return a copy of a geometry in the target CRS of `way`. Raises MendableError."""
    copy = QgsGeometry(geometry)
    try:
        copy.transform(way)
    except QgsCsException as error:
        raise MendableError(
            f"A geometry cannot be brought from {way.sourceCrs().authid()} "
            f"to {way.destinationCrs().authid() or 'a metric CRS'}."
        ) from error
    return copy


class Ground:
    """Distances on the ground between geometries of one CRS (both in that CRS)."""

    def __init__(self, crs: QgsCoordinateReferenceSystem, centre: QgsPointXY) -> None:
        self._crs = crs
        self._metric = is_true_metric(crs, centre)
        self._to_degrees = transform(crs, _lon_lat())
        self._ways: dict[tuple[float, float], QgsCoordinateTransform] = {}

    def reach(self, geometry: QgsGeometry, metres: float) -> Iterator[QgsRectangle]:
        """Yield the boxes, in the CRS, that hold everything within `metres` of a geometry."""
        box = geometry.boundingBox()
        if self._metric:
            yield box.buffered(metres)
            return
        degrees = self._to_degrees.transformBoundingBox(box)
        height = metres / _METRES_PER_DEGREE * 1.02
        south, north = degrees.yMinimum() - height, degrees.yMaximum() + height
        widest = min(89.0, max(abs(south), abs(north)))
        width = height / max(0.01, math.cos(math.radians(widest)))
        west, east = degrees.xMinimum() - width, degrees.xMaximum() + width
        if south < -89 or north > 89 or east - west >= 360:
            west, east = -180.0, 180.0
        for low, high in _wrapped(west, east):
            part = QgsRectangle(low, max(-90.0, south), high, min(90.0, north))
            yield part if self._crs.isGeographic() else self._back(part)

    def _back(self, box: QgsRectangle) -> QgsRectangle:
        way = transform(_lon_lat(), self._crs)
        limits = self._crs.bounds()
        inside = box.intersect(limits) if not limits.isEmpty() else box
        return way.transformBoundingBox(inside)

    def prepared(self, geometry: QgsGeometry) -> tuple[QgsGeometry, QgsCoordinateTransform | None]:
        """Return a geometry in the metric CRS around itself, and the way there."""
        if self._metric:
            return geometry, None
        centre = self._to_degrees.transform(geometry.boundingBox().center())
        cell = cell_of(centre)
        if cell not in self._ways:
            self._ways[cell] = transform(self._crs, around(*cell))
        way = self._ways[cell]
        return moved(geometry, way), way

    def between(
        self, near: tuple[QgsGeometry, QgsCoordinateTransform | None], other: QgsGeometry
    ) -> float:
        """Return the distance in metres from a prepared geometry to another of the CRS."""
        geometry, way = near
        return float(geometry.distance(other if way is None else moved(other, way)))


def _wrapped(west: float, east: float) -> Iterator[tuple[float, float]]:
    """Split a span of longitudes at the date line."""
    if west < -180:
        yield west + 360, 180.0
    if east > 180:
        yield -180.0, east - 360
    yield max(west, -180.0), min(east, 180.0)
