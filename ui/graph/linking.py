# SPDX-License-Identifier: GPL-2.0-or-later
"""A link in the hand: drawn from an output or an input by mouse or keys, or taken off an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QCoreApplication, QPointF, Qt
from qgis.PyQt.QtGui import QPainter, QPainterPath, QPen

from ...plugin.workflow.fitting import PLURAL
from ...plugin.workflow.port import name_of
from ...plugin.workflow.topology import ancestors, descendants
from ...plugin.workflow.value import Layer, Output
from ..palette import Tone, tone_colour
from .hand import Hand
from .layer_item import LayerItem
from .link_item import LinkKey
from .measure import ATTRACT
from .node_item import NodeItem
from .scene import GraphScene

if TYPE_CHECKING:
    from .command import Commands


def tr(text: str) -> str:
    """Translate a text beside the pointer."""
    return QCoreApplication.translate("Linking", text)


class Linking(Hand):
    """A link that looks for the input of a step; fitting ports are lit. `taken` is the link that
    it was before, if any."""

    def __init__(
        self, scene: GraphScene, source: Layer | Output, start: QPointF, taken: LinkKey | None
    ) -> None:
        self._scene, self.source, self.start, self.here = scene, source, start, start
        self.taken, self.said = taken, ""
        self.node: NodeItem | None = None
        self.port = ""
        graph = scene.document.graph
        self._above: frozenset[str] = frozenset()
        if isinstance(source, Output):
            self._above = ancestors(graph, source.vertex) | {source.vertex}
        self._family = scene.document.flow.family(source)
        self._steps = {one.id: one for one in graph.vertices}
        for node in scene.nodes.values():
            node.lit = frozenset(self._fitting(node))
            node.update()

    @classmethod
    def begun(cls, scene: GraphScene, place: QPointF) -> Hand | None:
        """Return a link that begins at a place: at an output, or at an input."""
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
                    start = scene.link_layer.start(key.source)
                    if start is not None:
                        link.hide()
                        return cls(scene, key.source, start, key)
            if port:
                return Fetching(scene, item, port)
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
            if chosen is not None:
                self.aim(item, chosen[0])
                return

    def aim(self, node: NodeItem, port: str) -> None:
        """Hold the link at a port of a step, or say why it cannot end there."""
        self.node = node
        why = self._why_not(node, port)
        self.said = why or self._what(port)
        if not why:
            self.port = port
            self.here = dict(node.inputs())[port]

    def choices(self) -> list[tuple[NodeItem, str]]:
        """Return the ports at which the link may end, from left to right and top to bottom."""
        nodes = sorted(self._scene.nodes.values(), key=lambda one: (one.x(), one.y()))
        shown = [one for one in nodes if one.isVisible()]
        return [(node, port) for node in shown for port in self._fitting(node)]

    def finish(self, commands: Commands) -> None:
        """Ask for the link; let go on nothing, offer the steps that could follow."""
        self.cancel()
        if self.node is not None and self.port:
            commands.joins.connect(self.source, self.node.key, self.port)
        elif self.node is None and self.taken is not None:
            commands.disconnect_links([self.taken])
        elif self.node is None and (self.here - self.start).manhattanLength() > self._scene.unit:
            commands.joins.offer_after(self.source, self.here)

    def cancel(self) -> None:
        """Let the ports look as before, and the link that was taken off be seen."""
        for node in self._scene.nodes.values():
            node.lit = None
            node.update()
        if self.taken is not None and self.taken in self._scene.links:
            self._scene.links[self.taken].show()

    def paint(self, painter: QPainter) -> None:
        """Draw the link."""
        draw_link(painter, self._scene, self.start, self.here)

    def _what(self, port: str) -> str:
        what = PLURAL[self._family] if self._family is not None else ""
        words = what[:1].upper() + what[1:]
        text = tr("{0} to {1}").replace("{0}", words)
        return text.replace("{1}", name_of(port).replace("_", " "))

    def _fitting(self, node: NodeItem) -> list[str]:
        return [name for name, _ in node.inputs() if not self._why_not(node, name)]

    def _why_not(self, node: NodeItem, port: str) -> str:
        """Return why a port cannot take what is held, "" where it can."""
        if node.key in self._above:
            return tr("The steps would wait for each other")
        vertex = self._steps.get(node.key)
        if vertex is None:
            return tr("Accept the proposed step first")
        return self._scene.document.flow.refusal(self.source, vertex, port)


class Fetching(Hand):
    """A link that looks from an input for what it takes: a layer, or the output of a step."""

    def __init__(self, scene: GraphScene, node: NodeItem, port: str) -> None:
        self._scene, self._node, self._port = scene, node, port
        self.start = self.here = dict(node.inputs())[port]
        graph = scene.document.graph
        self._below = descendants(graph, node.key) | {node.key}
        self._vertex = graph.vertex(node.key) if graph.has(node.key) else None
        self._source: Layer | Output | None = None

    def move(self, place: QPointF) -> None:
        """Follow the pointer; an output near by attracts."""
        self.here, self._source, self.said = place, None, ""
        reach = 1.5
        found = (*self._scene.near(place, NodeItem, reach),
                 *self._scene.near(place, LayerItem, reach))  # fmt: skip
        for item in found:
            if isinstance(item, LayerItem):
                source: Layer | Output = Layer(item.name)
            elif isinstance(item, NodeItem) and item.key != self._node.key:
                source = Output(item.key)
            else:
                continue
            self.said = self._why_not(source)
            if not self.said:
                self._source, self.here = source, item.output()
            return

    def finish(self, commands: Commands) -> None:
        """Ask for the link."""
        if self._source is not None:
            commands.joins.connect(self._source, self._node.key, self._port)
        elif self.said:
            commands.said.emit(self.said)

    def paint(self, painter: QPainter) -> None:
        """Draw the link."""
        draw_link(painter, self._scene, self.here, self.start)

    def _why_not(self, source: Layer | Output) -> str:
        if isinstance(source, Output) and source.vertex in self._below:
            return tr("The steps would wait for each other")
        if self._vertex is None:
            return tr("Accept the proposed step first")
        return self._scene.document.flow.refusal(source, self._vertex, self._port)


def draw_link(painter: QPainter, scene: GraphScene, start: QPointF, end: QPointF) -> None:
    """Draw a link that is not there yet, from an output to an input."""
    path = QPainterPath(start)
    away = QPointF(max(abs(end.x() - start.x()) / 2, 2.5 * scene.unit), 0)
    path.cubicTo(start + away, end - away, end)
    pen = QPen(tone_colour(scene.look, Tone.RUNNING), 0.2 * scene.unit)
    pen.setStyle(Qt.PenStyle.DashLine)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(path)
