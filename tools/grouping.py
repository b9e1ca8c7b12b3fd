# SPDX-License-Identifier: GPL-2.0-or-later
"""Features merged by the value of fields, with counts and statistics of what was merged."""

from __future__ import annotations

from typing import Any

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named, quoted_name
from .context import Context
from .expression import SourceFields
from .new_layer import TYPES, free_name
from .registry import Unchecked
from .selection import made
from .source import VectorSource
from .summary import kind_of

_AGGREGATES = {"sum": "sum", "mean": "mean", "min": "minimum", "max": "maximum",
               "first": "first_value", "count": "count"}  # fmt: skip
_KEEP_NAME = ("sum", "first")
"""Of merged features these are still what the field says: the people of all, the first name."""
_TYPE_NAMES = {"integer": "int8", "real": "double precision", "text": "text",
               "boolean": "boolean", "date": "date", "datetime": "datetime"}  # fmt: skip


class Dissolve(Unchecked):
    """Merges features."""

    definition = ToolDefinition(
        "dissolve",
        "Merge the features that share the value of fields (all of them without by) into one each; "
        "statistic of fields, and how many were merged.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "by": {"type": "array", "items": argument.field()},
                "fields": {"type": "array", "items": argument.field(types=["integer", "real"])},
                "statistic": argument.choice(*_AGGREGATES, synonyms={"average": "mean"}),
            },
            ["layer"],
        ),
        label="Dissolve",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Aggregate by the fields; what has no value for them is a group of its own."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        known = SourceFields(source, context.cancelled)
        by = [field_named(one, known) for one in arguments.get("by", [])]
        measured = [field_named(one, known) for one in arguments.get("fields", [])]
        statistic = arguments.get("statistic", "sum")
        twice = set(by) & set(measured)
        if twice:
            raise MendableError(f"{min(twice)} cannot be grouped by and summed up at once.")
        rows = [_row(source, name, "first_value", name) for name in by]
        taken = list(by)
        for name in measured:
            kind_of(statistic if statistic != "first" else "min", source.type_of(name))
            new = name if statistic in _KEEP_NAME else f"{name}_{statistic}"
            taken.append(free_name(new, taken))
            rows.append(_row(source, name, _AGGREGATES[statistic], taken[-1]))
        taken.append(free_name("merged", taken))
        rows.append(_aggregate("1", "count", taken[-1], "integer"))
        parameters = {
            "INPUT": source.id,
            "GROUP_BY": f"array({', '.join(map(quoted_name, by))})" if by else "NULL",
            "AGGREGATES": rows,
            "OUTPUT": "TEMPORARY_OUTPUT",
        }
        if measured:
            context.note(f"{', '.join(measured)}: the {statistic} of the merged features.")
        title = f"{source.key} by {', '.join(by)}" if by else f"{source.key} merged"
        reference = made("native:aggregate", parameters, title, context)
        return ToolResult(
            f"{wording.layer(reference)}; fields: {', '.join(taken)}.",
            numbers={"count": reference.features},
            layers=(reference,),
            algorithm="native:aggregate",
            parameters=parameters,
        )


def _row(source: VectorSource, name: str, aggregate: str, new: str) -> dict[str, Any]:
    kind = source.type_of(name) if source.type_of(name) in TYPES else "text"
    kind = {"mean": "real", "count": "integer"}.get(aggregate, kind)
    return _aggregate(quoted_name(name), aggregate, new, kind)


def _aggregate(expression: str, aggregate: str, new: str, kind: str) -> dict[str, Any]:
    return {
        "input": expression,
        "aggregate": aggregate,
        "delimiter": ",",
        "name": new,
        "type": int(TYPES[kind]),
        "type_name": _TYPE_NAMES[kind],
        "length": 0,
        "precision": 0,
        "sub_type": 0,
    }
