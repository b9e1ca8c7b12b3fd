# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of layers: counts, statistics of fields and bands, the largest and smallest features."""

from __future__ import annotations

import math
import statistics
from typing import Any

from . import argument, wording
from .band_statistic import statistics_of
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import Filter, field_named, number_of, quoted_name
from .context import Context
from .expression import SourceFields, chosen, evaluator
from .raster import band_of
from .registry import Unchecked
from .source import RasterSource, VectorSource, plain
from .spelling import did_you_mean

STATISTICS = ("mean", "sum", "min", "max", "median", "stdev", "count", "distinct")
SYNONYMS = {
    "average": "mean",
    "avg": "mean",
    "total": "sum",
    "minimum": "min",
    "maximum": "max",
    "std": "stdev",
    "standard deviation": "stdev",
    "unique": "distinct",
}


def where(taken: Filter) -> str:
    """Return the filter as the end of a sentence."""
    return f" where {taken.words}" if taken.words else ""


class Count(Unchecked):
    """Counts features."""

    definition = ToolDefinition(
        "count",
        "Count the features of a layer, or those that meet conditions.",
        argument.arguments(
            {"layer": argument.layer(*argument.FEATURES), **argument.filtering()}, ["layer"]
        ),
        label="Count features",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Count by reading where there is a filter, or where the layer does not know."""
        source = context.vector(arguments["layer"])
        taken = chosen(arguments, source, context.cancelled)
        context.note(*taken.notes)
        count = source.features
        if taken.expression or count < 0:
            only: list[str] | None = None if taken.expression else []
            count = sum(1 for _ in source.rows(context.cancelled, taken.expression, only=only))
        context.speak_of(source, taken, count)
        many = "feature" if count == 1 else "features"
        text = f"count = {count} {many} of {source.key}{where(taken)}"
        if taken.expression and source.features >= 0:
            text += f" (of {source.features})"
        return ToolResult(text + ".", numbers={"count": count})


class Statistics:
    """Statistics of a field or a band."""

    definition = ToolDefinition(
        "statistics",
        "Compute mean, sum, min, max, median, stdev, count or distinct of a field or raster band; "
        "group_by gives it for each group.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES, "raster"),
                "field": argument.field(types=["integer", "real", "text"]),
                "statistic": argument.choice(*STATISTICS, synonyms=SYNONYMS),
                "band": {**argument.band(), "x-for": {"layer": [Family.RASTER.value]}},
                "group_by": argument.field(),
                **argument.filtering(),
            },
            ["layer"],
        ),
        label="Statistics",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse a field and a band together."""
        if "field" in arguments and "band" in arguments:
            raise MendableError("Give either a field or a band, not both.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Compute over all features or cells; empty ones and nodata are left out and told."""
        source = context.layer(arguments["layer"])
        if isinstance(source, RasterSource):
            return _of_band(arguments, source, context)
        if "field" not in arguments:
            raise MendableError(
                f"statistics of {source.key} needs a field. {did_you_mean('', source.names())}"
            )
        return _of_field(arguments, source, context)


def _of_field(arguments: dict[str, Any], source: VectorSource, context: Context) -> ToolResult:
    fields = SourceFields(source, context.cancelled)
    name = field_named(arguments["field"], fields)
    kind = source.type_of(name)
    statistic = arguments.get("statistic", "")
    taken = chosen(arguments, source, context.cancelled)
    context.note(*taken.notes)
    counting = statistic in ("count", "distinct")
    text = quoted_name(name) if counting else number_of(name, kind)
    if kind not in ("integer", "real", "text") and not counting:
        raise MendableError(
            f"{name} of {source.key} holds {kind} values, so it has no {statistic or 'mean'}."
        )
    group = field_named(arguments["group_by"], fields) if arguments.get("group_by") else ""
    groups, empty, unread = _gathered(source, name, text, group, taken.expression, context)
    if unread:
        context.note(f"{name} is text: {unread} values that are not numbers were left out.")
    if empty:
        context.note(f"{empty} features without {name} were left out.")
    what = f"{name} in {source.key}{where(taken)}"
    if group:
        return _grouped(groups, statistic or "mean", group, what)
    values = groups.get(None, [])
    if not values and statistic not in ("count", "distinct"):
        raise MendableError(f"There are no numbers: no feature has a value of {what}.")
    numbers = computed(values, statistic)
    context.speak_of(source, taken, len(values) + empty + unread)
    return ToolResult(f"{_equations(numbers)} for {what}.", numbers=numbers)


def _gathered(
    source: VectorSource, name: str, text: str, group: str, expression: str, context: Context
) -> tuple[dict[Any, list[Any]], int, int]:
    """Return values by group, how many features had none, and how many texts were no number."""
    evaluate = evaluator(text, source)
    place = source.fields.lookupField(name)
    by = source.fields.lookupField(group) if group else -1
    only = None if expression else [name, *([group] if group else [])]
    groups: dict[Any, list[Any]] = {}
    empty = unread = 0
    for feature in source.rows(context.cancelled, expression, only=only):
        value = evaluate(feature)
        if value is None or value == "":
            raw = plain(feature[place])
            blank = raw is None or not str(raw).strip()
            empty, unread = empty + blank, unread + (not blank)
            continue
        key = plain(feature[by]) if group else None
        groups.setdefault(key, []).append(value)
    return groups, empty, unread


def computed(values: list[Any], statistic: str = "") -> dict[str, float]:
    """Return the statistic of the values, or all of them; `count` always stands beside it.

    Whole numbers beyond 2^53 stay whole.
    """
    count = float(len(values))
    if statistic == "count":
        return {"count": count}
    if statistic == "distinct":
        return {"distinct": float(len(set(map(str, values)))), "count": count}
    numbers = values if _needs_whole(values) else [float(item) for item in values]
    total = sum if numbers is values else math.fsum
    found = {
        "mean": lambda: float(total(numbers)) / len(numbers),
        "sum": lambda: total(numbers),
        "min": lambda: min(numbers),
        "max": lambda: max(numbers),
        "median": lambda: statistics.median(numbers),
        "stdev": lambda: statistics.stdev(numbers) if len(numbers) > 1 else 0.0,
    }
    names = [statistic] if statistic else list(found)
    return {**{name: found[name]() for name in names}, "count": count}


def _needs_whole(values: list[Any]) -> bool:
    """Tell whether the values are whole numbers of which some lose digits with a point."""
    whole = all(isinstance(item, int) for item in values)
    return whole and any(abs(item) > wording.EXACT for item in values)


def _equations(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} = {wording.number(item)}" for name, item in numbers.items())


def _grouped(groups: dict[Any, list[Any]], statistic: str, group: str, what: str) -> ToolResult:
    found = [(key, computed(values, statistic)[statistic]) for key, values in groups.items()]
    found.sort(key=lambda pair: (-pair[1], str(pair[0])))
    if not found:
        raise MendableError(f"There are no groups: no feature has a value of {what}.")
    table = [{group: key, statistic: number} for key, number in found]
    named = [pair for pair in found if pair[0] is not None] or found
    only = {statistic: found[0][1]} if len(found) == 1 else {}
    return ToolResult(
        f"{statistic} of {what} for each of {len(found)} {group}, largest first:\n"
        f"{wording.rows(table)}",
        numbers={"highest": named[0][1], "lowest": named[-1][1], "count": len(found), **only},
        texts={"highest": str(named[0][0]), "lowest": str(named[-1][0])},
    )


def _of_band(arguments: dict[str, Any], source: RasterSource, context: Context) -> ToolResult:
    given = [name for name in ("conditions", "where", "group_by") if arguments.get(name)]
    if given:
        raise MendableError(f"{source.key} is a raster, so {given[0]} does not apply to it.")
    band = band_of(source, arguments.get("band", arguments.get("field")))
    statistic = arguments.get("statistic", "")
    numbers, left = statistics_of(source, band.number, statistic, context)
    if left:
        context.note(f"{left} cells without data were left out.")
    name = f" ({band.name})" if band.name else ""
    return ToolResult(
        f"{_equations(numbers)} for band {band.number}{name} of {source.key}.", numbers=numbers
    )
