# SPDX-License-Identifier: GPL-2.0-or-later
"""A small editor that stands on the canvas where the text stands that it edits."""

from __future__ import annotations

from collections.abc import Callable

from qgis.PyQt.QtCore import QRect, Qt
from qgis.PyQt.QtGui import QFocusEvent, QKeyEvent
from qgis.PyQt.QtWidgets import QPlainTextEdit, QWidget

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class InPlace(QPlainTextEdit):
    """Edits a title in one line (Enter ends) or a note (Ctrl+Enter ends); leaving it keeps the
    text, Esc does not."""

    def __init__(self, parent: QWidget, name: str, keep: Callable[[str], None]) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmInPlace")
        self.setAccessibleName(name)
        self._keep, self._is_line = keep, True
        self._has_ended = False
        self.setTabChangesFocus(True)
        self.setFrameShape(QPlainTextEdit.Shape.Box)

    def open(self, text: str, box: QRect, is_line: bool) -> None:
        """Stand over a place of the canvas with a text, all of it selected."""
        self._is_line = is_line
        least = self.fontMetrics().lineSpacing() * (1 if is_line else 3) + 12
        self.setGeometry(box.x(), box.y(), max(box.width(), 120), max(box.height(), least))
        if is_line:
            self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
            for bar in ("setHorizontalScrollBarPolicy", "setVerticalScrollBarPolicy"):
                getattr(self, bar)(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setPlainText(text)
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """End with Enter or Esc."""
        ends = self._is_line or bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() == Qt.Key.Key_Escape:
            self._end(False)
        elif event.key() in _ENTER and ends:
            self._end(True)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Keep the text when the user goes elsewhere."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end(True)

    def _end(self, keeps: bool) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        text = self.toPlainText()
        canvas = self.parentWidget().parentWidget()
        self.hide()
        self.deleteLater()
        if canvas is not None:
            canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        if keeps:
            self._keep(" ".join(text.split()) if self._is_line else text)
