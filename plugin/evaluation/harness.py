# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs methods over tasks, each run in a project of its own, keeps what was made and grades it."""

from __future__ import annotations

import json
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
from .grade import grade
from .keeper import Keeper, files_of
from .method import Method, TaskMethod
from .outcome import Grade, Output
from .result import ResultFile, entry, numbers
from .source import SourceError, changes, listing, missing_sources, open_project, question_of
from .task import Task
from .watch import Watch, as_json

CLOSING_OPTIONS = {"GDAL_PAM_ENABLED": "NO"}


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
        record, outputs, error = self._answered(task, method, repeat, folder)
        judged = grade(task.expect, record, outputs)
        changed = changes(before, listing([task], self._plan.data))
        if changed:
            error = f"The inputs changed: {', '.join(changed)}."
        if error:
            judged = Grade(False, (error, *judged.reasons))
        text = json.dumps(as_json(record), ensure_ascii=False, indent=1)
        (folder / "record.json").write_text(text, encoding="utf-8")
        key = (task.id, method.name, repeat)
        return entry(key, self._plan.asked, record, judged, outputs, error)

    def _fresh_folder(self, task: Task, method: Method, repeat: int) -> Path:
        folder = self._plan.out / "runs" / f"{task.id}.{method.name}.{repeat}"
        if folder.exists():
            shutil.rmtree(folder)
        (folder / "files").mkdir(parents=True)
        return folder

    def _answered(
        self, task: Task, method: Method, repeat: int, folder: Path
    ) -> tuple[dict[str, Any], list[Output], str]:
        """Return the record, the kept outputs, and what went wrong besides a wrong answer."""
        question = question_of(task, self._plan.data)
        caps = (self._plan.token_cap, self._plan.seconds_cap)
        watch = Watch(folder / "events.jsonl", question, *caps, self._cancelled)
        try:
            project = open_project(task, self._plan.data)
        except SourceError as error:
            watch.close()
            return watch.failure(str(error)), [], str(error)
        if isinstance(method, TaskMethod):
            method = method.of_task(task, self._plan.data)
        keeper = Keeper(project, folder)
        try:
            record, fault = self._asked(method, question, project, repeat, folder, watch)
            outputs = keeper.keep(files_of(record))
            return record, outputs, fault or " ".join(keeper.faults)
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
