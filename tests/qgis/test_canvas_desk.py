# SPDX-License-Identifier: GPL-2.0-or-later
"""What the canvas gets from QGIS: pictures of results off the main thread, and opened files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qgis.core import QgsFeature, QgsGeometry, QgsMimeDataUtils, QgsProject, QgsVectorLayer
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QWidget

from geo_olm.plugin.algorithm_shelf import AlgorithmShelf
from geo_olm.plugin.canvas_desk import CanvasDesk
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.role import Role, Roles
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.base import Family, LayerProfile, ToolDefinition, ToolResult
from geo_olm.tools.store import reference
from geo_olm.ui.graph.document import GraphDocument
from geo_olm.ui.graph.link_item import LinkKey
from geo_olm.ui.graph.preview import Seen
from geo_olm.ui.graph.view import GraphView

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

SCHEMA = {
    "type": "object",
    "properties": {"layer": {"type": "string", "x-layer": "vector"}},
    "required": ["layer"],
}
COUNT = ToolDefinition("count", "Counts.", SCHEMA, "Count")
ROLES = Roles([Role("table", "Table", "counts", ("count",))])
RUN = ToolDefinition("run_algorithm", "Runs.", {"type": "object", "properties": {}}, "Run")
SIZE = QSize(180, 100)


class Bench:
    """A view with its desk, and what both said."""

    def __init__(self) -> None:
        self.document = GraphDocument()
        self.document.know((COUNT,), (), ROLES)
        self.document.load(Graph("How many?", (Vertex("v1", "table", "", "count", {}),)))
        self.view = GraphView(self.document)
        self.parent = QWidget()
        self.said: list[str] = []
        self.desk = CanvasDesk(self.view, self.said.append, self.parent)
        self.seen: list[Seen] = []
        self.view.previews.show = lambda key, seen: self.seen.append(seen)  # type: ignore[method-assign]

    def ask(self, layer: QgsVectorLayer) -> Seen:
        """Ask for a preview and wait for it."""
        self.seen.clear()
        result = ToolResult("made", layers=(reference(layer),))
        return self.ask_for(result)

    def ask_for(self, result: ToolResult) -> Seen:
        self.view.previews.wanted.emit("v1", result, SIZE, 1.0)
        for _ in range(200):
            if self.seen:
                return self.seen[-1]
            QTest.qWait(10)
        raise AssertionError("no preview came")


@pytest.fixture
def bench() -> Iterator[Bench]:
    QgsProject.instance().clear()
    made = Bench()
    yield made
    made.desk.close()
    made.view.deleteLater()
    QgsProject.instance().clear()


def polygons() -> QgsVectorLayer:
    """Return one square of 2 km in a layer of the project."""
    layer = QgsVectorLayer("Polygon?crs=EPSG:25832&field=name:string", "squares", "memory")
    feature = QgsFeature(layer.fields())
    feature.setGeometry(QgsGeometry.fromWkt("POLYGON((0 0,2000 0,2000 2000,0 2000,0 0))"))
    layer.dataProvider().addFeatures([feature])
    layer.updateExtents()
    layer.renderer().symbol().setColor(QColor("#ff0000"))
    QgsProject.instance().addMapLayer(layer)
    return layer


def test_a_layer_is_drawn_with_its_facts(bench: Bench) -> None:
    seen = bench.ask(polygons())
    assert seen.image is not None
    assert (seen.image.width(), seen.image.height()) == (180, 100)
    middle = QColor(seen.image.pixel(90, 50))
    assert (middle.red(), middle.green()) == (255, 0)
    assert dict(seen.facts) == {
        "Made": "1\u00a0polygon",
        "CRS": "EPSG:25832",
        "Extent": "2 × 2\u00a0km",
        "Fields": "1: name",
    }


def test_a_picture_is_kept_until_its_layer_goes(bench: Bench) -> None:
    layer = polygons()
    result = ToolResult("made", layers=(reference(layer),))
    first = bench.ask_for(result)
    bench.view.previews.wanted.emit("v1", result, SIZE, 1.0)
    assert bench.seen[-1] is first
    assert len(bench.seen) == 2
    QgsProject.instance().removeMapLayer(layer)
    bench.view.previews.wanted.emit("v1", result, SIZE, 1.0)
    gone = bench.seen[-1]
    assert gone.image is None
    assert gone.message.startswith("squares is not in the project any more.")


def test_a_table_shows_its_first_rows(bench: Bench) -> None:
    table = QgsVectorLayer("None?field=name:string&field=pop:integer", "list", "memory")
    for at in range(9):
        feature = QgsFeature(table.fields())
        feature.setAttributes([f"town {at}", at])
        table.dataProvider().addFeatures([feature])
    QgsProject.instance().addMapLayer(table)
    seen = bench.ask(table)
    assert seen.image is None
    assert seen.header == ("name", "pop")
    assert seen.rows == tuple((f"town {at}", str(at)) for at in range(5))


def test_a_picture_is_not_drawn_on_when_another_is_wanted(bench: Bench) -> None:
    one, two = polygons(), polygons()
    for layer in (one, two):
        result = ToolResult("made", layers=(reference(layer),))
        bench.view.previews.wanted.emit("v1", result, SIZE, 1.0)
    QTest.qWait(300)
    assert len(bench.seen) == 1


# -- algorithms


def test_the_inputs_of_an_algorithm_are_ports_that_links_end_at(bench: Bench) -> None:
    known_layers(bench, "towns", "zones")
    given = {"algorithm": "native:clip", "parameters": {"INPUT": Layer("towns")}}
    step = Vertex("v1", "vector", "", "run_algorithm", given)
    bench.document.load(Graph(vertices=(step,)))
    bench.view.graph_scene.rebuild()
    node = bench.view.graph_scene.nodes["v1"]
    ports = [name for name, _ in node.inputs()]
    assert ports == ["parameters.INPUT", "parameters.OVERLAY"]
    assert [row.is_missing for row in node.card.rows[:2]] == [False, True]
    assert node.card.subtitle == "vector · native:clip"
    bench.view.commands.joins.connect(Layer("zones"), "v1", "parameters.OVERLAY")
    inner = bench.document.graph.vertex("v1").parameters["parameters"]
    assert inner == {"INPUT": Layer("towns"), "OVERLAY": Layer("zones")}
    assert bench.document.undo_stack.undoText().endswith(": OVERLAY")
    bench.view.graph_scene.rebuild()
    assert len(bench.view.graph_scene.links) == 2


def test_algorithms_are_offered_where_they_fit_and_put_into_the_link(bench: Bench) -> None:
    known_layers(bench, "zones")
    step = Vertex("v1", "table", "", "count", {"layer": Layer("zones")})
    bench.document.load(Graph(vertices=(step,)))
    bench.view.graph_scene.rebuild()
    link = LinkKey(Layer("zones"), "v1", "layer")
    found = bench.view.graph_scene.joining.algorithms_in(link, "centroids")
    ids = [one.parameters["algorithm"] for one in found]
    assert "native:centroids" in ids
    assert not any(one.startswith("gdal:slope") for one in ids)
    bench.view.commands.joins.put_new_into(found[ids.index("native:centroids")], link)
    inner = bench.document.graph.vertex("v2").parameters
    assert inner == {"algorithm": "native:centroids", "parameters": {"INPUT": Layer("zones")}}
    assert bench.document.graph.vertex("v1").parameters == {"layer": Output("v2")}


def known_layers(bench: Bench, *names: str) -> None:
    bench.document.shelf = AlgorithmShelf((COUNT, RUN), Path())
    profiles = [LayerProfile(one, one, Family.POLYGON, "polygon", "EPSG:4326") for one in names]
    bench.document.know((COUNT, RUN), profiles, ROLES)


# -- files


def known(bench: Bench) -> None:
    """Tell the canvas of the project's layers, as the editor does after reading them."""
    profiles = [
        LayerProfile(one.name(), one.id(), Family.POINT, "point", "EPSG:4326", features=1)
        for one in QgsProject.instance().mapLayers().values()
    ]
    bench.document.know((COUNT,), profiles, ROLES)


