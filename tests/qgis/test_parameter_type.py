# SPDX-License-Identifier: GPL-2.0-or-later
"""Every parameter type of QGIS: right values pass as Processing takes them, and a value of every
wrong type gives a sentence, never a crash or a silent default (B28, B29)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from qgis.core import (
    QgsApplication,
    QgsMeshLayer,
    QgsPrintLayout,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
)
from toolbox_case import Bench, box, layer

from geo_olm.tools import offer, parameter
from geo_olm.tools.base import MendableError, ToolDefinition, ToolResult
from geo_olm.tools.context import Context
from geo_olm.tools.fitting import Fitting
from geo_olm.tools.parameter_schema import parameter as property_of
from geo_olm.tools.parameter_schema import schema
from geo_olm.tools.registry import Registry, Unchecked
from geo_olm.tools.toolbox import ProjectToolbox

pytestmark = pytest.mark.usefixtures("qgis_processing")

MESH = (
    "MESH2D\nND 1 500000 5000000 1\nND 2 501000 5000000 2\nND 3 501000 5001000 3\nE3T 1 1 2 3 1\n"
)
REFUSED_WITH_THEIR_ALGORITHMS = {"execute_sql", "raster_calc_expression"}
CONNECTIONS = {"authcfg", "providerconnection", "databaseschema", "databasetable"}
WRONG: dict[str, Any] = {
    "a truth value": True,
    "a number": 1.5,
    "a negative number": -7,
    "no number": float("nan"),
    "an endless number": float("inf"),
    "a text": "no such thing ~",
    "a list": ["no such thing ~", "~"],
    "an empty list": [],
    "a list of lists": [[["~"]]],
    "an object": {"no such": "thing ~"},
    "a list of objects": [{"no such": "thing ~"}],
    "an address": "https://example.org/a",
    "a file": "/etc/passwd",
}
TAKES = {
    "boolean": {"a truth value"},
    "string": {"a number", "a negative number", "a text", "an address", "a file"},
    "attribute": {"a number", "a negative number", "a text", "a list", "an address", "a file"},
    "expression": {"a number", "a negative number"},
    "number": {"a number", "a negative number"},
    "distance": {"a number", "a negative number"},
    "area": {"a number", "a negative number"},
    "volume": {"a number", "a negative number"},
    "duration": {"a number", "a negative number"},
    "scale": {"a number"},
    "meshdatasetgroups": {"an empty list"},
    "matrix": {"a number", "a negative number", "a text", "a list", "an address", "a file"},
}
"""What of the above is right after all for a type."""


class Catcher(Unchecked):
    """A tool that hands out what it was given to work with."""

    definition = ToolDefinition("catch", "Catch.", {"type": "object", "properties": {}})
    context: Any = None

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        self.context = context
        return ToolResult("caught")


def fitting(bench: Bench, **found: Any) -> Fitting:
    catcher = Catcher()
    toolbox = ProjectToolbox(bench.project, Registry([catcher]), bench.caller, bench.folder)
    toolbox.run("catch", {}, lambda _: None, lambda: False)
    algorithm = QgsApplication.processingRegistry().algorithmById("native:buffer")
    made = Fitting(algorithm, catcher.context)
    made.found.update(found)
    by_id = {one.id: one for one in catcher.context.sources()}
    made.sources.update({name: by_id[value] for name, value in found.items() if value in by_id})
    return made


def live() -> list[Any]:
    """Return the parameters of every algorithm of the registry."""
    algorithms = QgsApplication.processingRegistry().algorithms()
    return [item for one in algorithms for item in one.parameterDefinitions()]


def build(kind: str) -> Any:
    """Return a definition of a type as the registry makes it, with what it needs to refer to."""
    known = QgsApplication.processingRegistry().parameterType(kind)
    if known is None:
        return next(one for one in live() if one.type() == kind).clone()
    made = known.create("P")
    parents = {
        "setParentLayerParameterName": "INPUT",
        "setMeshLayerParameterName": "MESH",
        "setParentLayoutParameterName": "LAYOUT",
        "setOptions": ["Round", "Flat"],
        "setHeaders": ["low", "high", "class"],
    }
    for setter, value in parents.items():
        if kind == "band" and setter == "setParentLayerParameterName":
            value = "RASTER"
        if hasattr(made, setter):
            getattr(made, setter)(value)
    return made


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    rows = [("POINT(500000 5000000)", 1, "a"), ("POINT(500010 5000000)", 2, "b")]
    points = layer("points", "Point", "n:integer t:string", rows)
    single = layer("well", "Point", "n:integer", [("POINT(5 6)", 1)])
    areas = layer("areas", "Polygon", "n:integer", [(box(0, 0, 10, 10), 1)])
    source = tmp_path / "mesh.2dm"
    source.write_text(MESH)
    mesh = QgsMeshLayer(str(source), "flood", "mdal")
    assert mesh.isValid()
    bench = Bench(tmp_path, points, single, areas, raster(tmp_path), mesh)
    layout = QgsPrintLayout(bench.project)
    layout.initializeDefaults()
    layout.setName("A4 sheet")
    bench.project.layoutManager().addLayout(layout)
    return bench


def raster(folder: Path) -> Any:
    from osgeo import gdal, osr
    from qgis.core import QgsRasterLayer

    data = gdal.GetDriverByName("GTiff").Create(str(folder / "dem.tif"), 8, 8, 2)
    data.SetGeoTransform((500000, 10, 0, 5000000, 0, -10))
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(32632)
    data.SetProjection(reference.ExportToWkt())
    data.FlushCache()
    return QgsRasterLayer(str(folder / "dem.tif"), "dem")


def ids(bench: Bench) -> dict[str, str]:
    return {one.name(): one.id() for one in bench.project.mapLayers().values()}


def given(bench: Bench) -> Fitting:
    there = ids(bench)
    found = {"INPUT": there["points"], "RASTER": there["dem"], "MESH": there["flood"]}
    return fitting(bench, **found, LAYOUT="A4 sheet")


def kinds() -> list[str]:
    made = {one.id() for one in QgsApplication.processingRegistry().parameterTypes()}
    return sorted(made | {one.type() for one in live()})


def test_every_type_there_is_has_its_own_way() -> None:
    made = {one.id() for one in QgsApplication.processingRegistry().parameterTypes()}
    destinations = {one for one in made if build(one).isDestination()}
    assert made - destinations - set(parameter.WAYS) == set()
    elsewhere = set(kinds()) - made - set(parameter.WAYS)
    assert elsewhere == REFUSED_WITH_THEIR_ALGORITHMS & set(kinds())
    for one in QgsApplication.processingRegistry().algorithms():
        if {item.type() for item in one.parameterDefinitions()} & elsewhere:
            assert offer.refused(one), one.id()


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_value_of_a_wrong_type_gives_a_sentence(bench: Bench, name: str) -> None:
    value, silent, said = WRONG[name], [], {}
    made = given(bench)
    for kind in kinds():
        if kind in REFUSED_WITH_THEIR_ALGORITHMS:
            continue
        definition = build(kind)
        if definition.isDestination() or name in TAKES.get(kind, set()):
            continue
        try:
            found = parameter.fit(made, definition, value)
            silent.append(f"{kind} took {value!r} as {found!r}")
        except MendableError as error:
            said[kind] = error.message
    assert silent == []
    assert len(said) > 25
    assert {kind: text for kind, text in said.items() if len(text) < 16} == {}


RIGHT: list[tuple[str, Any, Any]] = [
    ("boolean", "yes", True),
    ("boolean", 0, False),
    ("enum", "flat", 1),
    ("enum", 0, 0),
    ("number", "3", 3),
    ("string", 5, "5"),
    ("distance", "1 km", 1000.0),
    ("area", "2 ha", 20000.0),
    ("area", "1 km²", 1e6),
    ("volume", "3 m3", 3.0),
    ("duration", 90, 90.0),
    ("scale", "1:25000", 25000.0),
    ("range", "1,10", [1.0, 10.0]),
    ("range", {"min": 1, "max": 10}, [1.0, 10.0]),
    ("crs", 3857, "EPSG:3857"),
    ("crs", "dem", "EPSG:32632"),
    ("extent", "0,10,-5,5 [EPSG:32632]", "0,10,-5,5 [EPSG:32632]"),
    ("extent", [0, 10, -5, 5], "0,10,-5,5"),
    ("point", [1, 2], "1,2"),
    ("point", "1, 2 [EPSG:4326]", "1, 2 [EPSG:4326]"),
    ("point", "POINT(1 2)", "1.0,2.0"),
    ("point", "well", "5.0,6.0 [EPSG:32632]"),
    ("geometry", "LINESTRING(0 0, 1 1)", "LINESTRING(0 0, 1 1)"),
    ("color", "red", "#ff0000"),
    ("color", [0, 128, 255], "#0080ff"),
    ("datetime", "2024-05-31T12:00:00", "2024-05-31T12:00:00"),
    ("matrix", [[0, 1, 5], [1, 2, "6"]], [0, 1, 5, 1, 2, 6]),
    ("matrix", "0,1,5", [0, 1, 5]),
    ("expression", '"n" > 1', '"n" > 1'),
    ("field", "N", "n"),
    ("band", 2, 2),
    ("layout", "a4 sheet", "A4 sheet"),
    ("meshdatasettime", "static", {"type": "static"}),
    ("coordinateoperation", "+proj=noop", "+proj=noop"),
    ("attribute", "Intensity", "Intensity"),
]


def test_right_values_pass_as_processing_takes_them(bench: Bench) -> None:
    wrong = []
    for kind, value, right in RIGHT:
        definition = build(kind)
        found = parameter.fit(given(bench), definition, value)
        if found != right or type(found) is not type(right):
            wrong.append(f"{kind} {value!r} became {found!r}, not {right!r}")
        if kind != "layout" and not definition.checkValueIsAcceptable(
            found, QgsProcessingContext()
        ):
            wrong.append(f"Processing does not take {found!r} for {kind}")
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [("source", "points"), ("vector", "areas"), ("raster", "dem"), ("layer", "dem"),
     ("mesh", "flood")],
)  # fmt: skip
def test_a_layer_is_given_by_name_and_taken_by_id(bench: Bench, kind: str, name: str) -> None:
    found = parameter.fit(given(bench), build(kind), name)
    assert found == ids(bench)[name]


def test_lists_of_objects_are_filled_in(bench: Bench) -> None:
    there = ids(bench)
    (row,) = parameter.fit(
        given(bench), build("tininputlayers"), [{"layer": "points", "field": "n"}]
    )
    assert row == {"source": there["points"], "type": 0, "attributeIndex": 0}
    (row,) = parameter.fit(given(bench), build("vectortilewriterlayers"), ["areas"])
    assert row == {"layer": there["areas"]}
    (row,) = parameter.fit(given(bench), build("dxflayers"), "areas")
    assert row == {"layer": there["areas"], "attributeIndex": -1}
    (row,) = parameter.fit(given(bench), build("alignrasterlayers"), [{"layer": "dem"}])
    assert row["inputFile"].endswith("dem.tif")
    assert str(bench.folder) in row["outputFile"]


def test_dataset_groups_of_a_mesh_are_given_by_name(bench: Bench) -> None:
    definition = by_id("native:meshrasterize").parameterDefinition("DATASET_GROUPS")
    made = fitting(bench, INPUT=ids(bench)["flood"])
    assert parameter.fit(made, definition, ["bed elevation"]) == [0]
    assert parameter.fit(made, definition, 0) == [0]
    for wrong in ("depth", 7, [True]):
        with pytest.raises(MendableError, match="dataset group"):
            parameter.fit(made, definition, wrong)


def aggregates(bench: Bench, value: Any) -> list[dict[str, Any]]:
    made = given(bench)
    made.algorithm = QgsApplication.processingRegistry().algorithmById("native:aggregate")
    definition = made.algorithm.parameterDefinition("AGGREGATES")
    return parameter.fit(made, definition, value)


def test_an_aggregate_needs_a_field_and_a_word(bench: Bench) -> None:
    first, second = aggregates(bench, [{"field": "n", "aggregate": "average"}, {"field": "T"}])
    assert (first["input"], first["aggregate"], first["name"]) == ('"n"', "mean", "n_mean")
    assert (second["input"], second["aggregate"], second["name"]) == ('"t"', "first_value", "t")
    with pytest.raises(MendableError, match='no aggregate: "biggest"'):
        aggregates(bench, [{"field": "n", "aggregate": "biggest"}])
    with pytest.raises(MendableError, match='no field "pop"'):
        aggregates(bench, [{"field": "pop", "aggregate": "sum"}])


SENTENCES: list[tuple[str, Any, str]] = [
    ("extent", "10,0,0,5", "wrong order"),
    ("extent", "0,10,0", "four numbers"),
    ("extent", "0,1,0,1 [EPSG:1]", "unknown CRS"),
    ("point", "points", "needs one point, and points has 2"),
    ("range", [10, 1], "swap the two"),
    ("duration", "3 moons", "unknown unit"),
    ("area", "3 furlongs", "unknown unit"),
    ("matrix", [[1, 2]], "needs 3 values in each row"),
    ("color", "reddish", "must be a colour"),
    ("datetime", "31.5.2024", "a moment such as"),
    ("layout", "B5", "A4 sheet"),
    ("maptheme", "dark", "has none"),
    ("band", 3, "dem has no band 3"),
    ("field", ["n", "t"], "takes one value"),
    ("enum", ["Round", "Flat"], "takes one value"),
    ("source", ["points", "well"], "takes one value"),
    ("mesh", "dem", "names no mesh layer"),
    ("geometry", "POINT(1", "a geometry as WKT"),
]


def test_the_sentence_says_what_is_wrong(bench: Bench) -> None:
    made = given(bench)
    for kind, value, said in SENTENCES:
        with pytest.raises(MendableError, match=said):
            parameter.fit(made, build(kind), value)


def test_connections_and_keys_stay_empty(bench: Bench) -> None:
    made = given(bench)
    for kind in sorted(CONNECTIONS):
        with pytest.raises(MendableError, match="opens a connection"):
            parameter.fit(made, build(kind), "my_database")


def by_id(algorithm: str) -> QgsProcessingAlgorithm:
    return QgsApplication.processingRegistry().algorithmById(algorithm)


def test_a_schema_says_what_is_required_and_what_is_allowed() -> None:
    found = schema(by_id("native:buffer"))
    assert found["required"] == ["INPUT", "DISTANCE"]
    properties = found["properties"]
    assert properties["INPUT"]["x-layer"] == "table"
    assert properties["END_CAP_STYLE"]["enum"] == ["Round", "Flat", "Square"]
    assert properties["END_CAP_STYLE"]["default"] == "Round"
    assert (properties["SEGMENTS"]["type"], properties["SEGMENTS"]["minimum"]) == ("integer", 1)
    assert "default" not in properties["DISTANCE"]
    assert properties["SEPARATE_DISJOINT"]["x-advanced"] is True
    assert properties["OUTPUT"]["x-destination"] is True
    assert next(iter(properties)) == "INPUT"


@pytest.mark.parametrize(
    ("algorithm", "name", "part"),
    [
        ("native:countpointsinpolygon", "POLYGONS", {"x-layer": "polygon"}),
        ("native:joinattributestable", "FIELD", {"x-field": "INPUT"}),
        ("native:slope", "INPUT", {"x-layer": "raster"}),
        ("native:zonalstatisticsfb", "RASTER_BAND", {"type": "integer", "x-band": "INPUT_RASTER"}),
        ("native:zonalstatisticsfb", "STATISTICS", {"type": "array"}),
        ("native:stdbscanclustering", "EPS2", {"x-unit": "hours"}),
        ("native:mergevectorlayers", "LAYERS", {"type": "array", "minItems": 1}),
        ("native:meshrasterize", "INPUT", {"x-kind": "mesh layer"}),
    ],
)
def test_a_schema_marks_layers_fields_bands_and_units(
    algorithm: str, name: str, part: dict[str, Any]
) -> None:
    found = schema(by_id(algorithm))["properties"][name]
    assert {key: found[key] for key in part} == part


def test_every_type_has_a_schema() -> None:
    made = [one.id() for one in QgsApplication.processingRegistry().parameterTypes()]
    for kind in made:
        found = property_of(build(kind))
        assert found["x-type"] == kind
        assert found["type"]


def test_a_default_that_processing_would_take_silently_is_asked_for(bench: Bench) -> None:
    with pytest.raises(MendableError, match="needs DISTANCE"):
        bench.run("run_algorithm", algorithm="native:buffer", parameters={"INPUT": "points"})
