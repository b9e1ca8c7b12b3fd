# SPDX-License-Identifier: GPL-2.0-or-later
"""The canvas: zoom, pan, selection, dragging steps and links, keys and the context menu."""

from __future__ import annotations

from typing import Any

from qgis.PyQt.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, pyqtSignal
from qgis.PyQt.QtGui import (
    QContextMenuEvent,
    QFontInfo,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from qgis.PyQt.QtWidgets import QGraphicsView, QMenu, QToolTip, QWidget

from ...plugin.workflow.graph import Graph
from ..icon import theme_icon
from ..palette import Tone, line, muted, tone_colour
from . import editing
from .card import title
from .command import Commands
from .document import GraphDocument
from .hand import Hand, Linking, Moving
from .link_item import LinkItem
from .measure import flags
from .minimap import Minimap
from .node_item import NodeItem
from .scene import GraphScene

_ZOOM, _LEAST, _MOST = 1.25, 0.08, 3.0
_STEPS = "geo_olm_steps"


class GraphView(QGraphicsView):
    """Shows a document's scene. `add_requested` asks for the palette at a place in em;
    `inspect_requested` names what is to be edited of the selected step; `run_requested` names a
    way: run, to, again."""

    add_requested = pyqtSignal(object)
    inspect_requested = pyqtSignal(str)
    run_requested = pyqtSignal(str)
    layer_dropped = pyqtSignal(object)

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmCanvas")
        self.setAccessibleName(self.tr("Workflow"))
        self.document = document
        unit = float(max(1, QFontInfo(self.font()).pixelSize()))
        self.graph_scene = GraphScene(document, unit, self.font())
        self.setScene(self.graph_scene)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setDragMode(QGraphicsView.DragMode.RubberBandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.SmartViewportUpdate)
        self.setMouseTracking(True)
        self.commands = Commands(document, self.graph_scene.selected_links, self)
        self.commands.said.connect(lambda text: self._say(text, self.viewport().rect().center()))
        self.commands.shown.connect(self.show_step)
        self.commands.arranged.connect(self._fit_soon)
        self._hand: Hand | None = None
        self._pan_from = QPoint()
        self._fits = False
        self.minimap = Minimap(self, unit)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(lambda _at: self.minimap.settle())
            bar.rangeChanged.connect(lambda _least, _most: self.minimap.settle())
        self.graph_scene.set_palette(self.palette())
        self.graph_scene.rebuilt.connect(self._rebuilt)
        document.changed.connect(self._changed)

    @property
    def unit(self) -> float:
        """1 em in the scene."""
        return self.graph_scene.unit

    @property
    def zoom(self) -> float:
        """The present zoom, 1 for 100 %."""
        return self.transform().m11()

    # -- looking

    def fit(self) -> None:
        """Show all of the workflow, at 100 % at most."""
        box = self.graph_scene.itemsBoundingRect()
        if box.isEmpty():
            self.resetTransform()
            return
        room = self.unit
        self.fitInView(box.adjusted(-room, -room, room, room), Qt.AspectRatioMode.KeepAspectRatio)
        if self.zoom > 1:
            self.set_zoom(1.0)

    def set_zoom(self, zoom: float) -> None:
        """Show at a zoom."""
        wanted = min(max(zoom, _LEAST), _MOST) / self.zoom
        self.scale(wanted, wanted)

    def show_step(self, key: str) -> None:
        """Select a step and bring it into view."""
        self.document.select((key,))
        if key in self.graph_scene.nodes:
            self.centerOn(self.graph_scene.nodes[key])

    def _rebuilt(self) -> None:
        if self._fits:
            self._fits = False
            self.fit()
        self.minimap.settle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the overview in its corner."""
        super().resizeEvent(event)
        self.minimap.settle()

    def _fit_soon(self) -> None:
        self._fits = True

    def _changed(self, old: Graph, new: Graph) -> None:
        self._fits = self._fits or not old.vertices
        self.viewport().update()

    def drawBackground(self, painter: QPainter, rect: QRectF) -> None:
        """Draw the ground with a faint grid of dots, 2 em apart."""
        super().drawBackground(painter, rect)
        if self.zoom < 0.5:
            return
        step = 2 * self.unit
        painter.setPen(QPen(line(self.palette()), 1.5))
        x = rect.left() - rect.left() % step
        while x < rect.right():
            y = rect.top() - rect.top() % step
            while y < rect.bottom():
                painter.drawPoint(QPointF(x, y))
                y += step
            x += step

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """Say what to do where there is nothing; draw the link in the hand."""
        if not self.document.graph.vertices:
            painter.save()
            painter.resetTransform()
            painter.setPen(muted(self.palette()))
            text = self.tr(
                "No workflow yet. Ask in the chat and open the plan here, or press A to add a step."
            )
            where = flags(Qt.AlignmentFlag.AlignCenter, Qt.TextFlag.TextWordWrap)
            painter.drawText(self.viewport().rect().adjusted(20, 20, -20, -20), where, text)
            painter.restore()
        hand = self._hand
        if isinstance(hand, Linking):
            path = QPainterPath(hand.start)
            reach = max(abs(hand.here.x() - hand.start.x()) / 2, 2.5 * self.unit)
            away = QPointF(reach if hand.forward else -reach, 0)
            path.cubicTo(hand.start + away, hand.here - away, hand.here)
            painter.setPen(QPen(tone_colour(self.palette(), Tone.RUNNING), 0.2 * self.unit))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(path)

    # -- hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of a port, a step or the ground."""
        if event.button() == Qt.MouseButton.LeftButton:
            place = self.mapToScene(event.pos())
            self._hand = Linking.begun(self.graph_scene, place)
            if self._hand is not None:
                self.viewport().update()
                event.accept()
                return
            super().mousePressEvent(event)
            if isinstance(self.itemAt(event.pos()), NodeItem):
                self._hand = Moving(self.graph_scene)
            return
        if event.button() == Qt.MouseButton.MiddleButton:
            self._pan_from = event.pos()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what is held."""
        if isinstance(self._hand, Linking):
            self._hand.move(self.mapToScene(event.pos()))
            self._say(self._hand.said, event.pos())
            self.viewport().update()
            return
        if event.buttons() & Qt.MouseButton.MiddleButton:
            moved = event.pos() - self._pan_from
            self._pan_from = event.pos()
            for bar, by in ((self.horizontalScrollBar(), moved.x()),
                            (self.verticalScrollBar(), moved.y())):  # fmt: skip
                bar.setValue(bar.value() - by)
            return
        super().mouseMoveEvent(event)
        if isinstance(self._hand, Moving):
            self._hand.move()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go: the document is asked for the change."""
        hand, self._hand = self._hand, None
        if isinstance(hand, Linking):
            self._finish_link(hand, self.mapToScene(event.pos()))
            self.viewport().update()
            return
        if event.button() == Qt.MouseButton.MiddleButton:
            self.unsetCursor()
            return
        super().mouseReleaseEvent(event)
        if isinstance(hand, Moving):
            places = hand.places()
            if places:
                count = self.commands.steps(hand.moved())
                text = self.tr("Move {}").replace("{}", count)
                self.document.edit(text, lambda graph: editing.moved(graph, places))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open a step, or the palette on the ground."""
        item = self.itemAt(event.pos())
        if isinstance(item, NodeItem):
            self.document.select((item.key,))
            self.inspect_requested.emit("parameters")
        elif item is None:
            place = self.mapToScene(event.pos()) / self.unit
            self.add_requested.emit((place.x(), place.y()))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer, in fine steps with Ctrl."""
        fine = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        factor = _ZOOM ** (0.2 if fine else 1.0)
        self.set_zoom(self.zoom * (factor if event.angleDelta().y() > 0 else 1 / factor))
        event.accept()

    def _finish_link(self, hand: Linking, place: QPointF) -> None:
        hand.move(place)
        hand.end()
        found = hand.wanted()
        if found is None:
            if hand.taken is not None and hand.node is None:
                self.commands.disconnect_links([hand.taken])
            return
        source, target, port = found
        graph = self.document.graph
        definition = self.document.tools.get(graph.vertex(target).tool)
        names = self.commands.name(source), title(self.document, graph.vertex(target))
        text = self.tr("Connect {0} to {1}: {2}").replace("{0}", names[0]).replace("{1}", names[1])
        try:
            self.document.edit(
                text.replace("{2}", port),
                lambda now: editing.connected(now, source, target, port, definition),
            )
        except editing.Refused as refused:
            self._say(str(refused), self.mapFromScene(place))

    def _say(self, text: str, place: QPoint) -> None:
        if text:
            QToolTip.showText(self.viewport().mapToGlobal(place), text, self)
        else:
            QToolTip.hideText()

    # -- keys

    def event(self, event: QEvent) -> bool:
        """Keep the canvas's keys from QGIS's own shortcuts while it has the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and self._action(event) is not None:
            event.accept()
            return True
        done = bool(super().event(event))
        if event.type() == QEvent.Type.PaletteChange:
            self.graph_scene.set_palette(self.palette())
        return done

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do what a key stands for."""
        action = self._action(event)
        if action is None:
            super().keyPressEvent(event)
            return
        self.do(action)
        event.accept()

    def _action(self, event: Any) -> str | None:
        pressed = QKeySequence(int(event.modifiers().value
                                   if hasattr(event.modifiers(), "value")
                                   else event.modifiers()) | int(event.key()))  # fmt: skip
        text = pressed.toString(QKeySequence.SequenceFormat.PortableText)
        return KEYS.get(text)

    def do(self, name: str) -> None:
        """Carry out what a key or an entry of the menu stands for."""
        own = getattr(self, f"do_{name}", None)
        (own or getattr(self.commands, name))()

    def do_add(self) -> None:
        """Ask for the palette in the middle of the view."""
        place = self.mapToScene(self.viewport().rect().center()) / self.unit
        self.add_requested.emit((place.x(), place.y()))

    def do_objective(self) -> None:
        """Edit the objective of the selected step."""
        self.inspect_requested.emit("objective")

    def do_title(self) -> None:
        """Edit the title of the selected step."""
        self.inspect_requested.emit("title")

    def do_fit(self) -> None:
        """Show all."""
        self.fit()

    def do_full(self) -> None:
        """Show at 100 %."""
        self.set_zoom(1.0)

    def do_nearer(self) -> None:
        """Zoom in."""
        self.set_zoom(self.zoom * _ZOOM)

    def do_farther(self) -> None:
        """Zoom out."""
        self.set_zoom(self.zoom / _ZOOM)

    def do_run(self) -> None:
        """Run."""
        self.run_requested.emit("run")

    def do_rehearse(self) -> None:
        """Try on samples."""
        self.run_requested.emit("rehearse")

    def do_run_to(self) -> None:
        """Run to the selected step."""
        self.run_requested.emit("to")

    # -- the context menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what the keys do, for what is under the pointer."""
        item = self.itemAt(event.pos())
        if isinstance(item, NodeItem) and item.key not in self.document.selection:
            self.document.select((item.key,))
        menu = self.menu(item)
        menu.exec(event.globalPos())

    def menu(self, item: Any) -> QMenu:
        """Return the menu for an item, or for the ground."""
        menu = QMenu(self)
        menu.setObjectName("GeoOlmCanvasMenu")
        entries: list[tuple[str, str, str]] = [("add", self.tr("Add a step…"), "symbologyAdd")]
        if isinstance(item, NodeItem):
            entries = [
                ("run_to", self.tr("Run to here"), "mActionStart"),
                ("objective", self.tr("Edit the objective"), "mActionEditTable"),
                ("title", self.tr("Rename"), "mActionRename"),
                ("bypass", self.tr("Bypass"), "mActionToggleEditing"),
                ("duplicate", self.tr("Duplicate"), "mActionDuplicateFeature"),
                ("copy", self.tr("Copy"), "mActionEditCopy"),
                ("remove", self.tr("Remove"), "mActionDeleteSelected"),
            ]
        elif isinstance(item, LinkItem):
            entries = [("remove", self.tr("Disconnect"), "mActionDeleteSelected")]
            item.setSelected(True)
        else:
            entries += [
                ("paste", self.tr("Paste"), "mActionEditPaste"),
                ("arrange", self.tr("Arrange"), "mActionArrowDown"),
                ("fit", self.tr("Show all"), "mActionZoomFullExtent"),
            ]
        for name, text, icon in entries:
            action = menu.addAction(theme_icon(icon), text)
            action.setObjectName(f"GeoOlmCanvas_{name}")
            action.triggered.connect(lambda _on=False, chosen=name: self.do(chosen))
        return menu


KEYS = {
    "A": "add", "Ins": "add", "Del": "remove", "Ctrl+D": "duplicate", "Ctrl+C": "copy",
    "Ctrl+V": "paste", "Ctrl+B": "bypass", "Return": "objective", "F2": "title",
    "Ctrl+L": "arrange", "Ctrl+0": "fit", "Ctrl+1": "full", "Ctrl++": "nearer",
    "Ctrl+-": "farther", "Ctrl+Z": "undo", "Ctrl+Shift+Z": "redo", "Ctrl+A": "select_all",
    "F5": "run", "Ctrl+F5": "rehearse", "Shift+F5": "run_to",
    "Right": "right", "Left": "left", "Down": "down",
    "Up": "up",
}  # fmt: skip
