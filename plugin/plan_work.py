# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans a question and runs the graph that came out, as one run with one end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..tools.base import ToolCancelled
from ..tools.catalog import build_registry
from ..tools.toolbox import ProjectToolbox
from .agent.event import ModelState, Notice, RunFinished, RunStarted, Status, TokensUsed
from .flow_runner import GraphRun
from .llm.base import ModelError, Remark, Reply, RunCancelled, Usage, Waiting
from .llm.speaker import ModelSpeaker
from .number import in_locale
from .plan_check import checker
from .planner import Planner
from .settings import Settings
from .workflow.cache import Cache
from .workflow.candidate import Candidate
from .workflow.generation import Planned, Planning
from .workflow.plan_form import PlanError, compact

Emit = Callable[[Any], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class PlanMade:
    """A plan is there: its graph in the compact form, how it came to be, what was found in it."""

    form: dict[str, Any]
    was_valid: bool
    is_valid: bool
    asked_again: int
    candidates: int
    mended: tuple[str, ...]
    remarks: tuple[str, ...]
    findings: tuple[str, ...]
    rejected: str
    usage: Usage
    seconds: float


def plan_made(planned: Planned) -> PlanMade:
    """Return the event of a plan."""
    chosen: Candidate = planned.candidate
    return PlanMade(
        compact(chosen.graph),
        planned.was_valid,
        chosen.is_valid,
        planned.asked_again,
        planned.candidates,
        chosen.mended,
        chosen.remarks,
        tuple(f"{one.severity.value}: {one.vertex}: {one.message}" for one in chosen.findings),
        chosen.rejected,
        planned.usage,
        planned.seconds,
    )


class Telling:
    """Turns what a plan tells into events; `emit` gets them."""

    def __init__(self, emit: Emit, context: int) -> None:
        self._emit, self._context = emit, context

    def __call__(self, told: Any) -> None:
        """Take one thing."""
        if isinstance(told, Reply):
            self._emit(TokensUsed(told.usage, self._context, told.seconds))
        elif isinstance(told, Waiting):
            self._emit(ModelState("loading" if told.loading else "reading", told.seconds))
        elif isinstance(told, Remark):
            self._emit(Notice(told.text, told.warning))
        elif isinstance(told, Planning):
            self._emit(told)


def plan_and_run(
    question: str,
    toolbox: ProjectToolbox,
    speaker: ModelSpeaker,
    settings: Settings,
    emit: Emit,
    cancelled: Cancelled,
) -> None:
    """Plan and run on a worker thread; the last event is a RunFinished. Nothing is raised for
    what a model, a server or a tool does."""
    began = time.monotonic()
    card = speaker.card()
    emit(RunStarted(question, card.name, card.server.value, (), settings.max_steps))
    toolbox.begin_turn(question)
    check = checker(build_registry(), tuple(one.key for one in toolbox.layers()))
    tell = Telling(emit, card.context)
    planner = Planner(toolbox, speaker, settings, check, tell, cancelled)
    try:
        planned = planner.plan(question)
        emit(plan_made(planned))
        end = _run(planned, planner, toolbox, emit, cancelled)
    except (RunCancelled, ToolCancelled):
        end = _ended(Status.CANCELLED, "Stopped. What was made so far is kept.")
    except ModelError as error:
        end = _ended(Status.FAILED, error.message)
    except PlanError as error:
        end = _ended(Status.FAILED, str(error))
    total = time.monotonic() - began
    seconds = {**end.seconds, "model": planner.seconds, "total": total}
    emit(replace(end, usage=planner.usage, seconds=seconds))


def _run(
    planned: Planned,
    planner: Planner,
    toolbox: ProjectToolbox,
    emit: Emit,
    cancelled: Cancelled,
) -> RunFinished:
    chosen = planned.candidate
    if chosen.rejected:
        return _ended(Status.REJECTED, chosen.rejected)
    if not chosen.is_valid:
        return _ended(Status.FAILED, f"The plan cannot run. {chosen.errors[0].message}")
    ends: list[RunFinished] = []

    def pass_on(event: Any) -> None:
        if isinstance(event, RunFinished):
            ends.append(event)
        elif not isinstance(event, RunStarted):
            emit(event)

    run = GraphRun(
        toolbox,
        Cache(toolbox),
        planner.means.roles,
        in_locale,
        refiner=planner.refinement(),
    )
    run.run(planned.graph, pass_on, cancelled)
    return ends[-1]


def _ended(status: Status, text: str) -> RunFinished:
    return RunFinished(status, text, reason="" if status is Status.OK else text)
