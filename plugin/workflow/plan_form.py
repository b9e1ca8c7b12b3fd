# SPDX-License-Identifier: GPL-2.0-or-later
"""The compact dictionary in which a model writes a graph, and the graph that it means.

`{"tasks": [{"id", "agent", "tool", "arguments"}, …], "answer": "v2.count"}`: the dictionary of
the GeoFlow paper without the links, which follow from the arguments. A task may be abstract
({"agent", "objective"}), a question to the user ({"ask"}) or a review stop ({"review"}).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...tools.base import ToolDefinition
from .graph import Answer, Graph, Kind, Vertex
from .plan_value import Names, told, value
from .role import Roles
from .value import Layer, Output, mapped

ANSWER, REJECT = "answer", "reject"
_IDENTITY = re.compile(r"[A-Za-z_]\w*")
_LAYER = "layer"
_MAPS = "map"


class PlanError(Exception):
    """A reply that is no plan; the message is a sentence that the model can act on."""


@dataclass(frozen=True)
class Known:
    """What a plan is read against: the tools by their names, the agents, the keys of the layers
    by the names that they go by, and the names of the numbers that some tools are known to give.
    """

    definitions: Mapping[str, ToolDefinition]
    roles: Roles
    layers: Mapping[str, str]
    numbers: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Draft:
    """A plan that was read: the graph, or why the layers cannot answer, and what was mended."""

    graph: Graph = field(default_factory=Graph)
    rejected: str = ""
    remarks: tuple[str, ...] = ()


def read(form: Any, known: Known, question: str = "") -> Draft:
    """Return the graph of a compact dictionary. Raises PlanError."""
    tasks = form.get("tasks") if isinstance(form, Mapping) else None
    if not isinstance(tasks, list) or not all(isinstance(one, Mapping) for one in tasks):
        raise PlanError('Reply with one JSON object {"tasks": [...], "answer": "..."}.')
    for one in tasks:
        if one.get("tool") == REJECT:
            reason = _arguments(one).get("reason", "")
            return Draft(rejected=str(reason) or "The layers do not hold what is asked for.")
    work = [one for one in tasks if one.get("tool") != ANSWER]
    if not work:
        raise PlanError("The plan has no tasks.")
    reader = Reader(known, ())
    vertices = reader.vertices(work)
    closing = next((one for one in tasks if one.get("tool") == ANSWER), None)
    said = form.get("answer", "") if closing is None else _arguments(closing).get("value", "")
    graph = Graph(question, in_order(vertices), answer=reader.answer(said))
    graph = replace(graph, answer=reader.possible(graph))
    return Draft(graph, remarks=tuple(reader.remarks))


class Reader:
    """Reads the tasks of one reply beside the steps that a graph has already."""

    def __init__(self, known: Known, steps: Sequence[str], variables: Sequence[str] = ()) -> None:
        self._known = known
        self._before = tuple(steps)
        self._names = Names(self._before, known.layers, tuple(variables))
        self.remarks: list[str] = []

    def vertices(self, tasks: Sequence[Mapping[str, Any]]) -> tuple[Vertex, ...]:
        """Return the steps of some tasks; ids that are missing or there twice are given anew."""
        ids = self._identities(tasks)
        self._names = replace(self._names, steps=tuple(dict.fromkeys((*self._before, *ids))))
        return tuple(self._vertex(one, key) for one, key in zip(tasks, ids))

    def answer(self, said: Any) -> Answer:
        """Return what an answer refers to; a text that refers to nothing is left out."""
        if not isinstance(said, str) or not said.strip():
            return Answer()
        output = self._names.output(said)
        if output is not None:
            return Answer(value=output)
        template = self._names.template(said)
        if template is None:
            self.remarks.append(f'The answer "{said}" refers to no step and was left out.')
            return Answer()
        outputs = [Output(name, key) for name, key in template.references() if key]
        return Answer(template.text, outputs[0] if len(outputs) == 1 else None)

    def possible(self, graph: Graph) -> Answer:
        """Return the answer of a graph, with the only number of its step in the place of one that
        the step's tool is not known to give; nothing where that gives none."""
        answer = graph.answer
        value = answer.value
        if value is None or not graph.has(value.vertex):
            return answer
        given = self._known.numbers.get(graph.vertex(value.vertex).tool)
        if given is None or not value.key or value.key in given or len(given) > 1:
            return answer
        other = Output(value.vertex, given[0]) if given else None
        instead = f"{other.text} is told" if other else "it was left out"
        self.remarks.append(f"The answer was {value.text}, which is not given; {instead}.")
        return Answer(value=other, unit=answer.unit)

    def _identities(self, tasks: Sequence[Mapping[str, Any]]) -> list[str]:
        found: list[str] = []
        for place, one in enumerate(tasks, 1):
            key = str(one.get("id") or "").strip()
            if not _IDENTITY.fullmatch(key) or key in found:
                other = _free({*found, *self._before}, place)
                self.remarks.append(f'Task {place} had the id "{key}" and is called {other}.')
                key = other
            found.append(key)
        return found

    def _vertex(self, task: Mapping[str, Any], key: str) -> Vertex:
        objective = str(task.get("objective", "")).strip()
        if task.get("ask"):
            return Vertex(key, objective=str(task["ask"]), parameters={}, kind=Kind.QUESTION)
        if task.get("review"):
            shown = value(task["review"], {"x-layer": "any"}, self._names)
            return Vertex(key, parameters={_LAYER: shown}, kind=Kind.REVIEW)
        tool = self._tool(str(task.get("tool", "")))
        agent = self._agent(str(task.get("agent", "")), tool, key)
        if not tool and objective:
            return Vertex(key, agent, objective, after=self._after(task, key))
        properties = _properties(self._known.definitions.get(tool))
        parameters = {
            self._argument(name, properties): value(
                one, properties.get(self._argument(name, properties), {}), self._names
            )
            for name, one in _arguments(task).items()
            if one is not None
        }
        after = self._after(task, key)
        parameters = self._without_itself(parameters, key)
        return Vertex(key, agent, objective, tool, parameters, after)

    def _without_itself(self, parameters: dict[str, Any], key: str) -> dict[str, Any]:
        """Let a step that would work on what it gives itself work on the only layer there is."""
        keys = set(self._known.layers.values())
        if len(keys) != 1:
            return parameters
        only = Layer(next(iter(keys)))
        used: dict[str, Any] = mapped(parameters, lambda one: only if one == Output(key) else one)
        if used != parameters:
            self.remarks.append(f"{key} took its own result and takes {only.name} instead.")
        return used

    def _tool(self, name: str) -> str:
        if name in self._known.definitions:
            return name
        bare = _bare(name)
        return next((one for one in self._known.definitions if _bare(one) == bare), name)

    def _argument(self, name: str, properties: Mapping[str, Any]) -> str:
        if name in properties:
            return name
        return next((one for one in properties if _bare(one) == _bare(name)), name)

    def _agent(self, name: str, tool: str, key: str) -> str:
        """Return the agent that a task names, the tool's own where that one has not the tool."""
        role = self._known.roles.find(name)
        if role is not None and (not tool or tool in role.tools):
            return name
        own = self._known.roles.of(tool)
        if own is None:
            return name
        if name:
            self.remarks.append(f"{key}: {tool} is a tool of {own.name}, not of {name}.")
        return own.name

    def _after(self, task: Mapping[str, Any], key: str) -> tuple[str, ...]:
        found = task.get("after")
        listed = found if isinstance(found, list) else [found]
        steps = (self._names.step(str(one)) for one in listed)
        return tuple(dict.fromkeys(one for one in steps if one and one != key))


