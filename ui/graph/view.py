# SPDX-License-Identifier: GPL-2.0-or-later
"""The canvas: zoom, pan, selection, what hands hold on it, keys and the context menu."""

from __future__ import annotations

from typing import Any

from qgis.PyQt.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, pyqtSignal
from qgis.PyQt.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFontInfo,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from qgis.PyQt.QtWidgets import QGraphicsView, QMenu, QToolTip, QWidget

from ...plugin.workflow.graph import Graph
from ..palette import line
from .canvas_action import ZOOM, CanvasActions
from .canvas_key import action_of
from .canvas_menu import CanvasMenu
from .command import Commands
from .document import GraphDocument
from .dropping import DropArea
from .empty_canvas import EmptyCanvas
from .find_bar import FindBar
from .group_item import GroupItem
from .hand import Hand, Moving, Resizing
from .join_command import Offer
from .link_item import LinkItem
from .linking import Linking
from .minimap import Minimap
from .node_item import NodeItem
from .note_item import NoteItem
from .pointer_label import PointerLabel
from .preview import Previewer
from .scene import GraphScene
from .step_chooser import StepChooser
from .walk import Walk
from .writing import write, write_objective

_LEAST, _MOST = 0.08, 3.0


class GraphView(QGraphicsView):
    """Shows a document's scene. `add_requested` asks for the palette at a place in em;
    `inspect_requested` names what is to be edited of the selected step; `run_requested` names a
    way: run, to, again; `told` carries a sentence for the user; `sources_dropped` names what the
    project is to open, the place in em, and the step and parameter that take it ("" for none)."""

    add_requested = pyqtSignal(object)
    inspect_requested = pyqtSignal(str)
    run_requested = pyqtSignal(str)
    sources_dropped = pyqtSignal(object, object, str, str)
    told = pyqtSignal(str)

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmCanvas")
        self.setAccessibleName(self.tr("Workflow"))
        self.document = document
        unit = self._em()
        self.graph_scene = GraphScene(document, unit, self.font())
        self.setScene(self.graph_scene)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setDragMode(QGraphicsView.DragMode.RubberBandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.SmartViewportUpdate)
        self.setMouseTracking(True)
        self.snaps = True
        self.commands = Commands(self.graph_scene, self)
        self.commands.said.connect(self.say)
        self.commands.shown.connect(self.show_step)
        self.commands.arranged.connect(self._fit_soon)
        self.commands.frames.writing.connect(lambda kind, at: write(self, kind, at))
        self.commands.joins.offered.connect(self._offer)
        self.chooser = StepChooser(document, self)
        self.walk = Walk(self)
        self.acts = CanvasActions(self)
        self._drops = DropArea(self)
        self.previews = Previewer(self, self.graph_scene)
        self.finder = FindBar(self)
        self._hand: Hand | None = None
        self._pan_from: QPoint | None = None
        self._pans = self._fits = self._settling = False
        self._beside = PointerLabel(self.viewport())
        self.minimap = Minimap(self, unit)
        self.empty = EmptyCanvas(document, self)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(lambda _at: self._settle())
            bar.rangeChanged.connect(lambda _least, _most: self._settle())
        self.graph_scene.set_palette(self.palette())
        self.graph_scene.rebuilt.connect(self._rebuilt)
        document.changed.connect(self._changed)
        document.selection_changed.connect(self._selected)
        document.edit_refused.connect(self.say)

    def _em(self) -> float:
        return float(max(1, QFontInfo(self.font()).pixelSize()))

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
        """Select a step alone and bring it into view."""
        for item in self.graph_scene.selectedItems():
            if not isinstance(item, NodeItem):
                item.setSelected(False)
        self.document.select((key,))
        if key in self.graph_scene.nodes:
            self.centerOn(self.graph_scene.nodes[key])

    def _rebuilt(self) -> None:
        if self._fits:
            self._fits = False
            self.fit()
        self._settle()

    def _settle(self) -> None:
        """Show overview and scroll bars only while there is more than can be seen."""
        if self._settling:
            return  # bars that come or go change what is seen, which comes back here
        self._settling = True
        self._fit_bars()
        self._settling = False

    def _fit_bars(self) -> None:
        self.minimap.settle()
        whole = self.graph_scene.contents
        seen = self.mapToScene(self.viewport().rect()).boundingRect()
        policies = Qt.ScrollBarPolicy
        policy = policies.ScrollBarAsNeeded
        if seen.contains(whole):
            policy = policies.ScrollBarAlwaysOff
        if policy != self.horizontalScrollBarPolicy():
            self.setHorizontalScrollBarPolicy(policy)
            self.setVerticalScrollBarPolicy(policy)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the overview in its corner."""
        super().resizeEvent(event)
        self._settle()

    def leaveEvent(self, event: QEvent) -> None:
        """Take the preview away."""
        self.previews.close()
        super().leaveEvent(event)

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
        """Draw what is held, and the focus."""
        if self._hand is not None:
            self._hand.paint(painter)
        self.walk.paint(painter)
        if self.hasFocus():
            painter.save()
            painter.resetTransform()
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
            painter.restore()

    # -- hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of a port, a step, a corner or the ground."""
        self.walk.leave()
        self.previews.close()
        left = event.button() == Qt.MouseButton.LeftButton
        if event.button() == Qt.MouseButton.MiddleButton or (left and self._pans):
            self._pan_from = event.pos()
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            return
        place = self.mapToScene(event.pos())
        if left and self._taken(place):
            event.accept()
            return
        super().mousePressEvent(event)
        if left:
            held = self.graph_scene.held_at(place)
            self._hand = Moving.begun(self.graph_scene, held, place, self.snaps)

    def _taken(self, place: QPointF) -> bool:
        """Take hold of what stands on top of items: ports, corners, fold marks, the plus."""
        held = self.graph_scene.held_at(place)
        if isinstance(held, GroupItem) and held.is_at_mark(place):
            self.document.select(held.card.group.vertices)
            self.commands.frames.fold(held.at)
            return True
        if isinstance(held, LinkItem) and held.is_at_plus(place):
            self.commands.joins.offer_in(held.key)
            return True
        if isinstance(held, NoteItem) and held.is_at_corner(place):
            self._hand = Resizing(held, place)
            return True
        self._hand = Linking.begun(self.graph_scene, place)
        self.viewport().update()
        return self._hand is not None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what is held."""
        if self._pan_from is not None:
            moved = event.pos() - self._pan_from
            self._pan_from = event.pos()
            for bar, by in ((self.horizontalScrollBar(), moved.x()),
                            (self.verticalScrollBar(), moved.y())):  # fmt: skip
                bar.setValue(bar.value() - by)
            return
        if self._hand is None:
            super().mouseMoveEvent(event)
            if event.buttons() == Qt.MouseButton.NoButton:
                self.previews.hover(self.mapToScene(event.pos()))
            return
        self._hand.move(self.mapToScene(event.pos()))
        self.say_beside(self._hand.said, event.pos())
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go: the document is asked for the change."""
        if self._pan_from is not None:
            self._pan_from = None
            self.viewport().unsetCursor()
            return
        hand, self._hand = self._hand, None
        self.say_beside("", event.pos())
        if hand is None or isinstance(hand, Moving):
            super().mouseReleaseEvent(event)
        if hand is not None:
            if not isinstance(hand, Moving):
                hand.move(self.mapToScene(event.pos()))
            hand.finish(self.commands)
            self.viewport().update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open a step, write in a title or note, or open the palette on the ground."""
        place = self.mapToScene(event.pos())
        item = self.graph_scene.held_at(place)
        if isinstance(item, NodeItem):
            self.document.select((item.key,))
            part = item.part_at(place)
            if part == "objective":
                write_objective(self, item)
            else:
                self.inspect_requested.emit(part)
        elif isinstance(item, GroupItem):
            write(self, "group", item.at)
        elif isinstance(item, NoteItem):
            write(self, "note", item.at)
        elif item is None:
            spot = place / self.unit
            self.add_requested.emit((spot.x(), spot.y()))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer, in fine steps with Ctrl."""
        fine = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        factor = ZOOM ** (0.2 if fine else 1.0)
        self.set_zoom(self.zoom * (factor if event.angleDelta().y() > 0 else 1 / factor))
        event.accept()

    def _offer(self, offer: Offer, place: QPointF) -> None:
        self.chooser.offer(offer, self.viewport().mapToGlobal(self.mapFromScene(place)))

    # -- what is dragged here from elsewhere

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take steps, layers and files."""
        self._drops.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show where it would go."""
        self._drops.move(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Forget it."""
        self._drops.leave()

    def dropEvent(self, event: QDropEvent) -> None:
        """Put it down."""
        self._drops.drop(event)

    # -- saying

    def say(self, text: str) -> None:
        """Tell a sentence: in a tool tip at the middle, and to whom it is for."""
        QToolTip.showText(self.viewport().mapToGlobal(self.viewport().rect().center()), text, self)
        self.setAccessibleDescription(text)
        self.told.emit(text)

    def say_beside(self, text: str, place: QPoint) -> None:
        """Show a few words beside the pointer, or take them away."""
        self._beside.show_at(text, place + QPoint(round(self.unit), round(self.unit)))

    def announce(self, text: str, place: QPointF | None = None) -> None:
        """Say where the keyboard is: to screen readers, and beside the place in the scene."""
        self.setAccessibleDescription(text)
        self.say_beside(text, self.mapFromScene(place) if place is not None else QPoint(8, 8))

    def _selected(self, keys: Any) -> None:
        self.walk.port = None
        self.say_beside("", QPoint())
        names = [self.graph_scene.nodes[key].card.spoken
                 for key in self.document.graph.ids() if key in keys
                 and key in self.graph_scene.nodes]  # fmt: skip
        text = names[0] if len(names) == 1 else ""
        if len(names) > 1:
            text = self.tr("{} steps are selected").replace("{}", str(len(names)))
        self.setAccessibleDescription(text)

    # -- keys

    def event(self, event: QEvent) -> bool:
        """Keep the canvas's keys from QGIS's own shortcuts while it has the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and action_of(event) is not None:
            event.accept()
            return True
        done = bool(super().event(event))
        if event.type() == QEvent.Type.PaletteChange:
            self.graph_scene.set_palette(self.palette())
        elif event.type() == QEvent.Type.FontChange and self._em() != self.unit:
            self.graph_scene.set_font(self.font(), self._em())
        return done

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do what a key stands for; lead a link that is drawn by keys."""
        if self.walk.key(event.key()):
            self._beside.setVisible(self.walk.is_connecting)
            event.accept()
            return
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._pans = True
            self.viewport().setCursor(Qt.CursorShape.OpenHandCursor)
            return
        action = action_of(event)
        if action is None:
            super().keyPressEvent(event)
            return
        self.do(action)
        event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Stop panning with Space."""
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._pans = False
            self.viewport().unsetCursor()
        super().keyReleaseEvent(event)

    def do(self, name: str) -> None:
        """Carry out what a key or an entry of the menu stands for."""
        for owner in (self.acts, self.commands, self.commands.frames):
            slot = getattr(owner, name, None)
            if slot is not None:
                slot()
                return

    def let_go(self) -> bool:
        """Put back what is held, or end a link that is drawn by keys; tells whether there was."""
        hand, self._hand = self._hand, None
        if hand is not None:
            hand.cancel()
        was_open = self.previews.close()
        was_held = (
            was_open or hand is not None or self.walk.is_connecting or self.walk.port is not None
        )
        self.walk.leave()
        self.say_beside("", QPoint())
        return was_held

    # -- the context menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what the keys do, for what is under the pointer."""
        item = self.graph_scene.held_at(self.mapToScene(event.pos()))
        self.menu(item).exec(event.globalPos())

    def menu(self, item: Any) -> QMenu:
        """Return the menu for an item, which is selected then, or for the ground (None)."""
        if isinstance(item, NodeItem):
            if item.key not in self.document.selection:
                self.document.select((item.key,))
        elif item is not None and not item.isSelected():
            self.graph_scene.clearSelection()
            item.setSelected(True)
            if isinstance(item, GroupItem):
                self.document.select(item.card.group.vertices)
        return CanvasMenu(self, item)
