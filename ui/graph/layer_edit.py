# SPDX-License-Identifier: GPL-2.0-or-later
"""What hands do to the layers of a workflow, as functions of graphs: place them, take them away."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ...plugin.workflow import port
from ...plugin.workflow.graph import Graph, Source, Vertex
from ...plugin.workflow.value import Layer, Value
from ...tools.base import LayerProfile

Place = tuple[float, float]


def source_of(profile: LayerProfile) -> Source:
    """Return a project layer as a workflow keeps it."""
    fields = tuple(one.name for one in profile.fields)
    return Source(
        profile.key, profile.source, geometry=profile.geometry, crs=profile.crs, fields=fields
    )


def placed(graph: Graph, places: Mapping[str, Place], known: Mapping[str, Source]) -> Graph:
    """Return a graph whose layers stand at places, in em; one that it did not know is taken in,
    as it is in `known`."""
    sources = [
        replace(one, position=places[one.name]) if one.name in places else one
        for one in graph.sources
    ]
    held = {one.name for one in sources}
    for name, place in places.items():
        if name not in held:
            sources.append(replace(known.get(name, Source(name)), position=place))
    return replace(graph, sources=tuple(sources))


def without(graph: Graph, names: Collection[str]) -> Graph:
    """Return a graph in which no step takes some layers, and that does not show them."""
    sources = tuple(one for one in graph.sources if one.name not in names)
    steps = tuple(_without(one, names) for one in graph.vertices)
    return replace(graph, vertices=steps, sources=sources)


def unplaced(graph: Graph) -> Graph:
    """Return a graph whose steps and taken layers stand where the layout wants them; a layer that
    no step takes keeps its place."""
    used = {name for one in graph.vertices for name in one.layers()}
    steps = tuple(replace(one, position=None) for one in graph.vertices)
    sources = tuple(
        replace(one, position=None) if one.name in used else one for one in graph.sources
    )
    return replace(graph, vertices=steps, sources=sources)


def _without(vertex: Vertex, names: Collection[str]) -> Vertex:
    def gone(value: Value) -> bool:
        return isinstance(value, Layer) and value.name in names

    return replace(vertex, parameters=port.without(vertex.parameters, gone))
