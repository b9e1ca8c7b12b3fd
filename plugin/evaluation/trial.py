# SPDX-License-Identifier: GPL-2.0-or-later
"""One run: a method meets a task in a project of its own; what it made is kept and graded."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qgis.core import QgsProject

from ..agent.event import CallFinished, Status
from ..llm.base import Cancelled, ModelError
from ..runner import RunTask
from .dialogue import State, joint_grade, joint_record, keep_states, state_of, undone_misses
from .energy import EnergyMeter
from .errand import Errand, Wait
from .grade import grade
from .keeper import Keeper, files_of
from .method import AnyMethod, Method, OnEvent, Talk, TalkingMethod, TaskMethod
from .outcome import Grade, Output
from .phase import PHASES
from .result import numbers
from .source import SourceError, changes, listing, open_project, question_of
from .task import Task
from .watch import Watch, as_json


class RunStopped(Exception):
    """The user stopped the evaluation while a run was in progress."""


@dataclass(frozen=True)
class Rules:
    """What holds for every run: the folder of the sources, the caps, and when to stop."""

    data: Path
    token_cap: int
    seconds_cap: float
    cancelled: Cancelled


@dataclass(frozen=True)
class TurnFound:
    """What one question gave."""

    record: Mapping[str, Any]
    grade: Grade
    outputs: tuple[Output, ...]
    error: str
    calls: tuple[CallFinished, ...]
    cost: float | None
    phases: Mapping[str, float]

    def as_json(self, question: str) -> dict[str, Any]:
        """Return the form of a dialogue's turn in the results file."""
        return {
            "question": question,
            "success": self.grade.success,
            "reasons": list(self.grade.reasons),
            **{key: self.record.get(key) for key in ("status", "answer", "value")},
            "outputs": [item.as_json() for item in self.outputs],
            "tokens": numbers(self.record.get("tokens"), _TOKENS),
            "seconds": numbers(self.record.get("seconds"), ("total",)),
            "error": self.error,
        }


_TOKENS = ("prompt", "cached", "evaluated", "generated")


@dataclass(frozen=True)
class Found:
    """What a run gave; `layers` are the names of the task's layers by their ids."""

    turns: tuple[TurnFound, ...]
    layers: Mapping[str, str]
    changed: tuple[str, ...]
    joules: float | None

    @property
    def record(self) -> dict[str, Any]:
        """The record of the question, or of all turns together."""
        return joint_record([one.record for one in self.turns])

    @property
    def error(self) -> str:
        """What went wrong besides wrong answers."""
        if self.changed:
            return f"The inputs changed: {', '.join(self.changed)}."
        return " ".join(one.error for one in self.turns if one.error)

    @property
    def grade(self) -> Grade:
        """How the run was judged."""
        grades = [one.grade for one in self.turns]
        judged = grades[0] if len(grades) == 1 else joint_grade(grades)
        return Grade(False, (self.error, *judged.reasons)) if self.error else judged

    @property
    def outputs(self) -> list[Output]:
        """Everything that was kept."""
        return [item for one in self.turns for item in one.outputs]

    @property
    def cost(self) -> float | None:
        """The dollars, None where they are not known."""
        known = [one.cost for one in self.turns if one.cost is not None]
        return sum(known) if known else None

    @property
    def phases(self) -> dict[str, float]:
        """The seconds of each phase."""
        return {name: round(sum(one.phases[name] for one in self.turns), 3) for name in PHASES}


class _Answers:
    """A method that answers one question at a time, as a talk: each question stands alone."""

    def __init__(self, method: Method, project: QgsProject, folder: Path, seed: int) -> None:
        self._method, self._given = method, (project, folder, seed)

    def ask(self, question: str, on_event: OnEvent, cancelled: Cancelled) -> Errand[dict[str, Any]]:
        """Answer at once."""
        yield from ()
        return self._method.answer(question, *self._given, on_event, cancelled)

    def close(self) -> None:
        """Hold nothing."""


