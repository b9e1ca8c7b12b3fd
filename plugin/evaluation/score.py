# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores the calls of a run against the reference chains of its task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..place import RESOURCES
from .correctness import ReleasedScorer, as_papers_define
from .job import Job
from .reference import made_calls, references
from .result import Measured
from .same_call import Call, SameCalls, load
from .task import Task
from .trial import Found

SAME_CALLS = RESOURCES / "evaluation" / "same_calls.json"


class Scores:
    """Scores runs of a plan as if they were done in its order, whichever server did them when.

    Main thread only.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._same: SameCalls = load(SAME_CALLS)
        self._order = list({job.task.id: job.task for job in jobs}.values())
        self._chains: dict[str, list[list[Call]]] = {}

    def measured(self, job: Job, found: Found, joules: float | None) -> Measured:
        """Score the calls, and gather what the run used; a task without a chain has no score."""
        chains = self._references(job.task)
        if not chains:
            return Measured(cost=found.cost, energy=joules, phases=found.phases)
        known: dict[str, Any] = dict(found.layers)
        calls = [
            call
            for turn in found.turns
            for call in made_calls(turn.calls, known, str(turn.record.get("status")))
        ]
        return Measured(
            as_papers_define(calls, chains, self._same).value,
            self._released(job).score(calls, chains).value,
            found.cost,
            joules,
            found.phases,
        )

    def _released(self, job: Job) -> ReleasedScorer:
        """Return the released scorer as it is when a job's turn has come: what it takes as
        feasible depends on the tasks before."""
        scorer = ReleasedScorer(self._same)
        for task in self._order:
            scorer.allow(self._references(task))
            if task.id == job.task.id and job.repeat == 1:
                break
        return scorer

    def _references(self, task: Task) -> list[list[Call]]:
        if task.id not in self._chains:
            self._chains[task.id] = references(task)
        return self._chains[task.id]
