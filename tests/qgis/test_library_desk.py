# SPDX-License-Identifier: GPL-2.0-or-later
"""The library over a real profile, project and folder, and a template run from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_case import fill, settle, wait_until
from qgis.core import QgsProject
from qgis.gui import QgsMessageBar
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QFileDialog, QMainWindow, QMessageBox, QWidget

from geo_olm.plugin.desk import Desk
from geo_olm.plugin.graph_desk import GraphDesk
from geo_olm.plugin.library import Library, ProjectWorkflows, library_folder, read, save
from geo_olm.plugin.recent_file import recent_files
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.file import dumps, loads
from geo_olm.plugin.workflow.graph import Answer, Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.value import Asked, Layer, Output
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.graph.editing import with_parameter
from geo_olm.ui.graph.graph_dock import GraphDock
from geo_olm.ui.graph.library_entry import Entry, Place

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

BIG = Vertex("v1", "vector", "Keep the big towns", "filter",
             {"layer": Layer("towns"), "where": '"pop" > 9'}, title="Big towns")  # fmt: skip
COUNT = Vertex("v2", "table", "Count them", "count", {"layer": Output("v1")}, title="How many")
GRAPH = Graph("How many big towns?", (BIG, COUNT), answer=Answer(value=Output("v2", "count")))
BIGGER = GRAPH.with_vertex(replace(BIG, parameters={**BIG.parameters, "where": '"pop" > 15'}))


class Window:
    """What the desks need of QGIS's window."""

    def __init__(self) -> None:
        self.window, self.bar = QMainWindow(), QgsMessageBar()

    def mainWindow(self) -> QMainWindow:
        return self.window

    def messageBar(self) -> QgsMessageBar:
        return self.bar


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    (tmp_path / "store").mkdir()


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[GraphDesk]:
    monkeypatch.setattr(Desk, "look_for_model", lambda self: None)
    project = fill(QgsProject.instance())
    window = Window()
    chat = Desk(window, ChatDock(), Settings())
    made = GraphDesk(window, GraphDock(), chat)
    wait_until(lambda: bool(made._dock.document.layers))
    yield made
    made.close()
    chat.close()
    for one in (made._dock, chat._dock):
        one.close()
        one.deleteLater()
    settle()
    project.clear()


def opened(desk: GraphDesk) -> Any:
    """Open the library as the button of the toolbar does."""
    desk._dock.actions_by_name["Library"].trigger()
    settle()
    return desk.library.dialog


def entries(desk: GraphDesk, place: Place) -> dict[str, Entry]:
    model = desk.library.dialog.model
    return {one.name: one for one in model._all if one.place is place}


def click(dialog: Any, name: str) -> None:
    QTest.mouseClick(dialog.findChild(QWidget, name), Qt.MouseButton.LeftButton)
    settle()


def keep(desk: GraphDesk, name: str, place: Place = Place.PROFILE) -> Any:
    dialog = opened(desk)
    dialog.name.setText(name)
    dialog.where.setCurrentIndex(dialog.where.findData(place))
    click(dialog, "GeoOlmLibraryKeepButton")
    return dialog


def document(desk: GraphDesk) -> Any:
    return desk._dock.document


def test_the_canvas_is_kept_and_saving_makes_versions(desk: GraphDesk) -> None:
    desk.show_graph(GRAPH)
    document(desk).edit("x", lambda graph: replace(graph, title="Big"))
    dialog = keep(desk, "Big towns")
    assert dialog.said.text() == 'Kept "Big towns" in this profile.'
    assert not document(desk).is_modified
    first = document(desk).graph
    document(desk).edit("x", lambda graph: with_parameter(graph, "v1", "where", '"pop" > 15'))
    desk._dock.save_requested.emit()
    assert read(library_folder() / "Big towns.geoflow.json").graph == document(desk).graph
    assert dialog.entry().versions == 1
    shown = dialog.detail.versions
    assert shown.count() == 1
    assert shown.item(0).text().endswith('Then: Big towns: where "pop" > 9 → "pop" > 15')
    shown.setCurrentRow(0)
    click(dialog, "GeoOlmVersionRestore")
    assert Library(library_folder()).load("Big towns").graph == first
    assert dialog.detail.versions.count() == 2


