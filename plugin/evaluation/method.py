# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured: a method answers a question in a project and gives back a record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from qgis.core import QgsProject

from ..agent.event import Event, Status
from ..llm.base import Cancelled, NoModel
from ..settings import Settings
from .contest import STATES, Contender, ModelSource, look_for_the_server
from .fault_rate import asked_for
from .gold import GoldMethod
from .rival.catalog import EXPOSURES, RIVALS
from .task import Task

OnEvent = Callable[[Event], None]


class Method(Protocol):
    """A way to answer questions.

    `answer` returns the record of a question (contract), calls `on_event` for every event, and
    ends soon after `cancelled` turns true. It is called on the main thread.
    """

    @property
    def name(self) -> str:
        """The name in the results."""

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
        if record["status"] == Status.FAILED.value:
            if not record["model"]["name"]:
                raise NoModel(record["reason"])
            look_for_the_server(ModelSource(), settings)
        return record

    def of_task(self, task: Task, data: Path) -> Method:
        """Return the method for one task; files in the task's data folder may be read."""
        folders = "\n".join(filter(None, [self._settings.allowed_folders, str(data)]))
        return GeoOlmMethod(replace(self._settings, allowed_folders=folders))


METHODS: dict[str, Callable[[Settings], Method]] = {
    GeoOlmMethod.name: GeoOlmMethod,
    GoldMethod.name: GoldMethod,
    **{name: partial(Contender, name=name) for name in RIVALS},
}


class MethodError(Exception):
    """A method is not known; the message lists those that are."""


def methods_named(names: str, settings: Settings) -> list[Method]:
    """Make the methods of a list separated by commas.

    "react+chat" chooses a variant of a method. A model called "faults:RATE" is no model: the
    scripted one then replies to every method but gold. Raises MethodError, and ValueError for
    rates that cannot be read.
    """
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not wanted:
        raise MethodError(f"Unknown method: no name. Known are {', '.join(METHODS)}.")
    return [_made(name, settings) for name in wanted]


def _made(name: str, settings: Settings) -> Method:
    base, plus, variant = name.partition("+")
    if base not in METHODS:
        raise MethodError(f"Unknown method: {name}. Known are {', '.join(METHODS)}.")
    ours = (*EXPOSURES, STATES) if base == GeoOlmMethod.name else ()
    variants = RIVALS[base].variants if base in RIVALS else ours
    if plus and variant not in variants:
        known = ", ".join(f"{base}+{one}" for one in variants)
        said = f"Known are {known}." if known else "It has none."
        raise MethodError(f"Unknown variant of {base}: {variant}. {said}")
    rates = asked_for(settings.model)
    if plus or (rates is not None and base != GoldMethod.name):
        return Contender(settings, name, rates)
    return METHODS[base](settings)
