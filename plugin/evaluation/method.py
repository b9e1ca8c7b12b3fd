# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured: a method answers a question in a project and gives back a record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from qgis.core import QgsProject

from ..agent.event import Event, Status
from ..llm.base import Cancelled, NoModel
from ..settings import Settings
from .gold import GoldMethod
from .task import Task

OnEvent = Callable[[Event], None]


class Method(Protocol):
    """A way to answer questions.

    `answer` returns the record of a question (contract), calls `on_event` for every event, and
    ends soon after `cancelled` turns true. It is called on the main thread.
    """

    name: str

    def answer(
        self,
        question: str,
        project: QgsProject,
        output_folder: Path,
        seed: int,
        on_event: OnEvent,
        cancelled: Cancelled,
    ) -> dict[str, Any]:
        """Answer one question; files go into `output_folder`, an empty folder.

        Raises ModelError when there is no model to ask, which ends the evaluation.
        """


@runtime_checkable
class TaskMethod(Protocol):
    """A method that has to know the task itself, not its question alone."""

    def of_task(self, task: Task, data: Path) -> Method:
        """Return the method for one task, whose sources are relative to `data`."""


class GeoOlmMethod:
    """The plugin's own agent, as the chat uses it."""

    name = "geo-olm"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def answer(
        self,
        question: str,
        project: QgsProject,
        output_folder: Path,
        seed: int,
        on_event: OnEvent,
        cancelled: Cancelled,
    ) -> dict[str, Any]:
        """Answer with the session's agent. Raises NoModel when no model took up the question."""
        from ..session import answer_question

        settings = replace(self._settings, seed=seed)
        record = answer_question(
            question, project, settings, str(output_folder), on_event, cancelled
        )
        if record["status"] == Status.FAILED.value and not record["model"]["name"]:
            raise NoModel(record["reason"])
        return record


METHODS: dict[str, Callable[[Settings], Method]] = {
    GeoOlmMethod.name: GeoOlmMethod,
    GoldMethod.name: GoldMethod,
}


class MethodError(Exception):
    """A method is not known; the message lists those that are."""


def methods_named(names: str, settings: Settings) -> list[Method]:
    """Make the methods of a list separated by commas. Raises MethodError."""
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in wanted if name not in METHODS]
    if unknown or not wanted:
        said = ", ".join(unknown) or "no name"
        raise MethodError(f"Unknown method: {said}. Known are {', '.join(METHODS)}.")
    return [METHODS[name](settings) for name in wanted]
