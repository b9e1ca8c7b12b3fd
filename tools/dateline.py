# SPDX-License-Identifier: GPL-2.0-or-later
"""Geometries in degrees that are drawn across the date line the long way round, cut in two."""

from __future__ import annotations

from collections.abc import Iterator

from qgis.core import QgsGeometry, QgsPoint, QgsRectangle, QgsVertexId

from . import wording
from .source import VectorSource

_HALF, _WHOLE = 180.0, 360.0
_NOISE = 1e-6


def may_cross(source: VectorSource) -> bool:
    """Tell whether a layer is in degrees and wide enough to hold such geometries."""
    return source.in_degrees() and source.extent.width() > _HALF


def crosses(geometry: QgsGeometry) -> bool:
    """Tell whether a geometry in degrees has an edge of more than half the globe.

    An edge all around it, as Antarctica has one along the pole, is none.
    """
    if geometry.boundingBox().width() <= _HALF:
        return False
    last, part, ring = 0.0, -1, -1
    for identity, point in _vertices(geometry):
        jump = abs(point.x() - last)
        if (identity.part, identity.ring) == (part, ring) and _HALF < jump < _WHOLE - _NOISE:
            return True
        last, part, ring = point.x(), identity.part, identity.ring
    return False


def cut(geometry: QgsGeometry) -> QgsGeometry:
    """Return the same geometry in two parts, one on each side of the date line."""
    moved = QgsGeometry(geometry)
    shape = moved.get()
    for identity, point in list(_vertices(geometry)):
        if point.x() < 0:
            point.setX(point.x() + _WHOLE)
            shape.moveVertex(identity, point)
    east = moved.intersection(QgsGeometry.fromRect(QgsRectangle(0, -90, _HALF, 90)))
    west = moved.intersection(QgsGeometry.fromRect(QgsRectangle(_HALF, -90, _WHOLE, 90)))
    west.translate(-_WHOLE, 0)
    parts = [one for one in (east, west) if not one.isEmpty()]
    return QgsGeometry.collectGeometry(
        [part for one in parts for part in one.asGeometryCollection()]
    )


def whole(geometry: QgsGeometry, source: VectorSource) -> tuple[QgsGeometry, bool]:
    """Return a geometry of a layer as it is meant, and whether it had to be cut for that."""
    if not may_cross(source) or not crosses(geometry):
        return geometry, False
    return cut(geometry), True


def note(count: int, source: VectorSource) -> str:
    """Say that geometries were cut, "" for none."""
    if not count:
        return ""
    many = wording.counted(count, "geometry", "geometries")
    return (
        f"{many} of {source.key} {'crosses' if count == 1 else 'cross'} the date line the long "
        "way round as drawn; cut there on a copy."
    )


def _vertices(geometry: QgsGeometry) -> Iterator[tuple[QgsVertexId, QgsPoint]]:
    shape = geometry.constGet()
    identity = QgsVertexId()
    while True:
        more, point = shape.nextVertex(identity)
        if not more:
            return
        yield QgsVertexId(identity.part, identity.ring, identity.vertex), point
