# SPDX-License-Identifier: GPL-2.0-or-later
"""A proposed change accepted and rejected part by part, by mouse and by keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QApplication, QWidget

from geo_olm.plugin.workflow.change import Change
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.role import Roles
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.ui.graph.document import Mark
from geo_olm.ui.graph.graph_dock import GraphDock

CLIP = Vertex("v1", "vector", tool="overlay", title="Clip", parameters={"layer": Layer("roads")})
NEAR = Vertex("v2", "vector", tool="buffer", title="Near",
              parameters={"layer": Output("v1"), "distance": 500})  # fmt: skip
COUNT = Vertex("v3", "table", tool="count", title="Count", parameters={"layer": Output("v2")})
GRAPH = Graph("How many?", (CLIP, NEAR, COUNT))
MERGE = Vertex("v4", "vector", tool="dissolve", title="Merge", parameters={"layer": Output("v1")})
WIDER = replace(NEAR, parameters={"layer": Output("v4"), "distance": 500})
NEARBY = replace(COUNT, parameters={"layer": Output("v2"), "where": "a > 1"})
CHANGE = Change(edited=(WIDER, NEARBY), inserted=(MERGE,), reason="Add a dissolve after the clip")


@pytest.fixture
def dock(show: Callable[[QWidget], QWidget]) -> GraphDock:
    made = GraphDock()
    made.document.know((), (), Roles(()))
    made.resize(1300, 700)
    show(made)
    made.document.load(GRAPH)
    made.document.propose(CHANGE)
    settle()
    return made


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()


def click(dock: GraphDock, name: str) -> None:
    QTest.mouseClick(dock.findChild(QWidget, f"GeoOlm{name}"), Qt.MouseButton.LeftButton)
    settle()


def choose(dock: GraphDock, words: str) -> None:
    listed: Any = dock.proposal.list
    rows = [listed.item(at).text() for at in range(listed.count())]
    listed.setCurrentRow(next(at for at, one in enumerate(rows) if words in one))
    settle()


def test_a_part_is_taken_alone_and_the_rest_stays_proposed(dock: GraphDock) -> None:
    document = dock.document
    assert dock.proposal.list.count() == 3
    choose(dock, "Count")
    click(dock, "AcceptPart")
    assert document.graph == Graph("How many?", (CLIP, NEAR, NEARBY))
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText().startswith("Accept: Count")
    marks = {key: document.mark(key) for key in ("v1", "v2", "v3", "v4")}
    assert marks == {"v1": None, "v2": Mark.CHANGED, "v3": None, "v4": Mark.ADDED}
    click(dock, "RejectProposal")
    assert document.graph == Graph("How many?", (CLIP, NEAR, NEARBY))
    assert document.proposal is None


def test_what_needs_a_new_step_takes_it_along(dock: GraphDock) -> None:
    choose(dock, "Near")
    assert dock.proposal.accept_part.toolTip() == "Goes with Merge."
    click(dock, "AcceptPart")
    graph = dock.document.graph
    assert graph.vertex("v4") == MERGE
    assert graph.vertex("v2").parameters == WIDER.parameters
    assert graph.vertex("v3") == COUNT
    assert dock.document.undo_stack.count() == 1


def test_parts_are_refused_and_taken_by_keys(dock: GraphDock) -> None:
    choose(dock, "Count")
    dock.proposal.list.setFocus()
    QTest.keyClick(dock.proposal.list, Qt.Key.Key_N)
    settle()
    assert dock.document.graph == GRAPH
    assert dock.document.undo_stack.count() == 0
    assert dock.document.mark("v3") is None
    QTest.keyClick(dock.proposal.list, Qt.Key.Key_Y)
    settle()
    assert dock.document.graph.has("v4")
    assert dock.document.graph.vertex("v3") == COUNT


def test_undo_behind_a_proposal_lets_go_of_what_fits_no_more(dock: GraphDock) -> None:
    document = dock.document
    document.decide(False)
    document.edit("Add", lambda graph: graph.with_vertex(MERGE))
    document.propose(Change(edited=(replace(MERGE, objective="Merge all"),)))
    document.undo_stack.undo()
    settle()
    assert document.graph == GRAPH
    assert document.proposal is None
    assert dock.proposal.isHidden()
