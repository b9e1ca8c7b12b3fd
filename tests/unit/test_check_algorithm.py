# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of steps that run an algorithm, the mends that are only offered, and places of faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from geo_olm.plugin.workflow import phrase
from geo_olm.plugin.workflow.candidate import mended
from geo_olm.plugin.workflow.change import applied
from geo_olm.plugin.workflow.check import Surroundings, check
from geo_olm.plugin.workflow.check_algorithm import Algorithms
from geo_olm.plugin.workflow.finding import Finding, Severity
from geo_olm.plugin.workflow.graph import Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.role import Role, Roles
from geo_olm.plugin.workflow.shape import Shapes
from geo_olm.plugin.workflow.value import Asked, Layer, Output
from geo_olm.tools.base import Family, FieldProfile, LayerProfile, ToolDefinition
from geo_olm.tools.spelling import closest

ROOT = Path(__file__).resolve().parents[2]
BUFFER = {
    "properties": {
        "INPUT": {"type": "string", "x-layer": "vector", "x-type": "source"},
        "DISTANCE": {"type": ["number", "string"], "x-type": "distance", "x-unit": "as INPUT",
                     "description": "Distance; in the layer's unit"},
        "STYLE": {"type": "string", "enum": ["Round", "Flat"], "x-type": "enum"},
        "FIELD": {"type": "string", "x-field": "INPUT", "x-types": ["integer", "real"],
                  "x-type": "field"},
    },
    "required": ["INPUT", "DISTANCE"],
}  # fmt: skip
KNOWN = Algorithms(
    frozenset({"lib:buffer", "lib:clip"}),
    {"lib:sql": "runs code or a database statement"},
    {"lib:buffer": BUFFER},
    {"park": "EPSG:32632"},
)
FIELDS = (FieldProfile("name", "text"), FieldProfile("pop", "integer"))
LAYERS = {
    "towns": LayerProfile("towns", "L1", Family.POINT, "point", "EPSG:32632", fields=FIELDS),
    "park": LayerProfile("park", "L2", Family.POLYGON, "polygon", "EPSG:4326"),
    "dem": LayerProfile("dem", "L3", Family.RASTER, "raster", "EPSG:32632"),
}
ANY: dict[str, Any] = {"type": "string", "x-layer": "vector"}
TOOLS = (
    ToolDefinition("run_algorithm", "Run.", {"type": "object", "properties": {
        "algorithm": {"type": "string"}, "parameters": {"type": "object"}}}, "Run"),
    ToolDefinition("reproject", "Bring.", {"type": "object", "properties": {
        "layer": ANY, "crs": {"type": "string"}}}, "Reproject"),
    ToolDefinition("save_layer", "Save.", {"type": "object", "properties": {
        "layer": ANY, "file": {"type": "string"}}}, "Save"),
)  # fmt: skip
NAMES = tuple(one.name for one in TOOLS)
AROUND = Surroundings(
    {one.name: one for one in TOOLS},
    Roles([Role("vector", "Vector", "", NAMES)]),
    Shapes({
        "run_algorithm": {"geometry": "unknown", "of": "layer", "fields": "unknown"},
        "reproject": {"geometry": "same", "fields": "same", "crs": "{crs}"},
        "save_layer": {"geometry": "none", "writes": "file"},
    }),
    LAYERS,
    lambda name, arguments: "",
    phrase.load(ROOT / "resources" / "workflows" / "operations.json"),
    closest,
    file_exists=lambda name: name in ("a.gpkg", "a_2.gpkg"),
    algorithms=KNOWN,
)  # fmt: skip


def run(algorithm: str = "lib:buffer", **parameters: Any) -> Vertex:
    given = {"algorithm": algorithm, "parameters": parameters}
    return Vertex("v1", "vector", "Draw it. Return the layer.", "run_algorithm", given)


def found(graph: Graph | Vertex) -> dict[str, Finding]:
    whole = graph if isinstance(graph, Graph) else Graph("", (graph,))
    return {one.code: one for one in check(whole, AROUND) if not one.code.startswith("return")}


def test_a_length_in_degrees_is_an_error_that_a_reprojection_mends() -> None:
    for distance in (500, "500 m"):
        step = run(INPUT=Layer("park"), DISTANCE=distance)
        one = found(step)["degrees"]
        assert one.message == f"The distance {distance} would be in degrees: park is in EPSG:4326."
        assert (one.severity, one.parameter) == (Severity.ERROR, "DISTANCE")
        after = applied(Graph("", (step,)), one.mends[0].change)
        new = next(x for x in after.vertices if x.tool == "reproject")
        assert new.parameters == {"layer": Layer("park"), "crs": "EPSG:32632"}
        assert after.vertex("v1").parameters["parameters"]["INPUT"] == Output(new.id)
        assert "degrees" not in found(after)
    assert "degrees" not in found(run(INPUT=Layer("towns"), DISTANCE=500))
    assert "degrees" not in found(run(INPUT=Layer("park"), DISTANCE=0))


