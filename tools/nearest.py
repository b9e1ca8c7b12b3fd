# SPDX-License-Identifier: GPL-2.0-or-later
"""For each feature the nearest one of another layer, with the distance on the ground in metres."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qgis.core import QgsFeature, QgsGeometry, QgsPointXY, QgsSpatialIndex

from . import argument, dateline, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .distance import Ground, moved, needs_crs, transform
from .expression import SourceFields, chosen
from .naming import naming_field
from .new_layer import extended, new_layer, row
from .selection import titled
from .source import VectorSource
from .statistic import computed, where
from .summary import kind_of
from .unit import metres

_FIRST_REACH_M = 1_000.0
_WIDEST_REACH_M = 20_100_000.0
_TIE_M = 0.001


class Nearest:
    """Finds the nearest features of another layer."""

    definition = ToolDefinition(
        "nearest",
        "Add to each feature its nearest feature of another layer and the distance in metres, in "
        "any CRS; gives mean, min and max distance.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "other": argument.layer(Family.VECTOR.value),
                "fields": {"type": "array", "items": argument.field("other")},
                "max_distance": {"anyOf": [{"type": "number"}, {"type": "string"}]},
                "other_conditions": argument.conditions("other"),
            },
            ["layer", "other"],
        ),
        label="Nearest",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse a largest distance that means nothing."""
        if "max_distance" in arguments and metres(arguments["max_distance"], "max_distance") <= 0:
            raise MendableError("max_distance is above 0 m.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Search ever wider around each feature; a layer is not compared with itself."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        other = context.vector(arguments["other"], Family.VECTOR)
        for one in (source, other):
            needs_crs(one, "distances cannot be measured")
        taken = chosen({"conditions": arguments.get("other_conditions")}, other, context.cancelled)
        context.note(*taken.notes)
        limit = metres(arguments["max_distance"]) if "max_distance" in arguments else math.inf
        copied = _copied(arguments.get("fields"), other, context)
        search = _Nearby(source, other, taken.expression, limit, context)
        if not search.known:
            raise MendableError(f"{other.key} has no feature with a geometry{where(taken)}.")
        kinds = {f"nearest_{name}": kind_of("first", other.type_of(name)) for name in copied}
        fields, names = extended(source, {**kinds, "distance_m": "real"})
        measures: list[float] = []
        features = _rows(source, search, copied, fields, measures, context)
        layer = new_layer(source.key, fields, source.wkb, source.crs, features)
        title = titled(f"{source.key} with nearest {other.key}")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        context.note(*search.told(source, other, limit))
        numbers = computed(measures) if measures else {"count": 0.0}
        kept = {key: numbers[key] for key in ("mean", "min", "max", "count") if key in numbers}
        shown = ", ".join(f"{key} = {wording.number(one)}" for key, one in kept.items())
        return ToolResult(
            f"{wording.layer(reference)} with {', '.join(names)}; distance in m: {shown}.",
            numbers=kept,
            units={key: "m" for key in kept if key != "count"},
            layers=(reference,),
        )


def _copied(given: list[str] | None, other: VectorSource, context: Context) -> list[str]:
    known = SourceFields(other, context.cancelled)
    if given:
        return [field_named(name, known) for name in given]
    label = naming_field(other)
    return [label] if label else other.names()[:1]


def _rows(
    source: VectorSource,
    search: _Nearby,
    copied: list[str],
    fields: Any,
    measures: list[float],
    context: Context,
) -> Iterator[QgsFeature]:
    total = max(1, source.features)
    for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
        context.progress(100.0 * number / total)
        found = search.of(feature) if feature.hasGeometry() else None
        if found is None:
            yield row(fields, feature, [None] * (len(copied) + 1))
            continue
        measures.append(found.metres)
        values = [search.known[found.identity][name] for name in copied]
        yield row(fields, feature, [*values, found.metres])


@dataclass(frozen=True)
class _Found:
    identity: int
    metres: float


class _Nearby:
    """The other layer's features in the CRS of `source`, searched by distance on the ground."""

    def __init__(
        self,
        source: VectorSource,
        other: VectorSource,
        expression: str,
        limit: float,
        context: Context,
    ) -> None:
        self.known: dict[int, QgsFeature] = {}
        self.ties = self.far = 0
        self._own = source.id == other.id
        self._limit = limit
        self._index = QgsSpatialIndex(QgsSpatialIndex.Flag.FlagStoreFeatureGeometries)
        self._ground = Ground(source.crs, QgsPointXY(source.extent.center()))
        self._measurer = source.measurer
        self._reach = _FIRST_REACH_M
        way = transform(other.crs, source.crs) if other.crs != source.crs else None
        for feature in other.rows(context.cancelled, expression, geometry=True):
            if not feature.hasGeometry() or feature.geometry().isEmpty():
                continue
            geometry, _ = dateline.whole(feature.geometry(), other)
            copy = QgsFeature(feature)
            copy.setGeometry(moved(geometry, way) if way else geometry)
            self.known[feature.id()] = copy
            self._index.addFeature(copy)

    def of(self, feature: QgsFeature) -> _Found | None:
        """Return the nearest feature within the limit, None for none."""
        geometry = feature.geometry()
        near = self._ground.prepared(geometry)
        reach = min(self._reach, self._limit)
        while True:
            found = self._within(geometry, near, reach, feature.id() if self._own else None)
            if found or reach >= min(self._limit, _WIDEST_REACH_M):
                break
            reach = min(2 * reach, self._limit, _WIDEST_REACH_M)
        if not found:
            self.far += 1
            return None
        self._reach = max(1.0, found[0][0] * 2)
        self.ties += len(found) > 1 and found[1][0] - found[0][0] <= _TIE_M
        return _Found(found[0][1], self._measured(near, found[0][1]))

    def _within(
        self, geometry: QgsGeometry, near: Any, reach: float, own: int | None
    ) -> list[tuple[float, int]]:
        """Return distance and id of the features within `reach` metres, the nearest first."""
        boxes = self._ground.reach(geometry, reach)
        there = {one for box in boxes for one in self._index.intersects(box)} - {own}
        measured = ((self._ground.between(near, self._index.geometry(one)), one) for one in there)
        return sorted(pair for pair in measured if pair[0] <= reach)

    def _measured(self, near: Any, identity: int) -> float:
        """Return the ellipsoidal length of the shortest line to a feature."""
        geometry, way = near
        other = self._index.geometry(identity)
        line = geometry.shortestLine(other if way is None else moved(other, way))
        if line.isNull() or line.length() == 0:
            return 0.0
        if way is not None:
            back = transform(way.destinationCrs(), way.sourceCrs())
            line = moved(line, back)
        ends = line.asPolyline()
        return float(self._measurer.measureLine(ends[0], ends[-1]))

    def told(self, source: VectorSource, other: VectorSource, limit: float) -> list[str]:
        """Return what must be known of ties and of features without a near one."""
        said = []
        if self.ties:
            many = wording.counted(self.ties, "feature")
            said.append(f"{many} had several nearest ones at the same distance: one was kept.")
        if self.far:
            many = wording.counted(self.far, "feature")
            reach = f" within {limit:g} m" if limit < math.inf else ""
            said.append(f"{many} of {source.key} have no {other.key}{reach}: left NULL.")
        return said
