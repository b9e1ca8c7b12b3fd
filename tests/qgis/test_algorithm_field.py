# SPDX-License-Identifier: GPL-2.0-or-later
"""QGIS's own widgets in the inspector: every algorithm of the registry, every kind of value there
and back, fields that follow the layers, and the palette over the registry."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from osgeo import gdal
from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsProject,
    QgsRasterLayer,
)
from qgis.gui import (
    QgsCheckableComboBox,
    QgsFieldExpressionWidget,
    QgsProjectionSelectionWidget,
)
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QApplication, QCheckBox, QComboBox, QDoubleSpinBox
from toolbox_case import box, layer

from geo_olm.plugin.algorithm_shelf import AlgorithmShelf
from geo_olm.plugin.assembly import make_toolbox
from geo_olm.plugin.graph_check import checker, surroundings
from geo_olm.plugin.replay import agents
from geo_olm.plugin.runner import MainThread
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.finding import Severity
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template
from geo_olm.tools import offer, search
from geo_olm.tools.catalog import build_registry
from geo_olm.ui.graph.carried import carried
from geo_olm.ui.graph.document import GraphDocument
from geo_olm.ui.graph.inspector import Inspector
from geo_olm.ui.graph.parameter_row import rows
from geo_olm.ui.graph.qgis_field import QgisFields
from geo_olm.ui.graph.step_palette import StepPalette

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

KEPT = {"meshdatasetgroups", "idw_interpolation_data", "vectortilewriterlayers",
        "tininputlayers", "dxflayers", "alignrasterlayers"}  # fmt: skip
"""Types whose values hold layers inside: they stay JSON."""
LONG = os.environ.get("GEO_OLM_LONG") == "1"
ODD: tuple[Any, ...] = (
    -3.25, {"a": 1}, Layer("dem"), "nonsense", [[1, 2], [3]], [], True, [1, "x"], Output("v7"),
    5, Asked("x"), 1e300, Layer("none"), "", ["a", "b"], Template("{x} m"),
)  # fmt: skip
TOWNS = ("towns", "Point", "name:string pop:integer", [("POINT(1 1)", "Ely", 20)])


def raster(path: Path) -> QgsRasterLayer:
    made = gdal.GetDriverByName("GTiff").Create(str(path), 2, 2)
    made.SetGeoTransform((0, 1, 0, 2, 0, -1))
    made.SetProjection(QgsCoordinateReferenceSystem("EPSG:32632").toWkt())
    del made
    return QgsRasterLayer(str(path), "dem")


class Room:
    """An inspector with QGIS's fields over a project of towns in metres and a park in degrees."""

    def __init__(self, folder: Path) -> None:
        project = QgsProject.instance()
        project.addMapLayer(layer(*TOWNS))
        project.addMapLayer(
            layer("park", "Polygon", "id:integer", [(box(8, 50, 9, 51), 1)], "EPSG:4326")
        )
        project.addMapLayer(raster(folder / "dem.tif"))
        self.registry = build_registry()
        self.toolbox = make_toolbox(project, Settings(), MainThread())
        self.shelf = AlgorithmShelf(self.registry.definitions(), folder / "recent.json")
        self.document = GraphDocument()
        self.document.shelf = self.shelf
        self.document.know(self.registry.definitions(), self.toolbox.layers(), agents())
        self.inspector = Inspector(self.document, QgisFields(self.document))
        self.inspector.resize(420, 900)
        self.inspector.show()
        self.inspector.activateWindow()

    def run(self, algorithm: str, *before: Vertex, **parameters: Any) -> None:
        """Select a step that runs an algorithm."""
        given = {"algorithm": algorithm, "parameters": parameters}
        self.show(Vertex("v1", "vector", "Do", "run_algorithm", given), *before)

    def show(self, step: Vertex, *before: Vertex) -> None:
        self.document.load(Graph("q", (*before, step)))
        self.document.select((step.id,))
        QApplication.processEvents()

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.document.graph.vertex("v1").parameters["parameters"])

    def widget(self, name: str, kind: type = object) -> Any:
        found = self.inspector.field(name).widget
        return found if isinstance(found, kind) else found.findChild(kind)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.toolbox.close()
    made.inspector.close()
    made.inspector.deleteLater()
    QApplication.processEvents()
    QgsProject.instance().clear()


