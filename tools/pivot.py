# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables summed up by pandas: grouped, crossed, and by periods of time."""

from __future__ import annotations

from typing import Any

from . import argument, moment, wording
from .base import MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .expression import SourceFields
from .frame import frame
from .frame_layer import layer_of
from .moment_column import MomentColumn
from .package import package
from .selection import titled
from .source import VectorSource
from .statistic import SYNONYMS

_STATISTICS = {"count": "size", "sum": "sum", "mean": "mean", "median": "median", "min": "min",
               "max": "max", "stdev": "std", "distinct": "nunique"}  # fmt: skip
_PERIODS = {"hour": "h", "day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}
_MOST_COLUMNS = 200
_TOTALS = ("count", "sum")


class PivotTable:
    """Groups rows, and crosses them by the values of another field."""

    definition = ToolDefinition(
        "pivot_table",
        "Make a table with a row for each combination of the fields rows, and with columns a column"
        " for each value of that field; cells hold a statistic of a field.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "rows": {"type": "array", "items": argument.field()},
                "columns": argument.field(),
                "field": argument.field(types=["integer", "real", "text"]),
                "statistic": argument.choice(*_STATISTICS, synonyms=SYNONYMS),
            },
            ["layer", "rows"],
        ),
        label="Pivot table",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for rows, and for a field where the statistic is of one."""
        if not arguments["rows"]:
            raise MendableError("rows names one field at least.")
        statistic = arguments.get("statistic", "sum" if "field" in arguments else "count")
        if statistic != "count" and "field" not in arguments:
            raise MendableError(f"A {statistic} needs a field.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read the table as a frame, group, and make a table of the result."""
        source = context.vector(arguments["layer"])
        known = SourceFields(source, context.cancelled)
        rows = [field_named(one, known) for one in arguments["rows"]]
        columns = field_named(arguments["columns"], known) if arguments.get("columns") else ""
        field = field_named(arguments["field"], known) if arguments.get("field") else ""
        statistic = arguments.get("statistic", "sum" if field else "count")
        _refuse_text(source, field, statistic)
        keys = [*rows, *([columns] if columns else [])]
        grouped = frame(source, context).groupby(keys, dropna=False, observed=True, sort=True)
        found = _computed(grouped, field, statistic)
        if columns:
            found = _crossed(found, columns, statistic)
            context.note(_empty(found, statistic))
        table = found.reset_index()
        table.columns = [_text(one) for one in table.columns]
        layer = layer_of(table, source.key)
        title = titled(f"{statistic} of {field or source.key} by {', '.join(keys)}")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        shown = wording.rows(_shown(table))
        return ToolResult(
            f"{wording.layer(reference)}:\n{shown}",
            numbers={"count": reference.features},
            layers=(reference,),
        )


def _refuse_text(source: VectorSource, field: str, statistic: str) -> None:
    numeric = not field or source.type_of(field) in ("integer", "real")
    if not numeric and statistic not in ("count", "distinct", "min", "max"):
        raise MendableError(
            f"{field} of {source.key} holds {source.type_of(field)} values, so it has no "
            f"{statistic}. Choose a field of numbers."
        )


def _computed(grouped: Any, field: str, statistic: str) -> Any:
    """Return a series by the keys; a count counts rows, or the filled values of a field."""
    name = f"{field}_{statistic}" if field else "count"
    if not field:
        return grouped.size().rename(name)
    if statistic == "count":
        return grouped[field].count().rename(name)
    if statistic == "sum":  # nothing but NULL has no sum
        return grouped[field].sum(min_count=1).rename(name)
    return getattr(grouped[field], _STATISTICS[statistic])().rename(name)


def _crossed(found: Any, columns: str, statistic: str) -> Any:
    count = len(found.index.get_level_values(columns).unique())
    if count > _MOST_COLUMNS:
        raise MendableError(
            f"{columns} has {count} values; {_MOST_COLUMNS} columns are the most. Put it into rows."
        )
    return found.unstack(columns, fill_value=0 if statistic == "count" else None)


def _empty(found: Any, statistic: str) -> str:
    missing = int(found.isna().sum().sum())
    many = wording.counted(missing, "cell")
    return f"{many} without a row to take the {statistic} of: NULL." if missing else ""


def _text(name: Any) -> str:
    return "none" if name is None or name != name else str(name)


