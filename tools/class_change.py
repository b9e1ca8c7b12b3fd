# SPDX-License-Identifier: GPL-2.0-or-later
"""Which class became which between two rasters of classes: a matrix of areas, and a raster that
shows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy
from osgeo import gdal
from qgis.core import QgsPalettedRasterRenderer, QgsRasterLayer, QgsStyle

from . import argument, wording
from .base import Family, LastingError, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import needs_crs
from .grid import Grid, grid_of
from .raster import Reader, band_of, raster_of
from .raster_class import class_names
from .raster_result import adopted, created, written
from .registry import Unchecked
from .source import RasterSource
from .unit import AREAS, SQUARES

_MOST_PAIRS = 5_000
_NODATA = 0
Pair = tuple[float, float]


@dataclass
class _Matrix:
    """Cells and square metres by what a cell was and what it is; codes from 1 in order met."""

    counts: Counter[Pair] = field(default_factory=Counter)
    areas: Counter[Pair] = field(default_factory=Counter)
    codes: dict[Pair, int] = field(default_factory=dict)

    def add(self, was: Any, is_now: Any, sizes: Any) -> Any:
        """Take a strip in and return its codes."""
        both = ~(numpy.isnan(was) | numpy.isnan(is_now))
        pairs = numpy.stack([was[both], is_now[both]], axis=1)
        found, places = numpy.unique(pairs, axis=0, return_inverse=True)
        places = places.reshape(-1)
        keys = [(float(a), float(b)) for a, b in found]
        for key in keys:
            self.codes.setdefault(key, len(self.codes) + 1)
        if len(self.codes) > _MOST_PAIRS:
            raise MendableError(
                "The rasters have too many distinct values to be classes. Use reclassify first."
            )
        size = numpy.broadcast_to(sizes[:, None], was.shape)[both]
        self.counts.update(dict(zip(keys, numpy.bincount(places, minlength=len(keys)).tolist())))
        covered = numpy.bincount(places, weights=size, minlength=len(keys))
        self.areas.update(dict(zip(keys, covered.tolist())))
        codes = numpy.full(was.shape, _NODATA, dtype=numpy.uint16)
        if keys:
            codes[both] = numpy.array([self.codes[key] for key in keys], numpy.uint16)[places]
        return codes


class ClassChange(Unchecked):
    """The change between two rasters of classes."""

    definition = ToolDefinition(
        "class_change",
        "Compare two rasters of classes of different times: the area of each change from one class "
        "to another, and a raster of the changes.",
        argument.arguments(
            {
                "before": argument.layer(Family.RASTER.value),
                "after": argument.layer(Family.RASTER.value),
                "unit": argument.choice(*AREAS, synonyms=SQUARES),
            },
            ["before", "after"],
        ),
        label="Class change",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Compare cell by cell on one grid; grids that differ are refused with the fix."""
        before = raster_of(arguments["before"], context)
        after = raster_of(arguments["after"], context)
        if before.id == after.id:
            raise MendableError(
                f"{before.key} cannot be before and after at once: name two rasters, or use "
                "class_areas for the areas of one."
            )
        needs_crs(before, "the area of its cells is not known")
        grid = grid_of(before)
        if not grid.is_same(grid_of(after)):
            raise MendableError(
                f"{before.key} ({grid.words()}) and {after.key} ({grid_of(after).words()}) lie on "
                f"different grids. Bring one over by raster_calculate with layers "
                f'["{before.key}", "{after.key}"] and expression A * 0 + B.'
            )
        matrix = _Matrix()
        with written(context) as path:
            _write(path, before, after, grid, matrix, context)
            title = f"change from {before.key} to {after.key}"
            shown = {"INPUT": before.id, "AFTER": after.id}
            reference = adopted(path, title, shown, context)
        names = {**class_names(after, context), **class_names(before, context)}
        labels = {pair: _label(pair, names) for pair in matrix.codes}
        context.call(lambda: _styled(context.project.mapLayer(reference.id), matrix, labels))
        text, numbers, units = _listed(matrix, labels, arguments.get("unit", "m2"))
        return ToolResult(
            f"{wording.layer(reference)}:\n{text}",
            numbers=numbers,
            units=units,
            layers=(reference,),
        )


def _write(
    path: Any, before: RasterSource, after: RasterSource, grid: Grid, matrix: _Matrix, context: Any
) -> None:
    target = created(path, grid, gdal.GDT_UInt16, _NODATA)
    areas = grid.row_areas(context)
    first = Reader(before, [band_of(before, None).number], context).strips()
    second = Reader(after, [band_of(after, None).number], context).strips()
    for (row, (was,)), (_, (is_now,)) in zip(first, second):
        codes = matrix.add(was, is_now, areas[row : row + len(was)])
        if target.GetRasterBand(1).WriteArray(codes, 0, row) != gdal.CE_None:
            raise LastingError(f"The change could not be written: {gdal.GetLastErrorMsg()}")
    if not matrix.codes:
        raise MendableError(f"{before.key} and {after.key} have no cell with data in common.")


def _label(pair: Pair, names: dict[float, str]) -> str:
    was, is_now = (names.get(one, wording.number(one)) for one in pair)
    return f"{was} -> {is_now}" if pair[0] != pair[1] else f"{was} unchanged"


def _styled(layer: QgsRasterLayer, matrix: _Matrix, labels: dict[Pair, str]) -> None:
    """Give each change a colour and its words in the legend. Main thread only."""
    ramp = QgsStyle.defaultStyle().colorRamp("Spectral")
    pairs = sorted(matrix.codes)
    classes = [
        QgsPalettedRasterRenderer.Class(
            matrix.codes[pair], ramp.color(place / max(1, len(pairs) - 1)), labels[pair]
        )
        for place, pair in enumerate(pairs)
    ]
    layer.setRenderer(QgsPalettedRasterRenderer(layer.dataProvider(), 1, classes))


def _listed(
    matrix: _Matrix, labels: dict[Pair, str], unit: str
) -> tuple[str, dict[str, float], dict[str, str]]:
    scale = AREAS[unit]
    changed = {pair: size for pair, size in matrix.areas.items() if pair[0] != pair[1]}
    same = {pair: size for pair, size in matrix.areas.items() if pair[0] == pair[1]}
    numbers = {
        "changed": sum(changed.values()) / scale,
        "unchanged": sum(same.values()) / scale,
        "cells": float(sum(matrix.counts[pair] for pair in changed)),
    }
    ranked = sorted(changed, key=lambda pair: (-changed[pair], pair)) + sorted(same)
    if len(ranked) <= wording.MOST_ROWS:
        for pair in ranked:
            key = f"from_{wording.number(pair[0])}_to_{wording.number(pair[1])}"
            numbers[key] = matrix.areas[pair] / scale
    table = [
        {"change": labels[pair], "cells": matrix.counts[pair], unit: matrix.areas[pair] / scale}
        for pair in ranked
    ]
    said = ", ".join(f"{key} = {wording.number(numbers[key])} {unit}" for key in list(numbers)[:2])
    return (
        f"{said}\n{wording.rows(table)}",
        numbers,
        {key: unit for key in numbers if key != "cells"},
    )
