# SPDX-License-Identifier: GPL-2.0-or-later
"""The outline: the workflow as a tree, for screen readers and for whoever reads better in lines."""

from __future__ import annotations

from collections.abc import Iterator

from qgis.PyQt.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QRectF,
    Qt,
    QTimer,
    pyqtSignal,
)
from qgis.PyQt.QtGui import (
    QContextMenuEvent,
    QIcon,
    QKeyEvent,
    QPainter,
    QPixmap,
    QStandardItem,
    QStandardItemModel,
)
from qgis.PyQt.QtWidgets import QAbstractItemView, QTreeView, QWidget

from ...plugin.workflow import grouping
from ...plugin.workflow.graph import Graph, Vertex
from ...plugin.workflow.topology import TopologyError, order
from ..icon import theme_icon
from ..number import count, plain_tip
from ..palette import em
from ..state_shape import Shape, paint_shape
from .canvas_key import action_of
from .card import CHECKS, card, said, title
from .document import GraphDocument

LAYER, NOTE = "layer:", "note:"
"""What the keys of rows begin with that are no steps."""
_SHARP = 2
_KEY = int(Qt.ItemDataRole.UserRole)
_SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
_OWN = ("up", "down", "left", "right", "select_all", "menu", "leave")
"""Keys of the canvas that are the tree's own here."""


