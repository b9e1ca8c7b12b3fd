# SPDX-License-Identifier: GPL-2.0-or-later
"""What a model writes as a plan, read as a graph: references, repairs, and the way back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_case import CLIPPED, KNOWN, graph, plan, task

from geo_olm.plugin.workflow.graph import Answer, Kind
from geo_olm.plugin.workflow.plan_form import PlanError, compact, read
from geo_olm.plugin.workflow.value import Layer, Output, Template


def parameters(found: Any, key: str = "v1") -> Any:
    return found.vertex(key).parameters


def test_layers_and_outputs_are_told_apart_by_the_tools_schema() -> None:
    assert parameters(CLIPPED) == {"layer": Layer("rivers"), "distance": 500}
    assert parameters(CLIPPED, "v2") == {"layer": Layer("countries"), "other": Output("v1")}
    assert CLIPPED.answer == Answer(value=Output("v3", "count"))


def test_parameters_of_an_algorithm_name_layers_and_outputs_at_any_depth() -> None:
    given_ = {"INPUT": "rivers", "OVERLAY": "v1", "LAYERS": ["v1", "countries"], "N": "v1.count"}
    found = graph(
        task("v1", "buffer", layer="rivers", distance=1),
        task("v2", "run_algorithm", algorithm="native:clip", parameters=given_),
    )
    assert parameters(found, "v2")["parameters"] == {
        "INPUT": Layer("rivers"),
        "OVERLAY": Output("v1"),
        "LAYERS": [Output("v1"), Layer("countries")],
        "N": Output("v1", "count"),
    }
    assert parameters(found, "v2")["algorithm"] == "native:clip"


@pytest.mark.parametrize(
    "said", ["100 * v1.count / v2.count", "100 * {v1.count} / {v2.count}", "100*r1.count/r2.count"]
)
def test_references_within_an_expression_become_a_template(said: str) -> None:
    found = graph(
        task("v1", "count", "table", layer="rivers"),
        task("v2", "count", "table", layer="countries"),
        task("v3", "calculate", "table", expression=said),
    )
    expression = parameters(found, "v3")["expression"]
    assert isinstance(expression, Template)
    assert list(expression.references()) == [("v1", "count"), ("v2", "count")]
    assert found.parents(found.vertex("v3")) == ("v1", "v2")


def test_a_quoted_field_of_a_layer_called_like_a_step_is_no_reference() -> None:
    found = graph(
        task("v1", "count", "table", layer="rivers"),
        task("v2", "calculate", "table", expression='"v1"."count" * 2'),
    )
    assert parameters(found, "v2")["expression"] == '"v1"."count" * 2'


@pytest.mark.parametrize(
    ("written", "wanted"),
    [("Countries", "countries"), (' "RIVERS" ', "rivers"), ("roads", "roads")],
)
def test_a_layers_name_is_taken_whatever_its_case_and_an_unknown_one_is_left(
    written: str, wanted: str
) -> None:
    found = graph(task("v1", "count", "table", layer=written))
    assert parameters(found)["layer"] == Layer(wanted)


def test_a_number_with_its_unit_is_taken_where_a_number_is_wanted_alone() -> None:
    found = graph(
        task("v1", "style_graduated", "map", layer="countries", field="POP", classes="5 classes"),
        task("v2", "buffer", layer="rivers", distance="2 km"),
    )
    assert parameters(found)["classes"] == 5
    assert parameters(found, "v2")["distance"] == "2 km"


def test_an_agent_without_the_tool_is_repaired_and_told() -> None:
    draft = read(plan(task("v1", "count", "vector", layer="rivers")), KNOWN)
    assert draft.graph.vertex("v1").agent == "table"
    assert draft.remarks == ("v1: count is a tool of table, not of vector.",)


@pytest.mark.parametrize("ids", [["", ""], ["v1", "v1"], ["1", "two words"], [None, 7]])
def test_missing_and_repeated_ids_are_given_anew(ids: list[Any]) -> None:
    tasks = [{**task("", "count", "table", layer="rivers"), "id": one} for one in ids]
    draft = read(plan(*tasks), KNOWN)
    assert draft.graph.ids() == ("v1", "v2")
    assert draft.remarks


def test_tools_arguments_and_results_are_forgiven_their_spelling() -> None:
    one = {"id": "v1", "tool": "Style-Graduated", "arguments": {"Layer": "rivers", "field": "x"}}
    found = graph(one)
    assert found.vertex("v1").tool == "style_graduated"
    assert parameters(found) == {"layer": Layer("rivers"), "field": "x"}
    text = {"id": "v1", "tool": "count", "arguments": '{"layer": "rivers"}'}
    assert parameters(graph(text)) == {"layer": Layer("rivers")}


def test_what_the_maps_agent_does_to_one_layer_keeps_its_order() -> None:
    found = graph(
        task("v1", "style_graduated", "map", layer="countries", field="POP"),
        task("v2", "style_graduated", "map", layer="rivers", field="x"),
        task("v3", "export_map", "map", layers=["countries"], path="a.png"),
        task("v4", "export_map", "map", path="all.png"),
    )
    assert [one.after for one in found.vertices] == [(), (), ("v1",), ("v1", "v2", "v3")]


def test_a_question_a_review_and_an_abstract_step_are_read() -> None:
    found = graph(
        {"id": "v1", "ask": "How far?"},
        task("v2", "buffer", layer="rivers", distance="v1"),
        {"id": "v3", "review": "v2"},
        {"id": "v4", "agent": "vector", "objective": "Make it smooth.", "after": "v3"},
        task("v5", "count", "table", layer="v2"),
    )
    assert [one.kind for one in found.vertices] == [
        Kind.QUESTION, Kind.TASK, Kind.REVIEW, Kind.TASK, Kind.TASK,
    ]  # fmt: skip
    assert parameters(found, "v2")["distance"] == Output("v1")
    assert found.vertex("v4").is_abstract
    assert found.vertex("v4").after == ("v3",)
    assert found.vertex("v5").after == ("v3",)


def test_a_rejection_is_read_with_its_reason() -> None:
    draft = read(plan(task("v1", "reject", "", reason="There are no roads.")), KNOWN)
    assert draft.rejected == "There are no roads."


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("", Answer()),
        ("v1.count", Answer(value=Output("v1", "count"))),
        ("r1.count", Answer(value=Output("v1", "count"))),
        ("{v1.count}", Answer(value=Output("v1", "count"))),
        ("There are v1.count.", Answer("There are {v1.count}.", Output("v1", "count"))),
        ("There are 42.", Answer()),
        ("v9.count", Answer()),
        ("v1.mean", Answer(value=Output("v1", "count"))),
        (7, Answer()),
    ],
)
def test_an_answer_refers_to_a_step_or_says_nothing(said: Any, wanted: Answer) -> None:
    found = read({**plan(task("v1", "count", "table", layer="rivers")), "answer": said}, KNOWN)
    assert found.graph.answer == wanted


def test_an_answer_among_the_tasks_is_no_task() -> None:
    found = graph(
        task("v1", "count", "table", layer="rivers"), task("v2", "answer", "", value="v1.count")
    )
    assert found.ids() == ("v1",)
    assert found.answer.value == Output("v1", "count")


@pytest.mark.parametrize("form", [None, [], {}, {"tasks": "v1"}, {"tasks": [1]}, {"tasks": []}])
def test_what_is_no_plan_is_refused_with_a_sentence(form: Any) -> None:
    with pytest.raises(PlanError, match=r"\.$"):
        read(form, KNOWN)


def test_a_graph_written_compactly_is_read_as_the_same_graph() -> None:
    assert read(compact(CLIPPED), KNOWN, "Which?").graph == CLIPPED


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    | st.sampled_from(["v1", "r2.count", "rivers", "{", ""]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["id", "tool", "arguments", "layer", "after", "agent", "ask", "x"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(JSON, max_size=4), JSON)
def test_whatever_is_replied_gives_a_graph_or_a_sentence(tasks: list[Any], answer: Any) -> None:
    try:
        draft = read({"tasks": tasks, "answer": answer}, KNOWN)
    except PlanError:
        return
    assert draft.rejected or len(set(draft.graph.ids())) == len(draft.graph.vertices) > 0
