# SPDX-License-Identifier: GPL-2.0-or-later
"""Links on the canvas: kinds that fit, steps put into them, ways around steps, what they tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from canvas_case import GRAPH, Canvas, canvas, settle
from qgis.PyQt.QtCore import QPointF, QRectF, Qt
from qgis.PyQt.QtTest import QTest

from geo_olm.plugin.workflow.graph import Graph, Kind, Status, Vertex
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.base import LayerReference, ToolResult
from geo_olm.ui.graph.document import StepState


@pytest.fixture
def hand() -> Iterator[Canvas]:
    with canvas() as made:
        yield made


def with_step(*more: Vertex) -> Graph:
    return replace(GRAPH, vertices=(*GRAPH.vertices, *more))


def chosen(hand: Canvas, words: str) -> None:
    search = hand.child("GeoOlmChooserSearch")
    QTest.keyClicks(search, words)
    QTest.keyClick(search, Qt.Key.Key_Return)
    settle()


def offered(hand: Canvas) -> list[str]:
    rows = hand.view.chooser.list
    return [rows.topLevelItem(at).text(0) for at in range(rows.topLevelItemCount())]


def body(hand: Canvas, key: str) -> QRectF:
    node = hand.scene.nodes[key]
    u = node.unit
    return QRectF(node.x(), node.y(), node.size[0] * u, node.size[1] * u)


def test_only_ports_that_take_the_kind_are_lit_and_the_pointer_says_what_or_why(
    hand: Canvas,
) -> None:
    hand.document.load(
        with_step(Vertex("v4", "raster", "Slope", "terrain", {"layer": Layer("dem")}))
    )
    settle()
    at = hand.press_at(hand.scene.pills["towns"].output())
    lit = {key: node.lit for key, node in hand.scene.nodes.items()}
    assert lit == {
        "v1": {"layer"}, "v2": {"layer"}, "v3": {"layer"}, "v4": frozenset(),
    }  # fmt: skip
    label = hand.child("GeoOlmPointerLabel")
    hand.drag_to(at, hand.port("v4", "layer"))
    assert label.text() == "This takes a raster, and that is points"
    end = hand.drag_to(at, hand.port("v1", "layer"))
    assert label.isVisible()
    assert label.text() == "Points to layer"
    hand.let_go(end)
    assert hand.graph.vertex("v1").parameters["layer"] == Layer("towns")
    assert not label.isVisible()


def test_a_link_is_fetched_from_an_empty_input(hand: Canvas) -> None:
    step = Vertex("v4", "table", "Count", "count", {"layer": None})
    hand.document.load(with_step(step))
    settle()
    hand.drag(hand.port("v4", "layer"), hand.scene.nodes["v1"].output())
    assert hand.graph.vertex("v4").parameters == {"layer": Output("v1")}


def test_a_link_let_go_on_the_ground_offers_the_steps_that_fit(hand: Canvas) -> None:
    start = hand.scene.pills["towns"].output()
    hand.drag(start, start + QPointF(20, 260))
    assert offered(hand) == ["Filter", "Buffer", "Overlay", "Count", "Review stop"]
    chosen(hand, "buf")
    assert hand.graph.vertex("v4").parameters == {"layer": Layer("towns")}
    assert hand.document.selection == {"v4"}
    assert hand.undo_text == "Add Buffer"


# -- steps put into links


def test_a_step_is_put_into_a_link_from_its_menu(hand: Canvas) -> None:
    menu = hand.view.menu(hand.link(Output("v1"), "v2", "other"))
    menu.findChild(object, "GeoOlmCanvas_insert").trigger()
    assert offered(hand) == ["Filter", "Buffer", "Overlay", "Review stop"]
    chosen(hand, "filter")
    assert hand.graph.vertex("v4").parameters == {"layer": Output("v1")}
    assert hand.graph.vertex("v2").parameters == {"layer": Layer("towns"), "other": Output("v4")}
    assert hand.undo_text == "Insert Filter between Buffer and Overlay"
    hand.document.undo_stack.undo()
    assert hand.graph == GRAPH


def test_a_step_that_is_held_over_a_link_lights_it_and_goes_in(hand: Canvas) -> None:
    hand.document.load(with_step(Vertex("v4", "vector", "Some", "filter", {})))
    settle()
    link = hand.link(Output("v1"), "v2", "other")
    at = hand.press_at(hand.header("v4"))
    end = hand.drag_to(at, link.middle())
    assert link.lit
    hand.let_go(end)
    assert not link.lit
    assert hand.graph.vertex("v4").parameters == {"layer": Output("v1")}
    assert hand.graph.vertex("v2").parameters["other"] == Output("v4")
    assert hand.undo_text == "Insert Filter between Buffer and Overlay"


def test_a_step_that_does_not_fit_into_a_link_says_why_and_only_moves(hand: Canvas) -> None:
    hand.document.load(with_step(Vertex("v4", "table", "Count", "count", {})))
    settle()
    link = hand.link(Output("v1"), "v2", "other")
    at = hand.press_at(hand.header("v4"))
    end = hand.drag_to(at, link.middle())
    assert not link.lit
    said = "Count gives no layer, and Overlay needs one."
    assert hand.child("GeoOlmPointerLabel").text() == said
    hand.let_go(end)
    assert hand.graph.vertex("v2").parameters == GRAPH.vertex("v2").parameters
    assert hand.undo_text == "Move Count"


def test_a_review_stop_hands_its_layer_on_in_a_link(hand: Canvas) -> None:
    link = hand.link(Output("v2"), "v3", "layer")
    hand.hover(link.middle())
    assert link.is_at_plus(link.middle())
    hand.click(link.middle())
    chosen(hand, "review")
    stop = hand.graph.vertex("v4")
    assert (stop.kind, stop.parameters) == (Kind.REVIEW, {"layer": Output("v2")})
    assert hand.graph.vertex("v3").parameters == {"layer": Output("v4")}


# -- ways and words


def test_links_run_around_a_step_that_was_moved_between_them(hand: Canvas) -> None:
    link = hand.link(Output("v1"), "v2", "other")
    third = hand.scene.nodes["v3"]
    hand.drag(hand.header("v2"), hand.header("v2") + QPointF(520, 0))
    start = hand.scene.nodes["v1"].output()
    middle = (start + hand.port("v2", "other")) / 2
    held = hand.header("v3") - third.pos()
    hand.drag(hand.header("v3"), middle + held - QPointF(90, 60))
    assert body(hand, "v3").contains(middle)
    link = hand.link(Output("v1"), "v2", "other")
    box = body(hand, "v3")
    steps = [link._path.pointAtPercent(at / 100) for at in range(101)]
    assert not any(box.contains(one) for one in steps)


def test_a_link_that_runs_back_goes_round_both_steps(hand: Canvas) -> None:
    hand.drag(hand.header("v2"), QPointF(hand.scene.nodes["v1"].x() - 260, hand.header("v2").y()))
    link = hand.link(Output("v1"), "v2", "other")
    steps = [link._path.pointAtPercent(at / 100) for at in range(2, 99)]
    for key in ("v1", "v2"):
        inner = body(hand, key).adjusted(1, 1, -1, -1)
        assert not any(inner.contains(one) for one in steps)


def test_a_link_tells_what_flows_and_how_many(hand: Canvas) -> None:
    link = hand.link(Output("v1"), "v2", "other")
    assert link.label == ""
    assert link.words == "Buffer → Overlay: Other\npolygons"
    made = LayerReference("x", "Made", "", "Polygon", "EPSG:25832", 3)
    state = StepState(Status.COMPLETED, result=ToolResult("x", layers=(made,)))
    hand.document.states["v1"] = state
    hand.document.states_changed.emit(frozenset(("v1",)))
    assert link.label == "3"
    assert link.words == "Buffer → Overlay: Other\n3\u00a0polygons"
    assert "Buffer → Overlay: Other<br>3" in link.toolTip()
    assert hand.link(Layer("towns"), "v2", "layer").label == "40"


def test_a_link_under_the_pointer_comes_to_the_front(hand: Canvas) -> None:
    link = hand.link(Output("v1"), "v2", "other")
    before = link.zValue()
    hand.hover(link.middle())
    assert link.zValue() > before
    hand.hover(hand.header("v1"))
    assert link.zValue() == before
    link.setSelected(True)
    assert link.zValue() > before


def test_the_steps_after_an_inserted_one_make_room(hand: Canvas) -> None:
    start = hand.header("v1")
    hand.drag(start, start + QPointF(0, 60))
    before = {key: one.pos() for key, one in hand.scene.nodes.items()}
    menu = hand.view.menu(hand.link(Output("v1"), "v2", "other"))
    menu.findChild(object, "GeoOlmCanvas_insert").trigger()
    chosen(hand, "filter")
    nodes, column = hand.scene.nodes, 19.5 * hand.view.unit
    assert nodes["v1"].x() == pytest.approx(before["v1"].x(), abs=0.5)
    for key in ("v2", "v3"):
        assert nodes[key].x() == pytest.approx(before[key].x() + column, abs=0.5)
    boxes = [body(hand, key) for key in nodes]
    assert not any(a.intersects(b) for a in boxes for b in boxes if a is not b)


def test_a_port_tells_what_it_takes_in_its_tool_tip(hand: Canvas) -> None:
    node = hand.scene.nodes["v2"]
    assert node.tip_at(hand.port("v2", "other")) == "Other takes polygons"
    assert node.tip_at(hand.scene.nodes["v2"].output()).endswith("the step that uses it")
    assert node.tip_at(hand.header("v2")) == "Overlay\nKeep the towns within"


def test_a_tool_tip_never_reads_words_as_markup(hand: Canvas) -> None:
    hand.document.load(with_step(Vertex("v4", "table", "<img src=x>", "count", {})))
    settle()
    assert "&lt;img" in hand.scene.nodes["v4"].toolTip()


def test_a_step_that_was_dropped_into_a_link_stays_where_it_was_dropped(hand: Canvas) -> None:
    hand.document.load(with_step(Vertex("v4", "vector", "Some", "filter", {})))
    settle()
    start = hand.header("v1")
    hand.drag(start, start + QPointF(0, 40))
    link = hand.link(Output("v1"), "v2", "other")
    hand.drag(hand.header("v4"), link.middle())
    assert hand.graph.vertex("v4").parameters == {"layer": Output("v1")}
    assert not body(hand, "v4").intersects(body(hand, "v3"))
    assert hand.graph.vertex("v4").position != hand.graph.vertex("v2").position