def test_what_an_algorithm_lacks_and_does_not_know_is_said_with_its_place() -> None:
    lacks = found(run(INPUT=Layer("towns")))["required"]
    assert (lacks.parameter, lacks.message) == (
        "DISTANCE", "lib:buffer needs DISTANCE (Distance): give it a value.")  # fmt: skip
    strange = found(run(INPUT=Layer("towns"), DISTANCE=5, WIDTH=3))["parameter"]
    fixed = strange.mends[0].change.edited[0].parameters["parameters"]
    assert (strange.parameter, fixed) == ("WIDTH", {"INPUT": Layer("towns"), "DISTANCE": 5})
    option = found(run(INPUT=Layer("towns"), DISTANCE=5, STYLE="Flad"))["option"]
    assert option.mends[0].change.edited[0].parameters["parameters"]["STYLE"] == "Flat"
    typed = found(run(INPUT=Layer("towns"), DISTANCE=5, FIELD="name"))["type"]
    assert (typed.parameter, [x.label for x in typed.mends]) == ("FIELD", ["Use pop"])
    inner = typed.mends[0].change.edited[0].parameters
    assert (inner["algorithm"], inner["parameters"]["FIELD"]) == ("lib:buffer", "pop")


def test_unknown_and_refused_algorithms_are_told_apart() -> None:
    unknown = found(run("lib:bufer", INPUT=Layer("towns")))["algorithm"]
    assert unknown.mends[0].change.edited[0].parameters["algorithm"] == "lib:buffer"
    refused = found(run("lib:sql", INPUT=Layer("towns")))["algorithm"]
    assert "runs code or a database statement" in refused.message
    assert (refused.mends, refused.parameter) == ((), "algorithm")


def test_a_refusal_stands_at_the_parameter_that_it_names() -> None:
    step = replace(run(), tool="save_layer", parameters={"layer": Layer("towns"), "file": 5})
    refused = replace(AROUND, fit=lambda name, given: '"file" must be a text, not 5.')
    (one,) = [x for x in check(Graph("", (step,)), refused) if x.code == "arguments"]
    assert one.parameter == "file"
    vague = replace(AROUND, fit=lambda name, given: "Give it something else.")
    (two,) = [x for x in check(Graph("", (step,)), vague) if x.code == "arguments"]
    assert two.parameter == ""


def test_a_guess_is_offered_and_never_made_by_itself() -> None:
    step = run(INPUT=Layer("dem"), DISTANCE=5)
    one = found(step)["geometry"]
    assert [x.label for x in one.mends] == ["Use towns"]
    assert one.sure == ()
    left = mended(Graph("", (step,)), lambda graph: check(graph, AROUND))
    assert left.graph.vertex("v1") == step
    degrees = run(INPUT=Layer("park"), DISTANCE=5)
    made = mended(Graph("", (degrees,)), lambda graph: check(graph, AROUND))
    assert made.mended == ("Reproject to EPSG:32632 first",)


def test_a_variable_that_is_not_there_is_taken_from_its_neighbours_or_added() -> None:
    step = replace(run(), tool="save_layer", parameters={"layer": Layer("towns"),
                                                         "file": Asked("nam")})  # fmt: skip
    one = found(Graph("", (step,), variables=(Variable("name", Type.TEXT),)))["variable"]
    assert one.parameter == "file"
    assert one.mends[0].change.edited[0].parameters["file"] == Asked("name")
    added = found(Graph("", (step,)))["variable"].mends[0]
    assert [x.name for x in added.change.variables] == ["nam"]
    assert added.is_guess


def test_a_file_that_is_there_gets_the_next_free_name() -> None:
    step = replace(run(), tool="save_layer", parameters={"layer": Layer("towns"),
                                                         "file": "a.gpkg"})  # fmt: skip
    one = found(step)["overwrite"]
    assert one.mends[0].change.edited[0].parameters["file"] == "a_3.gpkg"


def test_a_ring_and_a_link_to_nowhere_can_be_taken_away() -> None:
    first = Vertex("v1", "vector", "", "reproject", {"layer": Output("v2"), "crs": "EPSG:3035"})
    second = Vertex("v2", "vector", "", "reproject", {"layer": Output("v1"), "crs": "EPSG:3035"})
    ring = Graph("", (first, second))
    (one,) = [x for x in check(ring, AROUND) if x.code == "cycle"]
    assert one.mends[0].is_guess
    after = applied(ring, one.mends[0].change)
    assert [x for x in check(after, AROUND) if x.code == "cycle"] == []
    lost = Graph("", (replace(first, parameters={"layer": Output("v9"), "crs": "EPSG:3035"}),))
    (gone,) = [x for x in check(lost, AROUND) if x.code == "unknown"]
    assert applied(lost, gone.mends[0].change).vertex("v1").parameters == {"crs": "EPSG:3035"}