def test_every_algorithm_has_a_form_that_takes_and_changes_nothing(room: Room) -> None:
    fields, kept, seen = QgisFields(room.document), set(), Counter[str]()
    every = [one for one in room.shelf.algorithms() if not one.refused]
    for one in every if LONG else every[::3]:
        step = Vertex("v1", "vector", "", "run_algorithm", {"algorithm": one.id, "parameters": {}})
        found = rows(room.document, step)
        fields.begin(step, found)
        made = {row.name: fields.field(step, row) for row in found}
        assert fields.end() == [], one.id
        assert [x.value for x in made.values() if x.value is not None] == [], one.id
        kept |= {row.schema["x-type"] for row in found
                 if made[row.name].widget.findChild(object, "GeoOlmKept")}  # fmt: skip
        seen.update(row.schema["x-type"] for row in found)
        for field in made.values():
            field.widget.deleteLater()
    assert kept <= KEPT
    assert seen["number"] > (200 if LONG else 60)
    assert len(seen) > (25 if LONG else 15)


def test_values_of_any_kind_are_kept_and_end_nothing(room: Room) -> None:
    """A raster where points are taken, and a number outside of the options, ended QGIS itself."""
    fields, seen = QgisFields(room.document), set[tuple[str, bool]]()
    for one in room.shelf.algorithms():
        properties = {} if one.refused else room.shelf.schema(one.id)["properties"]
        for name, schema in properties.items():
            spot = (schema["x-type"], "items" in schema)
            if spot in seen or "x-destination" in schema:
                continue
            seen.add(spot)
            for odd in ODD if LONG else ODD[::2]:
                given = {"algorithm": one.id, "parameters": {name: odd}}
                step = Vertex("v1", "vector", "", "run_algorithm", given)
                found = rows(room.document, step)
                fields.begin(step, found)
                made = {row.name: fields.field(step, row) for row in found}
                fields.end()
                assert made[name].value == odd, (one.id, name)
                for field in made.values():
                    field.widget.deleteLater()
    assert len(seen) > 25


@pytest.mark.parametrize(
    ("algorithm", "name", "value"),
    [
        ("native:buffer", "DISTANCE", 12.5),
        ("native:buffer", "END_CAP_STYLE", "Square"),
        ("native:buffer", "DISSOLVE", True),
        ("native:buffer", "SEGMENTS", 9),
        ("native:reprojectlayer", "TARGET_CRS", "EPSG:25833"),
        ("native:extractbyexpression", "EXPRESSION", "\"pop\" > 9 AND name <> 'Ely'"),
        ("native:extractbyextent", "EXTENT", "1,2,3,4.5 [EPSG:32632]"),
        ("native:addfieldtoattributestable", "FIELD_NAME", "größe"),
        ("native:deletecolumn", "COLUMN", ["pop", "name"]),
        ("native:reclassifybytable", "TABLE", [["0", "10", "1"], ["10", "20", "2"]]),
        ("native:tilesxyzdirectory", "BACKGROUND_COLOR", "#ff8000"),
        ("native:refactorfields", "FIELDS_MAPPING", [
            {"expression": '"pop" * 2', "name": "twice", "type": 4, "length": 0, "precision": 0,
             "alias": "", "comment": "", "sub_type": 0, "type_name": "int8"}]),
    ],
)  # fmt: skip
def test_values_come_back_as_they_were(room: Room, algorithm: str, name: str, value: Any) -> None:
    known = room.shelf.schema(algorithm)
    if known is None or name not in known["properties"]:
        pytest.skip(f"this QGIS has no {name} of {algorithm}")
    room.run(algorithm, INPUT=Layer("towns"), **{name: value})
    field = room.inspector.field(name)
    assert field.widget.findChild(object, "GeoOlmKept") is None
    assert type(field).__name__ == "QgisField"
    shown = field.proposed
    if name == "EXTENT":
        assert [float(x) for x in shown.split(" ")[0].split(",")] == [1, 2, 3, 4.5]
        assert shown.endswith("[EPSG:32632]")
    elif name == "COLUMN":
        assert sorted(shown) == sorted(value)
    else:
        assert shown == value
    assert room.parameters[name] == value
    assert not room.document.is_modified


def test_what_a_widget_cannot_show_is_kept_and_said(room: Room) -> None:
    room.run("native:buffer", INPUT=Layer("towns"), DISTANCE=5, END_CAP_STYLE="Wavy")
    field = room.inspector.field("END_CAP_STYLE")
    assert field.widget.findChild(object, "GeoOlmKept") is not None
    assert room.parameters["END_CAP_STYLE"] == "Wavy"


