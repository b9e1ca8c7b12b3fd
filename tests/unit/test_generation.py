# SPDX-License-Identifier: GPL-2.0-or-later
"""The meta-agent against a script: what it asks, what it takes, what it asks for again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from plain_toolbox import COUNTRIES, RIVERS
from plan_case import (
    CLIPPED,
    MEANS,
    ROLES,
    SHOWN,
    TOOLS,
    Case,
    PlainBriefing,
    graph,
    grounded,
    plan,
    refuses,
    task,
)
from scripted_speaker import Asked, Fails, Mumbles, Says

from geo_olm.plugin.agent.message import Memory, Message, Role
from geo_olm.plugin.llm.base import ModelError
from geo_olm.plugin.llm.speaker import reply_schema
from geo_olm.plugin.workflow.asking import Conversation, TokensSpent, first_object
from geo_olm.plugin.workflow.finding import Finding, Severity
from geo_olm.plugin.workflow.generation import with_objectives
from geo_olm.plugin.workflow.graph import Graph
from geo_olm.plugin.workflow.leftover import linked
from geo_olm.plugin.workflow.plan_event import Planning
from geo_olm.plugin.workflow.plan_example import Call, form_of
from geo_olm.plugin.workflow.plan_form import PlanError
from geo_olm.plugin.workflow.plan_schema import Offer, said
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.base import Family, LayerProfile

UNDERSTOOD = Says({"NEEDS": "rivers = rivers", "USER_INTENT": "Count", "layers": ["rivers"]})
COUNT = Says(plan(task("v1", "count", "table", layer="rivers"), answer="v1.count"))
FILTER = Says(
    plan(task("v1", "filter", layer="rivers", conditions=[{"field": "x", "op": "is empty"}]))
)


def test_a_plan_takes_two_requests_and_the_second_shows_tools_examples_and_details() -> None:
    case = Case()
    found = case.plan("How many rivers?", UNDERSTOOD, COUNT)
    assert found.candidate.is_valid
    assert (found.was_valid, found.asked_again, found.candidates) == (True, 0, 1)
    assert found.graph.question == "How many rivers?"
    assert (found.usage.prompt, found.usage.generated) == (200, 20)
    first, second = case.asked
    assert [one.role for one in first.messages[:3]] == [Role.SYSTEM, Role.USER, Role.ASSISTANT]
    assert second.messages[: len(first.messages)] == first.messages
    shown = [one.content for one in second.messages[len(first.messages) + 1 :]]
    assert shown[0].startswith("Tools: count, filter, buffer, reject\nLayers:\n- lakes (3 poly")
    assert json.loads(shown[1]) == SHOWN.form
    assert shown[2] == "Layers in detail: rivers\nQuestion: How many rivers?"


def test_an_unlike_language_is_put_into_english_first_and_keys_come_in_order() -> None:
    case = Case()
    case.plan("¿Cuántos ríos?", UNDERSTOOD, COUNT)
    assert case.asked[0].choice is not None
    assert list(case.asked[0].choice.said) == [
        "REFERS_TO", "ENGLISH", "NEEDS", "USER_INTENT", "layers",
    ]  # fmt: skip


def test_what_no_layer_holds_is_rejected_before_anything_is_planned() -> None:
    needs = Says({"NEEDS": "roads = none", "USER_INTENT": "Count", "layers": ["rivers"]})
    found = Case().plan("How many roads?", needs)
    assert found.candidate.rejected == (
        "There is no layer, field or value for roads. The nearest layers are rivers."
    )


def test_the_model_may_reject_by_its_only_task() -> None:
    reject = Says(plan(task("v1", "reject", "", reason="There are no roads.")))
    found = Case().plan("How many roads?", UNDERSTOOD, reject)
    assert (found.candidate.rejected, found.was_valid) == ("There are no roads.", True)


def test_a_plan_that_the_checks_refuse_is_asked_for_again_with_what_is_wrong() -> None:
    case = Case(replace(MEANS, check=refuses("filter")))
    found = case.plan("How many rivers?", UNDERSTOOD, FILTER, COUNT)
    assert (found.was_valid, found.asked_again, found.candidate.is_valid) == (False, 1, True)
    assert "v1: No filter today." in case.asked[2].messages[-1].content
    assert [one.stage for one in case.told if isinstance(one, Planning)] == [
        "understanding", "planning", "mending",
    ]  # fmt: skip


def test_a_doubtful_plan_is_asked_for_again_once_and_the_better_one_is_kept() -> None:
    case = Case(replace(MEANS, doubt=refuses("filter")))
    found = case.plan("How many rivers?", UNDERSTOOD, FILTER, COUNT)
    assert (found.was_valid, found.asked_again) == (True, 1)
    assert found.graph.vertices[0].tool == "count"
    kept = case.plan("How many rivers?", UNDERSTOOD, FILTER, FILTER)
    assert (kept.asked_again, kept.candidate.is_valid, kept.candidates) == (1, True, 2)
    assert [one.message for one in kept.candidate.doubts] == ["No filter today."]


def test_a_reply_that_is_cut_or_wrong_is_asked_for_again_at_most_twice() -> None:
    cut = Mumbles('{"tasks": [{"id": "v1", "tool": "cou')
    found = Case().plan("How many rivers?", UNDERSTOOD, cut, Says({"tasks": []}), COUNT)
    assert (found.asked_again, found.candidate.is_valid) == (2, True)
    with pytest.raises(PlanError, match="no plan that could be read"):
        Case().plan("How many rivers?", UNDERSTOOD, cut, cut, cut)


def test_other_candidates_are_drawn_where_asking_again_does_not_help() -> None:
    case = Case(replace(MEANS, check=refuses("filter")))
    found = case.plan(
        "How many rivers?", UNDERSTOOD, FILTER, FILTER, FILTER,
        others=[FILTER, COUNT, Mumbles("no")],
    )  # fmt: skip
    assert found.candidate.is_valid
    assert (found.candidates, found.asked_again, found.was_valid) == (5, 2, False)
    drawn = case.asked[-1].messages
    assert drawn == case.asked[1].messages  # not what was asked again


def test_a_plan_that_nothing_mends_is_given_back_with_its_findings() -> None:
    case = Case(replace(MEANS, check=refuses("filter"), asks=0))
    found = case.plan("How many rivers?", UNDERSTOOD, FILTER)
    assert [one.message for one in found.candidate.errors] == ["No filter today."]


IS_ONE = "Look at rivers again. Is each feature of rivers one of the boats?"


@pytest.mark.parametrize(("said", "is_refused"), [("no", True), ("yes", False)])
def test_what_is_counted_is_asked_for_where_it_is_not_plain_that_it_is_what_is_meant(
    said: str, is_refused: bool
) -> None:
    case = Case()
    found = case.plan("How many boats are there?", UNDERSTOOD, COUNT, Says({"answer": said}))
    asked = case.asked[-1]
    assert asked.messages[-1].content == IS_ONE
    assert said_in(asked)["answer"]["enum"] == ["yes", "no"]
    assert bool(found.candidate.rejected) is is_refused
    if is_refused:
        assert found.candidate.rejected.startswith("No layer holds boats: the features of rivers")
    else:
        assert found.graph.vertices[0].tool == "count"


def test_a_count_of_what_is_plain_is_not_asked_for() -> None:
    case = Case()
    assert case.plan("How many rivers are there?", UNDERSTOOD, COUNT).candidate.is_valid
    assert len(case.asked) == 2


BIG = LayerProfile(
    "rivers where x > 1", "L9", Family.VECTOR, "line", fields=RIVERS.fields, short="r1",
    parent="rivers",
)  # fmt: skip
WITH_RESULT = replace(MEANS, layers=(COUNTRIES, RIVERS, BIG))


def said_in(asked: Asked) -> dict[str, Any]:
    assert asked.choice is not None
    return asked.choice.said


def test_a_question_that_speaks_of_a_result_goes_on_in_the_chat_without_its_ancestors() -> None:
    case, memory = Case(WITH_RESULT), Memory()
    case.plan("How many rivers?", UNDERSTOOD, COUNT, memory=memory)
    about = Says(
        {"REFERS_TO": "r1", "NEEDS": "x", "USER_INTENT": "Count", "layers": ["rivers", "r1"]}
    )
    count = Says(plan(task("v1", "count", "table", layer="r1"), answer="v1.count"))
    found = case.plan("How many of those?", about, count, memory=memory)
    first, second = case.asked
    assert "How many rivers?" in "".join(one.content for one in first.messages)
    assert said_in(first)["REFERS_TO"]["enum"] == ["r1"]
    assert (found.understood.refers, found.understood.layers) == ("r1", ("r1",))
    named = json.dumps(said_in(second)["tasks"])
    assert '"r1"' in named
    assert '"rivers"' not in named
    assert found.graph.vertices[0].parameters == {"layer": Layer("rivers where x > 1")}


def test_a_word_for_something_further_on_leaves_it_to_the_model_what_it_means() -> None:
    case, memory = Case(WITH_RESULT), Memory()
    case.plan("How many rivers?", UNDERSTOOD, COUNT, memory=memory)
    case.plan("How many countries are near it?", UNDERSTOOD, COUNT, memory=memory)
    assert said_in(case.asked[0])["REFERS_TO"]["enum"] == ["nothing", "r1"]


def test_what_a_question_is_about_that_names_nothing_is_left_to_the_model() -> None:
    case, memory = Case(WITH_RESULT), Memory()
    case.plan("How many rivers?", UNDERSTOOD, COUNT, memory=memory)
    case.plan("Make a buffer of 2 km around all", UNDERSTOOD, COUNT, memory=memory)
    assert said_in(case.asked[0])["REFERS_TO"]["enum"] == ["nothing", "r1"]


def test_a_field_that_a_result_alone_has_tells_that_it_is_meant() -> None:
    field = replace(COUNTRIES.fields[0], name="area_km2")
    result = replace(BIG, fields=(*RIVERS.fields, field))
    case, memory = Case(replace(MEANS, layers=(COUNTRIES, RIVERS, result))), Memory()
    case.plan("How many rivers?", UNDERSTOOD, COUNT, memory=memory)
    case.plan("What is the mean of area_km2?", UNDERSTOOD, COUNT, memory=memory)
    assert said_in(case.asked[0])["REFERS_TO"]["enum"] == ["r1"]


def test_a_question_that_stands_by_itself_is_planned_as_if_it_were_the_first() -> None:
    case, memory = Case(WITH_RESULT), Memory()
    alone = Case().plan("How many rivers?", UNDERSTOOD, COUNT, memory=memory)
    assert alone.candidate.is_valid
    case.plan("How many countries?", UNDERSTOOD, COUNT, memory=memory)
    first = case.asked[0]
    assert "How many rivers?" not in "".join(one.content for one in first.messages)
    assert "r1" not in first.messages[-1].content
    assert said_in(first)["REFERS_TO"]["enum"] == ["nothing"]


def test_a_part_of_a_question_is_made_whole_and_then_planned_by_itself() -> None:
    case, memory = Case(WITH_RESULT), Memory()
    case.plan("How many rivers?", UNDERSTOOD, COUNT, memory=memory)
    whole = "How many rivers have x > 1?"
    part = Says(
        {"REFERS_TO": "nothing", "ENGLISH": whole, "NEEDS": "x", "USER_INTENT": "Count",
         "layers": ["rivers"]}
    )  # fmt: skip
    found = case.plan("And with x > 1?", part, COUNT, memory=memory)
    first, second = case.asked
    assert "How many rivers?" in "".join(one.content for one in first.messages)
    assert "ENGLISH" in said_in(first)
    texts = "".join(one.content for one in second.messages)
    assert "How many rivers?" not in texts
    assert f"Question: {whole}" in texts
    assert (found.graph.question, found.understood.is_part) == (whole, True)


def test_a_conversation_that_fills_the_context_keeps_its_last_question() -> None:
    case, memory = Case(WITH_RESULT), Memory()
    case.plan("How many rivers?", UNDERSTOOD, COUNT, memory=memory)
    memory.messages += [Message(Role.USER, "x " * 20_000)]
    part = Says({"ENGLISH": "How many?", "NEEDS": "", "USER_INTENT": "Count", "layers": ["rivers"]})
    case.plan("And now?", part, COUNT, memory=memory)
    assert "x x" not in "".join(one.content for one in case.asked[0].messages)


def test_what_the_model_mended_stands_in_the_chat_as_if_said_at_once() -> None:
    case, memory = Case(replace(MEANS, check=refuses("filter"))), Memory()
    case.plan("How many rivers?", UNDERSTOOD, FILTER, COUNT, memory=memory)
    assert json.loads(memory.messages[-1].content) == COUNT.said
    assert not any("not right" in one.content for one in memory.messages)


def test_a_step_that_takes_its_own_result_takes_the_only_layer_instead() -> None:
    case = Case(replace(MEANS, layers=(RIVERS,)))
    itself = Says(plan(task("v1", "count", "table", layer="v1"), answer="v1.count"))
    found = case.plan("How many rivers?", UNDERSTOOD, itself)
    assert found.graph.vertices[0].parameters == {"layer": Layer("rivers")}
    assert found.candidate.remarks == ("v1 took its own result and takes rivers instead.",)


def test_an_error_of_the_model_is_not_hidden() -> None:
    with pytest.raises(ModelError, match="gone"):
        Case().plan("How many rivers?", UNDERSTOOD, Fails(ModelError("The server is gone.")))


def test_the_cap_of_tokens_holds() -> None:
    talk = Conversation(None, lambda: False, lambda told: None, token_cap=50)  # type: ignore[arg-type]
    talk.usage = replace(talk.usage, evaluated=40, generated=10)
    with pytest.raises(TokensSpent, match="used 50 tokens"):
        talk.ask({})


def test_steps_without_an_objective_get_one_and_others_keep_theirs() -> None:
    own = CLIPPED.with_vertex(replace(CLIPPED.vertex("v2"), objective="Mine."))
    found = with_objectives(own, lambda vertex, graph: f"Do {vertex.tool}.")
    assert [one.objective for one in found.vertices] == ["Do buffer.", "Mine.", "Do count."]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('Sure: ```json\n{"a": {"b": 1}}\n``` and {"c": 2}', {"a": {"b": 1}}),
        ('{broken {"a": 1}', {"a": 1}),
        ("[1, 2]", None),
        ('{"a": ', None),
        ("{" * 50_000, None),
    ],
)
def test_the_first_whole_object_of_a_text_is_found(text: str, wanted: Any) -> None:
    assert first_object(text) == wanted


# -- the schema


def schema(tools: tuple[str, ...] = ("count", "filter", "buffer"), **more: Any) -> dict[str, Any]:
    chosen = tuple(one for one in TOOLS if one.name in tools)
    offer = Offer(chosen, (COUNTRIES, RIVERS), ROLES, ("count",), **more)
    properties = said(offer, grounded)
    return {"type": "object", "properties": properties, "required": list(properties)}


def fits(form: Any, **more: Any) -> bool:
    return not list(jsonschema.Draft7Validator(schema(**more)).iter_errors(form))


EMPTY = {"field": "POP", "op": "is empty"}


@pytest.mark.parametrize(
    ("one", "wanted"),
    [
        (task("v1", "count", "table", layer="countries"), True),
        (task("v2", "count", "table", layer="v1"), True),
        (task("v1", "count", "table", layer="roads"), False),
        (task("v1", "count", "vector", layer="countries"), False),
        (task("x", "count", "table", layer="countries"), False),
        (task("v1", "dissolve", layer="countries"), False),
        (task("v1", "filter", layer="countries", conditions=[EMPTY]), True),
        (task("v1", "filter", layer="rivers", conditions=[EMPTY]), False),
        (task("v1", "filter", layer="v1", conditions=[{**EMPTY, "field": "made"}]), True),
        (task("v1", "buffer", layer="rivers"), False),
        ({"id": "v1", "ask": "How far?"}, False),
    ],
)
def test_the_schema_holds_a_task_to_agents_tools_layers_and_fields(one: Any, wanted: bool) -> None:
    assert fits(plan(one)) is wanted


def test_the_schema_holds_the_answer_to_numbers_of_steps_and_bounds_the_tasks() -> None:
    one = task("v1", "count", "table", layer="countries")
    assert fits(plan(one, answer="v1.count"))
    assert not fits(plan(one, answer="v1.mean"))
    assert not fits(plan(*[one] * 7))
    assert not fits(plan())


def test_other_forms_of_tasks_are_in_the_schema_where_an_example_shows_them() -> None:
    forms = frozenset(("ask", "review", "abstract"))
    assert fits(plan({"id": "v1", "ask": "How far?"}), forms=forms)
    assert fits(plan({"id": "v2", "review": "v1"}), forms=forms)
    assert fits(plan({"id": "v1", "agent": "map", "objective": "Colour it."}), forms=forms)


def test_the_speaker_sends_the_schema_of_a_plan() -> None:
    case = Case()
    case.plan("How many rivers?", UNDERSTOOD, COUNT)
    assert case.asked[1].choice is not None
    sent = reply_schema(case.asked[1].choice)
    assert sent["required"] == ["tasks", "answer"]
    jsonschema.validate(COUNT.said, sent)


# -- worked examples


def test_a_chain_of_calls_becomes_a_graph_that_waits_only_for_what_it_uses() -> None:
    calls = [
        Call("count", {"layer": "trees"}, "r1: count = 3 features."),
        Call("style_graduated", {"layer": "trees", "field": "h"}, "trees is coloured."),
        Call("count", {"layer": "trees"}, "r2: count = 9 features."),
        Call("calculate", {"expression": "100 * r1.count / r2.count"}, "r3: 33 %."),
        Call("answer", {"value": "r3.value", "layers": ["r1"]}),
    ]
    assert form_of(calls, ROLES) == plan(
        task("v1", "count", "table", layer="trees"),
        task("v2", "style_graduated", "map", layer="trees", field="h"),
        task("v3", "count", "table", layer="trees"),
        task("v4", "calculate", "table", expression="100 * v1.count / v3.count"),
        answer="v4.value",
    )


def test_forms_beside_calls_come_from_examples_too() -> None:
    calls = [
        Call("ask", {"ask": "How far?"}, "r1: 300"),
        Call("buffer", {"layer": "stops", "distance": "r1"}, "r2: layer"),
        Call("review", {"review": "r2"}),
    ]
    form = form_of(calls, ROLES)
    assert form["tasks"][0] == {"id": "v1", "ask": "How far?"}
    assert form["tasks"][1]["arguments"]["distance"] == "v1"
    assert form["tasks"][2] == {"id": "v3", "review": "v2"}
    shown = replace(SHOWN, form=form)
    assert (shown.tools, shown.forms) == ({"buffer"}, {"ask", "review"})
    assert PlainBriefing().examples("", None).shown == (SHOWN,)  # type: ignore[arg-type]


# -- leftovers

INDEX = task("v1", "buffer", layer="rivers", distance=9)


def test_a_leftover_takes_the_place_of_the_layer_that_it_was_made_from() -> None:
    found = linked(graph(INDEX, task("v2", "count", "table", layer="rivers")), ["v1"])
    assert found.vertex("v2").parameters == {"layer": Output("v1")}
    assert found.vertex("v1").parameters == {"layer": Layer("rivers"), "distance": 9}


def test_a_leftover_stays_where_none_or_several_steps_may_have_meant_it() -> None:
    none = graph(INDEX, task("v2", "count", "table", layer="countries"))
    several = graph(
        INDEX,
        task("v2", "count", "table", layer="rivers"),
        task("v3", "overlay", layer="countries", other="rivers"),
    )
    two = graph(
        task("v1", "overlay", layer="rivers", other="countries"),
        task("v2", "count", "table", layer="rivers"),
    )
    used = graph(INDEX, task("v2", "overlay", layer="rivers", other="v1"))
    for one in (none, several, two):
        assert linked(one, ["v1"]) == one
    assert linked(used, ["v1"]) == used


def test_a_plan_keeps_a_link_that_ends_its_doubt() -> None:
    def leftover(graph: Graph) -> list[Finding]:
        unused = [one for one in graph.vertices[:-1] if not graph.children(one.id)]
        return [Finding("unused", Severity.NOTE, "Not used.", one.id) for one in unused]

    case = Case(replace(MEANS, doubt=leftover))
    alone = Says(plan(INDEX, task("v2", "count", "table", layer="rivers"), answer="v2.count"))
    found = case.plan("How many rivers?", UNDERSTOOD, alone, alone)
    assert found.graph.vertex("v2").parameters == {"layer": Output("v1")}
    assert found.candidate.doubts == ()
