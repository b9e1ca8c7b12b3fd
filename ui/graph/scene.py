# SPDX-License-Identifier: GPL-2.0-or-later
"""The scene of a workflow: rebuilt from the document, never changing it by itself."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.PyQt.QtCore import QPointF, QRectF, QTimer, pyqtSignal
from qgis.PyQt.QtGui import QFont, QPalette
from qgis.PyQt.QtWidgets import QGraphicsItem, QGraphicsScene

from ...plugin.workflow.alignment import Box
from ...plugin.workflow.graph import Graph
from ...plugin.workflow.layout import COLUMN, layout
from ...plugin.workflow.parting import parted
from . import editing, measure
from .card import card
from .document import GraphDocument
from .frame_layer import Frames
from .group_item import MARGINS, GroupItem
from .joining import Joining
from .layer_item import LayerItem
from .link_item import LinkItem, LinkKey
from .link_layer import LAYER, Links, end_of, joins
from .node_item import NodeItem
from .note_item import NoteItem

_MARGIN = 6.0
_GROUP = "group:"


class GraphScene(QGraphicsScene):
    """Nodes, pills, links, groups and notes of one document. A change of the graph rebuilds what
    it touches, soon and never inside a mouse handler; a run only repaints."""

    rebuilt = pyqtSignal()

    def __init__(self, document: GraphDocument, unit: float, font: QFont) -> None:
        super().__init__(document)
        self.document, self.unit, self.face = document, unit, font
        self.look = QPalette()
        self.contents = QRectF()
        """What the items take, as it was built last."""
        self.nodes: dict[str, NodeItem] = {}
        self.pills: dict[str, LayerItem] = {}
        self.joining = Joining(document)
        self.frames = Frames(self)
        self.link_layer = Links(self)
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

    @property
    def links(self) -> dict[LinkKey, LinkItem]:
        """The links by what they join."""
        return self.link_layer.items

    def set_palette(self, palette: QPalette) -> None:
        """Take other colours."""
        self.look = palette
        self._selecting = True  # what is selected in the document stays so
        self.nodes, self.pills = {}, {}
        self.link_layer.items.clear()
        self.frames.clear()
        self.clear()
        self._selecting = False
        self.rebuild()

    def set_font(self, font: QFont, unit: float) -> None:
        """Take another font, of which 1 em is `unit`."""
        self.face, self.unit = font, unit
        self.set_palette(self.look)

    # -- building

    def rebuild(self) -> None:
        """Make the items anew that the graph asks for, and drop the others."""
        self._soon.stop()
        graph = self.document.shown
        self._selecting = True  # hidden items lose their selection; the document's stays
        self._nodes(graph)
        self._pills(graph)
        self.frames.rebuild(graph)
        self._selecting = False
        self._place(graph)
        self.frames.lay()
        self.link_layer.rebuild(graph)
        self._select(self.document.selection)
        box = self.contents = self.itemsBoundingRect()
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
                item = NodeItem(said, self.unit, self.face, self.look)
                self.addItem(item)
                self.nodes[vertex.id] = item
            else:
                item.show(said)

    def _pills(self, graph: Graph) -> None:
        free = (one.name for one in graph.sources if one.position is not None)
        wanted = dict.fromkeys((*editing.layers_of(graph), *free))
        known = {one.key: one for one in self.document.layers}
        for name in set(self.pills) - set(wanted):
            self.removeItem(self.pills.pop(name))
        for name in wanted:
            if name in self.pills:
                self.pills[name].show(known.get(name))
            else:
                pill = LayerItem(name, known.get(name), self.unit, self.face, self.look)
                self.addItem(pill)
                self.pills[name] = pill

    def _place(self, graph: Graph) -> None:
        """Put the items where the user left them, the others where the layout wants them."""
        u = self.unit
        self.link_layer.lanes = {}
        is_free = all(one.position is None for one in graph.vertices)
        places = self._laid(graph, is_free)
        for vertex in graph.vertices:
            x, y = vertex.position or places[vertex.id]
            self.nodes[vertex.id].setPos(QPointF(x * u, y * u))
        given = {one.name: one.position for one in graph.sources if one.position is not None}
        for name, pill in self.pills.items():
            if name in given:
                pill.setPos(QPointF(*given[name]) * u)
            elif is_free:
                pill.setPos(QPointF(*places[f"{LAYER}{name}"]) * u)
        if not is_free:
            self.settle_pills(graph)

    def _laid(self, graph: Graph, is_free: bool) -> dict[str, tuple[float, float]]:
        """Return the places that the layout finds for steps and layers, where any needs one. A
        collapsed group stands for its steps; frames of open ones lie over nothing else."""
        if not is_free and all(one.position is not None for one in graph.vertices):
            return {}
        folded = self.frames.folded
        heights = {key: item.size[1] for key, item in self.nodes.items() if key not in folded}
        given = {one.name for one in graph.sources if one.position is not None}
        pills = {f"{LAYER}{name}": one for name, one in self.pills.items() if name not in given}
        heights.update({key: one.size[1] for key, one in pills.items()})
        for at in set(folded.values()):
            heights[f"{_GROUP}{at}"] = self.frames.groups[at].size[1]
        whole = {key: f"{_GROUP}{at}" for key, at in folded.items()}
        pairs = [(whole.get(end_of(source), end_of(source)), whole.get(target, target))
                 for source, target, _port in joins(graph)]  # fmt: skip
        found = layout(heights, pairs)
        places = dict(found.places)
        for key, pill in pills.items():
            x, y = places[key]
            places[key] = (x + COLUMN - pill.size[0] - 4, y)
        shown = [one.vertices for one in graph.groups if not one.collapsed]
        if is_free and not shown:
            self.link_layer.lanes = found.lanes
        elif shown:
            wide = {key: one.size[0] for key, one in pills.items()}
            boxes = {key: (x, y, wide.get(key, measure.WIDTH), heights[key])
                     for key, (x, y) in places.items()}  # fmt: skip
            shifts = parted(boxes, shown, MARGINS)
            places = {key: (x, y + shifts[key]) for key, (x, y) in places.items()}
        places.update({key: places[group] for key, group in whole.items()})
        return places

    def settle_pills(self, graph: Graph) -> None:
        """Put the layers that the user has not placed left of the first step that takes them, one
        below the other."""
        u = self.unit
        given = {one.name for one in graph.sources if one.position is not None}
        users: dict[str, list[str]] = {}
        rows: dict[str, list[str]] = {}
        for vertex in graph.vertices:
            own = list(dict.fromkeys(vertex.layers()))
            rows[vertex.id] = [name for name in own if name not in given]
            for name in own:
                users.setdefault(name, []).append(vertex.id)
        for name, keys in users.items():
            if name in given:
                continue
            first = min(keys, key=lambda key: self.nodes[key].x())
            node, row = self.nodes[first], rows[first].index(name)
            self.pills[name].setPos(node.x() - 15.5 * u, node.y() + row * 5.0 * u)

    # -- what is moved

    def follow(self, keys: Iterable[str]) -> None:
        """Let links, frames and layers follow steps that are being moved."""
        moved = list(keys)
        if not moved:
            return
        graph = self.document.shown
        if any(one.position is not None for one in graph.vertices):
            self.settle_pills(graph)
        self.frames.lay(moved)
        self.link_layer.lay(moved)

    def lay_links(self, of: Iterable[str] = ()) -> None:
        """Draw the links anew, all or those of some steps."""
        self.link_layer.lay(of)

    def boxes(self, keys: Iterable[str]) -> dict[str, Box]:
        """Return x, y, width and height of some steps in em."""
        u = self.unit
        found = ((key, self.nodes[key]) for key in keys if key in self.nodes)
        return {key: (one.x() / u, one.y() / u, *one.size) for key, one in found}

    def free_area(self, x: float, y: float, width: float, height: float) -> Box:
        """Return an area of a size at a place in em, or below it where no step or layer stands."""
        u = self.unit
        while True:
            area = QRectF(x * u, y * u, width * u, height * u)
            below = [one.sceneBoundingRect().bottom() for one in self.items(area)
                     if isinstance(one, (NodeItem, LayerItem, NoteItem))]  # fmt: skip
            if not below:
                return (x, y, width, height)
            y = float(round(max(below) / u + 1))

    def laid_out(self, keys: Iterable[str]) -> dict[str, tuple[float, float]]:
        """Return the places that the layout gives some steps, from their left upper corner."""
        boxes = self.boxes(keys)
        pairs = [(end_of(source), target) for source, target, _ in joins(self.document.shown)]
        found = layout({key: box[3] for key, box in boxes.items()}, pairs).places
        left, top = min(x for x, *_ in boxes.values()), min(y for _, y, *_ in boxes.values())
        first = min(x for x, _ in found.values())
        return {key: (left + x - first, top + y) for key, (x, y) in found.items()}

    def places(self) -> dict[str, tuple[float, float]]:
        """Return where all steps stand, in em."""
        return {key: (round(x, 2), round(y, 2)) for key, (x, y, _, _) in
                self.boxes(self.nodes).items()}  # fmt: skip

    # -- showing a run

    def _repaint(self, keys: Iterable[str]) -> None:
        graph = self.document.shown
        vertices = {one.id: one for one in graph.vertices}
        changed = [key for key in tuple(keys) if key in self.nodes and key in vertices]
        if self._soon.isActive() and len(changed) == len(self.nodes):
            return  # all are made anew soon
        for key in changed:
            self.nodes[key].show(card(self.document, vertices[key]))
        if changed:
            self.link_layer.tell(changed)
            self.frames.repaint()

    # -- selection

    def _select(self, keys: Iterable[str]) -> None:
        wanted = set(keys)
        self._selecting = True
        for key, item in self.nodes.items():
            if item.isSelected() != (key in wanted):
                item.setSelected(key in wanted)
        for group in self.frames.groups.values():
            if group.is_collapsed:  # it stands for its steps, which cannot be selected themselves
                group.setSelected(wanted.issuperset(group.card.group.vertices))
        self._selecting = False

    def _selected(self) -> None:
        for link in self.links.values():
            link.rise()
        if not self._selecting:
            keys = {key for key, item in self.nodes.items() if item.isSelected()}
            for group in self.frames.groups.values():
                if group.is_collapsed and group.isSelected():
                    keys.update(group.card.group.vertices)
            self.document.select(keys)

    def selected_links(self) -> list[LinkKey]:
        """Return the links that are selected."""
        return [key for key, link in self.links.items() if link.isSelected()]

    def selected_layers(self) -> list[str]:
        """Return the layers that are selected."""
        return [name for name, pill in self.pills.items() if pill.isSelected()]

    def selected_notes(self) -> list[int]:
        """Return the places of the notes that are selected."""
        return [at for at, note in self.frames.notes.items() if note.isSelected()]

    def selected_groups(self) -> list[int]:
        """Return the places of the groups that are selected."""
        return [at for at, group in self.frames.groups.items() if group.isSelected()]

    # -- finding

    def node_at(self, point: QPointF) -> NodeItem | None:
        """Return the node at a place, the uppermost."""
        return next((one for one in self.items(point) if isinstance(one, NodeItem)), None)

    def held_at(self, point: QPointF) -> QGraphicsItem | None:
        """Return the uppermost item at a place that can be taken hold of."""
        kinds = (NodeItem, LayerItem, NoteItem, GroupItem, LinkItem)
        return next((one for one in self.items(point) if isinstance(one, kinds)), None)

    def link_at(self, point: QPointF, but: str = "") -> LinkItem | None:
        """Return a link with a port at a place, none of those of the step `but`."""
        for one in self.items(point):
            if not isinstance(one, LinkItem) or not one.key.port:
                continue
            if but not in (one.key.target, end_of(one.key.source)):
                return one
        return None

    def near(self, point: QPointF, kind: type[QGraphicsItem], reach: float) -> list[QGraphicsItem]:
        """Return the items of a kind within `reach` em of a place."""
        side = 2 * reach * self.unit
        box = QRectF(0, 0, side, side)
        box.moveCenter(point)
        return [one for one in self.items(box) if isinstance(one, kind)]
