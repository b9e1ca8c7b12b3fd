# SPDX-License-Identifier: GPL-2.0-or-later
"""The one line of a card that opens and folds it, by mouse and by keyboard."""

from __future__ import annotations

from qgis.PyQt.QtCore import QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from qgis.PyQt.QtWidgets import QHBoxLayout, QLabel, QWidget

from .outlet import Outlet
from .palette import muted
from .panel import ElidedLabel, Label, Panel
from .state_shape import Shape, StateMark

LEAST = 3.5


class FoldMark(Panel):
    """The triangle that tells whether a card is open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.opened = False

    def restyle(self) -> None:
        """Take 0.8 em of width."""
        self.setFixedSize(round(self.em * 0.8), round(self.em * 1.15))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the triangle, down when open."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(self.width() / 2, self.height() / 2)
        if self.opened:
            painter.rotate(90)
        elif self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            painter.rotate(180)
        half = self.em * 0.24
        pen = QPen(muted(self.palette()), max(1.2, self.em * 0.12))
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawLine(round(-half / 2), round(-half), round(half / 2), 0)
        painter.drawLine(round(half / 2), 0, round(-half / 2), round(half))


class CardHeader(Panel):
    """The one line of a card; the keyboard opens and folds it, and goes to its neighbours."""

    toggled = pyqtSignal(bool)

    def __init__(self, outlet: Outlet, name: str, shape: Shape) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._extra = self._note = self._short = ""
        self.fold = FoldMark()
        self.mark = StateMark(outlet.clock, shape)
        self.picture = QLabel()
        self.title = ElidedLabel(bold=True)
        self.layer = ElidedLabel(faint=True)
        self.note = Label(faint=True, scale=0.92)
        self._row = QHBoxLayout(self)
        for widget in (self.fold, self.mark, self.picture):
            self._row.addWidget(widget)
        self._row.addWidget(self.title)
        self._row.addWidget(self.layer, 1)
        self._row.addWidget(self.note)

    def restyle(self) -> None:
        """Set the margins."""
        unit = self.em
        self._row.setContentsMargins(round(unit * 0.55), 0, round(unit * 0.7), 0)
        self._row.setSpacing(round(unit * 0.45))
        self.setMinimumHeight(round(unit * 2.3))
        self.fit()

    def fit(self) -> None:
        """Give the title the room it needs: a narrow card drops the layer, then the seconds."""
        unit, needed = self.em, self.title.sizeHint().width()
        self.note.setText(self._note)
        if self.width() - self.note.sizeHint().width() - unit * 7 < needed:
            self.note.setText(self._short)
        fixed = self.note.sizeHint().width() + unit * 7
        room = max(unit * 3, self.width() - fixed)
        width = min(needed, room)
        self.title.setFixedWidth(width)
        self.layer.setText(self._extra if room - width >= LEAST * unit else "")

    def set_note(self, text: str, short: str = "") -> None:
        """Set the result and time at the end of the line, and what stays where it is narrow."""
        self._note, self._short = text, short or text
        self.fit()

    def set_extra(self, text: str) -> None:
        """Set the faint text after the title."""
        self._extra = text
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share out the new width."""
        super().resizeEvent(event)
        self.fit()

    def set_opened(self, opened: bool) -> None:
        """Show whether the card is open."""
        self.fold.opened = opened
        self.fold.update()

    def minimumSizeHint(self) -> QSize:
        """Return a width at which the title is cut, so that the dock can be narrow."""
        return QSize(self.em * 12, super().minimumSizeHint().height())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open or fold."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.pos()):
            self.toggled.emit(not self.fold.opened)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open, fold, or go to the next or previous card."""
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.toggled.emit(not self.fold.opened)
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            self.toggled.emit(key == Qt.Key.Key_Right)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self._go(1 if key == Qt.Key.Key_Down else -1)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the focus ring."""
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the focus ring."""
        if not self.hasFocus():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        highlight = self.palette().color(QPalette.ColorRole.Highlight)
        painter.setPen(QPen(highlight, max(1.0, self.em * 0.12)))
        radius = self.em * 0.4
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), radius, radius)

    def _go(self, step: int) -> None:
        headers = [found for found in self.window().findChildren(CardHeader) if found.isVisible()]
        headers.sort(key=lambda found: found.mapToGlobal(found.rect().topLeft()).y())
        at = headers.index(self) + step
        if 0 <= at < len(headers):
            headers[at].setFocus(Qt.FocusReason.TabFocusReason)
