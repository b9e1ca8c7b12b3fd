# SPDX-License-Identifier: GPL-2.0-or-later
"""What hands do to a workflow, as functions of graphs: add, connect, remove, duplicate, paste."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...plugin.workflow.fitting import Port
from ...plugin.workflow.graph import Graph, Kind, Vertex
from ...plugin.workflow.port import value_at, with_value, without
from ...plugin.workflow.topology import ancestors
from ...plugin.workflow.value import Layer, Output, Value, mapped

Place = tuple[float, float]
_MARK = "x-layer"


class Refused(Exception):
    """What hands wanted cannot be; the message is the sentence to show."""


def takes_layer(schema: Mapping[str, Any]) -> bool:
    """Tell whether a parameter takes a layer, or a list of them."""
    return _MARK in schema or _MARK in schema.get("items", {})


def takes_many(schema: Mapping[str, Any]) -> bool:
    """Tell whether a parameter takes a list."""
    return schema.get("type") == "array"


def added(graph: Graph, vertex: Vertex, after: str = "", port: str = "") -> Graph:
    """Return a graph with a new step, whose `port` takes what the step `after` gives."""
    parameters = vertex.parameters or {}
    if after and port:
        parameters = with_value(parameters, port, Output(after))
    return graph.with_vertex(replace(vertex, parameters=parameters))


def connected(graph: Graph, source: Value, target: str, port: str, known: Port | None) -> Graph:
    """Return a graph in which a step's port takes a layer or what another step gives; `known` is
    what the port takes.

    Raises Refused for a ring and for what is no port.
    """
    vertex = graph.vertex(target)
    if known is None:
        raise Refused(f"{port} takes no layer.")
    if isinstance(source, Output) and (
        source.vertex == target or target in ancestors(graph, source.vertex)
    ):
        raise Refused(f"{source.vertex} waits for {target} already, so this would be a ring.")
    given = source
    if known.many:
        old = value_at(vertex.parameters, port) or []
        kept = list(old) if isinstance(old, (list, tuple)) else [old]
        given = kept if source in kept else [*kept, source]
    return graph.with_vertex(replace(vertex, parameters=with_value(vertex.parameters, port, given)))


def disconnected(graph: Graph, target: str, port: str, source: Value) -> Graph:
    """Return a graph in which a step's port does not take a layer or a step's output any more."""
    vertex = graph.vertex(target)
    given = value_at(vertex.parameters, port)
    left: Value = given
    if isinstance(given, (list, tuple)):
        left = [one for one in given if one != source]
    elif given == source:
        left = None
    return graph.with_vertex(replace(vertex, parameters=with_value(vertex.parameters, port, left)))


def removed(graph: Graph, keys: Collection[str]) -> Graph:
    """Return a graph without some steps and without what others took of them."""
    left = graph.without(keys)
    steps = tuple(_without(one, keys) for one in left.vertices)
    answer = left.answer
    if answer.value is not None and answer.value.vertex in keys:
        answer = replace(answer, value=None)
    return replace(left, vertices=steps, answer=answer)


def _without(vertex: Vertex, keys: Collection[str]) -> Vertex:
    def gone(value: Value) -> bool:
        return isinstance(value, Output) and value.vertex in keys

    after = tuple(one for one in vertex.after if one not in keys)
    return replace(vertex, parameters=without(vertex.parameters, gone), after=after)


def pasted(graph: Graph, vertices: Iterable[Vertex], shift: float = 2.0) -> tuple[Graph, list[str]]:
    """Return a graph with copies of steps, and their ids; what they take of each other stays
    among the copies, `shift` in em moves them."""
    copied = list(vertices)
    found, names = graph, dict[str, str]()
    for one in copied:
        key = (
            one.id if not found.has(one.id) and found.variable(one.id) is None else found.free_id()
        )
        names[one.id] = key
        found = found.with_vertex(Vertex(key))

    def change(value: Value) -> Value:
        if isinstance(value, Output):
            return replace(value, vertex=names.get(value.vertex, value.vertex))
        return value

    for one in copied:
        place = None if one.position is None else (one.position[0] + shift, one.position[1] + shift)
        parameters = None if one.parameters is None else mapped(one.parameters, change)
        after = tuple(names.get(key, key) for key in one.after)
        found = found.with_vertex(
            replace(one, id=names[one.id], parameters=parameters, after=after, position=place)
        )
    return found, [names[one.id] for one in copied]


def moved(graph: Graph, places: Mapping[str, Place]) -> Graph:
    """Return a graph with steps at other places, in em."""
    steps = (
        replace(one, position=places[one.id]) if one.id in places else one for one in graph.vertices
    )
    return replace(graph, vertices=tuple(steps))


def bypassed(graph: Graph, keys: Collection[str], on: bool) -> Graph:
    """Return a graph in which steps hand their first layer on, or work again."""
    steps = (
        replace(one, bypassed=on) if one.id in keys and one.kind is Kind.TASK else one
        for one in graph.vertices
    )
    return replace(graph, vertices=tuple(steps))


def with_parameter(graph: Graph, key: str, name: str, value: Value) -> Graph:
    """Return a graph with a parameter of a step set; None takes it away."""
    vertex = graph.vertex(key)
    parameters = dict(vertex.parameters or {})
    if value is None:
        parameters.pop(name, None)
    else:
        parameters[name] = value
    return graph.with_vertex(replace(vertex, parameters=parameters))


def layers_of(graph: Graph) -> tuple[str, ...]:
    """Return the project layers that a graph takes, each once, in the order of their use."""
    found = (
        value.name for one in graph.vertices for value in one.values() if isinstance(value, Layer)
    )
    return tuple(dict.fromkeys(found))


def unwaited(graph: Graph, target: str, other: str) -> Graph:
    """Return a graph in which a step does not wait for another any more that gives it nothing."""
    vertex = graph.vertex(target)
    after = tuple(one for one in vertex.after if one != other)
    return graph.with_vertex(replace(vertex, after=after))
