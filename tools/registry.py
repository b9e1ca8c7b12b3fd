# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools by name: finding one, and making its arguments fit before it runs. No QGIS here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from . import schema
from .base import MendableError, ToolDefinition, ToolResult
from .spelling import bare, closest, listed


class Tool(Protocol):
    """One tool. It holds no state: whatever a call needs is in its arguments and the context."""

    definition: ToolDefinition

    def check(self, arguments: dict[str, Any]) -> None:
        """Check what the schema cannot say. Raises MendableError; touches no layer."""

    def run(self, arguments: dict[str, Any], context: Any) -> ToolResult:
        """Do the work on the calling thread. Raises MendableError, LastingError, ToolCancelled."""


class Unchecked:
    """A tool whose schema says all that its arguments must be."""

    def check(self, arguments: dict[str, Any]) -> None:
        """Check nothing more."""


class Registry:
    """Tools in the order in which they are listed to a model."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.definition.name in self._tools:
                raise ValueError(f"two tools are called {tool.definition.name}")
            self._tools[tool.definition.name] = tool

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return the definitions of all tools."""
        return tuple(tool.definition for tool in self._tools.values())

    def has(self, name: str) -> bool:
        """Tell whether a tool is called `name`."""
        return any(bare(key) == bare(name) for key in self._tools)

    def find(self, name: str) -> Tool:
        """Return the tool called `name`, forgiving case and marks. Raises MendableError."""
        if name in self._tools:
            return self._tools[name]
        equal = [key for key in self._tools if bare(key) == bare(name)]
        if len(equal) == 1:
            return self._tools[equal[0]]
        near = closest(name, self._tools)
        hint = f" Closest: {listed(near)}." if near else ""
        raise MendableError(
            f'There is no tool "{name}".{hint} Tools: {listed(list(self._tools), 40)}.'
        )

    def prepare(self, name: str, arguments: Any) -> tuple[Tool, dict[str, Any]]:
        """Return the tool and its arguments as its schema wants them. Raises MendableError."""
        tool = self.find(name)
        fitting = schema.coerce(tool.definition.parameters, arguments)
        tool.check(fitting)
        return tool, fitting
