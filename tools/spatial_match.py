# SPDX-License-Identifier: GPL-2.0-or-later
"""Features of two layers matched by where they are, each pair once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from qgis.core import QgsGeometry, QgsSpatialIndex

from . import dateline
from .context import Context
from .distance import moved, needs_crs, transform
from .source import VectorSource

LARGEST = "largest overlap"


def refuse_unplaced(source: VectorSource, other: VectorSource) -> None:
    """Refuse two layers of which one has a CRS and the other none. Raises UnanswerableError."""
    if source.crs.isValid() != other.crs.isValid():
        lacking = other if source.crs.isValid() else source
        needs_crs(lacking, "it cannot be compared with the other layer")


def brought(
    other: VectorSource, expression: str, source: VectorSource, context: Context
) -> Iterable[tuple[int, QgsGeometry]]:
    """Yield id and geometry of the other layer's features in the CRS of `source`, repaired."""
    way = transform(other.crs, source.crs) if other.crs != source.crs else None
    mended = wrapped = 0
    for feature in other.rows(context.cancelled, expression, geometry=True):
        if not feature.hasGeometry() or feature.geometry().isEmpty():
            continue
        geometry, was_cut = dateline.whole(feature.geometry(), other)
        wrapped += was_cut
        if not geometry.isGeosValid():
            geometry, mended = geometry.makeValid(), mended + 1
        yield feature.id(), moved(geometry, way) if way else geometry
    if mended:
        context.note(f"{mended} invalid geometries of {other.key} were repaired for the test.")
    context.note(dateline.note(wrapped, other))


def sound(geometry: QgsGeometry) -> QgsGeometry:
    """Return a geometry itself, or repaired where it is invalid."""
    return geometry if geometry.isGeosValid() else geometry.makeValid()


class Matches:
    """The features of a layer in a spatial index, in the CRS of another layer."""

    def __init__(
        self,
        other: VectorSource,
        source: VectorSource,
        context: Context,
        shape: Callable[[QgsGeometry], QgsGeometry] = lambda geometry: geometry,
    ) -> None:
        """Read `other`; `shape` makes of each geometry what is matched."""
        self.geometries: dict[int, QgsGeometry] = {
            identity: shape(geometry) for identity, geometry in brought(other, "", source, context)
        }
        self._index = QgsSpatialIndex()
        self._own = source.id == other.id
        for identity, geometry in self.geometries.items():
            self._index.addFeature(identity, geometry.boundingBox())

    def of(self, identity: int, geometry: QgsGeometry, predicate: str) -> list[int]:
        """Return the features to which a geometry stands in a relation, in their order.

        For LARGEST the one that shares the largest area, or else length, with it. A feature does
        not match itself.
        """
        near = set(self._index.intersects(geometry.boundingBox()))
        if self._own:
            near.discard(identity)
        if not near:
            return []
        engine = QgsGeometry.createGeometryEngine(geometry.constGet())
        engine.prepareGeometry()
        relate: Callable[[Any], bool] = getattr(
            engine, "intersects" if predicate == LARGEST else predicate
        )
        found = sorted(one for one in near if relate(self.geometries[one].constGet()))
        if predicate == LARGEST and len(found) > 1:
            return [max(found, key=lambda one: _shared(geometry, self.geometries[one]))]
        return found


def _shared(first: QgsGeometry, second: QgsGeometry) -> tuple[float, float]:
    common = first.intersection(second)
    return common.area(), common.length()
