# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeping and undoing as the desk wires them: the dock asks, the layers are kept, the dock says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_case import fill, settle, wait_until
from qgis.core import Qgis, QgsProject
from qgis.gui import QgsMessageBar
from qgis.PyQt.QtWidgets import QMainWindow

from geo_olm.plugin import desk as desk_module
from geo_olm.plugin.desk import Desk
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.file import loads
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.value import Layer
from geo_olm.ui.chat_dock import ChatDock

pytestmark = pytest.mark.usefixtures("qgis_processing")


class Window:
    """What the desk asks of QGIS's window here."""

    def __init__(self) -> None:
        self.window = QMainWindow()
        self.bar = QgsMessageBar()

    def mainWindow(self) -> QMainWindow:
        return self.window

    def messageBar(self) -> QgsMessageBar:
        return self.bar


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr(Desk, "look_for_model", lambda self: None)
    project = fill(QgsProject.instance())
    made = Desk(Window(), ChatDock(), Settings())
    made.session._toolbox.begin_turn("Which are big?")
    made.session._toolbox.run(
        "filter",
        {"layer": "towns", "where": '"pop" > 9'},
        lambda percent: None,
        lambda: False,
    )
    yield made
    made.close()
    made._dock.deleteLater()
    settle()
    project.clear()


def result() -> Any:
    (node,) = QgsProject.instance().layerTreeRoot().findGroup("Geo-OLM results").findLayers()
    return node.layer()


def test_layers_are_kept_where_the_user_says_b38(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, told = tmp_path / "results.gpkg", []
    monkeypatch.setattr(desk_module, "ask_target", lambda parent, folder: target)
    monkeypatch.setattr(desk._dock, "mark_kept", lambda ids, path: told.append((ids, path)))
    desk._dock.keep_requested.emit((result().id(),))
    wait_until(lambda: bool(told))
    assert told == [((result().id(),), str(target))]
    assert result().source() == f"{target}|layername={result().name()}"
    assert not desk._iface.bar.items()


def test_nothing_is_kept_when_the_user_chooses_no_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_module, "ask_target", lambda parent, folder: None)
    desk._dock.keep_requested.emit((result().id(),))
    settle()
    assert result().providerType() == "memory"


def test_what_hinders_keeping_is_said_and_nothing_is_lost(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, said = tmp_path / "notes.gpkg", []
    target.write_text("my notes")
    monkeypatch.setattr(desk_module, "ask_target", lambda parent, folder: target)
    monkeypatch.setattr(desk, "tell", lambda text, level: said.append((text, level)))
    desk._dock.keep_requested.emit((result().id(),))
    wait_until(lambda: bool(said))
    ((text, level),) = said
    assert text == "notes.gpkg is there and is no GeoPackage. Choose another name."
    assert level == Qgis.MessageLevel.Warning
    assert target.read_text() == "my notes"
    assert result().featureCount() == 2


def test_the_workflow_of_an_answer_is_saved_where_the_user_says(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph("How many?", (Vertex("v1", "table", "", "count", {"layer": Layer("towns")}),))
    target = tmp_path / "how_many.geoflow.json"
    asked: list[str] = []

    def answer(parent: object, folder: str, title: str) -> tuple[Path, bool]:
        asked.append(title)
        return target, False

    monkeypatch.setattr(desk_module, "ask_workflow", answer)
    desk._dock.workflow_keep_requested.emit(graph)
    assert asked == ["How many?"]
    assert loads(target.read_bytes()).graph == graph
    target.write_text("mine", encoding="utf-8")
    desk._dock.workflow_keep_requested.emit(graph)
    assert target.read_text(encoding="utf-8") == "mine"
    levels = {one.level() for one in desk._iface.bar.items()}
    assert levels == {Qgis.MessageLevel.Success, Qgis.MessageLevel.Warning}
