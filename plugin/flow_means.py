# SPDX-License-Identifier: GPL-2.0-or-later
"""What the run of a graph works with, and what it leaves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..tools.base import LastingError, Progress, ToolDefinition, ToolResult
from .workflow.assignment import Refiner, SubAgent
from .workflow.cache import Cache
from .workflow.event import GraphChanged, QuestionAsked, ReviewReached
from .workflow.graph import Graph
from .workflow.role import Roles

Emit = Callable[[Any], None]
Cancelled = Callable[[], bool]


class Tools(Protocol):
    """What a run needs of a toolbox; calls may come from several threads at the same time."""

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return all tools."""

    def run(
        self, name: str, arguments: dict[str, Any], progress: Progress, cancelled: Cancelled
    ) -> ToolResult:
        """Run one call."""


class User(Protocol):
    """Whoever answers questions, looks at review stops and accepts changes; any thread."""

    def answer(self, question: QuestionAsked, cancelled: Cancelled) -> str:
        """Return the answer; waits for it. Raises LastingError where nobody can answer."""

    def goes_on(self, stop: ReviewReached, cancelled: Cancelled) -> bool:
        """Tell whether the run goes on after a review stop; waits for the user."""

    def accepts(self, change: GraphChanged, cancelled: Cancelled) -> bool:
        """Tell whether a proposed change is made."""


class Nobody:
    """No user: questions take their default, review stops are passed, changes are made."""

    def answer(self, question: QuestionAsked, cancelled: Cancelled) -> str:
        """Return the default. Raises LastingError where there is none."""
        if question.default:
            return question.default
        raise LastingError(
            f'"{question.text}" needs an answer: give one as the variable {question.step}.'
        )

    def goes_on(self, stop: ReviewReached, cancelled: Cancelled) -> bool:
        """Go on."""
        return True

    def accepts(self, change: GraphChanged, cancelled: Cancelled) -> bool:
        """Accept."""
        return True


@dataclass(frozen=True)
class Ways:
    """How a run goes: lanes for steps at the same time, tries of a step that failed for a reason
    outside the graph, and how often the graph may be mended."""

    lanes: int = 2
    tries: int = 1
    mends: int = 2


@dataclass
class Outcome:
    """A run's graph with its statuses, its results by step, and the same graph with the abstract
    steps that were carried out made concrete. `unanswered` says why a run whose steps were all
    done has no answer: what the graph's answer names was not given."""

    graph: Graph
    results: dict[str, ToolResult] = field(default_factory=dict)
    concrete: Graph = field(default_factory=Graph)
    unanswered: str = ""


@dataclass(frozen=True)
class Means:
    """What a run works with. `layers` gives the keys of the project's own layers, for abstract
    steps that are made concrete."""

    tools: Tools
    cache: Cache
    roles: Roles
    user: User
    sub_agent: SubAgent | None
    refiner: Refiner | None
    ways: Ways
    layers: Callable[[], Collection[str]]
    definitions: Mapping[str, ToolDefinition]
