# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the plan of a question over a project, with all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from qgis.core import QgsProject

from ..tools.base import LayerProfile, ToolDefinition
from ..tools.catalog import build_registry
from ..tools.toolbox import ProjectToolbox
from .agent.event import ModelState, Notice, TokensUsed
from .agent.message import Memory
from .assembly import make_toolbox, output_of
from .disclosure import Disclosure
from .graph_check import checker, surroundings
from .link import process_link
from .llm.base import Remark, Reply, RunCancelled, Waiting
from .llm.speaker import ModelSpeaker
from .place import RESOURCES
from .planner import Planner
from .replay import agents
from .runner import MainThread, RunTask, on_main_thread, wait
from .settings import Settings
from .workflow.finding import Finding
from .workflow.graph import Graph, Source
from .workflow.objective import Place, Project, check_question
from .workflow.phrase import is_proper, load
from .workflow.plan_event import Planned, Planning
from .workflow.plan_form import PlanError

_UNUSED, _DISTANCE = "unused", "distance"
_CONDITIONS = {"conditions": "layer", "other_conditions": "other"}
Emit = Callable[[Any], None]
Cancelled = Callable[[], bool]


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


def question_check(toolbox: ProjectToolbox) -> Callable[[Graph], list[Finding]]:
    """Return a check of what a graph's question says and none of its steps uses. Reads features,
    so call it on a worker."""
    phrases = load(RESOURCES / "workflows" / "operations.json")
    layers = [one for one in toolbox.layers() if not one.short]
    fields = {one.key: [field.name for field in one.fields] for one in layers}
    tools = toolbox.definitions()
    filters = {one.name: _filters(one) for one in tools}
    far = [one.name for one in tools if _DISTANCE in one.parameters.get("properties", {})]
    known = Project(fields, names=proper_names(layers), filters=filters, far=far)
    return lambda graph: list(check_question(graph, phrases, known))


def _filters(definition: ToolDefinition) -> dict[str, str]:
    """Return the arguments in which a tool takes conditions, each with that of their layer."""
    known = definition.parameters.get("properties", {})
    return {key: about for key, about in _CONDITIONS.items() if key in known}


def proper_names(layers: Iterable[LayerProfile]) -> dict[str, list[Place]]:
    """Return the proper names among the values of some layers, each with what holds it."""
    found: dict[str, list[Place]] = {}
    for one in layers:
        for field in one.fields:
            for value in field.values:
                if is_proper(value) and not _means(value, one.key):
                    found.setdefault(value, []).append((one.key, field.name))
    return found


def _means(value: str, layer: str) -> bool:
    """Tell whether a value may be said for a whole layer that is called by its beginning."""
    return len(layer) > 2 and value.casefold().startswith(layer.casefold())


def make_planner(
    toolbox: ProjectToolbox,
    speaker: ModelSpeaker,
    settings: Settings,
    emit: Emit,
    cancelled: Cancelled,
    memory: Memory | None = None,
) -> Planner:
    """Return a planner over a toolbox's project with all checks; with the `memory` of a chat it
    goes on there, and may use what the chat has made. Reads features, so call it on a worker."""
    around = surroundings(
        toolbox, build_registry(), agents(), output_of(settings), with_results=memory is not None
    )
    check = checker(around)
    unsaid = question_check(toolbox)

    def doubt(graph: Graph) -> list[Finding]:
        unused = [one for one in check(graph) if one.code == _UNUSED]
        return [*unused, *unsaid(graph)]

    tell = Telling(emit, speaker.card().context)
    names = proper_names(toolbox.layers())
    return Planner(toolbox, speaker, settings, check, doubt, tell, cancelled, memory, names)


def plan_question(
    question: str, project: QgsProject, settings: Settings, emit: Emit, cancelled: Cancelled
) -> Planned:
    """Plan one question over `project` without running anything; blocks until the end.

    On the main thread the work runs in a task while an event loop spins; on any other thread it
    runs here. Raises ModelError, RunCancelled, and PlanError where no reply could be read.
    """
    toolbox = make_toolbox(project, settings, MainThread())
    disclosure = Disclosure(toolbox.layers)
    found: list[Planned] = []

    def work(tell: Emit, stopped: Cancelled) -> None:
        if not toolbox.layers():
            raise PlanError("There are no layers. Name some, or open a project.")
        speaker = process_link().connect(settings, tell, stopped, disclosure.known)
        planned = make_planner(toolbox, speaker, settings, tell, stopped).plan(question)
        found.append(with_sources(planned, toolbox.layers()))

    try:
        if on_main_thread():
            task = RunTask("Geo-OLM", work)
            task.told.connect(emit)
            wait(task, cancelled)
        else:
            work(emit, cancelled)
    finally:
        toolbox.close()
    if not found:
        raise RunCancelled
    return found[0]


def with_sources(planned: Planned, layers: Iterable[LayerProfile]) -> Planned:
    """Return a plan whose graph knows where its layers come from."""
    graph = planned.graph
    used = {name for vertex in graph.vertices for name in vertex.layers()}
    sources = tuple(
        Source(
            one.key,
            one.source,
            geometry=one.geometry,
            crs=one.crs,
            fields=tuple(field.name for field in one.fields),
        )
        for one in layers
        if one.key in used
    )
    candidate = replace(planned.candidate, graph=replace(graph, sources=sources))
    return replace(planned, candidate=candidate)
