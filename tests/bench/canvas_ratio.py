# SPDX-License-Identifier: GPL-2.0-or-later
"""The canvas beside a bare QGraphicsScene with as many boxes, texts and curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from qgis.PyQt.QtCore import QPointF, QRectF
from qgis.PyQt.QtGui import QPainterPath
from qgis.PyQt.QtWidgets import QApplication, QGraphicsScene, QGraphicsView

from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.ui.graph.document import GraphDocument
from geo_olm.ui.graph.editing import with_parameter
from geo_olm.ui.graph.view import GraphView

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
_OPENED, _EDITED = 500, 200


def graph(size: int) -> Graph:
    """Return a tree of steps, two after each."""
    steps = tuple(
        Vertex(f"v{at}", "vector", "Keep some of them", "filter",
               {"layer": Output(f"v{(at - 1) // 2}") if at else Layer("towns"), "where": "a > 1"})
        for at in range(size)
    )  # fmt: skip
    return Graph("Which?", steps)


class Bare:
    """A plain scene of boxes with texts and curves between them."""

    def __init__(self) -> None:
        self.scene = QGraphicsScene()
        self.view = QGraphicsView(self.scene)
        self.view.resize(1200, 800)
        self.view.show()

    def open(self, size: int) -> None:
        """Make as many boxes, with two texts each, and the curves."""
        self.scene.clear()
        for at in range(size):
            x, y = 250.0 * (at % 25), 150.0 * (at // 25)
            box = self.scene.addRect(QRectF(0, 0, 190, 120))
            box.setPos(x, y)
            for line in ("Filter", "Keep some of them"):
                self.scene.addSimpleText(line).setPos(x + 10, y + 20)
            path = QPainterPath(QPointF(x, y))
            path.cubicTo(x + 50, y, x + 150, y + 100, x + 250, y + 100)
            self.scene.addPath(path)
        self.paint()

    def paint(self) -> None:
        """Paint what is seen."""
        self.view.viewport().grab()
        QApplication.processEvents()


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give opening, one edit and one frame of a drag."""
    document = GraphDocument()
    view = GraphView(document)
    view.resize(1200, 800)
    view.show()
    bare = Bare()
    large, middle = graph(_OPENED), graph(_EDITED)
    count = iter(range(10**9))

    def opened() -> None:
        document.load(Graph())
        view.graph_scene.rebuild()
        document.load(large)
        view.graph_scene.rebuild()
        view.viewport().grab()
        QApplication.processEvents()

    def edited() -> None:
        if len(document.graph.vertices) != _EDITED:
            document.load(middle)
            view.graph_scene.rebuild()
        value = f"a > {next(count)}"
        document.edit("x", lambda now: with_parameter(now, "v7", "where", value))
        view.graph_scene.rebuild()
        view.viewport().grab()

    def dragged() -> None:
        node = view.graph_scene.nodes["v7"]
        node.setPos(node.pos() + QPointF(1, 0))
        view.graph_scene.lay_links(("v7",))
        view.viewport().grab()

    def bare_edited() -> None:
        if len(bare.scene.items()) != 4 * _EDITED:
            bare.open(_EDITED)
        bare.scene.items()[0].setToolTip(str(next(count)))
        bare.view.viewport().grab()

    def bare_dragged() -> None:
        item = bare.scene.items()[0]
        item.setPos(item.pos() + QPointF(1, 0))
        bare.view.viewport().grab()

    try:
        yield [
            (f"opening {_OPENED} steps beside a bare scene", opened, lambda: bare.open(_OPENED)),
            (f"one edit at {_EDITED} steps beside a bare scene", edited, bare_edited),
            ("one frame of a drag beside a bare scene", dragged, bare_dragged),
        ]
    finally:
        for one in (view, bare.view):
            one.close()
            one.deleteLater()
        QApplication.processEvents()
