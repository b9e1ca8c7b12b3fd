# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins one chat dock to its session, to the project and to QGIS's window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsMapLayer,
    QgsProject,
    QgsRectangle,
)
from qgis.gui import QgsBrowserDockWidget, QgsGui
from qgis.PyQt.QtCore import QObject, Qt, QTimer, pyqtSignal

from ..tools.base import ToolCancelled, ToolError
from ..tools.keeping import Kept
from ..ui.chat_dock import ChatDock
from ..ui.fetch_view import FetchView, Offer
from ..ui.graph.ask_bar import AskBar
from ..ui.keep_dialog import ask_target, ask_workflow
from ..ui.model_view import ModelCondition, ModelView
from . import demo
from .agent.event import Event, RunFinished, Status
from .library import KeepError, save
from .link import process_link
from .llm.base import ModelError
from .llm.gate import with_host
from .log import TAB
from .model_desk import ModelDesk
from .runner import RunTask, finish, start
from .scout import scout
from .session import Session
from .settings import Settings, SettingsStore
from .workflow.graph import Graph
from .workflow.plan_event import PlanMade

_SETTLE_MS = 300


class Desk(QObject):
    """The wiring of the chat: the dock asks, the session answers, QGIS shows. Main thread only."""

    model_shown = pyqtSignal(object)
    planned = pyqtSignal(object)
    layers_shown = pyqtSignal(object)

    def __init__(self, iface: Any, dock: ChatDock, settings: Settings) -> None:
        super().__init__()
        self._asked = False
        self._view = ModelView()
        self._offers: tuple[Offer, ...] = ()
        self._iface = iface
        self._dock = dock
        self._project = QgsProject.instance()
        self._settings = settings
        self._tasks: set[RunTask] = set()
        self.session = Session(self._project, settings, WindowCanvas(iface))
        self.models: tuple[str, ...] = ()
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(_SETTLE_MS)
        self._settled.timeout.connect(self.show_layers)
        self._connect()
        dock.set_offline(settings.offline)
        dock.composer.mode.set_mode(settings.approval)
        self.show_layers()
        self.look_for_model()

    def use(self, settings: Settings) -> None:
        """Take new settings, and look for the model that they lead to."""
        self._settings, self._asked = settings, False
        self._dock.set_offline(settings.offline)
        self._dock.composer.mode.set_mode(settings.approval)
        self.session.use(settings)
        self.look_for_model()

    @property
    def ask_bar(self) -> AskBar:
        """The bar of the chat at which a run waits for the user."""
        return self._dock.ask_bar

    @property
    def missing_model(self) -> str:
        """The name of a model that Ollama does not have, "" when nothing is missing."""
        view = self._view
        return view.name if view.can_pull and view.condition is ModelCondition.UNREACHABLE else ""

    def ask(self, question: str) -> None:
        """Take up a question."""
        self.session.ask(question, runs=not self._dock.plans_first)

    def look_for_model(self) -> None:
        """Find the model in the background and show it in the dock."""
        settings = self._settings
        self._background(
            self.tr("Geo-OLM: looking for a model"),
            lambda emit, cancelled: emit(scout(settings, cancelled)),
            self._show_model,
        )

    def show_layers(self) -> None:
        """Profile the layers in the background and offer them in the dock."""
        if self.session.busy:
            self._settled.start()
            return
        self._background(
            self.tr("Geo-OLM: reading the layers"),
            lambda emit, _cancelled: emit(self.session.layers()),
            self._take_layers,
        )

    def open_demo(self) -> None:
        """Put the demo layers into the project and show the whole world."""
        try:
            layers = demo.add_demo_layers(self._project)
        except demo.DemoMissing as missing:
            self.tell(str(missing), Qgis.MessageLevel.Warning)
            return
        self._iface.setActiveLayer(layers[-1])
        self._iface.mapCanvas().setExtent(layers[-1].extent())
        self._iface.mapCanvas().refresh()

    def tell(self, text: str, level: Qgis.MessageLevel) -> None:
        """Show a notice in QGIS's message bar."""
        self._iface.messageBar().pushMessage(TAB, text, level)

    def close(self) -> None:
        """Stop all work and disconnect from the project."""
        self._settled.stop()
        self._project.layersAdded.disconnect(self._layers_changed)
        self._project.layersRemoved.disconnect(self._layers_removed)
        while self._tasks:  # ending one lets others end, which then are deleted
            finish(self._tasks.pop(), 5.0)
        self.session.close()

    def join_models(self, models: ModelDesk) -> None:
        """Let the dock bring models, and show how far one is."""
        dock = self._dock
        self._offers = models.view.offers
        models.changed.connect(self._show_fetch)
        models.brought.connect(self.look_for_model)
        dock.download_requested.connect(lambda: models.download())
        dock.download_cancelled.connect(models.cancel)
        dock.unload_requested.connect(self._unload)
        self.model_shown.connect(lambda view: models.set_pull(view.can_pull))

    def _connect(self) -> None:
        dock, session = self._dock, self.session
        session.told.connect(self._show)
        session.running.connect(dock.set_running)
        session.running.connect(self._ran)
        dock.asked.connect(self.ask)
        dock.stopped.connect(session.stop)
        dock.approved.connect(session.approve)
        dock.mode_chosen.connect(self._choose_mode)
        dock.new_chat_requested.connect(self._new_chat)
        dock.retry_requested.connect(self.look_for_model)
        dock.model_chosen.connect(self._choose_model)
        dock.demo_requested.connect(self.open_demo)
        dock.consent_given.connect(self._allow)
        dock.consent_refused.connect(self._refuse)
        dock.offline_chosen.connect(self._go_offline)
        dock.add_layer_requested.connect(lambda: self._iface.openDataSourceManagerPage("ogr"))
        dock.undo_requested.connect(self._undo)
        dock.keep_requested.connect(self._keep)
        dock.kept_shown.connect(self._show_file)
        dock.workflow_keep_requested.connect(self._keep_workflow)
        dock.open_in_processing.connect(self._open_in_processing)
        dock.layer_activated.connect(self._activate)
        dock.layer_zoom_requested.connect(self._zoom)
        dock.layer_table_requested.connect(self._table)
        dock.layer_removal_requested.connect(self._remove)
        self._project.layersAdded.connect(self._layers_changed)
        self._project.layersRemoved.connect(self._layers_removed)

    def _background(
        self,
        title: str,
        work: Callable[[Callable[[Any], None], Callable[[], bool]], None],
        show: Callable[[Any], None],
    ) -> None:
        task = RunTask(title, work)
        self._tasks.add(task)
        task.told.connect(show)
        task.ended.connect(lambda _error: self._tasks.discard(task))
        start(task)

    # -- what the session and the project tell

    def _show(self, event: Event) -> None:
        self._dock.handle(event)
        if isinstance(event, PlanMade) and self._dock.plans_first and not event.rejected:
            self.planned.emit(event.graph)
        if isinstance(event, RunFinished) and event.status is Status.FAILED:
            self.look_for_model()

    def _ran(self, running: bool) -> None:
        if not running:
            if not self._asked:  # only now it is known where the model was loaded
                self._asked = True
                self.look_for_model()
            self._dock.set_undoable(self.session.can_undo)
            self._settled.start()

    def _show_model(self, view: ModelView) -> None:
        self.models = view.models
        new = [offer.words for offer in self._offers if not offer.present]
        if view.condition is ModelCondition.NONE and new:
            view = replace(view, download=new[0])
        self._view = view
        self.model_shown.emit(view)
        if not self.session.busy:
            self._dock.set_model(view)

    def _show_fetch(self, fetch: FetchView) -> None:
        """Show in the dock how far a download is, or why it failed."""
        self._offers = fetch.offers
        percent = max(0.0, fetch.percent) if fetch.busy else -1.0
        text = fetch.line if fetch.busy else fetch.error
        self._view = replace(self._view, progress=percent, progress_text=text)
        if self._view.condition is ModelCondition.NONE and not self.session.busy:
            self._dock.set_model(self._view)

    def _unload(self) -> None:
        """Take the model from memory in the background."""
        settings = self._settings

        def work(emit: Callable[[Any], None], _cancelled: Callable[[], bool]) -> None:
            try:
                process_link().unload(settings)
                emit("")
            except ModelError as error:
                emit(error.message)

        self._background(self.tr("Geo-OLM: unloading the model"), work, self._unloaded)

    def _unloaded(self, error: str) -> None:
        text = error or self.tr("The model is unloaded. The next question loads it again.")
        level = Qgis.MessageLevel.Warning if error else Qgis.MessageLevel.Info
        self.tell(text, level)
        self.look_for_model()

    def _take_layers(self, layers: Any) -> None:
        self._dock.set_layers(layers)
        self.layers_shown.emit(layers)

    def _layers_changed(self, _layers: list[QgsMapLayer]) -> None:
        self._settled.start()

    def _layers_removed(self, ids: list[str]) -> None:
        for layer_id in ids:
            self._dock.mark_layer_removed(layer_id)
        self._settled.start()

    # -- what the user does in the dock

    def _new_chat(self) -> None:
        self.session.new_chat()
        self._dock.clear()

    def _choose_mode(self, mode: str) -> None:
        """Keep what is asked before it is done; it holds at once, in a running question too."""
        self._settings = replace(self._settings, approval=mode)
        SettingsStore().save(self._settings)
        self.session.use_mode(self._settings)

    def _choose_model(self, name: str) -> None:
        self._change(model=name)

    def _allow(self, host: str) -> None:
        """Let questions go to a host, from now on."""
        self._change(allowed_hosts=with_host(self._settings.allowed_hosts, host))

    def _refuse(self, host: str) -> None:
        """Leave a host without an answer; the next look asks again."""
        text = self.tr("Nothing was sent to {0}. Choose another model, or try again to allow it.")
        self._show_model(ModelView(ModelCondition.UNREACHABLE, error=text.format(host)))

    def _go_offline(self, offline: bool) -> None:
        self._change(offline=offline)

    def _change(self, **changes: Any) -> None:
        """Keep a setting that was changed in the dock, and take it."""
        settings = replace(self._settings, **changes)
        SettingsStore().save(settings)
        self.use(settings)

    def _undo(self) -> None:
        done = self.session.undo()
        self._dock.set_undoable(False)
        text = " ".join(done) if done else self.tr("There is nothing to undo.")
        self.tell(text, Qgis.MessageLevel.Info)

    def _keep(self, ids: tuple[str, ...]) -> None:
        """Ask for a file and keep layers in it, in the background."""
        if self.session.busy:
            text = self.tr("Keep the layers when the question is answered.")
            self.tell(text, Qgis.MessageLevel.Info)
            return
        target = ask_target(self._dock, self._project.homePath())
        if target is None:
            return

        def work(emit: Callable[[Any], None], cancelled: Callable[[], bool]) -> None:
            try:
                emit(self.session.keep(target, ids, cancelled))
            except ToolError as error:
                emit(error.message)
            except ToolCancelled:
                emit("")

        self._background(self.tr("Geo-OLM: keeping layers"), work, self._kept)

    def _kept(self, found: Kept | str) -> None:
        """Show what was kept, and say what was not."""
        if isinstance(found, str):
            if found:
                self.tell(found, Qgis.MessageLevel.Warning)
            return
        self._dock.mark_kept(found.layers, found.path)
        for fault in found.faults:
            self.tell(fault, Qgis.MessageLevel.Warning)

    def _keep_workflow(self, graph: Graph) -> None:
        """Ask for a file and save the workflow of an answer in it."""
        asked = ask_workflow(self._dock, self._project.homePath(), graph.question)
        if asked is None:
            return
        target, over = asked
        try:
            save(graph, target, over=over)
        except KeepError as error:
            self.tell(str(error), Qgis.MessageLevel.Warning)
            return
        text = self.tr("Saved {0}. Run it from the Processing toolbox: Run a workflow.")
        self.tell(text.format(target.name), Qgis.MessageLevel.Success)

    def _show_file(self, path: str) -> None:
        """Show a kept file where QGIS lists files, or in the system's own window."""
        index = self._iface.browserModel().findPath(path)
        browser = self._iface.mainWindow().findChild(QgsBrowserDockWidget)
        if index.isValid() and browser is not None:
            browser.setUserVisible(True)
            browser.setActiveIndex(index)
            return
        QgsGui.nativePlatformInterface().openFileExplorerAndSelectFile(path)

    def _open_in_processing(self, algorithm: str, parameters: dict[str, Any]) -> None:
        """Open an algorithm's dialog with its parameters filled in; QGIS stays usable."""
        import processing

        dialog = processing.createAlgorithmDialog(algorithm, parameters)
        if dialog is None:
            text = self.tr("This QGIS has no algorithm {0} any more.").format(algorithm)
            self.tell(text, Qgis.MessageLevel.Warning)
            return
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def _activate(self, layer_id: str) -> None:
        layer = self._project.mapLayer(layer_id)
        if layer is not None:
            self._iface.setActiveLayer(layer)

    def _zoom(self, layer_id: str) -> None:
        layer = self._project.mapLayer(layer_id)
        if layer is not None:
            WindowCanvas(self._iface).zoom_to(layer.extent(), layer.crs())

    def _table(self, layer_id: str) -> None:
        layer = self._project.mapLayer(layer_id)
        if layer is not None:
            self._iface.showAttributeTable(layer)

    def _remove(self, layer_id: str) -> None:
        if self._project.mapLayer(layer_id) is not None:
            self._project.removeMapLayer(layer_id)


class WindowCanvas:
    """The map window as the tools see it."""

    def __init__(self, iface: Any) -> None:
        self._iface = iface

    def zoom_to(self, extent: QgsRectangle, crs: QgsCoordinateReferenceSystem) -> None:
        """Show `extent`, given in `crs`, with a small margin. Main thread only."""
        canvas = self._iface.mapCanvas()
        settings = canvas.mapSettings()
        transform = QgsCoordinateTransform(
            crs, settings.destinationCrs(), settings.transformContext()
        )
        shown = transform.transformBoundingBox(extent)
        shown.scale(1.05)
        canvas.setExtent(shown)
        canvas.refresh()
