# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps that are passed over: what used them gets what they would have got."""

from __future__ import annotations

from dataclasses import replace

from .graph import Graph, Vertex
from .topology import order
from .value import Layer, Output, Value, mapped, walk


class BypassError(Exception):
    """A step cannot be passed over: a number of it is used, or it has no input layer."""

    def __init__(self, vertex: str, message: str) -> None:
        super().__init__(message)
        self.vertex = vertex


def handed_on(vertex: Vertex) -> Value:
    """Return the first input layer of a step, as Layer or Output; None where it has none."""
    for value in walk(dict(vertex.parameters or {})):
        if isinstance(value, Layer) or (isinstance(value, Output) and not value.key):
            return value
    return None


def contracted(graph: Graph) -> Graph:
    """Return the graph without its bypassed steps, their links joined.

    Raises BypassError, and TopologyError for a graph without an order.
    """
    for identity in order(graph):
        vertex = graph.vertex(identity)
        if vertex.bypassed:
            graph = _without(graph, vertex)
    return graph


def _without(graph: Graph, gone: Vertex) -> Graph:
    value, parents = handed_on(gone), graph.parents(gone)

    def joined(one: Value) -> Value:
        if not isinstance(one, Output) or one.vertex != gone.id:
            return one
        if one.key or value is None:
            what = f"its {one.key} is used" if one.key else "it has no layer to hand on"
            raise BypassError(gone.id, f"{gone.id} cannot be passed over: {what}.")
        return value

    def moved(vertex: Vertex) -> Vertex:
        for used in graph.used(vertex):
            joined(used)
        after = [new for old in vertex.after for new in (parents if old == gone.id else (old,))]
        parameters = vertex.parameters
        return replace(
            vertex,
            after=tuple(dict.fromkeys(after)),
            parameters=None if parameters is None else mapped(dict(parameters), joined),
        )

    kept = tuple(moved(one) for one in graph.vertices if one.id != gone.id)
    answer = graph.answer
    if answer.value is not None and answer.value.vertex == gone.id:
        new = joined(answer.value)
        answer = replace(answer, value=new if isinstance(new, Output) else None)
    return replace(graph, vertices=kept, answer=answer)
