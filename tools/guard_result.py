# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run gave, looked at for what is easily taken wrongly: said in notes beside the result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsCsException,
    QgsGeometry,
    QgsMapLayer,
    QgsPointXY,
    QgsProcessingAlgorithm,
    QgsRectangle,
    QgsVectorLayer,
)

from . import wording
from .base import Family
from .context import Context
from .distance import Ground, transform
from .guard import BY_VALUE, inputs
from .source import LayerSource, VectorSource, opened, plain, snapshot

_SHAPING = frozenset({"vectorgeometry", "vectoroverlay"})
"""Groups of algorithms that make new geometries."""
_ENDS = frozenset({"START_POINT", "END_POINT"})
_POINT = re.compile(r"\s*([-+\d.eE]+)\s*,\s*([-+\d.eE]+)")
_FASTEST, _FAR_FROM_NETWORK = 1, 25.0
_LONGEST_NAME = 10


def after(
    algorithm: QgsProcessingAlgorithm,
    parameters: dict[str, Any],
    layers: dict[str, QgsMapLayer],
    values: dict[str, Any],
    files: Iterable[str],
    context: Context,
) -> None:
    """Note what must be known of the outputs. Called on the thread that computes."""
    sources = inputs(parameters, context)
    main = context.call(lambda: _main(layers, context))
    if main is not None and not main.features and algorithm.name() not in BY_VALUE:
        context.note(*_apart(sources))
    if main is not None and main.features:
        context.note(*_without_geometry(algorithm, main, context))
    context.note(*_joined(values, sources, main))
    context.note(*_counted(algorithm, parameters, sources, main, context))
    context.note(*_renamed(files, sources))
    context.note(*_routed(parameters, values, sources, context))


def _main(layers: dict[str, QgsMapLayer], context: Context) -> VectorSource | None:
    """Return the first vector layer that a run made. Main thread only."""
    for layer in layers.values():
        if isinstance(layer, QgsVectorLayer):
            found = snapshot(layer, context.project, layer.name(), "")
            return found if isinstance(found, VectorSource) else None
    return None


def _apart(sources: list[LayerSource]) -> Iterator[str]:
    """Say that layers do not meet at all, which explains an empty result."""
    placed = [one for one in sources if one.family is not Family.TABLE]
    for other in placed[1:]:
        first = placed[0]
        if first.crs.isValid() != other.crs.isValid():
            continue
        box = other.extent
        if first.crs != other.crs:
            try:
                box = transform(other.crs, first.crs).transformBoundingBox(box)
            except QgsCsException:
                yield f"The coordinates of {other.key} do not fit its CRS: it may be set wrongly."
                continue
        if not first.extent.intersects(box):
            yield (
                f"{first.key} and {other.key} lie apart: {_box(first.extent)} and {_box(box)} in "
                "the CRS of the first. Check whether the CRS of each is set rightly."
            )


def _box(box: QgsRectangle) -> str:
    numbers = (box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum())
    return ", ".join(wording.number(float(f"{number:.7g}")) for number in numbers)


def _without_geometry(
    algorithm: QgsProcessingAlgorithm, main: VectorSource, context: Context
) -> Iterator[str]:
    """Say how many geometries came out empty, as of a negative buffer."""
    if main.family is Family.TABLE or algorithm.groupId() not in _SHAPING:
        return
    rows = main.rows(context.cancelled, "is_empty_or_null($geometry)", only=[])
    empty = sum(1 for _ in rows)
    if empty:
        yield f"{empty} of {main.features} features of the result have no geometry."


def _joined(
    values: dict[str, Any], sources: list[LayerSource], main: VectorSource | None
) -> Iterator[str]:
    """Say how many features found a partner, and that they became more by it."""
    matched, alone = values.get("JOINED_COUNT"), values.get("UNJOINABLE_COUNT")
    if matched is None or alone is None:
        return
    if not matched and alone:
        yield (
            f"0 of {alone} features found a match. The keys may be of different types or written "
            'differently, such as 1 and "01": cast one of them by calculate_field first.'
        )
    elif alone:
        yield f"{matched} of {matched + alone} features found a match, {alone} did not."
    before = next((one.features for one in sources if isinstance(one, VectorSource)), -1)
    if main is not None and before >= 0 and main.features > before:
        yield (
            f"{before} features became {main.features}: some match several, so sums over the "
            "result count them more than once."
        )


