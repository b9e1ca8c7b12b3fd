# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan, and what its making tells: its stages, the plan itself with what was found in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..llm.base import Usage
from .briefing import Understood
from .candidate import Candidate
from .graph import Graph
from .plan_form import compact


@dataclass(frozen=True)
class Planning:
    """A stage of planning, for whoever watches: understanding, planning, mending, choosing."""

    stage: str
    text: str = ""


@dataclass(frozen=True)
class Planned:
    """A graph for a question, or why there is none.

    `candidate` is the one chosen of `candidates`; `was_valid` tells that the first reply could
    have run as it was, `asked_again` how often one was asked for again.
    """

    candidate: Candidate
    understood: Understood
    candidates: int = 1
    was_valid: bool = False
    asked_again: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.candidate.graph


@dataclass(frozen=True)
class PlanMade:
    """A plan is there: its graph, in the compact form too, how it came to be, and what was found
    in it, a line each. `rejected` says why there is none."""

    graph: Graph
    form: dict[str, Any]
    was_valid: bool
    is_valid: bool
    asked_again: int
    candidates: int
    mended: tuple[str, ...]
    remarks: tuple[str, ...]
    findings: tuple[str, ...]
    rejected: str
    usage: Usage
    seconds: float


@dataclass(frozen=True)
class PlanDone:
    """A planned question was answered: the graph that did it, as it can be kept and run again,
    with the steps of earlier questions whose results it takes."""

    graph: Graph


def made(planned: Planned) -> PlanMade:
    """Return the event of a plan."""
    chosen = planned.candidate
    return PlanMade(
        chosen.graph,
        compact(chosen.graph),
        planned.was_valid,
        chosen.is_valid,
        planned.asked_again,
        planned.candidates,
        chosen.mended,
        chosen.remarks,
        tuple(
            f"{one.severity.value}: {one.vertex}: {one.message}".replace(": :", ":")
            for one in (*chosen.findings, *chosen.doubts)
        ),
        chosen.rejected,
        planned.usage,
        planned.seconds,
    )
