# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers a question by a plan that is checked before it runs, else state by state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..tools.base import LayerProfile
from ..tools.toolbox import ProjectToolbox
from .agent import prompt
from .agent.chat import Chat
from .agent.event import Notice, RunFinished, RunStarted
from .assembly import make_agent
from .llm.base import Cancelled
from .llm.speaker import ModelSpeaker
from .plan_run import PlanRun, Spent
from .settings import Settings

_NO_PLAN = "No plan held for this question, so it was worked on step by step."
Emit = Callable[[Any], None]


class Answerer:
    """Answers the questions of a chat over one toolbox; call it on a worker thread.

    A question that stands by itself is planned first: its graph is checked and mended before
    anything runs. One that speaks of earlier results, and one whose plan does not hold, goes
    through the states of the Geo-OLM paper. Nothing is raised for what a model, a server or a
    tool does, and the last event is always a RunFinished.
    """

    def __init__(self, toolbox: ProjectToolbox, speaker: ModelSpeaker, settings: Settings) -> None:
        self._toolbox, self._speaker, self._settings = toolbox, speaker, settings
        self._agent = make_agent(toolbox, speaker, settings)

    def answer(self, chat: Chat, question: str, emit: Emit, cancelled: Cancelled) -> None:
        """Answer one question; `emit` gets the events, from several threads."""
        layers = self._toolbox.layers()
        if not self._is_planned(chat, question, layers):
            self._by_states(chat, question, emit, cancelled, Spent())
            return
        run = PlanRun(
            self._toolbox,
            self._speaker,
            self._settings,
            self._agent,
            chat,
            question,
            emit,
            cancelled,
        )
        end = run.end()
        if end is not None:
            emit(end)
            return
        if self._toolbox.has_changed():
            self._toolbox.undo_turn()
        emit(Notice(_NO_PLAN))
        self._by_states(chat, question, emit, cancelled, run.spent())

    def _is_planned(self, chat: Chat, question: str, layers: tuple[LayerProfile, ...]) -> bool:
        """Tell whether a question stands by itself: the first of a chat does, a later one if it
        begins with no word that refers to another and names a layer of the project."""
        own = [one for one in layers if not one.short]
        if not self._settings.plan_first or not own:
            return False
        if not chat.turns or not any(one.short for one in layers):
            return True
        return not self._agent.prompts.refers(question) and prompt.names_layer(question, own)

    def _by_states(
        self, chat: Chat, question: str, emit: Emit, cancelled: Cancelled, spent: Spent
    ) -> None:
        """Let the state machine answer; `spent` is what a plan took before it."""
        agent, cap = self._agent, self._agent.limits.tokens
        if cap:
            left = cap - spent.usage.evaluated - spent.usage.generated
            agent = replace(agent, limits=replace(agent.limits, tokens=max(left, 1)))
        for event in agent.run(chat, question, cancelled, emit):
            if isinstance(event, RunFinished):
                emit(replace(event, **spent.with_those_of(event)))
            elif not (isinstance(event, RunStarted) and spent.has_begun):
                emit(event)