def test_two_versions_or_one_and_the_canvas_are_compared(desk: GraphDesk) -> None:
    shelf = Library(library_folder())
    for graph in (GRAPH, BIGGER, replace(BIGGER, title="Third")):
        shelf.keep("Towns", graph)
    desk.show_graph(BIGGER)
    dialog = opened(desk)
    dialog.choose(Place.PROFILE, "Towns")
    dialog.detail.versions.setCurrentRow(1)
    click(dialog, "GeoOlmVersionCompare")
    found = document(desk).comparison
    assert (found.before, found.after, found.is_live) == (GRAPH, BIGGER, True)
    desk._dock.comparison.take_all.click()
    assert document(desk).graph == GRAPH
    document(desk).compare(None)
    dialog = opened(desk)
    dialog.choose(Place.PROFILE, "Towns")
    dialog.detail.versions.selectAll()
    click(dialog, "GeoOlmVersionCompare")
    found = document(desk).comparison
    assert (found.before, found.after, found.is_live) == (GRAPH, BIGGER, False)


def test_a_workflow_is_renamed_duplicated_and_deleted_with_undo(desk: GraphDesk) -> None:
    shelf = Library(library_folder())
    shelf.keep("Towns", GRAPH)
    shelf.keep("Towns", BIGGER)
    dialog = opened(desk)
    dialog.choose(Place.PROFILE, "Towns")
    click(dialog, "GeoOlmLibraryDuplicateButton")
    assert shelf.names() == ("Towns", "Towns copy")
    dialog.renamed.emit(dialog.entry(), "Towns")
    assert dialog.said.text() == 'There is a workflow "Towns" already. Choose another name.'
    dialog.renamed.emit(dialog.entry(), "Cities")
    assert shelf.names() == ("Cities", "Towns")
    assert dialog.entry().name == "Cities"
    dialog.choose(Place.PROFILE, "Towns")
    click(dialog, "GeoOlmLibraryDeleteButton")
    assert shelf.names() == ("Cities",)
    assert dialog.said.text() == 'Deleted "Towns".'
    click(dialog, "GeoOlmLibraryUndoButton")
    assert shelf.load("Towns").graph == BIGGER
    assert [read(one.path).graph for one in shelf.versions("Towns")] == [GRAPH]


def test_workflows_of_the_project_are_kept_renamed_and_deleted(desk: GraphDesk) -> None:
    kept = ProjectWorkflows(QgsProject.instance())
    desk.show_graph(GRAPH)
    dialog = keep(desk, "Here", Place.PROJECT)
    assert kept.load("Here").graph == GRAPH
    assert QgsProject.instance().isDirty()
    desk.show_graph(BIGGER)
    dialog = keep(desk, "Here", Place.PROJECT)
    assert dialog.said.text() == 'Kept "Here" in this project, in place of the one before.'
    click(dialog, "GeoOlmLibraryUndoButton")
    assert kept.load("Here").graph == GRAPH
    dialog.renamed.emit(entries(desk, Place.PROJECT)["Here"], "There")
    assert kept.names() == ("There",)
    click(dialog, "GeoOlmLibraryDeleteButton")
    assert kept.names() == ()
    click(dialog, "GeoOlmLibraryUndoButton")
    assert kept.load("There").graph == GRAPH


def test_another_project_brings_its_own_workflows(desk: GraphDesk) -> None:
    desk.show_graph(GRAPH)
    dialog = keep(desk, "Here", Place.PROJECT)
    assert list(entries(desk, Place.PROJECT)) == ["Here"]
    click(dialog, "GeoOlmLibraryDeleteButton")
    assert not dialog.undo.isHidden()
    QgsProject.instance().clear()
    assert entries(desk, Place.PROJECT) == {}
    assert dialog.undo.isHidden()


