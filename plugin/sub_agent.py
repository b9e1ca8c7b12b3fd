# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent of an abstract step: the chat's own engine, with the step's objective and few tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tools.base import LastingError, LayerProfile, MendableError, ToolCancelled, ToolResult
from ..tools.toolbox import ProjectToolbox
from .agent.chat import Chat
from .agent.event import RunFinished, RunStarted, Status
from .assembly import make_agent
from .llm.base import ModelError, RunCancelled, Speaker
from .restricted import RestrictedToolbox
from .settings import Settings
from .workflow.assignment import Assignment, Done


class StepAgent:
    """Carries out abstract steps; implements workflow.assignment.SubAgent.

    `shared` lets all steps of a run go on in one chat, as the papers' agents do.
    """

    def __init__(
        self,
        toolbox: ProjectToolbox,
        speaker: Speaker,
        settings: Settings,
        shared: bool = False,
    ) -> None:
        self._toolbox = toolbox
        self._speaker = speaker
        self._settings = settings
        self._chat = Chat() if shared else None

    def carry_out(
        self,
        assignment: Assignment,
        emit: Callable[[Any], None],
        cancelled: Callable[[], bool],
    ) -> Done:
        """Do the work of a step on the calling thread.

        Raises MendableError where the agent found no way, LastingError for the model's faults,
        ToolCancelled.
        """
        box = RestrictedToolbox(
            self._toolbox, [one.name for one in assignment.tools], _shown(assignment)
        )
        agent = make_agent(box, self._speaker, self._settings)
        chat = Chat() if self._chat is None else self._chat
        end: RunFinished | None = None
        try:
            for event in agent.run(chat, _objective(assignment), cancelled, emit):
                if isinstance(event, RunFinished):
                    end = event
                elif not isinstance(event, RunStarted):
                    emit(event)
        except ModelError as error:
            raise LastingError(error.message) from error
        except RunCancelled as error:
            raise ToolCancelled() from error
        if end is None or end.status is Status.CANCELLED:
            raise ToolCancelled()
        if end.status is not Status.OK:
            raise MendableError(end.reason or end.answer)
        return Done(_result(box, end), tuple(box.calls))


def _objective(assignment: Assignment) -> str:
    """Return the objective with what the steps before it gave."""
    given = [
        f"{key} gave {result.text}" for key, result in assignment.results.items() if result.text
    ]
    return "\n".join([assignment.vertex.objective, *given])


def _shown(assignment: Assignment) -> Callable[[LayerProfile], bool]:
    """Let the agent see the layers that its step depends on, else those that the objective names,
    else all of the project's own."""
    given = {one.id for result in assignment.results.values() for one in result.layers}
    shorts = {result.id for result in assignment.results.values() if result.speaks}
    text = assignment.vertex.objective.casefold()

    def shown(layer: LayerProfile) -> bool:
        if layer.id in given or (layer.short and layer.short in shorts):
            return True
        named = layer.key.casefold() in text
        return named or (not given and not shorts and not layer.short)

    return shown


def _result(box: RestrictedToolbox, end: RunFinished) -> ToolResult:
    """Return the last result that the agent made, else what it said."""
    if box.made:
        return box.made[-1]
    numbers = {} if end.value is None else {"value": end.value}
    return ToolResult(end.answer, numbers=numbers, units={"value": end.unit} if numbers else {})
