# SPDX-License-Identifier: GPL-2.0-or-later
"""The two tools that end a question. They check what was said and hand it back; the agent acts."""

from __future__ import annotations

import re
from typing import Any

from . import argument, wording
from .base import MendableError, ToolDefinition, ToolResult
from .context import Context
from .registry import Unchecked
from .store import ANSWER, REJECTION
from .unit import is_measure

_REFERENCE = re.compile(r"\br\d+\.")


class Answer(Unchecked):
    """Gives the answer."""

    definition = ToolDefinition(
        "answer",
        "Give the final answer in the question's language; value is the result that holds the "
        "number, as in r2.count.",
        argument.arguments(
            {
                "value": {"anyOf": [{"type": "string"}, {"type": "number"}], "x-result": "number"},
                "unit": {"type": "string"},
                "layers": {"type": "array", "items": {"type": "string", "x-result": "layer"}},
                "text": {"type": "string"},
            },
            [],
        ),
        label="Answer",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Check that layers and value come from the project or a result, and hand them back."""
        for name in arguments.get("layers", []):
            context.layer(name)
        numbers, units = {}, {}
        if "value" in arguments:
            numbers["value"], unit = _known(arguments["value"], context)
            said = str(arguments.get("unit", ""))
            counts = _counts(arguments["value"])
            invented = _is_invented(said, counts, context.store.question())
            units["value"] = unit or ("" if invented else said)
        return ToolResult(arguments.get("text", ""), id=ANSWER, numbers=numbers, units=units)


def _is_invented(unit: str, counts: bool, question: str) -> bool:
    """Tell whether a unit of the model's own means nothing: a result's id, or a length or area
    that neither the result nor the question speaks of."""
    if _REFERENCE.search(unit):
        return True
    asked = re.search(rf"(?<!\w){re.escape(unit)}(?!\w)", question, re.IGNORECASE)
    return is_measure(unit) and (counts or not asked)


def _counts(value: Any) -> bool:
    """Tell whether a reference means a number of things, which has no length and no area."""
    return str(value).strip().rpartition(".")[2] in ("count", "distinct", "features", "empty")


def _known(value: Any, context: Context) -> tuple[float, str]:
    """Return the number that a reference means, or that a result gave, and its unit."""
    if isinstance(value, str):
        found = context.store.number(value.strip())
        if found is not None:
            return found
        try:
            value = float(value)
        except ValueError:
            raise MendableError(
                f'There is no number "{value}". {context.store.known_numbers()}'
            ) from None
    profiles = [context.profile(source) for source in context.sources()]
    counts = [float(one.features) for one in profiles] + [float(len(one.bands)) for one in profiles]
    if any(agrees(float(value), one) for one in (*context.store.told(), *counts)):
        given = context.store.given()
        return float(value), next((unit for one, unit in given if agrees(float(value), one)), "")
    raise MendableError(f"No result gave {wording.number(value)}. {context.store.known_numbers()}")


def agrees(said: float, known: float) -> bool:
    """Tell whether `said` is `known`, perhaps rounded to the digits that were said."""
    if said == known:
        return True
    digits = len(f"{said:.10f}".rstrip("0").partition(".")[2])
    return round(known, digits) == said and abs(said - known) <= 0.05 * abs(known)


class Reject(Unchecked):
    """Says that the layers cannot answer."""

    definition = ToolDefinition(
        "reject",
        "Say that these layers cannot answer the question, and what is missing.",
        argument.arguments({"reason": {"type": "string"}}, ["reason"]),
        label="Reject",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Hand the reason back."""
        return ToolResult(arguments["reason"], id=REJECTION)
