# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out one question by a plan: its graph is made, checked, run, and its end confirmed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..tools.base import LayerProfile, ToolCancelled, ToolResult
from ..tools.toolbox import ProjectToolbox
from .agent.chat import Chat
from .agent.closing import Close, Closing
from .agent.engine import Agent
from .agent.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    Event,
    Notice,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
)
from .agent.example import Step
from .agent.message import Message, Role, ToolCall
from .agent.recall import Past, remember
from .agent.talk import Talk
from .agent.work import Work
from .flow_means import Outcome
from .flow_runner import GraphRun
from .llm.base import Cancelled, ModelError, RunCancelled, Usage
from .llm.speaker import ModelSpeaker
from .number import in_locale
from .plan_work import make_planner, with_sources
from .planner import Planner
from .settings import Settings
from .sub_agent import StepAgent
from .workflow import change
from .workflow.answering import answered, name_of
from .workflow.cache import Cache
from .workflow.graph import Answer, Graph
from .workflow.joining import joined
from .workflow.plan_event import PlanDone, Planned, Planning, made
from .workflow.plan_form import PlanError

_LOG = logging.getLogger(__name__)
_STOPPED = "Stopped. What was made so far is kept."
_ZOOM, _LOAD, _ANSWER = "zoom_to_layer", "Load", "Answer"
Emit = Callable[[Any], None]
Given = TypeVar("Given")


@dataclass(frozen=True)
class Spent:
    """What a plan took that did not hold."""

    usage: Usage = field(default_factory=Usage)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def has_begun(self) -> bool:
        """Whether the run was begun before."""
        return bool(self.seconds)

    def with_those_of(self, event: RunFinished) -> dict[str, Any]:
        """Return usage and seconds of both."""
        keys = {*self.seconds, *event.seconds}
        sums = {key: self.seconds.get(key, 0.0) + event.seconds.get(key, 0.0) for key in keys}
        return {"usage": self.usage + event.usage, "seconds": sums}


@dataclass(frozen=True)
class _About:
    """The earlier result that a question speaks of, and what the answer's number belongs to."""

    refers: str
    name: str


