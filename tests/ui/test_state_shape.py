# SPDX-License-Identifier: GPL-2.0-or-later
"""Each state has a shape of its own, and the arcs share one clock that rests when none is seen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from qgis.PyQt.QtCore import QRectF, Qt
from qgis.PyQt.QtGui import QImage, QPainter, QPalette
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QWidget

from geo_olm.ui.state_shape import ArcClock, Shape, StateMark, paint_shape

SIDE = 40
Show = Callable[[QWidget], QWidget]


def drawn(shape: Shape, palette: QPalette) -> list[bool]:
    """Return where the shape has ink, whatever its colour."""
    image = QImage(SIDE, SIDE, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint_shape(painter, QRectF(0, 0, SIDE, SIDE), shape, palette)
    painter.end()
    on = "#ffffff"
    inks = []
    for y in range(SIDE):
        for x in range(SIDE):
            colour = image.pixelColor(x, y)
            inks.append(colour.alpha() > 127 and colour.name() != on)
    return inks


def test_no_two_states_have_the_same_shape_in_greyscale(qgis_app: object, light: QPalette) -> None:
    pictures = {shape: drawn(shape, light) for shape in Shape}
    for one, other in combinations(Shape, 2):
        pairs = zip(pictures[one], pictures[other])
        different = sum(a != b for a, b in pairs)
        assert different > SIDE * SIDE * 0.02, (one, other)


def test_the_clock_runs_only_while_a_running_arc_can_be_seen(show: Show) -> None:
    clock = ArcClock()
    mark = StateMark(clock, Shape.RUNNING)
    assert not clock.running
    show(mark)
    assert clock.running
    mark.hide()
    assert not clock.running
    mark.show()
    mark.set_shape(Shape.DONE)
    assert not clock.running


def test_marks_share_one_clock(show: Show) -> None:
    clock = ArcClock()
    marks = [StateMark(clock, Shape.RUNNING) for _ in range(2)]
    for mark in marks:
        show(mark)
    marks[0].hide()
    assert clock.running
    marks[1].set_shape(Shape.FAILED)
    assert not clock.running


def test_the_arc_turns(show: Show) -> None:
    mark = StateMark(ArcClock(), Shape.RUNNING, size=4)
    show(mark)
    before = mark.grab().toImage()
    QTest.qWait(350)
    assert mark.grab().toImage() != before
