# SPDX-License-Identifier: GPL-2.0-or-later
"""Tree cover of 2000 and the tree cover that each year lost, by zone (Hansen et al. 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .new_layer import extended, new_layer, row
from .observation_chart import ARGUMENT, charted
from .observation_reader import ObservationReader
from .observation_zone import ZoneGrid
from .registry import Unchecked
from .scene_choice import Scene, catalogue_of, occasions, scenes_of
from .selection import titled
from .spelling import listed

_BASE = 2000
_HECTARE = 10_000.0
_THRESHOLD = 30.0
_FIELDS = {"zone": "text", "year": "integer", "loss_ha": "real", "cover_ha": "real"}


class ForestByZone(Unchecked):
    """Tree cover and loss by zone and year."""

    definition = ToolDefinition(
        "forest_by_zone",
        "Hectares of tree cover in 2000 and lost in each year by zone, from Hansen's scenes.",
        argument.arguments(
            {
                "scenes": argument.layer("polygon"),
                "zones": argument.layer(Family.POLYGON.value),
                "start": {"type": "integer", "minimum": 2001},
                "end": {"type": "integer", "minimum": 2001},
                "threshold": {"type": "number", "minimum": 0, "maximum": 100},
                "chart": ARGUMENT,
            },
            ["scenes", "zones"],
        ),
        label="Tree cover and loss",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Add up the areas of cells by zone and year; a zone outside is told."""
        source = catalogue_of(arguments["scenes"], context)
        zones = ZoneGrid(context.vector(arguments["zones"], Family.POLYGON), context)
        scenes = scenes_of(source, context)
        cover, loss = (_reader(scenes, name, context) for name in ("tree cover", "tree loss"))
        if not cover.grid.is_same(loss.grid):
            raise MendableError(
                "The tiles of tree cover and of loss do not lie over each other: take the same "
                "tiles of both by find_scenes with an area."
            )
        years = _years(arguments, loss)
        threshold = float(arguments.get("threshold", _THRESHOLD))
        context.note(f"Tree cover is canopy of {threshold:g} % or more in 2000.")
        found = _areas(cover, loss, zones, threshold, context)
        for one in (cover, loss):
            context.note(one.loss().words())
        shown = {"scenes": source.id, "zones": zones.source.id, "threshold": threshold}
        return _told(found, years, zones, arguments.get("chart", ""), shown, context)


def _reader(scenes: Sequence[Scene], measure: str, context: Context) -> ObservationReader:
    found = occasions(scenes, measure, "", "", context)
    if len(found) > 1:
        raise MendableError(
            f"There are {len(found)} versions of {measure} ({found[0].when} ... {found[-1].when}): "
            "take one by find_scenes."
        )
    return ObservationReader(found[0], measure, context)


def _years(arguments: dict[str, Any], loss: ObservationReader) -> range:
    """Return the years that are asked for, of those that the product tells. Raises
    MendableError."""
    latest = loss.occasion.day.year if loss.occasion.day is not None else _BASE + 99
    start, end = arguments.get("start", _BASE + 1), arguments.get("end", latest)
    if start > end:
        raise MendableError(f"start {start} is after end {end}: swap them.")
    if end > latest:
        raise MendableError(f"These scenes tell losses of 2001 to {latest}, not of {end}.")
    return range(start, end + 1)


def _areas(
    cover: ObservationReader, loss: ObservationReader, zones: ZoneGrid, threshold: float,
    context: Context,
) -> dict[int, Any]:  # fmt: skip
    """Return by zone the hectares lost in each year since 2000; place 0 holds the tree cover.

    A zone without any cell with data has none.
    """
    rows = cover.grid.row_areas(context) / _HECTARE
    found: dict[int, Any] = {}
    for place in range(len(zones.zones)):
        sums, met = numpy.zeros(100), False
        for window, mask in zones.cells(place, cover.grid):
            canopy, year = (one.read(window, mask) for one in (cover, loss))
            areas = numpy.broadcast_to(rows[window[1] : window[1] + window[3], None], mask.shape)
            met = met or bool((mask & ~numpy.isnan(canopy)).any())
            with numpy.errstate(invalid="ignore"):
                trees = mask & (canopy >= threshold)
            sums[0] += areas[trees].sum()
            lost = trees & (year >= 1)
            sums += numpy.bincount(year[lost].astype(int), weights=areas[lost], minlength=100)
        if met:
            found[place] = sums
        context.progress(100.0 * (place + 1) / len(zones.zones))
    return found


def _told(
    found: dict[int, Any], years: range, zones: ZoneGrid, chart: str, shown: dict[str, Any],
    context: Context,
) -> ToolResult:  # fmt: skip
    names = {place: zones.zones[place].name for place in range(len(zones.zones))}
    outside = [name for place, name in names.items() if place not in found]
    if not found:
        raise MendableError(
            f"No scene of tree cover has a value in {zones.source.key}: its zones lie outside."
        )
    if outside:
        context.note(f"Outside the scenes, so without values: {listed(outside)}.")
    fields, added = extended(zones.source, _FIELDS)
    rows = [
        row(fields, zones.zones[place].feature, [names[place], year, float(sums[year - _BASE]),
                                                 float(sums[0])])
        for place, sums in found.items()
        for year in years
    ]  # fmt: skip
    title = f"tree loss by {zones.source.key}"
    made = new_layer(title, fields, zones.source.wkb, zones.source.crs, rows)
    reference = context.call(lambda: context.hand_over(made, titled(title), shown))
    by_year = {year: sum(float(sums[year - _BASE]) for sums in found.values()) for year in years}
    by_zone = {
        place: sum(float(sums[year - _BASE]) for year in years) for place, sums in found.items()
    }
    lines = {
        names[place]: [(year, float(sums[year - _BASE])) for year in years]
        for place, sums in found.items()
    }
    most_year = max(by_year, key=lambda year: by_year[year])
    most_zone = max(by_zone, key=lambda place: by_zone[place])
    numbers = {
        "loss": sum(by_zone.values()), "cover": sum(float(one[0]) for one in found.values()),
        "highest": by_zone[most_zone], "worst": by_year[most_year], "zones": float(len(found)),
    }  # fmt: skip
    table = [
        {"zone": names[place], "loss ha": by_zone[place], "cover 2000 ha": float(sums[0])}
        for place, sums in sorted(found.items(), key=lambda pair: -by_zone[pair[0]])
    ]
    return ToolResult(
        f"{wording.layer(reference)}, {added[2]} and {added[3]}: lost from {years[0]} to "
        f"{years[-1]} = {wording.number(numbers['loss'])} ha, most in {most_year}.\n"
        f"{wording.rows(table)}\n"
        f"By year: {', '.join(f'{year} {area:.6g}' for year, area in by_year.items())}",
        numbers=numbers,
        texts={"highest": names[most_zone], "worst": str(most_year)},
        units={name: "ha" for name in numbers if name != "zones"},
        layers=(reference,),
        files=charted(chart, title, "ha lost", lines, context),
    )