def towns(folder: Path) -> Path:
    point: dict[str, Any] = {"type": "Point", "coordinates": [1, 2]}
    feature = {"type": "Feature", "properties": {"name": "A"}, "geometry": point}
    path = folder / "my towns.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    return path


def test_a_file_is_opened_and_taken_by_the_step_once_it_is_known(
    bench: Bench, tmp_path: Path
) -> None:
    bench.view.sources_dropped.emit((str(towns(tmp_path)),), (4.0, 4.0), "v1", "layer")
    assert bench.document.graph.vertex("v1").parameters == {}
    known(bench)
    (name,) = [one.name() for one in QgsProject.instance().mapLayers().values()]
    assert bench.document.graph.vertex("v1").parameters == {"layer": Layer(name)}


def test_an_item_of_the_browser_becomes_a_layer_on_the_canvas(bench: Bench, tmp_path: Path) -> None:
    item = QgsMimeDataUtils.Uri()
    item.layerType, item.providerKey, item.uri = "vector", "ogr", str(towns(tmp_path))
    data = bytes(QgsMimeDataUtils.encodeUriList([item]).data("application/x-vnd.qgis.qgis.uri"))
    text = data[4:].decode("utf-16-be")
    bench.view.sources_dropped.emit((text,), (4.0, 6.0), "", "")
    known(bench)
    (source,) = bench.document.graph.sources
    assert source.position == (4.0, 6.0)


def test_what_is_no_layer_is_told_of(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no layer")
    bench.view.sources_dropped.emit((str(path),), (0.0, 0.0), "", "")
    assert bench.said == ["notes.txt holds no layer that QGIS can open."]
    assert QgsProject.instance().mapLayers() == {}
