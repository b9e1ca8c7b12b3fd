# SPDX-License-Identifier: GPL-2.0-or-later
"""The method that plays a task's gold chains through the tools, and is graded like any other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qgis.core import QgsProject

from ...tools.base import LayerReference, ToolCancelled, ToolDefinition, ToolError, ToolResult
from ...tools.toolbox import ProjectToolbox
from ..agent.event import CallFinished, CallStarted, Event, RunFinished, RunStarted, Status
from ..llm.base import Cancelled
from ..record import Recorder
from ..runner import MainThread, RunTask
from ..settings import Settings
from .errand import Errand, Wait
from .gold_layer import GoldError
from .gold_reference import Book
from .gold_step import Call, Closing, StepReader, steps_of
from .oracle import equipped
from .task import Task


class GoldMethod:
    """Plays the chains that a task holds; made anew for each task by `of_task`."""

    name = "gold"

    def __init__(self, settings: Settings, task: Task | None = None, data: Path = Path()) -> None:
        self._settings, self._task, self._data = settings, task, data

    def of_task(self, task: Task, data: Path) -> GoldMethod:
        """Return the method that plays this task; `data` is the folder of its sources."""
        return GoldMethod(self._settings, task, data)

    def talk(self, project: QgsProject, output_folder: Path, seed: int) -> GoldTalk:
        """Begin to play over a project. Main thread only."""
        if self._task is None:
            raise GoldError("The gold method plays tasks; it answers no other question.")
        main = MainThread()
        toolbox = equipped(project, self._settings, main)
        toolbox.use_folders(output_folder, (self._data,))
        return GoldTalk(self._task.parts, self._data, project, toolbox, main)


class GoldTalk:
    """The chains of a task, one for each question, played in one project."""

    def __init__(
        self,
        parts: Sequence[Task],
        data: Path,
        project: QgsProject,
        toolbox: ProjectToolbox,
        main: MainThread,
    ) -> None:
        self._parts = iter(parts)
        self._toolbox, self._main = toolbox, main
        self._player = _Player(data, project, toolbox, main.call)

    def ask(
        self, question: str, on_event: Callable[[Event], None], cancelled: Cancelled
    ) -> Errand[dict[str, Any]]:
        """Play every step, on a worker; a step that fails ends the run as failed."""
        part = next(self._parts)
        recorder = Recorder(question)
        self._toolbox.begin_turn(question)

        def note(event: Event) -> None:
            recorder.note(event)
            on_event(event)

        task = RunTask("Geo-OLM", lambda emit, stopped: self._player.play(part, emit, stopped))
        task.told.connect(note)
        yield Wait(task, cancelled)
        return recorder.record()

    def close(self) -> None:
        """Let go of the project's layers."""
        self._toolbox.close()


class _Player:
    """Plays chains in one project; later ones know what earlier ones gave."""

    def __init__(
        self,
        data: Path,
        project: QgsProject,
        toolbox: ProjectToolbox,
        call: Callable[[Callable[[], Any]], Any],
    ) -> None:
        self._project = project
        self._toolbox = toolbox
        self._call = call
        self._book = Book(project, call)
        definitions = {one.name: one for one in toolbox.definitions()}
        self._reader = StepReader(definitions, self._book, data, self._open)
        self._definitions: dict[str, ToolDefinition] = definitions
        self._closing = Closing()
        self._results: list[ToolResult] = []
        self._seconds = 0.0
        self._number = 0
        self._emit: Callable[[Event], None] = lambda event: None
        self._cancelled: Cancelled = lambda: False

    def play(self, task: Task, emit: Callable[[Event], None], cancelled: Cancelled) -> None:
        """Play the steps of a task in order and tell each call and the end."""
        began = time.monotonic()
        self._emit, self._cancelled = emit, cancelled
        self._closing, self._results, self._seconds = Closing(), [], 0.0
        steps = steps_of(task)
        emit(RunStarted(task.question, GoldMethod.name, "", (), len(steps)))
        try:
            if not steps:
                raise GoldError(f"Task {task.id} has no gold chain.")
            self._play(steps)
            status, said = self._closing.status, self._closing.text
        except ToolCancelled:
            status, said = Status.CANCELLED, "Stopped."
        except GoldError as error:
            status, said = Status.FAILED, str(error)
        except ToolError as error:
            status, said = Status.FAILED, error.message
        total = time.monotonic() - began
        emit(self._ended(status, said, total))

    def _play(self, steps: Sequence[Mapping[str, Any]]) -> None:
        for number, step in enumerate(steps, 1):
            try:
                read = self._reader.read(step)
                if isinstance(read, Closing):
                    self._closing = read
                    continue
                self._bind(step, read, self._run(read))
            except GoldError as error:
                raise GoldError(f"Step {number}: {error}") from error
            except ToolError as error:
                raise GoldError(f"Step {number}: {error.message}") from error

    def _open(self, source: str) -> str:
        """Open a source by the tool for it; it goes by its own name from then on."""
        result = self._run(Call("add_layer", {"source": source}))
        self._book.bind(source, result, result.layers[0].id)
        return result.layers[0].id

    def _run(self, call: Call) -> ToolResult:
        name, arguments = call.tool, call.arguments
        self._number += 1
        number, emit, cancelled = self._number, self._emit, self._cancelled
        label = self._definitions[name].label if name in self._definitions else name
        identity, began = f"gold{number}", time.monotonic()
        emit(CallStarted(identity, name, label, "", arguments, number))
        result, error = None, ""
        try:
            result = self._toolbox.run(name, arguments, lambda percent: None, cancelled)
        except ToolError as failed:
            error = failed.message
            raise
        finally:
            seconds = time.monotonic() - began
            self._seconds += seconds
            ok = result is not None
            emit(CallFinished(identity, name, arguments, ok, error, seconds, result, not ok))
        self._results.append(result)
        return result

    def _bind(self, step: Mapping[str, Any], call: Call, result: ToolResult) -> None:
        """Give the result its name, its main layer too, and the file that it wrote."""
        layer_id = result.layers[0].id if result.layers else call.layer_id
        given = step.get("as", "")
        named = dict(given) if isinstance(given, Mapping) else {"": given}
        for output, name in named.items():
            made = result.outputs.get(output, "") if output else layer_id
            if name:
                self._book.bind(str(name), result, made)
            if name and made and result.layers:
                self._call(lambda made=made, name=name: self._rename(made, str(name)))
        for file in call.files:
            self._book.bind(file, result, layer_id)

    def _rename(self, layer_id: str, name: str) -> None:
        layer = self._project.mapLayer(layer_id)
        if layer is not None:
            layer.setName(name)

    def _ended(self, status: Status, said: str, total: float) -> RunFinished:
        layers: dict[str, LayerReference] = {}
        for result in self._results:
            layers.update({one.id: one for one in result.layers})
        files = dict.fromkeys(path for result in self._results for path in result.files)
        ok = status is Status.OK
        return RunFinished(
            status,
            said,
            self._closing.number if ok else None,
            "",
            "" if ok else said,
            tuple(layers.values()),
            tuple(files),
            seconds={"tools": self._seconds, "total": total},
        )