def test_a_template_is_copied_into_the_profile(desk: GraphDesk) -> None:
    dialog = opened(desk)
    dialog.search.setText("zonal statistics")
    click(dialog, "GeoOlmLibraryDuplicateButton")
    assert Library(library_folder()).names() == ("Zonal statistics copy",)
    assert dialog.entry().place is Place.PROFILE
    dialog.choose(Place.TEMPLATE, entries(desk, Place.TEMPLATE)["Zonal statistics"].key)
    click(dialog, "GeoOlmLibraryDuplicateButton")
    assert Library(library_folder()).names() == ("Zonal statistics copy", "Zonal statistics copy 2")


def test_files_used_last_and_those_beside_the_project_are_listed(
    desk: GraphDesk, tmp_path: Path
) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    save(GRAPH, home / "beside.geoflow.json")
    save(BIGGER, other / "used.geoflow.json")
    QgsProject.instance().setPresetHomePath(str(home))
    desk.open_file(other / "used.geoflow.json")
    assert recent_files() == (other / "used.geoflow.json",)
    dialog = opened(desk)
    assert list(entries(desk, Place.FILE)) == ["used", "beside"]
    dialog.renamed.emit(entries(desk, Place.FILE)["used"], "used: often")
    assert document(desk).path == other / "used%3A often.geoflow.json"
    assert read(document(desk).path).graph == BIGGER
    dialog.choose(Place.FILE, str(home / "beside.geoflow.json"))
    click(dialog, "GeoOlmLibraryDeleteButton")
    assert not (home / "beside.geoflow.json").exists()
    click(dialog, "GeoOlmLibraryUndoButton")
    assert read(home / "beside.geoflow.json").graph == GRAPH
    QgsProject.instance().setPresetHomePath("")


def test_what_cannot_be_read_is_listed_with_its_reason(desk: GraphDesk) -> None:
    folder = library_folder()
    folder.mkdir(parents=True)
    (folder / "broken.geoflow.json").write_text("{broken", encoding="utf-8")
    newer = {**json.loads(dumps(GRAPH)), "version": "2.1"}
    (folder / "newer.geoflow.json").write_text(json.dumps(newer), encoding="utf-8")
    (folder / "empty.geoflow.json").write_bytes(b"")
    QgsProject.instance().writeEntry("geo_olm", "/workflows/w1/name", "odd")
    QgsProject.instance().writeEntry("geo_olm", "/workflows/w1/graph", "[1]")
    dialog = opened(desk)
    found = entries(desk, Place.PROFILE)
    assert list(found) == ["broken", "empty", "newer"]
    assert found["broken"].fault.startswith("broken.geoflow.json is broken in line 1")
    assert found["empty"].fault
    assert found["newer"].remark.startswith("newer.geoflow.json is from a newer version (2.1).")
    assert entries(desk, Place.PROJECT)["odd"].fault == "odd is no workflow: it holds no object."
    before = document(desk).graph
    dialog.choose(Place.PROFILE, "broken")
    QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    assert document(desk).graph == before
    assert dialog.said.text() == found["broken"].fault
    dialog.choose(Place.PROFILE, "newer")
    click(dialog, "GeoOlmLibraryOpenButton")
    assert document(desk).graph == GRAPH
    assert document(desk).path is None
    desk.open_file(folder / "newer.geoflow.json")
    assert document(desk).path is None
    dialog = opened(desk)
    dialog.choose(Place.PROFILE, "broken")
    click(dialog, "GeoOlmLibraryDeleteButton")
    assert "broken" not in entries(desk, Place.PROFILE)


