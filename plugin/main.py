# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin as QGIS loads it: makes its parts, puts them into the window, takes them out again."""

from __future__ import annotations

import time
from typing import Any

from qgis.core import Qgis, QgsApplication, QgsSettings
from qgis.PyQt.QtCore import QByteArray, QCoreApplication, QEventLoop, Qt, QTimer
from qgis.PyQt.QtGui import QIcon
from qgis.PyQt.QtWidgets import QAction

from . import demo
from .dependency.folder import PackageFolder
from .link import process_link
from .log import attach, detach
from .place import RESOURCES, store_folder
from .provider import GeoOlmProvider
from .runner import RunTask, finish, start
from .settings import Settings, SettingsStore

MENU = "Geo-OLM"
_SHOWN_MS = 1000


def tr(text: str) -> str:
    """Translate a text of the plugin."""
    return QCoreApplication.translate("GeoOlmPlugin", text)


def was_placed(name: str) -> bool:
    """Tell whether QGIS's window, as it was left last, holds a dock or toolbar of this name."""
    state = QgsSettings().value("UI/state")
    return isinstance(state, QByteArray) and state.contains(name.encode("utf-16-be"))


def show_found(page: Any, found: Any) -> None:
    """Show on the options page what a check of the model found."""
    page.set_models(found.models)
    page.show_check(found.text, found.ready, found.host)


