# SPDX-License-Identifier: GPL-2.0-or-later
"""The two tools that end a question. They check what was said and hand it back; the agent acts."""

from __future__ import annotations

from typing import Any

from . import argument
from .base import ToolDefinition, ToolResult
from .context import Context
from .registry import Unchecked


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
        """Check that the layers named are there, and hand the answer back."""
        for name in arguments.get("layers", []):
            context.layer(name)
        return ToolResult(arguments.get("text") or "The answer is confirmed next.")


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
        return ToolResult(arguments["reason"])