def test_unsaved_changes_are_asked_for_before_another_workflow_opens(
    desk: GraphDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    Library(library_folder()).keep("Towns", BIGGER)
    desk.show_graph(GRAPH)
    document(desk).edit("x", lambda graph: replace(graph, title="Mine"))
    buttons = QMessageBox.StandardButton
    monkeypatch.setattr(QMessageBox, "question", lambda *_, **__: buttons.Cancel)
    dialog = opened(desk)
    dialog.choose(Place.PROFILE, "Towns")
    click(dialog, "GeoOlmLibraryOpenButton")
    assert document(desk).graph.title == "Mine"
    assert dialog.isVisible()
    monkeypatch.setattr(QMessageBox, "question", lambda *_, **__: buttons.Discard)
    click(dialog, "GeoOlmLibraryOpenButton")
    assert document(desk).graph == BIGGER
    assert document(desk).path == library_folder() / "Towns.geoflow.json"
    assert not dialog.isVisible()


def test_a_template_is_opened_bound_and_run(desk: GraphDesk) -> None:
    dialog = opened(desk)
    QTest.keyClicks(dialog.search, "buffer and count")
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    settle()
    dock = desk._dock
    assert document(desk).title == "Buffer and count"
    assert dock.tabs.currentWidget() is dock.variables
    wait_until(lambda: document(desk).has_errors)
    assert not dock.actions_by_name["Run"].isEnabled()
    for name, layer in (("sites", "park"), ("places", "towns")):
        box = dock.variables.rows[name].value.widget
        box.setCurrentIndex(box.findData(layer))
        box.activated.emit(box.currentIndex())
        settle()
    field = dock.variables.rows["distance"].value.widget
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "5")
    QTest.keyClick(field, Qt.Key.Key_Return)
    wait_until(lambda: not document(desk).has_errors)
    dock.actions_by_name["Run"].trigger()
    wait_until(lambda: document(desk).running)
    wait_until(lambda: not document(desk).running and not desk._desk.session.busy)
    assert dock.status.text() == "2 places lie within 5 m of the sites."
    names = [one.default for one in document(desk).graph.variables]
    assert names == ["park", "towns", 5]


def test_a_workflow_with_variables_leaves_in_every_form_of_the_menu(
    desk: GraphDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = Variable("least", Type.NUMBER, "At least", 9)
    conditions = [{"field": "pop", "op": ">", "value": Asked("least")}]
    vertex = replace(BIG, parameters={"layer": Layer("towns"), "conditions": conditions})
    graph = replace(GRAPH.with_vertex(vertex), variables=(far,))
    desk.show_graph(graph)
    settle()
    endings = {"workflow": ".geoflow.json", "paper": ".json", "model": ".model3", "script": ".py",
               "team": ".json", "picture": ".svg", "image": ".png"}  # fmt: skip
    assert set(endings) == set(desk._dock.exchange.exports)
    for kind, ending in endings.items():
        target = tmp_path / f"{kind}{ending}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, to=target: (str(to), ""))
        desk._iface.bar.clearWidgets()
        desk._dock.exchange.exports[kind].trigger()
        assert target.stat().st_size > 200, kind
        assert target.name in desk._iface.bar.currentItem().text()
    assert loads((tmp_path / "workflow.geoflow.json").read_bytes()).graph == graph
    paper = (str(tmp_path / "paper.json"), "")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: paper)
    menu = desk._dock.exchange.menu()
    next(one for one in menu.actions() if one.objectName() == "GeoOlmImport_paper").trigger()
    back = document(desk).graph
    assert [(one.id, one.objective) for one in back.vertices] == [
        ("v1", "Keep the big towns"), ("v2", "Count them"),
    ]  # fmt: skip
    assert back.edges() == (("v1", "v2"),)


def test_a_refusal_to_export_is_told_in_words(
    desk: GraphDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Graph("?", (replace(BIG, parameters={"layer": Output("v2")}), COUNT))
    desk.show_graph(ring)
    target = tmp_path / "out.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(target), ""))
    for kind in ("paper", "model", "script", "team"):
        desk._iface.bar.clearWidgets()
        desk._dock.exchange.exports[kind].trigger()
        text = desk._iface.bar.currentItem().text()
        assert "was not written" in text, kind
    gone = tmp_path / "gone" / "out.svg"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(gone), ""))
    desk._dock.exchange.exports["picture"].trigger()
    assert "out.svg was not written" in desk._iface.bar.currentItem().text()
