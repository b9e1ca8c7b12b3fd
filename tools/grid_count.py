# SPDX-License-Identifier: GPL-2.0-or-later
"""Features counted in the cells of a grid of hexagons or squares with sides in metres."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsCoordinateReferenceSystem, QgsMapLayer, QgsReferencedRectangle

from . import argument, wording
from .base import Family, LastingError, MendableError, ToolDefinition, ToolResult
from .chain import Chain
from .context import Context
from .counting import Counting, totals
from .distance import metric_for, needs_crs, transform, transformed
from .new_layer import extended, new_layer
from .selection import titled
from .source import VectorSource, crs_name, snapshot
from .unit import metres

_HEXAGON = 4
_TYPES = {"hexagon": _HEXAGON, "square": 2}
_MOST_CELLS = 250_000


class GridCount:
    """Counts in a grid."""

    definition = ToolDefinition(
        "grid_count",
        "Count features in hexagons or squares of a size in metres, empty cells too; area names a "
        "layer to cover instead of the features themselves.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "size": {"anyOf": [{"type": "number"}, {"type": "string"}]},
                "shape": argument.choice(*_TYPES, synonyms={"hex": "hexagon", "hexbin": "hexagon"}),
                "area": argument.layer(Family.VECTOR.value),
            },
            ["layer", "size"],
        ),
        label="Count in a grid",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse a size of nothing."""
        if metres(arguments["size"], "size") <= 0:
            raise MendableError("The size of a cell is above 0 m.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Lay the grid in a metric CRS, count, and bring the cells to the layer's CRS."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        over = context.vector(arguments.get("area", arguments["layer"]), Family.VECTOR)
        for one in (source, over):
            needs_crs(one, "a grid in metres cannot be laid")
        system = metric_for(over, context.call)
        if system is None:
            raise MendableError(
                f"{over.key} is too wide for one grid in metres: take a part of it by filter."
            )
        size, shape = metres(arguments["size"], "size"), arguments.get("shape", "hexagon")
        layer, numbers = _counted(source, over, system, size, _TYPES[shape], context)
        title = titled(f"{source.key} in {shape}s of {size:g} m")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        shown = ", ".join(f"{key} = {wording.number(one)}" for key, one in numbers.items())
        return ToolResult(
            f"{wording.layer(reference)} with count and per_km2; {shown}.",
            numbers={**numbers, "cells": reference.features},
            layers=(reference,),
        )


def _counted(
    source: VectorSource,
    over: VectorSource,
    system: QgsCoordinateReferenceSystem,
    size: float,
    kind: int,
    context: Context,
) -> tuple[QgsMapLayer, dict[str, float]]:
    extent = over.extent
    if system != over.crs:
        extent = transformed(extent, transform(over.crs, system))
    if min(extent.width(), extent.height()) < size or (over.id == source.id and kind == _HEXAGON):
        extent = extent.buffered(size / 2)  # so that no feature lies beside the grid
    cells = extent.width() * extent.height() / size**2
    if cells > _MOST_CELLS:
        raise MendableError(
            f"That would be {cells:.0f} cells; {_MOST_CELLS} is the most. Take a larger size."
        )
    with Chain(context) as chain:
        grid = chain.step(
            "native:creategrid",
            {
                "TYPE": kind,
                "EXTENT": QgsReferencedRectangle(extent, system),
                "HSPACING": size,
                "VSPACING": size,
                "HOVERLAY": 0,
                "VOVERLAY": 0,
                "CRS": system,
            },
        )
        made, numbers = _filled(chain, grid, source, context)
        if system != source.crs:
            there = {"INPUT": made, "TARGET_CRS": source.crs}
            made = chain.step("native:reprojectlayer", there)
            context.note(f"The cells are laid in metres and shown in {crs_name(source.crs)}.")
        return chain.take(made), numbers


def _filled(
    chain: Chain, grid: str, source: VectorSource, context: Context
) -> tuple[str, dict[str, float]]:
    """Count in the cells of a grid; returns the new layer's step and the totals."""
    layer = chain.take(grid)
    chain.add(layer)
    cells = context.call(lambda: snapshot(layer, context.project, "the grid", ""))
    if not isinstance(cells, VectorSource):
        raise LastingError("The grid could not be read.")
    counting = Counting(cells, source, context)
    fields, names = extended(cells, {"count": "integer", "per_km2": "real"})
    features = list(counting.rows(cells, None, fields))
    context.note(*counting.told(cells, source))
    made = chain.add(new_layer(source.key, fields, cells.wkb, cells.crs, features))
    return made, totals([feature[names[0]] for feature in features])
