# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured: a method answers questions in a project and gives back their records."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Union, runtime_checkable

from qgis.core import QgsProject

from ..agent.event import Event
from ..llm.base import Cancelled
from ..settings import Settings
from .contest import OWN, STATES, Contender
from .errand import Errand
from .fault_rate import asked_for
from .gold import GoldMethod
from .rival.catalog import EXPOSURES, RIVALS
from .task import Task

OnEvent = Callable[[Event], None]


class Method(Protocol):
    """A way to answer questions.

    `answer` returns the record of a question (contract), calls `on_event` for every event, and
    ends soon after `cancelled` turns true. It is called on the main thread, and holds it up; a
    method that asks a model is a TalkingMethod.
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


class Talk(Protocol):
    """A method at work over one project: it knows what was asked before."""

    def ask(self, question: str, on_event: OnEvent, cancelled: Cancelled) -> Errand[dict[str, Any]]:
        """Answer the next question as `Method.answer` does, without holding up the main thread."""

    def close(self) -> None:
        """Let go of the project."""


@runtime_checkable
class TalkingMethod(Protocol):
    """A method that works in the background, and can be asked one question after the other."""

    @property
    def name(self) -> str:
        """The name in the results."""

    def talk(self, project: QgsProject, output_folder: Path, seed: int) -> Talk:
        """Begin a chat over a project. Main thread only."""


AnyMethod = Union[Method, TalkingMethod]


@runtime_checkable
class TaskMethod(Protocol):
    """A method that has to know the task itself, not its question alone."""

    def of_task(self, task: Task, data: Path) -> AnyMethod:
        """Return the method for one task, whose sources are relative to `data`."""


METHODS: dict[str, Callable[[Settings], AnyMethod]] = {
    OWN: partial(Contender, name=OWN),
    GoldMethod.name: GoldMethod,
    **{name: partial(Contender, name=name) for name in RIVALS},
}


class MethodError(Exception):
    """A method is not known; the message lists those that are."""


def methods_named(names: str, settings: Settings) -> list[AnyMethod]:
    """Make the methods of a list separated by commas.

    "react+chat" chooses a variant of a method. A model called "faults:RATE" is no model: the
    scripted one then replies to every method but gold. Raises MethodError, and ValueError for
    rates that cannot be read.
    """
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not wanted:
        raise MethodError(f"Unknown method: no name. Known are {', '.join(METHODS)}.")
    return [_made(name, settings) for name in wanted]


def _made(name: str, settings: Settings) -> AnyMethod:
    base, plus, variant = name.partition("+")
    if base not in METHODS:
        raise MethodError(f"Unknown method: {name}. Known are {', '.join(METHODS)}.")
    ours = (*EXPOSURES, STATES) if base == OWN else ()
    variants = RIVALS[base].variants if base in RIVALS else ours
    if plus and variant not in variants:
        known = ", ".join(f"{base}+{one}" for one in variants)
        said = f"Known are {known}." if known else "It has none."
        raise MethodError(f"Unknown variant of {base}: {variant}. {said}")
    rates = asked_for(settings.model)
    if plus or (rates is not None and base != GoldMethod.name):
        return Contender(settings, name, rates)
    return METHODS[base](settings)
