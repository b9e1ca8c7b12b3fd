# SPDX-License-Identifier: GPL-2.0-or-later
"""The bar over the canvas at which a run waits for the user: a review stop or a question."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtGui import QPainter, QPaintEvent, QPen
from qgis.PyQt.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QWidget

from ...plugin.workflow.event import QuestionAsked, ReviewReached
from ..palette import Tone, frame, tint
from ..panel import Panel


class AskBar(Panel):
    """Says what is waited for; `answered` carries the text, `went_on` whether the run goes on."""

    answered = pyqtSignal(str)
    went_on = pyqtSignal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmAskBar")
        self.text = QLabel()
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.answer = QComboBox()
        self.answer.setObjectName("GeoOlmAskAnswer")
        self.answer.setEditable(True)
        self.go = QPushButton(self.tr("Go on"))
        self.go.setObjectName("GeoOlmGoOn")
        self.end = QPushButton(self.tr("Stop"))
        self.end.setObjectName("GeoOlmEndRun")
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.text, 1)
        self._row.addWidget(self.answer)
        self._row.addWidget(self.go)
        self._row.addWidget(self.end)
        self._is_question = False
        self.go.clicked.connect(self._go)
        self.end.clicked.connect(lambda: self._leave(False))
        self.setVisible(False)

    def restyle(self) -> None:
        """Set the margins."""
        pad = round(self.em * 0.6)
        self._row.setContentsMargins(pad, pad // 2, pad, pad // 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground in the colour of waiting."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), tint(self.palette(), Tone.WAITING))
        painter.setPen(QPen(frame(self.palette(), Tone.WAITING), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def show_review(self, stop: ReviewReached) -> None:
        """Ask whether the run goes on after a look at a layer."""
        named = ", ".join(one.name for one in stop.layers)
        said = stop.text or self.tr("Look at the result.")
        self._show(f"{said} ({named})" if named else said, False)

    def show_question(self, question: QuestionAsked) -> None:
        """Ask for a text."""
        self.answer.clear()
        self.answer.addItems(list(question.choices))
        self.answer.setCurrentText(question.default)
        self._show(question.text, True)

    def close_bar(self) -> None:
        """Ask for nothing any more."""
        self.setVisible(False)

    def _show(self, text: str, is_question: bool) -> None:
        self._is_question = is_question
        self.text.setText(text)
        self.answer.setVisible(is_question)
        self.setVisible(True)
        (self.answer if is_question else self.go).setFocus(Qt.FocusReason.OtherFocusReason)

    def _go(self) -> None:
        if not self._is_question:
            self._leave(True)
            return
        text = self.answer.currentText().strip()
        if text:
            self.setVisible(False)
            self.answered.emit(text)

    def _leave(self, goes_on: bool) -> None:
        self.setVisible(False)
        self.went_on.emit(goes_on)