def _counted(
    algorithm: QgsProcessingAlgorithm,
    parameters: dict[str, Any],
    sources: list[LayerSource],
    main: VectorSource | None,
    context: Context,
) -> Iterator[str]:
    """Say by how much the counts of points differ from the number of points."""
    field, weighted = str(parameters.get("FIELD", "")), parameters.get("WEIGHT")
    points = next((one for one in sources if one.id == parameters.get("POINTS")), None)
    if algorithm.name() != "countpointsinpolygon" or main is None or weighted:
        return
    if not isinstance(points, VectorSource) or parameters.get("CLASSFIELD"):
        return
    place = main.fields.lookupField(field or "NUMPOINTS")
    if place < 0:
        return
    rows = main.rows(context.cancelled, only=[main.fields.at(place).name()])
    total = int(sum(plain(one[place]) or 0 for one in rows))
    if total != points.features:
        yield (
            f"The counts add up to {total} of the {points.features} points of {points.key}: a "
            "point on a border or outside all polygons counts in none, one in polygons that "
            "overlap in each."
        )


def _renamed(files: Iterable[str], sources: list[LayerSource]) -> Iterator[str]:
    """Say which fields a Shapefile has shortened, in the order of the fields."""
    source = next((one for one in sources if isinstance(one, VectorSource)), None)
    for path in files if source is not None else ():
        yield shortened(path, source.names())


def shortened(path: str, names: list[str]) -> str:
    """Say which of the fields `names` a Shapefile holds under shorter names, "" for none."""
    if Path(path).suffix.lower() != ".shp":
        return ""
    have = _names_in(path)
    long = [name for name in names if len(name) > _LONGEST_NAME and name not in have]
    short = [name for name in have if name not in names]
    pairs = [f"{old} is {new}" for old, new in zip(long, short)]
    if not pairs:
        return ""
    return (
        f"A Shapefile holds names of {_LONGEST_NAME} characters: {', '.join(pairs)}. Use the "
        "new names from here on, or write a .gpkg file."
    )


def _routed(
    parameters: dict[str, Any],
    values: dict[str, Any],
    sources: list[LayerSource],
    context: Context,
) -> Iterator[str]:
    """Say the unit of the cost of a route, and how far its ends lie from the network."""
    cost = values.get("TRAVEL_COST")
    network = next((one for one in sources if one.id == parameters.get("INPUT")), None)
    if not isinstance(network, VectorSource) or not (_ENDS & set(parameters)):
        return
    if isinstance(cost, (int, float)) and parameters.get("STRATEGY") == _FASTEST:
        hours, minutes = wording.number(cost), wording.number(float(f"{cost * 60:.6g}"))
        yield f"TRAVEL_COST is in hours: {hours} h are {minutes} minutes."
    if not network.crs.isValid():
        return
    ground = Ground(network.crs, network.extent.center())
    for name in sorted(_ENDS & set(parameters)):
        point = _POINT.match(str(parameters[name]))
        if point is None or "[" in str(parameters[name]):
            continue
        near = ground.prepared(QgsGeometry.fromPointXY(QgsPointXY(*map(float, point.groups()))))
        rows = network.rows(context.cancelled, geometry=True, only=[])
        distances = [ground.between(near, one.geometry()) for one in rows if one.hasGeometry()]
        if distances and min(distances) > _FAR_FROM_NETWORK:
            yield (
                f"{name} lies {wording.number(round(min(distances)))} m from the network; the "
                "route begins or ends at its nearest place."
            )


def _names_in(path: str) -> list[str]:
    """Return the names of the fields of a file's first layer."""
    dataset = opened(path)
    if dataset is None:
        return []
    definition = dataset.GetLayer(0).GetLayerDefn()
    return [definition.GetFieldDefn(at).GetName() for at in range(definition.GetFieldCount())]
