# SPDX-License-Identifier: GPL-2.0-or-later
"""Rasters of several times: a number for each date, and statistics cell by cell."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from . import argument, wording
from .band_statistic import statistics_of
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .date_name import date_of
from .grid import grid_of
from .raster import raster_of
from .raster_copy import aligned, prepared, workspace
from .raster_result import option_index, ran, told
from .registry import Unchecked
from .source import RasterSource
from .statistic import computed

_CELLS = "native:cellstatistics"
_CELL_WORDS = {
    "mean": "Mean",
    "sum": "Sum",
    "min": "Minimum",
    "max": "Maximum",
    "median": "Median",
    "stdev": "Standard deviation",
    "count": "Count",
    "range": "Range",
    "majority": "Majority",
}
_SYNONYMS = {"average": "mean", "total": "sum", "minimum": "min", "maximum": "max"}
_LAYERS = {"type": "array", "items": argument.layer(Family.RASTER.value), "minItems": 1}


@dataclass(frozen=True)
class Moment:
    """One band of a series: what it is called, its date where a name tells it, its value."""

    name: str
    date: datetime.date | None
    value: float


class RasterSeries(Unchecked):
    """A number for each raster or band of a series."""

    definition = ToolDefinition(
        "raster_series",
        "Compute mean, min, max or sum for each of several rasters, or for each band of one, in "
        "the order of the dates in their names; tells the highest and lowest.",
        argument.arguments(
            {
                "layers": _LAYERS,
                "statistic": argument.choice(
                    "mean", "min", "max", "sum", "median", synonyms=_SYNONYMS
                ),
            },
            ["layers"],
        ),
        label="Raster time series",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read every band; those without data are left out and told."""
        statistic = arguments.get("statistic", "mean")
        sources = [raster_of(name, context) for name in arguments["layers"]]
        moments = []
        for source in sources:
            moments += _moments(source, statistic, len(sources) == 1, context)
        if not moments:
            raise MendableError("No raster of the series has a cell with data.")
        dated = all(one.date is not None for one in moments)
        if dated:
            moments.sort(key=lambda one: (one.date, one.name))
        else:
            context.note("The names do not all tell a date, so the order is as given.")
        return _series(moments, statistic, dated)


def _moments(source: RasterSource, statistic: str, alone: bool, context: Context) -> list[Moment]:
    found = []
    for band in source.bands:
        several = len(source.bands) > 1
        name = (band.name or f"band {band.number}") if several else source.key
        if several and not alone:
            name = f"{source.key} {name}"
        date = date_of(band.name if several else source.key) or date_of(source.key)
        try:
            numbers, _ = statistics_of(source, band.number, statistic, context)
        except MendableError as error:
            context.note(f"{name} was left out: {error.message}")
            continue
        found.append(Moment(name, date, numbers[statistic]))
    return found


def _series(moments: list[Moment], statistic: str, dated: bool) -> ToolResult:
    highest = max(moments, key=lambda one: one.value)
    lowest = min(moments, key=lambda one: one.value)
    values = [one.value for one in moments]
    numbers = {
        "highest": highest.value,
        "lowest": lowest.value,
        "mean": computed(values, "mean")["mean"],
        "first": values[0],
        "last": values[-1],
        "count": float(len(values)),
    }
    table = [
        {**({"date": str(one.date)} if dated else {}), "name": one.name, statistic: one.value}
        for one in moments
    ]
    return ToolResult(
        f"{statistic} of {len(moments)} rasters: highest = {wording.number(highest.value)} in "
        f"{_when(highest)}, lowest = {wording.number(lowest.value)} in {_when(lowest)}, mean of "
        f"all = {wording.number(numbers['mean'])}.\n{wording.rows(table, 60)}",
        numbers=numbers,
        texts={"highest": _when(highest), "lowest": _when(lowest)},
    )


def _when(one: Moment) -> str:
    return f"{one.date:%B %Y} ({one.name})" if one.date else one.name


class CellStatistics(Unchecked):
    """One raster of several, cell by cell."""

    definition = ToolDefinition(
        "cell_statistics",
        "Make one raster of several, cell by cell: their mean, sum, min, max, median or count; "
        "cells without data are passed over.",
        argument.arguments(
            {
                "layers": _LAYERS,
                "statistic": argument.choice(*_CELL_WORDS, synonyms=_SYNONYMS),
            },
            ["layers", "statistic"],
        ),
        label="Cell statistics",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Bring all onto the first one's grid and let Processing compute band 1 of each."""
        sources = [raster_of(name, context) for name in arguments["layers"]]
        several = [one.key for one in sources if len(one.bands) > 1]
        if several:
            raise MendableError(
                f"{several[0]} has more than one band: take bands out by raster_calculate first."
            )
        statistic = arguments["statistic"]
        grid = grid_of(sources[0])
        with workspace(context) as folder:
            given = [
                prepared(one, folder, context)
                if grid_of(one).is_same(grid)
                else aligned(one, grid, folder, context)
                for one in sources
            ]
            parameters = {
                "INPUT": given,
                "STATISTIC": option_index(_CELLS, "STATISTIC", _CELL_WORDS[statistic]),
                "IGNORE_NODATA": True,
                "REFERENCE_LAYER": given[0],
                "OUTPUT_NODATA_VALUE": -99999,
                "OUTPUT": "TEMPORARY_OUTPUT",
            }
            ids = [one.id for one in sources]
            shown = {**parameters, "INPUT": ids, "REFERENCE_LAYER": ids[0]}
            title = f"{statistic} of {len(sources)} rasters"
            reference = ran(_CELLS, parameters, title, context, shown)
        return told(reference, context, _CELLS, shown)
