# SPDX-License-Identifier: GPL-2.0-or-later
"""The graph editor over a real project: checks, runs with kept results, files, and coming back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import processing
import pytest
from chat_case import fill, settings_for, settle, wait_until
from fake_openai import FakeOpenAI, said
from qgis.core import QgsApplication, QgsProject
from qgis.gui import QgsMapCanvas, QgsMessageBar
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QMainWindow, QMessageBox, QPushButton
from toolbox_case import layer

from geo_olm.plugin import file_desk as module
from geo_olm.plugin.desk import Desk
from geo_olm.plugin.graph_desk import AUTOSAVE, GraphDesk
from geo_olm.plugin.link import process_link
from geo_olm.plugin.place import store_folder
from geo_olm.plugin.provider import GeoOlmProvider
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.file import dumps, loads
from geo_olm.plugin.workflow.finding import Severity
from geo_olm.plugin.workflow.graph import Answer, Graph, Kind, Status, Vertex
from geo_olm.plugin.workflow.start import Way
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.graph.editing import with_parameter
from geo_olm.ui.graph.graph_dock import GraphDock

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

BIG = Vertex("v1", "vector", "", "filter", {"layer": Layer("towns"), "where": '"pop" > 9'})
COUNT = Vertex("v2", "table", "", "count", {"layer": Output("v1")})
GRAPH = Graph("How many big towns?", (BIG, COUNT), answer=Answer(value=Output("v2", "count")))


class Window:
    """What the desks need of QGIS's window."""

    def __init__(self) -> None:
        self.window, self.bar = QMainWindow(), QgsMessageBar()
        self.canvas, self.active = QgsMapCanvas(), None

    def mainWindow(self) -> QMainWindow:
        return self.window

    def messageBar(self) -> QgsMessageBar:
        return self.bar

    def mapCanvas(self) -> QgsMapCanvas:
        return self.canvas

    def setActiveLayer(self, layer: Any) -> None:
        self.active = layer


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


@pytest.fixture
def provider() -> Iterator[GeoOlmProvider]:
    made = GeoOlmProvider()
    QgsApplication.processingRegistry().addProvider(made)
    yield made
    QgsApplication.processingRegistry().removeProvider(made)


def document(desk: GraphDesk) -> Any:
    return desk._dock.document


def ran(desk: GraphDesk, way: str = "run") -> None:
    desk._dock.run_requested.emit(way)
    wait_until(lambda: document(desk).running)
    wait_until(lambda: not document(desk).running and not desk._desk.session.busy)
    settle()


def statuses(desk: GraphDesk) -> dict[str, Status]:
    return {key: document(desk).state(key).status for key in document(desk).graph.ids()}


def test_a_workflow_runs_and_only_what_changed_runs_again(desk: GraphDesk) -> None:
    assert desk.show_graph(GRAPH)
    ran(desk)
    assert statuses(desk) == {"v1": Status.COMPLETED, "v2": Status.COMPLETED}
    assert document(desk).state("v1").features == 2
    assert desk._dock.status.text() == "2."
    ran(desk)
    assert statuses(desk) == {"v1": Status.CACHED, "v2": Status.CACHED}
    document(desk).edit("x", lambda graph: with_parameter(graph, "v2", "where", '"pop" > 15'))
    ran(desk)
    assert statuses(desk) == {"v1": Status.CACHED, "v2": Status.COMPLETED}
    assert desk._dock.status.text() == "1."


def test_a_step_that_fails_is_mended_and_the_rest_is_kept(desk: GraphDesk) -> None:
    desk.show_graph(GRAPH)
    document(desk).edit("x", lambda graph: with_parameter(graph, "v2", "where", '"people" > 15'))
    ran(desk)
    assert statuses(desk) == {"v1": Status.COMPLETED, "v2": Status.FAILED}
    assert "people" in document(desk).state("v2").text
    document(desk).undo_stack.undo()
    ran(desk)
    assert statuses(desk) == {"v1": Status.CACHED, "v2": Status.COMPLETED}


