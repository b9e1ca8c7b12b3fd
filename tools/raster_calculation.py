# SPDX-License-Identifier: GPL-2.0-or-later
"""Arithmetic over bands by QGIS's raster calculator, on one grid, with holes kept as holes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from . import argument
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .grid import grid_of
from .raster import band_of, raster_of
from .raster_copy import aligned, prepared, warped, workspace
from .raster_result import ran, told
from .registry import Unchecked
from .source import RasterSource
from .spelling import listed

_ALGORITHM = "native:rastercalc"
_REFERENCE = re.compile(
    r'"(?P<quoted>[^"]+?)(?:@(?P<first>\d+))?"|(?P<bare>[^\W\d]\w*)(?:@(?P<second>\d+))?'
)
_WORDS = frozenset(
    (
        "if",
        "and",
        "or",
        "min",
        "max",
        "abs",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "ln",
        "log10",
    )
)
_SPELLED = ((re.compile(r"=="), "="), (re.compile(r"\*\*"), "^"), (re.compile(r"\blog\("), "ln("))


@dataclass(frozen=True)
class BandReference:
    """A band of a layer within an expression."""

    source: RasterSource
    band: int


Piece = Union[str, BandReference]


def calculated(
    pieces: Sequence[Piece], title: str, context: Context, nodata: float | None = None
) -> ToolResult:
    """Calculate a raster of the grid of the first layer; `nodata` holds for all layers.

    Rasters on other grids are brought onto the first one's, which is noted. Bands of whole
    numbers are taken as real ones. Raises MendableError, LastingError, ToolCancelled.
    """
    sources = {one.source.id: one.source for one in pieces if isinstance(one, BandReference)}
    with workspace(context) as folder:
        given = _on_one_grid(list(sources.values()), folder, context, nodata)
        parameters = {
            "LAYERS": [path for _, path in given.values()],
            "EXPRESSION": _joined(pieces, {key: name for key, (name, _) in given.items()}),
            "OUTPUT": "TEMPORARY_OUTPUT",
        }
        names = {key: source.key for key, source in sources.items()}
        shown = {"LAYERS": list(sources), "EXPRESSION": _joined(pieces, names)}
        told_of = {**shown, "INPUT": next(iter(names))}
        reference = ran(_ALGORITHM, parameters, title, context, told_of)
    return told(reference, context, _ALGORITHM, {**parameters, **shown})


def _joined(pieces: Sequence[Piece], names: dict[str, str]) -> str:
    return "".join(
        piece if isinstance(piece, str) else f'"{names[piece.source.id]}@{piece.band}"'
        for piece in pieces
    )


def _on_one_grid(
    sources: list[RasterSource], folder: Path, context: Context, nodata: float | None
) -> dict[str, tuple[str, str]]:
    """Return by layer id the name and the source that the calculator takes for each layer."""
    grid, names = grid_of(sources[0]), _names(sources, context)
    square = grid.is_square()
    found = {}
    for source in sources:
        name = names[source.id]
        same = grid_of(source).is_same(grid)
        if same and square:
            path = prepared(source, folder, context, nodata, copy=not name)
        elif same:
            way = "nearest"
            path = warped(source, grid.crs, folder, context, way, grid.squared(), nodata)
            context.note(f"{source.key} was brought onto square cells, as the calculator has.")
        else:
            path = aligned(source, grid if square else grid.squared(), folder, context, nodata)
        found[source.id] = (name if path == source.id else Path(path).stem, path)
    return found


def _names(sources: list[RasterSource], context: Context) -> dict[str, str]:
    """Return the layers' names by id, "" for those by which the calculator would not know them."""
    names = context.call(lambda: {one.id: context.map_layer(one).name() for one in sources})
    every = list(names.values())
    return {
        key: name if every.count(name) == 1 and not set('"@') & set(name) else ""
        for key, name in names.items()
    }


class RasterCalculate(Unchecked):
    """Calculates with bands."""

    definition = ToolDefinition(
        "raster_calculate",
        'Calculate a raster from bands, as in "dem@1" * 2 or ("a@1" > 5) * "b@1"; a comparison '
        "gives 1 or 0.",
        argument.arguments(
            {
                "layers": {"type": "array", "items": argument.layer(Family.RASTER.value)},
                "expression": {"type": "string"},
            },
            ["layers", "expression"],
        ),
        label="Raster calculation",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Find the bands that the expression names, bring them onto one grid and calculate."""
        sources = [raster_of(name, context) for name in arguments["layers"]]
        if not sources:
            raise MendableError("raster_calculate needs at least one raster in layers.")
        text = arguments["expression"]
        for pattern, spelled in _SPELLED:
            text = pattern.sub(spelled, text)
        pieces = _pieces(text, arguments["layers"], sources, context)
        if not any(isinstance(one, BandReference) for one in pieces):
            raise MendableError(
                f'"{text}" names no band. Write bands as "{sources[0].key}@1" in quotes.'
            )
        return calculated(pieces, f"{sources[0].key} calculated", context)


def _pieces(
    text: str, given: list[str], sources: list[RasterSource], context: Context
) -> list[Piece]:
    """Part an expression into plain text and the bands that it names. Raises MendableError."""
    known = {chr(65 + place): source for place, source in enumerate(sources[:26])}
    for name, source in zip(given, sources):
        known.update({name: source, source.key: source})
    pieces: list[Piece] = []
    end = 0
    for found in _REFERENCE.finditer(text):
        name = found["quoted"] or found["bare"]
        number = found["first"] or found["second"]
        called = text[found.end() :].lstrip().startswith("(")
        if not found["quoted"] and number is None and name.lower() in _WORDS:
            continue
        if called and name not in known:
            raise MendableError(
                f"The raster calculator has no function {name}. "
                f"Its own: {listed(sorted(_WORDS), 20)}."
            )
        source = known[name] if name in known else raster_of(name, context)
        pieces += [text[end : found.start()], BandReference(source, band_of(source, number).number)]
        end = found.end()
    return [*pieces, text[end:]]
