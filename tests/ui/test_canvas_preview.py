# SPDX-License-Identifier: GPL-2.0-or-later
"""The preview beside a step that is done: asked for when the pointer rests, shown, taken away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from canvas_case import Canvas, canvas, settle
from qgis.PyQt.QtCore import QPointF, Qt
from qgis.PyQt.QtGui import QImage
from qgis.PyQt.QtTest import QSignalSpy, QTest

from geo_olm.plugin.workflow.graph import Status
from geo_olm.tools.base import LayerReference, ToolResult
from geo_olm.ui.graph.document import StepState
from geo_olm.ui.graph.preview import Seen

MADE = LayerReference("made", "Made", "", "Polygon", "EPSG:25832", 3)


@pytest.fixture
def hand() -> Iterator[Canvas]:
    with canvas() as made:
        yield made


def done(hand: Canvas, key: str, result: ToolResult) -> None:
    hand.document.states[key] = StepState(Status.COMPLETED, result=result)
    hand.document.states_changed.emit(frozenset((key,)))


def shown(hand: Canvas) -> bool:
    return bool(hand.child("GeoOlmPreview").isVisible())


def texts(hand: Canvas) -> list[str]:
    frame = hand.child("GeoOlmPreview")
    return [one.text() for one in frame.findChildren(type(frame.text)) if one.text()]


def test_the_pointer_rests_on_a_done_step_and_its_preview_stands_beside_it(hand: Canvas) -> None:
    done(hand, "v1", ToolResult("made", layers=(MADE,)))
    wanted = QSignalSpy(hand.view.previews.wanted)
    hand.hover(hand.header("v1"))
    assert len(wanted) == 0
    assert wanted.wait(2000)
    key, result, size, ratio = wanted[0]
    assert (key, result.layers, ratio) == ("v1", (MADE,), 1.0)
    image = QImage(size, QImage.Format.Format_RGB32)
    hand.view.previews.show("v1", Seen(image, facts=(("Made", "3 polygons"), ("CRS", "x"))))
    frame, node = hand.child("GeoOlmPreview"), hand.scene.nodes["v1"]
    assert frame.isVisible()
    edge = hand.view.mapFromScene(node.pos() + QPointF(node.size[0] * node.unit, 0))
    assert frame.x() > edge.x()
    assert not frame.hasFocus()
    assert "3 polygons" in texts(hand)
    hand.hover(hand.header("v1") - QPointF(0, 150))
    assert not shown(hand)


def test_a_step_that_has_not_run_has_no_preview(hand: Canvas) -> None:
    wanted = QSignalSpy(hand.view.previews.wanted)
    hand.hover(hand.header("v1"))
    assert not wanted.wait(700)
    hand.select("v1")
    told = QSignalSpy(hand.view.told)
    hand.key(Qt.Key.Key_P)
    assert [one[0] for one in told] == ["Select a step that has run first."]


def test_numbers_are_shown_at_once_by_a_key_and_esc_takes_them_away(hand: Canvas) -> None:
    done(hand, "v3", ToolResult("33", numbers={"count": 33.0}, units={"count": "towns"}))
    hand.select("v3")
    hand.key(Qt.Key.Key_P)
    assert shown(hand)
    assert texts(hand) == ["Count", "33\u00a0towns"]
    hand.key(Qt.Key.Key_Escape)
    assert not shown(hand)
    assert hand.document.selection == {"v3"}


def test_a_preview_that_comes_too_late_is_not_shown(hand: Canvas) -> None:
    done(hand, "v1", ToolResult("made", layers=(MADE,)))
    hand.select("v1")
    hand.key(Qt.Key.Key_P)
    hand.hover(hand.header("v2"))
    hand.view.previews.show("v1", Seen(message="late"))
    assert not shown(hand)


def test_a_preview_goes_when_its_step_runs_again(hand: Canvas) -> None:
    done(hand, "v3", ToolResult("33", numbers={"count": 33.0}))
    hand.select("v3")
    hand.key(Qt.Key.Key_P)
    assert shown(hand)
    hand.document.states["v3"] = StepState(Status.RUNNING)
    hand.document.states_changed.emit(frozenset(("v3",)))
    assert not shown(hand)


def test_the_first_rows_of_a_table_are_shown(hand: Canvas) -> None:
    done(hand, "v1", ToolResult("made", layers=(MADE,)))
    hand.select("v1")
    hand.key(Qt.Key.Key_P)
    seen = Seen(header=("name", "pop"), rows=(("Aa", "5"), ("Bb", "7")))
    hand.view.previews.show("v1", seen)
    settle()
    QTest.qWait(1)
    assert texts(hand) == ["name", "pop", "Aa", "5", "Bb", "7"]