class Outline(QTreeView):
    """Shows the steps in running order with state, inputs, result and problems; the selection is
    the canvas's. `done` names an action of the canvas that a key or the menu asks for, `shown` the
    row that is gone to."""

    done = pyqtSignal(str)
    shown = pyqtSignal(str)
    menu_requested = pyqtSignal(str, object)

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmOutline")
        self.setAccessibleName(self.tr("Outline of the workflow"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformRowHeights(True)
        self._document = document
        self._rows = QStandardItemModel(self)
        self.setModel(self._rows)
        self.setHeaderHidden(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._steps: dict[str, QStandardItem] = {}
        self._selecting = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self.fill)
        document.changed.connect(lambda old, new: self._soon.start())
        for signal in (document.known_changed, document.findings_changed,
                       document.proposal_changed):  # fmt: skip
            signal.connect(self._soon.start)
        document.states_changed.connect(lambda keys: self._soon.start())
        document.running_changed.connect(lambda on: self._soon.start())
        document.selection_changed.connect(self._select)
        self.selectionModel().selectionChanged.connect(lambda new, old: self._selected())
        self.activated.connect(self._activated)
        self.fill()

    def fill(self) -> None:
        """Write the tree anew; what was folded stays folded."""
        if not self.isVisible():
            return  # it is filled when it is shown
        self._soon.stop()
        folded = {key for key, item in self._steps.items() if not self.isExpanded(item.index())}
        known = set(self._steps)
        self._selecting = True
        self._rows.removeRows(0, self._rows.rowCount())
        self._steps = {}
        graph = self._document.shown
        for place, vertex in enumerate(in_order(graph), 1):
            self._add(vertex, place)
            if vertex.id not in folded or vertex.id not in known:
                self.expand(self._steps[vertex.id].index())
        self._others(graph)
        self._selecting = False
        self._select(self._document.selection)

    def showEvent(self, event: QEvent) -> None:
        """Fill it now that it is seen."""
        super().showEvent(event)
        self.fill()

    # -- rows

    def _add(self, vertex: Vertex, place: int) -> None:
        document = self._document
        shown = card(document, vertex)
        name = f"{place}. {shown.title}"
        step = _row(name, vertex.id, self._mark(shown.shape))
        step.setToolTip(plain_tip(f"{name}\n{shown.foot}\n{shown.objective}".strip()))
        problems = document.findings_of(vertex.id)
        parts = [name, shown.subtitle, shown.foot, *(one.message for one in problems)]
        step.setData(", ".join(one for one in parts if one), _SPOKEN)
        for text in (shown.foot, *self._lines(vertex)):
            child = _row(text, vertex.id)
            child.setData(f"{shown.title}: {text}", _SPOKEN)
            step.appendRow(child)
        for one in problems:
            step.appendRow(_row(one.message, vertex.id, self._mark(CHECKS[one.severity])))
        self._rows.appendRow(step)
        self._steps[vertex.id] = step

    def _mark(self, shape: Shape) -> QIcon:
        """Return a state as an icon."""
        side = em(self)
        picture = QPixmap(side * _SHARP, side * _SHARP)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_shape(painter, QRectF(picture.rect()).adjusted(1, 1, -1, -1), shape, self.palette())
        painter.end()
        return QIcon(picture)

    def _others(self, graph: Graph) -> None:
        """Add what is no step: layers that no step takes yet, and notes."""
        used = {name for one in graph.vertices for name in one.layers()}
        for source in graph.sources:
            if source.position is not None and source.name not in used:
                text = self.tr("Layer {}, not used yet").replace("{}", source.name)
                self._rows.appendRow(_row(text, f"{LAYER}{source.name}", theme_icon("mIconVector")))
        for at, note in enumerate(graph.notes):
            text = self.tr("Note: {}").replace("{}", " ".join(note.text.split()))
            self._rows.appendRow(_row(text, f"{NOTE}{at}", theme_icon("mActionTextAnnotation")))

    def _lines(self, vertex: Vertex) -> Iterator[str]:
        """Yield what goes in, what comes out, and whom the step waits for."""
        document = self._document
        graph = document.shown
        held = grouping.group_of(graph, vertex.id)
        if held >= 0:
            yield self.tr("In the group {}").replace("{}", graph.groups[held].title)
        for row in card(document, vertex).rows:
            text = self.tr("{0}: {1}").replace("{0}", row.label)
            yield text.replace("{1}", row.text or self.tr("nothing"))
        for key in vertex.after:
            if graph.has(key):
                name = title(document, graph.vertex(key))
                yield self.tr("Waits for {}").replace("{}", name)
        result = document.state(vertex.id).result
        for layer in result.layers if result is not None else ():
            text = self.tr("Gives {0}: {1}").replace("{0}", layer.name)
            yield text.replace("{1}", count(layer.features, layer.geometry))
        for name, value in (result.numbers if result is not None else {}).items():
            text = self.tr("Gives {0}: {1}").replace("{0}", name.replace("_", " "))
            yield text.replace("{1}", said(document, value))
        users = [title(document, graph.vertex(key)) for key in graph.children(vertex.id)]
        if users:
            yield self.tr("Goes to {}").replace("{}", ", ".join(users))

    # -- selection

    def _select(self, keys: object) -> None:
        if self._selecting or not self.isVisible():
            return
        self._selecting = True
        chosen = self.selectionModel()
        chosen.clearSelection()
        rows = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        first: QModelIndex | None = None
        for key, item in self._steps.items():
            if key in keys:  # type: ignore[operator]
                chosen.select(item.index(), rows)
                first = first or item.index()
        here = self.currentIndex()
        if first is not None and (not here.isValid() or here.data(_KEY) not in keys):  # type: ignore[operator]
            chosen.setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(first)
        self._selecting = False

    def _selected(self) -> None:
        if self._selecting:
            return
        keys = {index.data(_KEY) for index in self.selectionModel().selectedRows(0)}
        self._selecting = True
        self._document.select(key for key in keys if key in self._steps)
        if len(keys) == 1:
            self.shown.emit(next(iter(keys)))
        self._selecting = False

    def _activated(self, index: QModelIndex) -> None:
        self.shown.emit(index.data(_KEY))
        self.done.emit("objective")

    # -- the same actions as the canvas has

    def event(self, event: QEvent) -> bool:
        """Keep the canvas's keys from QGIS's own shortcuts here, too."""
        if event.type() == QEvent.Type.ShortcutOverride and self._action(event) is not None:
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do on the selected steps what the canvas does with a key."""
        action = self._action(event)
        if action is None or action == "objective":
            super().keyPressEvent(event)
            return
        self.done.emit(action)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the step's menu of the canvas."""
        index = self.indexAt(event.pos()) if event.reason() == event.Reason.Mouse else (
            self.currentIndex()
        )  # fmt: skip
        key = index.data(_KEY) if index.isValid() else ""
        self.menu_requested.emit(key or "", event.globalPos())

    def _action(self, event: object) -> str | None:
        action = action_of(event)
        return None if action in _OWN else action


def in_order(graph: Graph) -> list[Vertex]:
    """Return the steps as they run; a workflow without an order as it stands."""
    try:
        return [graph.vertex(key) for key in order(graph)]
    except TopologyError:
        return list(graph.vertices)


def _row(text: str, key: str, icon: QIcon | None = None) -> QStandardItem:
    item = QStandardItem(text)
    item.setToolTip(plain_tip(text))
    if icon is not None:
        item.setIcon(icon)
    item.setData(key, _KEY)
    item.setData(text, _SPOKEN)
    return item
