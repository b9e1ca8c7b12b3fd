# SPDX-License-Identifier: GPL-2.0-or-later
"""All tool cards of a turn: open while it runs, one line "6 steps, 1 mended" when it is over."""

from __future__ import annotations

from qgis.PyQt.QtWidgets import QVBoxLayout

from ..plugin.agent.event import CallFinished, CallProgress, CallStarted, Reflected
from .card import Card
from .card_header import CardHeader
from .icon import theme_icon
from .number import clock
from .outlet import Outlet
from .panel import Label, Panel
from .state_shape import Shape
from .tool_card import ToolCard


class StepsCard(Card):
    """Stage headings and tool cards in order; the summary line shows once the turn is over."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmSteps")
        self._outlet, self._stage, self._headed, self._folded = outlet, "", "", False
        self.cards: dict[str, ToolCard] = {}
        self.header = CardHeader(outlet, "GeoOlmStepsHeader", Shape.DONE)
        self.header.toggled.connect(self._show_cards)
        self.header.setVisible(False)
        self.list = Panel()
        self._lines = QVBoxLayout(self.list)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.header)
        self._column.addWidget(self.list)
        self.setVisible(False)

    @property
    def user_opened(self) -> bool:
        """Tell whether the user opened anything here."""
        opened = any(card.user_opened for card in self.cards.values())
        return opened or (self._folded and self.header.fold.opened)

    def restyle(self) -> None:
        """Set margins, and the icon of the summary line."""
        unit = self.em
        side = round(unit * 1.25)
        self.header.picture.setPixmap(theme_icon("processingModel").pixmap(side, side))
        self._lines.setSpacing(round(unit * 0.5))
        pad = round(unit * 0.5) if self._folded else 0
        self._lines.setContentsMargins(pad, 0, pad, pad)
        self.list.restyle_all()

    def paintEvent(self, event: object) -> None:
        """Draw a frame only around the folded turn."""
        if self._folded:
            super().paintEvent(event)

    def set_stage(self, stage: str) -> None:
        """Put the next card under this stage's heading."""
        self._stage = stage

    def start(self, event: CallStarted) -> None:
        """Add a card for a call that begins."""
        if self._stage and self._stage != self._headed:
            self._headed = self._stage
            heading = Label(self._stage.upper(), faint=True, scale=0.85, bold=True)
            heading.setObjectName("GeoOlmStageHeading")
            self._lines.addWidget(heading)
        card = ToolCard(self._outlet, event)
        self.cards[event.call_id] = card
        self._lines.addWidget(card)
        self.list.restyle_all()
        self.setVisible(True)

    def progress(self, event: CallProgress) -> None:
        """Pass on a share done."""
        if event.call_id in self.cards:
            self.cards[event.call_id].set_progress(event.percent)

    def finish(self, event: CallFinished) -> None:
        """Pass on the end of a call."""
        if event.call_id in self.cards:
            self.cards[event.call_id].finish(event)

    def mend(self, event: Reflected) -> None:
        """Pass on how a failed call was corrected."""
        card = self.cards.get(event.call_id)
        if card is not None and card.shape is Shape.FAILED and event.text:
            card.reflect(event.text)

    def close_run(self, shape: Shape, seconds: float) -> None:
        """Fold all cards into one line."""
        steps = len(self.cards)
        if not steps:
            return
        for card in self.cards.values():
            card.stop()
            if not card.user_opened:
                card.set_opened(False)
        mended = sum(card.mended for card in self.cards.values())
        failed = [card for card in self.cards.values() if card.shape is Shape.FAILED]
        self.header.mark.set_shape(shape)
        self.header.title.setText(
            self.tr("1 step") if steps == 1 else self.tr("{0} steps").format(steps)
        )
        notes = [self.tr("{0} mended").format(mended)] if mended else []
        if len(failed) > mended:
            notes.append(self.tr("{0} failed").format(len(failed) - mended))
        self.header.set_extra(", ".join(notes))
        self.header.set_note(clock(seconds))
        parts = (self.header.title.text(), *notes, clock(seconds))
        self.header.setAccessibleName(", ".join(parts))
        self._folded = True
        self.header.setVisible(True)
        self._show_cards(any(card.user_opened for card in self.cards.values()))
        self.restyle_all()

    def _show_cards(self, shown: bool) -> None:
        self.header.set_opened(shown)
        self.list.setVisible(shown)
