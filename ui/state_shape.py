# SPDX-License-Identifier: GPL-2.0-or-later
"""The shapes that tell a state, drawn in code, and the one clock that turns running arcs."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from qgis.PyQt.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, QTimer, pyqtSignal
from qgis.PyQt.QtGui import (
    QColor,
    QHideEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QShowEvent,
)
from qgis.PyQt.QtWidgets import QSizePolicy, QStyle, QWidget

from .palette import Tone, em, face, mix, on_colour, tone_colour

ARC = 250
FRAMES = 10


class Shape(Enum):
    """A state as outline and mark; no two look the same without colour."""

    IDLE = "idle"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    KEPT = "kept"
    SKIPPED = "skipped"
    STOPPED = "stopped"
    FAILED = "failed"
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    WAITING = "waiting"

    @property
    def tone(self) -> Tone:
        """Return the tone that goes with the shape."""
        return TONES.get(self, Tone.NEUTRAL)


TONES = {
    Shape.RUNNING: Tone.RUNNING,
    Shape.NOTE: Tone.RUNNING,
    Shape.DONE: Tone.DONE,
    Shape.KEPT: Tone.DONE,
    Shape.FAILED: Tone.FAILED,
    Shape.ERROR: Tone.FAILED,
    Shape.WARNING: Tone.WARNING,
    Shape.WAITING: Tone.WAITING,
}

# Everything below is drawn in a box of 20 by 20 units.
TICK = ((5.6, 10.4), (8.7, 13.4), (14.4, 7.0))
CIRCLE = QRectF(2, 2, 16, 16)


def _polyline(painter: QPainter, *points: tuple[float, float]) -> None:
    painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in points]))


def _solid(painter: QPainter, colour: QColor, *points: tuple[float, float]) -> None:
    painter.setPen(QPen(colour, 1.4, Qt.PenStyle.SolidLine, join=Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in points]))


def _pen(painter: QPainter, colour: QColor, width: float = 2.0) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    cap, join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, cap, join))


def _ring(painter: QPainter, colour: QColor, on: QColor) -> None:
    _pen(painter, colour)
    painter.drawEllipse(CIRCLE)


def _clock_face(painter: QPainter, colour: QColor, on: QColor) -> None:
    _ring(painter, colour, on)
    _polyline(painter, (10, 5.8), (10, 10.2), (13, 12))


def _skipped(painter: QPainter, colour: QColor, on: QColor) -> None:
    pen = QPen(colour, 2, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([2.0, 1.6])
    painter.setPen(pen)
    painter.drawEllipse(CIRCLE)
    _pen(painter, colour, 1.6)
    _polyline(painter, (6.6, 7), (9.6, 10), (6.6, 13))
    _polyline(painter, (10.6, 7), (13.6, 10), (10.6, 13))


def _stopped(painter: QPainter, colour: QColor, on: QColor) -> None:
    _ring(painter, colour, on)
    painter.fillRect(QRectF(7, 7, 6, 6), colour)


def _done(painter: QPainter, colour: QColor, on: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(QRectF(1, 1, 18, 18))
    _pen(painter, on, 2.2)
    _polyline(painter, *TICK)


def _kept(painter: QPainter, colour: QColor, on: QColor) -> None:
    _pen(painter, colour)
    painter.drawRoundedRect(QRectF(2, 2, 16, 16), 3, 3)
    _polyline(painter, *TICK)


def _octagon(painter: QPainter, colour: QColor) -> None:
    near, far = 6.4, 13.6
    corners = ((near, 1.7), (far, 1.7), (18.3, near), (18.3, far))
    others = ((far, 18.3), (near, 18.3), (1.7, far), (1.7, near))
    _solid(painter, colour, *corners, *others)


def _failed(painter: QPainter, colour: QColor, on: QColor) -> None:
    _octagon(painter, colour)
    _pen(painter, on, 2.2)
    _polyline(painter, (6.8, 6.8), (13.2, 13.2))
    _polyline(painter, (13.2, 6.8), (6.8, 13.2))


def _error(painter: QPainter, colour: QColor, on: QColor) -> None:
    _octagon(painter, colour)
    _pen(painter, on, 2.2)
    _polyline(painter, (10, 5.4), (10, 11))
    painter.drawPoint(QPointF(10, 14.6))


def _warning(painter: QPainter, colour: QColor, on: QColor) -> None:
    _solid(painter, colour, (10, 2.2), (18.6, 17.4), (1.4, 17.4))
    _pen(painter, on, 2.0)
    _polyline(painter, (10, 8), (10, 12))
    painter.drawPoint(QPointF(10, 15))


def _note(painter: QPainter, colour: QColor, on: QColor) -> None:
    _ring(painter, colour, on)
    _polyline(painter, (10, 9.6), (10, 14))
    painter.drawPoint(QPointF(10, 6.4))


def _waiting(painter: QPainter, colour: QColor, on: QColor) -> None:
    _solid(painter, colour, (10, 1.2), (18.8, 10), (10, 18.8), (1.2, 10))
    _pen(painter, on, 2.0)
    _polyline(painter, (8.2, 7.4), (8.2, 12.6))
    _polyline(painter, (11.8, 7.4), (11.8, 12.6))


PAINTERS: dict[Shape, Callable[[QPainter, QColor, QColor], None]] = {
    Shape.IDLE: _ring,
    Shape.QUEUED: _clock_face,
    Shape.DONE: _done,
    Shape.KEPT: _kept,
    Shape.SKIPPED: _skipped,
    Shape.STOPPED: _stopped,
    Shape.FAILED: _failed,
    Shape.ERROR: _error,
    Shape.WARNING: _warning,
    Shape.NOTE: _note,
    Shape.WAITING: _waiting,
}


def paint_shape(
    painter: QPainter, box: QRectF, shape: Shape, palette: QPalette, angle: int = 0
) -> None:
    """Draw a shape into a square box; `angle` in degrees turns the running arc."""
    colour, on = tone_colour(palette, shape.tone), on_colour(palette)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.topLeft())
    painter.scale(box.width() / 20, box.height() / 20)
    if shape is Shape.RUNNING:
        _pen(painter, mix(face(palette), colour, 0.3), 2.4)
        painter.drawEllipse(CIRCLE)
        _pen(painter, colour, 2.4)
        painter.drawArc(CIRCLE, (90 - angle) * 16, -ARC * 16)
    else:
        PAINTERS[shape](painter, colour, on)
    painter.restore()


class Turning(Protocol):
    """What the clock can turn."""

    def turn(self, angle: int) -> None:
        """Draw at another angle, 0 to 359."""


class ArcClock(QObject):
    """Ticks ten times a second while anything listens, and stands still otherwise."""

    ticked = pyqtSignal(int)

    def __init__(self) -> None:
        super().__init__()
        self._angle = 0
        self._timer = QTimer(self)
        self._timer.setInterval(1000 // FRAMES)
        self._timer.timeout.connect(self._tick)

    @property
    def running(self) -> bool:
        """Tell whether the timer is on."""
        return bool(self._timer.isActive())

    def join(self, mark: Turning) -> None:
        """Turn this mark's arc from now on."""
        self.ticked.connect(mark.turn)
        self._timer.start()

    def leave(self, mark: Turning) -> None:
        """Leave this mark's arc where it is; without marks the timer stops."""
        self.ticked.disconnect(mark.turn)
        self._rest()

    def _rest(self) -> None:
        if self.receivers(self.ticked) == 0:
            self._timer.stop()

    def _tick(self) -> None:
        self._angle = (self._angle + 360 // FRAMES) % 360
        self.ticked.emit(self._angle)
        self._rest()


class StateMark(QWidget):
    """A state shape of 1.15 em; the clock turns its arc only while it runs and can be seen."""

    def __init__(self, clock: ArcClock, shape: Shape = Shape.IDLE, size: float = 1.15) -> None:
        super().__init__()
        self._clock, self._shape, self._size, self._angle = clock, shape, size, 0
        self._turning = False
        self.setObjectName("GeoOlmStateMark")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(shape.value)

    @property
    def shape(self) -> Shape:
        """Return the state shown."""
        return self._shape

    def set_shape(self, shape: Shape) -> None:
        """Show another state."""
        if shape is self._shape:
            return
        self._shape = shape
        self.setAccessibleName(shape.value)
        self._follow(self.isVisible())
        self.update()

    def turn(self, angle: int) -> None:
        """Draw the arc at another angle."""
        self._angle = angle
        self.update()

    def sizeHint(self) -> QSize:
        """Return a square of the mark's size in em."""
        side = round(em(self) * self._size)
        return QSize(side, side)

    def minimumSizeHint(self) -> QSize:
        """Return the size hint: a mark never shrinks."""
        return self.sizeHint()

    def showEvent(self, event: QShowEvent) -> None:
        """Join the clock when a running arc becomes visible."""
        super().showEvent(event)
        self._follow(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave the clock when nothing can be seen."""
        super().hideEvent(event)
        self._follow(False)

    def changeEvent(self, event: QEvent) -> None:
        """Take the size of a new font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shape."""
        side = min(self.width(), self.height())
        box = QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side)
        paint_shape(QPainter(self), box, self._shape, self.palette(), self._angle)

    def _follow(self, visible: bool) -> None:
        still = self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) == 0
        turning = self._shape is Shape.RUNNING and visible and not still
        if turning == self._turning:
            return
        self._turning = turning
        if turning:
            self._clock.join(self)
        else:
            self._clock.leave(self)
