# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's own planner as a method: the graph of a question is made first, then run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from qgis.core import QgsProject

from ..agent.event import CallProgress, Event, Status
from ..disclosure import Disclosure
from ..llm.base import Cancelled, RunCancelled
from ..plan_work import plan_and_run
from ..record import Recorder
from ..runner import MainThread, RunTask, wait
from ..session import ending, make_toolbox
from ..settings import Settings
from .contest import ModelSource, look_for_the_server
from .task import Task

PLAN = "plan"
"""The variant of our method that plans first."""


@dataclass(frozen=True)
class PlannedMethod:
    """Plans with the meta-agent and runs the graph, without another word of the model but where
    a step fails."""

    settings: Settings
    name: str

    def of_task(self, task: Task, data: Path) -> PlannedMethod:
        """Return the method for one task; files in the task's data folder may be read."""
        folders = "\n".join(filter(None, [self.settings.allowed_folders, str(data)]))
        return replace(self, settings=replace(self.settings, allowed_folders=folders))

    def answer(
        self,
        question: str,
        project: QgsProject,
        output_folder: Path,
        seed: int,
        on_event: Callable[[Event], None],
        cancelled: Cancelled,
    ) -> dict[str, Any]:
        """Plan and run on a worker. Raises ModelError when the server has ended."""
        settings = replace(self.settings, seed=seed, output_folder=str(output_folder))
        recorder, main, source = Recorder(question), MainThread(), ModelSource()
        toolbox = make_toolbox(project, settings, main)
        disclosure = Disclosure(toolbox.layers)

        def note(event: Any) -> None:
            disclosure.note(event)
            recorder.note(event)
            on_event(event)

        def work(emit: Callable[[Any], None], stopped: Cancelled) -> None:
            try:
                speaker = source.speaker(settings, emit, stopped, disclosure.known)
                recorder.model(speaker.card())
            except RunCancelled as error:
                emit(ending(error))
                return
            plan_and_run(question, toolbox, speaker, settings, emit, stopped)

        task = RunTask("Geo-OLM", work)
        task.told.connect(lambda event: None if isinstance(event, CallProgress) else note(event))
        try:
            wait(task, cancelled)
        finally:
            toolbox.close()
        if not recorder.has_ended:
            note(ending(RunCancelled()))
        record = recorder.record()
        if record["status"] == Status.FAILED.value:
            look_for_the_server(source, settings)
        return record
