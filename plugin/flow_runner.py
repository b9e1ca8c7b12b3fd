# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a graph over a project's tools: branches at the same time, results kept, failures mended."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace

from .agent.event import Notice, RunFinished, RunStarted, Status
from .flow_means import Cancelled, Emit, Means, Nobody, Outcome, Tools, User, Ways
from .flow_work import Work, named
from .workflow.answering import Said, Write, answered
from .workflow.assignment import Refiner, SubAgent
from .workflow.bypass import BypassError, contracted
from .workflow.cache import Cache
from .workflow.graph import Answer, Graph, Vertex
from .workflow.resolving import ResolvingError
from .workflow.role import Roles
from .workflow.schedule import Schedule
from .workflow.topology import TopologyError


class GraphRun:
    """One run. Call `run` on a worker thread; it ends soon after `cancelled` turns true, and its
    last event is always RunFinished."""

    def __init__(
        self,
        tools: Tools,
        cache: Cache,
        roles: Roles,
        write: Write,
        user: User | None = None,
        sub_agent: SubAgent | None = None,
        refiner: Refiner | None = None,
        ways: Ways | None = None,
        layers: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """`layers` gives the keys of the project's own layers, for steps made concrete."""
        self._write = write
        self._means = Means(
            tools,
            cache,
            roles,
            user or Nobody(),
            sub_agent,
            refiner,
            ways or Ways(),
            layers,
            {one.name: one for one in tools.definitions()},
        )

    def run(
        self,
        graph: Graph,
        emit: Emit,
        cancelled: Cancelled,
        target: Collection[str] = (),
        model_name: str = "",
    ) -> Outcome:
        """Run the graph, or what leads to the steps in `target`; variables must be bound."""
        began = time.monotonic()
        outcome = Outcome(graph, concrete=graph)
        emit(RunStarted(graph.question, model_name, "", (), len(graph.vertices)))
        try:
            schedule = Schedule(contracted(graph), target)
        except (TopologyError, BypassError, KeyError) as error:
            emit(self._ended(Status.FAILED, str(error), None, 0.0, began))
            return outcome
        work = Work(self._means, schedule, outcome, emit, cancelled)
        try:
            work.until_over()
        finally:
            work.close()
        outcome.graph = schedule.graph
        if work.unanswerable:
            emit(self._ended(Status.REJECTED, work.unanswerable, None, work.tool_seconds, began))
        else:
            for key in work.refused:
                emit(Notice(schedule.graph.vertex(key).history, warning=True))
            emit(self._end(schedule, outcome, cancelled(), work, began))
        return outcome

    def _end(
        self, schedule: Schedule, outcome: Outcome, stopped: bool, work: Work, began: float
    ) -> RunFinished:
        failed, tools = schedule.failed(), work.tool_seconds
        refused = [one for one in failed if one.id in work.refused]
        if refused and len(refused) == len(failed):
            return self._without(refused, schedule, outcome, tools, began)
        if failed:
            text = " ".join(f"{named(one)}: {one.history}" for one in failed)
            return self._ended(Status.FAILED, text, None, tools, began)
        if stopped or not all(schedule.graph.vertex(key).status.is_done for key in schedule.steps):
            return self._ended(Status.CANCELLED, "Stopped.", None, tools, began)
        try:
            done = {key: outcome.results[key] for key in schedule.steps if key in outcome.results}
            graph = schedule.graph
            if len(schedule.steps) < len(graph.vertices):  # its answer is not reached
                graph = replace(graph, answer=Answer())
            said = answered(graph, done, self._write)
        except ResolvingError as error:
            outcome.unanswered = str(error)
            return self._ended(Status.FAILED, str(error), None, tools, began)
        return self._ended(Status.OK, said.text, said, tools, began)

    def _without(
        self,
        refused: list[Vertex],
        schedule: Schedule,
        outcome: Outcome,
        tools: float,
        began: float,
    ) -> RunFinished:
        """End a run whose only failed steps the user did not allow: with the answer where it
        needs none of them, and with what was made in any case."""
        try:
            said = answered(schedule.graph, outcome.results, self._write)
        except ResolvingError:
            text = " ".join(one.history for one in refused)
            return self._ended(Status.CANCELLED, text, None, tools, began)
        return self._ended(Status.OK, said.text, said, tools, began)

    def _ended(
        self, status: Status, text: str, said: Said | None, tools: float, began: float
    ) -> RunFinished:
        return RunFinished(
            status,
            text,
            None if said is None else said.value,
            "" if said is None else said.unit,
            "" if status is Status.OK else text,
            () if said is None else said.layers,
            () if said is None else said.files,
            seconds={"tools": tools, "total": time.monotonic() - began},
        )
