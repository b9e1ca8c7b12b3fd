# SPDX-License-Identifier: GPL-2.0-or-later
"""The outline, the canvas's twin in lines: the same steps, selection, problems and actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from canvas_case import CONTROL, GRAPH, LAYERS, ROLES, TOOLS, settle
from qgis.PyQt.QtCore import QItemSelectionModel, QModelIndex, Qt
from qgis.PyQt.QtTest import QTest

from geo_olm.plugin.workflow.finding import Finding, Severity
from geo_olm.plugin.workflow.graph import Graph, Group, Note, Source, Status, Vertex
from geo_olm.plugin.workflow.value import Output
from geo_olm.tools.base import LayerReference, ToolResult
from geo_olm.ui.graph.document import StepState
from geo_olm.ui.graph.graph_dock import GraphDock
from geo_olm.ui.graph.outline import Outline


@pytest.fixture
def dock() -> Iterator[GraphDock]:
    made = GraphDock()
    made.document.know(TOOLS, LAYERS, ROLES)
    made.document.load(GRAPH)
    made.resize(1400, 850)
    made.show()
    QTest.qWaitForWindowExposed(made)
    made.side.setCurrentIndex(1)
    settle()
    yield made
    made.close()
    made.deleteLater()
    settle()


def outline(dock: GraphDock) -> Outline:
    found = dock.findChild(Outline, "GeoOlmOutline")
    assert found is not None
    return found


def lines(dock: GraphDock, parent: QModelIndex | None = None) -> list[str]:
    model = outline(dock).model()
    above = parent or QModelIndex()
    return [model.index(at, 0, above).data() for at in range(model.rowCount(above))]


def row(dock: GraphDock, at: int) -> QModelIndex:
    return outline(dock).model().index(at, 0)


def go(dock: GraphDock, at: int) -> None:
    """Go to a step as a key without modifiers does."""
    flags = (
        QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
    )
    outline(dock).selectionModel().setCurrentIndex(row(dock, at), flags)


def test_the_outline_lists_the_steps_as_they_run_with_inputs_and_ends(dock: GraphDock) -> None:
    assert lines(dock) == ["1. Buffer", "2. Overlay", "3. Count"]
    assert lines(dock, row(dock, 1)) == [
        "Not run", "Layer: towns", "Other: Buffer", "Goes to Count",
    ]  # fmt: skip


def test_an_outline_is_in_running_order_whatever_the_file_says(dock: GraphDock) -> None:
    dock.document.load(replace(GRAPH, vertices=GRAPH.vertices[::-1]))
    settle()
    assert lines(dock) == ["1. Buffer", "2. Overlay", "3. Count"]
    ring = tuple(
        replace(one, parameters={"layer": Output("v3")}) if one.id == "v1" else one
        for one in GRAPH.vertices
    )
    dock.document.load(Graph(vertices=ring))
    settle()
    assert len(lines(dock)) == 3


def test_results_and_problems_stand_in_the_outline_and_are_spoken(dock: GraphDock) -> None:
    made = LayerReference("x", "Zones", "", "Polygon", "EPSG:25832", 3)
    state = StepState(Status.COMPLETED, seconds=0.4, result=ToolResult("x", layers=(made,)))
    dock.document.states["v1"] = state
    dock.document.states_changed.emit(frozenset(("v1",)))
    dock.document.set_findings((Finding("x", Severity.ERROR, "Mixed CRS.", "v2"),))
    settle()
    inner = lines(dock, row(dock, 0))
    assert inner == [
        "0.4 s", "Layer: park", "Distance: 500", "Gives Zones: 3\u00a0polygons",
        "Goes to Overlay",
    ]  # fmt: skip
    assert lines(dock, row(dock, 1))[-1] == "Mixed CRS."
    spoken = row(dock, 1).data(int(Qt.ItemDataRole.AccessibleTextRole))
    assert spoken == "2. Overlay, Vector · Overlay, Not run, Mixed CRS."


def test_canvas_and_outline_share_the_selection(dock: GraphDock) -> None:
    tree = outline(dock)
    dock.document.select(("v2",))
    settle()
    assert [one.data() for one in tree.selectionModel().selectedRows()] == ["2. Overlay"]
    tree.setFocus()
    go(dock, 2)
    assert dock.document.selection == {"v3"}
    assert dock.view.graph_scene.nodes["v3"].isSelected()
    QTest.keyClick(tree, Qt.Key.Key_Up)
    QTest.keyClick(tree, Qt.Key.Key_Up)
    assert dock.document.selection == {"v2"}


def test_the_keys_of_the_canvas_work_in_the_outline(dock: GraphDock) -> None:
    tree = outline(dock)
    tree.setFocus()
    go(dock, 2)
    QTest.keyClick(tree, Qt.Key.Key_D, CONTROL)
    settle()
    assert lines(dock) == ["1. Buffer", "2. Overlay", "3. Count", "4. Count"]
    QTest.keyClick(tree, Qt.Key.Key_Delete)
    settle()
    assert len(lines(dock)) == 3
    QTest.keyClick(tree, Qt.Key.Key_Z, CONTROL)
    settle()
    assert dock.document.graph.ids() == ("v1", "v2", "v3", "v4")


def test_enter_opens_the_step_and_a_asks_for_another(dock: GraphDock) -> None:
    tree = outline(dock)
    tree.setFocus()
    go(dock, 0)
    QTest.keyClick(tree, Qt.Key.Key_Return)
    assert dock.inspector.isVisible()
    QTest.keyClick(tree, Qt.Key.Key_A)
    assert dock.side.currentWidget() is dock.steps


def test_the_outline_of_five_hundred_steps_is_filled_only_when_it_is_seen(dock: GraphDock) -> None:
    dock.side.setCurrentIndex(0)
    many = tuple(
        Vertex(f"v{at}", "vector", "", "filter", {"layer": Output(f"v{at - 1}")} if at else {})
        for at in range(500)
    )
    dock.document.load(Graph(vertices=many))
    settle()
    assert outline(dock).model().rowCount() < 500
    dock.side.setCurrentIndex(1)
    settle()
    assert outline(dock).model().rowCount() == 500


def test_groups_notes_and_free_layers_are_in_the_outline_too(dock: GraphDock) -> None:
    graph = replace(
        GRAPH,
        groups=(Group("Near", ("v1", "v2")),),
        notes=(Note("Mind the CRS", (0.0, 40.0, 9.0, 5.0)),),
        sources=(Source("dem", position=(0.0, 50.0)),),
    )
    dock.document.load(graph)
    settle()
    assert lines(dock)[3:] == ["Layer dem, not used yet", "Note: Mind the CRS"]
    assert lines(dock, row(dock, 0))[:2] == ["Not run", "In the group Near"]
    go(dock, 4)
    scene = dock.view.graph_scene
    assert scene.selected_notes() == [0]
    assert dock.document.selection == frozenset()
    go(dock, 3)
    assert scene.selected_layers() == ["dem"]
    QTest.keyClick(outline(dock), Qt.Key.Key_Delete)
    assert dock.document.graph.sources == ()
