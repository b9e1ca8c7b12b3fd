# SPDX-License-Identifier: GPL-2.0-or-later
"""A value of zones shared out over the features inside, by their area or a weight, so that the
parts add up to the whole."""

from __future__ import annotations

from typing import Any

from . import argument, dateline, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
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


class Distribute(Unchecked):
    """Shares a zone's value out."""

    definition = ToolDefinition(
        "distribute",
        "Share a value of zones (such as people) out over the features inside each zone, by their "
        "area or by a weight field; the parts add up to the zone's value.",
        argument.arguments(
            {
                "zones": argument.layer(Family.POLYGON.value),
                "field": argument.field("zones", types=["integer", "real"]),
                "layer": argument.layer(Family.VECTOR.value),
                "weight": argument.field(types=["integer", "real"]),
            },
            ["zones", "field", "layer"],
        ),
        label="Share out a value",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Put each feature into the zone in which a point on it lies, then share."""
        zones = context.vector(arguments["zones"], Family.POLYGON)
        source = context.vector(arguments["layer"], Family.VECTOR)
        refuse_unplaced(source, zones)
        field = field_named(arguments["field"], SourceFields(zones, context.cancelled))
        kind_of("sum", zones.type_of(field))
        weight = arguments.get("weight", "")
        if weight:
            weight = field_named(weight, SourceFields(source, context.cancelled))
            kind_of("sum", source.type_of(weight))
        elif source.family is not Family.POLYGON:
            raise MendableError(f"{source.key} has no areas: give a weight field to share by.")
        needs_crs(source, "areas cannot be measured")
        parts = _parts(source, zones, weight, context)
        values = {
            feature.id(): plain(feature[field])
            for feature in zones.rows(context.cancelled, only=[field])
        }
        sums: dict[int, float] = {}
        for zone, size in parts.values():
            sums[zone] = sums.get(zone, 0.0) + size
        fields, names = extended(source, {f"{field}_share": "real"})
        total, features = 0.0, []
        for feature in source.rows(context.cancelled, geometry=True):
            share = _share(parts.get(feature.id()), values, sums)
            total += share or 0.0
            features.append(row(fields, feature, [share]))
        layer = new_layer(source.key, fields, source.wkb, source.crs, features)
        title = titled(f"{field} of {zones.key} shared over {source.key}")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        context.note(*_told(parts, sums, values, source, zones))
        return ToolResult(
            f"{wording.layer(reference)} with {names[0]}; sum = {wording.number(total)}.",
            numbers={"sum": total, "count": reference.features},
            layers=(reference,),
        )


def _parts(
    source: VectorSource, zones: VectorSource, weight: str, context: Context
) -> dict[int, tuple[int, float]]:
    """Return the zone and the weight of each feature that lies in one."""
    matches = Matches(zones, source, context)
    found = {}
    for feature in source.rows(context.cancelled, geometry=True):
        if not feature.hasGeometry():
            continue
        geometry = sound(dateline.whole(feature.geometry(), source)[0])
        met = matches.of(-1, geometry.pointOnSurface(), "intersects")
        size = plain(feature[weight]) if weight else source.measurer.measureArea(geometry)
        if met and size is not None:
            found[feature.id()] = met[0], float(size)
    return found


def _share(
    part: tuple[int, float] | None, values: dict[int, Any], sums: dict[int, float]
) -> float | None:
    if part is None:
        return None
    zone, size = part
    value = values[zone]
    return float(value) * size / sums[zone] if value is not None and sums[zone] else None


def _told(
    parts: dict[int, tuple[int, float]],
    sums: dict[int, float],
    values: dict[int, Any],
    source: VectorSource,
    zones: VectorSource,
) -> list[str]:
    said = []
    outside = source.features - len(parts)
    if outside > 0:
        many = wording.counted(outside, "feature")
        said.append(f"{many} of {source.key} lie in no zone or weigh nothing: left NULL.")
    empty = [zone for zone, value in values.items() if value and not sums.get(zone)]
    if empty:
        lost = sum(float(values[zone]) for zone in empty)
        many = wording.counted(len(empty), "zone")
        said.append(
            f"{many} of {zones.key} hold no feature: their {wording.number(lost)} went nowhere."
        )
    return said
