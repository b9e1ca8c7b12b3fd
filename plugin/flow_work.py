# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a running graph on their threads, and what is done when one ends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

from ..tools.base import (
    LastingError,
    MendableError,
    RefusedError,
    ToolCancelled,
    ToolError,
    ToolResult,
    UnanswerableError,
)
from .agent.event import CallFinished, CallProgress, CallStarted
from .agent.message import ToolCall
from .flow_means import Cancelled, Emit, Means, Outcome
from .runner import Lane
from .workflow import graph as model
from .workflow.assignment import Assignment, Done
from .workflow.change import Change, ChangeError, applied
from .workflow.event import (
    GraphChanged,
    GraphStarted,
    QuestionAsked,
    ReviewReached,
    StepChanged,
    StepLog,
    StepProgress,
)
from .workflow.graph import Graph, Kind, Vertex
from .workflow.resolving import ResolvingError, resolved
from .workflow.schedule import Schedule
from .workflow.topology import TopologyError
from .workflow.tracing import Tracer
from .workflow.value import Output

_LOOK_S = 0.1


class Work:
    """The work of one run on its coordinating thread."""

    def __init__(
        self,
        means: Means,
        schedule: Schedule,
        outcome: Outcome,
        emit: Emit,
        cancelled: Cancelled,
    ) -> None:
        self._means = means
        self._schedule = schedule
        self._outcome = outcome
        self._emit = emit
        self._cancelled = cancelled
        self._ended: SimpleQueue[tuple[str, Any, BaseException | None]] = SimpleQueue()
        self._lanes: list[Lane] = []
        self._idle: list[Lane] = []
        self._busy: dict[str, Lane] = {}
        self._began: dict[str, float] = {}
        self._tries: dict[str, int] = {}
        self._keys: dict[str, str] = {}
        self._stop = False
        self._mends = 0
        self._to_mend: tuple[str, MendableError] | None = None
        self.tool_seconds = 0.0
        self.unanswerable = ""
        self.refused: list[str] = []

    def until_over(self) -> None:
        """Start what is ready and take in what ends, until nothing is left."""
        self._emit(GraphStarted(self._schedule.graph, self._schedule.steps))
        while True:
            if not self._is_stopped():
                self._start_ready()
            if not self._busy and not self._mended():
                return
            try:
                ended = self._ended.get(timeout=_LOOK_S)
            except Empty:
                continue
            self._take(*ended)

    def close(self) -> None:
        """End the lanes; they stop with the run."""
        for lane in self._lanes:
            lane.close()

    def _is_stopped(self) -> bool:
        return self._stop or self._cancelled()

    def _start_ready(self) -> None:
        """Start what is ready; a step whose result was kept may make others ready."""
        while any(self._is_begun_by_keeping(vertex) for vertex in self._schedule.ready()):
            pass

    def _is_begun_by_keeping(self, vertex: Vertex) -> bool:
        """Start a step where a lane is free, and tell whether it was done by its kept result."""
        if self._is_kept(vertex):
            return True
        if vertex.kind is not Kind.TASK or len(self._tasks()) < self._means.ways.lanes:
            self._start(vertex)
        return False

    def _tasks(self) -> list[str]:
        graph = self._schedule.graph
        return [key for key in self._busy if graph.vertex(key).kind is Kind.TASK]

    def _is_kept(self, vertex: Vertex) -> bool:
        """Take a step's result of an earlier run where nothing has changed."""
        tool = self._means.definitions.get(vertex.tool)
        key = self._means.cache.key(self._schedule.graph, vertex, self._keys, tool)
        self._keys[vertex.id] = key
        found = self._means.cache.find(key)
        if found is None:
            return False
        self._outcome.results[vertex.id] = found
        self._schedule.finish(vertex.id, found.text, kept=True)
        self._emit(StepChanged(vertex.id, model.Status.CACHED, found.text, 0.0, found))
        return True

    def _start(self, vertex: Vertex) -> None:
        waits = vertex.kind is not Kind.TASK
        status = model.Status.WAITING if waits else model.Status.RUNNING
        self._schedule.start(vertex.id, waits)
        self._began[vertex.id] = time.monotonic()
        self._emit(StepChanged(vertex.id, status))
        lane = self._idle.pop() if self._idle else self._new_lane()
        self._busy[vertex.id] = lane
        results = dict(self._outcome.results)
        lane.give(vertex.id, lambda: self._done(vertex, results))

    def _new_lane(self) -> Lane:
        lane = Lane(lambda key, value, error: self._ended.put((key, value, error)))
        self._lanes.append(lane)
        return lane

    # -- on a lane

    def _done(self, vertex: Vertex, results: Mapping[str, ToolResult]) -> Done:
        """Do the work of a step, on the thread of its lane."""
        if vertex.kind is Kind.QUESTION:
            return Done(self._asked(vertex))
        if vertex.kind is Kind.REVIEW:
            return Done(self._reviewed(vertex, results))
        if vertex.is_abstract:
            return self._carried_out(vertex, results)
        return Done(self._called(vertex, resolved(vertex, results)))

    def _called(self, vertex: Vertex, arguments: dict[str, Any]) -> ToolResult:
        identity, began = f"{vertex.id}#{time.monotonic_ns()}", time.monotonic()
        definition = self._means.definitions.get(vertex.tool)
        label = vertex.title or (definition.label if definition else "") or vertex.tool
        place = self._schedule.steps.index(vertex.id) + 1
        layer = ToolCall(identity, vertex.tool, arguments).layer
        self._emit(CallStarted(identity, vertex.tool, label, layer, arguments, place))

        def progress(percent: float) -> None:
            self._emit(CallProgress(identity, percent))
            self._emit(StepProgress(vertex.id, percent))

        result: ToolResult | None = None
        error, stopped = "", False
        try:
            result = self._means.tools.run(vertex.tool, arguments, progress, self._is_stopped)
            return result
        except ToolError as failed:
            error = failed.message
            raise
        except ToolCancelled:
            stopped = True
            raise
        finally:
            seconds = time.monotonic() - began
            self.tool_seconds += seconds
            ok = result is not None
            self._emit(
                CallFinished(identity, vertex.tool, arguments, ok, error, seconds, result, stopped)
            )

    def _asked(self, vertex: Vertex) -> ToolResult:
        parameters = dict(vertex.parameters or {})
        question = QuestionAsked(
            vertex.id,
            vertex.objective,
            tuple(str(one) for one in parameters.get("choices", ())),
            str(parameters.get("default", "")),
        )
        self._emit(question)
        text = self._means.user.answer(question, self._is_stopped)
        numbers = _number(text)
        return ToolResult(text, numbers=numbers, texts={"answer": text} if not numbers else {})

    def _reviewed(self, vertex: Vertex, results: Mapping[str, ToolResult]) -> ToolResult:
        value = (vertex.parameters or {}).get("layer")
        shown = results.get(value.vertex) if isinstance(value, Output) else None
        layers = shown.layers if shown is not None else ()
        stop = ReviewReached(vertex.id, vertex.objective, layers)
        self._emit(stop)
        if not self._means.user.goes_on(stop, self._is_stopped):
            self._stop = True
            raise ToolCancelled()
        return shown or ToolResult("Looked at.")

    def _carried_out(self, vertex: Vertex, results: Mapping[str, ToolResult]) -> Done:
        if self._means.sub_agent is None:
            raise LastingError(
                f"{named(vertex)} has no tool yet, and no model is there to choose one. "
                "Choose its tool and parameters."
            )
        parents = self._schedule.graph.parents(vertex)
        tools = self._means.roles.definitions(vertex.agent, tuple(self._means.definitions.values()))
        assignment = Assignment(
            self._schedule.graph.question,
            vertex,
            tools,
            {key: results[key] for key in parents if key in results},
        )
        return self._means.sub_agent.carry_out(assignment, self._emit, self._is_stopped)

    # -- on the coordinating thread

    def _take(self, key: str, done: Done | None, error: BaseException | None) -> None:
        """Take in what a lane gave."""
        self._idle.append(self._busy.pop(key))
        seconds = time.monotonic() - self._began[key]
        if error is None and done is not None:
            self._finish(key, done, seconds)
        elif isinstance(error, ToolCancelled):
            self._schedule.release(key)
            self._emit(StepChanged(key, model.Status.PENDING, "Stopped.", seconds))
            self._stop = True
        elif isinstance(error, (LastingError, OSError)) and self._tries_again(key, error):
            return
        else:
            if isinstance(error, UnanswerableError):
                self.unanswerable = error.message
            if isinstance(error, RefusedError):
                self.refused.append(key)
            self._fail(key, error, seconds)

    def _finish(self, key: str, done: Done, seconds: float) -> None:
        self._outcome.results[key] = done.result
        self._schedule.finish(key, done.result.text)
        self._means.cache.keep(self._keys.get(key, ""), done.result)
        self._emit(StepChanged(key, model.Status.COMPLETED, done.result.text, seconds, done.result))
        if done.calls:
            self._make_concrete(key, done)

    def _make_concrete(self, key: str, done: Done) -> None:
        """Note the calls of an abstract step, so that it can be run again without a model."""
        tracer = Tracer(self._means.definitions, self._means.roles, tuple(self._means.layers()))
        graph = self._outcome.concrete
        for one in graph.parents(graph.vertex(key)):
            result = self._outcome.results.get(one)
            if result is not None:
                names = [
                    result.id,
                    *(x.id for x in result.layers),
                    *(x.name for x in result.layers),
                ]
                tracer.know(names, one)
        last = len(done.calls)
        steps = tracer.steps(done.calls, lambda n: key if n == last else f"{key}_{n}")
        if not steps or steps[-1].id != key:
            return
        old = graph.vertex(key)
        final = replace(
            steps[-1], agent=old.agent, objective=old.objective, title=old.title, after=old.after,
            position=old.position, comment=old.comment,
        )  # fmt: skip
        before = tuple(replace(one, after=old.after) for one in steps[:-1])
        change = Change(edited=(final,), inserted=before, reason="Chosen by the agent")
        try:
            self._outcome.concrete = applied(graph, change)
        except ChangeError as error:
            self._emit(StepLog(key, str(error)))
            return
        self._emit(GraphChanged(self._outcome.concrete, change, change.reason))

    def _tries_again(self, key: str, error: BaseException) -> bool:
        self._tries[key] = self._tries.get(key, 1) + 1
        if self._tries[key] > self._means.ways.tries or self._is_stopped():
            return False
        self._emit(StepLog(key, f"{_message(error)} Tried again."))
        self._schedule.release(key)
        return True

    def _fail(self, key: str, error: BaseException | None, seconds: float) -> None:
        message = _message(error)
        skipped = self._schedule.fail(key, message)
        self._emit(StepChanged(key, model.Status.FAILED, message, seconds))
        for one in skipped:
            self._emit(StepChanged(one, model.Status.SKIPPED, f"{key} failed."))
        mendable = isinstance(error, MendableError) and not isinstance(error, RefusedError)
        self._to_mend = (key, error) if mendable else None

    def _mended(self) -> bool:
        """Change the graph after a failure, once all else has ended; tells whether it goes on."""
        refiner, meant = self._means.refiner, self._to_mend
        self._to_mend = None
        if meant is None or refiner is None or self._is_stopped():
            return False
        if self._mends >= self._means.ways.mends:
            return False
        self._mends += 1
        (key, error), graph = meant, self._schedule.graph
        change = _leaving_out(graph, key, error) or refiner.propose(graph, key, error.message)
        if change is None or change.is_empty:
            return False
        try:
            graph = applied(self._schedule.graph, change)
            told = GraphChanged(graph, change, change.reason or error.message)
            if not self._means.user.accepts(told, self._is_stopped):
                return False
            self._schedule.again(graph)
            self._outcome.concrete = applied(self._outcome.concrete, change)
        except (ChangeError, TopologyError, KeyError) as fault:
            self._emit(StepLog(key, f"The change does not fit: {fault}"))
            return False
        for one in graph.vertices:
            if not one.status.is_done:
                self._outcome.results.pop(one.id, None)
        self._emit(told)
        return True


def named(vertex: Vertex) -> str:
    """Return what a step is called in messages."""
    return vertex.title or (f"{vertex.id} ({vertex.tool})" if vertex.tool else vertex.id)


def _leaving_out(graph: Graph, key: str, error: MendableError) -> Change | None:
    """Return the change that leaves out what an error says would do without, None for nothing."""
    vertex = graph.vertex(key)
    kept = {
        name: one for name, one in (vertex.parameters or {}).items() if name not in error.without
    }
    if len(kept) == len(vertex.parameters or {}):
        return None
    return Change(edited=(replace(vertex, parameters=kept),), reason=error.message)


def _message(error: BaseException | None) -> str:
    if isinstance(error, ToolError):
        return error.message
    if isinstance(error, (ResolvingError, OSError)):
        return str(error)
    return f"The step stopped with an unexpected error ({type(error).__name__}: {error})."


def _number(text: str) -> dict[str, float]:
    try:
        return {"answer": float(text.replace(",", "."))}
    except ValueError:
        return {}
