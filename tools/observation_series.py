# SPDX-License-Identifier: GPL-2.0-or-later
"""What scenes measure in each zone or at each point, day by day: vegetation, temperature, aerosol,
built-up surface, people."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qgis.core import QgsFeature

from . import argument, wording
from .band_statistic import Tally
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .new_layer import extended, new_layer, row
from .observation_channel import Loss
from .observation_chart import ARGUMENT, charted
from .observation_layer import qt_day, time_vector
from .observation_product import AMOUNTS, MEASURES
from .observation_reader import ObservationReader
from .observation_zone import ZoneGrid
from .registry import Unchecked
from .scene_choice import Occasion, catalogue_of, occasions, scenes_of
from .selection import titled
from .spelling import listed

_SYNONYMS = {"average": "mean", "total": "sum", "minimum": "min", "maximum": "max"}
_FIELDS = {
    "zone": "text", "date": "date", "until": "date", "value": "real", "unit": "text",
    "cells": "integer", "missing": "text",
}  # fmt: skip
_MONTHS_SHOWN = 12


@dataclass
class Reading:
    """The value of a zone on a day, None with the reason; `place` is the zone's."""

    place: int
    zone: str
    occasion: Occasion
    value: float | None
    cells: int
    missing: str
    anomaly: float | None = None


