# SPDX-License-Identifier: GPL-2.0-or-later
"""What hands do to links: connect, put a step into one, take layers in, offer what could follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from qgis.PyQt.QtCore import QObject, QPointF, pyqtSignal

from ...plugin.workflow import fitting
from ...plugin.workflow.fitting import Unfitting
from ...plugin.workflow.graph import Graph, Vertex
from ...plugin.workflow.layout import COLUMN
from ...plugin.workflow.port import name_of, value_at, with_value
from ...plugin.workflow.topology import descendants
from ...plugin.workflow.value import Layer, Output
from . import editing, layer_edit
from .card import title
from .joining import is_placed
from .link_item import LinkKey
from .scene import GraphScene


@dataclass(frozen=True)
class Offer:
    """Steps to choose from, what is done with the chosen one, and more of them by a phrase."""

    steps: Sequence[Vertex]
    take: Callable[[Vertex], None]
    more: Callable[[str], Sequence[Vertex]]


class JoinCommands(QObject):
    """Commands over the links of a scene's document; `said` carries a sentence for the user,
    `offered` an Offer to be chosen from, and the place in the scene."""

    said = pyqtSignal(str)
    offered = pyqtSignal(object, object)

    def __init__(self, scene: GraphScene, parent: QObject) -> None:
        super().__init__(parent)
        self._scene, self._document = scene, scene.document

    # -- links

    def connect(self, source: Layer | Output, target: str, port: str) -> None:
        """Let a step's parameter take a layer or what another step gives."""
        document = self._document
        vertex = document.graph.vertex(target)
        known = document.ports(vertex).get(port)
        names = self._scene.joining.name(source), title(document, vertex)
        text = self.tr("Connect {0} to {1}: {2}").replace("{0}", names[0]).replace("{1}", names[1])
        old = value_at(vertex.parameters, port)
        try:
            document.edit(
                text.replace("{2}", name_of(port)),
                lambda now: editing.connected(now, source, target, port, known),
            )
        except editing.Refused as refused:
            self.said.emit(str(refused))
            return
        if isinstance(old, (Layer, Output)) and old != source:
            text = self.tr("It takes the place of {}.")
            self.said.emit(text.replace("{}", self._scene.joining.name(old)))

    # -- steps in links

    def put_into(self, key: str, link: LinkKey) -> None:
        """Put a step that is there into a link."""
        why = self._scene.joining.why_not_into(key, link)
        if why:
            self.said.emit(why)
            return
        vertex = self._document.graph.vertex(key)
        self._put(vertex, link)

    def put_new_into(self, step: Vertex, link: LinkKey) -> None:
        """Put a new step into a link, and select it."""
        key = self._document.graph.free_id()
        if self._put(replace(step, id=key), link):
            self._document.select((key,))

    def offer_in(self, link: LinkKey) -> None:
        """Let the user choose what is put into a link."""
        found = self._scene.joining.offers_in(link)
        place = self._scene.links[link].middle() if link in self._scene.links else QPointF()
        if not found:
            self.said.emit(self.tr("No step fits into this link."))
            return
        self.offered.emit(
            Offer(
                found,
                lambda step: self.put_new_into(step, link),
                lambda phrase: self._scene.joining.algorithms_in(link, phrase),
            ),
            place,
        )

    def offer_after(self, source: Layer | Output, place: QPointF) -> None:
        """Let the user choose a new step that takes what flows, at a place in the scene."""
        steps = self._scene.joining.offers_after(source)
        if not steps:
            self.said.emit(self.tr("No step takes what {} gives.").replace(
                "{}", self._scene.joining.name(source)))  # fmt: skip
            return
        spot = place / self._scene.unit
        at = (round(spot.x()), round(spot.y()))
        self.offered.emit(
            Offer(
                steps,
                lambda step: self.add(step, at, source),
                lambda phrase: self._scene.joining.algorithms_after(source, phrase),
            ),
            place,
        )

    def add(
        self, step: Vertex, at: tuple[float, float], source: Layer | Output | None = None
    ) -> None:
        """Add a new step at a place in em, which takes what flows, and select it."""
        document = self._document
        key = document.graph.free_id()
        port = ""
        if source is not None:
            port = self._scene.joining.port_for(step, document.flow.family(source))
        parameters = with_value(step.parameters, port, source) if port else step.parameters
        places = self._scene.places() if document.graph.vertices else {}
        fresh = replace(step, id=key, position=at, parameters=parameters)
        text = self.tr("Add {}").replace("{}", title(document, fresh))
        if document.edit(text, lambda graph: editing.moved(graph, places).with_vertex(fresh)):
            document.select((key,))

    def _put(self, vertex: Vertex, link: LinkKey) -> bool:
        document, joining = self._document, self._scene.joining
        try:
            gap, port = joining.gap(link), joining.entry(vertex, link)
        except Unfitting as unfitting:
            self.said.emit(str(unfitting))
            return False
        ends = joining.name(link.source), title(document, document.graph.vertex(link.target))
        text = self.tr("Insert {0} between {1} and {2}").replace("{0}", title(document, vertex))
        text = text.replace("{1}", ends[0]).replace("{2}", ends[1])
        is_new = not document.graph.has(vertex.id)
        kept = self._scene.places()
        node = self._scene.nodes.get(link.target)
        place = (node.x() / self._scene.unit, node.y() / self._scene.unit) if node else (0.0, 0.0)

        def put(graph: Graph) -> Graph:
            if is_new and is_placed(graph):
                graph = self._shifted(graph, link)
            found = fitting.inserted(graph, gap, vertex, port)
            if not is_placed(graph):
                return found
            return editing.moved(found, {vertex.id: place} if is_new else kept)

        return document.edit(text, put)

    def _shifted(self, graph: Graph, link: LinkKey) -> Graph:
        """Return a graph in which the end of a link and what follows it stand one column more to
        the right."""
        later = {link.target, *descendants(graph, link.target)}
        places = self._scene.places()
        return editing.moved(
            graph,
            {key: (x + COLUMN, y) if key in later else (x, y) for key, (x, y) in places.items()},
        )

    # -- layers

    def place_layers(self, names: Sequence[str], at: tuple[float, float]) -> None:
        """Put layers of the project on the canvas, one below the other from a place in em."""
        places = {name: (at[0], at[1] + row * 5.0) for row, name in enumerate(names)}
        known = {one.key: layer_edit.source_of(one) for one in self._document.layers}
        text = self.tr("Put {} on the canvas").replace("{}", ", ".join(names))
        steps = self._scene.places() if self._document.graph.vertices else {}

        def put(graph: Graph) -> Graph:
            return layer_edit.placed(editing.moved(graph, steps), places, known)

        if not self._document.edit(text, put):
            self.said.emit(self.tr("{} is on the canvas already.").replace("{}", ", ".join(names)))

    def take_layer(self, name: str, target: str, port: str = "") -> None:
        """Let a step take a layer, by a parameter or by the first that is free and fits."""
        document = self._document
        vertex = document.graph.vertex(target)
        source = Layer(name)
        chosen = port or self._scene.joining.port_for(vertex, document.flow.family(source))
        why = document.flow.refusal(source, vertex, chosen)
        if why:
            text = self.tr("{0} cannot take {1}. {2}.").replace("{0}", title(document, vertex))
            self.said.emit(text.replace("{1}", name).replace("{2}", why))
            return
        self.connect(source, target, chosen)
