# SPDX-License-Identifier: GPL-2.0-or-later
"""The bar at which a run waits for the user: a review stop or a question."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from qgis.PyQt.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QWidget

from ...plugin.workflow.event import QuestionAsked, ReviewReached
from ..palette import Tone, frame, tint
from ..panel import Panel


class AskBar(Panel):
    """Says what is waited for, one after the other where several steps wait.

    `answered` carries the text and `went_on` whether the run goes on, each with the step that
    waited; `change_wanted` names a step of a review stop that the user wants to change.
    """

    answered = pyqtSignal(str, str)
    went_on = pyqtSignal(bool, str)
    change_wanted = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None, place: str = "") -> None:
        """`place` tells the bars of several docks apart in their names."""
        super().__init__(parent)
        self.setObjectName(f"GeoOlm{place}AskBar")
        self.text = QLabel()
        self.text.setObjectName(f"GeoOlm{place}AskText")
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.answer = QComboBox()
        self.answer.setObjectName(f"GeoOlm{place}AskAnswer")
        self.answer.setAccessibleName(self.tr("Your answer"))
        self.answer.setEditable(True)
        for part, name in ((self.answer.lineEdit(), "Line"), (self.answer.view(), "Choices")):
            part.setObjectName(f"GeoOlm{place}Answer{name}")
            part.setAccessibleName(self.tr("Your answer"))
        self.go = self._button(f"GeoOlm{place}GoOn", self.tr("Go on"))
        self.change = self._button(f"GeoOlm{place}ChangeStep", self.tr("Change"))
        self.change.setToolTip(self.tr("Stop here and change the step that made this"))
        self.end = self._button(f"GeoOlm{place}EndRun", self.tr("Stop"))
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.text, 1)
        for one in (self.answer, self.go, self.change, self.end):
            self._row.addWidget(one)
        self._waiting: list[QuestionAsked | ReviewReached] = []
        self.go.clicked.connect(self._go)
        self.end.clicked.connect(lambda: self._leave(False))
        self.change.clicked.connect(self._change)
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take Enter for Go on."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._go()
        else:
            super().keyPressEvent(event)

    def show_review(self, stop: ReviewReached) -> None:
        """Ask whether the run goes on after a look at a layer."""
        self._take(stop)

    def show_question(self, question: QuestionAsked) -> None:
        """Ask for a text."""
        self._take(question)

    def done(self, step: str) -> None:
        """Ask no more for what a step waited for; it was said elsewhere."""
        first = self._waiting[0].step if self._waiting else ""
        self._waiting = [one for one in self._waiting if one.step != step]
        if first == step:
            self._show()

    def close_bar(self) -> None:
        """Ask for nothing any more."""
        self._waiting.clear()
        self._show()

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        return button

    def _take(self, one: QuestionAsked | ReviewReached) -> None:
        self._waiting.append(one)
        if len(self._waiting) == 1:
            self._show()

    def _show(self) -> None:
        """Show the first that waits, or nothing."""
        self.setVisible(bool(self._waiting))
        if not self._waiting:
            return
        one = self._waiting[0]
        is_question = isinstance(one, QuestionAsked)
        self.answer.setVisible(is_question)
        self.change.setVisible(not is_question)
        if isinstance(one, QuestionAsked):
            self.answer.clear()
            self.answer.addItems(list(one.choices))
            self.answer.setCurrentText(one.default)
            self.text.setText(one.text or self.tr("What is the answer?"))
        else:
            self.text.setText(self._words(one))
        (self.answer if is_question else self.go).setFocus(Qt.FocusReason.OtherFocusReason)

    def _words(self, stop: ReviewReached) -> str:
        """Return what is said at a review stop."""
        named = ", ".join(one.name for one in stop.layers)
        if not named:
            return stop.text or self.tr("Look at the result. Go on if it is right.")
        said = self.tr("{} is on the map now, as a temporary layer. Go on if it looks right.")
        return " ".join(filter(None, (stop.text, said.replace("{}", named))))

    def _go(self) -> None:
        if not self._waiting:
            return
        if isinstance(self._waiting[0], ReviewReached):
            self._leave(True)
            return
        text = self.answer.currentText().strip()
        if text:
            step = self._waiting.pop(0).step
            self._show()
            self.answered.emit(text, step)

    def _leave(self, goes_on: bool) -> None:
        if self._waiting:
            step = self._waiting.pop(0).step
            self._show()
            self.went_on.emit(goes_on, step)

    def _change(self) -> None:
        if self._waiting:
            step = self._waiting[0].step
            self._leave(False)
            self.change_wanted.emit(step)
