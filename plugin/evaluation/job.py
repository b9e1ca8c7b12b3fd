# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of a plan in their order, shared among the model servers that do them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .task import Task

RunKey = tuple[str, str, int]
"""Task, method and repeat, as the results file knows a run."""


@dataclass(frozen=True)
class Job:
    """One run to do: `place` counts all runs of the plan from 0."""

    place: int
    task: Task
    method: str
    repeat: int

    @property
    def key(self) -> RunKey:
        """How the results file knows the run."""
        return self.task.id, self.method, self.repeat


def jobs(tasks: Sequence[Task], methods: Iterable[str], repeats: int) -> list[Job]:
    """Every task meets every method before it is repeated, so that an early end is fair."""
    wanted = [
        (task, method, repeat)
        for repeat in range(1, repeats + 1)
        for task in tasks
        for method in tuple(methods)
    ]
    return [Job(place, *one) for place, one in enumerate(wanted)]


class Pool:
    """The jobs that are left. Each server takes the next one as soon as it is free."""

    def __init__(self, left: Iterable[Job]) -> None:
        self._left = sorted(left, key=lambda one: one.place)

    def __bool__(self) -> bool:
        """Tell whether a job is left."""
        return bool(self._left)

    def take(self) -> Job:
        """Take the next job. Raises IndexError when none is left."""
        return self._left.pop(0)

    def give_back(self, job: Job) -> None:
        """Put back a job that could not be done; it is the next one again."""
        self._left = sorted([*self._left, job], key=lambda one: one.place)
