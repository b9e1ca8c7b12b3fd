# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups and notes on the canvas, made, moved, folded, coloured, written and undone by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from canvas_case import CONTROL, GRAPH, SHIFT, Canvas, canvas, settle
from qgis.PyQt.QtCore import QPointF, Qt
from qgis.PyQt.QtGui import QGuiApplication, QPalette
from qgis.PyQt.QtTest import QTest

from geo_olm.plugin.workflow.file import dumps, loads
from geo_olm.plugin.workflow.graph import Group, Note, Status
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.ui.graph.document import StepState
from geo_olm.ui.state_shape import Shape


@pytest.fixture
def hand() -> Iterator[Canvas]:
    with canvas() as made:
        yield made


def group(hand: Canvas, *keys: str, title: str = "Near the park") -> None:
    hand.select(*keys)
    hand.key(Qt.Key.Key_G, CONTROL)
    editor = hand.child("GeoOlmInPlace")
    QTest.keyClicks(editor, title)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    settle()


def title_of(hand: Canvas, at: int = 0) -> QPointF:
    return QPointF(hand.scene.frames.groups[at].title_box().center())


def test_selected_steps_are_grouped_and_the_title_is_written_in_place(hand: Canvas) -> None:
    group(hand, "v1", "v2")
    assert hand.graph.groups == (Group("Near the park", ("v1", "v2")),)
    assert hand.undo_text == "Rename Group to Near the park"
    frame = hand.scene.frames.groups[0].body()
    assert all(frame.contains(hand.scene.nodes[key].pos()) for key in ("v1", "v2"))
    assert not frame.contains(hand.scene.nodes["v3"].pos())
    hand.key(Qt.Key.Key_Z, CONTROL)
    assert hand.undo_text == "Group 2 steps"
    hand.key(Qt.Key.Key_Z, CONTROL)
    assert hand.graph == GRAPH
    assert hand.scene.frames.groups == {}


def test_a_group_is_moved_by_its_title_and_its_frame_fits_again(hand: Canvas) -> None:
    group(hand, "v1", "v2")
    before = {key: hand.scene.nodes[key].pos() for key in hand.scene.nodes}
    hand.drag(title_of(hand), title_of(hand) + QPointF(0, 200))
    moved = {key: hand.scene.nodes[key].y() - before[key].y() for key in before}
    assert 150 < moved["v1"] == pytest.approx(moved["v2"], abs=0.1)
    assert moved["v3"] == 0
    assert hand.undo_text == "Move 2 steps"
    assert hand.scene.frames.groups[0].body().contains(hand.scene.nodes["v1"].pos())


def test_a_collapsed_group_hides_its_steps_and_takes_their_links(hand: Canvas) -> None:
    group(hand, "v1", "v2")
    item = hand.scene.frames.groups[0]
    hand.click(QPointF(item.x() + 8, item.y() + 8))
    assert hand.graph.groups[0].collapsed
    assert hand.undo_text == "Collapse Near the park"
    assert not hand.scene.nodes["v1"].isVisible()
    assert not hand.link(Output("v1"), "v2", "other").isVisible()
    out = hand.link(Output("v2"), "v3", "layer")
    assert out.isVisible()
    assert out.shape().intersects(hand.scene.frames.groups[0].body().adjusted(0, 0, 9, 0))
    hand.document.states["v1"] = StepState(Status.FAILED)
    hand.document.states_changed.emit(frozenset(("v1",)))
    assert hand.scene.frames.groups[0].card.shape is Shape.FAILED
    assert loads(dumps(hand.graph)).graph.groups == hand.graph.groups
    hand.key(Qt.Key.Key_G)
    assert not hand.graph.groups[0].collapsed
    assert hand.scene.nodes["v1"].isVisible()


def test_a_step_that_is_dropped_into_a_group_joins_it_and_leaves_it_by_a_key(
    hand: Canvas,
) -> None:
    group(hand, "v1", "v2")
    frame = hand.scene.frames.groups[0].body()
    hand.drag(hand.header("v3"), frame.topLeft() + QPointF(30, frame.height() - 12))
    assert hand.graph.groups[0].vertices == ("v1", "v2", "v3")
    assert hand.undo_text == "Move Count into Near the park"
    hand.select("v3")
    hand.key(Qt.Key.Key_G, CONTROL | SHIFT)
    assert hand.graph.groups[0].vertices == ("v1", "v2")
    assert hand.undo_text == "Ungroup Count"


