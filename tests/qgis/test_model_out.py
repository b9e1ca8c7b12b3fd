# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs as models of QGIS: they run there with the result that they have here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from qgis.core import (
    QgsApplication,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
)
from test_flow_run import NEAR, files, task
from toolbox_case import Bench

from geo_olm.plugin.exchange.catalog import is_offered
from geo_olm.plugin.exchange.model_in import ModelError, from_file, from_model
from geo_olm.plugin.exchange.model_out import to_model
from geo_olm.plugin.exchange.script import to_script
from geo_olm.plugin.provider import GeoOlmProvider
from geo_olm.plugin.replay import agents
from geo_olm.plugin.workflow.graph import (
    Answer,
    Graph,
    Kind,
    Source,
    Type,
    Variable,
    Vertex,
)
from geo_olm.plugin.workflow.topology import TopologyError
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template

__all__ = ["files"]
pytestmark = pytest.mark.usefixtures("qgis_processing", "provider")


@pytest.fixture(scope="module")
def provider() -> Iterator[None]:
    """Let QGIS know our own algorithms."""
    registry = QgsApplication.processingRegistry()
    found = GeoOlmProvider()
    registry.addProvider(found)
    yield
    registry.removeProvider(found)
    assert Bench.opened == []


def test_a_graph_runs_as_a_model_with_equal_results(tmp_path: Path, files: dict[str, str]) -> None:
    graph = replace(NEAR, variables=(Variable("far", Type.NUMBER, default=50),))
    graph = graph.with_vertex(task("near", "buffer", layer=Layer("roads"), distance=Asked("far")))
    model, lost = to_model(graph, is_offered)
    assert lost == ()
    path = tmp_path / "near.model3"
    assert model.toFile(str(path))
    again = type(model)()
    assert again.fromFile(str(path))
    assert [one.name() for one in again.parameterDefinitions()][:3] == ["far", "roads", "towns"]
    found, done = again.create().run(
        {"far": 50, **files}, QgsProcessingContext(), QgsProcessingFeedback()
    )
    assert done
    results = found["CHILD_RESULTS"]
    assert results["sum"]["sum"] == 90
    assert results["count"]["count"] == 3
    assert results["each"]["value"] == 30


def test_an_algorithm_stays_itself_and_its_layer_is_the_model_s(
    tmp_path: Path, files: dict[str, str]
) -> None:
    graph = Graph(
        "",
        (
            task("v1", "run_algorithm", algorithm="native:buffer",
                 parameters={"INPUT": Layer("roads"), "DISTANCE": 50}),
            task("v2", "run_algorithm", algorithm="native:extractbylocation",
                 parameters={"INPUT": Layer("towns"), "PREDICATE": [6], "INTERSECT": Output("v1")}),
            task("v3", "calculate", expression=Output("v2", "count")),
        ),
    )  # fmt: skip
    model, lost = to_model(graph, is_offered)
    assert lost == ()
    children = model.childAlgorithms()
    assert [children[key].algorithmId() for key in ("v1", "v2")] == [
        "native:buffer", "native:extractbylocation",
    ]  # fmt: skip
    context = QgsProcessingContext()
    found, done = model.create().run(
        {**files, "v3:Result v3": "TEMPORARY_OUTPUT"}, context, QgsProcessingFeedback()
    )
    assert done, found
    table = context.takeResultLayer(found["v3:Result v3"])
    assert [one["value"] for one in table.getFeatures()] == [5]
    assert found["CHILD_RESULTS"]["v3"]["value"] == 5


def test_what_a_model_cannot_hold_is_listed() -> None:
    graph = Graph(
        "",
        (
            Vertex("ask", objective="How far?", kind=Kind.QUESTION, parameters={"default": "5"}),
            Vertex("look", objective="Right?", kind=Kind.REVIEW, parameters={"layer": Layer("a")}),
            Vertex("v1", "vector", "Do something with a"),
            task("v2", "count", layer=Output("look")),
        ),
    )
    model, lost = to_model(graph, is_offered)
    assert [(one.vertex, one.text) for one in lost] == [
        ("look", "The review stop look is not taken over."),
        ("v1", "v1 (no tool yet) is no algorithm, so a model has none."),
    ]
    assert [one.name() for one in model.parameterDefinitions()][:2] == ["a", "ask"]
    assert list(model.childAlgorithms()) == ["v2"]


def test_a_cycle_is_refused() -> None:
    ring = Graph("", (task("a", "count", "b"), task("b", "count", "a")))
    with pytest.raises(TopologyError):
        to_model(ring, is_offered)


