# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers laid over each other, and what share of polygons another layer covers, without counting
any ground twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from qgis.core import QgsFeature, QgsGeometry

from . import argument, dateline, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .distance import needs_crs
from .expression import SourceFields
from .new_layer import extended, new_layer, row
from .registry import Unchecked
from .selection import made, titled
from .source import VectorSource, plain
from .spatial_match import Matches, refuse_unplaced, sound

_ALGORITHMS = {
    "intersection": "native:intersection",
    "difference": "native:difference",
    "union": "native:union",
    "symmetric difference": "native:symmetricaldifference",
    "clip": "native:clip",
}
_SYNONYMS = {"intersect": "intersection", "subtract": "difference", "erase": "difference"}
_MOST_CHECKED = 2_000
_HAIR = 1e-4
_MOST_CLASSES = 50
_HECTARE = 1e4
_COVERED, _TOTAL = ("covered",), ("total",)
"""Keys of sums that no class can have."""


class Overlay(Unchecked):
    """Combines two layers."""

    definition = ToolDefinition(
        "overlay",
        "Intersect, subtract (difference), unite or clip a layer with another; gives the area in "
        "ha or the length in km of the result. For shares covered use coverage.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "operation": argument.choice(*_ALGORITHMS, synonyms=_SYNONYMS),
                "other": argument.layer(Family.VECTOR.value),
            },
            ["layer", "operation", "other"],
        ),
        label="Overlay",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Run the algorithm, measure the result, and tell ground that it holds twice."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        other = context.vector(arguments["other"], Family.VECTOR)
        refuse_unplaced(source, other)
        operation = arguments["operation"]
        parameters = {"INPUT": source.id, "OVERLAY": other.id, "OUTPUT": "TEMPORARY_OUTPUT"}
        title = f"{operation} of {source.key} and {other.key}"
        reference = made(_ALGORITHMS[operation], parameters, title, context)
        result = context.vector(reference.id)
        numbers, units = {"count": float(reference.features)}, {}
        text = wording.layer(reference)
        if result.crs.isValid() and result.family in (Family.POLYGON, Family.LINE):
            key, unit, size = _size(result, context)
            numbers[key], units[key] = size, unit
            text += f"; {key} = {wording.number(size)}, on the ellipsoid"
            context.note(_twice(result, context))
        return ToolResult(
            f"{text}.",
            numbers=numbers,
            units=units,
            layers=(reference,),
            algorithm=_ALGORITHMS[operation],
            parameters=parameters,
        )


def _size(result: VectorSource, context: Context) -> tuple[str, str, float]:
    rows = result.rows(context.cancelled, geometry=True, only=[])
    shapes = (feature.geometry() for feature in rows if feature.hasGeometry())
    if result.family is Family.POLYGON:
        return "area_ha", "ha", sum(map(result.measurer.measureArea, shapes)) / _HECTARE
    return "length_km", "km", sum(map(result.measurer.measureLength, shapes)) / 1000


def _twice(result: VectorSource, context: Context) -> str:
    """Say how much of the result lies on ground that another part of it covers too."""
    if result.family is not Family.POLYGON or not 1 < result.features <= _MOST_CHECKED:
        return ""
    rows = result.rows(context.cancelled, geometry=True, only=[])
    shapes = [sound(feature.geometry()) for feature in rows if feature.hasGeometry()]
    united = result.measurer.measureArea(QgsGeometry.unaryUnion(shapes))
    total = sum(result.measurer.measureArea(one) for one in shapes)
    if total <= united * (1 + _HAIR):
        return ""
    return (
        f"Parts of the result overlap: without counting ground twice it is "
        f"{wording.number(united / _HECTARE)} ha. coverage gives areas by class without doubles."
    )


