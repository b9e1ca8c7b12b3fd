# SPDX-License-Identifier: GPL-2.0-or-later
"""The scene of a workflow: rebuilt from the document, never changing it by itself."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.PyQt.QtCore import QPointF, QRectF, QTimer, pyqtSignal
from qgis.PyQt.QtGui import QFont, QPalette
from qgis.PyQt.QtWidgets import QGraphicsItem, QGraphicsScene

from ...plugin.workflow.graph import Graph, Status
from ...plugin.workflow.layout import COLUMN, Layout, layout
from ...plugin.workflow.value import Layer, Output, Value
from ..number import number
from . import editing
from .card import card
from .document import GraphDocument
from .layer_item import LayerItem
from .link_item import LinkItem, LinkKey
from .node_item import NodeItem

_LAYER = "layer:"
_MARGIN = 6.0


class GraphScene(QGraphicsScene):
    """Nodes, pills and links of one document. A change of the graph rebuilds what it touches, soon
    and never inside a mouse handler; a run only repaints."""

    rebuilt = pyqtSignal()

    def __init__(self, document: GraphDocument, unit: float, font: QFont) -> None:
        super().__init__(document)
        self.document, self.unit, self._font = document, unit, font
        self.look = QPalette()
        self.nodes: dict[str, NodeItem] = {}
        self.pills: dict[str, LayerItem] = {}
        self.links: dict[LinkKey, LinkItem] = {}
        self._places: dict[str, tuple[float, float]] = {}
        self._lanes: Layout | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self.rebuild)
        self._selecting = False
        document.changed.connect(lambda old, new: self._soon.start())
        document.known_changed.connect(self._soon.start)
        document.proposal_changed.connect(self._soon.start)
        document.states_changed.connect(self._repaint)
        document.findings_changed.connect(lambda: self._repaint(self.nodes))
        document.running_changed.connect(lambda on: self._repaint(self.nodes))
        document.selection_changed.connect(self._select)
        self.selectionChanged.connect(self._selected)

    def set_palette(self, palette: QPalette) -> None:
        """Take other colours."""
        self.look = palette
        self._clear()
        self.rebuild()

    # -- building

    def rebuild(self) -> None:
        """Make the items anew that the graph asks for, and drop the others."""
        self._soon.stop()
        graph = self.document.shown
        self._nodes(graph)
        self._pills(graph)
        self._place(graph)
        self._links(graph)
        self._select(self.document.selection)
        box = self.itemsBoundingRect()
        room = _MARGIN * self.unit
        self.setSceneRect(box.adjusted(-room, -room, room, room))
        self.rebuilt.emit()

    def _nodes(self, graph: Graph) -> None:
        for key in set(self.nodes) - set(graph.ids()):
            self.removeItem(self.nodes.pop(key))
        for vertex in graph.vertices:
            said = card(self.document, vertex)
            item = self.nodes.get(vertex.id)
            if item is None:
                item = NodeItem(said, self.unit, self._font, self.look)
                self.addItem(item)
                self.nodes[vertex.id] = item
            else:
                item.show(said)

    def _pills(self, graph: Graph) -> None:
        wanted = editing.layers_of(graph)
        known = {one.key: one for one in self.document.layers}
        for name in tuple(self.pills):
            self.removeItem(self.pills.pop(name))
        for name in wanted:
            pill = LayerItem(name, known.get(name), self.unit, self._font, self.look)
            self.addItem(pill)
            self.pills[name] = pill

    def _place(self, graph: Graph) -> None:
        """Put the items where the user left them, the others where the layout wants them."""
        heights = {key: item.size[1] for key, item in self.nodes.items()}
        heights.update({f"{_LAYER}{name}": item.size[1] for name, item in self.pills.items()})
        pairs = [(_end(source), target) for source, target, _port in _joins(graph)]
        found = layout(heights, pairs)
        moved = any(one.position is not None for one in graph.vertices)
        self._lanes = None if moved else found
        u = self.unit
        for vertex in graph.vertices:
            x, y = vertex.position or found.places[vertex.id]
            self.nodes[vertex.id].setPos(QPointF(x * u, y * u))
        for name, pill in self.pills.items():
            x, y = found.places[f"{_LAYER}{name}"]
            if moved:
                x, y = self._beside(graph, name)
            else:
                x += COLUMN - pill.size[0] - 4
            pill.setPos(QPointF(x * u, y * u))

    def _beside(self, graph: Graph, name: str) -> tuple[float, float]:
        """Return a place left of the first step that takes a layer, below its other pills."""
        users = [one for one in graph.vertices if name in one.layers()]
        first = min(users, key=lambda one: self.nodes[one.id].x())
        item = self.nodes[first.id]
        order = list(first.layers()).index(name)
        return item.x() / self.unit - 15.5, item.y() / self.unit + order * 5.0

    def _links(self, graph: Graph) -> None:
        wanted = {LinkKey(source, target, port) for source, target, port in _joins(graph)}
        for key in set(self.links) - wanted:
            self.removeItem(self.links.pop(key))
        for key in wanted:
            if key not in self.links:
                link = LinkItem(key, self.unit, self._font, self.look)
                self.addItem(link)
                self.links[key] = link
        self.lay_links()

    def lay_links(self, of: Iterable[str] = ()) -> None:
        """Draw the links anew, all or those of some steps."""
        keys = set(of)
        for key, link in self.links.items():
            if keys and key.target not in keys and _end(key.source) not in keys:
                continue
            start, end = self._start(key.source), self._end(key)
            if start is None or end is None:
                continue
            lanes = self._lanes.lanes if self._lanes is not None and not keys else {}
            lane = lanes.get((_end(key.source), key.target), ())
            link.lay(start, end, [QPointF(x * self.unit, y * self.unit) for x, y in lane])
            link.tell(*self._flow(key))

    def _start(self, source: Layer | Output) -> QPointF | None:
        if isinstance(source, Layer):
            return self.pills[source.name].output() if source.name in self.pills else None
        return self.nodes[source.vertex].output() if source.vertex in self.nodes else None

    def _end(self, key: LinkKey) -> QPointF | None:
        node = self.nodes.get(key.target)
        if node is None:
            return None
        found = dict(node.inputs()).get(key.port)
        return found if found is not None else node.mapToScene(QPointF(0, self.unit))

    def _flow(self, key: LinkKey) -> tuple[str, bool]:
        """Return what a link says: how many features flow, and whether they do now."""
        flows = self.document.state(key.target).status is Status.RUNNING
        if isinstance(key.source, Layer):
            known = {one.key: one.features for one in self.document.layers}
            features = known.get(key.source.name, -1)
        else:
            features = self.document.state(key.source.vertex).features
        return (number(features) if features >= 0 and key.port else ""), flows

    def _clear(self) -> None:
        self.clear()
        self.nodes, self.pills, self.links = {}, {}, {}

    # -- showing a run

    def _repaint(self, keys: Iterable[str]) -> None:
        graph = self.document.shown
        for key in tuple(keys):
            item = self.nodes.get(key)
            if item is not None and graph.has(key):
                item.show(card(self.document, graph.vertex(key)))
        for key, link in self.links.items():
            link.tell(*self._flow(key))

    # -- selection

    def _select(self, keys: Iterable[str]) -> None:
        wanted = set(keys)
        self._selecting = True
        for key, item in self.nodes.items():
            if item.isSelected() != (key in wanted):
                item.setSelected(key in wanted)
        self._selecting = False

    def _selected(self) -> None:
        if not self._selecting:
            self.document.select(key for key, item in self.nodes.items() if item.isSelected())

    def selected_links(self) -> list[LinkKey]:
        """Return the links that are selected."""
        return [key for key, link in self.links.items() if link.isSelected()]

    # -- finding

    def node_at(self, point: QPointF) -> NodeItem | None:
        """Return the node at a place, the uppermost."""
        return next((one for one in self.items(point) if isinstance(one, NodeItem)), None)

    def near(self, point: QPointF, kind: type[QGraphicsItem], reach: float) -> list[QGraphicsItem]:
        """Return the items of a kind within `reach` em of a place."""
        side = 2 * reach * self.unit
        box = QRectF(0, 0, side, side)
        box.moveCenter(point)
        return [one for one in self.items(box) if isinstance(one, kind)]


def _end(source: Layer | Output) -> str:
    return f"{_LAYER}{source.name}" if isinstance(source, Layer) else source.vertex


def _joins(graph: Graph) -> list[tuple[Layer | Output, str, str]]:
    """Return every link: what flows, into which step, by which parameter ("" for only waiting)."""
    found: list[tuple[Layer | Output, str, str]] = []
    for vertex in graph.vertices:
        for name, value in (vertex.parameters or {}).items():
            found += [(one, vertex.id, name) for one in _sources(value)]
        used = {one.vertex for one in graph.used(vertex)}
        told = {source.vertex for source, key, _ in found if key == vertex.id
                and isinstance(source, Output)}  # fmt: skip
        waits = [*vertex.after, *(used - told)]
        found += [(Output(key), vertex.id, "") for key in dict.fromkeys(waits) if key not in told]
    return list(dict.fromkeys(found))


def _sources(value: Value) -> list[Layer | Output]:
    if isinstance(value, (Layer, Output)):
        return [value]
    if isinstance(value, (list, tuple)):
        return [one for one in value if isinstance(one, (Layer, Output))]
    return []
