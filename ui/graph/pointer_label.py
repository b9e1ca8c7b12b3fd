# SPDX-License-Identifier: GPL-2.0-or-later
"""A few words beside the pointer while something is held, in the colours of tool tips."""

from __future__ import annotations

from qgis.PyQt.QtCore import QPoint, Qt
from qgis.PyQt.QtGui import QPalette
from qgis.PyQt.QtWidgets import QLabel, QToolTip, QWidget


class PointerLabel(QLabel):
    """Stands on the canvas; the mouse goes through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmPointerLabel")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setPalette(QToolTip.palette())
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.setFrameShape(QLabel.Shape.Box)
        self.setMargin(3)
        self.hide()

    def show_at(self, text: str, place: QPoint) -> None:
        """Show a text at a place of the canvas, inside it; nothing for no text."""
        self.setVisible(bool(text))
        if not text:
            return
        self.setText(text)
        self.adjustSize()
        room = self.parentWidget().rect()
        x = max(min(place.x(), room.right() - self.width()), 0)
        y = max(min(place.y(), room.bottom() - self.height()), 0)
        self.move(x, y)
