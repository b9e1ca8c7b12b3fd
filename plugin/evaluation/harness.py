# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs methods over tasks, each run in a project of its own, keeps what was made and grades it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osgeo import gdal
from qgis.core import QgsProject

from ..agent.event import Status
from ..llm.base import ModelError
from ..place import RESOURCES
from .correctness import ReleasedScorer, as_papers_define
from .energy import EnergyMeter
from .grade import grade
from .keeper import Keeper, files_of
from .method import Method, TaskMethod
from .outcome import Grade, Output
from .reference import made_calls, references
from .result import Measured, ResultFile, entry, numbers
from .same_call import SameCalls, load
from .source import SourceError, changes, listing, missing_sources, open_project, question_of
from .task import Task
from .watch import Watch, as_json

CLOSING_OPTIONS = {"GDAL_PAM_ENABLED": "NO"}
SAME_CALLS = RESOURCES / "evaluation" / "same_calls.json"
ROOM = 16 * 1024 * 1024
"""Bytes that the disk of the results has to have free after a run that failed."""


class RunStopped(Exception):
    """The user stopped the evaluation while a run was in progress."""


@dataclass(frozen=True)
class Plan:
    """What to run and where to keep it.

    `data` is the folder that sources are relative to, `asked` the name of the model asked for
    ("" is the server's first); a run over `token_cap` evaluated tokens or `seconds_cap` seconds
    counts as failed (0 is no cap); repeat n uses the seed `seed` + n.
    """

    tasks: tuple[Task, ...]
    methods: tuple[Method, ...]
    data: Path
    out: Path
    repeats: int = 1
    asked: str = ""
    seed: int = 7
    token_cap: int = 6000
    seconds_cap: float = 180.0


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
    """Runs a plan. Use it on the main thread, where the projects and their layers live."""

    def __init__(
        self,
        plan: Plan,
        on_run: Callable[[dict[str, Any], int, int], None] = lambda run, done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """`on_run` gets each finished entry, the number of runs done, and that of all."""
        self._plan = plan
        self._on_run = on_run
        self._cancelled = cancelled
        self._same: SameCalls = load(SAME_CALLS)
        self._released = {method.name: ReleasedScorer(self._same) for method in plan.methods}

    def run(self) -> Path:
        """Run what is not finished yet and return the path of the results file.

        Raises SourceError when data are missing, ResultError for a broken results file, ModelError
        when there is no model to ask, OSError when OUT cannot be written. When stopped it returns
        early; the unfinished run is not counted.
        """
        absent = missing_sources(self._plan.tasks, self._plan.data)
        if absent:
            raise SourceError("Data are missing: " + "; ".join(absent))
        self._plan.out.mkdir(parents=True, exist_ok=True)
        results = ResultFile(self._plan.out / "results.json")
        keys = self._keys()
        with closed_inputs():
            for done, (task, method, repeat) in enumerate(keys, 1):
                key = (task.id, method.name, repeat)
                if self._cancelled():
                    break
                self._released[method.name].allow(references(task))
                if results.finished(key, self._plan.asked):
                    continue
                try:
                    run = self._run_one(task, method, repeat)
                except RunStopped:
                    break
                results.add(run)
                self._on_run(run, done, len(keys))
        return results.path

    def _keys(self) -> list[tuple[Task, Method, int]]:
        """Every task meets every method before it is repeated, so that an early end is fair."""
        return [
            (task, method, repeat)
            for repeat in range(1, self._plan.repeats + 1)
            for task in self._plan.tasks
            for method in self._plan.methods
        ]

    def _run_one(self, task: Task, method: Method, repeat: int) -> dict[str, Any]:
        folder = self._fresh_folder(task, method, repeat)
        before = listing([task], self._plan.data)
        meter, watch = EnergyMeter(), self._watch(task, folder)
        record, outputs, error, layers = self._answered(task, method, repeat, folder, watch)
        self._look_for_room(record, watch)
        judged = grade(task.expect, record, outputs)
        changed = changes(before, listing([task], self._plan.data))
        if changed:
            error = f"The inputs changed: {', '.join(changed)}."
        if error:
            judged = Grade(False, (error, *judged.reasons))
        text = json.dumps(as_json(record), ensure_ascii=False, indent=1)
        (folder / "record.json").write_text(text, encoding="utf-8")
        measured = self._measured(task, method, record, watch, layers, meter)
        key = (task.id, method.name, repeat)
        return entry(key, self._plan.asked, record, judged, outputs, error, measured)

    def _watch(self, task: Task, folder: Path) -> Watch:
        question = question_of(task, self._plan.data)
        caps = (self._plan.token_cap, self._plan.seconds_cap)
        return Watch(folder / "events.jsonl", question, *caps, self._cancelled)

    def _look_for_room(self, record: dict[str, Any], watch: Watch) -> None:
        """Tell a run that failed from a full disk. Raises OSError for the latter."""
        if watch.broken is not None:
            raise watch.broken
        free = shutil.disk_usage(self._plan.out).free
        if record.get("status") == Status.FAILED.value and free < ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._plan.out))

    def _measured(
        self,
        task: Task,
        method: Method,
        record: dict[str, Any],
        watch: Watch,
        layers: dict[str, str],
        meter: EnergyMeter,
    ) -> Measured:
        """Score the calls, and gather what the run used; a task without a chain has no score."""
        total = numbers(record.get("seconds"), ("total",))["total"]
        joules, phases = meter.joules(), watch.phases.split(total)
        chains, cost = references(task), watch.cost
        if not chains:
            return Measured(cost=cost, energy=joules, phases=phases)
        calls = made_calls(watch.calls, layers, str(record.get("status")))
        return Measured(
            as_papers_define(calls, chains, self._same).value,
            self._released[method.name].score(calls, chains).value,
            cost,
            joules,
            phases,
        )

    def _fresh_folder(self, task: Task, method: Method, repeat: int) -> Path:
        folder = self._plan.out / "runs" / f"{task.id}.{method.name}.{repeat}"
        if folder.exists():
            shutil.rmtree(folder)
        (folder / "files").mkdir(parents=True)
        return folder

    def _answered(
        self, task: Task, method: Method, repeat: int, folder: Path, watch: Watch
    ) -> tuple[dict[str, Any], list[Output], str, dict[str, str]]:
        """Return the record, the kept outputs, what went wrong besides a wrong answer, and the
        names of the task's layers by their ids."""
        try:
            project = open_project(task, self._plan.data)
        except SourceError as error:
            watch.close()
            return watch.failure(str(error)), [], str(error), {}
        if isinstance(method, TaskMethod):
            method = method.of_task(task, self._plan.data)
        question = question_of(task, self._plan.data)
        layers = {key: layer.name() for key, layer in project.mapLayers().items()}
        keeper = Keeper(project, folder)
        try:
            record, fault = self._asked(method, question, project, repeat, folder, watch)
            outputs = keeper.keep(files_of(record))
            return record, outputs, fault or " ".join(keeper.faults), layers
        finally:
            watch.close()
            project.clear()

    def _asked(
        self,
        method: Method,
        question: str,
        project: QgsProject,
        repeat: int,
        folder: Path,
        watch: Watch,
    ) -> tuple[dict[str, Any], str]:
        """Return the record and, for a crash or an excess, what happened."""
        seed = self._plan.seed + repeat
        try:
            record = method.answer(
                question, project, folder / "files", seed, watch.note, watch.cancelled
            )
        except ModelError:
            raise
        except Exception as error:  # a method that crashes counts as failed; its trace is kept
            (folder / "trace.txt").write_text(traceback.format_exc(), encoding="utf-8")
            said = f"{type(error).__name__}: {error}"
            return watch.failure(said), said
        if record.get("status") == Status.CANCELLED.value and self._cancelled():
            raise RunStopped
        excess = watch.excess(numbers(record.get("tokens"), ("evaluated",))["evaluated"])
        if excess:
            record = {**record, "status": Status.FAILED.value, "reason": excess}
        return record, excess


def chosen(tasks: Sequence[Task], ids: str) -> tuple[Task, ...]:
    """Return the tasks named in a list separated by commas; "" is all. Raises ValueError."""
    wanted = [name.strip() for name in ids.split(",") if name.strip()]
    unknown = sorted(set(wanted) - {task.id for task in tasks})
    if unknown:
        raise ValueError(f"No such task: {', '.join(unknown)}.")
    return tuple(task for task in tasks if not wanted or task.id in wanted)
