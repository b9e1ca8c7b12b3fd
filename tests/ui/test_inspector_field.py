# SPDX-License-Identifier: GPL-2.0-or-later
"""The inspector as hands use it: conditions, lists, units, bindings, agents, tools, findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from canvas_case import canvas
from qgis.PyQt.QtCore import QMimeData, QPoint, QPointF, Qt
from qgis.PyQt.QtGui import QDragEnterEvent, QDropEvent, QWheelEvent
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QApplication

from geo_olm.plugin.workflow.change import Change
from geo_olm.plugin.workflow.finding import Finding, Mend, Severity
from geo_olm.plugin.workflow.graph import Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.role import Role, Roles
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template
from geo_olm.tools.argument import conditions
from geo_olm.tools.base import Family, FieldProfile, LayerProfile, ToolDefinition
from geo_olm.ui.graph.carried import layer_mime
from geo_olm.ui.graph.document import GraphDocument
from geo_olm.ui.graph.inspector import Inspector
from geo_olm.ui.graph.problem_list import ProblemList

LAYER = {"type": "string", "x-layer": ["vector"]}
LEFT = Qt.MouseButton.LeftButton
TOOLS = (
    ToolDefinition("filter", "Keep some.", {"type": "object", "properties": {
        "layer": LAYER, "conditions": conditions(), "match": {"enum": ["all", "any"]}},
        "required": ["layer"]}, "Filter"),
    ToolDefinition("buffer", "Widen.", {"type": "object", "properties": {
        "layer": LAYER, "distance": {"anyOf": [{"type": "number"}, {"type": "string"}]},
        "dissolve": {"type": "boolean"}}, "required": ["layer"]}, "Buffer"),
    ToolDefinition("grow", "Grow.", {"type": "object", "properties": {
        "polygons": {"type": "string", "x-layer": "polygon"},
        "max_distance": {"anyOf": [{"type": "number"}, {"type": "string"}]}}}, "Grow"),
    ToolDefinition("classes", "Classes.", {"type": "object", "properties": {
        "layers": {"type": "array", "items": {"type": "string", "x-layer": "any"}},
        "breaks": {"type": "array", "items": {"type": "number"}},
        "table": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
        "names": {"type": "array", "items": {"type": "string"}},
        "types": {"type": "object"}}}, "Classes"),
    ToolDefinition("save", "Save.", {"type": "object", "properties": {
        "layer": LAYER, "content": {"anyOf": [{"type": "object"}, {"type": "array"}]},
        "fields": {"anyOf": [{"type": "array", "items": {"type": "string", "x-field": "layer"}},
                             {"type": "object"}]}}}, "Save"),
)  # fmt: skip
ROLES = Roles(
    [
        Role("vector", "Vector", "makes layers", ("filter", "buffer", "grow")),
        Role("table", "Table", "gives numbers", ("classes",)),
    ]
)
NAME = FieldProfile("name", "text", values=("Bonn", "Köln"))
POP = FieldProfile("pop", "integer", samples=("10", "20"), minimum="1", maximum="90")
LAYERS = (
    LayerProfile("towns", "L1", Family.POINT, "point", "EPSG:25832", features=40,
                 fields=(NAME, POP)),
    LayerProfile("park", "L2", Family.POLYGON, "polygon", "EPSG:25832", features=3),
)  # fmt: skip
GIVEN = [{"field": "name", "op": "=", "value": "Bonn"}]


class Hands:
    """An inspector beside a list of problems, over one step "v1" and another one after it."""

    def __init__(self, tool: str, parameters: dict[str, Any], **more: Any) -> None:
        self.document = GraphDocument()
        self.document.know(TOOLS, LAYERS, ROLES)
        steps = (
            Vertex("v1", "vector", "Do it", tool, parameters),
            Vertex("v2", "vector", "Go on", "filter", {"layer": Output("v1")}, title="Second"),
        )
        self.document.load(Graph("How many?", steps, **more))
        self.inspector = Inspector(self.document)
        self.problems = ProblemList(self.document)
        self.problems.parameter_shown.connect(self.inspector.edit)
        for one in (self.inspector, self.problems):
            one.resize(420, 700)
            one.show()
        self.inspector.activateWindow()
        self.document.select(("v1",))
        QApplication.processEvents()

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.document.graph.vertex("v1").parameters or {})

    def all(self, name: str) -> list[Any]:
        return [one for one in self.inspector.findChildren(object, name) if one.isVisible()]

    def one(self, name: str) -> Any:
        (found,) = self.all(name)
        return found

    def click(self, widget: Any) -> None:
        QTest.mouseClick(widget, LEFT)
        QApplication.processEvents()

    def choose(self, box: Any, text: str) -> None:
        """Open a list by key and take an entry by typing, as a hand does."""
        at = box.findText(text)
        assert at >= 0, [box.itemText(one) for one in range(box.count())]
        box.setFocus()
        box.setCurrentIndex(at)
        box.activated.emit(at)
        QApplication.processEvents()

    def type(self, edit: Any, text: str) -> None:
        edit.setFocus()
        edit.selectAll()
        QTest.keyClicks(edit, text)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        QApplication.processEvents()


@pytest.fixture
def hands() -> Iterator[Any]:
    made: list[Hands] = []

    def make(*given: Any, **more: Any) -> Hands:
        made.append(Hands(*given, **more))
        return made[-1]

    yield make
    for one in made:
        for widget in (one.inspector, one.problems):
            widget.close()
            widget.deleteLater()
    QApplication.processEvents()


# -- conditions


def test_a_condition_is_a_row_with_the_layers_fields_and_values(hands: Any) -> None:
    one = hands("filter", {"layer": Layer("towns"), "conditions": GIVEN})
    field, value = one.one("GeoOlmConditionField"), one.one("GeoOlmConditionValue")
    assert [field.itemText(at) for at in range(field.count())] == ["name", "pop"]
    assert [value.itemText(at) for at in range(value.count())] == ["Bonn", "Köln"]
    assert one.one("GeoOlmConditionOperator").currentText() == "is"
    one.choose(value, "Köln")
    assert one.parameters["conditions"] == [{"field": "name", "op": "=", "value": "Köln"}]
    assert one.document.undo_stack.undoText() == "Change conditions of Filter"
    one.choose(one.one("GeoOlmConditionField"), "pop")
    one.choose(one.one("GeoOlmConditionOperator"), "between")
    one.type(one.one("GeoOlmConditionValue").lineEdit(), "5; 20")
    assert one.parameters["conditions"] == [{"field": "pop", "op": "between", "value": [5, 20]}]


def test_a_new_condition_counts_when_it_is_whole_and_can_go_again(hands: Any) -> None:
    one = hands("filter", {"layer": Layer("towns"), "conditions": GIVEN})
    one.click(one.one("GeoOlmAddRow"))
    assert one.parameters["conditions"] == GIVEN
    one.choose(one.all("GeoOlmConditionField")[1], "pop")
    one.choose(one.all("GeoOlmConditionOperator")[1], "at least")
    one.type(one.all("GeoOlmConditionValue")[1].lineEdit(), "20")
    whole = {"field": "pop", "op": ">=", "value": 20}
    assert one.parameters["conditions"] == [*GIVEN, whole]
    one.choose(one.all("GeoOlmConditionOperator")[0], "is empty")
    assert one.parameters["conditions"] == [{"field": "name", "op": "is empty"}, whole]
    assert len(one.all("GeoOlmConditionValue")) == 1
    one.click(one.all("GeoOlmRemoveRow")[0])
    assert one.parameters["conditions"] == [whole]
    one.click(one.all("GeoOlmRemoveRow")[0])
    assert "conditions" not in one.parameters
    one.document.undo_stack.undo()
    QApplication.processEvents()
    assert one.parameters["conditions"] == GIVEN
    assert one.one("GeoOlmConditionField").currentText() == "name"


def test_a_variable_in_a_condition_is_said_and_unbound(hands: Any) -> None:
    given = [{"field": "name", "op": "=", "value": Asked("town")}]
    variables = (Variable("town", Type.TEXT, "The town", "Bonn"),)
    one = hands("filter", {"layer": Layer("towns"), "conditions": given}, variables=variables)
    assert one.one("GeoOlmBoundTo").text() == "Variable The town"
    one.choose(one.one("GeoOlmConditionOperator"), "is not")
    assert one.parameters["conditions"] == [{**given[0], "op": "<>"}]
    one.click(one.one("GeoOlmUnbind"))
    one.type(one.one("GeoOlmConditionValue").lineEdit(), "Trier")
    assert one.parameters["conditions"] == [{"field": "name", "op": "<>", "value": "Trier"}]


def test_the_value_of_a_condition_becomes_a_variable_by_the_menu(hands: Any) -> None:
    one = hands("filter", {"layer": Layer("towns"), "conditions": GIVEN})
    menu = one.one("GeoOlmVariableMenu_conditions").menu()
    menu.aboutToShow.emit()
    (inner,) = menu.findChildren(object, "GeoOlmConditionMenu_0")
    assert inner.title() == "name is …"
    inner.aboutToShow.emit()
    make = next(x for x in inner.actions() if x.objectName() == "GeoOlmMakeVariable")
    make.trigger()
    QApplication.processEvents()
    (variable,) = one.document.graph.variables
    assert variable.default == "Bonn"
    assert one.parameters["conditions"] == [{**GIVEN[0], "value": Asked(variable.name)}]
    assert one.one("GeoOlmBoundTo").text().startswith("Variable ")


def test_what_is_no_condition_is_kept_and_said(hands: Any) -> None:
    strange = [{"field": "name", "op": "=", "value": "Bonn", "weight": 2}]
    one = hands("filter", {"layer": Layer("towns"), "conditions": strange})
    assert "kept as it is" in one.one("GeoOlmKept").text()
    assert not one.all("GeoOlmConditionField")
    assert one.parameters["conditions"] == strange


# -- other values


def test_lists_tables_and_objects_are_edited_without_json(hands: Any) -> None:
    one = hands("classes", {"breaks": [1, 2.5], "table": [[0, 10, 1]], "names": ["a"],
                            "types": {"pop": "text"}, "layers": [Layer("towns")]})  # fmt: skip
    assert not one.all("GeoOlmKept")
    one.type(one.one("GeoOlmParameter_breaks"), "0.1; 0.3; 0.7")
    assert one.parameters["breaks"] == [0.1, 0.3, 0.7]
    one.type(one.one("GeoOlmParameter_breaks"), "none")
    assert one.parameters["breaks"] == [0.1, 0.3, 0.7]
    adders = one.all("GeoOlmAddRow")
    assert [x.text() for x in adders] == ["Add a layer", "Add a row", "Add a row", "Add a row"]
    one.click(adders[1])
    one.type(one.inspector.focusWidget(), "10, 20, 2")
    assert one.parameters["table"] == [[0, 10, 1], [10, 20, 2]]
    one.click(one.all("GeoOlmAddRow")[2])
    one.type(one.inspector.focusWidget(), "b")
    assert one.parameters["names"] == ["a", "b"]
    one.click(one.all("GeoOlmAddRow")[0])
    one.choose(one.inspector.focusWidget(), "park")
    assert one.parameters["layers"] == [Layer("towns"), Layer("park")]
    assert one.parameters["types"] == {"pop": "text"}


def test_fields_by_name_and_renamed_ones_are_edited_and_free_json_is_kept(hands: Any) -> None:
    one = hands(
        "save", {"layer": Layer("towns"), "fields": {"Town": "name"}, "content": {"a": [1]}}
    )
    assert [x.text() for x in one.all("GeoOlmPair")] == ["Town", "name"]
    one.type(one.all("GeoOlmPair")[0], "Place")
    assert one.parameters["fields"] == {"Place": "name"}
    assert "kept as it is" in one.one("GeoOlmKept").text()
    again = hands("save", {"layer": Layer("towns"), "fields": ["name"]})
    assert [x.text() for x in again.all("GeoOlmAddRow")] == ["Add a row"]
    assert again.parameters["fields"] == ["name"]


def test_a_distance_is_a_number_and_its_unit(hands: Any) -> None:
    one = hands("buffer", {"layer": Layer("towns"), "distance": 500})
    assert one.one("GeoOlmUnit").currentText() == "layer's unit"
    one.choose(one.one("GeoOlmUnit"), "km")
    assert one.parameters["distance"] == "500 km"
    one.type(one.one("GeoOlmQuantity"), "2,5")
    assert one.parameters["distance"] == "2.5 km"
    one.type(one.one("GeoOlmQuantity"), "far")
    assert one.parameters["distance"] == "2.5 km"


def test_a_bound_value_says_from_where_and_is_unbound(hands: Any) -> None:
    one = hands("buffer", {"layer": Layer("towns"), "distance": Output("v0", "mean")})
    assert one.one("GeoOlmBoundTo").text() == "From v0.mean"
    one.click(one.one("GeoOlmUnbind"))
    assert one.parameters == {"layer": Layer("towns")}
    one.type(one.one("GeoOlmQuantity"), "50")
    assert one.parameters["distance"] == 50
    again = hands("buffer", {"layer": Layer("towns"), "distance": Template("{d} m")})
    again.type(again.one("GeoOlmBoundTo"), "{d} km")
    assert again.parameters["distance"] == Template("{d} km")


def test_a_number_of_another_step_is_taken_from_the_menu(hands: Any) -> None:
    before = Vertex("v0", "table", "Count", "count", {"layer": Layer("towns")}, title="Towns")
    one = hands("buffer", {"layer": Layer("towns"), "distance": 5})
    one.document.edit("Add", lambda graph: graph.with_vertex(before))
    QApplication.processEvents()
    menu = one.one("GeoOlmVariableMenu_distance").menu()
    menu.aboutToShow.emit()
    (inner,) = menu.findChildren(object, "GeoOlmTakeFrom")
    assert [x.text() for x in inner.actions()] == ["Towns: count"]
    inner.actions()[0].trigger()
    QApplication.processEvents()
    assert one.parameters["distance"] == Output("v0", "count")
    assert one.document.undo_stack.undoText() == "Connect Towns: count to Buffer: Distance"
    assert one.one("GeoOlmBoundTo").text() == "From Towns: count"
    layers = one.one("GeoOlmVariableMenu_layer").menu()
    layers.aboutToShow.emit()
    assert not layers.findChildren(object, "GeoOlmTakeFrom")


def test_a_layer_of_the_wrong_kind_cannot_be_chosen_and_a_dropped_one_is_taken(hands: Any) -> None:
    one = hands("grow", {"polygons": Layer("gone")})
    box = one.one("GeoOlmParameter_polygons")
    assert box.currentText() == "gone"
    assert "no layer gone" in box.itemData(box.currentIndex(), Qt.ItemDataRole.ToolTipRole)
    states = {box.itemText(at): box.model().item(at).isEnabled() for at in range(box.count())}
    assert states == {"": True, "towns": False, "park": True, "gone": True}
    action, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    mime: QMimeData = layer_mime("park")
    enter = QDragEnterEvent(QPoint(5, 5), action, mime, LEFT, none)
    QApplication.sendEvent(box, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(box, QDropEvent(QPointF(5, 5), action, mime, LEFT, none))
    QApplication.processEvents()
    assert one.parameters == {"polygons": Layer("park")}


def test_an_edit_and_news_of_layers_keep_the_field_and_the_wheel_changes_nothing(
    hands: Any,
) -> None:
    one = hands("filter", {"layer": Layer("towns"), "match": "all"})
    box = one.one("GeoOlmParameter_match")
    one.choose(box, "any")
    assert one.one("GeoOlmParameter_match") is box
    one.inspector.title.setFocus()
    wheel = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(box, wheel)
    assert one.parameters["match"] == "any"
    one.document.know(TOOLS, LAYERS, ROLES)
    assert one.one("GeoOlmParameter_match") is box
    one.document.undo_stack.undo()
    QApplication.processEvents()
    assert one.one("GeoOlmParameter_match").currentText() == "all"


# -- agent and tool


def test_a_step_is_given_to_another_agent(hands: Any) -> None:
    one = hands("buffer", {"layer": Layer("towns")})
    one.choose(one.one("GeoOlmStepAgent"), "Table")
    assert one.document.graph.vertex("v1").agent == "table"
    assert one.document.undo_stack.undoText() == "Give Buffer to Table"


def test_another_tool_says_what_it_leaves_out_and_takes_over_by_meaning(hands: Any) -> None:
    given = {"layer": Layer("park"), "distance": "2 km", "dissolve": True}
    one = hands("buffer", given)
    tools = one.one("GeoOlmStepTool")
    texts = [tools.itemText(at) for at in range(tools.count())]
    assert "Grow (without dissolve)" in texts
    one.choose(tools, "Grow (without dissolve)")
    step = one.document.graph.vertex("v1")
    assert (step.tool, step.parameters) == (
        "grow", {"polygons": Layer("park"), "max_distance": "2 km"})  # fmt: skip
    assert one.one("GeoOlmSwapTold").text() == "Carried over: layer, distance. Left out: dissolve."
    assert one.document.undo_stack.count() == 1
    one.document.undo_stack.undo()
    assert one.parameters == given


# -- findings


def test_a_problem_stands_beside_its_parameter_with_its_mend(hands: Any) -> None:
    one = hands("buffer", {"layer": Layer("towns"), "distance": 500})
    fixed = Vertex("v1", "vector", "Do it", "buffer", {"layer": Layer("towns"), "distance": 50})
    mend = Mend("Use 50 m for v2", Change(edited=(fixed,)))
    found = Finding("x", Severity.ERROR, "That is too far for v2.", "v1", "distance", (mend,))
    one.document.set_findings((found,))
    QApplication.processEvents()
    assert one.one("GeoOlmFinding").text() == "That is too far for Second."
    assert one.one("GeoOlmMend").text() == "Use 50 m for Second"
    one.problems.tree.setCurrentItem(one.problems.tree.topLevelItem(0))
    place = one.problems.tree.visualItemRect(one.problems.tree.topLevelItem(0)).center()
    QTest.mouseClick(one.problems.tree.viewport(), LEFT, pos=place)
    QApplication.processEvents()
    assert one.inspector.focusWidget() is one.one("GeoOlmQuantity")
    one.click(one.one("GeoOlmMend"))
    assert one.parameters["distance"] == 50
    one.document.set_findings(())
    assert not one.all("GeoOlmFinding")


def test_what_is_wrong_with_the_objective_is_said_under_it(hands: Any) -> None:
    one = hands("buffer", {"layer": Layer("towns")})
    text = "The objective says 500 m, and the step takes 50."
    found = Finding("objective", Severity.ERROR, text, "v1", "objective")
    one.document.set_findings((found,))
    QApplication.processEvents()
    assert one.one("GeoOlmFinding").text() == text
    assert one.inspector.wrong_objective.isAncestorOf(one.one("GeoOlmFinding"))
    one.inspector.edit("objective")
    assert one.inspector.focusWidget() is one.inspector.objective


def test_the_objective_is_edited_on_the_card_and_other_parts_in_the_inspector() -> None:
    with canvas() as hand:
        asked = QSignalSpy(hand.view.inspect_requested)
        node = hand.scene.nodes["v1"]
        hand.double_click(node.objective_box().center())
        editor = hand.child("GeoOlmInPlace")
        assert editor.toPlainText() == "Draw 500 m around the park"
        QTest.keyClicks(editor, "Draw 1 km around it")
        QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        QApplication.processEvents()
        assert hand.graph.vertex("v1").objective == "Draw 1 km around it"
        assert hand.undo_text == "Edit the objective of Buffer"
        assert list(asked) == []
        hand.double_click(hand.header("v1"))
        assert [one[0] for one in asked] == ["title"]
