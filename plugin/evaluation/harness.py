# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs methods over tasks, each run in a project of its own, keeps what was made and grades it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osgeo import gdal
from qgis.PyQt.QtCore import QEventLoop

from ..agent.event import Status
from ..llm.base import ModelError
from .endpoint import Endpoint
from .errand import Errand, Errands
from .job import Job, Pool, jobs
from .method import AnyMethod
from .result import ResultFile, entry
from .score import Scores
from .source import SourceError, missing_sources
from .task import Task
from .trial import Found, Rules, RunStopped, Trial

CLOSING_OPTIONS = {"GDAL_PAM_ENABLED": "NO"}
ROOM = 16 * 1024 * 1024
"""Bytes that the disk of the results has to have free after a run that failed."""

Ended = Callable[["BaseException | None"], None]


@dataclass(frozen=True)
class Plan:
    """What to run and where to keep it.

    `data` is the folder that sources are relative to, `asked` the name of the model asked for
    ("" is the server's first); a run over `token_cap` evaluated tokens or `seconds_cap` seconds
    counts as failed (0 is no cap); repeat n uses the seed `seed` + n. `endpoints`, where there are
    any, share the runs and have the same methods.
    """

    tasks: tuple[Task, ...]
    methods: tuple[AnyMethod, ...]
    data: Path
    out: Path
    repeats: int = 1
    asked: str = ""
    seed: int = 7
    token_cap: int = 6000
    seconds_cap: float = 180.0
    endpoints: tuple[Endpoint, ...] = ()