class GeoOlmPlugin:
    """Geo-OLM in one QGIS window; `iface` is None in qgis_process."""

    demo_question = demo.DEMO_QUESTION

    def __init__(self, iface: Any) -> None:
        self._iface = iface
        self._provider: GeoOlmProvider | None = None
        self._action: QAction | None = None
        self._dock: Any = None
        self._desk: Any = None
        self._options: Any = None
        self._folder: PackageFolder | None = None
        self._packages: Any = None
        self._models: Any = None
        self._doctor: Any = None
        self._to_fetch = False
        self._sent: Any = None
        self._graph_dock: Any = None
        self._graph_desk: Any = None
        self._graph_action: QAction | None = None
        self._fitting: Any = None
        self._first: Any = None
        self._checks: set[RunTask] = set()
        self._log: Any = None

    # -- QGIS's side

    def initProcessing(self) -> None:
        """Add the Processing provider, and the packages of the profile to Python's path."""
        settings = SettingsStore().load()
        self._log = attach(settings.debug)
        self._folder = PackageFolder(store_folder() / "packages")
        self._folder.activate()
        self._provider = GeoOlmProvider()
        QgsApplication.processingRegistry().addProvider(self._provider)

    def initGui(self) -> None:
        """Add the provider, the action, the dock and the options page."""
        from ..ui.chat_dock import ChatDock
        from ..ui.options_page import OptionsFactory
        from .desk import Desk
        from .doctor_desk import DoctorDesk
        from .model_desk import ModelDesk
        from .package_desk import PackageDesk
        from .window_fitting import WindowFitting

        self.initProcessing()
        self._packages = PackageDesk(self._folder, SettingsStore().load)
        settings = SettingsStore().load()
        self._dock = ChatDock(self._iface.mainWindow())
        self._iface.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._dock)
        if not was_placed(self._dock.objectName()):
            QTimer.singleShot(_SHOWN_MS, self._widen)
        self._models = ModelDesk(SettingsStore().load)
        self._desk = Desk(self._iface, self._dock, settings)
        self._desk.join_models(self._models)
        self._doctor = DoctorDesk(SettingsStore().load, lambda: self._desk.models)
        self._doctor.used.connect(lambda: self._desk.use(SettingsStore().load()))
        self._doctor.log_requested.connect(lambda: self._iface.openMessageLog())
        self._dock.doctor_requested.connect(lambda: self._doctor.open(self._iface.mainWindow()))
        self._dock.pull_requested.connect(self._show_fetch)
        self._dock.options_requested.connect(self.show_options)
        self._dock.model_file_requested.connect(self.show_options)
        self._dock.sent_page_requested.connect(lambda: self.show_sent(self._iface.mainWindow()))
        self._action = QAction(
            QIcon(str(RESOURCES / "icons" / "geo_olm.svg")),
            tr("Geo-OLM chat"),
            self._iface.mainWindow(),
        )
        self._action.setObjectName("GeoOlmShowChat")
        self._action.setCheckable(True)
        self._action.setToolTip(tr("Ask your layers"))
        self._dock.setToggleVisibilityAction(self._action)
        self._iface.addToolBarIcon(self._action)
        self._iface.addPluginToMenu(MENU, self._action)
        self._graph_action = QAction(
            QgsApplication.getThemeIcon("/processingModel.svg"),
            tr("GeoFlow workflows"),
            self._iface.mainWindow(),
        )
        self._graph_action.setObjectName("GeoOlmShowGraph")
        self._graph_action.triggered.connect(lambda _on=False: self.show_workflow(None))
        self._iface.addPluginToMenu(MENU, self._graph_action)
        self._dock.workflow_open_requested.connect(self.show_workflow)
        self._desk.planned.connect(self.show_workflow)
        self._options = OptionsFactory(SettingsStore().load, self._prepare)
        self._iface.registerOptionsWidgetFactory(self._options)
        shown = (self._action, self._graph_action)
        self._fitting = WindowFitting(self._iface, self._dock, shown)
        self._iface.addPluginToMenu(MENU, self._fitting.about_layer)
        self._add_first_run()

    def unload(self) -> None:
        """Take everything out again, in reverse."""
        while self._checks:
            finish(self._checks.pop(), 5.0)
        self._unfit()
        if self._graph_action is not None:
            self._iface.removePluginMenu(MENU, self._graph_action)
            self._graph_action.deleteLater()
            self._graph_action = None
        if self._graph_desk is not None:
            self._graph_desk.close()
            self._graph_desk.deleteLater()
            self._graph_desk = None
        if self._graph_dock is not None:
            self._iface.removeDockWidget(self._graph_dock)
            self._graph_dock.deleteLater()
            self._graph_dock = None
        if self._action is not None:
            self._iface.removePluginMenu(MENU, self._action)
            self._iface.removeToolBarIcon(self._action)
        if self._sent is not None:
            self._sent.close()
            self._sent = None
        if self._doctor is not None:
            self._doctor.close()
            self._doctor.deleteLater()
            self._doctor = None
        if self._models is not None:
            self._models.close()
            self._models = None
        if self._desk is not None:
            self._desk.close()
            self._desk.deleteLater()
            self._desk = None
        if self._dock is not None:
            self._iface.removeDockWidget(self._dock)
            self._dock.deleteLater()
            self._dock = None
        if self._action is not None:
            self._action.deleteLater()
            self._action = None
        if self._provider is not None:
            QgsApplication.processingRegistry().removeProvider(self._provider)
            self._provider = None
        if process_link.cache_info().currsize:
            process_link().stop()
            process_link.cache_clear()
        if self._packages is not None:
            self._packages.close()
            self._packages = None
        if self._folder is not None:
            self._folder.deactivate()
            self._folder = None
        if self._log is not None:
            detach(self._log)
            self._log = None

    def _add_first_run(self) -> None:
        """Add the first steps, and offer them once."""
        from .first_run import FirstRun

        first, dock, desk = FirstRun(self._iface), self._dock, self._desk
        desk.model_shown.connect(first.set_model)
        desk.layers_shown.connect(first.set_layers)
        first.set_fetch(self._models.view)
        self._models.changed.connect(first.set_fetch)
        first.download_requested.connect(lambda: self._models.download())
        first.cancel_requested.connect(self._models.cancel)
        first.options_requested.connect(self.show_options)
        first.model_chosen.connect(dock.model_chosen)
        first.check_requested.connect(dock.doctor_requested)
        first.demo_requested.connect(dock.demo_requested)
        first.question_chosen.connect(self._fitting.ask)
        self._iface.addPluginToMenu(MENU, first.action)
        self._first = first
        first.offer()

    def _unfit(self) -> None:
        """Take out what stands in QGIS's own places."""
        if self._first is not None:
            self._iface.removePluginMenu(MENU, self._first.action)
            self._first.close()
            self._first.deleteLater()
            self._first = None
        if self._fitting is not None:
            self._iface.removePluginMenu(MENU, self._fitting.about_layer)
            self._fitting.close()
            self._fitting.deleteLater()
            self._fitting = None
        if self._options is not None:
            self._iface.unregisterOptionsWidgetFactory(self._options)
            self._options = None

    # -- what others may call

    def open_demo(self) -> None:
        """Open the demo layers and show the chat."""
        self._desk.open_demo()
        self._dock.setUserVisible(True)

    def show_workflow(self, graph: Any) -> None:
        """Show the graph editor, with a workflow or with what it holds; it is made only now."""
        if self._graph_dock is None:
            from ..ui.graph.graph_dock import GraphDock
            from .graph_desk import GraphDesk

            self._graph_dock = GraphDock(self._iface.mainWindow())
            area = Qt.DockWidgetArea.BottomDockWidgetArea
            self._iface.addDockWidget(area, self._graph_dock)
            self._graph_desk = GraphDesk(self._iface, self._graph_dock, self._desk)
        self._graph_dock.setUserVisible(True)
        if graph is not None:
            self._graph_desk.show_graph(graph)

    def ask_and_wait(self, question: str, timeout_s: float) -> dict[str, Any]:
        """Ask in the dock, as a user would, and wait for the record of the answer.

        Raises TimeoutError when it takes longer; the run is stopped then.
        """
        records: list[dict[str, Any]] = []
        session = self._desk.session
        session.finished.connect(records.append)
        loop, limit = QEventLoop(), time.monotonic() + timeout_s
        session.finished.connect(lambda _record: loop.quit())
        watch = QTimer()
        watch.timeout.connect(lambda: time.monotonic() > limit and loop.quit())
        watch.start(200)
        self._dock.ask(question)
        loop.exec()
        watch.stop()
        if not records:
            session.stop()
            raise TimeoutError(f"no answer within {timeout_s:.0f} s")
        return records[0]

    def show_options(self) -> None:
        """Open QGIS's options at the plugin's page."""
        self._iface.showOptionsDialog(self._iface.mainWindow(), "GeoOlmOptionsPage")

    def _show_fetch(self) -> None:
        """Open the options where a model is brought."""
        self._to_fetch = True
        self.show_options()

    def show_sent(self, parent: Any) -> None:
        """Open the page "What was sent"; QGIS stays usable."""
        from .sent_desk import sent_page

        if self._sent is not None:
            self._sent.close()
        page = sent_page(parent, lambda text: self._desk.tell(text, Qgis.MessageLevel.Warning))
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.destroyed.connect(lambda *_: self._forget(page))
        self._sent = page
        page.show()

    def _forget(self, page: Any) -> None:
        if self._sent is page:
            self._sent = None

    def _widen(self) -> None:
        """Give the dock its ideal width, the first time that it stands in this window."""
        if self._dock is None:
            return
        window = self._iface.mainWindow()
        if not window.isVisible():  # QGIS is starting still
            QTimer.singleShot(_SHOWN_MS, self._widen)
            return
        width = self._dock.widget().sizeHint().width()
        window.resizeDocks([self._dock], [width], Qt.Orientation.Horizontal)

    # -- the options page

    def _prepare(self, page: Any) -> None:
        from .sent_desk import summary

        page.set_models(self._desk.models)
        self._models.attach(page.fetch)
        if self._to_fetch:
            self._to_fetch = False
            page.fetch.name.setText(self._desk.missing_model)
            QTimer.singleShot(0, page.show_fetch)
        self._packages.attach(page.packages)
        page.privacy.note.setText(summary())
        page.privacy.sent_requested.connect(lambda: self.show_sent(page.window()))
        page.settings_changed.connect(self._apply)
        page.check_requested.connect(lambda settings: self._check(page, settings))
        page.doctor_requested.connect(lambda settings: self._doctor.open(page.window(), settings))

    def _apply(self, settings: Settings) -> None:
        SettingsStore().save(settings)
        self._desk.use(settings)

    def _check(self, page: Any, settings: Settings) -> None:
        from .scout import check

        task = RunTask(
            tr("Geo-OLM: checking the model"),
            lambda emit, cancelled: emit(check(settings, cancelled)),
        )
        self._checks.add(task)
        alive = [page]
        page.destroyed.connect(lambda *_: alive.clear())
        task.told.connect(lambda found: alive and show_found(page, found))
        task.ended.connect(lambda _error: self._checks.discard(task))
        start(task)
