# SPDX-License-Identifier: GPL-2.0-or-later
"""Rasters of classes: cells put into classes by ranges, and how many cells and how much ground each
class covers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy
from qgis.core import QgsPalettedRasterRenderer

from . import argument, wording
from .band_statistic import tallied
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import needs_crs
from .grid import grid_of
from .raster import Reader, band_of, raster_of
from .raster_copy import prepared, workspace
from .raster_result import option_index, ran
from .registry import Unchecked
from .source import RasterSource
from .unit import AREAS, SQUARES

_RECLASSIFY = "native:reclassifybytable"
_MOST_CLASSES = 1_000
_OUTSIDE = 1e300
_LOWER_INCLUDED, _BOTH_INCLUDED = "min <= value < max", "min <= value <= max"
_NUMBERS = {"type": "array", "items": {"type": "number"}}


class Reclassify:
    """Puts cells into classes."""

    definition = ToolDefinition(
        "reclassify",
        "Put the cells of a raster into classes: breaks [a, b] give class 0 below a, 1 from a, 2 "
        "from b; table rows are [from, to, class] or [old, new]. Gives the area of each class.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "breaks": _NUMBERS,
                "table": {"type": "array", "items": _NUMBERS},
                "band": argument.band(),
            },
            ["layer"],
        ),
        label="Reclassify",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for breaks that rise, or a table of rows of one length."""
        breaks, table = arguments.get("breaks", []), arguments.get("table", [])
        if bool(breaks) == bool(table):
            raise MendableError("Give breaks, or a table of [from, to, class] or of [old, new].")
        if any(low >= high for low, high in zip(breaks, breaks[1:])):
            raise MendableError("breaks must rise, as in [0.1, 0.27, 0.44].")
        if {len(row) for row in table} not in (set(), {2}, {3}):
            raise MendableError("Every row of table is [from, to, class], or every one [old, new].")
        for row in table:
            if len(row) == 3 and row[0] >= row[1]:
                raise MendableError(f"The range {row[0]:g} to {row[1]:g} is empty.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Classify with the lower bound included; cells in no range get no data, and are told."""
        source = raster_of(arguments["layer"], context)
        band = band_of(source, arguments.get("band"))
        rows, rule = _table(arguments, band.type)
        before = tallied(source, band.number, context)
        with workspace(context) as folder:
            parameters = {
                "INPUT_RASTER": prepared(source, folder, context),
                "RASTER_BAND": band.number,
                "TABLE": [number for row in rows for number in row],
                "NO_DATA": -99999,
                "RANGE_BOUNDARIES": option_index(_RECLASSIFY, "RANGE_BOUNDARIES", rule),
                "NODATA_FOR_MISSING": True,
                "OUTPUT": "TEMPORARY_OUTPUT",
            }
            shown = {**parameters, "INPUT_RASTER": source.id, "INPUT": source.id}
            title = f"classes of {source.key}"
            reference = ran(_RECLASSIFY, parameters, title, context, shown)
        made = raster_of(reference.id, context)
        areas = class_areas(made, 1, context)
        left = before.count - sum(count for count, _ in areas.values())
        if left:
            context.note(f"{left} cells lie in no range: they have no data now.")
        if rule == _LOWER_INCLUDED:
            context.note("Each range includes its lower bound, not its upper one.")
        shown.pop("INPUT")
        text, numbers, units = class_table(areas, {}, "m2")
        return ToolResult(
            f"{wording.layer(reference)}:\n{text}",
            numbers=numbers,
            units=units,
            layers=(reference,),
            algorithm=_RECLASSIFY,
            parameters=shown,
            outputs={"OUTPUT": reference.id},
        )


def _table(arguments: dict[str, Any], kind: str) -> tuple[list[list[float]], str]:
    """Return the rows of the algorithm's table and the rule of their bounds."""
    breaks = [_stored(number, kind) for number in arguments.get("breaks", [])]
    if breaks:
        bounds = [-_OUTSIDE, *breaks, _OUTSIDE]
        rows = [[low, high, place] for place, (low, high) in enumerate(zip(bounds, bounds[1:]))]
        return rows, _LOWER_INCLUDED
    table = arguments["table"]
    if len(table[0]) == 2:
        return [[_stored(old, kind), _stored(old, kind), new] for old, new in table], _BOTH_INCLUDED
    return [[_stored(a, kind), _stored(b, kind), new] for a, b, new in table], _LOWER_INCLUDED


def _stored(number: float, kind: str) -> float:
    """Return a bound as the cells hold it: 0.7 is a little less in single precision."""
    return float(numpy.float32(number)) if kind == "float32" else float(number)


def class_areas(
    source: RasterSource, band: int, context: Context
) -> dict[float, tuple[int, float]]:
    """Return by class how many cells it has and how many square metres they cover.

    Cells in degrees are measured on the ellipsoid row by row; without CRS the areas are 0.
    Raises MendableError for a raster that is not one of classes, ToolCancelled.
    """
    counts: Counter[float] = Counter()
    sizes: Counter[float] = Counter()
    has_crs = source.crs.isValid()
    areas = grid_of(source).row_areas(context) if has_crs else None
    for row, (values,) in Reader(source, [band], context).strips():
        valid = ~numpy.isnan(values)
        classes, places = numpy.unique(values[valid], return_inverse=True)
        _refuse_numbers(len(classes), source)
        many = numpy.bincount(places, minlength=len(classes))
        counts.update(dict(zip(classes.tolist(), many.tolist())))
        if areas is not None:
            size = numpy.broadcast_to(areas[row : row + len(values), None], values.shape)[valid]
            covered = numpy.bincount(places, weights=size, minlength=len(classes))
            sizes.update(dict(zip(classes.tolist(), covered.tolist())))
        _refuse_numbers(len(counts), source)
    return {key: (counts[key], sizes[key]) for key in sorted(counts)}


def _refuse_numbers(classes: int, source: RasterSource) -> None:
    if classes > _MOST_CLASSES:
        raise MendableError(
            f"{source.key} has more than {_MOST_CLASSES} distinct values, so it is no raster of "
            "classes. Put it into classes by reclassify first."
        )


def class_names(source: RasterSource, context: Context) -> dict[float, str]:
    """Return what the classes are called: by the layer's own style, else by the file's table."""

    def styled() -> dict[float, str]:
        renderer = context.map_layer(source).renderer()
        if not isinstance(renderer, QgsPalettedRasterRenderer):
            return {}
        return {one.value: one.label for one in renderer.classes() if one.label}

    found = context.call(styled)
    return {key: name for key, name in found.items() if name != wording.number(key)}


class ClassAreas(Unchecked):
    """The area of each class."""

    definition = ToolDefinition(
        "class_areas",
        "Compute the cells and the area of each class of a raster, or the total of some classes.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "classes": _NUMBERS,
                "unit": argument.choice(*AREAS, synonyms=SQUARES),
                "band": argument.band(),
            },
            ["layer"],
        ),
        label="Class areas",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Count every class; classes that are asked for and not there are told."""
        source = raster_of(arguments["layer"], context)
        needs_crs(source, "the area of its cells is not known")
        band = band_of(source, arguments.get("band")).number
        areas = class_areas(source, band, context)
        wanted = arguments.get("classes")
        if wanted:
            missing = [wording.number(one) for one in wanted if one not in areas]
            if missing:
                context.note(f"{source.key} has no cell of class {', '.join(missing)}.")
            areas = {key: one for key, one in areas.items() if key in wanted}
        text, numbers, units = class_table(
            areas, class_names(source, context), arguments.get("unit", "m2")
        )
        return ToolResult(f"Classes of {source.key}:\n{text}", numbers=numbers, units=units)


def class_table(
    areas: dict[float, tuple[int, float]], names: dict[float, str], unit: str
) -> tuple[str, dict[str, float], dict[str, str]]:
    """Return a table of classes, their numbers (total first) and the numbers' units."""
    scale = AREAS[unit]
    numbers = {
        "total": sum(size for _, size in areas.values()) / scale,
        "cells": float(sum(count for count, _ in areas.values())),
    }
    table = []
    for key, (count, size) in areas.items():
        name = {"name": names[key]} if key in names else {}
        table.append({"class": key, **name, "cells": count, unit: size / scale})
        if len(areas) <= wording.MOST_ROWS:
            numbers[f"class_{wording.number(key)}"] = size / scale
    text = f"total = {wording.number(numbers['total'])} {unit} ({int(numbers['cells'])} cells)\n"
    return (
        text + wording.rows(table),
        numbers,
        {key: unit for key in numbers if key != "cells"},
    )
