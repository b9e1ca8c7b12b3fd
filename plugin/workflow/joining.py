# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the graphs of one chat together: what a later one takes of an earlier one's results becomes
steps of its own, so that it can be kept and run anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .graph import Graph, Source, Variable, Vertex
from .topology import ancestors
from .value import Layer, Output, Value, mapped

Made = Mapping[str, tuple[Graph, str]]
"""The graph, joined itself, and the step that made a layer, by the layer's key."""


def joined(graph: Graph, made: Made) -> Graph:
    """Return a graph in which every layer that an earlier graph made is that graph's step, with
    all that leads to it; each step is taken once. What names no made layer stays as it is."""
    return _Joining(graph, made).graph


class _Joining:
    def __init__(self, graph: Graph, made: Made) -> None:
        self.graph = replace(graph, vertices=())
        self._made = made
        self._own = {*graph.ids(), *(one.name for one in graph.variables)}
        self._taken: dict[tuple[int, str], str] = {}
        self._before: list[Vertex] = []
        own = [self._linked(one) for one in graph.vertices]
        keys = set(self._made)
        self.graph = replace(
            self.graph,
            vertices=(*self._before, *own),
            sources=tuple(one for one in self.graph.sources if one.name not in keys),
        )

    def _linked(self, vertex: Vertex) -> Vertex:
        """Return a step whose made layers are outputs; their steps are put before it."""
        if vertex.parameters is None:
            return vertex

        def change(value: Value) -> Value:
            if isinstance(value, Layer) and value.name in self._made:
                return Output(self._brought(*self._made[value.name]))
            return value

        return replace(vertex, parameters=mapped(vertex.parameters, change))

    def _brought(self, graph: Graph, step: str) -> str:
        """Put a step of an earlier graph before, with what leads to it; returns its new id."""
        known = self._taken.get((id(graph), step))
        if known is not None:
            return known
        wanted = {step, *ancestors(graph, step)}
        part = graph.without(set(graph.ids()) - wanted)
        for one in part.ids():
            if one in self._own or any(one == other.id for other in self._before):
                part = part.renamed(one, self._free({*part.ids()}))
        for old, vertex in zip((key for key in graph.ids() if key in wanted), part.vertices):
            self._taken[(id(graph), old)] = vertex.id
        self._before += part.vertices
        self._keep(graph.sources, graph.variables)
        return self._taken[(id(graph), step)]

    def _keep(self, sources: tuple[Source, ...], variables: tuple[Variable, ...]) -> None:
        known = {one.name for one in self.graph.sources}
        asked = {one.name for one in self.graph.variables}
        self.graph = replace(
            self.graph,
            sources=(*self.graph.sources, *(one for one in sources if one.name not in known)),
            variables=(*self.graph.variables, *(one for one in variables if one.name not in asked)),
        )

    def _free(self, others: set[str]) -> str:
        taken = {*self._own, *others, *(one.id for one in self._before)}
        number = 1
        while f"v{number}" in taken:
            number += 1
        return f"v{number}"