class PlanRun:
    """One question by a plan, on a worker thread: planned, checked, run, and confirmed."""

    def __init__(
        self,
        toolbox: ProjectToolbox,
        speaker: ModelSpeaker,
        settings: Settings,
        agent: Agent,
        chat: Chat,
        question: str,
        emit: Emit,
        cancelled: Cancelled,
        runs: bool = True,
        approve: Callable[[Graph], None] = lambda graph: None,
    ) -> None:
        """With `runs` off the plan is told and nothing is run; else `approve` sees it first and
        may raise ToolCancelled."""
        self._runs, self._approve = runs, approve
        self._toolbox, self._speaker = toolbox, speaker
        self._settings, self._agent = settings, agent
        self._chat, self._question = chat, question
        self._layers: tuple[LayerProfile, ...] = ()
        self._emit, self._cancelled = emit, cancelled
        self._began = time.monotonic()
        self._stage = ""
        self._calls: list[CallFinished] = []
        self._tool_seconds = 0.0
        self._planner: Planner | None = None
        self._talk = Talk(self._speaker, cancelled)

    def end(self) -> RunFinished | None:
        """Return the last event, None where no plan held."""
        card = self._speaker.card()
        stages = self._agent.workflow.stages
        self._emit(
            RunStarted(
                self._question, card.name, card.server.value, stages, self._settings.max_steps
            )
        )
        self._toolbox.begin_turn(self._question)
        self._layers = self._toolbox.layers()
        self._chat.retain(self._toolbox.results())
        self._enter(self._agent.workflow.initial)
        try:
            end = self._carried_out()
        except PlanError as error:
            _LOG.info("no plan: %s", error)
            end = None
        except (RunCancelled, ToolCancelled):
            end = RunFinished(Status.CANCELLED, _STOPPED, reason=_STOPPED)
        except ModelError as error:
            end = RunFinished(Status.FAILED, error.message, reason=error.message)
        if end is None or end.status in (Status.CANCELLED, Status.FAILED):
            self._chat.planning.forget_question()
        if end is None:
            return None
        spent = self.spent()
        return replace(end, usage=spent.usage, seconds=spent.seconds)

    def spent(self) -> Spent:
        """Return what was used so far."""
        planner = self._planner
        usage = self._talk.usage if planner is None else planner.usage + self._talk.usage
        model = self._talk.seconds + (planner.seconds if planner is not None else 0.0)
        total = time.monotonic() - self._began
        return Spent(usage, {"model": model, "tools": self._tool_seconds, "total": total})

    def _carried_out(self) -> RunFinished | None:
        self._planner = planner = make_planner(
            self._toolbox,
            self._speaker,
            self._settings,
            self._told,
            self._cancelled,
            self._chat.planning,
        )
        planned = planner.plan(self._question)
        planned = with_sources(planned, self._toolbox.layers())
        self._tell_understood(planned)
        self._enter(_LOAD, planned.understood.intent)
        self._emit(made(planned))
        chosen = planned.candidate
        if chosen.rejected:
            self._enter(self._agent.workflow.final)
            self._remember(planned, f"Not answered: {chosen.rejected}", ())
            return RunFinished(Status.REJECTED, chosen.rejected, reason=chosen.rejected)
        if not self._runs:
            self._enter(self._agent.workflow.final)
            return RunFinished(Status.OK, planned_in_words(planned))
        if not chosen.is_valid:
            _LOG.info("the plan cannot run: %s", chosen.errors[0].message)
            return None
        return self._ran(planned, planner)

    def _tell_understood(self, planned: Planned) -> None:
        """Say what a question was taken for that is not whole by itself."""
        refers = planned.understood.refers
        about = next((one.title for one in self._layers if refers and one.short == refers), "")
        if about:
            self._emit(Notice(f"Taken as a question about {about}."))
        elif planned.graph.question not in ("", self._question):
            self._emit(Notice(f"Taken as: {planned.graph.question}"))

    def _ran(self, planned: Planned, planner: Planner) -> RunFinished | None:
        ends: list[RunFinished] = []
        self._approve(planned.graph)
        run = GraphRun(
            self._toolbox,
            Cache(self._toolbox),
            planner.means.roles,
            in_locale,
            sub_agent=StepAgent(self._toolbox, self._speaker, self._settings),
            refiner=planner.refinement(),
            layers=lambda: tuple(one.key for one in self._toolbox.layers() if not one.short),
        )
        outcome = run.run(planned.graph, lambda told: self._pass_on(told, ends), self._cancelled)
        end = ends[-1]
        self._tool_seconds += end.seconds["tools"]
        if outcome.unanswered:
            end = self._told_plainly(end, outcome)
        if end.status is Status.FAILED:
            _LOG.info("the plan failed: %s", end.reason)
            return None
        if end.status is Status.OK:
            for one in planned.candidate.doubts:
                self._emit(Notice(f"{one.message} Check the result.", warning=True))
            about = _About(planned.understood.refers, name_of(outcome.graph, outcome.results))
            end = self._confirmed(end, list(outcome.results.values()), planner, about)
        self._enter(self._agent.workflow.final)
        if end.status is Status.OK:
            self._keep(outcome)
        results = tuple(one.id for one in outcome.results.values() if one.id)
        self._remember(planned, end.answer, results)
        return end

    def _keep(self, outcome: Outcome) -> None:
        """Tell the graph as it can be run again, and remember which step gave what."""
        made = self._chat.made
        known = {one.key: made[one.short] for one in self._layers if one.short in made}
        graph = joined(change.reset(outcome.concrete, outcome.concrete.ids()), known)
        made.update({one.id: (graph, step) for step, one in outcome.results.items() if one.id})
        self._emit(PlanDone(graph))

    def _told_plainly(self, end: RunFinished, outcome: Outcome) -> RunFinished:
        """Tell what the steps gave where the answer of the plan names what none of them did."""
        said = answered(replace(outcome.graph, answer=Answer()), outcome.results, in_locale)
        return replace(
            end,
            status=Status.OK,
            answer=said.text,
            value=said.value,
            unit=said.unit,
            reason="",
            layers=said.layers,
            files=said.files,
        )

    def _pass_on(self, told: Any, ends: list[RunFinished]) -> None:
        """Tell what the graph tells; its calls are the stages' calls. May be on any thread."""
        if isinstance(told, RunFinished):
            ends.append(told)
            return
        if isinstance(told, CallStarted):
            self._enter(self._agent.workflow.home(told.tool))
        if isinstance(told, CallFinished):
            self._calls.append(told)
        if not isinstance(told, RunStarted):
            self._emit(told)

    def _told(self, told: Any) -> None:
        if isinstance(told, Planning) and told.stage == "planning":
            self._enter(_LOAD)
        self._emit(told)

    def _enter(self, stage: str, intent: str = "") -> None:
        if stage and (stage != self._stage or intent):
            self._stage = stage
            self._emit(StageChanged(stage, intent))

    # -- the end

    def _confirmed(
        self, end: RunFinished, results: list[ToolResult], planner: Planner, about: _About
    ) -> RunFinished:
        """The end is confirmed before it counts: the model words it, held to the results."""
        self._enter(_ANSWER)
        memory = Chat(list(planner.memory.messages))
        for one in results:
            memory.keep(one)
            self._chat.keep(one)
        shown = self._shown(results, about.refers)
        made_now = (one for item in shown for one in (*item.extracted, *item.layers))
        end = replace(end, layers=tuple({one.id: one for one in (*end.layers, *made_now)}.values()))
        results += shown
        closing = Closing(
            self._agent.prompts,
            self._talk,
            memory,
            in_locale,
            self._settings.reply_tokens,
            plain=end.answer,
        )
        names = [one.key for one in self._layers]
        words = closing.confirm(
            self._question, Close(end.answer, end.value, end.unit, about.name), results, names
        )
        confirmed = told_all(words, self._emit)
        if confirmed.answer:
            return replace(end, answer=confirmed.answer)
        self._emit(AnswerDelta(end.answer))
        return end

    def _shown(self, results: list[ToolResult], refers: str) -> list[ToolResult]:
        """Where the question asks to show what was only counted, or narrows a layer that was made
        before, make a layer of it."""
        speaking = [item for item in results if item.speaks]
        made_layer = any(item.layers for item in results)
        narrows = any(refers and one.short == refers and one.id for one in self._layers)
        if not speaking or made_layer or not (narrows or self._agent.prompts.shows(self._question)):
            return []
        work = Work(self._toolbox, self._chat, self._agent.limits, self._cancelled, self._emit)
        call = ToolCall(f"show{len(self._chat.turns):05d}", _ZOOM, {"layer": speaking[-1].id})
        told_all(work.run(call), lambda told: self._pass_on(told, []))
        self._tool_seconds += work.seconds
        return work.results

    def _remember(self, planned: Planned, answer: str, results: tuple[str, ...]) -> None:
        """Keep the turn in the chat, so that later questions can speak of its results."""
        understood = planned.understood
        workflow = self._agent.workflow
        known = {one.name: one for one in self._layers}
        calls = tuple(
            Step(workflow.home(one.tool), one.tool, one.arguments, _text(one.result))
            for one in self._calls
            if one.ok
        )
        past = Past(
            self._question,
            understood.intent,
            understood.needs,
            tuple(known[name] for name in understood.layers if name in known),
            calls,
            answer,
            results,
        )
        remember(self._agent, self._chat, past)
        given = "\n".join(step.result for step in calls) or "Nothing was done."
        self._chat.planning.messages += [
            Message(Role.USER, given),
            Message(Role.ASSISTANT, answer),
        ]


def told_all(events: Generator[Event, None, Given], emit: Emit) -> Given:
    """Tell all events of a generator and return what it gives."""
    while True:
        try:
            emit(next(events))
        except StopIteration as end:
            given: Given = end.value
            return given


def planned_in_words(planned: Planned) -> str:
    """Return what a plan is, in one or two sentences."""
    count, errors = len(planned.graph.vertices), len(planned.candidate.errors)
    steps = "1 step" if count == 1 else f"{count} steps"
    wrong = f" Its checks find {errors} to mend first." if errors else ""
    return f"The plan has {steps} and waits in GeoFlow: look at it, change it, run it.{wrong}"


def _text(result: ToolResult | None) -> str:
    if result is None:
        return ""
    return f"{result.id}: {result.text}" if result.id else result.text
