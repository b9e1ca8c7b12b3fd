# SPDX-License-Identifier: GPL-2.0-or-later
"""The canvas by keys alone: walking, connecting, moving, aligning, finding, and what is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from canvas_case import ALT, CONTROL, GRAPH, SHIFT, Canvas, canvas, settle
from qgis.PyQt.QtCore import QEvent, QPoint, QPointF, Qt
from qgis.PyQt.QtGui import QContextMenuEvent, QGuiApplication
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QApplication

from geo_olm.plugin.workflow.change import Change
from geo_olm.plugin.workflow.graph import Note, Vertex
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.ui.graph.canvas_key import KEYS
from geo_olm.ui.graph.link_item import LinkKey


@pytest.fixture
def hand() -> Iterator[Canvas]:
    with canvas() as made:
        yield made


def spoken(hand: Canvas) -> str:
    return str(hand.view.accessibleDescription())


# -- walking


def test_the_keys_go_from_a_layer_over_steps_and_back(hand: Canvas) -> None:
    hand.select("v1")
    assert spoken(hand) == "Buffer, Vector · Buffer, Not run"
    hand.key(Qt.Key.Key_Left)
    assert hand.scene.selected_layers() == ["park"]
    assert hand.document.selection == frozenset()
    hand.key(Qt.Key.Key_Right)
    assert hand.document.selection == {"v1"}
    hand.key(Qt.Key.Key_Right)
    assert hand.document.selection == {"v2"}


def test_the_keys_go_through_the_links_of_a_step(hand: Canvas) -> None:
    hand.select("v2")
    hand.key(Qt.Key.Key_Left, CONTROL)
    assert hand.scene.selected_links() == [LinkKey(Layer("towns"), "v2", "layer")]
    hand.key(Qt.Key.Key_Left, CONTROL)
    assert hand.scene.selected_links() == [LinkKey(Output("v1"), "v2", "other")]
    assert spoken(hand) == "Buffer → Overlay: Other\npolygons"
    hand.key(Qt.Key.Key_Left)
    assert hand.document.selection == {"v1"}
    hand.key(Qt.Key.Key_Right, CONTROL)
    hand.key(Qt.Key.Key_Delete)
    assert hand.graph.vertex("v2").parameters == {"layer": Layer("towns")}
    assert hand.graph.ids() == ("v1", "v2", "v3")


def test_the_keys_go_through_the_inputs_of_a_step_which_show_a_ring(hand: Canvas) -> None:
    hand.select("v2")
    before = hand.view.grab().toImage()
    hand.key(Qt.Key.Key_Down, CONTROL)
    assert hand.view.walk.port == ("v2", "layer")
    assert spoken(hand) == "Input Layer: towns"
    hand.key(Qt.Key.Key_Down, CONTROL)
    assert hand.view.walk.port == ("v2", "other")
    assert hand.child("GeoOlmPointerLabel").text() == "Input Other: Buffer"
    assert hand.view.grab().toImage() != before
    hand.key(Qt.Key.Key_Escape)
    assert hand.view.walk.port is None


def test_a_link_is_drawn_by_keys_from_a_step(hand: Canvas) -> None:
    hand.select("v1")
    hand.key(Qt.Key.Key_C)
    assert spoken(hand).startswith("Buffer to Overlay: Layer (1 of 3).")
    hand.key(Qt.Key.Key_Up)
    assert spoken(hand).startswith("Buffer to Count: Layer (3 of 3).")
    hand.key(Qt.Key.Key_Return)
    assert hand.graph.vertex("v3").parameters == {"layer": Output("v1")}
    assert hand.undo_text == "Connect Buffer to Count: layer"
    hand.key(Qt.Key.Key_C)
    hand.key(Qt.Key.Key_Escape)
    assert not hand.view.walk.is_connecting
    assert hand.document.undo_stack.count() == 1
    assert all(one.lit is None for one in hand.scene.nodes.values())


def test_a_link_is_drawn_by_keys_to_an_input(hand: Canvas) -> None:
    hand.select("v2")
    hand.key(Qt.Key.Key_Up, CONTROL)
    hand.key(Qt.Key.Key_C)
    # towns and dem do not fit what takes polygons, and what follows may not come before
    assert spoken(hand).startswith("park to Overlay: Other (1 of 2).")
    hand.key(Qt.Key.Key_Return)
    assert hand.graph.vertex("v2").parameters["other"] == Layer("park")


def test_a_step_is_put_into_a_link_by_keys(hand: Canvas) -> None:
    hand.select("v1")
    hand.key(Qt.Key.Key_Right, CONTROL)
    hand.key(Qt.Key.Key_I)
    search = hand.child("GeoOlmChooserSearch")
    QTest.keyClick(search, Qt.Key.Key_Down)
    QTest.keyClick(search, Qt.Key.Key_Return)
    settle()
    assert hand.undo_text == "Insert Buffer between Buffer and Overlay"


def test_the_menu_opens_by_a_key_for_what_is_selected(hand: Canvas) -> None:
    hand.select("v2")
    hand.key(Qt.Key.Key_F10, SHIFT)
    menu = hand.child("GeoOlmCanvasMenu")
    assert menu.isVisible()
    shown = {one.objectName(): one.text() for one in menu.actions() if one.objectName()}
    assert shown["GeoOlmCanvas_duplicate"] == "Duplicate\tCtrl+D"
    menu.close()


def test_every_key_stands_for_something(hand: Canvas) -> None:
    view = hand.view
    owners = (view.acts, view.commands, view.commands.frames)
    lost = [name for name in KEYS.values() if not any(hasattr(one, name) for one in owners)]
    assert lost == []


def test_every_entry_of_the_menus_does_something(hand: Canvas) -> None:
    note = Note("a", (0.0, 40.0, 9.0, 5.0))
    hand.document.load(replace(GRAPH, notes=(note,)))
    settle()
    hand.select("v1", "v2")
    hand.key(Qt.Key.Key_G, CONTROL)
    QTest.keyClick(hand.child("GeoOlmInPlace"), Qt.Key.Key_Return)
    settle()
    scene, view = hand.scene, hand.view
    items = (None, scene.nodes["v1"], scene.pills["park"], scene.frames.notes[0],
             scene.frames.groups[0], hand.link(Output("v1"), "v2", "other"))  # fmt: skip
    owners = (view.acts, view.commands, view.commands.frames)
    own = ("colour", "fold_group", "rename_group", "write_note", "alignments")
    for item in items:
        names = [one.objectName()[13:] for one in view.menu(item).findChildren(object)
                 if one.objectName().startswith("GeoOlmCanvas_")]  # fmt: skip
        assert names
        others = [name for name in names if not name.startswith(own)]
        assert [name for name in others if not any(hasattr(x, name) for x in owners)] == []


# -- places


def test_steps_are_moved_by_keys_and_one_drag_is_one_step_of_undo(hand: Canvas) -> None:
    x = hand.scene.nodes["v2"].x()
    hand.select("v2")
    hand.key(Qt.Key.Key_Right, ALT)
    assert hand.scene.nodes["v2"].x() == pytest.approx(x + hand.view.unit, abs=0.2)
    assert hand.undo_text == "Move Overlay"


def test_a_drag_stands_on_the_grid_unless_that_is_off(hand: Canvas) -> None:
    start = hand.header("v2")
    hand.drag(start, start + QPointF(31, 47))
    x, y = hand.graph.vertex("v2").position
    assert (x % 1, y % 1) == (0, 0)
    hand.view.menu(None).findChild(object, "GeoOlmCanvas_snap").trigger()
    start = hand.header("v2")
    hand.drag(start, start + QPointF(31, 47))
    x, y = hand.graph.vertex("v2").position
    assert (x % 1, y % 1) != (0, 0)


def test_steps_are_aligned_and_set_apart_by_keys_and_menu(hand: Canvas) -> None:
    hand.select("v1", "v2", "v3")
    hand.key(Qt.Key.Key_Up, CONTROL | SHIFT)
    assert len({round(one.y()) for one in hand.scene.nodes.values()}) == 1
    assert hand.undo_text == "Align 3 steps at the top"
    start = hand.header("v2")
    hand.select("v2")
    hand.drag(start, start + QPointF(70, 0))
    hand.select("v1", "v2", "v3")
    menu = hand.view.menu(hand.scene.nodes["v1"])
    menu.findChild(object, "GeoOlmCanvas_distribute_across").trigger()
    settle()
    x = [hand.scene.nodes[key].x() for key in ("v1", "v2", "v3")]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.5)
    assert hand.undo_text == "Distribute 3 steps across"


def test_one_step_cannot_be_aligned_and_that_is_said(hand: Canvas) -> None:
    told = QSignalSpy(hand.view.told)
    hand.select("v1")
    hand.key(Qt.Key.Key_Left, CONTROL | SHIFT)
    assert [one[0] for one in told] == ["Select at least 2 steps first."]
    menu = hand.view.menu(hand.scene.nodes["v1"])
    assert not menu.findChild(object, "GeoOlmCanvas_align_left").isEnabled()


def test_only_the_selected_steps_are_arranged(hand: Canvas) -> None:
    start = hand.header("v3")
    hand.drag(start, start + QPointF(40, 300))
    where = hand.scene.nodes["v1"].pos()
    hand.select("v2", "v3")
    hand.key(Qt.Key.Key_L, CONTROL | SHIFT)
    assert hand.scene.nodes["v1"].pos() == where
    nodes = hand.scene.nodes
    assert nodes["v3"].x() - nodes["v2"].x() == pytest.approx(19.5 * hand.view.unit, abs=0.5)
    assert hand.undo_text == "Arrange 2 steps"


def test_esc_lets_a_drag_go_and_puts_all_back(hand: Canvas) -> None:
    before = hand.scene.nodes["v2"].pos()
    at = hand.press_at(hand.header("v2"))
    end = hand.drag_to(at, hand.header("v2") + QPointF(90, 90))
    assert hand.scene.nodes["v2"].pos() != before
    hand.key(Qt.Key.Key_Escape)
    hand.let_go(end)
    assert hand.scene.nodes["v2"].pos() == before
    assert not hand.document.undo_stack.canUndo()


# -- copying


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "The clipboard is empty. Copy steps first."),
        ("rubbish {", "Nothing was pasted. What was copied is broken in line 1, column 1: "),
        ("[1, 2]", "Nothing was pasted. What was copied is no workflow: it holds no object."),
        ('{"format": "geoflow", "version": "1.0", "vertices": []}',
         "Nothing was pasted. What was copied holds no steps."),
        ('{"format": "geoflow", "version": "1.0", "vertices": [{"id": 3}]}',
         "Nothing was pasted. What was copied cannot be read. vertices[0].id: a text is needed."),
        ('{"format": "geoflow", "version": "1.0", "vertices": [{"id": "a"}, {"id": "a"}]}',
         "Nothing was pasted. Two steps are called a."),
    ],
)  # fmt: skip
def test_rubbish_is_not_pasted_and_why_is_said(hand: Canvas, text: str, why: str) -> None:
    told = QSignalSpy(hand.view.told)
    QGuiApplication.clipboard().setText(text)
    hand.key(Qt.Key.Key_V, CONTROL)
    assert told[0][0].startswith(why)
    assert hand.graph == GRAPH


def test_what_is_cut_is_json_text_that_can_be_pasted_elsewhere(hand: Canvas) -> None:
    hand.select("v2", "v3")
    hand.key(Qt.Key.Key_X, CONTROL)
    assert hand.graph.ids() == ("v1",)
    text = QGuiApplication.clipboard().text()
    assert [one["id"] for one in json.loads(text)["vertices"]] == ["v2", "v3"]
    hand.document.load(replace(GRAPH, vertices=()))
    QGuiApplication.clipboard().setText(text)
    hand.key(Qt.Key.Key_V, CONTROL)
    assert hand.graph.ids() == ("v2", "v3")
    assert hand.graph.vertex("v3").parameters == {"layer": Output("v2")}


# -- finding


def test_the_search_goes_through_steps_layers_and_notes(hand: Canvas) -> None:
    note = Note("Mind the towns", (0.0, 40.0, 9.0, 5.0))
    hand.document.load(replace(GRAPH, notes=(note,)))
    settle()
    hand.key(Qt.Key.Key_F, CONTROL)
    field = hand.child("GeoOlmFind")
    QTest.keyClicks(field, "towns")
    count = hand.child("GeoOlmFindCount")
    assert count.text() == "1 of 3"
    seen = set()
    for _ in range(3):
        seen |= {*hand.document.selection, *hand.scene.selected_layers(),
                 *(f"note {at}" for at in hand.scene.selected_notes())}  # fmt: skip
        QTest.keyClick(field, Qt.Key.Key_Return)
    assert seen == {"v2", "towns", "note 0"}
    field.setText("zzz")
    assert count.text() == "Nothing found"
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not hand.child("GeoOlmFindBar").isVisible()


# -- what is seen


def test_the_focus_is_seen(hand: Canvas) -> None:
    hand.view.activateWindow()
    QTest.qWaitForWindowActive(hand.view, 2000)
    hand.view.setFocus()
    settle()
    assert hand.view.hasFocus()
    corner = QPoint(200, 1)
    focused = hand.view.viewport().grab().toImage().pixelColor(corner)
    hand.view.clearFocus()
    settle()
    assert hand.view.viewport().grab().toImage().pixelColor(corner) != focused


def test_a_context_menu_of_the_mouse_selects_what_it_is_for(hand: Canvas) -> None:
    place = hand.spot(hand.header("v2"))
    seen: list[str] = []
    hand.view.menu = lambda item: seen.append(item.key) or _Menu()  # type: ignore[method-assign, func-returns-value]
    port = hand.view.viewport()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, port.mapToGlobal(place))
    QApplication.sendEvent(port, event)
    assert seen == ["v2"]


class _Menu:
    def exec(self, place: QPoint) -> None:
        """Close at once."""


def test_space_held_pans(hand: Canvas) -> None:
    hand.view.set_zoom(2.5)
    settle()
    bar = hand.view.horizontalScrollBar()
    bar.setValue((bar.minimum() + bar.maximum()) // 2)
    before = bar.value()
    QTest.keyPress(hand.view, Qt.Key.Key_Space)
    hand.mouse(QEvent.Type.MouseButtonPress, QPoint(400, 300), True)
    hand.mouse(QEvent.Type.MouseMove, QPoint(350, 300), True)
    hand.mouse(QEvent.Type.MouseButtonRelease, QPoint(350, 300), False)
    QTest.keyRelease(hand.view, Qt.Key.Key_Space)
    assert bar.value() == before + 50
    assert not hand.document.undo_stack.canUndo()


def test_a_step_of_a_proposal_is_not_an_end_for_links(hand: Canvas) -> None:
    new = Vertex("v9", "table", "Count", "count", {"layer": Output("v2")})
    hand.document.propose(Change(inserted=(new,)))
    settle()
    hand.drag(hand.scene.pills["towns"].output(), hand.port("v9", "layer"))
    assert hand.graph == GRAPH


def test_while_a_change_is_proposed_nothing_is_edited_and_that_is_said(hand: Canvas) -> None:
    hand.document.propose(Change(removed=("v3",)))
    settle()
    told, before = QSignalSpy(hand.view.told), hand.scene.nodes["v1"].pos()
    hand.drag(hand.header("v1"), hand.header("v1") + QPointF(60, 90))
    assert hand.scene.nodes["v1"].pos() == before
    assert [one[0] for one in told] == ["Accept or reject the proposed change first."]


def test_a_proposed_step_can_be_handled_without_harm(hand: Canvas) -> None:
    new = Vertex("v9", "table", "Count", "count", {"layer": Output("v2")})
    hand.document.propose(Change(inserted=(new,)))
    settle()
    told = QSignalSpy(hand.view.told)
    before = hand.scene.nodes["v9"].pos()
    hand.drag(hand.header("v9"), hand.header("v9") + QPointF(50, 50))
    assert hand.scene.nodes["v9"].pos() == before
    link = hand.link(Output("v2"), "v9", "layer")
    hand.view.menu(link).findChild(object, "GeoOlmCanvas_insert").trigger()
    hand.scene.clearSelection()
    link.setSelected(True)
    hand.key(Qt.Key.Key_Delete)
    hand.select("v9")
    for key in (Qt.Key.Key_C, Qt.Key.Key_Escape, Qt.Key.Key_Left, Qt.Key.Key_P):
        hand.key(key)
    hand.select("v9")
    for key in (Qt.Key.Key_D, Qt.Key.Key_C, Qt.Key.Key_B, Qt.Key.Key_G, Qt.Key.Key_Down):
        hand.key(key, CONTROL)
    assert hand.graph == GRAPH
    assert "Accept or reject the proposed change first." in [one[0] for one in told]
