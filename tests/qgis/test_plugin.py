# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin in a window and without one: loading, unloading, reloading, and what it costs."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_case import fill, settings_for, settle, wait_until
from fake_openai import FakeOpenAI
from qgis.core import QgsApplication, QgsLayerTreeModel, QgsProject
from qgis.gui import QgsLayerTreeView, QgsMapCanvas, QgsMessageBar
from qgis.PyQt.QtWidgets import QDockWidget, QMainWindow, QMenu, QToolBar

import geo_olm
from geo_olm.plugin.link import process_link

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

ROOT = Path(geo_olm.__file__).parent


class Window:
    """QGIS's window as far as the plugin uses it, over a real main window."""

    def __init__(self) -> None:
        self.window = QMainWindow()
        self.bar = QToolBar(self.window)
        self.window.addToolBar(self.bar)
        self.canvas = QgsMapCanvas(self.window)
        self.messages = QgsMessageBar(self.window)
        self.menus: list[tuple[str, Any]] = []
        self.factories: list[Any] = []
        self.pages: list[str] = []
        self.filters: list[Any] = []
        self.keys: list[Any] = []
        self.help = QMenu(self.window)
        self.tree = QgsLayerTreeView(self.window)
        self.tree.setModel(QgsLayerTreeModel(QgsProject.instance().layerTreeRoot(), self.window))
        self.active: Any = None

    def mainWindow(self) -> QMainWindow:
        return self.window

    def mapCanvas(self) -> QgsMapCanvas:
        return self.canvas

    def messageBar(self) -> QgsMessageBar:
        return self.messages

    def addDockWidget(self, area: Any, dock: QDockWidget) -> None:
        self.window.addDockWidget(area, dock)

    def removeDockWidget(self, dock: QDockWidget) -> None:
        self.window.removeDockWidget(dock)

    def addToolBarIcon(self, action: Any) -> None:
        self.bar.addAction(action)

    def removeToolBarIcon(self, action: Any) -> None:
        self.bar.removeAction(action)

    def addPluginToMenu(self, menu: str, action: Any) -> None:
        self.menus.append((menu, action))

    def removePluginMenu(self, menu: str, action: Any) -> None:
        self.menus.remove((menu, action))

    def registerOptionsWidgetFactory(self, factory: Any) -> None:
        self.factories.append(factory)

    def unregisterOptionsWidgetFactory(self, factory: Any) -> None:
        self.factories.remove(factory)

    def showOptionsDialog(self, _parent: Any, page: str) -> None:
        self.pages.append(page)

    def setActiveLayer(self, layer: Any) -> None:
        self.active = layer

    def activeLayer(self) -> Any:
        return self.active

    def layerTreeView(self) -> QgsLayerTreeView:
        return self.tree

    def pluginHelpMenu(self) -> QMenu:
        return self.help

    def registerLocatorFilter(self, locator: Any) -> None:
        self.filters.append(locator)

    def deregisterLocatorFilter(self, locator: Any) -> None:
        self.filters.remove(locator)

    def registerMainWindowAction(self, action: Any, _key: str) -> bool:
        self.keys.append(action)
        return True

    def unregisterMainWindowAction(self, action: Any) -> bool:
        self.keys.remove(action)
        return True


@pytest.fixture(autouse=True)
def no_models_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    process_link.cache_clear()
    yield
    settle()
    QgsProject.instance().clear()


@pytest.fixture
def window() -> Iterator[Window]:
    made = Window()
    yield made
    made.window.close()
    made.window.deleteLater()
    settle()


def listeners() -> list[int]:
    project = QgsProject.instance()
    signals = (project.layersAdded, project.layersRemoved, project.cleared, project.readProject)
    return [project.receivers(signal) for signal in signals]


def state() -> dict[str, Any]:
    """Return what a plugin might leave behind in this process."""
    return {
        "providers": sorted(p.id() for p in QgsApplication.processingRegistry().providers()),
        "listeners": listeners(),
        "handlers": list(logging.getLogger("geo_olm").handlers),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "tasks": QgsApplication.taskManager().countActiveTasks(),
        "links": process_link.cache_info().currsize,
        "path": list(sys.path),
    }


