# SPDX-License-Identifier: GPL-2.0-or-later
"""The strip of stages that a run passes through."""

from __future__ import annotations

from enum import Enum

from qgis.PyQt.QtCore import QPointF, QRectF, QSize, Qt
from qgis.PyQt.QtGui import (
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
)
from qgis.PyQt.QtWidgets import QSizePolicy, QWidget

from .palette import Tone, frame, line, muted, on_colour, tint, tone_colour
from .panel import Panel

MARKS = {
    "done": ((0.0, 0.55), (0.35, 0.9), (1.0, 0.15)),
    "passed": ((0.05, 0.5), (0.95, 0.5)),
}


class StageState(Enum):
    """How far a stage is."""

    NEXT = "next"
    PRESENT = "present"
    DONE = "done"
    PASSED = "passed over"
    FAILED = "failed"
    STOPPED = "stopped"


class StageStrip(Panel):
    """One focusable element, read as "Stage 4 of 6: Analyse"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmStages")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._names: tuple[str, ...] = ()
        self._states: list[StageState] = []
        self._at = -1
        self._tell()

    @property
    def states(self) -> tuple[tuple[str, StageState], ...]:
        """Return each stage's name and state."""
        return tuple(zip(self._names, self._states))

    def set_stages(self, names: tuple[str, ...]) -> None:
        """Show these stages, none of them begun."""
        self._names = names
        self._states = [StageState.NEXT] * len(names)
        self._at = -1
        self.setVisible(bool(names))
        self._tell()

    def enter(self, name: str) -> None:
        """Make a stage the present one; a name outside the strip is the error stage or the end."""
        if name in self._names:
            at = self._names.index(name)
            if 0 <= self._at < at:
                self._states[self._at] = StageState.DONE
            for between in range(at):
                if self._states[between] is not StageState.DONE:
                    self._states[between] = StageState.PASSED
            for later in range(at + 1, len(self._names)):
                self._states[later] = StageState.NEXT
            self._at = at
            self._states[at] = StageState.PRESENT
        elif self._at >= 0:
            failed = name.lower() == "error"
            self._states[self._at] = StageState.FAILED if failed else StageState.DONE
        self._tell()

    def close_run(self, state: StageState) -> None:
        """End the run: the present stage is done, failed or stopped."""
        if self._at >= 0:
            self._states[self._at] = state
        if state is StageState.DONE:
            for later in range(self._at + 1, len(self._names)):
                self._states[later] = StageState.PASSED
        self._tell()

    def sizeHint(self) -> QSize:
        """Return the strip's ideal size: 32 em wide, 2.15 em high."""
        return QSize(self.em * 28, round(self.em * 2.15))

    def minimumSizeHint(self) -> QSize:
        """Return the least size, with marks alone."""
        return QSize(self.em * 12, round(self.em * 2.15))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the stages as arrows, left to right or mirrored."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        widths, whole = self._widths()
        left = 0.5
        for at, width in enumerate(widths):
            box = QRectF(left, 0.5, width, self.height() - 1)
            self._paint_stage(painter, at, box, whole or at == self._at)
            left += width
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            highlight = self.palette().color(QPalette.ColorRole.Highlight)
            painter.setPen(QPen(highlight, max(1.0, self.em * 0.12)))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))

    def _font(self, present: bool) -> QFont:
        font = QFont(self.font())
        if present:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def _widths(self) -> tuple[list[float], bool]:
        """Return the width of each stage, and whether all names fit."""
        if not self._names:
            return [], True
        room, point = self.width() - 1.0, self.em * 0.55
        bold = QFontMetrics(self._font(True))
        needed = [
            bold.horizontalAdvance(name) + self.em * (1.0 if self._mark(at) else 0.2) + point * 1.6
            for at, name in enumerate(self._names)
        ]
        if sum(needed) <= room:
            spare = (room - sum(needed)) / len(needed)
            return [width + spare for width in needed], True
        if self._at < 0:
            return [room / len(needed)] * len(needed), False
        at = self._at
        mark = min(self.em * 3.0, (room - needed[at]) / max(1, len(needed) - 1))
        widths = [max(mark, point * 2)] * len(needed)
        widths[at] = room - sum(widths[:at] + widths[at + 1 :])
        return widths, False

    def _mark(self, at: int) -> str:
        state = self._states[at]
        if state is StageState.DONE:
            return "done"
        return "passed" if state is StageState.PASSED else ""

    def _paint_stage(self, painter: QPainter, at: int, box: QRectF, named: bool) -> None:
        palette, state, point = self.palette(), self._states[at], self.em * 0.55
        last, top, bottom = at == len(self._names) - 1, box.top(), box.bottom()
        left, right, middle = box.left(), box.right(), box.center().y()
        if last:
            right -= point
        corners = [(left, top), (right, top), (right + point, middle), (right, bottom)]
        corners.append((left, bottom))
        if at > 0:
            corners.append((left + point, middle))
        shape = QPolygonF([QPointF(x, y) for x, y in corners])
        fill, pen, ink = palette.color(QPalette.ColorRole.Window), line(palette), muted(palette)
        if state is StageState.PRESENT:
            fill = pen = tone_colour(palette, Tone.RUNNING)
            ink = on_colour(palette)
        elif state is StageState.FAILED:
            fill = pen = tone_colour(palette, Tone.FAILED)
            ink = on_colour(palette)
        elif state is StageState.DONE:
            fill, pen = tint(palette, Tone.DONE), frame(palette, Tone.DONE)
            ink = palette.color(QPalette.ColorRole.Text)
        elif state is StageState.STOPPED:
            ink = palette.color(QPalette.ColorRole.WindowText)
        painter.setPen(QPen(pen, 1))
        painter.setBrush(fill)
        painter.drawPolygon(shape)
        inner = QRectF(left + (point if at else 0), top, right - left - (point if at else 0), 0)
        inner.setHeight(box.height())
        self._paint_name(painter, at, inner.adjusted(0, 0, point * 0.5, 0), named, ink)

    def _paint_name(
        self, painter: QPainter, at: int, box: QRectF, named: bool, ink: object
    ) -> None:
        state, side = self._states[at], self.em * 0.65
        font = self._font(state in (StageState.PRESENT, StageState.FAILED, StageState.STOPPED))
        metrics, mark = QFontMetrics(font), self._mark(at)
        gap = side * 0.45 if named and mark else 0.0
        room = box.width() - (side + gap if mark else 0)
        name = metrics.elidedText(self._names[at], Qt.TextElideMode.ElideRight, int(room) + 1)
        text = name if named else ""
        width = metrics.horizontalAdvance(text) + gap + (side if mark else 0)
        start = box.center().x() - width / 2
        pen = QPen(ink, max(1.5, self.em * 0.13))
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        if mark:
            colour = tone_colour(self.palette(), Tone.DONE) if mark == "done" else ink
            pen.setColor(colour)
            painter.setPen(pen)
            top = box.center().y() - side / 2
            points = [QPointF(start + x * side, top + y * side) for x, y in MARKS[mark]]
            painter.drawPolyline(QPolygonF(points))
            start += side + gap
        elif not named:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QPen(ink).color())
            painter.drawEllipse(box.center(), self.em * 0.16, self.em * 0.16)
        if text:
            painter.save()
            painter.setFont(font)
            painter.setPen(QPen(ink))
            place = QRectF(start, box.top(), box.width() + self.em, box.height())
            if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
                painter.translate(place.left() + metrics.horizontalAdvance(text), 0)
                painter.scale(-1, 1)
                place.moveLeft(0)
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.drawText(place, flags, text)
            painter.restore()

    def _tell(self) -> None:
        if 0 <= self._at < len(self._names):
            text = self.tr("Stage {0} of {1}: {2}").format(
                self._at + 1, len(self._names), self._names[self._at]
            )
            if self._states[self._at] in (StageState.FAILED, StageState.STOPPED):
                text += f", {self._states[self._at].value}"
        else:
            text = self.tr("Stages: {0}").format(", ".join(self._names))
        if text != self.accessibleName():
            self.setAccessibleName(text)
            self.setToolTip(text)
        self.update()
