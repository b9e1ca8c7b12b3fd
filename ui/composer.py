# SPDX-License-Identifier: GPL-2.0-or-later
"""The composer: the question's field, and under it the buttons; Send becomes Stop in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QPalette, QResizeEvent
from qgis.PyQt.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout

from .check_box import CheckBox
from .icon import own_icon
from .mode_button import ModeButton
from .palette import Tone, tone_colour
from .panel import LinkButton, Panel
from .question_field import QuestionField

if TYPE_CHECKING:
    from ..tools.base import LayerProfile

NARROW = 30
"""In em: below it the mode shows its icon only."""


class Composer(Panel):
    """Emits what the user sends; one of Send and Stop can be seen."""

    sent = pyqtSignal(str)
    stopped = pyqtSignal()
    left = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmComposer")
        self._can_ask = True
        self.field = QuestionField()
        self.field.sent.connect(self._send)
        self.field.left.connect(self.left)
        self.field.textChanged.connect(self._enable)
        self.at = LinkButton("GeoOlmMention", "@")
        self.at.setAccessibleName(self.tr("Name a layer"))
        self.at.setToolTip(self.tr("Name a layer or a field"))
        self.at.clicked.connect(self.field.start_mention)
        self.plan_first = CheckBox("GeoOlmPlanFirst", self.tr("Plan first"))
        self.plan_first.setToolTip(
            self.tr("Open the plan in GeoFlow before anything runs (Ctrl+P)")
        )
        self.mode = ModeButton()
        self.send = QPushButton(self.tr("Send"))
        self.send.setObjectName("GeoOlmSend")
        self.send.setAccessibleName(self.tr("Send the question"))
        self.send.setToolTip(self.tr("Send the question (Enter)"))
        self.send.setAutoDefault(False)
        self.send.clicked.connect(self._send)
        self.stop = QPushButton(self.tr("Stop"))
        self.stop.setObjectName("GeoOlmStop")
        self.stop.setAccessibleName(self.tr("Stop the run"))
        self.stop.setToolTip(self.tr("Stop the run (Ctrl+.)"))
        self.stop.setAutoDefault(False)
        self.stop.clicked.connect(self._stop)
        self.stop.setVisible(False)
        self._row = QHBoxLayout()
        self._row.addWidget(self.at)
        self._row.addWidget(self.plan_first)
        self._row.addWidget(self.mode)
        self._row.addStretch(1)
        self._row.addWidget(self.send)
        self._row.addWidget(self.stop)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.field)
        self._column.addLayout(self._row)
        self._enable()

    def restyle(self) -> None:
        """Set margins and the colours of the buttons' icons."""
        unit, palette = self.em, self.palette()
        side = round(unit * 0.75)
        self._column.setContentsMargins(side, round(unit * 0.6), side, round(unit * 0.6))
        self._column.setSpacing(round(unit * 0.5))
        self.send.setIcon(own_icon("send", palette.color(QPalette.ColorRole.ButtonText)))
        self.stop.setIcon(own_icon("stop", tone_colour(palette, Tone.FAILED)))
        self.mode.recolour()
        for button in (self.send, self.stop):
            button.setMinimumSize(round(unit * 6.5), round(unit * 2.15))
            button.setIconSize(QSize(round(unit * 1.25), round(unit * 1.25)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the mode by its icon alone where there is little room."""
        super().resizeEvent(event)
        style = Qt.ToolButtonStyle
        wide = self.width() >= NARROW * self.em
        self.mode.setToolButtonStyle(
            style.ToolButtonTextBesideIcon if wide else style.ToolButtonIconOnly
        )

    def set_layers(self, layers: tuple[LayerProfile, ...]) -> None:
        """Offer these layers after "@"."""
        self.field.set_layers(layers)
        self.at.setEnabled(bool(layers))

    def set_running(self, running: bool) -> None:
        """Show Stop in place of Send while a run goes on."""
        focused = self.send.hasFocus() or self.stop.hasFocus()
        self.stop.setEnabled(running)
        self.stop.setText(self.tr("Stop"))
        self.send.setVisible(not running)
        self.stop.setVisible(running)
        if focused:
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def can_ask(self) -> bool:
        """Tell whether a question can be sent now."""
        return self._can_ask

    def set_can_ask(self, can_ask: bool) -> None:
        """Allow sending, or keep what is typed until a model is there."""
        self._can_ask = can_ask
        self._enable()

    def put_back(self, text: str) -> None:
        """Return a text to the field, before what is there."""
        typed = self.field.toPlainText()
        self.field.setPlainText(f"{text}\n{typed}" if typed.strip() else text)

    def _enable(self) -> None:
        self.send.setEnabled(self._can_ask and bool(self.field.toPlainText().strip()))

    def _send(self) -> None:
        text = self.field.toPlainText().strip()
        if text and self._can_ask:
            self.field.clear()
            self.sent.emit(text)

    def _stop(self) -> None:
        """Ask once to stop, and show that it was heard."""
        self.stop.setEnabled(False)
        self.stop.setText(self.tr("Stopping"))
        self.stopped.emit()
