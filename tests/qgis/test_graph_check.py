# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of shapes against the tools themselves, and the checks of graphs over a project."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from every_call import CALLS, bench
from toolbox_case import Bench

from geo_olm.plugin.graph_check import checker, surroundings
from geo_olm.plugin.place import RESOURCES
from geo_olm.plugin.replay import agents
from geo_olm.plugin.workflow import shape
from geo_olm.plugin.workflow.change import applied
from geo_olm.plugin.workflow.check import Surroundings, check
from geo_olm.plugin.workflow.finding import Finding, Severity
from geo_olm.plugin.workflow.graph import Answer, Graph, Variable, Vertex
from geo_olm.plugin.workflow.graph import Type as VariableType
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template
from geo_olm.tools.base import Family
from geo_olm.tools.catalog import build_registry

pytestmark = pytest.mark.usefixtures("qgis_processing")
LOOKING = {"list_layers", "layer_info", "search_algorithms", "describe_algorithm", "undo",
           "answer", "reject", "unique_values"}  # fmt: skip


@pytest.fixture
def stage(tmp_path: Path) -> Bench:
    return bench(tmp_path)


Check = Callable[..., tuple[Finding, ...]]


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory, qgis_app: Any) -> Surroundings:
    folder = tmp_path_factory.mktemp("project")
    return surroundings(bench(folder).toolbox, build_registry(), agents(), folder / "out")


@pytest.fixture
def found(around: Surroundings) -> Check:
    def checked(*vertices: Vertex, **more: Any) -> tuple[Finding, ...]:
        return check(Graph("", vertices, **more), around)

    return checked


def step(identity: str, tool: str, *after: str, **parameters: Any) -> Vertex:
    role = agents().of(tool)
    agent = role.name if role else ""
    return Vertex(identity, agent, tool=tool, parameters=parameters, after=after)


def above(value: int, field: str) -> list[dict[str, Any]]:
    return [{"field": field, "op": ">", "value": value}]


def test_every_tool_that_makes_something_has_a_call_a_rule_and_an_agent() -> None:
    names = {one.name for one in build_registry().definitions()}
    assert names - LOOKING - set(CALLS) == set()
    rules = shape.load(RESOURCES / "workflows" / "shapes.json").tools()
    assert names - {"undo", "answer", "reject"} == rules
    given = {tool for one in agents().all() for tool in one.tools}
    assert given == names - {"undo", "answer", "reject"}
    shared = {"run_algorithm", "search_algorithms", "describe_algorithm"}
    for name in given - shared:
        assert len([one.name for one in agents().all() if name in one.tools]) == 1


def test_what_the_rules_say_is_what_the_tools_give(stage: Bench, tmp_path: Path) -> None:
    rules = shape.load(RESOURCES / "workflows" / "shapes.json")
    wrong: dict[str, str] = {}
    for tool, given in CALLS.items():
        arguments = dict(given)
        if tool == "add_layer":
            arguments["source"] = str(tmp_path / "out" / "more.geojson")
        if tool == "clean":
            arguments["task"] = "remove duplicate rows"
        profiles = {one.key: shape.of_layer(one) for one in stage.toolbox.layers()}
        said = rules.of(step("v1", tool, **_layers(arguments, profiles)), {}, profiles)
        result, error, _ = stage.work(tool, arguments)
        assert error is None, (tool, error)
        assert result is not None
        made = {one.id: one for one in stage.toolbox.layers()}
        layers = [made[one.id] for one in result.layers if one.id in made]
        missing = [key for key in said.numbers if key not in result.numbers]
        more = [key for key in (*result.numbers, *result.texts) if not said.has(key)]
        if missing or more:
            wrong[tool] = f"numbers: missing {missing}, more {more}"
        if (said.shape is not None) != bool(layers) and not result.speaks:
            wrong[tool] = f"layer: said {said.shape}, made {layers}"
        if said.shape is None or not layers:
            continue
        real = shape.of_layer(layers[0])
        if said.shape.family not in (real.family, Family.ANY):
            wrong[tool] = f"family: said {said.shape.family}, made {real.family}"
        if said.shape.crs not in (real.crs, None):
            wrong[tool] = f"CRS: said {said.shape.crs}, made {real.crs}"
        absent = set(said.shape.fields or {}) - set(real.fields or {})
        strange = [one for one in real.fields or {} if not said.shape.has(one)]
        if (said.shape.fields is not None and absent) or strange:
            wrong[tool] = f"fields: said {said.shape.fields}, made {real.fields}"
        counted = said.shape.features
        if counted >= 0 and real.features > counted:
            wrong[tool] = f"features: said {counted}, made {real.features}"
        if counted >= 0 and not said.shape.at_most and real.features != counted:
            wrong[tool] = f"features: said {counted}, made {real.features}"
    assert wrong == {}


