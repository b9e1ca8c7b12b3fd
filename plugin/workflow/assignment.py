# SPDX-License-Identifier: GPL-2.0-or-later
"""The work of an abstract step as its sub-agent gets it, and what a failed step is mended by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ...tools.base import ToolDefinition, ToolResult
from .change import Change
from .graph import Graph, Vertex
from .tracing import Traced


@dataclass(frozen=True)
class Assignment:
    """An objective, the tools of its agent, and what the steps before it gave, by their ids."""

    question: str
    vertex: Vertex
    tools: tuple[ToolDefinition, ...]
    results: Mapping[str, ToolResult]


@dataclass(frozen=True)
class Done:
    """What a sub-agent gave: its last result, the calls that led to it, in order."""

    result: ToolResult
    calls: tuple[Traced, ...] = ()


class SubAgent(Protocol):
    """Carries out abstract steps with a model."""

    def carry_out(
        self,
        assignment: Assignment,
        emit: Callable[[Any], None],
        cancelled: Callable[[], bool],
    ) -> Done:
        """Do the work on the calling thread. Raises MendableError, LastingError, ToolCancelled."""


class Refiner(Protocol):
    """Proposes how a graph may be changed after a step of it failed."""

    def propose(self, graph: Graph, vertex: str, error: str) -> Change | None:
        """Return a change that keeps what is done, None where nothing can be mended."""
