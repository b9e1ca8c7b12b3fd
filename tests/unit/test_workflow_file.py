# SPDX-License-Identifier: GPL-2.0-or-later
"""Workflows written and read: our form, the papers' forms, and files that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_olm.plugin.workflow import paper_form
from geo_olm.plugin.workflow.file import WorkflowFileError, dumps, loads
from geo_olm.plugin.workflow.graph import (
    Answer,
    Graph,
    Group,
    Kind,
    Note,
    Source,
    Status,
    Type,
    Variable,
    Vertex,
)
from geo_olm.plugin.workflow.topology import Fault
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template
from geo_olm.plugin.workflow.variable import VariableError, bound, declared

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads(
    (ROOT / "resources" / "workflows" / "geoflow.schema.json").read_text(encoding="utf-8")
)
WHOLE = Graph(
    question="How many stations lie near a river?",
    vertices=(
        Vertex(
            "v1", "vector", "Buffer the rivers by 500 m.", "buffer",
            {"layer": Layer("rivers"), "distance": Asked("far"), "dissolve": False},
            title="Near rivers", position=(0.0, -12.5), comment="as agreed",
        ),
        Vertex("v2", "vector", tool="run_algorithm", parameters={
            "algorithm": "native:clip",
            "parameters": {
                "INPUT": Layer("stations"), "OVERLAY": Output("v1"), "N": [1, 2.5, None],
            },
        }, status=Status.COMPLETED, history="12 features"),
        Vertex("v3", "table", "Tell how many there are.", bypassed=True, after=("v2",)),
        Vertex("ask", objective="Which year?", kind=Kind.QUESTION, parameters={"default": "2020"}),
        Vertex("look", kind=Kind.REVIEW, parameters={"layer": Output("v2")}),
        Vertex("v4", "table", tool="calculate", parameters={
            "expression": Template("{v2.count} / 2"),
        }),
        Vertex("v5", "map", tool="undo", parameters={}),
    ),
    variables=(
        Variable("far", Type.NUMBER, "Distance", 500, unit="m"),
        Variable("kind", Type.CHOICE, choices=("a", "b")),
    ),
    answer=Answer("{v2.count} stations", Output("v2", "count"), "stations"),
    sources=(Source("rivers", "a.gpkg|layername=rivers", "ogr", "line", "EPSG:27700", ("name",)),
             Source("towns", position=(-16.0, 4.5))),
    groups=(Group("near", ("v1", "v2"), "#ff0000"), Group("far", ("v3",), "done", True)),
    notes=(Note("mind the gap", (0.0, 1.0, 2.0, 3.0)), Note("", (0.0, 0.0, 1.0, 1.0), "warning")),
    title="Stations",
)  # fmt: skip


def test_a_workflow_comes_back_as_it_was() -> None:
    loaded = loads(dumps(WHOLE))
    assert loaded.graph == WHOLE
    assert (loaded.remarks, loaded.faults, loaded.read_only) == ((), (), False)


TEXT = st.text(max_size=8)
SCALAR = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT
)
VALUE = st.recursive(
    st.one_of(
        SCALAR,
        st.builds(Layer, TEXT),
        st.builds(Output, TEXT, TEXT),
        st.builds(Asked, TEXT),
        st.builds(Template, TEXT),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(TEXT, st.sampled_from(["$layer", "$output"])), inner, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.dictionaries(TEXT, VALUE, max_size=4), st.lists(TEXT, max_size=3), TEXT)
def test_whatever_parameters_hold_comes_back(
    parameters: dict[str, Any], after: list[str], text: str
) -> None:
    graph = Graph(text, (Vertex("v1", text, text, text, parameters, tuple(after)),), title=text)
    loaded = loads(dumps(graph))
    assert loaded.graph == graph
    jsonschema.validate(json.loads(dumps(graph)), SCHEMA)


def test_the_published_schema_takes_what_is_written_and_refuses_what_is_not() -> None:
    form = json.loads(dumps(WHOLE))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(form, SCHEMA)
    for wrong in (
        {**form, "format": "other"},
        {**form, "vertices": [{"tool": "buffer"}]},
        {**form, "vertices": [{"id": "v1", "status": "glad"}]},
        {**form, "answer": {"value": 3}},
        {key: one for key, one in form.items() if key != "vertices"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_an_encoding_that_says_itself_is_read(coding: str) -> None:
    graph = replace(WHOLE, question="Wie viele Städte?")
    assert loads(dumps(graph).encode(coding)).graph == graph


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("Städte".encode("latin-1"), r"plan is not in UTF-8 \(byte 3\)"),
        (b'{"format": "geoflow",\n "version" }', "broken in line 2, column 12"),
        (b"[]", "holds no object"),
        (b"{}", 'no "format": "geoflow"'),
        (b'{"format": "geoflow", "format": "geoflow"}', 'has "format" twice'),
        (b'{"format": "geoflow", "version": "1.0", "vertices": [NaN]}', "NaN is no number"),
        (b'{"format": "geoflow", "version": "one", "vertices": []}', "no version"),
        (b'{"format": "geoflow", "version": "1.0"}', "vertices is missing"),
        (b'{"format": "geoflow", "version": "1.0", "vertices": [3]}', r"vertices\[0\]: an object"),
        (
            b'{"format": "geoflow", "version": "1.0", "vertices": [{"id": 3}]}',
            r"vertices\[0\].id: a text",
        ),
        (
            b'{"format": "geoflow", "version": "1.0", "vertices": [{"id": "a", "kind": "x"}]}',
            r'vertices\[0\].kind: "x" is not known',
        ),
        (
            b'{"format": "geoflow", "version": "1.0", "vertices": '
            b'[{"id": "a", "parameters": {"n": {"$layer": "x", "more": 1}}}]}',
            r"vertices\[0\].parameters.n: an object with \$layer holds nothing else",
        ),
        (b"[" * 100_000, "nested too deep|broken in line"),
    ],
)
def test_a_file_that_is_no_workflow_is_refused_with_the_place(data: bytes, words: str) -> None:
    with pytest.raises(WorkflowFileError, match=words):
        loads(data, "plan")


def test_a_newer_version_opens_read_only_and_says_so() -> None:
    form = json.loads(dumps(WHOLE))
    newer = loads(json.dumps({**form, "version": "2.1", "future": 1}), "plan.geoflow.json")
    assert newer.read_only
    assert "plan.geoflow.json is from a newer version (2.1). It opens read only." in newer.remarks
    minor = loads(json.dumps({**form, "version": "1.4", "future": 1}))
    assert not minor.read_only
    assert any("future is not known" in one for one in minor.remarks)


def test_faults_of_the_shape_are_told_and_the_graph_still_opens() -> None:
    graph = Graph("", (Vertex("a", after=("b",)), Vertex("b", after=("a",))))
    assert [one.fault for one in loads(dumps(graph)).faults] == [Fault.CYCLE]


GEOFLOW = {
    "query": "Count the cars at the port",
    "tasks": {
        "task0": {
            "id": "task0", "objective": "Load images of the port.", "agent_id": 0,
            "next": ["task1"],
            "prev": [], "status": "completed", "history": "40 images", "remaining_dependencies": 0,
            "agent": "database_agent",
        },
        "task1": {
            "id": "task1", "objective": "Detect cars.", "agent_id": 1, "next": [], "prev": [],
            "status": "pending", "history": "", "remaining_dependencies": 0,
            "agent": "detector_agent",
        },
        "task2": {
            "id": "task2", "objective": "Count the cars.", "agent_id": 2, "next": [],
            "prev": ["task1", "gone"], "status": "pending", "history": "",
            "remaining_dependencies": 2, "agent": "data_agent",
        },
    },
}  # fmt: skip


def test_a_dictionary_of_the_geoflow_paper_is_read_and_its_links_repaired() -> None:
    loaded = loads(json.dumps(GEOFLOW))
    assert loaded.graph.question == "Count the cars at the port"
    assert loaded.graph.edges() == (("task0", "task1"), ("task1", "task2"))
    assert [one.agent for one in loaded.graph.vertices] == ["database", "vision", "table"]
    assert loaded.graph.vertex("task0").status is Status.COMPLETED
    assert loaded.remarks == (
        "The link task0 → task1 stood on one side only and was repaired.",
        "The link task1 → task2 stood on one side only and was repaired.",
        "The link gone → task2 was left out: there is no step gone.",
    )


def test_a_graph_written_in_the_papers_form_comes_back_with_its_links() -> None:
    graph = loads(json.dumps(GEOFLOW)).graph
    form = paper_form.written(graph)
    assert form["tasks"]["task1"]["prev"] == ["task0"]
    assert form["tasks"]["task1"]["next"] == ["task2"]
    assert form["tasks"]["task1"]["remaining_dependencies"] == 1
    again = loads(json.dumps(form))
    assert again.graph == graph
    assert again.remarks == ()


def test_both_generations_of_flows_form_are_read() -> None:
    older = {
        "task": "Map the towns",
        "subtasks": [{"id": 1, "objective": "Get the towns"}, {"id": 2, "objective": "Draw them"}],
        "subtask_dependencies": [{"parent": 1, "child": 2}],
        "agents": [
            {"id": "Agent 1", "role": "Database loader", "subtasks": [1]},
            {"id": "Agent 2", "role": "Cartographer", "subtasks": [2]},
        ],
    }
    newer = {
        "workflow": {
            "task1": {"objective": "Get the towns", "agent_id": 0, "output_format": "a layer",
                      "next": ["task2"], "prev": []},
            "task2": {"objective": "Draw them", "agent_id": 1, "next": [], "prev": ["task1"]},
        },
        "agents": [{"id": "Agent 0", "role": "Database loader"}, {"id": "Agent 1", "role": "Map"}],
    }  # fmt: skip
    first, second = loads(json.dumps(older)), loads(json.dumps(newer))
    assert (first.graph.edges(), first.remarks) == ((("1", "2"),), ())
    assert [one.agent for one in first.graph.vertices] == ["database", "map"]
    assert (second.graph.edges(), second.remarks) == ((("task1", "task2"),), ())
    assert second.graph.vertex("task1").objective == "Get the towns Return: a layer"


def test_a_literal_becomes_a_variable_and_is_filled_at_run_time() -> None:
    graph = replace(WHOLE, variables=(Variable("far", Type.NUMBER, default=500, unit="m"),))
    found = declared(graph, "v1", ("layer",), "lines")
    found = declared(found, "v2", ("parameters", "N", 1), "n")
    assert found.variable("lines") == Variable("lines", Type.LAYER, "layer", "rivers")
    filled = bound(found, {"far": "1 500 m", "lines": "canals", "stations": "posts", "n": 3})
    assert filled.vertex("v1").parameters == {
        "layer": Layer("canals"),
        "distance": 1500,
        "dissolve": False,
    }
    assert filled.vertex("v2").parameters == {
        "algorithm": "native:clip",
        "parameters": {"INPUT": Layer("posts"), "OVERLAY": Output("v1"), "N": [1, 3, None]},
    }
    assert filled.variables == ()


@pytest.mark.parametrize(
    ("variable", "values", "words"),
    [
        (Variable("far", Type.NUMBER, "Distance"), {}, r"far \(Distance\) has no value"),
        (Variable("far", Type.NUMBER, unit="m"), {"far": "wide"}, "a number in m, not"),
        (Variable("far", Type.DATE), {"far": "31.5.2024"}, "a date such as 2024-05-31"),
        (Variable("far", Type.CHOICE, choices=("a", "b")), {"far": "c"}, "one of a, b"),
        (Variable("far", Type.TEXT), {"fra": "c"}, "no variable fra; it takes far, rivers"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(
    variable: Variable, values: dict[str, Any], words: str
) -> None:
    graph = Graph("", (WHOLE.vertices[0],), (variable,))
    with pytest.raises(VariableError, match=words):
        bound(graph, values)


@pytest.mark.parametrize(
    ("path", "name", "words"),
    [
        (("layer",), "v2", "taken"),
        (("layer",), "a b", "no name"),
        (("nothing",), "x", "no parameter nothing"),
        (("distance",), "x", "Only a layer"),
    ],
)
def test_what_cannot_be_a_variable_is_refused(path: tuple[str], name: str, words: str) -> None:
    with pytest.raises(VariableError, match=words):
        declared(WHOLE, "v1", path, name)


def test_a_template_keeps_outputs_and_takes_variables() -> None:
    one = Vertex("v1", tool="x", parameters={"a": Template("{n} m"), "b": Template("{v0.c}+{n}")})
    graph = Graph("", (one,), (Variable("n", Type.NUMBER, default=5),))
    assert bound(graph, {}).vertices[0].parameters == {"a": "5 m", "b": Template("{v0.c}+5")}