def test_what_the_user_changes_goes_to_the_workflow(room: Room) -> None:
    room.run("native:buffer", INPUT=Layer("towns"), DISTANCE=5)
    spin = room.widget("DISTANCE", QDoubleSpinBox)
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, "250")
    QApplication.processEvents()
    assert room.parameters["DISTANCE"] == 250
    assert room.widget("DISTANCE", QDoubleSpinBox) is spin
    assert room.document.undo_stack.undoText() == "Change Distance of Run an algorithm"
    dissolve = room.widget("DISSOLVE", QCheckBox)
    QTest.mouseClick(dissolve, Qt.MouseButton.LeftButton, pos=dissolve.rect().center())
    dissolve.setFocus()
    QTest.keyClick(dissolve, Qt.Key.Key_Space)
    cap = room.widget("END_CAP_STYLE", QComboBox)
    cap.setFocus()
    QTest.keyClick(cap, Qt.Key.Key_Down)
    QApplication.processEvents()
    assert room.parameters["END_CAP_STYLE"] == "Flat"
    assert room.parameters["INPUT"] == Layer("towns")


def names(room: Room) -> list[str]:
    box = room.widget("FIELD", QComboBox)
    assert box.metaObject().className() == "QgsFieldComboBox"
    return [box.itemText(at) for at in range(box.count())]


def test_fields_follow_the_layer_and_the_step_that_is_bound(room: Room) -> None:
    rename = {"algorithm": "native:renametablefield", "parameters": {"INPUT": Layer("towns")}}
    room.show(Vertex("v1", "vector", "", "run_algorithm", rename))
    assert names(room) == ["name", "pop"]
    before = Vertex("v0", "vector", "", "reproject", {"layer": Layer("park"), "crs": "EPSG:32632"})
    room.run("native:renametablefield", before, INPUT=Output("v0"))
    assert names(room) == ["id"]
    source = room.widget("INPUT", QComboBox)
    source.setCurrentIndex(source.findText("towns"))
    source.activated.emit(source.currentIndex())
    QApplication.processEvents()
    assert room.parameters["INPUT"] == Layer("towns")
    assert names(room) == ["name", "pop"]


def test_a_distance_of_a_layer_in_degrees_takes_a_unit_and_is_mended(room: Room) -> None:
    room.run("native:buffer", INPUT=Layer("park"), DISTANCE=500)
    unit = room.inspector.findChild(QComboBox, "GeoOlmUnit")
    assert unit.currentText() == "degrees"
    graph = room.document.graph
    known = room.shelf.known(graph, room.document.layers)
    around = surroundings(room.toolbox, room.registry, agents(), None, algorithms=known)
    (found,) = [one for one in checker(around)(graph) if one.severity is Severity.ERROR]
    assert (found.code, found.vertex, found.parameter) == ("degrees", "v1", "DISTANCE")
    assert found.message == "The distance 500 would be in degrees: park is in EPSG:4326."
    assert [one.label for one in found.mends] == ["Reproject to EPSG:32632 first"]
    room.document.mend(found.mends[0])
    after = room.document.graph
    assert [one.tool for one in after.vertices] == ["run_algorithm", "reproject"]
    new = after.vertices[1]
    assert new.parameters == {"layer": Layer("park"), "crs": "EPSG:32632"}
    assert room.parameters["INPUT"] == Output(new.id)
    assert [one for one in checker(around)(after) if one.severity is Severity.ERROR] == []


def test_our_tools_take_qgis_widgets_by_the_kind_of_the_argument(room: Room) -> None:
    room.show(Vertex("v1", "vector", "", "reproject", {"layer": Layer("park"), "crs": "EPSG:3035"}))
    crs = room.widget("crs", QgsProjectionSelectionWidget)
    assert crs.crs().authid() == "EPSG:3035"
    room.show(Vertex("v1", "vector", "", "filter", {"layer": Layer("towns"), "where": "pop > 3"}))
    where = room.widget("where", QgsFieldExpressionWidget)
    assert (where.expression(), where.layer().name()) == ("pop > 3", "towns")
    room.show(Vertex("v1", "vector", "", "dissolve", {"layer": Layer("towns"), "by": ["name"]}))
    by = room.widget("by", QgsCheckableComboBox)
    assert (by.checkedItems(), by.count()) == (["name"], 2)
    by.setCheckedItems(["name", "pop"])
    assert room.document.graph.vertex("v1").parameters["by"] == ["name", "pop"]
    room.show(Vertex("v1", "vector", "", "reproject", {"layer": Layer("park"), "crs": "mine"}))
    assert "no CRS" in room.widget("crs").findChild(object, "GeoOlmKept").text()


