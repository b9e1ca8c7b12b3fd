# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers a question by a plan that is checked before it runs, else state by state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..tools.toolbox import ProjectToolbox
from .agent.chat import Chat
from .agent.event import CallFinished, Notice, RunFinished, RunStarted, Status
from .assembly import make_agent
from .llm.base import Cancelled
from .llm.speaker import ModelSpeaker
from .plan_run import PlanRun, Spent
from .plan_work import question_check
from .settings import Settings
from .workflow.graph import Graph, Vertex

_NO_PLAN = "No plan held for this question, so it was worked on step by step."
Emit = Callable[[Any], None]


class Answerer:
    """Answers the questions of a chat over one toolbox; call it on a worker thread.

    A question is planned first: its graph is checked and mended before anything runs. One whose
    plan does not hold goes through the states of the Geo-OLM paper. Nothing is raised for what a
    model, a server or a tool does, and the last event is always a RunFinished.
    """

    def __init__(self, toolbox: ProjectToolbox, speaker: ModelSpeaker, settings: Settings) -> None:
        self._toolbox, self._speaker, self._settings = toolbox, speaker, settings
        self._agent = make_agent(toolbox, speaker, settings)

    def answer(self, chat: Chat, question: str, emit: Emit, cancelled: Cancelled) -> None:
        """Answer one question; `emit` gets the events, from several threads."""
        if not self._is_planned(question):
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

    def _is_planned(self, question: str) -> bool:
        """Tell whether a question is planned first: all are but those that take something back."""
        return (
            self._settings.plan_first
            and any(not one.short for one in self._toolbox.layers())
            and not self._agent.prompts.undoes(question)
        )

    def _warn(self, question: str, calls: list[Vertex], emit: Emit) -> None:
        """Say what a question names and no call used, so that the user checks the result."""
        for one in question_check(self._toolbox)(Graph(question, tuple(calls))):
            emit(Notice(f"{one.message} Check the result.", warning=True))

    def _by_states(
        self, chat: Chat, question: str, emit: Emit, cancelled: Cancelled, spent: Spent
    ) -> None:
        """Let the state machine answer; `spent` is what a plan took before it."""
        agent, cap = self._agent, self._agent.limits.tokens
        if cap:
            left = cap - spent.usage.evaluated - spent.usage.generated
            agent = replace(agent, limits=replace(agent.limits, tokens=max(left, 1)))
        calls: list[Vertex] = []
        for event in agent.run(chat, question, cancelled, emit):
            if isinstance(event, CallFinished) and event.ok:
                calls.append(Vertex(event.call_id, tool=event.tool, parameters=event.arguments))
            if isinstance(event, RunFinished):
                if event.status is Status.OK and not agent.prompts.refers(question):
                    self._warn(question, calls, emit)
                chat.planning.add_plain(question, event.answer)
                emit(replace(event, **spent.with_those_of(event)))
            elif not (isinstance(event, RunStarted) and spent.has_begun):
                emit(event)
