# SPDX-License-Identifier: GPL-2.0-or-later
"""The graph editor as hands drive it: add, connect, edit, undo, mend, and what a run shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qgis.PyQt.QtCore import QEvent, QPoint, QPointF, Qt
from qgis.PyQt.QtGui import QGuiApplication, QKeyEvent, QMouseEvent, QPalette
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QApplication

from geo_olm.plugin.workflow.change import Change
from geo_olm.plugin.workflow.event import (
    GraphStarted,
    QuestionAsked,
    ReviewReached,
    StepChanged,
    StepProgress,
)
from geo_olm.plugin.workflow.finding import Finding, Mend, Severity
from geo_olm.plugin.workflow.graph import Answer, Graph, Status, Vertex
from geo_olm.plugin.workflow.role import Role, Roles
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.base import Family, LayerProfile, LayerReference, ToolDefinition, ToolResult
from geo_olm.ui.graph.document import Mark
from geo_olm.ui.graph.graph_dock import GraphDock
from geo_olm.ui.graph.link_item import LinkKey
from geo_olm.ui.graph.picture import save_picture
from geo_olm.ui.state_shape import Shape

LAYER = {"type": "string", "x-layer": "any"}
NUMBER = {"type": "number"}


def tool(name: str, label: str, **properties: Any) -> ToolDefinition:
    schema = {"type": "object", "properties": properties, "required": ["layer"]}
    return ToolDefinition(name, f"{label} something.", schema, label)


TOOLS = (
    tool("filter", "Filter", layer=LAYER, where={"type": "string"}),
    tool("buffer", "Buffer", layer=LAYER, distance=NUMBER, dissolve={"type": "boolean"}),
    tool("overlay", "Overlay", layer=LAYER, other=LAYER, operation={"enum": ["clip", "union"]}),
    tool("count", "Count", layer=LAYER),
)
ROLES = Roles(
    [
        Role("vector", "Vector", "makes layers", ("filter", "buffer", "overlay")),
        Role("table", "Table", "gives numbers", ("count",)),
    ]
)
TOWNS = LayerProfile("towns", "L1", Family.POINT, "point", "EPSG:25832", features=40)
PARK = LayerProfile("park", "L2", Family.POLYGON, "polygon", "EPSG:25832", features=3)
GRAPH = Graph(
    "How many towns are near the park?",
    (
        Vertex("v1", "vector", "Draw 500 m around the park", "buffer",
               {"layer": Layer("park"), "distance": 500}),
        Vertex("v2", "vector", "Keep the towns within", "overlay",
               {"layer": Layer("towns"), "other": Output("v1")}),
        Vertex("v3", "table", "Count them", "count", {"layer": Output("v2")}),
    ),
    answer=Answer(value=Output("v3", "count")),
)  # fmt: skip


@pytest.fixture
def graph_dock() -> Iterator[GraphDock]:
    made = GraphDock()
    made.document.know(TOOLS, (TOWNS, PARK), ROLES)
    made.document.load(GRAPH)
    made.resize(1500, 900)
    made.show()
    QTest.qWaitForWindowExposed(made)
    QApplication.processEvents()
    made.view.set_zoom(1.0)
    yield made
    made.close()
    made.deleteLater()
    QApplication.processEvents()


def settle() -> None:
    QApplication.processEvents()


def spot(dock: GraphDock, place: QPointF) -> QPoint:
    """Bring a place in the scene into view; returns it in the viewport."""
    dock.view.ensureVisible(place.x() - 1, place.y() - 1, 2, 2, 80, 80)
    settle()
    return dock.view.mapFromScene(place)


def mouse(dock: GraphDock, kind: QEvent.Type, at: QPoint, held: bool) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    button = none if kind == QEvent.Type.MouseMove else left
    port = dock.view.viewport()
    place = QPointF(at)
    event = QMouseEvent(
        kind, place, QPointF(port.mapToGlobal(at)), button, left if held else none,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(port, event)


def drag(dock: GraphDock, start: QPointF, end: QPointF) -> None:
    """Press, move with the button held and release, as a hand does."""
    first = spot(dock, start)
    mouse(dock, QEvent.Type.MouseButtonPress, first, True)
    last = dock.view.mapFromScene(end)
    for share in (0.3, 0.7, 1.0):
        mouse(dock, QEvent.Type.MouseMove, first + (last - first) * share, True)
    mouse(dock, QEvent.Type.MouseButtonRelease, last, False)
    settle()


def press(dock: GraphDock, key: Qt.Key, modifier: Any = Qt.KeyboardModifier.NoModifier) -> None:
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(dock.view, QKeyEvent(kind, key, modifier))
    settle()


def joins(dock: GraphDock) -> set[tuple[Any, str, str]]:
    return {(key.source, key.target, key.port) for key in dock.view.graph_scene.links}


def port(dock: GraphDock, key: str, name: str) -> QPointF:
    return dict(dock.view.graph_scene.nodes[key].inputs())[name]


def child(dock: GraphDock, name: str) -> Any:
    found = dock.findChild(object, name)
    assert found is not None, name
    return found


# -- what is shown


def test_every_step_layer_and_link_is_on_the_canvas(graph_dock: GraphDock) -> None:
    scene = graph_dock.view.graph_scene
    assert set(scene.nodes) == {"v1", "v2", "v3"}
    assert set(scene.pills) == {"park", "towns"}
    assert joins(graph_dock) == {
        (Layer("park"), "v1", "layer"),
        (Layer("towns"), "v2", "layer"),
        (Output("v1"), "v2", "other"),
        (Output("v2"), "v3", "layer"),
    }
    said = scene.nodes["v1"].card
    assert (said.title, said.subtitle) == ("Buffer", "Vector · Buffer")
    assert [(one.label, one.text) for one in said.rows] == [("Layer", "park"), ("Distance", "500")]
    boxes = [one.sceneBoundingRect() for one in scene.nodes.values()]
    assert not any(a.intersects(b) for a in boxes for b in boxes if a is not b)


def test_an_empty_canvas_says_what_to_do(graph_dock: GraphDock) -> None:
    graph_dock.document.load(Graph())
    settle()
    assert graph_dock.view.graph_scene.nodes == {}
    assert child(graph_dock, "GeoOlmGraphStatus").text() == "No steps yet."
    assert not graph_dock.actions_by_name["Run"].isEnabled()


# -- editing by hand


def test_a_link_is_drawn_from_a_port_to_a_row_and_undone_by_its_name(
    graph_dock: GraphDock,
) -> None:
    scene = graph_dock.view.graph_scene
    drag(graph_dock, scene.nodes["v1"].output(), port(graph_dock, "v3", "layer"))
    assert graph_dock.document.graph.vertex("v3").parameters == {"layer": Output("v1")}
    stack = graph_dock.document.undo_stack
    assert stack.undoText() == "Connect Buffer to Count: layer"
    press(graph_dock, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert graph_dock.document.graph == GRAPH
    stack.redo()
    settle()
    assert (Output("v1"), "v3", "layer") in joins(graph_dock)


def test_a_ring_is_refused_while_it_is_drawn(graph_dock: GraphDock) -> None:
    scene = graph_dock.view.graph_scene
    drag(graph_dock, scene.nodes["v3"].output(), port(graph_dock, "v1", "layer"))
    assert graph_dock.document.graph == GRAPH
    assert not graph_dock.document.undo_stack.canUndo()


def test_a_link_that_is_taken_off_and_dropped_on_nothing_is_gone(graph_dock: GraphDock) -> None:
    end = port(graph_dock, "v3", "layer")
    drag(graph_dock, end, end + QPointF(-60, 320))
    assert graph_dock.document.graph.vertex("v3").parameters == {}
    assert graph_dock.document.undo_stack.undoText() == "Disconnect Overlay from Count"


def test_a_step_that_is_dragged_keeps_its_place_and_links_follow(graph_dock: GraphDock) -> None:
    node = graph_dock.view.graph_scene.nodes["v2"]
    before, start = node.pos(), node.mapToScene(QPointF(60, 10))
    drag(graph_dock, start, start + QPointF(40, 80))
    moved = graph_dock.document.graph.vertex("v2").position
    assert moved is not None
    assert graph_dock.view.graph_scene.nodes["v2"].pos() != before
    assert graph_dock.document.undo_stack.undoText() == "Move Overlay"
    press(graph_dock, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert all(one.position is None for one in graph_dock.document.graph.vertices)


def test_a_step_is_added_from_the_palette_after_the_selected_one(graph_dock: GraphDock) -> None:
    graph_dock.document.select(("v1",))
    press(graph_dock, Qt.Key.Key_A)
    search = child(graph_dock, "GeoOlmPaletteSearch")
    QTest.keyClicks(search, "filt")
    QTest.keyClick(search, Qt.Key.Key_Return)
    settle()
    added = graph_dock.document.graph.vertex("v4")
    assert (added.tool, added.agent, added.parameters) == (
        "filter", "vector", {"layer": Output("v1")},
    )  # fmt: skip
    assert graph_dock.document.selection == {"v4"}
    assert graph_dock.document.undo_stack.undoText() == "Add Filter"


def test_steps_are_removed_duplicated_copied_and_pasted_by_keys(graph_dock: GraphDock) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    graph_dock.document.select(("v2", "v3"))
    press(graph_dock, Qt.Key.Key_D, control)
    graph = graph_dock.document.graph
    assert graph.vertex("v5").parameters == {"layer": Output("v4")}
    assert graph.vertex("v4").parameters == {"layer": Layer("towns"), "other": Output("v1")}
    press(graph_dock, Qt.Key.Key_C, control)
    copied = json.loads(QGuiApplication.clipboard().text())
    assert [one["id"] for one in copied["vertices"]] == ["v4", "v5"]
    press(graph_dock, Qt.Key.Key_Delete)
    assert graph_dock.document.graph.ids() == ("v1", "v2", "v3")
    press(graph_dock, Qt.Key.Key_V, control)
    assert len(graph_dock.document.graph.ids()) == 5
    QGuiApplication.clipboard().setText("rubbish {")
    press(graph_dock, Qt.Key.Key_V, control)
    assert len(graph_dock.document.graph.ids()) == 5


def test_a_removed_step_takes_what_others_took_of_it_along(graph_dock: GraphDock) -> None:
    graph_dock.document.select(("v3", "v1"))
    press(graph_dock, Qt.Key.Key_Delete)
    assert graph_dock.document.graph.vertex("v2").parameters == {"layer": Layer("towns")}
    assert graph_dock.document.graph.answer.value is None
    assert graph_dock.document.undo_stack.undoText() == "Remove 2 steps"


def test_the_arrow_keys_go_along_links(graph_dock: GraphDock) -> None:
    press(graph_dock, Qt.Key.Key_Right)
    assert graph_dock.document.selection == {"v1"}
    press(graph_dock, Qt.Key.Key_Right)
    press(graph_dock, Qt.Key.Key_Right)
    assert graph_dock.document.selection == {"v3"}
    press(graph_dock, Qt.Key.Key_Left)
    assert graph_dock.document.selection == {"v2"}


def test_the_canvas_keeps_its_keys_from_qgis(graph_dock: GraphDock) -> None:
    for key, taken in ((Qt.Key.Key_F5, True), (Qt.Key.Key_F12, False)):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        QApplication.sendEvent(graph_dock.view, event)
        assert event.isAccepted() == taken


# -- the inspector


def test_parameters_are_edited_with_names_for_undo(graph_dock: GraphDock) -> None:
    graph_dock.document.select(("v1",))
    distance = child(graph_dock, "GeoOlmParameter_distance")
    distance.setText("250")
    QTest.keyClick(distance, Qt.Key.Key_Return)
    settle()
    assert graph_dock.document.graph.vertex("v1").parameters["distance"] == 250
    assert graph_dock.document.undo_stack.undoText() == "Change distance of Buffer"
    wrong = child(graph_dock, "GeoOlmParameter_distance")
    wrong.setText("wide")
    QTest.keyClick(wrong, Qt.Key.Key_Return)
    assert wrong.text() == "250"
    QTest.mouseClick(child(graph_dock, "GeoOlmParameter_dissolve"), Qt.MouseButton.LeftButton)
    settle()
    layer = child(graph_dock, "GeoOlmParameter_layer")
    assert [layer.itemText(at) for at in range(layer.count())] == ["", "towns", "park"]


def test_title_and_objective_are_edited_in_place(graph_dock: GraphDock) -> None:
    graph_dock.document.select(("v1",))
    press(graph_dock, Qt.Key.Key_F2)
    title = child(graph_dock, "GeoOlmStepTitle")
    title.setText("Around the park")
    QTest.keyClick(title, Qt.Key.Key_Return)
    settle()
    assert graph_dock.view.graph_scene.nodes["v1"].card.title == "Around the park"
    assert graph_dock.document.undo_stack.undoText() == "Rename Buffer to Around the park"
    child(graph_dock, "GeoOlmStepObjective").setPlainText("Draw 1 km around it")
    child(graph_dock, "GeoOlmStepObjective").setPlainText("Draw 2 km around it")
    assert graph_dock.document.graph.vertex("v1").objective == "Draw 2 km around it"
    assert graph_dock.document.undo_stack.count() == 2


def test_another_tool_keeps_the_parameters_that_it_has_too(graph_dock: GraphDock) -> None:
    graph_dock.document.select(("v2",))
    tools = child(graph_dock, "GeoOlmStepTool")
    tools.setCurrentIndex(tools.findData("filter"))
    tools.activated.emit(tools.currentIndex())
    settle()
    step = graph_dock.document.graph.vertex("v2")
    assert (step.tool, step.parameters) == ("filter", {"layer": Layer("towns")})
    assert graph_dock.document.undo_stack.undoText() == "Change the tool of Overlay to Filter"


# -- checks and runs


def test_a_problem_shows_its_step_and_is_mended_by_its_button(graph_dock: GraphDock) -> None:
    fixed = Vertex("v1", "vector", "", "buffer", {"layer": Layer("park"), "distance": 50})
    mend = Mend("Use 50 m", Change(edited=(fixed,)))
    finding = Finding("x", Severity.ERROR, "That is too far.", "v1", "distance", (mend,))
    graph_dock.document.set_findings((finding,))
    settle()
    assert graph_dock.tabs.tabText(0) == "Problems (1)"
    assert not graph_dock.actions_by_name["Run"].isEnabled()
    assert graph_dock.view.graph_scene.nodes["v1"].card.check is Shape.ERROR
    graph_dock.problems.step_shown.emit("v1")
    assert graph_dock.document.selection == {"v1"}
    QTest.mouseClick(child(graph_dock, "GeoOlmMend"), Qt.MouseButton.LeftButton)
    assert graph_dock.document.graph.vertex("v1").parameters["distance"] == 50
    assert graph_dock.document.undo_stack.undoText() == "Mend: Use 50 m"


def result(features: int) -> ToolResult:
    layer = LayerReference("x", "Made", "", "Polygon", "EPSG:25832", features)
    return ToolResult("r1: made.", "r1", layers=(layer,))


def test_a_run_is_shown_step_by_step(graph_dock: GraphDock) -> None:
    asked = QSignalSpy(graph_dock.run_requested)
    QTest.mouseClick(child(graph_dock, "GeoOlmRun"), Qt.MouseButton.LeftButton)
    assert [one[0] for one in asked] == ["run"]
    graph_dock.set_running(True)
    for event in (
        GraphStarted(GRAPH, GRAPH.ids()),
        StepChanged("v1", Status.RUNNING),
        StepProgress("v1", 40.0),
    ):
        graph_dock.handle(event)
    nodes = graph_dock.view.graph_scene.nodes
    assert (nodes["v1"].card.shape, nodes["v1"].card.foot) == (Shape.RUNNING, "40 %")
    assert nodes["v2"].card.foot == "Waits for another step"
    graph_dock.handle(StepChanged("v1", Status.COMPLETED, "r1: made.", 0.4, result(3)))
    graph_dock.handle(StepChanged("v2", Status.FAILED, "The layers share no CRS.", 0.2))
    graph_dock.handle(StepChanged("v3", Status.SKIPPED, "v2 failed."))
    assert (nodes["v1"].card.shape, nodes["v1"].card.count) == (Shape.DONE, "3")
    assert nodes["v2"].card.message == "The layers share no CRS."
    link = graph_dock.view.graph_scene.links[LinkKey(Output("v1"), "v2", "other")]
    assert link.label == "3"
    assert "1 of 3 steps done, 1 failed" in child(graph_dock, "GeoOlmGraphStatus").text()
    graph_dock.set_running(False)
    assert graph_dock.log.count() == 4
    assert not graph_dock.document.undo_stack.canUndo()


def test_a_review_stop_and_a_question_wait_in_a_bar(graph_dock: GraphDock) -> None:
    went, said = QSignalSpy(graph_dock.ask.went_on), QSignalSpy(graph_dock.ask.answered)
    graph_dock.set_running(True)
    graph_dock.handle(ReviewReached("v1", "Look at the zones.", ()))
    assert child(graph_dock, "GeoOlmAskBar").isVisible()
    QTest.mouseClick(child(graph_dock, "GeoOlmGoOn"), Qt.MouseButton.LeftButton)
    assert [one[0] for one in went] == [True]
    graph_dock.handle(QuestionAsked("v2", "How far?", ("1 km", "2 km"), "1 km"))
    answer = child(graph_dock, "GeoOlmAskAnswer")
    assert answer.currentText() == "1 km"
    answer.setCurrentText("3 km")
    QTest.mouseClick(child(graph_dock, "GeoOlmGoOn"), Qt.MouseButton.LeftButton)
    assert [one[0] for one in said] == ["3 km"]
    graph_dock.set_running(False)
    assert not child(graph_dock, "GeoOlmAskBar").isVisible()


def test_steps_that_have_begun_cannot_be_edited_while_a_run_goes_on(graph_dock: GraphDock) -> None:
    graph_dock.set_running(True)
    graph_dock.handle(StepChanged("v1", Status.RUNNING))
    graph_dock.document.select(("v1",))
    assert not child(graph_dock, "GeoOlmParameter_distance").isEnabled()
    graph_dock.document.select(("v3",))
    assert child(graph_dock, "GeoOlmParameter_layer").isEnabled()


# -- pictures and palettes


def test_pictures_are_written_as_svg_and_png(graph_dock: GraphDock, tmp_path: Path) -> None:
    scene = graph_dock.view.graph_scene
    save_picture(scene, tmp_path / "a.svg")
    save_picture(scene, tmp_path / "a.png")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OSError, match="cannot be written"):
        save_picture(scene, tmp_path / "none" / "a.png")


def test_the_canvas_takes_a_dark_palette(graph_dock: GraphDock, dark: QPalette) -> None:
    graph_dock.view.setPalette(dark)
    settle()
    picture = graph_dock.view.grab().toImage()
    assert picture.pixelColor(picture.width() - 30, picture.height() - 30).lightness() < 128
    assert set(graph_dock.view.graph_scene.nodes) == {"v1", "v2", "v3"}


def test_a_small_screen_leaves_the_room_to_the_canvas(graph_dock: GraphDock) -> None:
    graph_dock.resize(700, 500)
    settle()
    assert not graph_dock.inspector.isVisible()
    assert not graph_dock.steps.isVisible()
    graph_dock.document.select(("v1",))
    press(graph_dock, Qt.Key.Key_Return)
    assert graph_dock.inspector.isVisible()


def test_five_hundred_steps_can_be_opened(graph_dock: GraphDock) -> None:
    steps = tuple(
        Vertex(f"v{at}", "vector", "Keep some", "filter",
               {"layer": Output(f"v{at // 2}") if at else Layer("towns")})
        for at in range(500)
    )  # fmt: skip
    graph_dock.document.load(Graph("Many", steps))
    settle()
    assert len(graph_dock.view.graph_scene.nodes) == 500
    graph_dock.view.fit()
    assert not graph_dock.view.grab().isNull()


def test_a_rehearsal_is_asked_for_by_its_key(graph_dock: GraphDock) -> None:
    asked = QSignalSpy(graph_dock.run_requested)
    press(graph_dock, Qt.Key.Key_F5, Qt.KeyboardModifier.ControlModifier)
    press(graph_dock, Qt.Key.Key_F5)
    graph_dock.document.select(("v2",))
    press(graph_dock, Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    assert [one[0] for one in asked] == ["rehearse", "run", "to"]


def test_a_proposed_change_is_seen_and_taken_or_let_go(graph_dock: GraphDock) -> None:
    wider = Vertex("v1", "vector", "", "buffer", {"layer": Layer("park"), "distance": 2000})
    merged = Vertex("v4", "vector", "Merge", "filter", {"layer": Output("v2")})
    change = Change(edited=(wider,), inserted=(merged,), removed=("v3",), reason="Use 2 km instead")
    wished = QSignalSpy(graph_dock.change_requested)
    QTest.keyClicks(child(graph_dock, "GeoOlmWish"), "use 2 km instead")
    QTest.keyClick(child(graph_dock, "GeoOlmWish"), Qt.Key.Key_Return)
    assert [one[0] for one in wished] == ["use 2 km instead"]
    graph_dock.document.propose(change)
    settle()
    marks = {key: item.card.mark for key, item in graph_dock.view.graph_scene.nodes.items()}
    assert marks == {"v1": Mark.CHANGED, "v2": None, "v3": Mark.REMOVED, "v4": Mark.ADDED}
    listed = child(graph_dock, "GeoOlmProposalParts")
    told = [listed.item(at).text() for at in range(listed.count())]
    assert any("distance 500 → 2000" in one for one in told)
    assert child(graph_dock, "GeoOlmProposalText").text() == "Use 2 km instead"
    assert not graph_dock.actions_by_name["Run"].isEnabled()
    assert not graph_dock.document.edit("x", lambda graph: Graph())
    QTest.mouseClick(child(graph_dock, "GeoOlmRejectProposal"), Qt.MouseButton.LeftButton)
    settle()
    assert graph_dock.document.graph == GRAPH
    graph_dock.document.propose(change)
    QTest.mouseClick(child(graph_dock, "GeoOlmAcceptProposal"), Qt.MouseButton.LeftButton)
    settle()
    assert graph_dock.document.graph.ids() == ("v1", "v2", "v4")
    assert graph_dock.document.undo_stack.undoText() == "Accept 3 proposed changes"
    assert set(graph_dock.view.graph_scene.nodes) == {"v1", "v2", "v4"}


def test_the_overview_is_there_when_not_all_is_seen_and_moves_the_canvas(
    graph_dock: GraphDock,
) -> None:
    graph_dock.view.fit()
    settle()
    small = child(graph_dock, "GeoOlmMinimap")
    assert not small.isVisible()
    graph_dock.view.set_zoom(2.0)
    graph_dock.view.centerOn(graph_dock.view.graph_scene.nodes["v3"])
    settle()
    assert small.isVisible()
    port = graph_dock.view.viewport()
    assert port.rect().contains(small.geometry().translated(-port.pos()))
    before = graph_dock.view.mapToScene(port.rect().center())
    QTest.mouseClick(small.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(4, 40))
    settle()
    assert graph_dock.view.mapToScene(port.rect().center()).x() < before.x()
