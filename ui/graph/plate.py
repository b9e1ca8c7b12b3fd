# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands over the canvas: the ground of lists with a thin line around it, in any palette."""

from __future__ import annotations

from qgis.PyQt.QtCore import QRectF
from qgis.PyQt.QtGui import QPainter, QPaintEvent, QPalette, QPen
from qgis.PyQt.QtWidgets import QWidget

from ..palette import ground, line


class Plate(QWidget):
    """The base of panels over the canvas."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground and a line around it."""
        painter = QPainter(self)
        painter.setPen(QPen(line(self.palette()), 1))
        painter.setBrush(ground(self.palette(), QPalette.ColorRole.Base))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
