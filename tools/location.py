# SPDX-License-Identifier: GPL-2.0-or-later
"""Features taken by where they are: a predicate, or a distance in metres, to another layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from qgis.core import (
    QgsFeature,
    QgsFeatureRequest,
    QgsGeometry,
    QgsPointXY,
    QgsRectangle,
    QgsSpatialIndex,
)

from . import argument, dateline, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import Ground, needs_crs
from .expression import chosen
from .layer_copy import memory_layer
from .selection import titled
from .source import VectorSource
from .spatial_match import brought, refuse_unplaced
from .statistic import where
from .unit import metres

WITHIN_DISTANCE = "within_distance"
BEYOND_DISTANCE = "beyond_distance"
_FAR = {WITHIN_DISTANCE, BEYOND_DISTANCE}
_REST = {"disjoint", BEYOND_DISTANCE}
"""Predicates that take what the opposite one leaves."""
_SYNONYMS = {
    "within distance": WITHIN_DISTANCE,
    "near": WITHIN_DISTANCE,
    "inside": "within",
    "beyond": BEYOND_DISTANCE,
    "not within distance": BEYOND_DISTANCE,
}
_PREDICATES = ("intersects", "within", "contains", "touches", "crosses", "overlaps", "disjoint")
_VERBS = {
    "intersects": "that intersect",
    "within": "that lie within",
    "contains": "that contain",
    "touches": "that touch",
    "crosses": "that cross",
    "overlaps": "that overlap",
    "disjoint": "apart from",
}
_ASK_EVERY = 200
_FEW = 50
_HAIR = 1e-6
"""Added around boxes, since the box of one point is empty and a filter may ignore it."""
_CONVERSE = {"within": "contains", "contains": "within"}


class SelectByLocation:
    """Takes the features of a layer that stand in a relation to another layer."""

    definition = ToolDefinition(
        "select_by_location",
        "Make a new layer of the features within or beyond a distance in metres of another layer's "
        "features, or that intersect, lie within, contain or touch them; gives their count.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "predicate": argument.choice(*_PREDICATES, *sorted(_FAR), synonyms=_SYNONYMS),
                "other": argument.layer(Family.VECTOR.value),
                "distance": {"anyOf": [{"type": "number"}, {"type": "string"}]},
                "other_conditions": argument.conditions("other"),
            },
            ["layer", "predicate", "other"],
        ),
        label="Select by location",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for a distance where one is needed, and refuse one that means nothing."""
        far = arguments["predicate"] in _FAR
        if far and "distance" not in arguments:
            raise MendableError(f"{arguments['predicate']} needs a distance in metres.")
        if far and metres(arguments["distance"]) < 0:
            raise MendableError("The distance cannot be negative.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Test candidates from a spatial index; a feature is not compared with itself."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        other = context.vector(arguments["other"], Family.VECTOR)
        taken = chosen({"conditions": arguments.get("other_conditions")}, other, context.cancelled)
        context.note(*taken.notes)
        _same_ground(source, other, arguments["predicate"])
        against = list(brought(other, taken.expression, source, context))
        if not against:
            raise MendableError(f"{other.key} has no feature with a geometry{where(taken)}.")
        search = _Search(source, arguments, [geometry for _, geometry in against], context)
        found = search.matching(against, own=source.id == other.id)
        name = other.key + (f" where {taken.words}" if taken.words else "")
        return _as_layer(found, source, _title(arguments, source.key, name), arguments, context)


def _title(arguments: dict[str, Any], key: str, other: str) -> str:
    if arguments["predicate"] not in _FAR:
        return f"{key} {_VERBS[arguments['predicate']]} {other}"
    length = metres(arguments["distance"])
    shown = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"
    if arguments["predicate"] == BEYOND_DISTANCE:
        return f"{key} farther than {shown} from {other}"
    return f"{key} within {shown} of {other}"


def _same_ground(source: VectorSource, other: VectorSource, predicate: str) -> None:
    """Refuse what would compare coordinates of unknown or different meaning."""
    if predicate in _FAR:
        for one in (source, other):
            needs_crs(one, "distances cannot be measured")
    refuse_unplaced(source, other)


class _Search:
    """The features of a layer in a spatial index, tested against geometries of its CRS.

    Of a large layer only what lies near few geometries is read.
    """

    def __init__(
        self,
        source: VectorSource,
        arguments: dict[str, Any],
        geometries: list[QgsGeometry],
        context: Context,
    ) -> None:
        self._context = context
        self._predicate = arguments["predicate"]
        far = self._predicate in _FAR
        self._length = metres(arguments["distance"]) if far else 0.0
        extent = QgsRectangle()
        for geometry in geometries:
            extent.combineExtentWith(geometry.boundingBox())
        self._ground = Ground(source.crs, QgsPointXY(extent.center()))
        self._index = QgsSpatialIndex(QgsSpatialIndex.Flag.FlagStoreFeatureGeometries)
        self._all: dict[int, None] = {}
        everything = self._predicate in _REST or len(geometries) > _FEW
        boxes = [None] if everything else [box for one in geometries for box in self._boxes(one)]
        for box in boxes:
            self._read(source, box)

    def _read(self, source: VectorSource, box: QgsRectangle | None) -> None:
        wrapped = 0
        for feature in source.rows(self._context.cancelled, geometry=True, box=box):
            if feature.id() not in self._all:
                self._all[feature.id()] = None
                if feature.hasGeometry() and not feature.geometry().isEmpty():
                    geometry, was_cut = dateline.whole(feature.geometry(), source)
                    wrapped += was_cut
                    feature.setGeometry(geometry)
                    self._index.addFeature(feature)
        self._context.note(dateline.note(wrapped, source))

    def _boxes(self, geometry: QgsGeometry) -> Iterable[QgsRectangle]:
        if self._predicate in _FAR:
            return self._ground.reach(geometry, self._length)
        return [geometry.boundingBox().buffered(_HAIR)]

    def matching(self, against: list[tuple[int, QgsGeometry]], own: bool) -> list[int]:
        """Return the ids of the features that match; with `own` none matches itself alone."""
        test = self._near if self._predicate in _FAR else self._related
        found: set[int] = set()
        for number, (identity, geometry) in enumerate(against):
            self._context.progress(100.0 * number / len(against))
            skip = identity if own else None
            found.update(one for one in test(geometry, found) if one != skip)
        if self._predicate in _REST:
            return [one for one in self._all if one not in found]
        return sorted(found)

    def _watched(self, candidates: Iterable[int]) -> Iterable[int]:
        """Yield the candidates, asking often whether the run was stopped."""
        self._context.stop_if_cancelled()
        for number, one in enumerate(candidates, start=1):
            if number % _ASK_EVERY == 0:
                self._context.stop_if_cancelled()
            yield one

    def _related(self, geometry: QgsGeometry, known: set[int]) -> Iterable[int]:
        """Yield the features that stand in the relation; for "disjoint" those that do not."""
        wanted = "intersects" if self._predicate == "disjoint" else self._predicate
        engine = QgsGeometry.createGeometryEngine(geometry.constGet())
        engine.prepareGeometry()
        relate = getattr(engine, _CONVERSE.get(wanted, wanted))
        for one in self._watched(self._index.intersects(geometry.boundingBox())):
            if one not in known and relate(self._index.geometry(one).constGet()):
                yield one

    def _near(self, geometry: QgsGeometry, known: set[int]) -> Iterable[int]:
        """Yield the features within the distance."""
        prepared = self._ground.prepared(geometry)
        boxes = self._boxes(geometry)
        near = {one for box in boxes for one in self._index.intersects(box)}
        for one in self._watched(near - known):
            if self._ground.between(prepared, self._index.geometry(one)) <= self._length:
                yield one


def _taken(found: list[int], source: VectorSource, context: Context) -> Iterator[QgsFeature]:
    """Yield the features with these ids, in the order of the layer where they are many."""
    if len(found) <= _FEW:
        request = QgsFeatureRequest().setFilterFids(found)
        yield from sorted(source.reader.getFeatures(request), key=lambda one: one.id())
        return
    wanted = set(found)
    for feature in source.rows(context.cancelled, geometry=True):
        if feature.id() in wanted:
            yield feature


def _as_layer(
    found: list[int], source: VectorSource, title: str, arguments: dict[str, Any], context: Context
) -> ToolResult:
    layer = memory_layer(source, _taken(found, source, context))
    reference = context.call(lambda: context.hand_over(layer, titled(title), arguments))
    if not found:
        context.note(f"No feature of {source.key} matches.")
    return ToolResult(
        f"{wording.layer(reference)}; count = {reference.features}.",
        numbers={"count": reference.features},
        layers=(reference,),
    )
