# SPDX-License-Identifier: GPL-2.0-or-later
"""What the mouse holds on the canvas: steps that are moved, or a link that is drawn."""

from __future__ import annotations

from qgis.PyQt.QtCore import QPointF

from ...plugin.workflow.topology import ancestors
from ...plugin.workflow.value import Layer, Output
from . import editing
from .layer_item import LayerItem
from .link_item import LinkKey
from .measure import ATTRACT
from .node_item import NodeItem
from .scene import GraphScene

Found = tuple["Layer | Output", str, str]


class Hand:
    """What is held; the graph is asked for a change only when it is let go."""


class Moving(Hand):
    """Steps that are dragged."""

    def __init__(self, scene: GraphScene) -> None:
        self._scene = scene
        self._before = {key: item.pos() for key, item in scene.nodes.items()}

    def move(self) -> None:
        """Let the links follow."""
        keys = self.moved()
        if keys:
            self._scene.lay_links(keys)

    def moved(self) -> list[str]:
        """Return the steps that stand elsewhere now."""
        return [k for k, one in self._scene.nodes.items() if one.pos() != self._before.get(k)]

    def places(self) -> dict[str, tuple[float, float]]:
        """Return the new places in em, of all steps once one was moved, so that none jumps."""
        unit = self._scene.unit
        if not self.moved():
            return {}
        return {
            key: (round(item.x() / unit * 2) / 2, round(item.y() / unit * 2) / 2)
            for key, item in self._scene.nodes.items()
        }


class Linking(Hand):
    """A link that is drawn from an output, or taken off an input."""

    def __init__(
        self, scene: GraphScene, source: Layer | Output, start: QPointF, taken: LinkKey | None
    ) -> None:
        self._scene, self.source, self.start, self.here = scene, source, start, start
        self.taken, self.forward, self.said = taken, True, ""
        self.node: NodeItem | None = None
        self.port = ""
        for node in scene.nodes.values():
            node.lit = frozenset(self._fitting(node))
            node.update()

    @classmethod
    def begun(cls, scene: GraphScene, place: QPointF) -> Linking | None:
        """Return a link that begins at a place: at an output, or at an input that has one."""
        for item in (*scene.near(place, NodeItem, 1.0), *scene.near(place, LayerItem, 1.0)):
            if isinstance(item, LayerItem) and item.is_at_output(place):
                return cls(scene, Layer(item.name), item.output(), None)
            if isinstance(item, NodeItem) and item.is_at_output(place):
                return cls(scene, Output(item.key), item.output(), None)
        for item in scene.near(place, NodeItem, 1.0):
            if not isinstance(item, NodeItem):
                continue
            left = item.mapFromScene(place).x() <= scene.unit
            port = item.input_at(place) if left else ""
            for key, link in scene.links.items():
                if port and (key.target, key.port) == (item.key, port):
                    link.hide()
                    source = scene.document.graph
                    start = _start(scene, key)
                    if start is not None and source.has(item.key):
                        return cls(scene, key.source, start, key)
        return None

    def move(self, place: QPointF) -> None:
        """Follow the pointer; a fitting port near by attracts."""
        self.here, self.node, self.port, self.said = place, None, "", ""
        for item in self._scene.near(place, NodeItem, ATTRACT):
            if not isinstance(item, NodeItem):
                continue
            near = [
                (name, spot)
                for name, spot in item.inputs()
                if (spot - place).manhattanLength() <= ATTRACT * self._scene.unit
            ]
            under = item.input_at(place)
            chosen = next(((n, s) for n, s in item.inputs() if n == under), None) or min(
                near, key=lambda one: (one[1] - place).manhattanLength(), default=None
            )
            if chosen is None:
                continue
            self.node = item
            self.said = self._why_not(item, chosen[0])
            if not self.said:
                self.port, self.here = chosen
            return

    def end(self) -> None:
        """Let the ports look as before, and the link that was taken off be seen."""
        for node in self._scene.nodes.values():
            node.lit = None
            node.update()
        if self.taken is not None and self.taken in self._scene.links:
            self._scene.links[self.taken].show()

    def wanted(self) -> Found | None:
        """Return the link that is meant, None where it was let go on nothing."""
        if self.node is None or not self.port:
            return None
        return self.source, self.node.key, self.port

    def _fitting(self, node: NodeItem) -> list[str]:
        return [name for name, _ in node.inputs() if not self._why_not(node, name)]

    def _why_not(self, node: NodeItem, port: str) -> str:
        """Return why a port cannot take what is held, "" where it can."""
        document = self._scene.document
        graph = document.graph
        definition = document.tools.get(graph.vertex(node.key).tool)
        if port not in editing.inputs(definition):
            return document.tr("This takes no layer")
        if not isinstance(self.source, Output):
            return ""
        if self.source.vertex == node.key or node.key in ancestors(graph, self.source.vertex):
            return document.tr("The steps would wait for each other")
        return ""


def _start(scene: GraphScene, key: LinkKey) -> QPointF | None:
    if isinstance(key.source, Layer):
        pill = scene.pills.get(key.source.name)
        return pill.output() if pill is not None else None
    node = scene.nodes.get(key.source.vertex)
    return node.output() if node is not None else None
