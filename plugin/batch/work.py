# SPDX-License-Identifier: GPL-2.0-or-later
"""One batch from its inputs to its record: what is done already, what runs, what is gathered."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ..settings import Settings
from ..workflow.graph import Graph
from .cluster import Cluster, Plan
from .gathering import gathered
from .job import Ended, Job, key_of
from .state import State

_VERSION = 1
_MOST_WORKERS = 64


class Listener(Protocol):
    """Hears how a batch goes on; QgsProcessingFeedback's words."""

    def isCanceled(self) -> bool:
        """Tell whether the batch is to stop."""

    def setProgress(self, percent: float) -> None:
        """Take the share done."""

    def pushInfo(self, text: str) -> None:
        """Take a line."""

    def pushWarning(self, text: str) -> None:
        """Take a line about what went wrong."""


@dataclass
class _Tally:
    """How many jobs there are and how many ended, for the lines and the progress."""

    total: int
    done: int = 0


class Batch:
    """A batch over one folder. Blocks; any thread. Raises BatchError where nothing could run."""

    def __init__(
        self,
        graph: Graph,
        settings: Settings,
        plan: Plan,
        folder: Path,
        listener: Listener,
        on_workers: Callable[[dict[str, int]], None] = lambda _pids: None,
    ) -> None:
        self._graph, self._settings = graph, settings
        self._plan, self._listener = plan, listener
        self._on_workers = on_workers
        self._state = State(folder)
        self._ended: dict[str, Ended] = {}

    def run(self, jobs: Sequence[Job]) -> dict[str, Any]:
        """Run what is not done yet, gather the results and return the record."""
        began = time.monotonic()
        self._state.open()
        try:
            skipped = self._run(jobs)
            made = gathered(self._state, jobs, self._ended, self._listener)
        finally:
            self._state.close()
        listed = [self._told(job, job.id in skipped) for job in jobs]
        failed = [one for one in listed if one["status"] == "failed"]
        missing = [one for one in listed if one["status"] == "cancelled"]
        status = "cancelled" if missing else "failed" if failed else "ok"
        counts = {
            "total": len(jobs),
            "done": len(jobs) - len(failed) - len(missing),
            "skipped": len(skipped),
            "failed": len(failed),
        }
        return {
            "version": _VERSION,
            "question": self._graph.question,
            "status": status,
            **counts,
            "failures": [{key: one[key] for key in ("id", "place", "reason")} for one in failed],
            "jobs": listed,
            "outputs": [path.name for path in made.files],
            "remarks": list(made.remarks),
            "workers": self._plan.workers,
            "scheduler": self._plan.scheduler,
            "seconds": round(time.monotonic() - began, 3),
        }

    def _run(self, jobs: Sequence[Job]) -> set[str]:
        """Run the jobs that are not done; returns those that were."""
        tally = _Tally(len(jobs))
        waiting: list[tuple[Job, str]] = []
        for job in jobs:
            key = key_of(self._graph, job)
            found = self._state.finished(job.id, key)
            if found is None:
                waiting.append((job, key))
                self._ended[job.id] = Ended(job.id, key, "cancelled", "Stopped.")
            else:
                self._ended[job.id] = found
                tally.done += 1
        skipped = {job.id for job in jobs} - {job.id for job, _key in waiting}
        if skipped:
            self._listener.pushInfo(f"{len(skipped)} of {len(jobs)} jobs are done already.")
        self._listener.setProgress(100 * tally.done / tally.total)
        if waiting and not self._listener.isCanceled():
            self._on_cluster(waiting, tally)
        return skipped

    def _on_cluster(self, waiting: Sequence[tuple[Job, str]], tally: _Tally) -> None:
        def note(ended: Ended) -> None:
            if ended.status == "cancelled":
                return
            self._state.note(ended)
            self._ended[ended.id] = ended
            tally.done += 1
            again = f", {ended.attempts} attempts" if ended.attempts > 1 else ""
            line = f"{tally.done} of {tally.total}: {ended.id}: {ended.status}"
            line += f" ({ended.seconds:.1f} s{again})"
            if ended.reason:
                line += f" {ended.reason}"
            tell = self._listener.pushInfo if ended.is_done else self._listener.pushWarning
            tell(line)
            self._listener.setProgress(100 * tally.done / tally.total)

        cluster = Cluster(self._graph, self._settings, self._plan, self._state.folder)
        cluster.run(waiting, note, self._on_workers, self._listener.isCanceled)

    def _told(self, job: Job, skipped: bool) -> dict[str, Any]:
        ended = self._ended[job.id]
        told = {
            "id": job.id,
            "place": job.place,
            "variables": dict(job.variables),
            "status": ended.status,
            "reason": ended.reason,
            "skipped": skipped,
            "seconds": ended.seconds,
            "attempts": ended.attempts,
            "worker": ended.worker,
        }
        record: Mapping[str, Any] = {}
        if ended.is_done:
            record = self._state.record(job.id).get("record", {})
        return {**told, **{key: record.get(key) for key in ("answer", "value", "unit")}}


def plan_of(workers: int, scheduler: str) -> Plan:
    """Return how a batch runs; 0 workers are as many as the machine has processors, at most 4."""
    several = workers or min(4, os.cpu_count() or 1)
    return replace(Plan(), workers=max(1, min(several, _MOST_WORKERS)), scheduler=scheduler)
