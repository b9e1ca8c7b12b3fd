# SPDX-License-Identifier: GPL-2.0-or-later
"""The search over the canvas: steps, layers, groups and notes by any of their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QEvent, QObject, Qt
from qgis.PyQt.QtGui import QKeyEvent
from qgis.PyQt.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton

from ..icon import theme_icon
from ..palette import em
from .node_item import NodeItem
from .plate import Plate

if TYPE_CHECKING:
    from qgis.PyQt.QtWidgets import QGraphicsItem

    from .view import GraphView

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FindBar(Plate):
    """Stands in the upper right corner of a view; Enter and Shift+Enter go through what was found,
    Esc closes."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self.setObjectName("GeoOlmFindBar")
        self._view = view
        self._at = -1
        self.field, self.count = QLineEdit(), QLabel()
        self.field.setObjectName("GeoOlmFind")
        self.field.setPlaceholderText(self.tr("Find on the canvas…"))
        self.field.setAccessibleName(self.tr("Find on the canvas"))
        self.field.setClearButtonEnabled(True)
        self.count.setObjectName("GeoOlmFindCount")
        lines = QHBoxLayout(self)
        lines.setContentsMargins(4, 4, 4, 4)
        lines.addWidget(self.field, 1)
        lines.addWidget(self.count)
        for name, text, icon, by in (
            ("GeoOlmFindLast", self.tr("Found before (Shift+Enter)"), "mActionArrowUp", -1),
            ("GeoOlmFindNext", self.tr("Found next (Enter)"), "mActionArrowDown", 1),
        ):
            button = QToolButton()
            button.setObjectName(name)
            button.setIcon(theme_icon(icon))
            button.setToolTip(text)
            button.setAccessibleName(text)
            button.setAutoRaise(True)
            button.clicked.connect(lambda _on=False, step=by: self._go(step))
            lines.addWidget(button)
        self.field.textChanged.connect(self._typed)
        self.field.installEventFilter(self)
        view.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Stand in the corner with the cursor in the field."""
        self._settle()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self._typed(self.field.text())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the corner; go on with Enter, close with Esc."""
        if watched is self._view:
            if event.type() == QEvent.Type.Resize and self.isVisible():
                self._settle()
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in _ENTER:
                back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                self._go(-1 if back else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                self._view.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
        return bool(super().eventFilter(watched, event))

    def found(self) -> list[QGraphicsItem]:
        """Return the items that have all the words, from left to right."""
        words = self.field.text().casefold().split()
        scene = self._view.graph_scene
        graph = self._view.document.shown
        texts: list[tuple[QGraphicsItem, str]] = []
        for vertex in graph.vertices:
            item = scene.nodes.get(vertex.id)
            if item is not None:
                rows = " ".join(f"{row.label} {row.text}" for row in item.card.rows)
                said = f"{vertex.id} {vertex.tool} {item.card.title} {item.card.subtitle}"
                texts.append((item, f"{said} {vertex.objective} {vertex.comment} {rows}"))
        texts += [(item, name) for name, item in scene.pills.items()]
        texts += [(item, item.note.text) for item in scene.frames.notes.values()]
        texts += [(item, item.card.group.title) for item in scene.frames.groups.values()]
        fitting = [
            item for item, text in texts if words and all(word in text.casefold() for word in words)
        ]
        return sorted(fitting, key=lambda one: (one.x(), one.y()))

    def _typed(self, text: str) -> None:
        self._at = -1
        self._go(1 if text.strip() else 0)

    def _go(self, by: int) -> None:
        found = self.found()
        if not found or not by:
            none = bool(self.field.text().strip())
            self.count.setText(self.tr("Nothing found") if none else "")
            return
        self._at = (self._at + by) % len(found)
        text = self.tr("{0} of {1}").replace("{0}", str(self._at + 1))
        self.count.setText(text.replace("{1}", str(len(found))))
        self._show(found[self._at])

    def _show(self, item: QGraphicsItem) -> None:
        view = self._view
        folded = view.graph_scene.frames.group_at(item.key) if isinstance(item, NodeItem) else None
        if isinstance(item, NodeItem) and folded is None:
            view.show_step(item.key)
            return
        view.walk.select(folded or item)

    def _settle(self) -> None:
        width = min(em(self) * 26, self._view.viewport().width() - 16)
        self.resize(width, self.sizeHint().height())
        port = self._view.viewport()
        self.move(port.x() + port.width() - width - 8, port.y() + 8)