def _layers(arguments: Any, known: Any) -> Any:
    if isinstance(arguments, dict):
        return {key: _layers(one, known) for key, one in arguments.items()}
    if isinstance(arguments, list):
        return [_layers(one, known) for one in arguments]
    return Layer(arguments) if arguments in known else arguments


def codes(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(one.code, one.vertex) for one in findings if one.severity is not Severity.NOTE]


def test_a_right_graph_has_no_finding(found: Check) -> None:
    assert (
        found(
            step(
                "v1",
                "filter",
                layer=Layer("points"),
                conditions=above(0, "n"),
            ),
            step("v2", "buffer", layer=Output("v1"), distance=Asked("far")),
            step("v3", "count_in_polygons", polygons=Layer("zones"), layer=Output("v1")),
            step(
                "v4",
                "filter",
                layer=Output("v3"),
                conditions=above(1, "count"),
            ),
            step("v5", "calculate", expression=Template("{v4.count} / {v2.count}")),
            answer=Answer(value=Output("v5", "value")),
            variables=(Variable("far", VariableType.NUMBER),),
        )
        == ()
    )


@pytest.mark.parametrize(
    ("vertices", "expected", "words", "mended"),
    [
        ([replace(step("v1", "bufer", layer=Layer("points")), agent="vector")],
         ("tool", "v1"), "Closest: buffer", None),
        ([step("v1", "count", layer=Layer("point"))], ("layer", "v1"), "Did you mean points?",
         {"layer": Layer("points")}),
        ([step("v1", "statistics", layer=Layer("points"), field="m", statistic="sum")],
         ("field", "v1"), 'no field "m"', None),
        ([step("v1", "statistics", layer=Layer("points"), field="N", statistic="sum")],
         ("field", "v1"), "Did you mean n?",
         {"layer": Layer("points"), "field": "n", "statistic": "sum"}),
        ([step("v1", "buffer", layer=Layer("points"), distance=5),
          step("v2", "statistics", layer=Output("v1"), field="part", statistic="sum")],
         ("field", "v2"), 'no field "part"', None),
        ([step("v1", "count_in_polygons", polygons=Layer("patches"), layer=Layer("zones"),
               sum_field="part")],
         ("type", "v1"), "part holds text", None),
        ([step("v1", "buffer", layer=Layer("points"), distance=5),
          step("v2", "zonal_statistics", layer=Layer("points"), raster=Layer("dem"))],
         ("geometry", "v2"), "points is points; layer of zonal_statistics takes polygons", None),
        ([step("v1", "count", layer=Layer("points")),
          step("v2", "buffer", layer=Output("v1"), distance=5)],
         ("no layer", "v2"), "v1 makes no layer", None),
        ([step("v1", "filter", layer=Layer("points"), where='"n" > 0'),
          step("v2", "buffer", layer=Output("v1", "count"), distance=5)],
         ("number as layer", "v2"), "v1.count is a number",
         {"layer": Output("v1"), "distance": 5}),
        ([step("v1", "filter", layer=Layer("points"), where='"n" > 0'),
          step("v2", "calculate", expression=Template("{v1.counts} * 2"))],
         ("key", "v2"), "v1 has no counts; it has count", None),
        ([step("v1", "buffer", layer=Layer("points"))], ("arguments", "v1"), "distance", None),
        ([step("v1", "buffer", layer=Layer("points"), distance=5, unit="m")],
         ("parameter", "v1"), "buffer has no parameter unit",
         {"layer": Layer("points"), "distance": 5}),
        ([replace(step("v1", "count", layer=Layer("points")), agent="raster")],
         ("agent", "v1"), "Table has it", None),
        ([step("v1", "count", layer=Asked("which"))], ("variable", "v1"), "no variable which",
         None),
        ([step("v1", "count", "v9", layer=Layer("points"))], ("unknown", "v1"), "uses v9",
         {"layer": Layer("points")}),
        ([step("v1", "save_layer", layer=Layer("points"), file="more.geojson")],
         ("overwrite", "v1"), "more.geojson is there already", None),
        ([step("v1", "run_algorithm", algorithm="native:clip",
               parameters={"INPUT": Layer("points"), "OVERLAY": Output("v0")}),
          step("v0", "reproject", layer=Layer("zones"), crs="EPSG:4326")],
         ("mixed crs", "v1"), "OVERLAY is in EPSG:4326 and INPUT in EPSG:32632", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_before_it_runs(
    found: Check,
    vertices: list[Vertex],
    expected: tuple[str, str],
    words: str,
    mended: dict[str, Any] | None,
) -> None:
    findings = found(*vertices)
    assert codes(findings) == [expected]
    assert words in findings[0].message
    if mended is not None:
        graph = applied(Graph("", tuple(vertices)), findings[0].mends[0].change)
        assert graph.vertex(expected[1]).parameters == mended
        assert codes(found(*graph.vertices)) == []


def test_an_answer_that_no_step_gives_is_found_and_mended(found: Check) -> None:
    one = step("v1", "filter", layer=Layer("points"), where='"n" > 0')
    findings = found(one, answer=Answer(value=Output("v1", "total")))
    assert codes(findings) == [("answer", "v1")]
    assert findings[0].mends[0].change.answer == Answer(value=Output("v1", "count"))
    assert codes(found(one, answer=Answer(value=Output("v7")))) == [("answer", "")]


def test_a_reprojection_is_put_before_an_algorithm_whose_inputs_differ(found: Check) -> None:
    vertices = (
        step("v0", "reproject", layer=Layer("zones"), crs="EPSG:4326"),
        step("v1", "run_algorithm", algorithm="native:clip",
             parameters={"INPUT": Layer("points"), "OVERLAY": Output("v0")}),
    )  # fmt: skip
    mend = found(*vertices)[0].mends[0]
    assert mend.label == "Reproject to EPSG:32632 first"
    graph = applied(Graph("", vertices), mend.change)
    assert codes(found(*graph.vertices)) == []
    assert graph.vertex("v1").parameters["parameters"]["OVERLAY"] == Output("v2")


def test_two_hundred_steps_are_checked_while_editing(around: Surroundings) -> None:
    steps = [step("v0", "filter", layer=Layer("points"), where='"n" > 0')]
    steps += [step(f"v{n}", "filter", layer=Output(f"v{n - 1}"), where='"n" > 0')
              for n in range(1, 200)]  # fmt: skip
    began = time.perf_counter()
    assert codes(checker(around)(Graph("", tuple(steps)))) == []
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    ("expression", "strange"),
    [
        ("100 * {v1.count} / towns.count", "towns.count"),
        ("total - {v1.count}", "total"),
        ("round(100 * {v1.count} / 7, 1)", ""),
        ("r1.count / r2.1.count + 2e3", ""),
        ("1.5e-3 * {v1.count}", ""),
    ],
)
def test_a_calculation_takes_numbers_of_steps_alone(
    found: Check, expression: str, strange: str
) -> None:
    steps = (
        step("v1", "count", layer=Layer("towns")),
        step("v2", "calculate", expression=Template(expression)),
    )
    said = [one.message for one in found(*steps) if one.code == "arithmetic"]
    assert said == (
        [
            f"v2 calculates with numbers of steps, and {strange} is none: use one such as "
            "v1.count, or leave the step out."
        ]
        if strange
        else []
    )