def test_a_group_is_copied_with_its_steps_and_goes_with_them(hand: Canvas) -> None:
    group(hand, "v1", "v2")
    hand.click(title_of(hand))
    hand.key(Qt.Key.Key_C, CONTROL)
    assert '"groups"' in QGuiApplication.clipboard().text()
    hand.key(Qt.Key.Key_V, CONTROL)
    assert hand.graph.groups[1] == Group("Near the park", ("v4", "v5"))
    assert hand.graph.vertex("v5").parameters == {"layer": Layer("towns"), "other": Output("v4")}
    hand.key(Qt.Key.Key_Delete)
    assert len(hand.graph.groups) == 1


def test_a_group_takes_a_colour_from_its_menu(hand: Canvas, dark: QPalette) -> None:
    group(hand, "v1", "v2")
    menu = hand.view.menu(hand.scene.frames.groups[0])
    menu.findChild(object, "GeoOlmCanvas_colour_done").trigger()
    settle()
    assert hand.graph.groups[0].color == "done"
    assert hand.undo_text == "Colour Near the park"
    hand.view.setPalette(dark)
    settle()
    assert set(hand.scene.frames.groups) == {0}
    assert not hand.view.grab().isNull()


# -- notes


def test_a_note_is_written_resized_moved_and_removed(hand: Canvas) -> None:
    hand.key(Qt.Key.Key_A, SHIFT)
    editor = hand.child("GeoOlmInPlace")
    QTest.keyClicks(editor, "Mind the CRS")
    QTest.keyClick(editor, Qt.Key.Key_Return, CONTROL)
    settle()
    (note,) = hand.graph.notes
    assert (note.text, hand.undo_text) == ("Mind the CRS", "Edit the note")
    body = hand.scene.frames.notes[0].body()
    corner = body.bottomRight() - QPointF(3, 3)
    hand.drag(corner, corner + QPointF(40, 26))
    (larger,) = hand.graph.notes
    assert larger.area[2] > note.area[2]
    assert hand.undo_text == "Resize the note"
    body = hand.scene.frames.notes[0].body()
    hand.drag(body.topLeft() + QPointF(30, 12), body.topLeft() + QPointF(30, -60))
    (moved,) = hand.graph.notes
    assert moved.area[1] < larger.area[1]
    assert hand.undo_text == "Move the note"
    hand.key(Qt.Key.Key_Delete)
    assert hand.graph.notes == ()
    assert hand.undo_text == "Remove the note"
    for _ in range(5):
        hand.key(Qt.Key.Key_Z, CONTROL)
    assert hand.graph == GRAPH


def test_a_note_is_edited_in_place_by_a_double_click_and_esc_leaves_it(hand: Canvas) -> None:
    hand.document.load(replace(GRAPH, notes=(Note("Old", (0.0, -10.0, 12.0, 5.0), "warning"),)))
    settle()
    hand.double_click(hand.scene.frames.notes[0].body().center())
    editor = hand.child("GeoOlmInPlace")
    assert editor.toPlainText() == "Old"
    QTest.keyClicks(editor, "New")
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    settle()
    assert hand.graph.notes[0].text == "Old"
    menu = hand.view.menu(hand.scene.frames.notes[0])
    menu.findChild(object, "GeoOlmCanvas_colour_running").trigger()
    assert hand.graph.notes[0].color == "running"


def test_a_note_is_copied_and_pasted(hand: Canvas) -> None:
    hand.document.load(replace(GRAPH, notes=(Note("Old", (0.0, -10.0, 12.0, 5.0)),)))
    settle()
    hand.click(hand.scene.frames.notes[0].body().center())
    hand.key(Qt.Key.Key_C, CONTROL)
    hand.key(Qt.Key.Key_V, CONTROL)
    assert [one.area[:2] for one in hand.graph.notes] == [(0.0, -10.0), (2.0, -8.0)]
    assert hand.undo_text == "Paste a note"


def test_a_larger_font_makes_all_of_the_canvas_larger(hand: Canvas) -> None:
    before, node = hand.view.unit, hand.scene.nodes["v1"].sceneBoundingRect()
    font = hand.view.font()
    font.setPixelSize(round(before * 2))
    hand.view.setFont(font)
    settle()
    assert hand.view.unit == pytest.approx(before * 2, abs=1)
    assert hand.scene.nodes["v1"].sceneBoundingRect().width() > node.width() * 1.8
    assert len(hand.scene.links) == 4
    assert not hand.view.grab().isNull()
