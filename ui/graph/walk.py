# SPDX-License-Identifier: GPL-2.0-or-later
"""The canvas by keys: from step to step, to layers, ports and links, and a link drawn by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QCoreApplication, QPointF, Qt
from qgis.PyQt.QtGui import QPainter, QPalette, QPen

from ...plugin.workflow.port import name_of
from ...plugin.workflow.topology import descendants
from ...plugin.workflow.value import Layer, Output
from .card import title
from .group_item import GroupItem
from .layer_item import LayerItem
from .link_item import LinkItem, LinkKey
from .linking import Linking, draw_link
from .node_item import NodeItem
from .note_item import NoteItem

if TYPE_CHECKING:
    from .view import GraphView

_ON = (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Tab)
_BACK = (Qt.Key.Key_Up, Qt.Key.Key_Left, Qt.Key.Key_Backtab)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def tr(text: str) -> str:
    """Translate what is said of the present place."""
    return QCoreApplication.translate("CanvasWalk", text)


class Walk:
    """Where the keyboard is on a view beside the selected steps: at a port or a link, or with a
    link in the hand that is led from one fitting place to the next."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self.port: tuple[str, str] | None = None
        self._anchor = ""
        self._linking: Linking | None = None
        self._choices: list[tuple[Layer | Output, str, str]] = []
        self._at = 0

    # -- links drawn by keys

    @property
    def is_connecting(self) -> bool:
        """Whether a link is drawn by keys."""
        return bool(self._choices)

    def connect(self) -> None:
        """Begin a link: from the selected step or layer, or to the port that the keyboard is at."""
        scene = self._view.graph_scene
        graph = self._view.document.graph
        source = self._source()
        if self.port is not None and graph.has(self.port[0]):
            self._choices = self._sources(*self.port)
        elif source is not None:
            start = scene.link_layer.start(source)
            self._linking = Linking(scene, source, start or QPointF(), None)
            self._choices = [(source, node.key, port) for node, port in self._linking.choices()]
        else:
            self._view.say(tr("Select the step or layer first from which the link begins."))
            return
        self._at = 0
        if not self._choices:
            self.leave()
            self._view.say(tr("Nothing here fits."))
            return
        self._aim()

    def key(self, key: int) -> bool:
        """Lead the link that is drawn; returns whether the key was for it."""
        if not self.is_connecting:
            return False
        if key in _ON or key in _BACK:
            self._at = (self._at + (1 if key in _ON else -1)) % len(self._choices)
            self._aim()
        elif key in _ENTER:
            source, target, port = self._choices[self._at]
            self.leave()
            self._view.commands.joins.connect(source, target, port)
        elif key == Qt.Key.Key_Escape:
            self.leave()
        else:
            return False
        return True

    def leave(self) -> None:
        """Let the link go, and the port."""
        if self._linking is not None:
            self._linking.cancel()
        self._linking, self._choices, self.port = None, [], None
        self._view.viewport().update()

    def _aim(self) -> None:
        source, target, port = self._choices[self._at]
        view = self._view
        name = view.graph_scene.joining.name(source)
        step = title(view.document, view.document.graph.vertex(target))
        text = tr("{0} to {1}: {2} ({3} of {4}). Enter joins, Esc ends.")
        for at, one in enumerate((name, step, _label(port), self._at + 1, len(self._choices))):
            text = text.replace(f"{{{at}}}", str(one))
        end = view.graph_scene.link_layer.end(LinkKey(source, target, port))
        if end is not None:
            view.ensureVisible(end.x(), end.y(), 1, 1, 60, 60)
        view.announce(text, end)
        view.viewport().update()

    def _source(self) -> Layer | Output | None:
        scene = self._view.graph_scene
        layers = scene.selected_layers()
        if len(layers) == 1:
            return Layer(layers[0])
        chosen = self._view.document.selection
        return Output(next(iter(chosen))) if len(chosen) == 1 else None

    def _sources(self, key: str, port: str) -> list[tuple[Layer | Output, str, str]]:
        scene, document = self._view.graph_scene, self._view.document
        vertex = document.graph.vertex(key)
        below = descendants(document.graph, key) | {key}
        sources: list[Layer | Output] = [Layer(name) for name in scene.pills]
        sources += [Output(one) for one in document.graph.ids() if one not in below]
        return [(one, key, port) for one in sources if not document.flow.refusal(one, vertex, port)]

    # -- ports and links

    def ports(self, by: int) -> None:
        """Go to the next or last port of the selected step."""
        node = self._node()
        names = [name for name, _ in node.inputs()] if node is not None else []
        if node is None or not names:
            self._view.say(tr("Select a step with inputs first."))
            return
        here = self.port[1] if self.port is not None and self.port[0] == node.key else ""
        at = (names.index(here) + by) % len(names) if here in names else (0 if by > 0 else -1)
        self.port = (node.key, names[at])
        row = next(one for one in node.card.rows if one.port == names[at])
        text = tr("Input {0}: {1}").replace("{0}", row.label)
        self._view.announce(
            text.replace("{1}", row.text or tr("nothing")), dict(node.inputs())[names[at]]
        )
        self._view.viewport().update()

    def links(self, by: int) -> None:
        """Go to the next link out of the selected step (1) or into it (-1)."""
        scene = self._view.graph_scene
        layers = scene.selected_layers()
        chosen = self._view.document.selection
        if len(chosen) == 1:
            self._anchor = next(iter(chosen))
        elif layers:
            self._anchor = f"layer:{layers[0]}"
        into, out = scene.link_layer.of(self._anchor)
        found = out if by > 0 else into
        if not found:
            self._view.say(tr("There is no link that way."))
            return
        selected = scene.selected_links()
        at = found.index(selected[0]) + 1 if selected and selected[0] in found else 0
        self.select(scene.links[found[at % len(found)]])

    def select(self, item: LinkItem | LayerItem | NoteItem | GroupItem) -> None:
        """Select something that is no step alone, and say what it is."""
        scene = self._view.graph_scene
        self.port = None
        scene.clearSelection()
        item.setSelected(True)
        self._view.ensureVisible(item)
        self._view.announce(item.words, item.sceneBoundingRect().center())

    def across(self, by: int) -> bool:
        """Go over a link to the step at its end, or from a first step to its layer and back;
        returns whether there was such a way."""
        scene = self._view.graph_scene
        links, layers = scene.selected_links(), scene.selected_layers()
        if links:
            link = links[0]
            end = link.target if by > 0 else getattr(link.source, "vertex", "")
            if end:
                self._view.show_step(end)
            else:
                self.select(scene.pills[link.source.name])
            return True
        if layers and by > 0:
            _, out = scene.link_layer.of(f"layer:{layers[0]}")
            if out:
                self._view.show_step(out[0].target)
            return True
        node = self._node()
        if node is not None and by < 0:
            graph = self._view.document.graph
            vertex = graph.vertex(node.key) if graph.has(node.key) else None
            names = list(vertex.layers()) if vertex is not None else []
            if vertex is not None and names and not graph.parents(vertex):
                self.select(scene.pills[names[0]])
                return True
        return False

    def _node(self) -> NodeItem | None:
        chosen = self._view.document.selection
        key = next(iter(chosen)) if len(chosen) == 1 else ""
        return self._view.graph_scene.nodes.get(key)

    # -- painting

    def paint(self, painter: QPainter) -> None:
        """Draw the ring about the port, or the link that is led."""
        scene = self._view.graph_scene
        if self.is_connecting:
            source, target, port = self._choices[self._at]
            start = scene.link_layer.start(source)
            end = scene.link_layer.end(LinkKey(source, target, port))
            if start is not None and end is not None:
                draw_link(painter, scene, start, end)
            return
        node = scene.nodes.get(self.port[0]) if self.port is not None else None
        spot = dict(node.inputs()).get(self.port[1]) if node is not None and self.port else None
        if spot is not None:
            painter.setPen(QPen(scene.look.color(QPalette.ColorRole.Highlight), 0.2 * scene.unit))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(spot, 0.95 * scene.unit, 0.95 * scene.unit)


def _label(port: str) -> str:
    return name_of(port).replace("_", " ").capitalize()