def test_a_rehearsal_shows_what_fails_without_touching_the_project(desk: GraphDesk) -> None:
    desk.show_graph(GRAPH)
    before = set(QgsProject.instance().mapLayers())
    desk._dock.run_requested.emit("rehearse")
    wait_until(lambda: "every step worked" in desk._dock.status.text())
    document(desk).edit("x", lambda graph: with_parameter(graph, "v2", "where", '"people" > 15'))
    desk._dock.run_requested.emit("rehearse")
    wait_until(lambda: any(one.code == "rehearsal" for one in document(desk).findings))
    assert [one.vertex for one in document(desk).findings if one.code == "rehearsal"] == ["v2"]
    assert set(QgsProject.instance().mapLayers()) == before
    assert statuses(desk) == {"v1": Status.PENDING, "v2": Status.PENDING}


def test_run_to_here_leaves_the_rest(desk: GraphDesk) -> None:
    desk.show_graph(GRAPH)
    document(desk).select(("v1",))
    ran(desk, "to")
    assert statuses(desk) == {"v1": Status.COMPLETED, "v2": Status.PENDING}


def test_checks_come_soon_after_an_edit_and_when_a_layer_goes(desk: GraphDesk) -> None:
    desk.show_graph(GRAPH)
    document(desk).edit("x", lambda graph: with_parameter(graph, "v1", "layer", Layer("roads")))
    wait_until(lambda: document(desk).has_errors)
    found = [one for one in document(desk).findings if one.severity is Severity.ERROR]
    assert [one.vertex for one in found] == ["v1"]
    assert "roads" in found[0].message
    document(desk).undo_stack.undo()
    wait_until(lambda: not document(desk).has_errors)
    QgsProject.instance().removeMapLayer(QgsProject.instance().mapLayersByName("towns")[0])
    wait_until(lambda: document(desk).has_errors)


def test_a_review_stop_waits_for_the_user(desk: GraphDesk) -> None:
    stop = Vertex("v3", objective="Look", parameters={"layer": Output("v1")}, kind=Kind.REVIEW)
    count = Vertex("v2", "table", "", "count", {"layer": Output("v1")}, after=("v3",))
    desk.show_graph(Graph("How many?", (BIG, stop, count)))
    desk._dock.run_requested.emit("run")
    wait_until(lambda: document(desk).state("v3").status is Status.WAITING)
    wait_until(lambda: not desk._dock.ask.isHidden())
    desk._dock.ask.go.click()
    wait_until(lambda: not document(desk).running and not desk._desk.session.busy)
    assert statuses(desk)["v2"] is Status.COMPLETED


def test_a_failed_step_is_tried_again_without_asking_what_was_answered(desk: GraphDesk) -> None:
    asked = Vertex("v0", objective="Which?", parameters={"default": "big"}, kind=Kind.QUESTION)
    count = Vertex(
        "v2", "table", "", "count", {"layer": Output("v1"), "where": '"x" > 1'}, after=("v0",)
    )
    desk.show_graph(Graph("How many?", (asked, BIG, count)))
    dock = desk._dock
    dock.runs.ask(Way.RUN)
    wait_until(lambda: not dock.ask.isHidden() and not desk._desk.ask_bar.isHidden())
    assert dock.runs.ask(Way.RETRY) == "A run goes on. Stop it, or wait until it has ended."
    desk._desk.ask_bar.go.click()
    assert dock.ask.isHidden()
    wait_until(lambda: not document(desk).running and not desk._desk.session.busy)
    assert statuses(desk)["v2"] is Status.FAILED
    document(desk).edit("x", lambda graph: with_parameter(graph, "v2", "where", '"pop" > 15'))
    settle()
    ran(desk, "retry")
    expected = {"v0": Status.CACHED, "v1": Status.CACHED, "v2": Status.COMPLETED}
    assert statuses(desk) == expected
    assert document(desk).state("v0").text == "big"
    document(desk).select(("v2",))
    ran(desk, "step")
    assert statuses(desk) == expected
    assert dock.runs.ask(Way.RETRY) == "No step has failed."


def test_all_runs_again_and_cleared_results_are_made_anew(desk: GraphDesk) -> None:
    desk.show_graph(GRAPH)
    ran(desk)
    ran(desk, "again")
    assert statuses(desk) == {"v1": Status.COMPLETED, "v2": Status.COMPLETED}
    ran(desk)
    assert statuses(desk) == {"v1": Status.CACHED, "v2": Status.CACHED}
    desk._dock.runs.ask(Way.CLEAR)
    assert statuses(desk) == {"v1": Status.PENDING, "v2": Status.PENDING}
    assert desk._dock.runs.ask(Way.CLEAR) == "There are no results yet."
    ran(desk)
    assert statuses(desk) == {"v1": Status.COMPLETED, "v2": Status.COMPLETED}