class Coverage:
    """Tells how much of each polygon another layer covers."""

    definition = ToolDefinition(
        "coverage",
        "Compute how much of each polygon another polygon layer covers, in m2 and percent, ground "
        "counted once; by gives it for each class of the other layer.",
        argument.arguments(
            {
                "layer": argument.layer(Family.POLYGON.value),
                "other": argument.layer(Family.POLYGON.value),
                "by": argument.field("other"),
            },
            ["layer", "other"],
        ),
        label="Share covered",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Check nothing more."""

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Unite what meets each polygon, by class, and measure the common part."""
        source = context.vector(arguments["layer"], Family.POLYGON)
        other = context.vector(arguments["other"], Family.POLYGON)
        for one in (source, other):
            needs_crs(one, "areas cannot be measured")
        classes = _classes(arguments.get("by"), other, context)
        words = sorted(set(classes.values()), key=str) if classes is not None else []
        added = _fields(words)
        fields, _ = extended(source, dict.fromkeys(added, "real"))
        sums = dict.fromkeys([*words, _COVERED, _TOTAL], 0.0)
        features = _rows(source, other, classes, words, fields, sums, context)
        layer = new_layer(source.key, fields, source.wkb, source.crs, features)
        title = titled(f"{source.key} covered by {other.key}")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        return _covered(reference, source, other, words, sums)


def _classes(by: str | None, other: VectorSource, context: Context) -> dict[int, Any] | None:
    """Return the class of each feature of the other layer, None without classes."""
    if not by:
        return None
    name = field_named(by, SourceFields(other, context.cancelled))
    rows = other.rows(context.cancelled, only=[name])
    found = {feature.id(): plain(feature[name]) for feature in rows}
    count = len(set(found.values()))
    if count > _MOST_CLASSES:
        raise MendableError(
            f"{name} of {other.key} has {count} values; {_MOST_CLASSES} classes are the most."
        )
    return found


def _fields(words: list[Any]) -> list[str]:
    named = [
        f"m2_{re.sub(r'[^0-9A-Za-z]+', '_', str(word)).strip('_') or 'none'}" for word in words
    ]
    return [*named, "covered_m2", "covered_pct"]


def _rows(
    source: VectorSource,
    other: VectorSource,
    classes: dict[int, Any] | None,
    words: list[Any],
    fields: Any,
    sums: dict[Any, float],
    context: Context,
) -> Iterator[QgsFeature]:
    matches = Matches(other, source, context)
    total = max(1, source.features)
    for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
        context.progress(100.0 * number / total)
        if not feature.hasGeometry():
            yield row(fields, feature, [None] * (len(words) + 2))
            continue
        ground = sound(dateline.whole(feature.geometry(), source)[0])
        met = matches.of(feature.id(), ground, "intersects")

        def common(found: list[int], ground: QgsGeometry = ground) -> float:
            return _common(ground, [matches.geometries[one] for one in found], source)

        parts = [common([one for one in met if classes and classes[one] == word]) for word in words]
        covered, area = common(met), source.measurer.measureArea(ground)
        for word, part in zip(words, parts):
            sums[word] += part
        sums[_COVERED] += covered
        sums[_TOTAL] += area
        yield row(fields, feature, [*parts, covered, 100 * covered / area if area else None])


def _common(ground: QgsGeometry, shapes: list[QgsGeometry], source: VectorSource) -> float:
    if not shapes:
        return 0.0
    shared = ground.intersection(QgsGeometry.unaryUnion(shapes))
    return float(source.measurer.measureArea(shared)) if not shared.isEmpty() else 0.0


def _covered(
    reference: Any,
    source: VectorSource,
    other: VectorSource,
    words: list[Any],
    sums: dict[Any, float],
) -> ToolResult:
    covered, total = sums[_COVERED], sums[_TOTAL]
    percent = 100 * covered / total if total else 0.0
    text = (
        f"{wording.layer(reference)}; {wording.number(percent)} % of {source.key} lies in "
        f"{other.key}: {wording.number(covered)} of {wording.number(total)} m2"
    )
    numbers = {"percent": percent, "covered_m2": covered, "total_m2": total}
    units = {"percent": "%", "covered_m2": "m2", "total_m2": "m2"}
    for word in words:
        key = str(word)
        text += f"\n{key}: {wording.number(sums[word])} m2"
        numbers[key], units[key] = sums[word], "m2"
    return ToolResult(f"{text}.", numbers=numbers, units=units, layers=(reference,))
