# SPDX-License-Identifier: GPL-2.0-or-later
"""The chat dock: it renders the events of a run and says by signals what the user wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from qgis.gui import QgsDockWidget
from qgis.PyQt.QtCore import QTimer, pyqtSignal
from qgis.PyQt.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from ..plugin.agent.event import (
    AnswerDelta,
    ApprovalAsked,
    ApprovalGiven,
    CallFinished,
    CallStarted,
    Event,
    ModelState,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
    TokensUsed,
)
from ..plugin.workflow.plan_event import Planning
from .card import MessageCard
from .composer import Composer
from .consent_card import consent_card
from .dock_body import DockBody, Inset, Rule
from .dock_header import DockHeader
from .empty_page import EmptyPage
from .graph.ask_bar import AskBar
from .model_view import Action, ModelCondition, ModelView
from .outlet import Outlet
from .stage_strip import StageState
from .state_shape import Shape
from .transcript import Transcript

if TYPE_CHECKING:
    from ..tools.base import LayerProfile

STATES = {
    "loading": ModelCondition.LOADING,
    "reading": ModelCondition.READING,
    "writing": ModelCondition.WRITING,
}
ENDS = {
    Status.OK: (StageState.DONE, Shape.DONE),
    Status.REJECTED: (StageState.DONE, Shape.IDLE),
    Status.FAILED: (StageState.FAILED, Shape.FAILED),
    Status.CANCELLED: (StageState.STOPPED, Shape.STOPPED),
}


class ChatDock(QgsDockWidget):
    """Header, transcript and composer. All methods are for the main thread.

    `asked` says that a run is wanted; the dock is in a run from then on until
    `set_running(False)`, which must also follow when the run could not start. A question typed
    in the meantime waits here and is asked then.
    """

    asked = pyqtSignal(str)
    approved = pyqtSignal(object)
    mode_chosen = pyqtSignal(str)
    stopped = pyqtSignal()
    new_chat_requested = pyqtSignal()
    options_requested = pyqtSignal()
    model_chosen = pyqtSignal(str)
    retry_requested = pyqtSignal()
    download_requested = pyqtSignal()
    download_cancelled = pyqtSignal()
    pull_requested = pyqtSignal()
    unload_requested = pyqtSignal()
    model_file_requested = pyqtSignal()
    demo_requested = pyqtSignal()
    add_layer_requested = pyqtSignal()
    consent_given = pyqtSignal(str)
    consent_refused = pyqtSignal(str)
    sent_page_requested = pyqtSignal()
    doctor_requested = pyqtSignal()
    offline_chosen = pyqtSignal(bool)
    undo_requested = pyqtSignal()
    keep_requested = pyqtSignal(object)
    kept_shown = pyqtSignal(str)
    workflow_keep_requested = pyqtSignal(object)
    workflow_open_requested = pyqtSignal(object)
    open_in_processing = pyqtSignal(str, dict)
    layer_activated = pyqtSignal(str)
    layer_zoom_requested = pyqtSignal(str)
    layer_table_requested = pyqtSignal(str)
    layer_removal_requested = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmChatDock")
        self.setWindowTitle("Geo-OLM")
        self._outlet = Outlet(self)
        self._model, self._running = ModelView(), False
        self._names: tuple[str, ...] = ()
        self._queue: list[str] = []
        self._message: MessageCard | None = None
        self._build()
        self._connect()
        self._handlers: dict[type, Callable[[Any], None]] = {
            RunStarted: self._start,
            StageChanged: lambda event: self.header.stages.enter(event.stage),
            ModelState: self._show_model_state,
            Planning: self._show_planning,
            CallStarted: self._show_call,
            CallFinished: self._show_call_end,
            ApprovalAsked: self._show_approval,
            ApprovalGiven: self._show_word,
            AnswerDelta: self._show_writing,
            TokensUsed: self.header.gauge.show_tokens,
            RunFinished: self._finish,
        }
        self.set_model(self._model)

    @property
    def plans_first(self) -> bool:
        """Tell whether the user wants to see a plan before anything runs."""
        return bool(self.composer.plan_first.isChecked())

    @property
    def running(self) -> bool:
        """Tell whether a run goes on."""
        return self._running

    def handle(self, event: Event) -> None:
        """Show one event of a run; events come in the order in which the agent made them."""
        handler = self._handlers.get(type(event))
        if isinstance(event, RunStarted):
            self._start(event)
            return
        self.transcript.handle(event)
        if handler is not None:
            handler(event)

    def ask(self, text: str) -> None:
        """Ask as if the user had typed it: now, or after the present run."""
        self.composer.field.remember(text)
        if self._running:
            self._queue.append(text)
            self.header.status.show_queue(self._queue[0])
            return
        self.add_user_turn(text)
        self.header.status.show_state(Shape.RUNNING, self.tr("Starting"))
        self.header.status.start(0)
        self.set_running(True)
        self.asked.emit(text)

    def add_user_turn(self, text: str) -> None:
        """Show a question; one that is shown already and has not begun is not shown twice."""
        last = self.transcript.last
        if last is None or last.started or last.question != text:
            self.transcript.add_turn(text, self._names)
        self._choose_page()

    def set_running(self, running: bool) -> None:
        """Show Stop or Send. When a run ends, the question that waits is asked."""
        if running == self._running:
            return
        self._running = running
        self.composer.set_running(running)
        if not running:
            self.header.status.stop()
            self.header.chip.set_condition(self._model.condition, self._model.seconds)
            last = self.transcript.last
            if last is None or not last.finished:
                self._show_idle()
            QTimer.singleShot(0, self._ask_next)

    def set_stages(self, names: tuple[str, ...]) -> None:
        """Show the stages of the coming run; the end itself is not one to wait for."""
        self.header.stages.set_stages(tuple(name for name in names if name.lower() != "end"))

    def set_layers(self, layers: tuple[LayerProfile, ...]) -> None:
        """Take the project's layers for completion, mentions and example questions."""
        self._names = tuple(layer.key for layer in layers)
        self.composer.set_layers(layers)
        self.empty.set_layers(layers)

    def set_model(self, model: ModelView) -> None:
        """Show the model and its state; while a run goes on, the run's state is shown."""
        well = ModelCondition.READY
        mended = self._model.condition is not well and model.condition is well
        self._model = model
        self.header.chip.set_view(model)
        self.empty.set_model(model)
        missing = model.condition is ModelCondition.NONE
        self.composer.set_can_ask(not missing and not model.consent)
        last = self.transcript.last
        ended = last is not None and last.finished and model.condition is well and not mended
        if not self._running and not ended:
            self._show_idle()
        self._choose_page()

    def set_offline(self, offline: bool) -> None:
        """Show whether every address but this machine's is refused."""
        self.header.set_offline(offline)

    def mark_layer_removed(self, layer_id: str) -> None:
        """Strike a layer that left the project."""
        self.transcript.mark_removed(layer_id)

    def mark_kept(self, ids: tuple[str, ...], path: str) -> None:
        """Say of layers, by their ids, that they are kept in the file `path`."""
        self.transcript.mark_kept(ids, path)

    def set_undoable(self, undoable: bool) -> None:
        """Offer, or no longer offer, to undo what the newest question made or changed."""
        self.transcript.set_undoable(undoable)

    def clear(self) -> None:
        """Start with an empty conversation."""
        self._queue.clear()
        self.header.status.show_queue("")
        self.transcript.clear()
        self.header.gauge.reset()
        self.header.stages.set_stages(tuple(name for name, _ in self.header.stages.states))
        self._show_idle()
        self._choose_page()

    def _build(self) -> None:
        self.header = DockHeader(self._outlet)
        self.transcript = Transcript(self._outlet)
        self.empty = EmptyPage(self._outlet)
        self.pages = QStackedWidget()
        self.pages.setObjectName("GeoOlmPages")
        self.pages.addWidget(self.empty)
        self.pages.addWidget(self.transcript)
        self.composer = Composer()
        self.ask_bar = AskBar(place="Chat")
        self.body = body = DockBody()
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.header)
        self._column.addWidget(Rule())
        self._column.addWidget(self.pages, 1)
        self._message_box = Inset()
        self._message_row = QVBoxLayout(self._message_box)
        self._column.addWidget(self._message_box)
        self._column.addWidget(Rule())
        self._column.addWidget(self.ask_bar)
        self._column.addWidget(self.composer)
        body.stop_pressed.connect(self._stop_by_key)
        body.new_chat_pressed.connect(self.new_chat_requested)
        body.approval_pressed.connect(self._say)
        self.composer.field.installEventFilter(body)
        self.setWidget(body)
        self.setFocusProxy(self.composer.field)

    def _connect(self) -> None:
        outlet = self._outlet
        self.composer.sent.connect(self.ask)
        self.composer.stopped.connect(self._stop)
        self.composer.mode.chosen.connect(self.mode_chosen)
        self.composer.left.connect(lambda: self.transcript.setFocus())
        self.header.chip.model_chosen.connect(self.model_chosen)
        self.header.new_chat.clicked.connect(lambda: self.new_chat_requested.emit())
        self.header.options.clicked.connect(lambda: self.options_requested.emit())
        self.header.offline.toggled.connect(self.offline_chosen)
        outlet.question_chosen.connect(self.ask)
        outlet.action_chosen.connect(self._act)
        for name in (
            "open_in_processing",
            "layer_activated",
            "layer_zoom_requested",
            "layer_table_requested",
            "layer_removal_requested",
            "undo_requested",
            "approved",
            "keep_requested",
            "kept_shown",
            "workflow_keep_requested",
            "workflow_open_requested",
        ):
            getattr(outlet, name).connect(getattr(self, name))

    def _ask_next(self) -> None:
        if self._queue and not self._running:
            text = self._queue.pop(0)
            self.header.status.show_queue(self._queue[0] if self._queue else "")
            self.ask(text)

    def _stop_by_key(self) -> None:
        if self._running:
            self.composer.stop.click()

    def _stop(self) -> None:
        """Ask to stop; questions that wait go back to the field."""
        if self._queue:
            self.composer.put_back("\n".join(self._queue))
            self._queue.clear()
            self.header.status.show_queue("")
        self.header.status.show_state(Shape.STOPPED, self.tr("Stopping"))
        self.stopped.emit()

    def _act(self, key: str) -> None:
        signals = {
            Action.LOOK_AGAIN: self.retry_requested,
            Action.OPTIONS: self.options_requested,
            Action.DOWNLOAD: self.download_requested,
            Action.CANCEL_DOWNLOAD: self.download_cancelled,
            Action.PULL: self.pull_requested,
            Action.UNLOAD: self.unload_requested,
            Action.MODEL_FILE: self.model_file_requested,
            Action.NEW_CHAT: self.new_chat_requested,
            Action.ADD_LAYER: self.add_layer_requested,
            Action.DEMO: self.demo_requested,
            Action.SENT: self.sent_page_requested,
            Action.DOCTOR: self.doctor_requested,
        }
        consents = {Action.ALLOW: self.consent_given, Action.REFUSE: self.consent_refused}
        action = Action(key)
        if action in consents:
            consents[action].emit(self._model.consent)
        else:
            signals[action].emit()

    def _start(self, event: RunStarted) -> None:
        self.header.gauge.begin_turn()
        self.add_user_turn(event.question)
        self.transcript.handle(event)
        self.set_running(True)
        self.set_stages(event.stages)
        self.header.status.start(event.max_steps)
        self.header.status.show_state(Shape.RUNNING, self.tr("Starting"))

    def _show_model_state(self, event: ModelState) -> None:
        condition = STATES.get(event.state)
        if condition is None or not self._running:
            return
        self.header.chip.set_condition(condition, event.seconds)
        self.header.status.show_state(Shape.RUNNING, self.header.chip.word)

    def _show_planning(self, event: Planning) -> None:
        words = {
            "understanding": self.tr("Understanding the question"),
            "planning": self.tr("Planning the steps"),
            "mending": self.tr("Mending the plan"),
            "choosing": self.tr("Choosing among plans"),
        }
        self.header.status.show_state(Shape.RUNNING, words.get(event.stage, event.stage))

    def _show_call(self, event: CallStarted) -> None:
        self.header.chip.set_condition(ModelCondition.WORKING)
        self.header.status.show_state(Shape.RUNNING, event.label or event.tool)
        self.header.status.set_step(event.step)

    def _show_call_end(self, event: CallFinished) -> None:
        self.header.chip.set_condition(ModelCondition.READING)
        self.header.status.show_state(Shape.RUNNING, self.header.chip.word)

    def _show_approval(self, event: ApprovalAsked) -> None:
        self.body.waits = True
        self.header.chip.set_condition(ModelCondition.WAITING)
        self.header.status.show_state(Shape.WAITING, self.tr("Waiting for you"))
        self.transcript.show_approval(not self.composer.field.toPlainText().strip())

    def _show_word(self, event: ApprovalGiven) -> None:
        self.body.waits = False
        self.header.chip.set_condition(ModelCondition.WORKING)
        self.header.status.show_state(Shape.RUNNING, self.header.chip.word)

    def _say(self, allowed: bool) -> None:
        """Say by a key what the card asks."""
        card = self.transcript.approval
        if card is not None:
            card.say(allowed)

    def _show_writing(self, event: AnswerDelta) -> None:
        if self.header.chip.condition is not ModelCondition.WRITING:
            self.header.chip.set_condition(ModelCondition.WRITING)
            self.header.status.show_state(Shape.RUNNING, self.header.chip.word)

    def _finish(self, event: RunFinished) -> None:
        self.body.waits = False
        stage, shape = ENDS[event.status]
        words = {
            Status.OK: self.tr("Answered"),
            Status.REJECTED: self.tr("Not answered"),
            Status.FAILED: self.tr("Failed"),
            Status.CANCELLED: self.tr("Stopped"),
        }
        self.header.stages.close_run(stage)
        self.header.status.show_state(shape, words[event.status])
        self.header.status.stop()
        self.header.chip.set_condition(self._model.condition, self._model.seconds)

    def _show_idle(self) -> None:
        model = self._model
        if model.condition is ModelCondition.NONE:
            text = model.error or self.tr("No model answered on this machine")
            self.header.status.show_state(Shape.FAILED, text)
        elif model.condition is ModelCondition.UNREACHABLE:
            self.header.status.show_state(Shape.FAILED, self.header.chip.word)
        elif model.condition is ModelCondition.LOADING:
            self.header.status.show_state(Shape.RUNNING, self.header.chip.word)
        elif model.consent:
            self.header.status.show_state(Shape.WAITING, self.tr("Waiting for you"))
        else:
            self.header.status.show_state(Shape.IDLE, self.tr("Ready"))

    def _choose_page(self) -> None:
        self.pages.setCurrentWidget(self.transcript if self.transcript.turns else self.empty)
        self._show_message()

    def _show_message(self) -> None:
        """Show what is wrong with the model above the composer, unless it is said above that."""
        if self._message is not None:
            self._message_row.removeWidget(self._message)
            self._message.hide()
            self._message.deleteLater()
            self._message = None
        self._message_box.setVisible(False)
        model = self._model
        last = self.transcript.last
        told = last.ending == model.error if last else model.condition is ModelCondition.NONE
        if model.consent:
            self._put_message(consent_card(self._outlet, model.consent))
            return
        if not model.error or told:
            return
        words = {
            Action.LOOK_AGAIN: self.tr("Try again"),
            Action.OPTIONS: self.tr("Choose a model…"),
            Action.DOWNLOAD: self.tr("Download"),
            Action.PULL: self.tr("Pull it…"),
            Action.MODEL_FILE: self.tr("Choose…"),
            Action.NEW_CHAT: self.tr("Start a new chat"),
            Action.ADD_LAYER: self.tr("Add a layer…"),
            Action.DEMO: self.tr("Open the demo"),
        }
        actions = model.actions or (Action.LOOK_AGAIN, Action.OPTIONS)
        buttons = tuple((action.value, words[action]) for action in actions)
        self._put_message(MessageCard(self._outlet, Shape.FAILED, "", model.error, buttons))

    def _put_message(self, card: MessageCard) -> None:
        self._message = card
        self._message.pressed.connect(self._act)
        self._message_row.addWidget(self._message)
        self._message_box.setVisible(True)
