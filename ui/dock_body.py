# SPDX-License-Identifier: GPL-2.0-or-later
"""The dock's content: it takes the dock's own keys, and draws what stands between its parts."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QObject, QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QKeyEvent, QPainter, QPaintEvent
from qgis.PyQt.QtWidgets import QFrame, QWidget

from .palette import em, line
from .panel import Panel


class Inset(Panel):
    """Room around the message about the model."""

    def restyle(self) -> None:
        """Set the margins of the dock."""
        side = round(self.em * 0.75)
        self.layout().setContentsMargins(side, round(self.em * 0.25), side, side)


class Rule(QFrame):
    """A line between the parts of the dock."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill one pixel in the palette's line colour."""
        QPainter(self).fillRect(self.rect(), line(self.palette()))


class DockBody(QWidget):
    """The dock's content; it takes the dock's keys before QGIS's own shortcuts do."""

    stop_pressed = pyqtSignal()
    new_chat_pressed = pyqtSignal()
    approval_pressed = pyqtSignal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmBody")
        self._keys = {
            Qt.Key.Key_Period: self.stop_pressed,
            Qt.Key.Key_N: self.new_chat_pressed,
        }
        self._words = {Qt.Key.Key_A: True, Qt.Key.Key_R: False}
        self.waits = False

    def sizeHint(self) -> QSize:
        """Return the ideal size: 32 em wide."""
        return QSize(em(self) * 32, em(self) * 48)

    def minimumSizeHint(self) -> QSize:
        """Return the least size: 22 em wide, and as high as the parts need."""
        hint = super().minimumSizeHint()
        return QSize(max(hint.width(), em(self) * 22), hint.height())

    def event(self, event: QEvent) -> bool:
        """Accept the override of our keys, so that they come as key presses."""
        if event.type() == QEvent.Type.ShortcutOverride and self._ours(event):
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Stop the run, start a new chat, or say the word that a run waits for."""
        if self._is_word(event):
            self.approval_pressed.emit(self._words[event.key()])
        elif self._ours(event):
            self._keys[event.key()].emit()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the keys of the word from the field, which would write their letters."""
        if event.type() == QEvent.Type.KeyPress and self._is_word(event):
            self.keyPressEvent(event)
            return True
        return bool(super().eventFilter(watched, event))

    def _ours(self, event: QKeyEvent) -> bool:
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        return (control and event.key() in self._keys) or self._is_word(event)

    def _is_word(self, event: QEvent) -> bool:
        alone = event.modifiers() == Qt.KeyboardModifier.AltModifier
        return self.waits and alone and event.key() in self._words
