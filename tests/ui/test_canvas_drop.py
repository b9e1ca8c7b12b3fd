# SPDX-License-Identifier: GPL-2.0-or-later
"""What is dragged onto the canvas: layers of QGIS's tree, steps of the palette, files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from canvas_case import CONTROL, GRAPH, Canvas, canvas, settle
from qgis.core import QgsLayerTreeModel, QgsMimeDataUtils, QgsProject, QgsVectorLayer
from qgis.PyQt.QtCore import QMimeData, QPointF, Qt, QUrl
from qgis.PyQt.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from qgis.PyQt.QtTest import QSignalSpy
from qgis.PyQt.QtWidgets import QApplication

from geo_olm.plugin.workflow.file import dumps, loads
from geo_olm.plugin.workflow.graph import Vertex
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.base import Family, LayerProfile
from geo_olm.ui.graph.carried import layer_mime, step_mime

BUTTONS, KEYS = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
ACTIONS = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction


@pytest.fixture
def hand() -> Iterator[Canvas]:
    with canvas() as made:
        yield made


def over(hand: Canvas, mime: QMimeData, place: QPointF) -> bool:
    """Drag over a place; returns whether the canvas would take it."""
    at, port = hand.spot(place), hand.view.viewport()
    enter = QDragEnterEvent(at, ACTIONS, mime, BUTTONS, KEYS)
    QApplication.sendEvent(port, enter)
    move = QDragMoveEvent(at, ACTIONS, mime, BUTTONS, KEYS)
    QApplication.sendEvent(port, move)
    return enter.isAccepted() and move.isAccepted()


def drop(hand: Canvas, mime: QMimeData, place: QPointF) -> QDropEvent:
    assert over(hand, mime, place)
    event = QDropEvent(QPointF(hand.spot(place)), ACTIONS, mime, BUTTONS, KEYS)
    QApplication.sendEvent(hand.view.viewport(), event)
    settle()
    return event


def said(hand: Canvas) -> str:
    label = hand.child("GeoOlmPointerLabel")
    return str(label.text()) if label.isVisible() else ""


@pytest.fixture
def tree(hand: Canvas) -> Iterator[QMimeData]:
    """Return a layer of QGIS's own layer tree as it is dragged."""
    project = QgsProject.instance()
    layer = QgsVectorLayer("Point?crs=EPSG:25832", "schools & co", "memory")
    project.addMapLayer(layer)
    profile = LayerProfile("schools", layer.id(), Family.POINT, "point", "EPSG:25832", features=7)
    hand.document.know(
        hand.document.tools.values(), (*hand.document.layers, profile), hand.document.roles
    )
    model = QgsLayerTreeModel(project.layerTreeRoot())
    yield model.mimeData([model.index(0, 0)])
    project.removeMapLayer(layer)


def test_a_layer_of_the_tree_becomes_a_layer_on_the_canvas_that_can_be_linked(
    hand: Canvas, tree: QMimeData
) -> None:
    place = hand.scene.nodes["v3"].pos() + QPointF(0, 260)
    event = drop(hand, tree, place)
    assert event.dropAction() == Qt.DropAction.CopyAction
    (source,) = hand.graph.sources
    assert (source.name, source.crs) == ("schools", "EPSG:25832")
    assert hand.undo_text == "Put schools on the canvas"
    assert loads(dumps(hand.graph)).graph == hand.graph
    hand.drag(hand.scene.pills["schools"].output(), hand.port("v1", "layer"))
    assert hand.graph.vertex("v1").parameters["layer"] == Layer("schools")
    hand.click(hand.scene.pills["schools"].pos() + QPointF(40, 20))
    hand.key(Qt.Key.Key_Delete)
    assert "schools" not in hand.scene.pills
    assert "layer" not in hand.graph.vertex("v1").parameters
    assert hand.undo_text == "Remove schools"
    hand.key(Qt.Key.Key_Z, CONTROL)
    assert hand.graph.vertex("v1").parameters["layer"] == Layer("schools")