def test_a_review_stop_shows_the_layer_and_change_leads_to_what_made_it(desk: GraphDesk) -> None:
    stop = Vertex("v3", objective="Look", parameters={"layer": Output("v1")}, kind=Kind.REVIEW)
    count = Vertex("v2", "table", "", "count", {"layer": Output("v1")}, after=("v3",))
    desk.show_graph(Graph("How many?", (BIG, stop, count)))
    desk._dock.run_requested.emit("run")
    wait_until(lambda: not desk._dock.ask.isHidden())
    shown = desk._iface.active
    assert shown is not None
    assert shown.featureCount() == 2
    assert desk._iface.canvas.extent().contains(shown.extent())
    said = desk._dock.ask.text.text()
    assert said.startswith("Look ")
    assert f"{shown.name()} is on the map now, as a temporary layer." in said
    desk._dock.ask.change.click()
    wait_until(lambda: not document(desk).running and not desk._desk.session.busy)
    assert document(desk).selection == {"v1"}
    assert statuses(desk)["v1"] is Status.COMPLETED
    assert statuses(desk)["v2"] is Status.PENDING


def test_two_questions_at_the_same_time_get_their_own_answers(desk: GraphDesk) -> None:
    first, second = (
        Vertex(key, objective=text, parameters={}, kind=Kind.QUESTION)
        for key, text in (("v1", "How far?"), ("v2", "How many?"))
    )
    desk.show_graph(Graph("Which?", (first, second)))
    desk._dock.run_requested.emit("run")
    ask = desk._dock.ask
    given = {}
    for answer in ("12", "34"):
        wait_until(lambda: not ask.isHidden() and ask.text.text() not in given)
        given[ask.text.text()] = answer
        ask.answer.setCurrentText(answer)
        ask.go.click()
    wait_until(lambda: not document(desk).running and not desk._desk.session.busy)
    made = {key: document(desk).state(key).text for key in ("v1", "v2")}
    assert made == {"v1": given["How far?"], "v2": given["How many?"]}


def test_a_project_that_is_closed_in_mid_run_stops_it_and_keeps_the_workflow(
    desk: GraphDesk,
) -> None:
    stop = Vertex("v3", objective="Look", parameters={"layer": Output("v1")}, kind=Kind.REVIEW)
    graph = Graph("How many?", (BIG, stop))
    desk.show_graph(graph)
    desk._dock.run_requested.emit("run")
    wait_until(lambda: not desk._dock.ask.isHidden())
    QgsProject.instance().clear()
    wait_until(lambda: not document(desk).running and not desk._desk.session.busy)
    assert document(desk).graph == graph
    assert "The project was closed, so the run was stopped." in desk._dock.status.text()
    assert desk._dock.ask.isHidden()
    assert desk._desk.ask_bar.isHidden()


def test_a_run_can_be_stopped_while_it_waits(desk: GraphDesk) -> None:
    asked = Vertex("v1", objective="Which?", parameters={}, kind=Kind.QUESTION)
    desk.show_graph(Graph("Which?", (asked,)))
    desk._dock.run_requested.emit("run")
    wait_until(lambda: document(desk).state("v1").status is Status.WAITING)
    desk._dock.stop_requested.emit()
    wait_until(lambda: not desk._desk.session.busy)
    settle()
    assert statuses(desk) == {"v1": Status.PENDING}


