# SPDX-License-Identifier: GPL-2.0-or-later
"""One question and all that came of it; far from the view it keeps its events and no widgets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from qgis.PyQt.QtCore import QEvent, QUrl, pyqtSignal
from qgis.PyQt.QtGui import QDesktopServices, QGuiApplication
from qgis.PyQt.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ..plugin.agent.event import (
    AnswerDelta,
    AnswerReset,
    CallFinished,
    CallProgress,
    CallStarted,
    Event,
    Notice,
    Reflected,
    RunFinished,
    StageChanged,
    Status,
)
from .answer_view import AnswerView
from .card import MessageCard
from .flow_layout import FlowLayout
from .icon import own_icon, theme_icon
from .number import number, plain_button, plain_tip
from .outlet import Outlet
from .palette import muted
from .panel import Label, LinkButton, Panel
from .result_chip import ResultChip
from .state_shape import Shape
from .steps_card import StepsCard
from .user_bubble import UserBubble

SHAPES = {
    Status.OK: Shape.DONE,
    Status.REJECTED: Shape.IDLE,
    Status.FAILED: Shape.FAILED,
    Status.CANCELLED: Shape.STOPPED,
}
PASSING = (CallProgress, AnswerDelta, AnswerReset)


class AnswerRow(Panel):
    """What can be done with an answer, and what it took."""

    def __init__(self, outlet: Outlet, question: str, event: RunFinished) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._buttons = FlowLayout()
        self._row.addLayout(self._buttons, 1)
        self._add("GeoOlmCopyAnswer", self.tr("Copy"), "mActionEditCopy", self._copy)
        ask = self.tr("Ask again")
        self._add("GeoOlmAskAgain", ask, "mActionReload", self._ask_again)
        self.undo: LinkButton | None = None
        if event.layers:
            emit = outlet.undo_requested.emit
            self.undo = self._add("GeoOlmUndo", self.tr("Undo"), "mActionUndo", emit)
            self.undo.setToolTip(self.tr("Remove what this answer made and restore the rest"))
        used = event.usage
        tokens = Label(
            self.tr("{0} tokens").format(number(used.prompt + used.generated)),
            faint=True,
            scale=0.92,
        )
        tokens.setObjectName("GeoOlmTokens")
        lines = (
            self.tr("{0} read, {1} of them from the cache").format(
                number(used.prompt), number(used.cached)
            ),
            self.tr("{0} written").format(number(used.generated)),
        )
        tokens.setToolTip(plain_tip("\n".join(lines)))
        tokens.setVisible(used.prompt + used.generated > 0)
        self._row.addWidget(tokens)
        self._outlet, self._question, self._answer = outlet, question, event.answer

    def restyle(self) -> None:
        """Set the spacing."""
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(round(self.em * 0.25))

    def _add(self, name: str, text: str, icon: str, slot: Callable[[], None]) -> LinkButton:
        button = LinkButton(name, text)
        button.setIcon(theme_icon(icon))
        button.clicked.connect(lambda: slot())
        self._buttons.addWidget(button)
        return button

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._answer)

    def _ask_again(self) -> None:
        self._outlet.question_chosen.emit(self._question)


class FileList(Panel):
    """The files that an answer wrote; a click opens the folder of one."""

    def __init__(self, files: tuple[str, ...]) -> None:
        super().__init__()
        self.setObjectName("GeoOlmFiles")
        self._column = QVBoxLayout(self)
        self._column.addWidget(Label(self.tr("Files written"), faint=True, scale=0.92))
        for file in files:
            button = LinkButton("GeoOlmResultFile", plain_button(Path(file).name))
            button.setToolTip(plain_tip(file))
            button.clicked.connect(self._opener(str(Path(file).parent)))
            self._column.addWidget(button)

    def restyle(self) -> None:
        """Set the spacing, and the icons in the palette's colour."""
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(round(self.em * 0.25))
        icon = own_icon("file", muted(self.palette()))
        for button in self.findChildren(LinkButton):
            button.setIcon(icon)

    def _opener(self, folder: str) -> Callable[[], None]:
        return lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder))


