# SPDX-License-Identifier: GPL-2.0-or-later
"""Features counted in polygons: each once, those with none too, and per square kilometre."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qgis.core import QgsFeature

from . import argument, dateline, wording
from .base import Family, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .distance import needs_crs
from .expression import SourceFields
from .new_layer import extended, new_layer, row
from .registry import Unchecked
from .selection import titled
from .source import VectorSource, plain
from .spatial_match import Matches, refuse_unplaced, sound
from .summary import kind_of

_M2_PER_KM2 = 1e6


class CountInPolygons(Unchecked):
    """Counts features in each polygon, and for each square kilometre."""

    definition = ToolDefinition(
        "count_in_polygons",
        "Count the features of a layer in each polygon, those with none too, and per km2; sum_field"
        " adds up a field instead.",
        argument.arguments(
            {
                "polygons": argument.layer(Family.POLYGON.value),
                "layer": argument.layer(Family.VECTOR.value),
                "sum_field": argument.field(types=["integer", "real"]),
            },
            ["polygons", "layer"],
        ),
        label="Count in polygons",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Count points once, also one on a border; a polygon counts by a point on its surface."""
        polygons = context.vector(arguments["polygons"], Family.POLYGON)
        other = context.vector(arguments["layer"], Family.VECTOR)
        needs_crs(polygons, "features for each square kilometre cannot be told")
        refuse_unplaced(polygons, other)
        weights = _weights(arguments.get("sum_field"), other, context)
        counting = Counting(polygons, other, context)
        name = "sum" if weights is not None else "count"
        fields, names = extended(
            polygons, {name: "real" if weights is not None else "integer", "per_km2": "real"}
        )
        features = list(counting.rows(polygons, weights, fields))
        layer = new_layer(polygons.key, fields, polygons.wkb, polygons.crs, features)
        title = titled(f"{polygons.key} with counts of {other.key}")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        context.note(*counting.told(polygons, other))
        numbers = totals([feature[names[0]] for feature in features])
        shown = ", ".join(f"{key} = {wording.number(one)}" for key, one in numbers.items())
        return ToolResult(
            f"{wording.layer(reference)} with {' and '.join(names)}; {shown}.",
            numbers={**numbers, "features": reference.features},
            layers=(reference,),
        )


def _weights(given: str | None, other: VectorSource, context: Context) -> dict[int, float] | None:
    if not given:
        return None
    name = field_named(given, SourceFields(other, context.cancelled))
    kind_of("sum", other.type_of(name))
    rows = other.rows(context.cancelled, only=[name])
    return {feature.id(): plain(feature[name]) or 0 for feature in rows}


def totals(values: list[Any]) -> dict[str, float]:
    """Return total and largest of the counts, and how many polygons have none."""
    return {
        "total": float(sum(values)),
        "max": float(max(values, default=0)),
        "empty": float(sum(1 for one in values if not one)),
    }


class Counting:
    """Which features lie in which polygon: in its inside, else once on the border of the first."""

    def __init__(self, polygons: VectorSource, other: VectorSource, context: Context) -> None:
        self._context = context
        surface = other.family is Family.POLYGON
        shape = (lambda one: one.pointOnSurface()) if surface else (lambda one: one)
        self._matches = Matches(other, polygons, context, shape)
        self._lines = other.family is Family.LINE
        self._inside: dict[int, list[int]] = {}
        self._border = 0
        self._seen: dict[int, int] = {}
        self._areas: dict[int, float] = {}
        touching: list[tuple[int, int]] = []
        for feature in polygons.rows(context.cancelled, geometry=True):
            touching += self._count(feature, polygons)
        for polygon, one in touching:
            if one not in self._seen:
                self._seen[one] = 1
                self._border += 1
                self._inside[polygon].append(one)

    def _count(self, polygon: QgsFeature, polygons: VectorSource) -> list[tuple[int, int]]:
        """Take in what lies inside a polygon; returns what only touches it."""
        self._inside[polygon.id()] = []
        if not polygon.hasGeometry():
            return []
        whole = sound(dateline.whole(polygon.geometry(), polygons)[0])
        self._areas[polygon.id()] = polygons.measurer.measureArea(whole)
        met = self._matches.of(-1, whole, "intersects")
        inside = met if self._lines or not met else self._matches.of(-1, whole, "contains")
        self._inside[polygon.id()] = list(inside)
        for one in inside:
            self._seen[one] = self._seen.get(one, 0) + 1
        return [(polygon.id(), one) for one in set(met) - set(inside)]

    def rows(
        self, polygons: VectorSource, weights: dict[int, float] | None, fields: Any
    ) -> Iterator[QgsFeature]:
        """Yield the polygons with what was counted, and that for each square kilometre."""
        for feature in polygons.rows(self._context.cancelled, geometry=True):
            found = self._inside[feature.id()]
            value: float = len(found)
            if weights is not None:
                value = float(sum(weights[one] for one in found))
            area = self._areas.get(feature.id(), 0.0) / _M2_PER_KM2
            yield row(fields, feature, [value, value / area if area else None])

    def told(self, polygons: VectorSource, other: VectorSource) -> list[str]:
        """Return what must be known of features that count nowhere, twice, or on a border."""
        said = []
        outside = len(self._matches.geometries) - len(self._seen)
        twice = sum(1 for count in self._seen.values() if count > 1)
        if outside:
            many = wording.counted(outside, "feature")
            said.append(f"{many} of {other.key} lie outside all of {polygons.key}: not counted.")
        if self._border:
            many = wording.counted(self._border, "point")
            said.append(f"{many} on a border: counted once, in the first polygon.")
        if twice:
            many = wording.counted(twice, "feature")
            why = "cross borders" if self._lines else "lie in polygons that overlap"
            said.append(f"{many} {why}: counted in each.")
        if other.family is Family.POLYGON:
            said.append(f"Each of {other.key} counts where a point on its surface lies.")
        return said
