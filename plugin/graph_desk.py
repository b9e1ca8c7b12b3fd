# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins the graph editor to the session, to files and to QGIS's window."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qgis.core import QgsProject
from qgis.PyQt.QtCore import QObject, QTimer

from ..tools.catalog import build_registry
from ..ui.graph.graph_dock import GraphDock
from .algorithm_shelf import AlgorithmShelf
from .canvas_desk import CanvasDesk
from .desk import Desk
from .file_desk import FileDesk
from .library import KeepError, read, save
from .library_desk import LibraryDesk
from .llm.base import ModelError
from .place import store_folder
from .replay import agents
from .run_desk import RunDesk
from .runner import RunTask, finish, start
from .workflow.file import WorkflowFileError
from .workflow.graph import Graph
from .workflow.plan_form import PlanError

_LOG = logging.getLogger(__name__)
_CHECK_MS, _KEEP_MS, _STOP_S = 150, 2000, 5.0
RECENT = "recent_steps.json"
"""The file of the profile that holds what was added last from the palette."""
AUTOSAVE = "unsaved.geoflow.json"
"""The file of the profile that brings the canvas back after a crash."""


def _nothing(_event: Any) -> None:
    """Hear what is told of tokens and waiting, which the editor does not show."""


class GraphDesk(QObject):
    """The wiring of the graph editor. Main thread only."""

    def __init__(self, iface: Any, dock: GraphDock, desk: Desk) -> None:
        super().__init__()
        self._iface, self._dock, self._desk = iface, dock, desk
        self._registry = build_registry()
        self._roles = agents()
        self._shelf = AlgorithmShelf(self._registry.definitions(), store_folder() / RECENT)
        dock.document.shelf = self._shelf
        self.files = FileDesk(dock, desk, self._roles)
        self.library = LibraryDesk(dock, self.show_graph)
        self._tasks: set[RunTask] = set()
        self.runs = RunDesk(iface, dock, desk, self._background)
        self._seen: Graph | None = None
        self._is_closed = False
        self._checks = self._timer(_CHECK_MS, self._check)
        self._keeping = self._timer(_KEEP_MS, self._autosave)
        self._connect()
        self._canvas = CanvasDesk(dock.view, dock.say, self)
        self.know_layers()
        self._recover()

    def show_graph(self, graph: Graph) -> bool:
        """Show a workflow for editing, unless unsaved changes of another are to be kept."""
        if not self.files.may_leave():
            return False
        self._dock.document.load(graph)
        self._seen = graph
        self._dock.setUserVisible(True)
        return True

    def know_layers(self) -> None:
        """Profile the project's layers in the background, for checks and lists."""
        session = self._desk.session

        def work(emit: Callable[[Any], None], _cancelled: Callable[[], bool]) -> None:
            emit(session.layers())

        self._background(self.tr("Geo-OLM: reading the layers"), work, self._known)

    def close(self) -> None:
        """Let go of the session; unsaved changes lie in the profile until the next start."""
        self._is_closed = True  # what comes from workers after this is dropped
        self._checks.stop()
        self._keeping.stop()
        self._autosave()
        self._canvas.close()
        self.runs.close()
        self.library.close()
        while self._tasks:
            finish(self._tasks.pop(), _STOP_S)
        session = self._desk.session
        session.running.disconnect(self._ran)
        project = QgsProject.instance()
        project.layersAdded.disconnect(self._layers_changed)
        project.layersRemoved.disconnect(self._layers_changed)

    # -- wiring

    def _timer(self, milliseconds: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer

    def _connect(self) -> None:
        dock, session = self._dock, self._desk.session
        dock.document.changed.connect(lambda old, new: self._changed())
        dock.document.known_changed.connect(self._checks.start)
        dock.stop_requested.connect(session.stop)
        dock.new_requested.connect(lambda: self.show_graph(Graph()))
        dock.document.was_saved.connect(self._forget)
        dock.change_requested.connect(self.ask_for_change)
        session.running.connect(self._ran)
        project = QgsProject.instance()
        project.layersAdded.connect(self._layers_changed)
        project.layersRemoved.connect(self._layers_changed)

    def _background(
        self,
        title: str,
        work: Callable[[Callable[[Any], None], Callable[[], bool]], None],
        show: Callable[[Any], None],
    ) -> None:
        task = RunTask(title, work)
        self._tasks.add(task)
        task.told.connect(lambda found: None if self._is_closed else show(found))
        task.ended.connect(lambda _error: self._tasks.discard(task))
        start(task)

    def _layers_changed(self, _layers: Any) -> None:
        if not self._desk.session.busy:
            self.know_layers()

    def _known(self, layers: Any) -> None:
        self._dock.document.know(self._registry.definitions(), layers, self._roles)
        if not self._shelf.is_ready:
            self._shelf.ready()
            title = self.tr("Geo-OLM: reading the algorithms")
            self._background(title, lambda emit, cancelled: self._shelf.warm(), _nothing)

    def _changed(self) -> None:
        self._checks.start()
        self._keeping.start()

    # -- checks

    def _check(self) -> None:
        """Check the workflow as it is now in the background; what comes too late is dropped."""
        graph, session = self._dock.document.graph, self._desk.session
        if session.busy:
            self._checks.start()
            return
        known = self._shelf.known(graph, self._dock.document.layers)

        def work(emit: Callable[[Any], None], _cancelled: Callable[[], bool]) -> None:
            emit((graph, session.checked(graph, self._registry, self._roles, known)))

        self._background(self.tr("Geo-OLM: checking the workflow"), work, self._checked)

    def _checked(self, found: Any) -> None:
        graph, findings = found
        if graph == self._dock.document.graph:
            self._dock.document.set_findings(findings if graph.vertices else ())

    # -- changes by the model

    def ask_for_change(self, request: str) -> None:
        """Ask the model for a change in the background, and propose what it answers."""
        session, graph, seen = self._desk.session, self._dock.document.graph, self._seen
        if session.busy:
            self._dock.say(self.tr("Another run goes on. Stop it, or wait until it has ended."))
            return

        def work(emit: Callable[[Any], None], cancelled: Callable[[], bool]) -> None:
            try:
                emit((graph, session.revised(graph, seen or graph, request, _nothing, cancelled)))
            except ModelError as error:
                emit((graph, error.message))
            except PlanError as error:
                emit((graph, str(error)))

        self._dock.wish.setEnabled(False)
        self._dock.say(self.tr("The model works on the change…"))
        self._background(self.tr("Geo-OLM: changing the workflow"), work, self._proposed)

    def _proposed(self, found: Any) -> None:
        graph, change = found
        self._dock.wish.setEnabled(True)
        if isinstance(change, str):
            self._dock.say(change)
        elif graph != self._dock.document.graph:
            self._dock.say(self.tr("The workflow was changed meanwhile, so ask again."))
        else:
            self._seen = graph
            self._dock.wish.clear()
            self._dock.document.propose(change)

    def _ran(self, running: bool) -> None:
        if not running:
            self.know_layers()

    # -- files

    def open_file(self, path: Path) -> None:
        """Show the workflow of a file; what it could not hold is told."""
        self.files.open_file(path)

    # -- coming back after a crash

    def _autosave(self) -> None:
        document = self._dock.document
        if not document.is_modified or document.graph.is_blank:
            self._forget()
            return
        try:
            save(document.graph, store_folder() / AUTOSAVE, over=True)
        except KeepError as error:
            _LOG.warning("the canvas was not kept: %s", error)

    def _forget(self) -> None:
        (store_folder() / AUTOSAVE).unlink(missing_ok=True)

    def _recover(self) -> None:
        path = store_folder() / AUTOSAVE
        if not path.is_file():
            return
        try:
            loaded = read(path)
        except (KeepError, WorkflowFileError) as error:
            _LOG.warning("the canvas could not be brought back: %s", error)
            return
        document = self._dock.document
        document.edit(self.tr("Bring back unsaved changes"), lambda _graph: loaded.graph)
        self._dock.say(self.tr("Unsaved changes of the last time were brought back."))