def _shown(table: Any) -> list[dict[str, Any]]:
    head = table.head(wording.MOST_ROWS + 1).astype(object)
    head = head.where(head.notna(), None)
    rows: list[dict[str, Any]] = head.to_dict("records")
    return [*rows, *([{}] * max(0, len(table) - len(rows)))]


class TimeSeries:
    """Sums up values by periods."""

    definition = ToolDefinition(
        "time_series",
        "Sum up a field by hour, day, week, month, quarter or year of a field with dates (texts "
        "too), periods without rows included; without field it counts.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "time": argument.field(types=["date", "datetime", "text", "integer"]),
                "period": argument.choice(*_PERIODS),
                "field": argument.field(types=["integer", "real"]),
                "statistic": argument.choice(
                    *[one for one in _STATISTICS if one != "distinct"], synonyms=SYNONYMS
                ),
                "order": argument.choice(*moment.ORDERS),
            },
            ["layer", "time", "period"],
        ),
        label="Time series",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for a field where the statistic is of one."""
        statistic = arguments.get("statistic", "mean" if "field" in arguments else "count")
        if statistic != "count" and "field" not in arguments:
            raise MendableError(f"A {statistic} needs a field.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read the dates, group by period, and fill the periods between."""
        pandas = package("pandas", "A time series")
        source = context.vector(arguments["layer"])
        known = SourceFields(source, context.cancelled)
        time = field_named(arguments["time"], known)
        field = field_named(arguments["field"], known) if arguments.get("field") else ""
        statistic = arguments.get("statistic", "mean" if field else "count")
        _refuse_text(source, field, statistic)
        column = MomentColumn(source, time, arguments.get("order", ""), "", context)
        only = [time, *([field] if field else [])]
        rows = [
            (column.of(feature[time]), feature[field] if field else 1)
            for feature in source.rows(context.cancelled, only=only)
        ]
        dated = [(when, value) for when, value in rows if when is not None]
        if not dated:
            raise MendableError(f"No feature of {source.key} has a date in {time}.")
        if len(dated) < len(rows):
            many = wording.counted(len(rows) - len(dated), "feature")
            context.note(column.told() or f"{many} without a date left out.")
        found = _by_period(pandas, dated, arguments["period"], field, statistic)
        return _series(found, source, time, field, statistic, arguments, context)


def _by_period(pandas: Any, dated: list[Any], period: str, field: str, statistic: str) -> Any:
    when = pandas.PeriodIndex([one for one, _ in dated], freq=_PERIODS[period])
    values = pandas.Series([value for _, value in dated], index=when)
    values = pandas.to_numeric(values, errors="coerce") if field else values
    name = f"{field}_{statistic}" if field else "count"
    grouped = values.groupby(level=0)
    if statistic == "count":
        found = grouped.count()
    elif statistic == "sum":
        found = grouped.sum(min_count=1)
    else:
        found = grouped.agg(_STATISTICS[statistic])
    every = pandas.period_range(when.min(), when.max(), freq=_PERIODS[period])
    filled = found.reindex(every)
    if statistic in _TOTALS:
        filled = filled.fillna(0)
    return filled.rename(name)


def _series(
    found: Any,
    source: VectorSource,
    time: str,
    field: str,
    statistic: str,
    arguments: dict[str, Any],
    context: Context,
) -> ToolResult:
    period, name = arguments["period"], str(found.name)
    table = found.rename_axis(period).reset_index()
    table[period] = table[period].map(lambda one: _label(one, period))
    layer = layer_of(table, source.key)
    title = titled(f"{statistic} of {field or source.key} by {period} of {time}")
    reference = context.call(lambda: context.hand_over(layer, title, arguments))
    filled = table[table[name].notna()]
    high, low = filled.loc[filled[name].idxmax()], filled.loc[filled[name].idxmin()]
    return ToolResult(
        f"{wording.layer(reference)}; highest {high[period]}: {wording.number(float(high[name]))}, "
        f"lowest {low[period]}: {wording.number(float(low[name]))}:\n{wording.rows(_shown(table))}",
        numbers={
            "highest": float(high[name]),
            "lowest": float(low[name]),
            "mean": float(filled[name].mean()),
            "count": reference.features,
        },
        texts={"highest_period": str(high[period]), "lowest_period": str(low[period])},
        layers=(reference,),
    )


def _label(period: Any, kind: str) -> str:
    """Name a period; a week by its Monday."""
    if kind == "week":
        return f"{period.start_time:%Y-%m-%d}"
    if kind == "hour":
        return f"{period.start_time:%Y-%m-%d %H:00}"
    return str(period)