def test_a_workflow_is_saved_and_opened_again(
    desk: GraphDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.show_graph(GRAPH)
    document(desk).edit("x", lambda graph: with_parameter(graph, "v1", "where", '"pop" > 1'))
    target = tmp_path / "big.geoflow.json"
    monkeypatch.setattr(module.QFileDialog, "getSaveFileName", lambda *_, **__: (str(target), ""))
    desk._dock.save_requested.emit()
    assert not document(desk).is_modified
    assert loads(target.read_bytes()).graph == document(desk).graph
    kept = document(desk).graph
    desk.show_graph(Graph())
    desk.open_file(target)
    assert document(desk).graph == kept
    target.write_text("{broken", encoding="utf-8")
    desk.open_file(target)
    assert document(desk).graph == kept
    assert desk._iface.bar.items()


def test_unsaved_changes_are_asked_for_and_come_back_after_a_crash(
    desk: GraphDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.show_graph(GRAPH)
    document(desk).edit("x", lambda graph: with_parameter(graph, "v1", "where", '"pop" > 1'))
    edited = document(desk).graph
    buttons = QMessageBox.StandardButton
    monkeypatch.setattr(QMessageBox, "question", lambda *_, **__: buttons.Cancel)
    assert not desk.show_graph(Graph())
    assert document(desk).graph == edited
    wait_until(lambda: (store_folder() / AUTOSAVE).is_file())
    other = GraphDesk(desk._iface, GraphDock(), desk._desk)
    assert document(other).graph == edited
    assert document(other).is_modified
    other.close()
    other._dock.deleteLater()
    monkeypatch.setattr(QMessageBox, "question", lambda *_, **__: buttons.Discard)
    assert desk.show_graph(Graph())


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize("kind", ["model", "script", "team", "picture"])
def test_a_workflow_leaves_in_every_form(
    desk: GraphDesk, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.show_graph(GRAPH)
    settle()
    endings = {"model": ".model3", "script": ".py", "team": ".json", "picture": ".svg"}
    target = tmp_path / f"out{endings[kind]}"
    monkeypatch.setattr(module.QFileDialog, "getSaveFileName", lambda *_, **__: (str(target), ""))
    desk._dock.export_requested.emit(kind)
    assert target.stat().st_size > 200
    assert desk._iface.bar.items()
    if kind == "model":
        desk.open_file(target)
        assert [one.tool for one in document(desk).graph.vertices] == ["filter", "count"]


def test_a_change_in_words_is_proposed_and_accepted(
    desk: GraphDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    process_link.cache_clear()
    edit = {"change": "edit", "step": "v1", "arguments": {"where": '"pop" > 15'}}
    with FakeOpenAI(said(json.dumps({"changes": [edit]}))) as server:
        desk._desk.session.use(settings_for(server))
        desk.show_graph(GRAPH)
        desk._dock.wish.setText("only those with more than 15 people")
        desk._dock.wish.returnPressed.emit()
        wait_until(lambda: document(desk).proposal is not None)
    assert document(desk).graph == GRAPH
    document(desk).decide(True)
    assert document(desk).graph.vertex("v1").parameters["where"] == '"pop" > 15'
    assert document(desk).graph.vertex("v2") == COUNT
    process_link.cache_clear()


def test_edits_on_the_canvas_are_told_to_the_model_on_the_next_turn(
    desk: GraphDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    process_link.cache_clear()
    edit = {"change": "edit", "step": "v1", "arguments": {"where": '"pop" > 15'}}
    with FakeOpenAI(said(json.dumps({"changes": [edit]}))) as server:
        desk._desk.session.use(settings_for(server))
        desk.show_graph(GRAPH)
        document(desk).edit("x", lambda graph: with_parameter(graph, "v1", "where", '"pop" > 12'))
        desk._dock.wish.setText("only those with more than 15 people")
        desk._dock.wish.returnPressed.emit()
        wait_until(lambda: document(desk).proposal is not None)
        read = server.requests[0]["messages"][-1]["content"]
    assert 'The user changed: filter (v1): where "pop" > 9 → "pop" > 12' in read
    assert "Request: only those with more than 15 people" in read
    process_link.cache_clear()


# -- bad input


def test_a_file_of_a_newer_version_is_opened_without_its_place(
    desk: GraphDesk, tmp_path: Path
) -> None:
    target = tmp_path / "new.geoflow.json"
    form = json.loads(dumps(GRAPH))
    target.write_text(json.dumps({**form, "version": "9.0"}), encoding="utf-8")
    desk.open_file(target)
    assert document(desk).graph.ids() == ("v1", "v2")
    assert document(desk).path is None  # saving asks for another file
    told = desk._iface.bar.items()
    assert any("9.0" in one.text() for one in told)


def test_a_tool_that_is_not_here_and_a_layer_that_is_gone_are_problems(desk: GraphDesk) -> None:
    wrong = Vertex("v1", "vector", "", "straighten", {"layer": Layer("rivers")})
    desk.show_graph(Graph("Which?", (wrong, COUNT)))
    wait_until(lambda: document(desk).has_errors)
    said = " ".join(one.message for one in document(desk).findings)
    assert "straighten" in said
    assert document(desk).graph.vertex("v1") == wrong
    assert desk._dock.runs.ask(Way.RUN) == "Mend the errors in Problems first."
    document(desk).edit("x", lambda graph: graph.with_vertex(replace(wrong, tool="filter")))
    wait_until(lambda: any("rivers" in one.message for one in document(desk).findings))


KILLED = """
import os, signal, sys
sys.path[:0] = sys.argv[1:3]
from qgis.core import QgsApplication
app = QgsApplication([], True)
app.initQgis()
from qgis.gui import QgsMessageBar
from qgis.PyQt.QtWidgets import QMainWindow
from geo_olm.plugin.desk import Desk
Desk.look_for_model = lambda self: None
from geo_olm.plugin.graph_desk import GraphDesk
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.value import Layer
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.graph.graph_dock import GraphDock
class Window(QMainWindow):
    def mainWindow(self): return self
    def messageBar(self): return QgsMessageBar()
desk = GraphDesk(Window(), GraphDock(), Desk(Window(), ChatDock(), Settings()))
step = Vertex("v1", "vector", "", "filter", {"layer": Layer("towns"), "where": "pop > 1"})
desk._dock.document.edit("Add", lambda graph: Graph("Which?", (step,)))
while not os.path.exists(os.path.join(os.environ["GEO_OLM_STORE"], sys.argv[3])):
    app.processEvents()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_canvas_comes_back_after_qgis_was_killed(desk: GraphDesk, tmp_path: Path) -> None:
    (tmp_path / "geo_olm").symlink_to(Path(__file__).resolve().parents[2])
    plugins = str(Path(processing.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), plugins, AUTOSAVE],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    other = GraphDesk(desk._iface, GraphDock(), desk._desk)
    assert document(other).graph.vertex("v1").parameters["where"] == "pop > 1"
    assert document(other).is_modified
    assert "brought back" in other._dock.status.text()
    other.close()
    other._dock.deleteLater()


def test_a_change_that_no_model_can_make_is_said(
    desk: GraphDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    process_link.cache_clear()
    desk._desk.session.use(Settings(server="openai", address="http://127.0.0.1:9", connect_s=0.5))
    desk.show_graph(GRAPH)
    desk._dock.change_requested.emit("use 2 km")
    wait_until(lambda: "127.0.0.1:9" in desk._dock.status.text())
    assert desk._dock.wish.isEnabled()
    assert document(desk).proposal is None
    process_link.cache_clear()


def test_a_length_in_degrees_is_found_while_editing_and_mended_by_a_click(desk: GraphDesk) -> None:
    far = layer("far", "Point", "id:integer", [("POINT(9 50)", 1)], "EPSG:4326")
    QgsProject.instance().addMapLayer(far)
    wait_until(lambda: any(one.key == "far" for one in document(desk).layers))
    given = {"algorithm": "native:buffer", "parameters": {"INPUT": Layer("far"), "DISTANCE": 50}}
    step = Vertex("v1", "vector", "Draw it. Return the zones.", "run_algorithm", given)
    document(desk).load(Graph("Where?", (step,)))
    desk._dock.resize(1500, 900)
    desk._dock.show()
    wait_until(lambda: any(one.code == "degrees" for one in document(desk).findings))
    assert desk._dock.tabs.tabText(0) == "Problems (1)"
    tree = desk._dock.problems.tree
    place = tree.visualItemRect(tree.topLevelItem(0)).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    settle()
    assert document(desk).selection == {"v1"}
    inspector = desk._dock.inspector
    field = inspector.field("DISTANCE").widget
    assert field.isAncestorOf(desk._dock.window_part.focusWidget())
    (mend,) = inspector.findChildren(QPushButton, "GeoOlmMend")
    assert mend.text() == "Reproject to EPSG:32632 first"
    QTest.mouseClick(mend, Qt.MouseButton.LeftButton)
    wait_until(lambda: not document(desk).findings)
    inner = document(desk).graph.vertex("v1").parameters["parameters"]
    assert document(desk).graph.vertex(inner["INPUT"].vertex).tool == "reproject"
    assert document(desk).undo_stack.undoText() == "Mend: Reproject to EPSG:32632 first"
    ran(desk)
    assert set(statuses(desk).values()) == {Status.COMPLETED}