class Trial:
    """One task, one method, one seed; files go into `folder`, which holds an empty "files"."""

    def __init__(
        self, task: Task, method: AnyMethod, seed: int, folder: Path, rules: Rules
    ) -> None:
        self._task, self._seed, self._folder, self._rules = task, seed, folder, rules
        if isinstance(method, TaskMethod):
            method = method.of_task(task, rules.data)
        self._method = method
        self._states: list[State] = []

    def run(self) -> Errand[Found]:
        """Run it. Raises ModelError when the server has ended, RunStopped, and OSError when
        something cannot be written."""
        task, data = self._task, self._rules.data
        before, meter = listing([task], data), EnergyMeter()
        try:
            project = open_project(task, data)
        except SourceError as error:
            turns, layers = (self._unopened(str(error)),), {}
        else:
            layers = {key: layer.name() for key, layer in project.mapLayers().items()}
            turns = yield from self._asked(project)
        changed = tuple(changes(before, listing([task], data)))
        found = Found(turns, layers, changed, meter.joules())
        text = json.dumps(as_json(found.record), ensure_ascii=False, indent=1)
        (self._folder / "record.json").write_text(text, encoding="utf-8")
        return found

    def _asked(self, project: QgsProject) -> Errand[tuple[TurnFound, ...]]:
        """Ask every turn in one project and one chat."""
        talk: Talk | None = None
        turns = []
        try:
            for number, part in enumerate(self._task.parts, 1):
                self._states.append(state_of(project))
                talk = talk or self._talk(project)
                turns.append((yield from self._turn(part, number, talk, project)))
            if self._task.turns:
                keep_states([*self._states, state_of(project)], self._folder)
        finally:
            if talk is not None:
                talk.close()
            project.clear()
        return tuple(turns)

    def _talk(self, project: QgsProject) -> Talk:
        files = self._folder / "files"
        if isinstance(self._method, TalkingMethod):
            return self._method.talk(project, files, self._seed)
        return _Answers(self._method, project, files, self._seed)

    def _turn(self, part: Task, number: int, talk: Talk, project: QgsProject) -> Errand[TurnFound]:
        watch = self._watch(part)
        place = self._folder / f"turn{number}" if self._task.turns else self._folder
        keeper = Keeper(project, place)
        try:
            record, fault = yield from self._answered(part, talk, watch)
            outputs = yield from keeper.keep(files_of(record))
        finally:
            watch.close()
        if watch.broken is not None:
            raise watch.broken
        judged = yield from self._graded(part, record, outputs)
        if "undone" in part.expect:
            misses = undone_misses(self._states, state_of(project), part.expect["undone"])
            judged = Grade(judged.success and not misses, (*judged.reasons, *misses))
        return self._found(record, judged, outputs, fault or " ".join(keeper.faults), watch)

    def _watch(self, part: Task) -> Watch:
        rules = self._rules
        caps = (rules.token_cap, rules.seconds_cap)
        question = question_of(part, rules.data)
        return Watch(self._folder / "events.jsonl", question, *caps, rules.cancelled)

    def _answered(self, part: Task, talk: Talk, watch: Watch) -> Errand[tuple[dict[str, Any], str]]:
        """Return the record and, for a crash or an excess, what happened."""
        question = question_of(part, self._rules.data)
        try:
            record = yield from talk.ask(question, watch.note, watch.cancelled)
        except ModelError:
            raise
        except Exception as error:  # a method that crashes counts as failed; its trace is kept
            path = self._folder / "trace.txt"
            path.write_text(traceback.format_exc(), encoding="utf-8")
            said = f"{type(error).__name__}: {error}"
            return watch.failure(said), said
        if record.get("status") == Status.CANCELLED.value and self._rules.cancelled():
            raise RunStopped
        excess = watch.excess(numbers(record.get("tokens"), ("evaluated",))["evaluated"])
        if excess:
            record = {**record, "status": Status.FAILED.value, "reason": excess}
        return record, excess

    @staticmethod
    def _graded(part: Task, record: Mapping[str, Any], outputs: list[Output]) -> Errand[Grade]:
        """Judge on a worker, since outputs may be large."""
        judged: list[Grade] = []

        def work(emit: Callable[[Any], None], stopped: Cancelled) -> None:
            judged.append(grade(part.expect, record, outputs))

        yield Wait(RunTask("Geo-OLM", work))
        return judged[0]

    @staticmethod
    def _found(
        record: dict[str, Any], judged: Grade, outputs: list[Output], fault: str, watch: Watch
    ) -> TurnFound:
        total = numbers(record.get("seconds"), ("total",))["total"]
        calls, phases = tuple(watch.calls), watch.phases.split(total)
        return TurnFound(record, judged, tuple(outputs), fault, calls, watch.cost, phases)

    def _unopened(self, said: str) -> TurnFound:
        """Return what stands for a task whose data cannot be opened."""
        watch = self._watch(self._task)
        watch.close()
        record = watch.failure(said)
        return self._found(record, Grade(False, (said,)), [], said, watch)
