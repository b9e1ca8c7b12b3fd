# SPDX-License-Identifier: GPL-2.0-or-later
"""A kept workflow run again over a project: its layers found, its variables filled, its record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from qgis.core import QgsMapLayer, QgsProject

from ..tools.base import ToolError
from ..tools.toolbox import ProjectToolbox
from .agent.event import CallProgress, RunFinished, Status
from .assembly import make_toolbox
from .flow_means import Nobody, Outcome
from .flow_runner import GraphRun
from .number import in_locale
from .place import RESOURCES, store_folder
from .record import Recorder, ending
from .runner import MainThread, RunTask, on_main_thread, wait
from .settings import Settings
from .source import opened_in
from .workflow import role
from .workflow.cache import Cache
from .workflow.event import QuestionAsked, StepProgress
from .workflow.graph import Graph, Kind, Type
from .workflow.role import Roles
from .workflow.variable import VariableError, bound

_LOG = logging.getLogger(__name__)
OWN_AGENTS = "agents.json"
Cancelled = Callable[[], bool]


def agents() -> Roles:
    """Return the product's agents with those of the user's own, which lie as agents.json in the
    profile's store; a file of theirs that is broken is left out and told in the log.

    Raises RoleError where the product's own are broken.
    """
    shipped = RESOURCES / "workflows" / "agents.json"
    own = store_folder() / OWN_AGENTS
    if own.is_file():
        try:
            return role.load(shipped, own)
        except role.RoleError as error:
            _LOG.warning("%s", error)
    return role.load(shipped)


class Answers(Nobody):
    """Answers the questions of a workflow by the values given for their ids."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def answer(self, question: QuestionAsked, cancelled: Cancelled) -> str:
        """Return the value given for the step, else the default. Raises LastingError."""
        if question.step in self._values:
            return str(self._values[question.step])
        return super().answer(question, cancelled)


def replay(
    graph: Graph,
    project: QgsProject,
    settings: Settings,
    variables: Mapping[str, Any],
    output_folder: str,
    on_event: Callable[[Any], None],
    cancelled: Cancelled = lambda: False,
) -> dict[str, Any]:
    """Run a workflow over `project` without any model and return its record; blocks until the end.

    `variables` fills the workflow's variables, its layers by their names (a layer of the project
    or a source that is opened), and the answers to its questions by their steps. On the main
    thread the work runs in a task while an event loop spins; on any other thread it runs here.
    Nothing is raised for what a tool does.
    """
    settings = replace(settings, output_folder=output_folder or settings.output_folder)
    main, recorder = MainThread(), Recorder(graph.question)
    toolbox = make_toolbox(project, settings, main)

    def note(event: Any) -> None:
        if not isinstance(event, (CallProgress, StepProgress)):
            recorder.note(event)
        on_event(event)

    def work(emit: Callable[[Any], None], stopped: Cancelled) -> None:
        try:
            filled, answers = main.call(lambda: _filled(graph, project, variables))
        except VariableError as error:
            emit(RunFinished(Status.FAILED, str(error), reason=str(error)))
            return
        toolbox.begin_turn(graph.question)
        run_graph(filled, toolbox, Cache(toolbox), Answers(answers), emit, stopped)

    try:
        if on_main_thread():
            task = RunTask("Geo-OLM", work)
            task.told.connect(note)
            wait(task, cancelled)
        else:
            work(note, cancelled)
    except Exception as error:
        _LOG.info("the workflow was not run: %s", error)
        note(ending(error))
    toolbox.close()
    return recorder.record()


def run_graph(
    graph: Graph,
    toolbox: ProjectToolbox,
    cache: Cache,
    user: Nobody,
    emit: Callable[[Any], None],
    cancelled: Cancelled,
) -> Outcome:
    """Run a graph whose variables are filled, on a worker thread."""
    return GraphRun(toolbox, cache, agents(), in_locale, user).run(graph, emit, cancelled)


def _filled(
    graph: Graph, project: QgsProject, values: Mapping[str, Any]
) -> tuple[Graph, dict[str, Any]]:
    """Return the graph with its variables filled and every layer there, and the answers to its
    questions. Main thread only; raises VariableError."""
    asked = {one.id for one in graph.vertices if one.kind is Kind.QUESTION}
    answers = {key: one for key, one in values.items() if key in asked}
    given = {key: one for key, one in values.items() if key not in asked}
    kinds = {one.name: one.type for one in graph.variables}
    used = {name for vertex in graph.vertices for name in vertex.layers()}
    for key, value in given.items():
        if key in used or kinds.get(key) is Type.LAYER:
            given[key] = _layer(str(value), project)
    filled = bound(graph, given)
    sources = {one.name: one.source for one in graph.sources}
    for name in {name for vertex in filled.vertices for name in vertex.layers()}:
        if not project.mapLayersByName(name):
            _open(name, sources.get(name, ""), project)
    return filled, answers


def _layer(value: str, project: QgsProject) -> str:
    """Return the name of the layer that a value means: one of the project's, or a source."""
    if project.mapLayersByName(value):
        return value
    found = _opened(value, project)
    if found is None:
        raise VariableError(f"{value} is no layer of the project and cannot be opened.")
    name, number = str(found.name()), 2
    while len(project.mapLayersByName(found.name())) > 1:  # another file of the same stem
        found.setName(f"{name} {number}")
        number += 1
    return str(found.name())


def _open(name: str, source: str, project: QgsProject) -> None:
    """Open the source that the workflow noted for a layer, under the layer's name."""
    found = _opened(source, project) if source else None
    if found is None:
        at = f"; {source} cannot be opened" if source else ""
        raise VariableError(f"The workflow needs the layer {name}, which is not there{at}.")
    found.setName(name)


def _opened(source: str, project: QgsProject) -> QgsMapLayer | None:
    try:
        found = opened_in(source, project)
    except ToolError as error:
        raise VariableError(error.message) from error
    if len(found) > 1:
        names = ", ".join(one.name() for one in found)
        raise VariableError(f"{source} holds several layers ({names}): add |layername= and one.")
    return found[0] if found else None
