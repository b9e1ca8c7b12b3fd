# SPDX-License-Identifier: GPL-2.0-or-later
"""The conversation: turns below each other, followed at the end, asleep far from the view."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QSize, Qt, QTimer
from qgis.PyQt.QtGui import QPalette, QResizeEvent
from qgis.PyQt.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from ..plugin.agent.event import Event
from .approval_card import ApprovalCard
from .icon import own_icon
from .outlet import Outlet
from .palette import em
from .turn import Turn

NEAR = 1.5


class Turns(QWidget):
    """The page of turns: as wide as the view, as high as its turns are at that width."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmTurns")
        self.setBackgroundRole(QPalette.ColorRole.Base)

    def minimumSizeHint(self) -> QSize:
        """Return nothing: the height for the view's width is what counts."""
        return QSize(0, 0)


class Transcript(QScrollArea):
    """Sticks to the end while it is at the end; else offers "New below"."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmTranscript")
        self.setAccessibleName(self.tr("Conversation"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._outlet, self._sticks, self._unseen = outlet, True, False
        self.turns: list[Turn] = []
        self._page = Turns()
        self._lines = QVBoxLayout(self._page)
        self._lines.setSpacing(0)
        self._lines.addStretch(1)
        self.setWidget(self._page)
        self.below = QPushButton(self.tr("New below"), self)
        self.below.setObjectName("GeoOlmNewBelow")
        self.below.setAccessibleName(self.tr("Go to the newest message"))
        self.below.setAutoDefault(False)
        self.below.clicked.connect(self.go_to_end)
        self.below.hide()
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(0)
        self._settle.timeout.connect(self._look_around)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().rangeChanged.connect(self._ranged)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._restyle()

    @property
    def last(self) -> Turn | None:
        """Return the newest turn."""
        return self.turns[-1] if self.turns else None

    def add_turn(self, question: str, names: tuple[str, ...]) -> Turn:
        """Add a turn for a question and go to the end."""
        if self.turns:
            self.turns[-1].set_last(False)
        turn = Turn(self._outlet, question, names)
        self.turns.append(turn)
        self._lines.insertWidget(self._lines.count() - 1, turn)
        turn.grown.connect(self._settle.start)
        self._sticks = True
        self._settle.start()
        return turn

    def handle(self, event: Event) -> None:
        """Give an event to the newest turn."""
        if self.turns:
            self.turns[-1].handle(event)
            self._unseen = True

    @property
    def approval(self) -> ApprovalCard | None:
        """The card that waits for the user's word, if any."""
        return self.turns[-1].approval if self.turns else None

    def show_approval(self, focus: bool) -> None:
        """Bring the card that waits into view; with `focus` its default button takes the keys."""
        card = self.approval
        if card is not None:
            self.go_to_end()
            if focus and card.can_undo:
                card.allow.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_undoable(self, undoable: bool) -> None:
        """Offer, or no longer offer, to undo the newest turn."""
        if self.turns:
            self.turns[-1].set_undoable(undoable)

    def mark_kept(self, ids: tuple[str, ...], path: str) -> None:
        """Say of layers, by their ids, that they are kept in a file."""
        for turn in self.turns:
            turn.mark_kept(ids, path)

    def mark_removed(self, layer_id: str) -> None:
        """Strike a removed layer's chips."""
        for turn in self.turns:
            turn.mark_removed(layer_id)

    def clear(self) -> None:
        """Remove all turns."""
        for turn in self.turns:
            self._lines.removeWidget(turn)
            turn.hide()
            turn.deleteLater()
        self.turns = []
        self.below.hide()

    def go_to_end(self) -> None:
        """Scroll to the end and stay there."""
        self._sticks = True
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        self.below.hide()

    def minimumSizeHint(self) -> QSize:
        """Return a size that leaves room for the composer on a small screen."""
        return QSize(em(self) * 18, em(self) * 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button in its corner."""
        super().resizeEvent(event)
        self._place_button()
        self._settle.start()

    def changeEvent(self, event: QEvent) -> None:
        """Take new measures and colours."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange):
            self._restyle()

    def _restyle(self) -> None:
        unit = em(self)
        side = round(unit * 0.75)
        self._lines.setContentsMargins(side, round(unit * 0.25), side, round(unit * 0.5))
        self.below.setIcon(own_icon("new_below", self.palette().color(QPalette.ColorRole.Text)))
        self._place_button()

    def _place_button(self) -> None:
        hint, unit = self.below.sizeHint(), em(self)
        view = self.viewport().geometry()
        left = view.left() + (view.width() - hint.width()) // 2
        self.below.setGeometry(
            left, view.bottom() - hint.height() - unit // 2, hint.width(), hint.height()
        )
        self.below.raise_()

    def _scrolled(self, value: int) -> None:
        self._sticks = value >= self.verticalScrollBar().maximum() - em(self)
        if self._sticks:
            self._unseen = False
            self.below.hide()
        self._settle.start()

    def _ranged(self, low: int, high: int) -> None:
        if self._sticks:
            self.verticalScrollBar().setValue(high)
        elif self._unseen and high > 0:
            self.below.show()
            self._place_button()

    def _look_around(self) -> None:
        """Wake the turns near the view and let the others sleep."""
        height = self.viewport().height()
        top = self.verticalScrollBar().value() - height * NEAR
        bottom = top + height * (1 + 2 * NEAR)
        for turn in self.turns:
            place = turn.geometry()
            if turn is self.turns[-1] or (place.bottom() >= top and place.top() <= bottom):
                turn.wake()
            else:
                turn.sleep()