@contextmanager
def closed_inputs() -> Iterator[None]:
    """Keep GDAL from writing files beside what it reads, and restore its options afterwards."""
    before = {name: gdal.GetConfigOption(name) for name in CLOSING_OPTIONS}
    for name, value in CLOSING_OPTIONS.items():
        gdal.SetConfigOption(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            gdal.SetConfigOption(name, value)


class Harness:
    """Runs a plan. Use it on the main thread, where the projects and their layers live; what
    takes long is done in the background, so that the window goes on.

    Each endpoint takes the next run as soon as it is free; one that has ended gives its run back
    to the others, and `down` says by its address why.
    """

    def __init__(
        self,
        plan: Plan,
        on_run: Callable[[dict[str, Any], int, int], None] = lambda run, done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """`on_run` gets each finished entry, the number of runs done, and that of all."""
        self._plan = plan
        self._on_run = on_run
        self._asked_to_stop = cancelled
        self._endpoints = plan.endpoints or (Endpoint("", plan.methods),)
        self._jobs = jobs(plan.tasks, [one.name for one in plan.methods], plan.repeats)
        self._scores = Scores(self._jobs)
        self._errands = Errands()
        self._open = ExitStack()
        self._working: set[str] = set()
        self._fault: BaseException | None = None
        self._stopped = self._is_told = False
        self.down: dict[str, ModelError] = {}

    def run(self) -> Path:
        """Run what is not finished yet and return the path of the results file.

        Raises SourceError when data are missing, ResultError for a broken results file, ModelError
        when no server is left to ask, OSError when OUT cannot be written. When stopped it returns
        early; unfinished runs are not counted.
        """
        loop = QEventLoop()
        ends: list[BaseException | None] = []

        def ended(error: BaseException | None) -> None:
            ends.append(error)
            loop.quit()

        self.begin(ended)
        if not ends:
            loop.exec()
        if ends[0] is not None:
            raise ends[0]
        return self._results.path

    def begin(self, ended: Ended) -> None:
        """Do the same without waiting; `ended` gets the error of `run` or None.

        What hinders the beginning is raised at once.
        """
        absent = missing_sources(self._plan.tasks, self._plan.data)
        if absent:
            raise SourceError("Data are missing: " + "; ".join(absent))
        self._plan.out.mkdir(parents=True, exist_ok=True)
        order = [job.key for job in self._jobs]
        self._results = ResultFile(self._plan.out / "results.json", order)
        asked = self._plan.asked
        left = [job for job in self._jobs if not self._results.finished(job.key, asked)]
        self._pool, self._done = Pool(left), len(self._jobs) - len(left)
        self._ended = ended
        self._open.enter_context(closed_inputs())
        self._working = {one.address for one in self._endpoints}
        for one in self._endpoints:
            self._take_up(one)

    def close(self, seconds: float) -> bool:
        """Stop, and let what runs reach its end; false when it did not within `seconds`."""
        self._stopped = True
        return self._errands.close(seconds)

    def _is_stopped(self) -> bool:
        return self._stopped or self._fault is not None or self._asked_to_stop()

    # -- the endpoints

    def _take_up(self, endpoint: Endpoint) -> None:
        self._working.add(endpoint.address)
        self._errands.begin(
            self._served(endpoint), lambda _value, error: self._let_go(endpoint, error)
        )

    def _served(self, endpoint: Endpoint) -> Errand[None]:
        """Do one run after another with an endpoint. Raises ModelError when it has ended."""
        while self._pool and not self._is_stopped():
            job = self._pool.take()
            try:
                run = yield from self._run_one(job, endpoint)
            except RunStopped:
                return
            except ModelError:
                self._pool.give_back(job)
                raise
            self._results.add(run)
            self._done += 1
            self._on_run(run, self._done, len(self._jobs))

    def _let_go(self, endpoint: Endpoint, error: BaseException | None) -> None:
        """Take note that an endpoint has nothing to do, or has ended; others go on."""
        self._working.discard(endpoint.address)
        if isinstance(error, ModelError):
            self.down[endpoint.address] = error
        elif error is not None:
            self._fault = self._fault or error
        alive = [one for one in self._endpoints if one.address not in self.down]
        if self._pool and not self._is_stopped():
            for one in alive:
                if one.address not in self._working:
                    self._take_up(one)
        if not self._working and not self._is_told:
            self._finish()

    def _finish(self) -> None:
        self._is_told = True
        self._open.close()
        lost = bool(self._pool) and not self._is_stopped() and self.down
        self._ended(self._fault or (list(self.down.values())[-1] if lost else None))

    # -- one run

    def _run_one(self, job: Job, endpoint: Endpoint) -> Errand[dict[str, Any]]:
        plan = self._plan
        method = next(one for one in endpoint.methods if one.name == job.method)
        folder = self._fresh_folder(job)
        rules = Rules(plan.data, plan.token_cap, plan.seconds_cap, self._is_stopped)
        found = yield from Trial(job.task, method, plan.seed + job.repeat, folder, rules).run()
        self._look_for_room(found)
        joules = found.joules if len(self._endpoints) == 1 else None
        measured = self._scores.measured(job, found, joules)
        turns = zip(job.task.turns, found.turns)
        return entry(
            job.key,
            plan.asked,
            found.record,
            found.grade,
            found.outputs,
            found.error,
            measured,
            [one.as_json(turn.question) for turn, one in turns],
        )

    def _look_for_room(self, found: Found) -> None:
        """Tell a run that failed from a full disk. Raises OSError for the latter."""
        free = shutil.disk_usage(self._plan.out).free
        failed = any(one.record.get("status") == Status.FAILED.value for one in found.turns)
        if failed and free < ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._plan.out))

    def _fresh_folder(self, job: Job) -> Path:
        folder = self._plan.out / "runs" / f"{job.task.id}.{job.method}.{job.repeat}"
        if folder.exists():
            shutil.rmtree(folder)
        (folder / "files").mkdir(parents=True)
        return folder


def chosen(tasks: Sequence[Task], ids: str) -> tuple[Task, ...]:
    """Return the tasks named in a list separated by commas; "" is all. Raises ValueError."""
    wanted = [name.strip() for name in ids.split(",") if name.strip()]
    unknown = sorted(set(wanted) - {task.id for task in tasks})
    if unknown:
        raise ValueError(f"No such task: {', '.join(unknown)}.")
    return tuple(task for task in tasks if not wanted or task.id in wanted)