@pytest.mark.long
def test_qgis_process_runs_the_exported_model(tmp_path: Path, files: dict[str, str]) -> None:
    model, _ = to_model(NEAR, is_offered)
    path = tmp_path / "near.model3"
    assert model.toFile(str(path))
    environ = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QGIS_CUSTOM_CONFIG_PATH": os.environ["QGIS_PROFILES_PATH"],
    }
    table = tmp_path / "sum.csv"
    inputs = {**files, "sum:Result sum": str(table)}
    done = subprocess.run(
        ["qgis_process", "run", str(path), "-"],
        input=json.dumps({"inputs": inputs}),
        capture_output=True,
        text=True,
        env=environ,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    assert table.read_text(encoding="utf-8").splitlines()[1].startswith("90,")


def same(graph: Graph) -> Graph:
    """Return a graph without what a model writes anew: titles and places."""
    plain = tuple(
        replace(one, title="", position=None, objective="", comment="") for one in graph.vertices
    )
    return replace(graph, vertices=plain, title="", question="", answer=Answer())


def test_a_graph_comes_back_from_its_model(tmp_path: Path, files: dict[str, str]) -> None:
    graph = Graph(
        "",
        (
            task("v1", "buffer", layer=Layer("roads"), distance=Asked("far")),
            task("v2", "run_algorithm", algorithm="native:extractbylocation",
                 parameters={"INPUT": Layer("towns"), "PREDICATE": [6], "INTERSECT": Output("v1")}),
            replace(task("v3", "count", "v1", layer=Output("v2"),
                         conditions=[{"field": "people", "op": ">", "value": 3}]), agent="table"),
            replace(task("v4", "statistics", layer=Output("v2"), field="people", statistic="sum"),
                    agent="table", bypassed=True),
        ),
        (Variable("far", Type.NUMBER, "far", 50.0),),
        sources=(Source("roads", "/r.gpkg"), Source("towns")),
    )  # fmt: skip
    model, lost = to_model(graph, is_offered)
    path = tmp_path / "m.model3"
    assert model.toFile(str(path))
    read = from_file(path, agents())
    assert read.lost == ()
    for one, other in zip(same(read.graph).vertices, same(graph).vertices):
        assert one == other
    assert same(read.graph) == same(graph)
    assert [one.text for one in lost] == ["v4 is off; a model does not hand its input on."]


def test_what_a_graph_cannot_hold_of_a_model_is_listed(tmp_path: Path) -> None:
    model = QgsProcessingModelAlgorithm("m", "g")
    child = QgsProcessingModelChildAlgorithm("native:buffer")
    child.setChildId("b")
    source = QgsProcessingModelChildParameterSource
    child.addParameterSources("DISTANCE", [source.fromExpression("1 + 1")])
    model.addChildAlgorithm(child)
    missing = QgsProcessingModelChildAlgorithm("none:such")
    missing.setChildId("x")
    model.addChildAlgorithm(missing)
    read = from_model(model, agents())
    assert sorted(one.text for one in read.lost) == [
        "The expression 1 + 1 of b becomes its value, 2.",
        "The model's group g is not taken over.",
        'This QGIS has no algorithm "none:such".',
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.model3", "<nothing", "no model"),
        ("a.py", "x", "is a script"),
        ("b.model3", None, "no file"),
    ],
)
def test_a_file_that_is_no_model_is_refused(
    tmp_path: Path, name: str, content: str | None, words: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=words):
        from_file(path, agents())


def test_a_graph_becomes_a_script_that_says_its_steps() -> None:
    script, lost = to_script(NEAR, is_offered)
    assert lost == ()
    compile(script, "near.py", "exec")
    for one in ("geo_olm:tool_buffer", "geo_olm:tool_statistics", "processAlgorithm"):
        assert one in script


def ran(graph: Graph, inputs: dict[str, object]) -> dict[str, dict[str, object]]:
    """Run a graph's model and return what its steps gave."""
    model, lost = to_model(graph, is_offered)
    assert lost == ()
    found, done = model.create().run(inputs, QgsProcessingContext(), QgsProcessingFeedback())
    assert done, found
    steps: dict[str, dict[str, object]] = found["CHILD_RESULTS"]
    return steps


def test_a_variable_inside_conditions_is_the_model_s_input(files: dict[str, str]) -> None:
    more = {"field": "people", "op": ">=", "value": Asked("least")}
    named = {"field": "name", "op": "=", "value": Template("t{digit}")}
    graph = Graph(
        "",
        (
            task("v1", "count", layer=Layer("towns"), conditions=[more]),
            task("v2", "count", layer=Layer("towns"), conditions=[more, named]),
        ),
        (Variable("least", Type.NUMBER, default=70), Variable("digit", Type.TEXT, default="8")),
    )
    steps = ran(graph, {**files, "least": 70, "digit": "8"})
    assert (steps["v1"]["count"], steps["v2"]["count"]) == (3, 1)
    assert ran(graph, {**files, "least": 90, "digit": "8"})["v1"]["count"] == 1


def test_features_that_a_count_speaks_of_go_on_as_a_layer(files: dict[str, str]) -> None:
    most = [{"field": "people", "op": ">=", "value": 50}]
    graph = Graph(
        "",
        (
            task("v1", "count", layer=Layer("towns"), conditions=most),
            task("v2", "statistics", layer=Output("v1"), field="people", statistic="sum"),
            task("v4", "top_n", layer=Layer("towns"), field="people", n=2),
            task("v5", "statistics", layer=Output("v4"), field="people", statistic="sum"),
            task("v6", "count", layer=Layer("towns")),
            task("v7", "calculate", expression=Output("v6")),
        ),
    )
    steps = ran(graph, dict(files))
    assert steps["v2"]["sum"] == 50 + 60 + 70 + 80 + 90
    assert steps["v5"]["sum"] == 90 + 80
    assert steps["v7"]["value"] == 10


def test_the_answer_of_a_layer_s_number_is_a_table_of_the_model(files: dict[str, str]) -> None:
    graph = Graph(
        "",
        (
            task("v1", "buffer", layer=Layer("roads"), distance=50),
            task("v2", "select_by_location", layer=Layer("towns"), other=Output("v1"),
                 predicate="within"),
        ),
        answer=Answer(value=Output("v2", "count")),
    )  # fmt: skip
    model, _ = to_model(graph, is_offered)
    ends = [one.name() for one in model.parameterDefinitions() if one.isDestination()]
    assert ends == ["answer:Result answer", "v2:Result v2"]
    assert ran(graph, {**files, "v2:Result v2": "memory:"})["answer"]["value"] == 5