def compact(graph: Graph, only: Iterable[str] | None = None) -> dict[str, Any]:
    """Return a graph, or some of its steps, as a model reads and writes it."""
    kept = set(graph.ids() if only is None else only)
    tasks = [task(graph, one) for one in graph.vertices if one.id in kept]
    answer = graph.answer
    said = answer.value.text if answer.value is not None else ""
    if answer.text:
        said = answer.text
    return {"tasks": tasks, "answer": said}


def task(graph: Graph, vertex: Vertex) -> dict[str, Any]:
    """Return one step as a task."""
    if vertex.kind is Kind.QUESTION:
        return {"id": vertex.id, "ask": vertex.objective}
    arguments = told(dict(vertex.parameters or {}), graph.has)
    if vertex.kind is Kind.REVIEW:
        return {"id": vertex.id, "review": arguments.get(_LAYER, "")}
    form: dict[str, Any] = {"id": vertex.id, "agent": vertex.agent}
    if vertex.is_abstract:
        form["objective"] = vertex.objective
    else:
        form.update(tool=vertex.tool, arguments=arguments)
    if vertex.after:
        form["after"] = list(vertex.after)
    return form


def in_order(vertices: Sequence[Vertex]) -> tuple[Vertex, ...]:
    """Return steps that keep the order in which they stand where no argument tells it.

    The agent of maps changes how a layer looks: what is coloured first is labelled or exported
    afterwards. What a review stop shows is not used before the user has looked.
    """
    found: list[Vertex] = []
    for one in vertices:
        before = [other for other in found if _shares(other, one)]
        known = {output.vertex for output in one.outputs()}
        after = [other.id for other in before if other.id not in known]
        found.append(replace(one, after=tuple(dict.fromkeys((*one.after, *after)))))
    return tuple(found)


def _shares(first: Vertex, second: Vertex) -> bool:
    """Tell whether the second step has to wait for the first for the sake of a layer of both."""
    one, other = _layers_of(first), _layers_of(second)
    if first.kind is Kind.REVIEW:
        return bool(one & other)
    if first.agent != _MAPS or second.agent != _MAPS:
        return False
    return not one or not other or bool(one & other)


def _layers_of(vertex: Vertex) -> set[Any]:
    return {one for one in vertex.values() if isinstance(one, (Layer, Output))}


def _arguments(task: Mapping[str, Any]) -> Mapping[str, Any]:
    found = task.get("arguments") or {}
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError:
            found = {}
    return found if isinstance(found, Mapping) else {}


def _properties(definition: ToolDefinition | None) -> Mapping[str, Any]:
    found: Mapping[str, Any] = {} if definition is None else definition.parameters
    properties: Mapping[str, Any] = found.get("properties", {})
    return properties


def _free(taken: set[str], place: int) -> str:
    while f"v{place}" in taken:
        place += 1
    return f"v{place}"


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
