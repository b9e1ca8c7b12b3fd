# SPDX-License-Identifier: GPL-2.0-or-later
"""Refinement (GeoFlow paper): how a graph may be changed after one of its steps failed."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...tools.base import ToolDefinition
from ..llm.base import ModelError
from .candidate import canonical
from .change import Change, ChangeError, applied
from .finding import Severity
from .graph import Graph, Vertex
from .plan_form import PlanError
from .revision import Reviser, Wanted, tools_of

_LOG = logging.getLogger(__name__)
MOST = 2
"""How often the model is asked for the same step."""
_KINDS = frozenset(("edit", "replace", "insert", "remove"))
_NAME = re.compile(r"\w+")
_SHOWN = 600
_NEAR = 4


class Refinement:
    """Proposes changes for one run; implements workflow.assignment.Refiner.

    What the checks can mend by themselves is mended without the model. A change that was proposed
    before, or that leads back to a graph that failed, is not proposed again.
    """

    def __init__(
        self,
        reviser: Reviser,
        alike: Callable[[Graph, Vertex], Sequence[ToolDefinition]] = lambda graph, vertex: (),
        most: int = MOST,
    ) -> None:
        """`alike` gives tools that could do the work of a step too."""
        self._reviser = reviser
        self._alike = alike
        self._most = most
        self._failed: set[str] = set()
        self._asked: dict[str, int] = {}
        self.proposed = 0

    def propose(self, graph: Graph, vertex: str, error: str) -> Change | None:
        """Return a change that keeps what is done, None where nothing can be mended.

        Raises RunCancelled.
        """
        if not graph.has(vertex):
            return None
        self._failed.add(canonical(graph))
        for change in self._mends(graph, vertex):
            if self._is_new(graph, change):
                return self._given(change)
        self._asked[vertex] = self._asked.get(vertex, 0) + 1
        if self._asked[vertex] > self._most:
            return None
        try:
            change = self._reviser.change(graph, self._wanted(graph, vertex, error))
        except (PlanError, ModelError, ValueError) as failure:
            _LOG.info("no change was found for %s: %s", vertex, failure)
            return None
        reason = change.reason or f"{vertex} failed: {_first(error)}"
        return self._given(replace(change, reason=reason)) if self._is_new(graph, change) else None

    def _given(self, change: Change) -> Change:
        self.proposed += 1
        return change

    def _mends(self, graph: Graph, vertex: str) -> list[Change]:
        """Return the mends of what the checks find wrong with the step."""
        found = [one for one in self._reviser.means.check(graph) if one.vertex == vertex]
        errors = [one for one in found if one.severity is not Severity.NOTE]
        return [
            replace(mend.change, reason=mend.change.reason or mend.label)
            for one in errors
            for mend in one.sure[:1]
        ]

    def _is_new(self, graph: Graph, change: Change) -> bool:
        try:
            return canonical(applied(graph, change)) not in self._failed
        except ChangeError:
            return False

    def _wanted(self, graph: Graph, vertex: str, error: str) -> Wanted:
        failed = graph.vertex(vertex)
        means = self._reviser.means
        names = (
            tools_of(graph, means.definitions)
            | {one.name for one in self._alike(graph, failed)[:_NEAR]}
            | {one.name for one in means.definitions if one.name in _NAME.findall(error)}
        )
        tools = tuple(one for one in means.definitions if one.name in names)
        text = f"Failed: {vertex}: {error[:_SHOWN]}"
        return Wanted(text, tools, (vertex, *graph.parents(failed)), _KINDS)


def _first(error: str) -> str:
    return error.strip().partition("\n")[0][:_SHOWN]
