# SPDX-License-Identifier: GPL-2.0-or-later
"""Two versions compared on the canvas: marked, told in words, and parts taken back by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QApplication, QWidget

from geo_olm.plugin.workflow.change import Change
from geo_olm.plugin.workflow.graph import Graph, Note, Vertex
from geo_olm.plugin.workflow.role import Roles
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.ui.graph.comparison import Comparison
from geo_olm.ui.graph.document import Mark
from geo_olm.ui.graph.graph_dock import GraphDock

CLIP = Vertex("v1", "vector", tool="overlay", title="Clip", parameters={"layer": Layer("roads")})
NEAR = Vertex("v2", "vector", tool="buffer", title="Near",
              parameters={"layer": Output("v1"), "distance": 500})  # fmt: skip
COUNT = Vertex("v3", "table", tool="count", title="Count", parameters={"layer": Output("v2")})
MERGE = Vertex("v4", "vector", tool="dissolve", title="Merge", parameters={"layer": Output("v2")})
OLD = Graph("How many?", (CLIP, NEAR, COUNT))
NEW = Graph("How many?", (
    replace(NEAR, parameters={"layer": Layer("roads"), "distance": 250}),
    MERGE,
    replace(COUNT, parameters={"layer": Output("v4")}),
))  # fmt: skip


@pytest.fixture
def dock(show: Callable[[QWidget], QWidget]) -> GraphDock:
    made = GraphDock()
    made.document.know((), (), Roles(()))
    made.resize(1300, 700)
    show(made)
    made.document.load(NEW)
    made.document.compare(Comparison(OLD, NEW, "Roads (31 May)", "the canvas", True))
    settle()
    return made


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()


def part(dock: GraphDock, name: str) -> Any:
    found = dock.findChild(QWidget, f"GeoOlm{name}")
    assert found is not None, name
    return found


def click(dock: GraphDock, name: str) -> None:
    QTest.mouseClick(part(dock, name), Qt.MouseButton.LeftButton)
    settle()


def lines(dock: GraphDock) -> list[str]:
    listed = dock.comparison.list
    return [listed.item(at).text() for at in range(listed.count())]


def choose(dock: GraphDock, words: str) -> None:
    row = next(at for at, one in enumerate(lines(dock)) if words in one)
    dock.comparison.list.setCurrentRow(row)
    settle()


def test_the_difference_is_marked_on_the_canvas_and_told_in_words(dock: GraphDock) -> None:
    document = dock.document
    marks = {key: document.mark(key) for key in ("v1", "v2", "v3", "v4")}
    assert marks == {
        "v1": Mark.REMOVED, "v2": Mark.CHANGED, "v3": Mark.CHANGED, "v4": Mark.ADDED,
    }  # fmt: skip
    assert set(dock.view.graph_scene.nodes) == set(marks)
    assert lines(dock) == [
        "+ New step: Merge after Near",
        "~ Near: layer Clip → roads; Near: distance 500 → 250",
        "~ Count: layer Near → Merge",
        "\u2212 Removed: Clip",
    ]
    assert dock.comparison.text.text() == "From Roads (31 May) to the canvas"
    assert not dock.actions_by_name["Run"].isEnabled()
    assert dock.status.text() == "Two versions are compared. End the comparison to go on."


def test_a_part_chosen_in_the_list_is_selected_on_the_canvas(dock: GraphDock) -> None:
    choose(dock, "Removed: Clip")
    assert dock.document.selection == {"v1"}
    QTest.keyClick(dock.comparison.list, Qt.Key.Key_Up)
    settle()
    assert dock.document.selection == {"v3"}


def test_one_part_is_taken_back_as_one_step_of_undo(dock: GraphDock) -> None:
    document = dock.document
    choose(dock, "Count")
    click(dock, "TakeBack")
    assert document.graph.vertex("v3") == COUNT
    assert document.graph.has("v4")
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText() == "Take back: Count: layer Near → Merge"
    assert not any("Count" in one for one in lines(dock))
    document.undo_stack.undo()
    settle()
    assert document.graph == NEW
    assert len(lines(dock)) == 4


def test_what_goes_with_a_part_is_said_and_taken_back_too(dock: GraphDock) -> None:
    choose(dock, "New step: Merge")
    assert dock.comparison.note.text() == "Goes with Count."
    assert dock.comparison.take.toolTip() == "Goes with Count."
    dock.comparison.list.setFocus()
    QTest.keyClick(dock.comparison.list, Qt.Key.Key_Return)
    settle()
    assert not dock.document.graph.has("v4")
    assert dock.document.graph.vertex("v3") == COUNT
    choose(dock, "Near")
    assert dock.comparison.note.text() == "Goes with Clip."


def test_the_whole_version_comes_back_as_one_step_of_undo(dock: GraphDock) -> None:
    document = dock.document
    click(dock, "TakeAllBack")
    assert document.graph == OLD
    assert document.undo_stack.undoText() == "Go back to Roads (31 May)"
    assert document.undo_stack.count() == 1
    assert "nothing differs." in dock.comparison.text.text()
    assert dock.comparison.list.isHidden()
    click(dock, "EndComparison")
    assert dock.comparison.isHidden()
    assert document.graph == OLD
    document.undo_stack.undo()
    assert document.graph == NEW


def test_what_only_looks_otherwise_comes_back_too(dock: GraphDock) -> None:
    document = dock.document
    noted = replace(NEW, notes=(Note("Look here", (0.0, 0.0, 9.0, 4.0)),))
    document.compare(Comparison(noted, NEW, "Roads (31 May)", "the canvas", True))
    settle()
    assert "only names, notes or places differ." in dock.comparison.text.text()
    click(dock, "TakeAllBack")
    assert document.graph == noted
    assert part(dock, "TakeAllBack").isHidden()


def test_nothing_else_is_edited_meanwhile_and_esc_ends_it(dock: GraphDock) -> None:
    document = dock.document
    assert not document.edit("x", lambda graph: Graph())
    dock.comparison.list.setFocus()
    QTest.keyClick(dock.comparison.list, Qt.Key.Key_Escape)
    settle()
    assert document.comparison is None
    assert document.edit("x", lambda graph: replace(graph, title="Roads"))
    assert set(dock.view.graph_scene.nodes) <= {"v1", "v2", "v3", "v4"}
    settle()
    assert set(dock.view.graph_scene.nodes) == {"v2", "v3", "v4"}


def test_two_kept_versions_are_only_looked_at(dock: GraphDock) -> None:
    document = dock.document
    document.load(Graph("Another", (COUNT,)))
    assert dock.comparison.isHidden()
    document.compare(Comparison(OLD, NEW, "Roads (30 May)", "Roads (31 May)"))
    settle()
    assert set(dock.view.graph_scene.nodes) == {"v1", "v2", "v3", "v4"}
    assert len(lines(dock)) == 4
    assert part(dock, "TakeBack").isHidden()
    assert part(dock, "TakeAllBack").isHidden()
    dock.comparison.list.setFocus()
    QTest.keyClick(dock.comparison.list, Qt.Key.Key_Return)
    assert document.graph == Graph("Another", (COUNT,))
    document.compare(None)
    settle()
    assert set(dock.view.graph_scene.nodes) == {"v3"}


def test_a_proposal_takes_the_place_of_a_comparison(dock: GraphDock) -> None:
    document = dock.document
    document.propose(Change(removed=("v4",)))
    settle()
    assert document.comparison is None
    assert dock.comparison.isHidden()
    assert document.mark("v4") is Mark.REMOVED
