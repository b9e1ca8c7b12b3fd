# SPDX-License-Identifier: GPL-2.0-or-later
"""A canvas with a small workflow, and the hands that the tests of the canvas use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from qgis.PyQt.QtCore import QEvent, QPoint, QPointF, Qt
from qgis.PyQt.QtGui import QKeyEvent, QMouseEvent
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QApplication

from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.role import Role, Roles
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.base import Family, LayerProfile, ToolDefinition
from geo_olm.ui.graph.document import GraphDocument
from geo_olm.ui.graph.link_item import LinkItem, LinkKey
from geo_olm.ui.graph.view import GraphView

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
ALT, NONE = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.NoModifier


def layer(kinds: Any) -> dict[str, Any]:
    return {"type": "string", "x-layer": kinds}


def tool(name: str, label: str, **properties: Any) -> ToolDefinition:
    schema = {"type": "object", "properties": properties, "required": []}
    return ToolDefinition(name, f"{label} something.", schema, label)


TOOLS = (
    tool("filter", "Filter", layer=layer(["vector", "table"]), where={"type": "string"}),
    tool("buffer", "Buffer", layer=layer("vector"), distance={"type": "number"}),
    tool("overlay", "Overlay", layer=layer("vector"), other=layer("polygon")),
    tool("count", "Count", layer=layer(["vector", "table"])),
    tool("terrain", "Terrain", layer=layer("raster")),
)
ROLES = Roles(
    [
        Role("vector", "Vector", "makes layers", ("filter", "buffer", "overlay")),
        Role("table", "Table", "gives numbers", ("count",)),
        Role("raster", "Raster", "reads rasters", ("terrain",)),
    ]
)
LAYERS = (
    LayerProfile("towns", "L1", Family.POINT, "point", "EPSG:25832", features=40),
    LayerProfile("park", "L2", Family.POLYGON, "polygon", "EPSG:25832", features=3),
    LayerProfile("dem", "L3", Family.RASTER, "raster", "EPSG:25832"),
)
GRAPH = Graph(
    "How many towns are near the park?",
    (
        Vertex("v1", "vector", "Draw 500 m around the park", "buffer",
               {"layer": Layer("park"), "distance": 500}),
        Vertex("v2", "vector", "Keep the towns within", "overlay",
               {"layer": Layer("towns"), "other": Output("v1")}),
        Vertex("v3", "table", "Count them", "count", {"layer": Output("v2")}),
    ),
)  # fmt: skip


def settle() -> None:
    QApplication.processEvents()


class Canvas:
    """A shown view over a document, with hands."""

    def __init__(self, graph: Graph = GRAPH) -> None:
        self.document = GraphDocument()
        self.document.know(TOOLS, LAYERS, ROLES)
        self.document.load(graph)
        self.view = GraphView(self.document)
        self.view.resize(1300, 800)
        self.view.show()
        QTest.qWaitForWindowExposed(self.view)
        self.view.activateWindow()
        self.view.setFocus()
        settle()
        self.view.fit()
        self.view.set_zoom(1.0)
        settle()

    @property
    def scene(self) -> Any:
        return self.view.graph_scene

    @property
    def graph(self) -> Graph:
        return self.document.graph

    @property
    def undo_text(self) -> str:
        return str(self.document.undo_stack.undoText())

    def close(self) -> None:
        self.view.close()
        self.view.deleteLater()
        settle()

    def spot(self, place: QPointF) -> QPoint:
        """Bring a place of the scene into view; returns it in the viewport."""
        self.view.ensureVisible(place.x() - 1, place.y() - 1, 2, 2, 80, 80)
        settle()
        return self.view.mapFromScene(place)

    def mouse(self, kind: QEvent.Type, at: QPoint, held: bool, modifier: Any = NONE) -> None:
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        button = none if kind == QEvent.Type.MouseMove else left
        port = self.view.viewport()
        event = QMouseEvent(
            kind, QPointF(at), QPointF(port.mapToGlobal(at)), button, left if held else none,
            modifier,
        )  # fmt: skip
        QApplication.sendEvent(port, event)

    def press_at(self, place: QPointF, modifier: Any = NONE) -> QPoint:
        at = self.spot(place)
        self.mouse(QEvent.Type.MouseButtonPress, at, True, modifier)
        return at

    def drag_to(self, start: QPoint, end: QPointF) -> QPoint:
        last = self.view.mapFromScene(end)
        for share in (0.3, 0.7, 1.0):
            self.mouse(QEvent.Type.MouseMove, start + (last - start) * share, True)
        return last

    def let_go(self, at: QPoint) -> None:
        self.mouse(QEvent.Type.MouseButtonRelease, at, False)
        settle()

    def drag(self, start: QPointF, end: QPointF) -> None:
        """Press, move with the button held and release, as a hand does."""
        self.let_go(self.drag_to(self.press_at(start), end))

    def click(self, place: QPointF, modifier: Any = NONE) -> None:
        at = self.press_at(place, modifier)
        self.mouse(QEvent.Type.MouseButtonRelease, at, False, modifier)
        settle()

    def double_click(self, place: QPointF) -> None:
        at = self.spot(place)
        self.mouse(QEvent.Type.MouseButtonDblClick, at, True)
        self.let_go(at)

    def hover(self, place: QPointF) -> None:
        at = self.spot(place)
        self.mouse(QEvent.Type.MouseMove, at + QPoint(40, 40), False)
        self.mouse(QEvent.Type.MouseMove, at, False)
        settle()

    def key(self, key: Qt.Key, modifier: Any = NONE, text: str = "") -> None:
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(self.view, QKeyEvent(kind, key, modifier, text))
        settle()

    def select(self, *keys: str) -> None:
        self.document.select(keys)
        settle()

    def header(self, key: str) -> QPointF:
        """Return a place on a step's title."""
        return QPointF(self.scene.nodes[key].mapToScene(QPointF(60, 10)))

    def port(self, key: str, name: str) -> QPointF:
        return QPointF(dict(self.scene.nodes[key].inputs())[name])

    def link(self, source: Any, target: str, port: str) -> LinkItem:
        return self.scene.links[LinkKey(source, target, port)]

    def child(self, name: str) -> Any:
        found = self.view.findChild(object, name)
        assert found is not None, name
        return found


@contextmanager
def canvas(graph: Graph = GRAPH) -> Iterator[Canvas]:
    made = Canvas(graph)
    yield made
    made.close()
