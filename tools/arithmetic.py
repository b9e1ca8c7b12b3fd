# SPDX-License-Identifier: GPL-2.0-or-later
"""Arithmetic over results, so that a share or a difference is computed and not guessed."""

from __future__ import annotations

import re
from typing import Any

from qgis.core import QgsExpression

from . import argument, wording
from .base import MendableError, ToolDefinition, ToolResult
from .context import Context
from .expression import refuse_outside
from .registry import Unchecked
from .source import plain

_REFERENCE = re.compile(r"\br\d+(?:\.\w+)*")


class Calculate(Unchecked):
    """Calculates with the numbers of results."""

    definition = ToolDefinition(
        "calculate",
        "Calculate with numbers of results, as in 100 * r1.count / r2.count.",
        argument.arguments(
            {"expression": {"type": "string"}, "unit": {"type": "string"}}, ["expression"]
        ),
        label="Calculate",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Put the numbers in and evaluate; no layer takes part."""
        given = arguments["expression"]
        text = _REFERENCE.sub(lambda found: _number(found.group(), context), given)
        refuse_outside(text)
        expression = QgsExpression(text)
        if expression.hasParserError() or expression.referencedColumns():
            raise MendableError(
                f'"{given}" is not arithmetic over results. {context.store.known_numbers()}'
            )
        value = plain(expression.evaluate())
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise MendableError(f'"{given}" gives no number: a division by zero, or a text.')
        unit = arguments.get("unit", "")
        return ToolResult(
            f"{given} = {wording.number(value)} {unit}".rstrip() + ".",
            numbers={"value": float(value)},
            units={"value": unit} if unit else {},
        )


def _number(reference: str, context: Context) -> str:
    found = context.store.number(reference)
    if found is None:
        raise MendableError(f'There is no number "{reference}". {context.store.known_numbers()}')
    return repr(float(found[0]))
