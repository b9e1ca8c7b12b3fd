# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers a question by a plan that is checked before it runs, else state by state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..tools.base import ToolCancelled, ToolError
from ..tools.toolbox import ProjectToolbox
from .agent.chat import Chat, Turn
from .agent.event import (
    CallFinished,
    Notice,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
)
from .agent.message import ToolCall
from .agent.work import Work
from .approval import Approver, Intent
from .approval_judge import intents
from .assembly import make_agent
from .llm.base import Cancelled
from .llm.speaker import ModelSpeaker
from .plan_run import PlanRun, Spent, told_all
from .plan_work import question_check
from .settings import Settings
from .workflow.graph import Graph, Vertex

_UNDO = "undo"
_UNPLANNED = "The model made no plan that can be read. Ask in other words."
_NO_PLAN = "No plan held for this question, so it was worked on step by step."
Emit = Callable[[Any], None]


class Answerer:
    """Answers the questions of a chat over one toolbox; call it on a worker thread.

    A question is planned first: its graph is checked and mended before anything runs. One whose
    plan does not hold goes through the states of the Geo-OLM paper; one that only takes back what
    was done last needs no model. Nothing is raised for what a model, a server or a tool does, and
    the last event is always a RunFinished.
    """

    def __init__(
        self,
        toolbox: ProjectToolbox,
        speaker: ModelSpeaker,
        settings: Settings,
        approver: Approver | None = None,
    ) -> None:
        """`approver` is told of a plan before it runs."""
        self._toolbox, self._speaker, self._settings = toolbox, speaker, settings
        self._approver = approver
        self._agent = make_agent(toolbox, speaker, settings)

    def answer(
        self, chat: Chat, question: str, emit: Emit, cancelled: Cancelled, runs: bool = True
    ) -> None:
        """Answer one question; `emit` gets the events, from several threads. With `runs` off the
        plan is made and told (PlanMade), and nothing is run."""
        if self._agent.prompts.undoes(question):
            self._take_back(chat, question, emit, cancelled)
            return
        if runs and not self._is_planned():
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
            runs,
            lambda graph: self._announce(graph, cancelled),
        )
        end = run.end()
        if end is None and not runs:
            end = RunFinished(Status.FAILED, _UNPLANNED, reason=_UNPLANNED)
        if end is not None:
            emit(end)
            return
        if self._toolbox.has_changed():
            self._toolbox.undo_turn()
        emit(Notice(_NO_PLAN))
        self._by_states(chat, question, emit, cancelled, run.spent())

    def _announce(self, graph: Graph, cancelled: Cancelled) -> None:
        if self._approver is not None:
            self._approver.announce(intents(graph), cancelled)

    def _is_planned(self) -> bool:
        own = any(not one.short for one in self._toolbox.layers())
        return self._settings.plan_first and own

    def _take_back(self, chat: Chat, question: str, emit: Emit, cancelled: Cancelled) -> None:
        """Undo what was done last: that needs no judgement, so no model is asked."""
        began, agent, card = time.monotonic(), self._agent, self._speaker.card()
        stages = agent.workflow.stages
        emit(RunStarted(question, card.name, card.server.value, stages, agent.limits.steps))
        self._toolbox.begin_turn(question)
        if self._approver is not None:
            self._approver.grant([Intent(_UNDO)])
        emit(StageChanged(agent.workflow.home(_UNDO)))
        work = Work(self._toolbox, chat, agent.limits, cancelled, emit)
        try:
            done = told_all(work.run(ToolCall(f"undo{len(chat.turns):05d}", _UNDO, {})), emit)
            status, text = Status.OK, done.text
        except ToolCancelled:
            status, text = Status.CANCELLED, "Stopped before anything was taken back."
        except ToolError as error:
            status, text = Status.REJECTED, error.message
        emit(StageChanged(agent.workflow.final))
        chat.turns.append(Turn(question, text, ()))
        reason = "" if status is Status.OK else text
        seconds = {"tools": work.seconds, "total": time.monotonic() - began}
        emit(RunFinished(status, text, reason=reason, seconds=seconds))

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