class TurnContent(Panel):
    """The widgets of a turn, driven by the events of its run."""

    def __init__(self, outlet: Outlet, question: str, names: tuple[str, ...]) -> None:
        super().__init__()
        self._outlet, self._question = outlet, question
        self.steps = StepsCard(outlet)
        self.answer: AnswerView | None = None
        self.row: AnswerRow | None = None
        self._lines = QVBoxLayout(self)
        self._lines.addWidget(UserBubble(question, names))
        self._lines.addWidget(self.steps)
        self._handlers: dict[type, Callable[[Any], None]] = {
            StageChanged: lambda event: self.steps.set_stage(event.stage),
            CallStarted: self.steps.start,
            CallProgress: self.steps.progress,
            CallFinished: self.steps.finish,
            Reflected: self.steps.mend,
            AnswerDelta: lambda event: self._answer_view().add(event.text),
            AnswerReset: lambda event: self._withdraw(),
            Notice: self._notice,
            RunFinished: self._finish,
        }

    def restyle(self) -> None:
        """Set the margins: 0.5 em between cards, 1 em between turns."""
        unit = self.em
        self._lines.setContentsMargins(0, round(unit * 0.5), 0, round(unit * 0.5))
        self._lines.setSpacing(round(unit * 0.6))

    def handle(self, event: Event) -> None:
        """Show an event."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)

    def _answer_view(self) -> AnswerView:
        if self.answer is None:
            self.answer = AnswerView(self._outlet)
            self._lines.addWidget(self.answer)
        return self.answer

    def _withdraw(self) -> None:
        if self.answer is not None:
            self.answer.hide()
            self.answer.deleteLater()
            self.answer = None

    def _notice(self, event: Notice) -> None:
        shape = Shape.WARNING if event.warning else Shape.NOTE
        self._lines.addWidget(MessageCard(self._outlet, shape, "", event.text))

    def _finish(self, event: RunFinished) -> None:
        total = event.seconds.get("total", 0.0)
        self.steps.close_run(SHAPES[event.status], total)
        if event.status is Status.OK:
            view = self._answer_view()
            self._lines.removeWidget(view)
            self._lines.addWidget(view)
            view.finish(event.answer)
        elif event.status is Status.REJECTED:
            self._withdraw()
            title = self.tr("These layers cannot answer that")
            text = event.answer or event.reason
            self._lines.addWidget(MessageCard(self._outlet, Shape.IDLE, title, text))
        else:
            self._leave_answer()
            self._lines.addWidget(self._end_card(event, total))
        if event.layers:
            self._lines.addWidget(self._chips(event))
        if event.files:
            self._lines.addWidget(FileList(event.files))
        if event.status in (Status.OK, Status.REJECTED):
            self.row = AnswerRow(self._outlet, self._question, event)
            self._lines.addWidget(self.row)

    def _leave_answer(self) -> None:
        """Keep what had come of an answer when the run fails or is stopped."""
        if self.answer is not None:
            self.answer.finish(self.answer.markdown)

    def _end_card(self, event: RunFinished, total: float) -> MessageCard:
        text = event.answer or event.reason
        if event.status is Status.CANCELLED:
            text = self.tr("Stopped after {0} s.").format(number(round(total)))
            if event.layers:
                text += " " + self.tr("The results so far are kept.")
            buttons: tuple[tuple[str, str], ...] = (("ask_again", self.tr("Ask again")),)
        else:
            buttons = (
                ("ask_again", self.tr("Try again")),
                ("options", self.tr("Options…")),
            )
        card = MessageCard(self._outlet, SHAPES[event.status], "", text, buttons)
        card.pressed.connect(self._press)
        return card

    def _press(self, key: str) -> None:
        if key == "ask_again":
            self._outlet.question_chosen.emit(self._question)
        else:
            self._outlet.action_chosen.emit(key)

    def _chips(self, event: RunFinished) -> QWidget:
        box = Panel()
        box.setObjectName("GeoOlmResults")
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        caption = self.tr("Layers made · temporary")
        column.addWidget(Label(caption, faint=True, scale=0.92, wrap=True))
        flow = FlowLayout()
        flow.setSpacing(round(self.em * 0.5))
        for layer in event.layers:
            flow.addWidget(ResultChip(self._outlet, layer))
        column.addLayout(flow)
        return box


class Turn(QWidget):
    """Holds a turn's events; its widgets exist only while it is near the view."""

    grown = pyqtSignal()

    def __init__(self, outlet: Outlet, question: str, names: tuple[str, ...]) -> None:
        super().__init__()
        self.setObjectName("GeoOlmTurn")
        self.question, self.finished = question, False
        self.started = False
        self._outlet, self._names = outlet, names
        self._events: list[Event] = []
        self._removed: set[str] = set()
        self._last = True
        self.content: TurnContent | None = None
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self.wake()

    def handle(self, event: Event) -> None:
        """Keep an event and show it."""
        self.started = True
        if not isinstance(event, PASSING):
            self._events.append(event)
        self.wake()
        if self.content is not None:
            self.content.handle(event)
        if isinstance(event, RunFinished):
            self.finished = True
            self._show_undo()

    def wake(self) -> None:
        """Make the widgets from the events."""
        if self.content is not None:
            return
        self.setMinimumHeight(0)
        self.content = TurnContent(self._outlet, self.question, self._names)
        self._lines.addWidget(self.content)
        for event in self._events:
            self.content.handle(event)
        self._strike()
        self._show_undo()

    def sleep(self) -> None:
        """Let the widgets go, and keep the height that they had."""
        if self.content is None or not self.finished or self.content.steps.user_opened:
            return
        self.setMinimumHeight(self.height())
        self._lines.removeWidget(self.content)
        self.content.hide()
        self.content.deleteLater()
        self.content = None

    def set_last(self, last: bool) -> None:
        """Offer undo only for the last turn."""
        self._last = last
        self._show_undo()

    def mark_removed(self, layer_id: str) -> None:
        """Strike the chips of a layer that left the project."""
        self._removed.add(layer_id)
        self._strike()

    def event(self, event: QEvent) -> bool:
        """Tell when the content asks for another height."""
        done = bool(super().event(event))
        if event.type() == QEvent.Type.LayoutRequest:
            self.grown.emit()
        return done

    def _strike(self) -> None:
        for chip in self.findChildren(ResultChip):
            if chip.layer_id in self._removed and not chip.removed:
                chip.mark_removed()

    def _show_undo(self) -> None:
        row = self.content.row if self.content is not None else None
        if row is not None and row.undo is not None:
            row.undo.setVisible(self._last)
