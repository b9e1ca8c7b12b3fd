# SPDX-License-Identifier: GPL-2.0-or-later
"""The strip of stages that a run passes through."""

from __future__ import annotations

from enum import Enum

from qgis.PyQt.QtCore import QPointF, QRectF, QSize, Qt
from qgis.PyQt.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
)
from qgis.PyQt.QtWidgets import QSizePolicy, QWidget

from .number import plain_tip
from .palette import Tone, frame, ground, line, muted, on_colour, tint, tone_colour
from .panel import Panel

# Strokes in a box of 1 by 1, by the state's word.
MARKS = {
    "done": (((0.0, 0.55), (0.35, 0.9), (1.0, 0.15)),),
    "passed over": (((0.05, 0.5), (0.95, 0.5)),),
    "failed": (((0.1, 0.1), (0.9, 0.9)), ((0.9, 0.1), (0.1, 0.9))),
}


class StageState(Enum):
    """How far a stage is."""

    NEXT = "next"
    PRESENT = "present"
    DONE = "done"
    PASSED = "passed over"
    FAILED = "failed"
    STOPPED = "stopped"


FULL = {StageState.PRESENT: Tone.RUNNING, StageState.FAILED: Tone.FAILED}
BOLD = (StageState.PRESENT, StageState.FAILED, StageState.STOPPED)


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
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        widths, whole = self._widths()
        painter.save()
        if mirrored:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        left, boxes = 0.5, []
        for at, width in enumerate(widths):
            box = QRectF(left, 0.5, width, self.height() - 1)
            boxes.append(self._paint_stage(painter, at, box))
            left += width
        painter.restore()
        for at, box in enumerate(boxes):
            if mirrored:
                box.moveLeft(self.width() - box.right())
            self._paint_name(painter, at, box, whole or at == self._at)
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
        state = self._states[at].value
        return state if state in MARKS else ""

    def _paint_stage(self, painter: QPainter, at: int, box: QRectF) -> QRectF:
        """Draw a stage's arrow and return the room for its name."""
        point, last = self.em * 0.55, at == len(self._names) - 1
        left, top, bottom, middle = box.left(), box.top(), box.bottom(), box.center().y()
        right = box.right() - point if last else box.right()
        corners = [(left, top), (right, top), (right + point, middle), (right, bottom)]
        corners.append((left, bottom))
        if at > 0:
            corners.append((left + point, middle))
        fill, edge, _ = self._colours(self._states[at])
        painter.setPen(QPen(edge, 1))
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        start = left + point if at else left
        return QRectF(start, top, right + point * 0.5 - start, box.height())

    def _colours(self, state: StageState) -> tuple[QColor, QColor, QColor]:
        """Return the fill, the edge and the ink of a stage in a state."""
        palette, roles = self.palette(), QPalette.ColorRole
        window, text = ground(palette, roles.Window), palette.color(roles.WindowText)
        if state in FULL:
            colour = tone_colour(palette, FULL[state])
            return colour, colour, on_colour(palette)
        if state is StageState.DONE:
            return tint(palette, Tone.DONE), frame(palette, Tone.DONE), text
        return window, line(palette), text if state is StageState.STOPPED else muted(palette)

    def _paint_name(self, painter: QPainter, at: int, box: QRectF, named: bool) -> None:
        """Draw a stage's mark and name; without a name its mark alone, or a dot."""
        state, mark, side = self._states[at], self._mark(at), self.em * 0.65
        ink = self._colours(state)[2]
        font = self._font(state in BOLD)
        metrics = QFontMetrics(font)
        gap = side * 0.45 if named and mark else 0.0
        room = box.width() - (side + gap if mark else 0)
        name = metrics.elidedText(self._names[at], Qt.TextElideMode.ElideRight, int(room) + 1)
        length = metrics.horizontalAdvance(name) if named else 0
        start = box.center().x() - (length + gap + (side if mark else 0)) / 2
        if mark:
            done = state is StageState.DONE
            colour = tone_colour(self.palette(), Tone.DONE) if done else ink
            place = QRectF(start, box.center().y() - side / 2, side, side)
            self._paint_mark(painter, mark, place, colour)
            start += side + gap
        elif not named:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawEllipse(box.center(), self.em * 0.16, self.em * 0.16)
        if named:
            painter.setFont(font)
            painter.setPen(ink)
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignHCenter
            painter.drawText(QRectF(start, box.top(), length + 1, box.height()), flags, name)

    def _paint_mark(self, painter: QPainter, mark: str, box: QRectF, colour: QColor) -> None:
        pen = QPen(colour, max(1.5, self.em * 0.13))
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        for stroke in MARKS[mark]:
            points = [
                QPointF(box.left() + x * box.width(), box.top() + y * box.height())
                for x, y in stroke
            ]
            painter.drawPolyline(QPolygonF(points))

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
            self.setToolTip(plain_tip(text))
        self.update()
