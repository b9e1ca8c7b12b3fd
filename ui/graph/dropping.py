# SPDX-License-Identifier: GPL-2.0-or-later
"""What is dragged over the canvas from elsewhere: shown where it would go, and put there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qgis.PyQt.QtCore import QCoreApplication, QPoint, QPointF, Qt

from ...plugin.workflow.fitting import Unfitting
from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.layout import COLUMN
from ...plugin.workflow.port import name_of
from ...plugin.workflow.value import Layer, Output
from .carried import Carried, carried
from .hand import Hand
from .link_item import LinkItem
from .node_item import NodeItem
from .scene import GraphScene

if TYPE_CHECKING:
    from .command import Commands
    from .view import GraphView

_ABOVE = 2.0


def tr(text: str) -> str:
    """Translate a text beside the pointer."""
    return QCoreApplication.translate("Dropping", text)


class Dropping(Hand):
    """Holds what is dragged: a step lights the link that it fits into, a layer the ports that take
    it. `opened` are files and the like that the project has to open first: (sources, place in em,
    step, port)."""

    def __init__(self, scene: GraphScene, held: Carried) -> None:
        self._scene, self._held = scene, held
        self._place = QPointF()
        self._link: LinkItem | None = None
        self._node: NodeItem | None = None
        self._port = ""
        self.opened: tuple[tuple[str, ...], tuple[float, float], str, str] | None = None
        self._steps = {one.id: one for one in scene.document.graph.vertices}
        if len(held.layers) == 1:
            for node in scene.nodes.values():
                node.lit = frozenset(self._fitting(node))
                node.update()

    def move(self, place: QPointF) -> None:
        """Follow the pointer."""
        self._dim()
        self._place, self.said = place, ""
        self._node = self._scene.node_at(place)
        if self._node is not None and self._node.key not in self._steps:
            self._node, self.said = None, tr("Accept the proposed step first")
        elif self._node is not None:
            self._over(self._node, place)
        elif self._held.step is not None:
            self._link = self._scene.link_at(place)
            if self._link is not None:
                self._over_link(self._link, self._held.step)

    def _over(self, node: NodeItem, place: QPointF) -> None:
        vertex = self._steps[node.key]
        self._port = node.input_at(place)
        if self._held.step is not None:
            self.said = tr("Add it after this step")
        elif self._held.layers:
            source = Layer(self._held.layers[0])
            flow, joining = self._scene.document.flow, self._scene.joining
            self._port = self._port or joining.port_for(vertex, flow.family(source))
            why = flow.refusal(source, vertex, self._port)
            text = tr("{0} to {1}").replace("{0}", source.name)
            self.said = why or text.replace("{1}", name_of(self._port).replace("_", " "))
        elif not self._scene.document.ports(vertex):
            self.said = tr("This takes no layer")

    def _over_link(self, link: LinkItem, step: Vertex) -> None:
        try:
            self._scene.joining.entry(step, link.key)
        except Unfitting as unfitting:
            self.said = str(unfitting)
        else:
            link.light(True)
            self.said = tr("Insert here")

    def finish(self, commands: Commands) -> None:
        """Put it where it is."""
        self.cancel()
        spot = self._place / self._scene.unit
        at = (float(round(spot.x())), float(round(spot.y())))
        held, node, joins = self._held, self._node, commands.joins
        if held.step is not None and self._link is not None:
            joins.put_new_into(held.step, self._link.key)
        elif held.step is not None and node is not None:
            beside = (node.x() / node.unit + COLUMN, node.y() / node.unit)
            joins.add(held.step, beside, Output(node.key))
        elif held.step is not None:
            joins.add(held.step, (at[0], at[1] - _ABOVE))
        elif held.sources:
            key = node.key if node is not None else ""
            self.opened = (held.sources, at, key, self._port)
        elif node is not None:
            for name in held.layers:
                joins.take_layer(name, node.key, self._port)
        elif held.layers:
            joins.place_layers(held.layers, (at[0], at[1] - _ABOVE))

    def cancel(self) -> None:
        """Let ports and links look as before."""
        self._dim()
        for node in self._scene.nodes.values():
            if node.lit is not None:
                node.lit = None
                node.update()

    def _dim(self) -> None:
        if self._link is not None:
            self._link.light(False)

    def _fitting(self, node: NodeItem) -> list[str]:
        vertex = self._steps.get(node.key)
        if vertex is None:
            return []
        source, flow = Layer(self._held.layers[0]), self._scene.document.flow
        return [name for name, _ in node.inputs() if not flow.refusal(source, vertex, name)]


class DropArea:
    """Takes the drag events of a view. What the project has to open first goes out by the view's
    `sources_dropped`."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._hand: Dropping | None = None
        view.setAcceptDrops(True)
        view.viewport().setAcceptDrops(True)

    def enter(self, event: Any) -> None:
        """Take what the canvas can take."""
        held = carried(event.mimeData(), self._view.document)
        if held.is_empty or self._view.document.proposal is not None:
            event.ignore()
            return
        self._hand = Dropping(self._view.graph_scene, held)
        self.move(event)

    def move(self, event: Any) -> None:
        """Show where it would go."""
        if self._hand is None:
            event.ignore()
            return
        at = _point(event)
        self._hand.move(self._view.mapToScene(at))
        self._view.say_beside(self._hand.said, at)
        _copies(event)

    def leave(self) -> None:
        """Forget it."""
        if self._hand is not None:
            self._hand.cancel()
        self._hand = None
        self._view.say_beside("", QPoint())

    def drop(self, event: Any) -> None:
        """Put it down."""
        hand = self._hand
        self.leave()
        if hand is None:
            event.ignore()
            return
        hand.move(self._view.mapToScene(_point(event)))
        hand.finish(self._view.commands)
        if hand.opened is not None:
            self._view.sources_dropped.emit(*hand.opened)
        _copies(event)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)


def _point(event: Any) -> QPoint:
    """Return where a drag is, in Qt 5 and in Qt 6."""
    return event.position().toPoint() if hasattr(event, "position") else event.pos()


def _copies(event: Any) -> None:
    """Take the drag as a copy, so that QGIS's layer tree does not take its layer away."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()
