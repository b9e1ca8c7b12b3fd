# SPDX-License-Identifier: GPL-2.0-or-later
"""What flows through the workflow on the canvas: kinds of layers and how many features."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...plugin.workflow import shape
from ...plugin.workflow.fitting import PLURAL, fits
from ...plugin.workflow.graph import Graph, Vertex
from ...plugin.workflow.shape import Gives, Shapes
from ...plugin.workflow.topology import TopologyError
from ...plugin.workflow.value import Layer, Output
from ...tools.base import Family, LayerReference

if TYPE_CHECKING:
    from .document import GraphDocument

_RULES = Path(__file__).resolve().parents[2] / "resources" / "workflows" / "shapes.json"


@lru_cache(maxsize=1)
def _rules() -> Shapes:
    return shape.load(_RULES)


def family_of(layer: LayerReference) -> Family:
    """Return the kind of a layer in a result."""
    name = layer.geometry.casefold().replace("linestring", "line")
    found = (one for one in Family if one is not Family.ANY and one.value in name)
    return next(found, Family.ANY)


class Flow:
    """Follows kinds and counts from the layers through the steps; a run's results come first.
    What was found is kept until the workflow or the layers are others."""

    def __init__(self, document: GraphDocument) -> None:
        self._document = document
        self._of: tuple[Any, Any] = (None, None)
        self._gives: Mapping[str, Gives] = {}

    def gives(self) -> Mapping[str, Gives]:
        """Return what each step gives; nothing for a workflow without an order."""
        document = self._document
        graph = document.shown
        seen, layers_seen = self._of
        if layers_seen is not document.layers or (seen is not graph and seen != graph):
            self._of = (graph, document.layers)
            layers = {one.key: shape.of_layer(one) for one in document.layers}
            try:
                self._gives = _rules().follow(graph, layers)
            except TopologyError:
                self._gives = {}
        return self._gives

    def family(self, source: Layer | Output) -> Family | None:
        """Return the kind of layer that flows, ANY where it is not known, None for no layer."""
        document = self._document
        if isinstance(source, Layer):
            found = (one.family for one in document.layers if one.key == source.name)
            return next(found, Family.ANY)
        result = document.state(source.vertex).result
        if result is not None and result.layers and not source.key:
            return family_of(result.layers[0])
        gives = self.gives().get(source.vertex)
        if gives is None:
            return Family.ANY
        if source.key:
            return None if gives.has(source.key) else Family.ANY
        return gives.shape.family if gives.shape is not None else None

    def given_by(self, vertex: Vertex, graph: Graph) -> Family | None:
        """Return the kind of layer that a step would give in a graph, None for no layer."""
        layers = {one.key: shape.of_layer(one) for one in self._document.layers}
        found = _rules().of(vertex, self.gives() if graph.vertices else {}, layers)
        return found.shape.family if found.shape is not None else None

    def features(self, source: Layer | Output) -> int:
        """Return how many features flow, -1 where that was not counted yet."""
        document = self._document
        if isinstance(source, Layer):
            found = (one.features for one in document.layers if one.key == source.name)
            return next(found, -1)
        return document.state(source.vertex).features

    def refusal(self, source: Layer | Output, vertex: Vertex, port: str) -> str:
        """Return why a step's parameter cannot take what flows, "" where it can."""
        document = self._document
        found = document.ports(vertex).get(port)
        if found is None:
            return document.tr("This takes no layer")
        family = self.family(source)
        if family is None:
            return document.tr("That step gives no layer")
        if fits(family, found.kinds):
            return ""
        takes = document.tr(" or ").join(PLURAL[one] for one in found.kinds)
        text = document.tr("This takes {0}, and that is {1}")
        return text.replace("{0}", takes).replace("{1}", PLURAL[family])
