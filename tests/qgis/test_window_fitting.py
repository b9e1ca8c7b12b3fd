# SPDX-License-Identifier: GPL-2.0-or-later
"""Asking from QGIS's locator bar and layer tree, the shortcuts' actions and the help."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_case import fill, settle, wait_until
from qgis.core import (
    QgsFeedback,
    QgsLayerTreeModel,
    QgsLocator,
    QgsLocatorContext,
    QgsLocatorResult,
    QgsProject,
)
from qgis.gui import QgsLayerTreeView, QgsMessageBar
from qgis.PyQt.QtCore import QItemSelectionModel, QMimeData, Qt, QUrl
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QAction, QMainWindow, QMenu, QTextBrowser

from geo_olm.plugin.layer_menu import LayerMenu
from geo_olm.plugin.window_fitting import WindowFitting
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.model_view import ModelCondition, ModelView

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")


class Window:
    """QGIS's window with a real locator and a real layer tree."""

    def __init__(self) -> None:
        self.window = QMainWindow()
        self.locator = QgsLocator(self.window)
        self.help = QMenu(self.window)
        self.tree = QgsLayerTreeView(self.window)
        root = QgsProject.instance().layerTreeRoot()
        self.tree.setModel(QgsLayerTreeModel(root, self.window))
        self.window.setCentralWidget(self.tree)
        self.keys: list[Any] = []
        self.bar = QgsMessageBar(self.window)

    def messageBar(self) -> QgsMessageBar:
        return self.bar

    def mainWindow(self) -> QMainWindow:
        return self.window

    def layerTreeView(self) -> QgsLayerTreeView:
        return self.tree

    def activeLayer(self) -> Any:
        return self.tree.currentLayer()

    def pluginHelpMenu(self) -> QMenu:
        return self.help

    def registerLocatorFilter(self, one: Any) -> None:
        self.locator.registerFilter(one)

    def deregisterLocatorFilter(self, one: Any) -> None:
        self.locator.deregisterFilter(one)

    def registerMainWindowAction(self, action: Any, _key: str) -> None:
        self.keys.append(action)

    def unregisterMainWindowAction(self, action: Any) -> None:
        self.keys.remove(action)


@pytest.fixture
def window() -> Iterator[Window]:
    fill(QgsProject.instance())
    made = Window()
    made.window.show()
    yield made
    made.window.close()
    made.window.deleteLater()
    settle()
    QgsProject.instance().clear()


@pytest.fixture
def dock(window: Window) -> ChatDock:
    made = ChatDock(window.window)
    window.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, made)
    made.set_model(ModelView(ModelCondition.READY, "small"))
    return made


@pytest.fixture
def fitting(window: Window, dock: ChatDock) -> Iterator[WindowFitting]:
    made = WindowFitting(window, dock, (QAction("Show", window.window),))
    yield made
    made.close()
    made.deleteLater()


def searched(window: Window, text: str, feedback: QgsFeedback | None = None) -> list[Any]:
    """Type into the locator and return its rows."""
    found: list[Any] = []

    def keep(row: QgsLocatorResult) -> None:
        found.append(QgsLocatorResult(row))  # QGIS lets go of its own

    window.locator.foundResult.connect(keep)
    ended = QSignalSpy(window.locator.finished)
    window.locator.fetchResults(text, QgsLocatorContext(), feedback)
    wait_until(lambda: bool(len(ended)))
    window.locator.foundResult.disconnect(keep)
    return found


def words(rows: list[Any]) -> list[str]:
    return [row.displayString for row in rows]


def test_the_prefix_offers_to_ask_and_to_plan_and_typing_asks_nothing(
    window: Window, dock: ChatDock, fitting: WindowFitting
) -> None:
    asked = QSignalSpy(dock.asked)
    rows = searched(window, "ask how many  towns")
    assert words(rows) == ["Ask: how many towns", "See the plan first: how many towns"]
    assert not len(asked)
    rows[0].filter.triggerResult(rows[0])
    assert [list(one) for one in asked] == [["how many towns"]]
    assert dock.isVisible()
    assert not dock.plans_first


def test_the_plan_is_seen_first_where_that_was_chosen(
    window: Window, dock: ChatDock, fitting: WindowFitting
) -> None:
    row = searched(window, "ask how many towns")[1]
    row.filter.triggerResult(row)
    assert dock.plans_first
    assert dock.transcript.last.question == "how many towns"


def test_questions_asked_before_come_newest_first_and_once(
    window: Window, dock: ChatDock, fitting: WindowFitting
) -> None:
    for text in ("Count towns", "Show parks", "Colour towns", "Count towns"):
        dock.composer.field.remember(text)
    again = [text for text in words(searched(window, "ask towns")) if text.startswith("Ask again")]
    assert again == ["Ask again: Count towns", "Ask again: Colour towns"]
    assert words(searched(window, "ask ")) == [
        "Ask again: Count towns",
        "Ask again: Colour towns",
        "Ask again: Show parks",
    ]


