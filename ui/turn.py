# SPDX-License-Identifier: GPL-2.0-or-later
"""One question and all that came of it; far from the view it keeps its events and no widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.PyQt.QtCore import QEvent, pyqtSignal
from qgis.PyQt.QtWidgets import QVBoxLayout, QWidget

from ..plugin.agent.event import (
    AnswerDelta,
    AnswerReset,
    ApprovalAsked,
    ApprovalGiven,
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
from ..plugin.workflow.graph import Graph
from ..plugin.workflow.plan_event import PlanDone, PlanMade
from .answer_part import AnswerRow, FileList
from .answer_view import AnswerView
from .approval_card import ApprovalCard
from .card import MessageCard
from .layer_list import LayerList
from .number import number
from .outlet import Outlet
from .panel import Panel
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


class TurnContent(Panel):
    """The widgets of a turn, driven by the events of its run."""

    def __init__(self, outlet: Outlet, question: str, names: tuple[str, ...]) -> None:
        super().__init__()
        self._outlet, self._question = outlet, question
        self.steps = StepsCard(outlet)
        self.answer: AnswerView | None = None
        self.row: AnswerRow | None = None
        self.approvals: dict[str, ApprovalCard] = {}
        self._graph: Graph | None = None
        self._lines = QVBoxLayout(self)
        self._lines.addWidget(UserBubble(question, names))
        self._lines.addWidget(self.steps)
        self._handlers: dict[type, Callable[[Any], None]] = {
            StageChanged: lambda event: self.steps.set_stage(event.stage),
            CallStarted: self.steps.start,
            CallProgress: self.steps.progress,
            CallFinished: self.steps.finish,
            ApprovalAsked: self._ask_approval,
            ApprovalGiven: self._settle,
            Reflected: self.steps.mend,
            AnswerDelta: lambda event: self._answer_view().add(event.text),
            AnswerReset: lambda event: self._withdraw(),
            Notice: self._notice,
            PlanMade: self._keep_graph,
            PlanDone: self._keep_graph,
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

    def _ask_approval(self, event: ApprovalAsked) -> None:
        self.approvals[event.identity] = ApprovalCard(self._outlet, event)
        self._lines.addWidget(self.approvals[event.identity])

    def _settle(self, event: ApprovalGiven) -> None:
        card = self.approvals.get(event.identity)
        if card is not None and not card.settled:
            card.settle(event)

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

    def _keep_graph(self, event: PlanMade | PlanDone) -> None:
        self._graph = event.graph

    def _finish(self, event: RunFinished) -> None:
        total = event.seconds.get("total", 0.0)
        for identity in self.approvals:
            self._settle(ApprovalGiven(identity, False))
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
            self._lines.addWidget(LayerList(self._outlet, event.layers, event.files))
        if event.files:
            self._lines.addWidget(FileList(event.files))
        self.row = AnswerRow(self._outlet, self._question, event, self._graph)
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


class Turn(QWidget):
    """Holds a turn's events; its widgets exist only while it is near the view."""

    grown = pyqtSignal()

    def __init__(self, outlet: Outlet, question: str, names: tuple[str, ...]) -> None:
        super().__init__()
        self.setObjectName("GeoOlmTurn")
        self.question, self.finished = question, False
        self.started, self.ending = False, ""
        self._outlet, self._names = outlet, names
        self._events: list[Event] = []
        self._removed: set[str] = set()
        self._kept: list[tuple[tuple[str, ...], str]] = []
        self._last, self._undoable = True, False
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
            self.finished, self.ending = True, event.answer or event.reason
            self._show_undo()

    @property
    def approval(self) -> ApprovalCard | None:
        """The card that waits for the user's word, if any."""
        cards = self.content.approvals.values() if self.content is not None else ()
        return next((one for one in cards if not one.settled), None)

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
        for ids, path in self._kept:
            self._show_kept(ids, path)

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

    def set_undoable(self, undoable: bool) -> None:
        """Tell whether the turn made or changed something that can be taken back."""
        self._undoable = undoable
        self._show_undo()

    def mark_removed(self, layer_id: str) -> None:
        """Strike the chips of a layer that left the project."""
        self._removed.add(layer_id)
        self._strike()

    def mark_kept(self, ids: tuple[str, ...], path: str) -> None:
        """Say of layers that they are kept in a file."""
        self._kept.append((ids, path))
        self._show_kept(ids, path)

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

    def _show_kept(self, ids: tuple[str, ...], path: str) -> None:
        for made in self.findChildren(LayerList):
            made.mark_kept(ids, path)

    def _show_undo(self) -> None:
        row = self.content.row if self.content is not None else None
        if row is not None:
            row.undo.setVisible(self._last and self._undoable)
