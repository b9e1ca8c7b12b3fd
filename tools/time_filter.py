# SPDX-License-Identifier: GPL-2.0-or-later
"""Features of a time: between two dates, or the latest ones."""

from __future__ import annotations

import datetime
from typing import Any

from qgis.core import QgsFeature

from . import argument, moment, wording
from .base import MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .expression import SourceFields
from .moment_column import MomentColumn
from .new_layer import new_layer
from .selection import titled

_SHOWN = "%Y-%m-%d %H:%M:%S"


class FilterTime:
    """Takes features by a date."""

    definition = ToolDefinition(
        "filter_time",
        "Make a new layer of the features from start to end (2020, 2020-03 or 2020-03-15, both "
        "included), or of the latest n, by a field of dates or of texts that hold dates.",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "field": argument.field(types=["date", "datetime", "text", "integer"]),
                "start": {"type": "string"},
                "end": {"type": "string"},
                "latest": {"type": "integer", "minimum": 1},
                "order": argument.choice(*moment.ORDERS),
            },
            ["layer", "field"],
        ),
        label="Filter by time",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for a time, and refuse one that cannot be read or ends before it starts."""
        spans = {}
        for name in ("start", "end"):
            if name in arguments:
                spans[name] = moment.read(arguments[name], arguments.get("order", ""))
                if spans[name] is None:
                    raise MendableError(
                        f'{name} cannot be "{arguments[name]}": write it like 2020-03-15.'
                    )
        if not spans and "latest" not in arguments:
            raise MendableError("filter_time needs start, end or latest.")
        if len(spans) == 2 and spans["end"].end <= spans["start"].start:
            raise MendableError("end lies before start: change them round.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read every date; what cannot be read is left out and told."""
        source = context.vector(arguments["layer"])
        name = field_named(arguments["field"], SourceFields(source, context.cancelled))
        column = MomentColumn(source, name, arguments.get("order", ""), "", context)
        low, high = _limits(arguments, column.order)
        found: list[tuple[datetime.datetime, QgsFeature]] = []
        empty = 0
        for feature in source.rows(context.cancelled, geometry=True):
            when = column.of(feature[name])
            empty += when is None
            if when is not None and low <= when < high:
                found.append((when, QgsFeature(feature)))
        context.note(column.told())
        if empty:
            context.note(f"{wording.counted(empty, 'feature')} without a date left out.")
        if "latest" in arguments:
            found.sort(key=lambda pair: pair[0], reverse=True)
            found = found[: arguments["latest"]]
        title = titled(f"{source.key} {_words(arguments, name)}")
        taken = [feature for _, feature in found]
        layer = new_layer(source.key, source.fields, source.wkb, source.crs, taken)
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        times = [when for when, _ in found]
        texts = (
            {"first": f"{min(times):{_SHOWN}}", "last": f"{max(times):{_SHOWN}}"} if times else {}
        )
        shown = f"; from {texts['first']} to {texts['last']}" if times else ""
        return ToolResult(
            f"{wording.layer(reference)}; count = {reference.features}{shown}.",
            numbers={"count": reference.features},
            texts=texts,
            layers=(reference,),
        )


def _limits(arguments: dict[str, Any], order: str) -> tuple[datetime.datetime, datetime.datetime]:
    order = arguments.get("order", order)
    start = moment.read(arguments["start"], order) if "start" in arguments else None
    end = moment.read(arguments["end"], order) if "end" in arguments else None
    return (
        start.start if start else datetime.datetime.min,
        end.end if end else datetime.datetime.max,
    )


def _words(arguments: dict[str, Any], name: str) -> str:
    parts = []
    if "start" in arguments:
        parts.append(f"from {arguments['start']}")
    if "end" in arguments:
        parts.append(f"to {arguments['end']}")
    if "latest" in arguments:
        parts.append(f"latest {arguments['latest']} by {name}")
    return " ".join(parts)
