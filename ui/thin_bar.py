# SPDX-License-Identifier: GPL-2.0-or-later
"""A progress bar of 0.3 em in the running colour; without a share, a piece of it moves along."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QRectF, Qt
from qgis.PyQt.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from qgis.PyQt.QtWidgets import QProgressBar

from .outlet import Outlet
from .palette import Tone, em, line, tone_colour

PIECE = 0.3


class ThinBar(QProgressBar):
    """A native progress bar to a screen reader, a thin line to the eye."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self._clock, self._angle = outlet.clock, 0
        self.setTextVisible(False)
        self.setRange(0, 100)
        self._take_height()

    def turn(self, angle: int) -> None:
        """Move the piece of a bar without a share; `angle` is 0 to 359."""
        self._angle = angle
        if self.maximum() == 0:
            self.update()

    def showEvent(self, event: QShowEvent) -> None:
        """Join the clock."""
        super().showEvent(event)
        self._clock.join(self)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave the clock."""
        super().hideEvent(event)
        self._clock.leave(self)

    def changeEvent(self, event: QEvent) -> None:
        """Take the height of a new font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._take_height()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the track and the part done."""
        painter, palette, unit = QPainter(self), self.palette(), em(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        thick = max(3.0, unit * 0.3)
        track = QRectF(0, (self.height() - thick) / 2, self.width(), thick)
        painter.setBrush(line(palette))
        painter.drawRoundedRect(track, thick / 2, thick / 2)
        done = QRectF(track)
        if self.maximum() == 0:
            done.setWidth(track.width() * PIECE)
            done.moveLeft(track.width() * (1 - PIECE) * self._angle / 360)
        else:
            done.setWidth(max(thick, track.width() * self.value() / self.maximum()))
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            done.moveLeft(track.width() - done.right())
        painter.setBrush(tone_colour(palette, Tone.RUNNING))
        painter.drawRoundedRect(done, thick / 2, thick / 2)

    def _take_height(self) -> None:
        self.setFixedHeight(round(em(self) * 0.8))