class ObservationSeries(Unchecked):
    """A measure by zone and day."""

    definition = ToolDefinition(
        "observation_series",
        "Compute what scenes measure in each zone or at each point for every day; anomaly adds the "
        "difference to the usual value.",
        argument.arguments(
            {
                "scenes": argument.layer("polygon"),
                "zones": argument.layer(Family.POLYGON.value, Family.POINT.value),
                "measure": argument.choice(*MEASURES),
                "statistic": argument.choice(
                    "mean", "sum", "min", "max", "stdev", synonyms=_SYNONYMS
                ),
                "start": {"type": "string", "description": "a day such as 2024-03-01"},
                "end": {"type": "string"},
                "anomaly": {"type": "boolean"},
                "chart": ARGUMENT,
            },
            ["scenes", "zones", "measure"],
        ),
        label="Series by zone",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read each day once, zone by zone; days and zones without values are told."""
        source = catalogue_of(arguments["scenes"], context)
        zones = ZoneGrid(context.vector(arguments["zones"], Family.VECTOR), context)
        measure = arguments["measure"]
        start, end = arguments.get("start", ""), arguments.get("end", "")
        found = occasions(scenes_of(source, context), measure, start, end, context)
        statistic = arguments.get("statistic") or ("sum" if measure in AMOUNTS else "mean")
        readings, unit = _readings(found, measure, statistic, zones, context)
        _tell_gaps(readings, found, measure, zones, context)
        if arguments.get("anomaly"):
            context.note(_compare(readings))
        shown = {"scenes": source.id, "zones": zones.source.id, "measure": measure}
        return _told(readings, unit, statistic, zones, arguments, shown, context)


def _readings(
    found: Sequence[Occasion], measure: str, statistic: str, zones: ZoneGrid, context: Context
) -> tuple[list[Reading], str]:
    readings: list[Reading] = []
    unit, whole = "", Loss()
    for number, occasion in enumerate(found):
        reader = ObservationReader(occasion, measure, context)
        unit = reader.unit
        for place, zone in enumerate(zones.zones):
            tally = Tally()
            for window, mask in zones.cells(place, reader.grid):
                tally.add(reader.read(window, mask)[mask])
            loss = reader.loss()
            whole.add(loss)
            there = tally.count > 0
            value = tally.numbers()[statistic] if there else None
            missing = "" if there else loss.reason() if tally.cells else "outside"
            readings.append(Reading(place, zone.name, occasion, value, tally.count, missing))
        context.progress(100.0 * (number + 1) / len(found))
    context.note(whole.words())
    return readings, unit


def _tell_gaps(
    readings: Sequence[Reading], found: Sequence[Occasion], measure: str, zones: ZoneGrid,
    context: Context,
) -> None:  # fmt: skip
    """Tell zones outside, days without a value and months without a scene.

    Raises MendableError where no zone has a value on any day.
    """
    if all(one.value is None for one in readings):
        if all(one.missing == "outside" for one in readings):
            raise MendableError(
                f"No scene of {measure} covers {zones.source.key}: its zones lie outside. Index "
                "other folders, or check the CRS of the zones."
            )
        reasons = sorted({one.missing for one in readings if one.missing != "outside"})
        raise MendableError(
            f"{measure} has no value in {zones.source.key} on any of {len(found)} days: every cell "
            f"was lost to {listed(reasons)}."
        )
    outside = {one.zone for one in readings if one.missing == "outside"}
    inside = {one.zone for one in readings if one.missing != "outside"}
    never = sorted(outside - inside)
    if never:
        context.note(f"Outside all scenes, so without values: {listed(never)}.")
    for reason in sorted({one.missing for one in readings} - {"", "outside"}):
        several = [one for one in readings if one.missing == reason]
        named = listed([f"{one.zone} {one.occasion.when}".strip() for one in several])
        context.note(f"Without a value for {reason}: {named}.")
    months = _months_without([one.occasion for one in readings])
    if months:
        more = f" and {len(months) - _MONTHS_SHOWN} more" if len(months) > _MONTHS_SHOWN else ""
        context.note(f"Months without data: {', '.join(months[:_MONTHS_SHOWN])}{more}.")


def _months_without(found: Sequence[Occasion]) -> list[str]:
    """Return the months between the first and the last day that no scene stands for; none where
    the scenes stand for whole years."""
    spans = [(one.day, one.until or one.day) for one in found if one.day is not None]
    if not spans or any((last - first).days > 31 for first, last in spans):
        return []
    there = {(day.year, day.month) for span in spans for day in span}
    years = {one.day.year for one in found if one.day is not None}
    if len(there) < 2 or all(len({m for y, m in there if y == year}) == 1 for year in years):
        return []  # one season of each year was asked for
    at, last = min(there), max(there)
    missing = []
    while at < last:
        if at not in there:
            missing.append(f"{at[0]}-{at[1]:02}")
        at = (at[0] + 1, 1) if at[1] == 12 else (at[0], at[1] + 1)
    return missing


def _compare(readings: Sequence[Reading]) -> str:
    """Set each reading's difference to the usual value of its zone, and say what that is: the mean
    of the same calendar month where other years have one, else of the whole series."""
    dated = [one for one in readings if one.value is not None and one.occasion.day is not None]
    years: dict[int, set[int]] = {}
    for one in dated:
        years.setdefault(one.occasion.day.month, set()).add(one.occasion.day.year)
    monthly = bool(years) and all(len(one) > 1 for one in years.values())
    groups: dict[tuple[int, int], list[Reading]] = {}
    for one in dated:
        month = one.occasion.day.month if monthly else 0
        groups.setdefault((one.place, month), []).append(one)
    for group in groups.values():
        usual = sum(one.value for one in group) / len(group)
        for one in group:
            one.anomaly = one.value - usual
    if monthly:
        return "anomaly: the difference to the zone's mean of the same month over all years."
    return "anomaly: the difference to the zone's mean over the whole series."


def _told(
    readings: Sequence[Reading], unit: str, statistic: str, zones: ZoneGrid,
    arguments: dict[str, Any], shown: dict[str, Any], context: Context,
) -> ToolResult:  # fmt: skip
    measure, with_anomaly = arguments["measure"], bool(arguments.get("anomaly"))
    added = {**_FIELDS, **({"anomaly": "real"} if with_anomaly else {})}
    fields, names = extended(zones.source, added)
    rows = [_row(one, unit, with_anomaly, zones, fields) for one in readings]
    title = f"{measure} by {zones.source.key}"
    made = new_layer(title, fields, zones.source.wkb, zones.source.crs, rows)
    if all(one.occasion.day is not None for one in readings):
        context.call(lambda: time_vector(made, names[1], names[2]))
    reference = context.call(lambda: context.hand_over(made, titled(title), shown))
    good = [one for one in readings if one.value is not None]
    files = charted(
        arguments.get("chart", ""), title, f"{measure} ({unit})" if unit else measure,
        _lines(good), context,
    )  # fmt: skip
    numbers, texts = _numbers(good, statistic)
    table = [
        {"zone": one.zone, **({"date": one.occasion.when} if one.occasion.when else {}),
         statistic: one.value,
         **({"anomaly": one.anomaly} if with_anomaly else {})}
        for one in good
    ]  # fmt: skip
    in_unit = f" in {unit}" if unit else ""
    return ToolResult(
        f"{wording.layer(reference)}: {statistic} of {measure}{in_unit} in {names[3]}; highest = "
        f"{wording.number(numbers['highest'])} ({texts['highest']}), lowest = "
        f"{wording.number(numbers['lowest'])} ({texts['lowest']}).\n{wording.rows(table, 60)}",
        numbers=numbers,
        texts=texts,
        units={name: unit for name in numbers if unit and name not in ("count", "zones")},
        layers=(reference,),
        files=files,
    )


def _row(one: Reading, unit: str, with_anomaly: bool, zones: ZoneGrid, fields: Any) -> QgsFeature:
    occasion = one.occasion
    values: list[object] = [
        one.zone, qt_day(occasion.day), qt_day(occasion.until or occasion.day), one.value, unit,
        one.cells, one.missing or None,
    ]  # fmt: skip
    if with_anomaly:
        values.append(one.anomaly)
    return row(fields, zones.zones[one.place].feature, values)


def _lines(good: Sequence[Reading]) -> dict[str, list[tuple[datetime.date | str, float]]]:
    found: dict[str, list[tuple[datetime.date | str, float]]] = {}
    for one in good:
        found.setdefault(one.zone, []).append((one.occasion.day or one.zone, one.value))
    return found


def _numbers(good: Sequence[Reading], statistic: str) -> tuple[dict[str, float], dict[str, str]]:
    highest = max(good, key=lambda one: one.value)
    lowest = min(good, key=lambda one: one.value)
    values = [one.value for one in good]
    numbers = {
        "highest": highest.value,
        "lowest": lowest.value,
        "mean": sum(values) / len(values),
        "first": values[0],
        "last": values[-1],
        "count": float(len(good)),
        "zones": float(len({one.place for one in good})),
    }
    if statistic == "sum" and len({one.occasion.day for one in good}) == 1:
        numbers["total"] = sum(values)
    texts = {
        "highest": f"{highest.zone} {highest.occasion.when}".strip(),
        "lowest": f"{lowest.zone} {lowest.occasion.when}".strip(),
    }
    return numbers, texts
