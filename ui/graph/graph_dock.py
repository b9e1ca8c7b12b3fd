# SPDX-License-Identifier: GPL-2.0-or-later
"""The dock of the graph editor: toolbar, palette, canvas, inspector, problems, log and history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qgis.gui import QgsDockWidget
from qgis.PyQt.QtCore import QSize, Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QAction,
    QLabel,
    QLineEdit,
    QListWidget,
    QMainWindow,
    QSplitter,
    QTabWidget,
    QToolBar,
    QUndoView,
    QVBoxLayout,
    QWidget,
)

from ...plugin.workflow.event import QuestionAsked, ReviewReached, StepChanged, StepLog
from ...plugin.workflow.fitting import port_for
from ...plugin.workflow.graph import Graph, Status, Vertex
from ...plugin.workflow.start import Way
from ...plugin.workflow.value import Output
from ..icon import theme_icon
from ..palette import em
from . import editing
from .ask_bar import AskBar
from .card import title
from .comparison_bar import ComparisonBar
from .document import GraphDocument
from .exchange_menu import ExchangeMenu
from .inspector import Inspector
from .problem_list import ProblemList
from .proposal_bar import ProposalBar
from .qgis_field import QgisFields
from .run_action import NAMES, RunActions
from .side_tab import SideTabs
from .step_palette import StepPalette
from .variable_panel import VariablePanel
from .view import GraphView

_NARROW, _NARROWER = 75, 60
"""Below these widths in em the inspector and the palette give way to the canvas."""


class GraphDock(QgsDockWidget):
    """Shows and edits one workflow; signals say what the user wants done with it."""

    run_requested = pyqtSignal(str)
    stop_requested = pyqtSignal()
    new_requested = pyqtSignal()
    open_requested = pyqtSignal()
    save_requested = pyqtSignal()
    save_as_requested = pyqtSignal()
    export_requested = pyqtSignal(str)
    import_requested = pyqtSignal(str)
    library_requested = pyqtSignal()
    templates_requested = pyqtSignal()
    change_requested = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmGraphDock")
        self.document = GraphDocument(self)
        self.view = GraphView(self.document)
        self.steps = StepPalette(self.document)
        self.side = SideTabs(self.steps, self.view)
        self.inspector = Inspector(self.document, QgisFields(self.document))
        self.problems = ProblemList(self.document)
        self.variables = VariablePanel(self.document)
        self.log = QListWidget()
        self.log.setObjectName("GeoOlmRunLog")
        self.log.setAccessibleName(self.tr("Run log"))
        self.history = QUndoView(self.document.undo_stack)
        self.history.setEmptyLabel(self.tr("As it was opened"))
        self.ask = AskBar()
        self.proposal = ProposalBar(self.document)
        self.comparison = ComparisonBar(self.document)
        self.wish = QLineEdit()
        self.wish.setObjectName("GeoOlmWish")
        self.wish.setClearButtonEnabled(True)
        self.wish.setPlaceholderText(self.tr("Ask for a change: use 2 km instead…"))
        self.wish.setAccessibleName(self.tr("Ask the model for a change"))
        self.status = QLabel()
        self.status.setObjectName("GeoOlmGraphStatus")
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.actions_by_name: dict[str, QAction] = {}
        self.runs = RunActions(self.document, self)
        self._answer = ""
        self._place: tuple[float, float] | None = None
        self._build()
        self._connect()
        self._show_state()

    # -- what the desk tells

    def handle(self, event: Any) -> None:
        """Take an event of a run of the workflow shown here."""
        self.document.take(event)
        if isinstance(event, StepChanged) and self.document.graph.has(event.step):
            name = title(self.document, self.document.graph.vertex(event.step))
            words = event.text.partition("\n")[0]
            self.log.addItem(f"{name}: {event.status.value}{f': {words}' if words else ''}")
            self.log.scrollToBottom()
        elif isinstance(event, ReviewReached):
            self.ask.show_review(event)
        elif isinstance(event, QuestionAsked):
            self.ask.show_question(event)
        elif isinstance(event, StepLog):
            self.log.addItem(f"{event.step}: {event.text}")
        self._show_state()

    def set_running(self, running: bool) -> None:
        """Show that a run goes on or has ended."""
        if running:
            self.log.clear()
            self._answer = ""
        else:
            self.ask.close_bar()
        self.document.set_running(running)
        self._show_state()

    def show_answer(self, text: str) -> None:
        """Show what the last run said, until the workflow is changed or run again."""
        self._answer = text
        self._show_state()

    def show_variables(self) -> None:
        """Bring the variables to the front, the first one without a value ready to be set."""
        self.tabs.setCurrentWidget(self.variables)
        self.variables.edit_lacking()

    def say(self, text: str) -> None:
        """Show a sentence in the status line."""
        self.status.setText(text)

    # -- building

    def _build(self) -> None:
        self.window_part = QMainWindow()
        self.window_part.setWindowFlags(Qt.WindowType.Widget)
        self.toolbar = QToolBar(self.tr("Workflow"))
        self.toolbar.setObjectName("GeoOlmGraphToolbar")
        self.toolbar.setMovable(False)
        side = round(em(self) * 1.25)
        self.toolbar.setIconSize(QSize(side, side))
        self._fill_toolbar()
        self.window_part.addToolBar(self.toolbar)
        self.middle = QSplitter(Qt.Orientation.Horizontal)
        self.middle.addWidget(self.side)
        self.middle.addWidget(self.view)
        self.middle.addWidget(self.inspector)
        self.middle.setStretchFactor(1, 1)
        self.middle.setSizes([em(self) * 14, em(self) * 60, em(self) * 20])
        self.tabs = QTabWidget()
        self.tabs.setObjectName("GeoOlmGraphTabs")
        self.tabs.addTab(self.problems, self.tr("Problems"))
        self.tabs.addTab(self.variables, self.tr("Variables"))
        self.tabs.addTab(self.log, self.tr("Run log"))
        self.tabs.addTab(self.history, self.tr("History"))
        self.halves = QSplitter(Qt.Orientation.Vertical)
        self.halves.addWidget(self.middle)
        self.halves.addWidget(self.tabs)
        self.halves.setStretchFactor(0, 1)
        self.halves.setSizes([em(self) * 40, em(self) * 10])
        body = QWidget()
        lines = QVBoxLayout(body)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(0)
        lines.addWidget(self.ask)
        lines.addWidget(self.proposal)
        lines.addWidget(self.comparison)
        lines.addWidget(self.halves, 1)
        lines.addWidget(self.status)
        self.status.setContentsMargins(6, 2, 6, 3)
        self.window_part.setCentralWidget(body)
        self.setWidget(self.window_part)
        self.setFocusProxy(self.view)

    def _fill_toolbar(self) -> None:
        undo = self.document.undo_stack
        self._act("New", self.tr("New workflow"), "mActionFileNew", self.new_requested.emit)
        self._act("Open", self.tr("Open…"), "mActionFileOpen", self.open_requested.emit)
        self._act("Save", self.tr("Save"), "mActionFileSave", self.save_requested.emit)
        self._act("SaveAs", self.tr("Save as…"), "mActionFileSaveAs", self.save_as_requested.emit)
        self.toolbar.addSeparator()
        for name, text, icon, slot, told in (
            ("Undo", self.tr("Undo"), "mActionUndo", undo.undo, undo.undoTextChanged),
            ("Redo", self.tr("Redo"), "mActionRedo", undo.redo, undo.redoTextChanged),
        ):
            action = self._act(name, text, icon, slot)
            told.connect(lambda said, one=action, word=text: one.setToolTip(f"{word} {said}"))
        undo.canUndoChanged.connect(self.actions_by_name["Undo"].setEnabled)
        undo.canRedoChanged.connect(self.actions_by_name["Redo"].setEnabled)
        self.actions_by_name["Undo"].setEnabled(False)
        self.actions_by_name["Redo"].setEnabled(False)
        self.toolbar.addSeparator()
        self.runs.fill(self.toolbar)
        self.actions_by_name.update({NAMES[way]: one for way, one in self.runs.by_way.items()})
        self.toolbar.addSeparator()
        view = self.view
        group = self._act(
            "Group", self.tr("Group"), "mActionGroupItems", view.commands.frames.group
        )
        group.setToolTip(self.tr("Put a frame with a title around the selected steps (Ctrl+G)"))
        self._act("Arrange", self.tr("Arrange"), "mActionAlignHCenter", view.commands.arrange)
        self._act("Farther", self.tr("Zoom out"), "mActionZoomOut", view.acts.farther)
        self._act("Nearer", self.tr("Zoom in"), "mActionZoomIn", view.acts.nearer)
        self._act("Fit", self.tr("Show all"), "mActionZoomFullExtent", view.fit)
        find = self._act("Find", self.tr("Find on the canvas"), "search", view.finder.open)
        find.setToolTip(self.tr("Find on the canvas (Ctrl+F)"))
        self.toolbar.addSeparator()
        self._fill_export()

    def _fill_export(self) -> None:
        """Add the library, import and export, and the field in which a change is asked for."""
        library = self._act(
            "Library", self.tr("Library"), "mActionShowBookmarks", self.library_requested.emit
        )
        library.setToolTip(self.tr("Library of workflows and templates"))
        self.exchange = ExchangeMenu()
        self.exchange.import_requested.connect(self.import_requested)
        self.exchange.export_requested.connect(self.export_requested)
        self.toolbar.addWidget(self.exchange)
        self.toolbar.addSeparator()
        self.toolbar.addWidget(self.wish)

    def _act(self, name: str, text: str, icon: str, slot: Callable[[], Any]) -> QAction:
        action = QAction(theme_icon(icon), text, self)
        action.setObjectName(f"GeoOlmGraph{name}")
        action.triggered.connect(lambda _on=False: slot())
        self.toolbar.addAction(action)
        self.actions_by_name[name] = action
        return action

    def _connect(self) -> None:
        document = self.document
        document.changed.connect(lambda old, new: self.show_answer(""))
        document.findings_changed.connect(self._show_state)
        document.selection_changed.connect(lambda keys: self._show_state())
        document.was_saved.connect(self._show_state)
        self.problems.counted.connect(self._count)
        self.problems.step_shown.connect(self.view.show_step)
        self.problems.parameter_shown.connect(self._show_parameter)
        self.variables.step_shown.connect(self.view.show_step)
        self.comparison.step_shown.connect(self.view.show_step)
        self.proposal.step_shown.connect(self.view.show_step)
        self.view.empty.templates_requested.connect(self.templates_requested)
        self.variables.counted.connect(self._count_variables)
        self.view.told.connect(self.say)
        self.view.add_requested.connect(self._ask_step)
        self.view.inspect_requested.connect(self._inspect)
        self.view.run_requested.connect(self._run_by_key)
        self.runs.requested.connect(self._run)
        self.wish.returnPressed.connect(self._wish)
        document.proposal_changed.connect(self._show_state)
        self.steps.step_chosen.connect(self._add_step)
        self.steps.layer_chosen.connect(self._take_layer)

    def _count(self, count: int) -> None:
        text = self.tr("Problems ({})").replace("{}", str(count)) if count else self.tr("Problems")
        self.tabs.setTabText(0, text)

    def _count_variables(self, count: int, lacking: int) -> None:
        text = self.tr("Variables ({})").replace("{}", str(count)) if count else ""
        if lacking:
            text = self.tr("Variables ({0}, {1} to set)").replace("{0}", str(count))
            text = text.replace("{1}", str(lacking))
        self.tabs.setTabText(self.tabs.indexOf(self.variables), text or self.tr("Variables"))

    def _show_state(self) -> None:
        document = self.document
        name = document.title or self.tr("New workflow")
        star = "*" if document.is_modified else ""
        self.setWindowTitle(f"GeoFlow: {name}{star}")
        filled = bool(document.graph.vertices)
        self.wish.setEnabled(filled and not document.running)
        actions = self.actions_by_name
        for key in ("Save", "SaveAs", "Arrange"):
            actions[key].setEnabled(not document.graph.is_blank)
        self.exchange.set_filled(filled)
        self.inspector.setEnabled(document.comparison is None)
        self.status.setText(self._words())

    def _words(self) -> str:
        """Return the status line: how far a run is, or what keeps one from starting."""
        document = self.document
        states = [document.state(key).status for key in document.graph.ids()]
        done = sum(one.is_done for one in states)
        failed = sum(one is Status.FAILED for one in states)
        if document.running:
            text = self.tr("Running: {0} of {1} steps done").replace("{0}", str(done))
            text = text.replace("{1}", str(len(states)))
            waits = sum(one is Status.WAITING for one in states)
            more = [self.tr("{} failed").replace("{}", str(failed))] if failed else []
            more += [self.tr("{} waits for you").replace("{}", str(waits))] if waits else []
            return ", ".join([text, *more])
        if document.comparison is not None:
            return self.tr("Two versions are compared. End the comparison to go on.")
        if document.proposal is not None:
            return self.tr("Accept or reject the proposed change first.")
        if not states:
            return self.tr("No steps yet.")
        if document.has_errors:
            return self.tr("The problems below keep the workflow from running.")
        if failed:
            return self.tr("{} failed. Mend it and run again: what is done is kept.").replace(
                "{}", str(failed)
            )
        if self._answer:
            return self._answer
        if done == len(states):
            return self.tr("All steps are done.")
        return self.tr("{} steps, ready to run.").replace("{}", str(len(states)))

    # -- what hands want

    def _wish(self) -> None:
        text = self.wish.text().strip()
        if text and self.document.graph.vertices:
            self.change_requested.emit(text)

    def _show_parameter(self, name: str) -> None:
        """Show where a parameter is set: at its variable, where that lacks a value."""
        lacking = self.variables.lacking_at(self.document.selection, name)
        if lacking:
            self.tabs.setCurrentWidget(self.variables)
            self.variables.edit(lacking)
        else:
            self._inspect(name)

    def _inspect(self, part: str) -> None:
        self.inspector.setVisible(True)
        self.inspector.edit(part)

    def _run_by_key(self, way: str) -> None:
        reason = self.runs.ask(Way(way))
        if reason:
            self.say(reason)

    def _run(self, way: Way) -> None:
        if way is Way.STOP:
            self.stop_requested.emit()
        else:
            self.run_requested.emit(way.value)

    def _ask_step(self, place: tuple[float, float]) -> None:
        """Let the user choose what is added at a place."""
        self._place = place
        self.side.show_steps()

    def _add_step(self, step: Vertex) -> None:
        document = self.document
        graph = document.graph
        key = graph.free_id()
        after = next(iter(document.selection)) if len(document.selection) == 1 else ""
        family = document.flow.family(Output(after)) if after else None
        port = port_for(family, step, document.ports(step))
        placed = any(one.position is not None for one in graph.vertices)
        fresh = replace(step, id=key, position=self._place if placed else None)
        name = title(document, fresh)

        def add(now: Graph) -> Graph:
            return editing.added(now, fresh, after if port else "", port)

        if document.edit(self.tr("Add {}").replace("{}", name), add):
            document.select((key,))
        self._place = None
        self.view.setFocus()

    def _take_layer(self, name: str) -> None:
        """Let the selected step take a layer; without one, put it on the canvas."""
        chosen, joins = self.document.selection, self.view.commands.joins
        if len(chosen) == 1:
            joins.take_layer(name, next(iter(chosen)))
        else:
            joins.place_layers((name,), self.view.acts.middle())

    def resizeEvent(self, event: Any) -> None:
        """Give the canvas the room on small screens: first the inspector goes, then the palette."""
        super().resizeEvent(event)
        width = self.width() / em(self)
        self.inspector.setVisible(width >= _NARROW)
        self.side.setVisible(width >= _NARROWER)
