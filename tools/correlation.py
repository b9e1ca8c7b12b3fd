# SPDX-License-Identifier: GPL-2.0-or-later
"""How two fields of a layer go together: Pearson's or Spearman's correlation."""

from __future__ import annotations

import math
from typing import Any

import numpy

from . import argument, wording
from .base import MendableError, ToolDefinition, ToolResult
from .condition import field_named, number_of
from .context import Context
from .expression import SourceFields, evaluator
from .registry import Unchecked
from .source import VectorSource

_FEWEST = 3
_NUMBERS = ["integer", "real", "text"]


class Correlation(Unchecked):
    """The correlation of two fields."""

    definition = ToolDefinition(
        "correlation",
        "Compute how two fields of a layer go together, from -1 to 1 (Pearson, or Spearman by "
        "rank).",
        argument.arguments(
            {
                "layer": argument.layer(*argument.FEATURES),
                "field": argument.field(types=_NUMBERS),
                "other": argument.field(types=_NUMBERS),
                "method": argument.choice(
                    "pearson", "spearman", synonyms={"linear": "pearson", "rank": "spearman"}
                ),
            },
            ["layer", "field", "other"],
        ),
        label="Correlation",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Take the features with both numbers; the others are told."""
        source = context.vector(arguments["layer"])
        names = [
            field_named(arguments[one], SourceFields(source, context.cancelled))
            for one in ("field", "other")
        ]
        pairs, left = _pairs(source, names, context)
        if left:
            context.note(f"Left out, without both numbers: {wording.counted(left, 'feature')}.")
        if len(pairs) < _FEWEST:
            raise MendableError(
                f"Only {len(pairs)} features of {source.key} have {names[0]} and {names[1]}: a "
                f"correlation needs {_FEWEST}."
            )
        method = arguments.get("method", "pearson")
        values = numpy.asarray(pairs, dtype=float)
        if method == "spearman":
            values = numpy.column_stack([_ranks(values[:, 0]), _ranks(values[:, 1])])
        for place, name in enumerate(names):
            if numpy.ptp(values[:, place]) == 0:
                raise MendableError(
                    f"{name} of {source.key} is the same everywhere, so it goes with nothing."
                )
        found = float(numpy.corrcoef(values[:, 0], values[:, 1])[0, 1])
        return ToolResult(
            f"{method} correlation of {names[0]} and {names[1]} of {source.key} = "
            f"{wording.number(found)} over {len(pairs)} features.",
            numbers={"correlation": found, "count": float(len(pairs))},
        )


def _pairs(
    source: VectorSource, names: list[str], context: Context
) -> tuple[list[tuple[float, float]], int]:
    """Return the pairs of numbers, and how many features lack one."""
    readers = [evaluator(number_of(one, source.type_of(one)), source) for one in names]
    pairs, left = [], 0
    for feature in source.rows(context.cancelled, only=names):
        values = [read(feature) for read in readers]
        if all(_is_number(one) for one in values):
            pairs.append((float(values[0]), float(values[1])))
        else:
            left += 1
    return pairs, left


def _is_number(value: Any) -> bool:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return known and math.isfinite(value)


def _ranks(values: Any) -> Any:
    """Return the rank of each value, the mean of theirs for equal ones."""
    _, places, counts = numpy.unique(values, return_inverse=True, return_counts=True)
    last = numpy.cumsum(counts)
    return (last - (counts - 1) / 2)[places]
