# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers put in order: invalid geometries repaired, duplicates removed, small gaps closed, each
saying what it kept and what it changed."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsFeature, QgsGeometry

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .chain import Chain
from .context import Context
from .distance import metric_for, needs_crs
from .new_layer import new_layer
from .selection import made, titled
from .source import VectorSource, plain
from .spatial_match import sound
from .unit import metres

_REPAIR, _SHAPES = "repair geometries", "remove duplicate geometries"
_ROWS, _GAPS = "remove duplicate rows", "close gaps"
_SYNONYMS = {"fix geometries": _REPAIR, "repair": _REPAIR, "remove duplicates": _SHAPES,
             "duplicates": _SHAPES, "snap": _GAPS}  # fmt: skip
_SHOWN = 10
_DIGITS = 9
"""Decimals to which the boxes of equal geometries agree."""


class Clean:
    """Puts a layer in order on a copy."""

    definition = ToolDefinition(
        "clean",
        "Repair invalid geometries, remove duplicate geometries or rows (the first is kept), or "
        "close gaps of up to distance metres, in a new layer; tells what changed.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "task": argument.choice(_REPAIR, _SHAPES, _ROWS, _GAPS, synonyms=_SYNONYMS),
                "distance": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            },
            ["layer", "task"],
        ),
        label="Clean a layer",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for the size of the gaps."""
        if arguments["task"] != _GAPS:
            return
        if "distance" not in arguments or metres(arguments["distance"]) <= 0:
            raise MendableError(f"{_GAPS} needs a distance in metres: the widest gap to close.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Do the task; the layer itself stays as it is."""
        task = arguments["task"]
        family = Family.TABLE if task == _ROWS else Family.VECTOR
        source = context.vector(arguments["layer"], family)
        if task == _GAPS:
            return _closed(source, metres(arguments["distance"]), arguments, context)
        if task == _REPAIR:
            return _repaired(source, arguments, context)
        return _deduplicated(source, arguments, context)


def _repaired(source: VectorSource, arguments: dict[str, Any], context: Context) -> ToolResult:
    """Repair a copy by the structure of rings and parts, so that no ground is lost."""
    ids, reasons = [], []
    for feature in source.rows(context.cancelled, geometry=True, only=[]):
        if feature.hasGeometry() and not feature.geometry().isGeosValid():
            problems = feature.geometry().validateGeometry()
            reasons.append(problems[0].what() if problems else "invalid")
            ids.append(feature.id())
    parameters = {"INPUT": source.id, "METHOD": 1, "OUTPUT": "TEMPORARY_OUTPUT"}
    reference = made("native:fixgeometries", parameters, f"{source.key} repaired", context)
    text = f"{wording.layer(reference)}; {len(ids)} of {source.features} were repaired"
    if ids:
        text += f": {_ids(ids)} ({reasons[0]})"
    lost = source.features - reference.features
    if lost > 0:
        context.note(f"{wording.counted(lost, 'feature')} had nothing left and were dropped.")
    return ToolResult(
        f"{text}.",
        numbers={"repaired": len(ids), "count": reference.features},
        layers=(reference,),
        algorithm="native:fixgeometries",
        parameters=parameters,
    )


def _ids(ids: list[int]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    many = "feature" if len(ids) == 1 else "features"
    return f"{many} {', '.join(map(str, ids[:_SHOWN]))}{more}"


class _Seen:
    """Tells whether a feature equals one that came before, and which."""

    def __init__(self, rows: bool) -> None:
        self._rows = rows
        self._shapes: dict[Any, list[tuple[QgsGeometry, int]]] = {}

    def first_of(self, feature: QgsFeature) -> int | None:
        """Return the id of the equal one that was seen first, None for a new one."""
        geometry = feature.geometry()
        values = str([plain(one) for one in feature.attributes()]) if self._rows else ""
        box = geometry.boundingBox()
        corners = (box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum())
        place = tuple(round(one, _DIGITS) for one in corners) if feature.hasGeometry() else ()
        if not place and not self._rows:
            return None
        before = self._shapes.setdefault((values, place), [])
        for other, identity in before:
            if not place or geometry.isGeosEqual(other):
                return identity
        before.append((geometry, feature.id()))
        return None


def _deduplicated(source: VectorSource, arguments: dict[str, Any], context: Context) -> ToolResult:
    """Keep the first of equal features, in the order of the layer."""
    seen = _Seen(rows=arguments["task"] == _ROWS)
    kept: list[QgsFeature] = []
    pairs: list[tuple[int, int]] = []
    for feature in source.rows(context.cancelled, geometry=True):
        first = seen.first_of(feature)
        if first is None:
            kept.append(QgsFeature(feature))
        else:
            pairs.append((feature.id(), first))
    layer = new_layer(source.key, source.fields, source.wkb, source.crs, kept)
    title = titled(f"{source.key} without duplicates")
    reference = context.call(lambda: context.hand_over(layer, title, arguments))
    text = f"{wording.layer(reference)}; {len(pairs)} of {source.features} removed, the first kept"
    if pairs:
        shown = ", ".join(f"{one} equals {first}" for one, first in pairs[:_SHOWN])
        more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
        text += f": {shown}{more}"
    return ToolResult(
        f"{text}.",
        numbers={"removed": len(pairs), "count": reference.features},
        layers=(reference,),
    )


def _closed(
    source: VectorSource, length: float, arguments: dict[str, Any], context: Context
) -> ToolResult:
    """Snap a layer to itself in metres, and say by how much its area and its parts changed."""
    needs_crs(source, "gaps in metres cannot be told")
    system = metric_for(source, context.call)
    if system is None:
        raise MendableError(f"{source.key} is too wide to be snapped: take a part of it by filter.")
    with Chain(context) as chain:
        layer = source.id
        if system != source.crs:
            layer = chain.step("native:reprojectlayer", {"INPUT": layer, "TARGET_CRS": system})
        snapped = {"INPUT": layer, "REFERENCE_LAYER": layer, "TOLERANCE": length, "BEHAVIOR": 0}
        layer = chain.step("native:snapgeometries", snapped)
        if system != source.crs:
            layer = chain.step("native:reprojectlayer", {"INPUT": layer, "TARGET_CRS": source.crs})
        closed = chain.take(layer)
    title = titled(f"{source.key} without gaps")
    reference = context.call(lambda: context.hand_over(closed, title, arguments))
    before, after = _ground(source, context), _ground(context.vector(reference.id), context)
    change = after[0] - before[0]
    return ToolResult(
        f"{wording.layer(reference)}; the area changed by {wording.number(round(change, 6))} m2 "
        f"to {wording.number(after[0])} m2; merged, {before[1]} parts became {after[1]}.",
        numbers={
            "area_change_m2": change,
            "area_m2": after[0],
            "parts": after[1],
            "count": reference.features,
        },
        units={"area_change_m2": "m2", "area_m2": "m2"},
        layers=(reference,),
    )


def _ground(source: VectorSource, context: Context) -> tuple[float, int]:
    """Return the ellipsoidal area of a layer, and the parts that it has when merged."""
    rows = source.rows(context.cancelled, geometry=True, only=[])
    shapes = [sound(feature.geometry()) for feature in rows if feature.hasGeometry()]
    merged = QgsGeometry.unaryUnion(shapes)
    return sum(map(source.measurer.measureArea, shapes)), len(merged.asGeometryCollection())
