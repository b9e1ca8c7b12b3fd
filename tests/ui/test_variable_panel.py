# SPDX-License-Identifier: GPL-2.0-or-later
"""The variables panel as hands drive it, and the menu that puts variables into parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from qgis.PyQt.QtCore import QDate, QEvent, Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QApplication, QMenu, QWidget

from geo_olm.plugin.workflow.graph import Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.role import Role, Roles
from geo_olm.plugin.workflow.value import Asked, Layer, Output
from geo_olm.plugin.workflow.variable_check import checked
from geo_olm.tools.base import LayerProfile, ToolDefinition
from geo_olm.ui.graph.document import GraphDocument
from geo_olm.ui.graph.graph_dock import GraphDock
from geo_olm.ui.graph.variable_menu import fill_menu, variable_button
from geo_olm.ui.graph.variable_panel import VariablePanel

BUFFER = ToolDefinition(
    "buffer", "Buffer something.",
    {"type": "object", "properties": {
        "layer": {"type": "string", "x-layer": "vector"}, "distance": {"type": "number"},
        "dissolve": {"type": "boolean"},
    }, "required": ["layer"]}, "Buffer",
)  # fmt: skip
GRAPH = Graph(
    "How far?",
    (Vertex("v1", "vector", "", "buffer", {"layer": Asked("place"), "distance": Asked("far")}),
     Vertex("v2", "vector", "", "buffer", {"layer": Output("v1"), "distance": 20})),
    (Variable("place", Type.LAYER, "Where", family="vector"),
     Variable("far", Type.NUMBER, "How far", 500, unit="m")),
)  # fmt: skip


@pytest.fixture
def document(qgis_app: QApplication, layers: tuple[LayerProfile, ...]) -> GraphDocument:
    made = GraphDocument()
    made.know((BUFFER,), layers, Roles([Role("vector", "Vector", "makes layers", ("buffer",))]))
    made.load(GRAPH)
    return made


@pytest.fixture
def panel(document: GraphDocument, show: Callable[[QWidget], QWidget]) -> Iterator[VariablePanel]:
    made = VariablePanel(document)
    made.resize(1000, 200)
    show(made)
    yield made
    made.blockSignals(True)


def find(panel: QWidget, name: str) -> Any:
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    found = panel.findChild(QWidget, name)
    assert found is not None, name
    return found


def typed(widget: QWidget, text: str) -> None:
    widget.setFocus()
    QTest.keyClick(widget, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    if text:
        QTest.keyClicks(widget, text)
    else:
        QTest.keyClick(widget, Qt.Key.Key_Delete)
    QTest.keyClick(widget, Qt.Key.Key_Return)


def choose(box: Any, text: str) -> None:
    """Choose an entry of a closed list by its first letters, as a hand at the keys does."""
    box.setFocus()
    box.showPopup()
    view = box.view()
    row = next(at for at in range(box.count()) if box.itemText(at) == text)
    view.setCurrentIndex(box.model().index(row, 0))
    QTest.keyClick(view, Qt.Key.Key_Return)


def variable(document: GraphDocument, name: str) -> Variable:
    found = document.graph.variable(name)
    assert found is not None
    return found


def test_each_variable_has_a_row_with_its_value_and_its_uses(panel: VariablePanel) -> None:
    assert list(panel.rows) == ["place", "far"]
    assert find(panel, "GeoOlmVariableValue_place").currentText() == "No layer"
    assert find(panel, "GeoOlmVariableValue_far").text() == "500"
    assert find(panel, "GeoOlmVariableDetails_far").text() == "m"
    assert find(panel, "GeoOlmVariableNote_far").text() == "How far"
    assert find(panel, "GeoOlmVariableUses_far").text() == "1 use"
    for row in panel.rows.values():
        assert all(one.accessibleName() for one in row.widgets)


def test_a_layer_variable_takes_a_layer_of_the_project_that_fits(
    panel: VariablePanel, document: GraphDocument
) -> None:
    counted = QSignalSpy(panel.counted)
    box = find(panel, "GeoOlmVariableValue_place")
    assert [box.itemText(at) for at in range(box.count())] == ["No layer", "cycle_hire", "states"]
    choose(box, "states")
    assert variable(document, "place").default == "states"
    assert document.undo_stack.undoText() == "Set variable place"
    assert list(counted[-1]) == [2, 0]
    document.undo_stack.undo()
    assert find(panel, "GeoOlmVariableValue_place").currentText() == "No layer"
    assert list(counted[-1]) == [2, 1]


def test_a_layer_that_is_gone_stays_and_is_told(
    panel: VariablePanel, document: GraphDocument
) -> None:
    choose(find(panel, "GeoOlmVariableValue_place"), "states")
    document.know(document.tools.values(), (), document.roles)
    assert (
        find(panel, "GeoOlmVariableValue_place").currentText() == "states (not fitting or not here)"
    )
    assert variable(document, "place").default == "states"


def test_a_number_is_set_and_what_is_none_is_refused_in_words(
    panel: VariablePanel, document: GraphDocument
) -> None:
    typed(find(panel, "GeoOlmVariableValue_far"), "1,250.5")
    assert variable(document, "far").default == 1250.5
    typed(find(panel, "GeoOlmVariableValue_far"), "far away")
    assert variable(document, "far").default == 1250.5
    assert panel.said.text() == 'far is a number in m, not "far away".'
    assert find(panel, "GeoOlmVariableValue_far").text() == "1,250.5"


def test_a_renamed_variable_keeps_its_uses_and_undo_names_it(
    panel: VariablePanel, document: GraphDocument
) -> None:
    typed(find(panel, "GeoOlmVariableName_far"), "distance")
    assert document.graph.vertex("v1").parameters == {
        "layer": Asked("place"), "distance": Asked("distance"),
    }  # fmt: skip
    assert document.undo_stack.undoText() == "Rename variable far to distance"
    typed(find(panel, "GeoOlmVariableName_distance"), "v1")
    assert panel.said.text() == "v1 is taken by a step or a variable. Choose another name."
    assert list(panel.rows) == ["place", "distance"]
    document.undo_stack.undo()
    assert document.graph == GRAPH


def test_a_variable_in_use_is_not_removed_and_a_spare_one_is(
    panel: VariablePanel, document: GraphDocument
) -> None:
    QTest.mouseClick(find(panel, "GeoOlmVariableRemove_far"), Qt.MouseButton.LeftButton)
    assert panel.said.text() == "far is used by v1 (distance). Put another value there first."
    assert document.graph == GRAPH
    QTest.mouseClick(panel.add, Qt.MouseButton.LeftButton)
    assert document.undo_stack.undoText() == "Add variable value"
    name = find(panel, "GeoOlmVariableName_value")
    assert name.hasFocus()
    assert panel.said.text() == ""
    QTest.keyClick(find(panel, "GeoOlmVariableRemove_value"), Qt.Key.Key_Space)
    assert document.graph == GRAPH
    assert document.undo_stack.undoText() == "Remove variable value"


def test_kind_and_choices_change_and_a_value_that_does_not_fit_goes(
    panel: VariablePanel, document: GraphDocument
) -> None:
    choose(find(panel, "GeoOlmVariableKind_far"), "Choice")
    assert variable(document, "far").choices == ("500",)
    typed(find(panel, "GeoOlmVariableDetails_far"), "500, 1000, ,1000")
    assert variable(document, "far").choices == ("500", "1000")
    choose(find(panel, "GeoOlmVariableValue_far"), "1000")
    choose(find(panel, "GeoOlmVariableKind_far"), "Date")
    assert variable(document, "far").default is None
    edit = find(panel, "GeoOlmVariableValue_far")
    assert edit.text() == "No date"
    edit.setDate(QDate(2024, 5, 31))
    assert variable(document, "far").default == "2024-05-31"
    for _ in range(5):
        document.undo_stack.undo()
    assert document.graph == GRAPH


def test_the_uses_lead_to_the_steps_one_after_the_other(
    panel: VariablePanel, document: GraphDocument
) -> None:
    menu = QMenu()
    fill_menu(menu, document, "v2", ("distance",))
    action(menu, "GeoOlmUseVariable_far").trigger()
    shown = QSignalSpy(panel.step_shown)
    for _ in range(3):
        QTest.mouseClick(find(panel, "GeoOlmVariableUses_far"), Qt.MouseButton.LeftButton)
        document.select((shown[-1][0],))
    assert [one[0] for one in shown] == ["v1", "v2", "v1"]


def action(menu: QMenu, name: str) -> Any:
    return next(one for one in menu.actions() if one.objectName() == name)


def names(menu: QMenu) -> list[str]:
    return [one.text() for one in menu.actions() if one.text()]


def test_the_menu_offers_only_variables_that_fit(document: GraphDocument) -> None:
    menu = QMenu()
    fill_menu(menu, document, "v2", ("distance",))
    assert names(menu) == ["Use far = 500 m", "Make a variable of it"]
    fill_menu(menu, document, "v2", ("layer",))
    assert names(menu) == ["Use place", "Make a variable of it"]
    assert not action(menu, "GeoOlmMakeVariable").isEnabled()
    fill_menu(menu, document, "v1", ("distance",))
    assert action(menu, "GeoOlmUseVariable_far").isChecked()


def test_a_parameter_takes_a_variable_and_gets_its_value_back(document: GraphDocument) -> None:
    menu = QMenu()
    fill_menu(menu, document, "v2", ("distance",))
    action(menu, "GeoOlmUseVariable_far").trigger()
    assert document.graph.vertex("v2").parameters == {
        "layer": Output("v1"), "distance": Asked("far"),
    }  # fmt: skip
    assert document.undo_stack.undoText() == "Use variable far in Buffer"
    fill_menu(menu, document, "v2", ("distance",))
    action(menu, "GeoOlmTakeValue").trigger()
    assert document.graph.vertex("v2").parameters == {"layer": Output("v1"), "distance": 500}


def test_a_variable_is_made_of_a_value_and_its_layer(
    document: GraphDocument, show: Callable[[QWidget], QWidget]
) -> None:
    document.edit("x", lambda graph: graph.with_vertex(
        Vertex("v3", "vector", "", "buffer", {"layer": Layer("states"), "distance": 7})
    ))  # fmt: skip
    holder = show(QWidget())
    button = variable_button(document, "v3", ("layer",), holder)
    assert button.accessibleName() == "Variable for layer"
    button.menu().aboutToShow.emit()
    action(button.menu(), "GeoOlmMakeVariable").trigger()
    made = variable(document, "layer")
    assert (made.type, made.default, made.label) == (Type.LAYER, "states", "layer of Buffer")
    assert document.graph.vertex("v3").parameters == {"layer": Asked("layer"), "distance": 7}


def test_a_problem_of_a_value_that_lacks_leads_to_the_variable(
    document: GraphDocument, show: Callable[[QWidget], QWidget]
) -> None:
    dock = GraphDock()
    dock.resize(1300, 700)
    show(dock)
    dock.document.know(document.tools.values(), document.layers, document.roles)
    dock.document.load(GRAPH)
    dock.document.set_findings(checked(GRAPH, lambda graph: ()))
    tree = dock.problems.tree
    box = tree.visualItemRect(tree.topLevelItem(0))
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert dock.document.selection == {"v1"}
    assert dock.tabs.currentWidget() is dock.variables
    assert find(dock.variables, "GeoOlmVariableValue_place").hasFocus()
    assert dock.tabs.tabText(dock.tabs.indexOf(dock.variables)) == "Variables (2, 1 to set)"
