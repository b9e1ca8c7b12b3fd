# SPDX-License-Identifier: GPL-2.0-or-later
"""The small map of a large workflow in the canvas's corner; a drag in it moves the view."""

from __future__ import annotations

from qgis.PyQt.QtCore import QPoint, QRectF, Qt
from qgis.PyQt.QtGui import QMouseEvent, QPainter, QPalette, QPen
from qgis.PyQt.QtWidgets import QGraphicsView

WIDTH, HEIGHT, LEAST_CANVAS = 12.0, 7.0, 40.0
"""Its size, and the canvas's least width for it, in em."""
_EDGE = 0.6


class Minimap(QGraphicsView):
    """Shows the whole scene of another view while not all of it can be seen there."""

    def __init__(self, view: QGraphicsView, unit: float) -> None:
        super().__init__(view)
        self.setObjectName("GeoOlmMinimap")
        self.setAccessibleName(self.tr("Overview"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setInteractive(False)
        self._view, self._unit = view, unit
        self.setScene(view.scene())
        for bar in ("setHorizontalScrollBarPolicy", "setVerticalScrollBarPolicy"):
            getattr(self, bar)(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedSize(round(WIDTH * unit), round(HEIGHT * unit))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setVisible(False)

    def settle(self) -> None:
        """Stand in the corner, if there is more to see than the canvas shows."""
        whole, port = self._view.scene(), self._view.viewport()
        if whole is None:  # the canvas is being taken down
            return
        scene, seen = whole.contents, self._seen()
        is_needed = not scene.isEmpty() and not seen.contains(scene)
        self.setVisible(is_needed and port.width() >= LEAST_CANVAS * self._unit)
        if not self.isVisible():
            return
        edge = round(_EDGE * self._unit)
        corner = QPoint(port.width() - self.width() - edge, port.height() - self.height() - edge)
        self.move(port.mapTo(self._view, corner))
        self.fitInView(scene.united(seen), Qt.AspectRatioMode.KeepAspectRatio)
        self.viewport().update()

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """Frame what the canvas shows."""
        pen = QPen(self.palette().color(QPalette.ColorRole.Highlight), 2)
        pen.setCosmetic(True)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self._seen())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Show what is pressed on."""
        self._go(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event)

    def _go(self, event: QMouseEvent) -> None:
        self._view.centerOn(self.mapToScene(event.pos()))
        event.accept()

    def _seen(self) -> QRectF:
        port = self._view.viewport().rect()
        return self._view.mapToScene(port).boundingRect()
