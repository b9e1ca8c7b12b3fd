# SPDX-License-Identifier: GPL-2.0-or-later
"""Several values made into one: the first, a count, a sum and the like, NULL left out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from .base import MendableError
from .source import plain

SUMMARIES = ("first", "count", "sum", "mean", "min", "max", "list")
_NUMERIC = ("sum", "mean")


def kind_of(summary: str, kind: str) -> str:
    """Return the type of a summary of values of a type, in FieldProfile's words.

    Raises MendableError for a sum or mean of what holds no numbers.
    """
    if summary == "count":
        return "integer"
    if summary == "list":
        return "text"
    if summary in _NUMERIC:
        if kind not in ("integer", "real"):
            raise MendableError(
                f"There is no {summary} of {kind} values: choose fields of numbers, or another "
                "summary."
            )
        return "real" if summary == "mean" else kind
    return kind if kind in ("integer", "real", "text", "boolean", "date", "datetime") else "text"


def summarised(summary: str, values: Sequence[Any]) -> Any:
    """Return one value for several of one field; "first" is the first row's as it is, NULL too.

    A summary of nothing is NULL, a count of nothing 0.
    """
    if summary not in SUMMARIES or summary == "first":
        return values[0] if values else None
    filled = [one for one in values if plain(one) is not None]
    if summary == "count":
        return len(filled)
    if not filled:
        return None
    if summary == "list":
        return ", ".join(str(plain(one)) for one in filled)
    if summary == "sum":
        whole = all(isinstance(one, int) for one in filled)
        return sum(filled) if whole else math.fsum(filled)
    if summary == "mean":
        return statistics.fmean(filled)
    return min(filled) if summary == "min" else max(filled)