def test_a_layer_is_dropped_on_the_port_that_is_lit(hand: Canvas, tree: QMimeData) -> None:
    place = hand.port("v3", "layer") + QPointF(20, 0)
    over(hand, tree, place)
    assert said(hand) == "schools to layer"
    assert hand.scene.nodes["v1"].lit == {"layer"}
    assert hand.scene.nodes["v2"].lit == {"layer"}
    drop(hand, tree, place)
    assert hand.graph.vertex("v3").parameters == {"layer": Layer("schools")}
    assert hand.undo_text == "Connect schools to Count: layer"
    assert hand.scene.nodes["v1"].lit is None


def test_a_layer_of_the_wrong_kind_is_refused_in_words(hand: Canvas) -> None:
    mime, told = layer_mime("dem"), QSignalSpy(hand.view.told)
    over(hand, mime, hand.header("v1"))
    assert said(hand) == "This takes no layer"
    over(hand, mime, hand.port("v1", "layer") + QPointF(20, 0))
    assert said(hand) == "This takes a layer with features, and that is a raster"
    drop(hand, mime, hand.port("v1", "layer") + QPointF(20, 0))
    assert hand.graph == GRAPH
    assert told[-1][0].startswith("Buffer cannot take dem.")


def test_a_step_of_the_palette_is_dropped_on_a_link_on_a_step_and_on_the_ground(
    hand: Canvas,
) -> None:
    mime = step_mime(Vertex("", "vector", "", "filter", {}))
    link = hand.link(Output("v1"), "v2", "other")
    over(hand, mime, link.middle())
    assert (said(hand), link.lit) == ("Insert here", True)
    drop(hand, mime, link.middle())
    assert hand.graph.vertex("v4").parameters == {"layer": Output("v1")}
    assert hand.graph.vertex("v2").parameters["other"] == Output("v4")
    drop(hand, mime, hand.header("v3"))
    assert hand.graph.vertex("v5").parameters == {}
    drop(hand, mime, hand.header("v2"))
    assert hand.graph.vertex("v6").parameters == {"layer": Output("v2")}
    drop(hand, mime, hand.header("v1") - QPointF(0, 200))
    assert hand.graph.vertex("v7").position is not None


def test_a_step_that_does_not_fit_into_a_link_is_refused_in_words(hand: Canvas) -> None:
    mime, told = step_mime(Vertex("", "raster", "", "terrain", {})), QSignalSpy(hand.view.told)
    link = hand.link(Output("v1"), "v2", "other")
    over(hand, mime, link.middle())
    assert said(hand) == "Terrain takes a raster, and Buffer gives polygons."
    assert not link.lit
    drop(hand, mime, link.middle())
    assert hand.graph == GRAPH
    assert told[-1][0] == "Terrain takes a raster, and Buffer gives polygons."


def test_files_and_items_of_the_browser_are_handed_to_the_project(
    hand: Canvas, tmp_path: Path
) -> None:
    asked = QSignalSpy(hand.view.sources_dropped)
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(tmp_path / "a b.gpkg"))])
    drop(hand, files, hand.port("v3", "layer") + QPointF(20, 0))
    item = QgsMimeDataUtils.Uri()
    item.layerType, item.providerKey, item.uri = "vector", "ogr", "/x/y.gpkg|layername=roads"
    drop(hand, QgsMimeDataUtils.encodeUriList([item]), hand.header("v1") - QPointF(0, 200))
    (first, second) = asked
    assert first[0] == (str(tmp_path / "a b.gpkg"),)
    assert first[2:] == ["v3", "layer"]
    assert QgsMimeDataUtils.Uri(second[0][0]).uri == "/x/y.gpkg|layername=roads"
    assert second[2:] == ["", ""]


def test_what_is_no_layer_is_not_taken_and_a_drag_that_leaves_is_forgotten(hand: Canvas) -> None:
    words = QMimeData()
    words.setText("towns")
    assert not over(hand, words, hand.header("v1"))
    broken = QMimeData()
    broken.setData("application/x-geo-olm-step", b"{broken")
    assert not over(hand, broken, hand.header("v1"))
    over(hand, layer_mime("towns"), hand.port("v3", "layer"))
    QApplication.sendEvent(hand.view.viewport(), QDragLeaveEvent())
    assert said(hand) == ""
    assert all(one.lit is None for one in hand.scene.nodes.values())