def test_loading_and_unloading_three_times_leaves_nothing(window: Window) -> None:
    before = state()
    for _ in range(3):
        plugin = geo_olm.classFactory(window)
        plugin.initGui()
        assert QgsApplication.processingRegistry().providerById("geo_olm") is not None
        assert window.window.findChild(QDockWidget, "GeoOlmChatDock") is not None
        assert [action.objectName() for action in window.bar.actions()] == ["GeoOlmShowChat"]
        assert (len(window.menus), len(window.factories)) == (4, 1)
        assert (len(window.filters), len(window.keys)) == (1, 3)
        assert [one.objectName() for one in window.help.actions()] == ["GeoOlmHelp"]
        assert window.window.findChild(QDockWidget, "GeoOlmGraphDock") is None
        plugin.show_workflow(None)
        assert window.window.findChild(QDockWidget, "GeoOlmGraphDock") is not None
        wait_until(lambda: QgsApplication.taskManager().countActiveTasks() == 0)
        plugin.unload()
        settle()
        assert state() == before
        for name in ("GeoOlmChatDock", "GeoOlmGraphDock"):
            assert window.window.findChild(QDockWidget, name) is None
        assert (window.bar.actions(), window.menus, window.factories) == ([], [], [])
        assert (window.filters, window.keys, window.help.actions()) == ([], [], [])
        assert window.tree.receivers(window.tree.contextMenuAboutToShow) == 0


def test_unloading_at_once_waits_for_what_was_begun(window: Window) -> None:
    before = state()
    plugin = geo_olm.classFactory(window)
    plugin.initGui()
    plugin.unload()
    settle()
    assert state() == before


def test_unloading_in_the_middle_of_a_question_ends_it(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fake_openai import stream

    before = state()
    with FakeOpenAI(stream([6.0])) as server:
        monkeypatch.setenv("GEO_OLM_SET_SERVER", "openai")
        monkeypatch.setenv("GEO_OLM_SET_ADDRESS", settings_for(server).address)
        fill(QgsProject.instance())
        plugin = geo_olm.classFactory(window)
        plugin.initGui()
        plugin._dock.ask("How many towns?")
        wait_until(lambda: bool(server.requests))
        plugin.unload()
    settle()
    QgsProject.instance().clear()
    after = state()
    after["threads"] = [name for name in after["threads"] if name in before["threads"]]
    assert after == before


def test_without_a_window_only_the_provider_is_there() -> None:
    before = state()
    plugin = geo_olm.classFactory(None)
    plugin.initProcessing()
    provider = QgsApplication.processingRegistry().providerById("geo_olm")
    assert "ask" in {algorithm.name() for algorithm in provider.algorithms()}
    plugin.unload()
    settle()
    assert state() == before


def test_a_plugin_that_was_never_started_can_be_unloaded() -> None:
    before = state()
    geo_olm.classFactory(None).unload()
    assert state() == before


def test_the_demo_opens_its_layers_and_shows_the_chat(window: Window) -> None:
    plugin = geo_olm.classFactory(window)
    plugin.initGui()
    try:
        plugin.open_demo()
        names = {layer.name() for layer in QgsProject.instance().mapLayers().values()}
        assert names == {"countries", "states_provinces", "disputed_borders"}
    finally:
        plugin.unload()


PROGRAM = """
import importlib.util, socket, sys

def refuse(*_arguments):
    raise SystemExit("the network was reached for")

socket.socket.connect = refuse
socket.getaddrinfo = refuse
from qgis.core import QgsApplication
app = QgsApplication([], False)
app.initQgis()
root = sys.argv[1]
spec = importlib.util.spec_from_file_location(
    "geo_olm", root + "/__init__.py", submodule_search_locations=[root]
)
module = importlib.util.module_from_spec(spec)
sys.modules["geo_olm"] = module
spec.loader.exec_module(module)
plugin = module.classFactory(None)
plugin.initProcessing()
heavy = ("httpx", "openai", "ollama", "pandas", "geopandas", "matplotlib", "onnxruntime")
print("loaded", [name for name in heavy if name in sys.modules])
plugin.unload()
app.exitQgis()
"""


def test_loading_the_plugin_costs_no_client_library_and_no_network() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT)],
        capture_output=True,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "loaded []" in done.stdout