@pytest.mark.parametrize(("text", "rows"), [("towns", 0), ("towns?", 2), ("count all towns", 2)])
def test_without_the_prefix_only_questions_are_offered(
    window: Window, fitting: WindowFitting, text: str, rows: int
) -> None:
    assert len(searched(window, text)) == rows


def test_a_cancelled_search_offers_no_earlier_questions(
    window: Window, dock: ChatDock, fitting: WindowFitting
) -> None:
    dock.composer.field.remember("Count towns")
    feedback, context = QgsFeedback(), QgsLocatorContext()
    context.usingPrefix = True
    (one,) = window.locator.filters()
    found: list[Any] = []
    one.resultFetched.connect(lambda row: found.append(QgsLocatorResult(row)))
    feedback.cancel()
    one.fetchResults("towns", context, feedback)
    assert not [text for text in words(found) if text.startswith("Ask again")]


def test_without_a_model_the_question_waits_in_the_field(
    window: Window, dock: ChatDock, fitting: WindowFitting
) -> None:
    dock.set_model(ModelView(ModelCondition.NONE))
    asked = QSignalSpy(dock.asked)
    row = searched(window, "ask how many towns")[0]
    row.filter.triggerResult(row)
    assert not len(asked)
    assert dock.composer.field.toPlainText() == "how many towns"


def menu_over(window: Window, *names: str) -> QMenu:
    """Select layers in the tree and return its menu as QGIS lets it be extended."""
    project, tree = QgsProject.instance(), window.tree
    tree.selectionModel().clearSelection()
    for name in names:
        (layer,) = project.mapLayersByName(name)
        node = project.layerTreeRoot().findLayer(layer.id())
        index = tree.node2index(node)
        tree.selectionModel().select(index, QItemSelectionModel.SelectionFlag.Select)
    menu = QMenu(window.window)
    tree.contextMenuAboutToShow.emit(menu)
    return menu


def test_a_layer_is_asked_about_from_the_layer_tree(
    window: Window, dock: ChatDock, fitting: WindowFitting
) -> None:
    dock.setUserVisible(False)
    (action,) = [one for one in menu_over(window, "towns").actions() if one.text()]
    assert action.text() == "Ask about this layer"
    action.trigger()
    assert dock.isVisible()
    assert dock.composer.field.toPlainText() == "@towns "


def test_several_layers_are_named_after_what_is_typed(
    window: Window, dock: ChatDock, fitting: WindowFitting
) -> None:
    QTest.keyClicks(dock.composer.field, "Compare")
    (action,) = [one for one in menu_over(window, "towns", "park").actions() if one.text()]
    assert action.text() == "Ask about these 2 layers"
    action.trigger()
    text = dock.composer.field.toPlainText()
    assert text.startswith("Compare @")
    assert set(text.split()) == {"Compare", "@towns", "@park"}


def test_the_menu_without_layers_stays_as_it_is(window: Window, fitting: WindowFitting) -> None:
    assert menu_over(window).actions() == []


def test_a_closed_menu_is_not_extended_any_more(window: Window) -> None:
    LayerMenu(window.tree, lambda layers: None).close()
    assert menu_over(window, "towns").actions() == []


def test_the_active_layer_is_asked_about_by_its_action(
    window: Window, dock: ChatDock, fitting: WindowFitting
) -> None:
    (layer,) = QgsProject.instance().mapLayersByName("park")
    window.tree.setCurrentLayer(layer)
    (action,) = [one for one in window.keys if one.objectName() == "GeoOlmAskAboutActiveLayer"]
    action.trigger()
    assert dock.composer.field.toPlainText() == "@park "


def test_dropped_files_become_layers_that_are_named(
    window: Window, dock: ChatDock, fitting: WindowFitting, tmp_path: Path
) -> None:
    good, bad = tmp_path / "wells one.geojson", tmp_path / "no layer.txt"
    point = '{"type": "Point", "coordinates": [1, 2]}'
    good.write_text(f'{{"type": "Feature", "properties": {{}}, "geometry": {point}}}')
    bad.write_text("no layer")
    data, field = QMimeData(), dock.composer.field
    data.setUrls([QUrl.fromLocalFile(str(good)), QUrl.fromLocalFile(str(bad))])
    assert field.canInsertFromMimeData(data)
    field.insertFromMimeData(data)
    (layer,) = [
        one for one in QgsProject.instance().mapLayers().values() if one.source() == str(good)
    ]
    assert field.toPlainText() == f"@{layer.name()} "
    assert window.bar.items()[0].text() == "QGIS cannot open no layer.txt as a layer."


def test_the_help_menu_opens_the_help_with_its_pictures(
    window: Window, fitting: WindowFitting
) -> None:
    (action,) = window.help.actions()
    action.trigger()
    (page,) = window.window.findChildren(QTextBrowser, "GeoOlmHelpText")
    assert page.isVisible()
    assert "Ask questions of your own map layers" in page.toPlainText()


def test_everything_is_taken_out_again(window: Window, dock: ChatDock) -> None:
    made = WindowFitting(window, dock, ())
    made.close()
    assert (window.locator.filters(), window.keys, window.help.actions()) == ([], [], [])
