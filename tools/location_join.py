# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers joined by where their features are, without doubling any of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qgis.core import QgsFeature

from . import argument, dateline, wording
from .base import Family, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .expression import SourceFields
from .new_layer import extended, new_layer, row
from .registry import Unchecked
from .selection import titled
from .source import VectorSource
from .spatial_match import LARGEST, Matches, refuse_unplaced, sound
from .summary import SUMMARIES, kind_of, summarised

_PREDICATES = ("intersects", "within", "contains", "touches", "crosses", "overlaps")


class JoinByLocation(Unchecked):
    """Adds the fields of the features that a feature meets."""

    definition = ToolDefinition(
        "join_by_location",
        "Add fields of the other layer's features that each feature intersects or lies within; "
        "every feature stays one, several says what to take of more than one match.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "predicate": argument.choice(*_PREDICATES, synonyms={"inside": "within"}),
                "other": argument.layer(Family.VECTOR.value),
                "fields": {"type": "array", "items": argument.field("other")},
                "several": argument.choice(*SUMMARIES, LARGEST, synonyms={"largest": LARGEST}),
            },
            ["layer", "other"],
        ),
        label="Join by location",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Match by an index; what several matches were is told."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        other = context.vector(arguments["other"], Family.VECTOR)
        refuse_unplaced(source, other)
        known = SourceFields(other, context.cancelled)
        copied = [field_named(one, known) for one in arguments.get("fields") or other.names()]
        several = arguments.get("several", "first")
        predicate = LARGEST if several == LARGEST else arguments.get("predicate", "intersects")
        kinds = {name: kind_of(several, other.type_of(name)) for name in copied}
        fields, names = extended(source, kinds)
        tally = {"matched": 0, "several": 0}
        features = _joined(source, other, copied, predicate, several, fields, tally, context)
        layer = new_layer(source.key, fields, source.wkb, source.crs, features)
        title = titled(f"{source.key} joined with {other.key} by location")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        alone = max(0, source.features) - tally["matched"]
        if tally["several"]:
            many = wording.counted(tally["several"], "feature")
            what = "the first" if several == "first" else f"the {several}"
            context.note(f"{many} met more than one of {other.key}: {what} was taken.")
        if alone:
            context.note(f"{wording.counted(alone, 'feature')} met none: left NULL.")
        return ToolResult(
            f"{wording.layer(reference)}; matched {tally['matched']} of "
            f"{max(0, source.features)}; added: {', '.join(names)}.",
            numbers={
                "count": reference.features,
                "matched": tally["matched"],
                "unmatched": alone,
            },
            layers=(reference,),
        )


def _joined(
    source: VectorSource,
    other: VectorSource,
    copied: list[str],
    predicate: str,
    several: str,
    fields: Any,
    tally: dict[str, int],
    context: Context,
) -> Iterator[QgsFeature]:
    matches = Matches(other, source, context)
    rows = other.rows(context.cancelled, only=copied)
    values = {feature.id(): [feature[name] for name in copied] for feature in rows}
    summary = "first" if several == LARGEST else several
    nothing = [0 if summary == "count" else None] * len(copied)
    total = max(1, source.features)
    for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
        context.progress(100.0 * number / total)
        found: list[int] = []
        if feature.hasGeometry():
            geometry = sound(dateline.whole(feature.geometry(), source)[0])
            found = matches.of(feature.id(), geometry, predicate)
        tally["matched"] += bool(found)
        tally["several"] += len(found) > 1
        columns = zip(*(values[one] for one in found))
        taken = [summarised(summary, list(one)) for one in columns] if found else nothing
        yield row(fields, feature, taken)
