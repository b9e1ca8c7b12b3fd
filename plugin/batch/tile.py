# SPDX-License-Identifier: GPL-2.0-or-later
"""Tiles of an extent as inputs: for a layer that is cut by them, or for four variables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..workflow.graph import Graph
from .job import BatchError, layer_names

CORNERS = ("xmin", "ymin", "xmax", "ymax")
_MOST = 1_000_000
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"


@dataclass(frozen=True)
class Tile:
    """One tile in the unit of its CRS; `row` counts from the bottom, `column` from the left.
    `closed` tells whether its right and top edge belong to it."""

    row: int
    column: int
    box: tuple[float, float, float, float]
    closed: tuple[bool, bool]


def tiled(
    form: Mapping[str, Any], graph: Graph, place: str
) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield (name, variables, place) for each tile of {"extent", "crs", "tile_size", "layer",
    "source", "variables"}. Raises BatchError."""
    known = {"extent", "crs", "tile_size", "layer", "source", "variables"}
    strange = sorted(set(form) - known)
    if strange:
        raise BatchError(f'{place}: tiles have no "{strange[0]}"; they take {_listed(known)}.')
    common = form.get("variables", {})
    if not isinstance(common, Mapping):
        raise BatchError(f'{place}: "variables" is an object: {{"name": value}}.')
    corners = {one.name for one in graph.variables} >= set(CORNERS) and "layer" not in form
    layer, source = ("", "") if corners else _layer(form, graph, common, place)
    crs = str(form.get("crs") or _crs_in(form.get("extent")))
    if not corners and not crs:
        raise BatchError(f'{place}: the tiles have no CRS: add "crs": "EPSG:…".')
    for tile in tiles(_extent(form.get("extent"), place), _size(form.get("tile_size"), place)):
        values: dict[str, Any] = dict(common)
        if corners:
            values.update(zip(CORNERS, tile.box))
        else:
            cut = {"extent": list(tile.box), "crs": crs, "closed": list(tile.closed)}
            values[layer] = {"source": source, **cut}
        name = f"tile_{tile.row + 1}_{tile.column + 1}"
        yield name, values, f"{place}, row {tile.row + 1}, column {tile.column + 1}"


def tiles(extent: tuple[float, float, float, float], size: tuple[float, float]) -> Iterator[Tile]:
    """Yield the tiles of an extent, row by row from its lower left corner; the last ones of a row
    and column are cut at the edge. Raises BatchError for more than a million."""
    left, bottom, right, top = extent
    columns, rows = (
        max(1, math.ceil(round((high - low) / step, 9)))
        for low, high, step in ((left, right, size[0]), (bottom, top, size[1]))
    )
    if rows * columns > _MOST:
        raise BatchError(f"{rows * columns:,} tiles are too many: choose a larger tile_size.")
    for row in range(rows):
        for column in range(columns):
            west, south = left + column * size[0], bottom + row * size[1]
            last = (column == columns - 1, row == rows - 1)
            east = right if last[0] else left + (column + 1) * size[0]
            north = top if last[1] else bottom + (row + 1) * size[1]
            yield Tile(row, column, (west, south, east, north), last)


def _layer(
    form: Mapping[str, Any], graph: Graph, common: Mapping[str, Any], place: str
) -> tuple[str, str]:
    """Return the layer that is cut, and its source."""
    takes = layer_names(graph)
    named = form.get("layer")
    if named is None and len(takes) == 1:
        named = next(iter(takes))
    if named not in takes:
        what = f"the workflow takes {_listed(takes) or 'no layer'}"
        raise BatchError(
            f'{place}: say which layer is cut ("layer": …); {what}, and has no variables '
            f"{', '.join(CORNERS)}."
        )
    variable = graph.variable(str(named))
    kept = {one.name: one.source for one in graph.sources}
    default = variable.default if variable is not None else named
    source = form.get("source") or common.get(named) or kept.get(str(named)) or default
    if not source:
        raise BatchError(f'{place}: the layer {named} has no source: add "source": a file.')
    return str(named), str(source)


def _extent(given: Any, place: str) -> tuple[float, float, float, float]:
    """Return an extent: [xmin, ymin, xmax, ymax], or QGIS's text "xmin,xmax,ymin,ymax [CRS]"."""
    found = given
    if isinstance(given, str):
        parts = re.findall(_NUMBER, given.partition("[")[0])
        found = [parts[at] for at in (0, 2, 1, 3)] if len(parts) == 4 else None
    try:
        left, bottom, right, top = (float(one) for one in found)
    except (TypeError, ValueError):
        raise BatchError(f'{place}: "extent" is [xmin, ymin, xmax, ymax].') from None
    if not (left < right and bottom < top and all(map(math.isfinite, (left, bottom, right, top)))):
        raise BatchError(f'{place}: "extent" is empty: [xmin, ymin, xmax, ymax] is the order.')
    return left, bottom, right, top


def _crs_in(extent: Any) -> str:
    """Return the CRS that QGIS writes behind an extent, "" for none."""
    found = re.search(r"\[(.+)\]\s*$", extent) if isinstance(extent, str) else None
    return found.group(1) if found else ""


def _size(given: Any, place: str) -> tuple[float, float]:
    pair = given if isinstance(given, (list, tuple)) else [given, given]
    try:
        width, height = (float(one) for one in pair)
    except (TypeError, ValueError):
        width = height = 0.0
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise BatchError(f'{place}: "tile_size" is a number above 0, or [width, height].')
    return width, height


def _listed(names: Any) -> str:
    return ", ".join(sorted(names))