def test_an_equivalent_algorithm_takes_the_parameters_over(room: Room) -> None:
    room.show(Vertex("v1", "vector", "", "buffer", {"layer": Layer("towns"), "distance": 50}))
    tools = room.inspector.choice.tool
    at = tools.findData("native:buffer")
    assert at > 0
    tools.setCurrentIndex(at)
    tools.activated.emit(at)
    step = room.document.graph.vertex("v1")
    assert step.tool == "run_algorithm"
    assert step.parameters == {"algorithm": "native:buffer",
                               "parameters": {"INPUT": Layer("towns"), "DISTANCE": 50}}  # fmt: skip


def test_a_step_without_an_algorithm_takes_one_by_its_name(room: Room) -> None:
    room.show(Vertex("v1", "vector", "", "run_algorithm", {}))
    box = room.widget("algorithm", QComboBox)
    at = box.findText("Centroids")
    box.setCurrentIndex(at)
    box.activated.emit(at)
    QApplication.processEvents()
    assert room.document.graph.vertex("v1").parameters == {"algorithm": "native:centroids"}
    assert room.inspector.field("ALL_PARTS") is not None
    source = room.widget("INPUT", QComboBox)
    source.setCurrentIndex(source.findText("towns"))
    source.activated.emit(source.currentIndex())
    assert room.parameters == {"INPUT": Layer("towns")}


# -- the palette


def texts(item: Any) -> list[str]:
    return [item.child(at).text(0) for at in range(item.childCount())]


def branch(palette: StepPalette, start: str) -> Any:
    tree = palette.tree
    tops = [tree.topLevelItem(at) for at in range(tree.topLevelItemCount())]
    return next(one for one in tops if one.text(0).startswith(start))


def test_the_palette_holds_every_algorithm_or_says_why_not(room: Room) -> None:
    live = [one for one in QgsApplication.processingRegistry().algorithms()
            if one.provider().id() != "geo_olm"]  # fmt: skip
    palette = StepPalette(room.document)
    every, refused = branch(palette, "Algorithms"), branch(palette, "Not offered")
    assert (every.childCount(), refused.childCount()) == (0, 0)  # filled when they are opened
    every.setExpanded(True)
    found = Counter[str]()
    for at in range(every.childCount()):
        provider = every.child(at)
        provider.setExpanded(True)
        for place in range(provider.childCount()):
            provider.child(place).setExpanded(True)
            found.update(texts(provider.child(place)))
    assert found == Counter(one.displayName() for one in live if not offer.refused(one))
    refused.setExpanded(True)
    assert sorted(texts(refused)) == sorted(
        f"{one.displayName()}: {offer.refused(one)}" for one in live if offer.refused(one)
    )
    palette.deleteLater()


def test_the_palette_finds_as_the_tools_do_and_adds_by_keys(room: Room) -> None:
    palette = StepPalette(room.document)
    palette.show()
    chosen = QSignalSpy(palette.step_chosen)
    QTest.keyClicks(palette.search, "voronoi polygons")
    algorithms = texts(branch(palette, "Algorithms"))
    first = search.live().found("voronoi polygons")[0]
    assert first.name in algorithms
    assert not any(one.text(0).startswith("Layers") for one in [palette.tree.topLevelItem(0)])
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    step = chosen[0][0]
    assert (step.tool, step.title) == ("run_algorithm", algorithms[0])
    assert step.parameters["parameters"] == {}
    QTest.keyClick(palette.search, Qt.Key.Key_Escape)
    assert palette.search.text() == ""
    palette.fill()
    assert texts(branch(palette, "Recently used")) == [algorithms[0]]
    again = AlgorithmShelf(room.registry.definitions(), room.shelf._kept)
    assert list(again.recent()) == [step.parameters["algorithm"]]
    item = branch(palette, "Recently used").child(0)
    assert carried(palette.tree.mimeData([item]), room.document).step == step
    QTest.keyClicks(palette.search, "execute sql")
    reasons = texts(branch(palette, "Not offered"))
    assert any(one.startswith("Execute SQL: runs code") for one in reasons)
    palette.search.clear()
    QTest.keyClicks(palette.search, "review")
    assert texts(branch(palette, "Steps for you")) == ["Review stop"]
    palette.search.clear()
    QTest.keyClicks(palette.search, "xqzw")
    assert "Nothing fits" in palette.tree.topLevelItem(0).text(0)
    palette.close()
    palette.deleteLater()
