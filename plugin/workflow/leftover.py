# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps that nobody uses, joined to the step that must have meant what they give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .graph import Graph, Vertex
from .topology import ancestors
from .value import Layer, Output, mapped


def linked(graph: Graph, leftovers: Iterable[str]) -> Graph:
    """Return a graph in which the layer of a leftover takes the place of the layer that it was
    made from, in the one other step that still uses that one.

    Whoever has an index made of a scene and then measures the scene has meant the index. A
    leftover of several layers, or one with several such steps, stays as it is.
    """
    for key in leftovers:
        made_from = set(graph.vertex(key).layers())
        if len(made_from) != 1:
            continue
        (name,) = made_from
        users = [
            one
            for one in graph.vertices
            if one.id != key
            and name in one.layers()
            and one.id not in ancestors(graph, key)
            and not graph.children(key)
        ]
        if len(users) == 1:
            graph = graph.with_vertex(_using(users[0], Layer(name), Output(key)))
    return graph


def _using(vertex: Vertex, old: Layer, new: Output) -> Vertex:
    parameters = mapped(dict(vertex.parameters or {}), lambda one: new if one == old else one)
    return replace(vertex, parameters=parameters)
