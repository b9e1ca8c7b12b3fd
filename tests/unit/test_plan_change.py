# SPDX-License-Identifier: GPL-2.0-or-later
"""How a model changes a graph: operations, refinement after a failure, requests in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from plain_toolbox import COUNTRIES, RIVERS
from plan_case import (
    CLIPPED,
    KNOWN,
    MEANS,
    ROLES,
    TOOLS,
    Case,
    graph,
    grounded,
    refuses,
    task,
)
from scripted_speaker import Fails, Mumbles, Says, ScriptedSpeaker

from geo_olm.plugin.llm.base import ModelError, RunCancelled
from geo_olm.plugin.workflow import change_schema
from geo_olm.plugin.workflow.change import Change, applied
from geo_olm.plugin.workflow.dialogue import Dialogue, named
from geo_olm.plugin.workflow.finding import Finding, Mend, Severity
from geo_olm.plugin.workflow.graph import Graph, Status, Variable
from geo_olm.plugin.workflow.graph import Type as VariableType
from geo_olm.plugin.workflow.plan_change import change_of
from geo_olm.plugin.workflow.plan_form import PlanError
from geo_olm.plugin.workflow.plan_schema import Offer
from geo_olm.plugin.workflow.refinement import Refinement
from geo_olm.plugin.workflow.value import Asked, Layer, Output


def edit(step: str, **arguments: Any) -> dict[str, Any]:
    return {"change": "edit", "step": step, "arguments": arguments}


def put(kind: str, step: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"change": kind, "step": step, "tool": tool, "arguments": arguments}


def changed(*changes: dict[str, Any], old: Graph = CLIPPED) -> Graph:
    return applied(old, change_of({"changes": list(changes)}, old, KNOWN))


def assert_untouched(new: Graph, *but: str) -> None:
    for one in CLIPPED.vertices:
        if one.id not in but:
            assert new.vertex(one.id) == one


def test_an_edit_merges_arguments_and_leaves_all_other_steps_identical() -> None:
    new = changed(edit("v1", distance=2000))
    assert new.vertex("v1").parameters == {"layer": Layer("rivers"), "distance": 2000}
    assert_untouched(new, "v1")
    assert new.answer == CLIPPED.answer


def test_an_edit_may_take_an_argument_away_and_rewrites_the_objective() -> None:
    told = CLIPPED.with_vertex(replace(CLIPPED.vertex("v1"), objective="500 m around rivers."))
    new = changed(edit("v1", distance=None), old=told)
    assert new.vertex("v1").parameters == {"layer": Layer("rivers")}
    assert new.vertex("v1").objective == ""


def test_a_step_put_after_another_is_used_by_what_used_that_one() -> None:
    new = changed(put("insert", "v2", "dissolve", layer="v2"))
    assert new.ids() == ("v1", "v2", "v3", "v4")
    assert new.vertex("v4").parameters == {"layer": Output("v2")}
    assert new.vertex("v4").agent == "vector"
    assert new.vertex("v3").parameters == {"layer": Output("v4")}
    assert_untouched(new, "v3")


def test_a_number_put_after_a_step_comes_between_nothing() -> None:
    new = changed(put("insert", "v1", "count", layer="v1"))
    assert new.vertex("v4").parameters == {"layer": Output("v1")}
    assert_untouched(new)


def test_a_second_filter_takes_over_the_answer_of_the_first() -> None:
    asia = [{"field": "continent", "op": "=", "value": "Asia"}]
    first = graph(task("v1", "filter", layer="countries", conditions=[]), answer="v1.count")
    new = changed(put("insert", "v1", "filter", layer="v1", conditions=asia), old=first)
    assert new.answer.value == Output("v2", "count")


def test_an_added_step_leaves_the_others_as_they_are() -> None:
    new = changed(put("add", "v2", "style_graduated", layer="v2", field="POP"))
    assert new.children("v2") == ("v3", "v4")
    assert_untouched(new)


def test_a_removed_step_hands_its_first_layer_on() -> None:
    new = changed({"change": "remove", "step": "v2"})
    assert new.vertex("v3").parameters == {"layer": Layer("countries")}
    assert new.vertex("v1") == CLIPPED.vertex("v1")


def test_a_replaced_step_keeps_its_place_title_and_comment() -> None:
    old = replace(CLIPPED.vertex("v2"), title="Clip", position=(1.0, 2.0), comment="!")
    new = changed(put("replace", "v2", "dissolve", layer="v1"), old=CLIPPED.with_vertex(old))
    found = new.vertex("v2")
    assert (found.tool, found.title, found.position) == ("dissolve", "Clip", (1.0, 2.0))
    assert found.parameters == {"layer": Output("v1")}


def test_an_answer_may_be_named_anew() -> None:
    new = changed({"change": "answer", "value": "v2.area"})
    assert new.answer.value == Output("v2", "area")


def test_a_variable_stays_a_variable() -> None:
    asked = replace(
        CLIPPED.with_vertex(
            replace(
                CLIPPED.vertex("v1"), parameters={"layer": Layer("rivers"), "distance": Asked("d")}
            )
        ),
        variables=(Variable("d", VariableType.NUMBER),),
    )
    new = changed(edit("v1", layer="countries", distance="{d}"), old=asked)
    assert new.vertex("v1").parameters == {"layer": Layer("countries"), "distance": Asked("d")}


def test_finished_steps_that_a_change_does_not_reach_stay_finished() -> None:
    done = replace(
        CLIPPED,
        vertices=tuple(replace(one, status=Status.COMPLETED) for one in CLIPPED.vertices),
    )
    new = changed(put("replace", "v3", "count", layer="v1"), old=done)
    assert [one.status.value for one in new.vertices] == ["completed", "completed", "pending"]


@pytest.mark.parametrize(
    "form",
    [
        None,
        {"changes": []},
        {"changes": ["remove v1"]},
        {"changes": [{"change": "paint", "step": "v1"}]},
        {"changes": [edit("v9", distance=1)]},
        {"changes": [{"change": "remove"}]},
    ],
)
def test_a_change_that_does_not_fit_is_refused_with_a_sentence(form: Any) -> None:
    with pytest.raises(PlanError, match=r"\.$"):
        change_of(form, CLIPPED, KNOWN)


# -- the schema


def fits(*changes: dict[str, Any], **more: Any) -> bool:
    tools = tuple(one for one in TOOLS if one.name in ("buffer", "dissolve"))
    offer = Offer(
        tools, (COUNTRIES, RIVERS), ROLES, ("count",), tasks=1, steps=CLIPPED.ids(), all=TOOLS
    )
    properties = change_schema.said(CLIPPED, offer, grounded, **more)
    schema = {"type": "object", "properties": properties}
    return not list(jsonschema.Draft7Validator(schema).iter_errors({"changes": list(changes)}))


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (edit("v1", distance=2), True),
        (edit("v1", radius=2), False),
        (edit("v3", distance=2), False),
        (edit("v3", layer="v4"), True),
        (put("insert", "v2", "dissolve", layer="v2"), True),
        (put("insert", "v2", "overlay", layer="v2", other="v1"), False),
        (put("replace", "v9", "dissolve", layer="v2"), False),
        ({"change": "remove", "step": "v2"}, True),
        ({"change": "answer", "value": "v4.count"}, True),
    ],
)
def test_the_schema_holds_a_change_to_steps_tools_and_layers(change: Any, wanted: bool) -> None:
    assert fits(change) is wanted


def test_the_schema_of_a_mend_is_held_to_the_failed_step() -> None:
    assert not fits(edit("v1", distance=2), only=("v2", "v3"))
    assert not fits({"change": "answer", "value": "v1.count"}, kinds=("edit",))


# -- refinement


def proposed(
    *steps: Any, case: Case | None = None, vertex: str = "v1", times: int = 1
) -> tuple[list[Change | None], list[Any]]:
    case = case or Case()
    with ScriptedSpeaker(list(steps)) as speaker:
        refinement = Refinement(case.reviser(speaker))
        found = [refinement.propose(CLIPPED, vertex, "No distance.") for _ in range(times)]
    return found, speaker.asked


def test_a_failed_step_is_told_with_the_graph_and_its_change_comes_back_with_a_reason() -> None:
    (change,), (asked,) = proposed(Says({"changes": [edit("v1", distance=900)]}))
    assert change is not None
    assert [one.id for one in change.edited] == ["v1"]
    assert change.reason == "v1 failed: No distance."
    last = asked.messages[-1].content
    assert last.endswith("Failed: v1: No distance.")
    assert '"tool": "overlay"' in last
    assert asked.messages[0].content == "Change."


def test_a_change_that_changes_nothing_is_asked_for_again() -> None:
    same, other = edit("v1", distance=500), edit("v1", distance=900)
    (change,), asked = proposed(Says({"changes": [same]}), Says({"changes": [other]}))
    assert change is not None
    assert asked[1].messages[-1].content.startswith("That changes nothing.")


def test_a_cut_reply_and_one_of_an_unknown_step_are_asked_for_again_and_then_given_up() -> None:
    (change,), asked = proposed(
        Mumbles('{"changes": [{"ch'), Says({"changes": [edit("v7", x=1)]}), Mumbles("")
    )
    assert change is None
    assert "There is no step v7. Steps: v1, v2, v3." in asked[2].messages[-1].content


def test_the_model_is_asked_twice_for_one_step_and_never_for_the_same_graph() -> None:
    first, second = edit("v1", distance=900), edit("v1", distance=500)
    found, _ = proposed(
        Says({"changes": [first]}),
        Says({"changes": [second]}), Mumbles(""), Mumbles(""),
        times=3,
    )  # fmt: skip
    assert [one is None for one in found] == [False, True, True]


def test_what_the_checks_can_mend_needs_no_model() -> None:
    better = Change(edited=(replace(CLIPPED.vertex("v1"), tool="dissolve"),))

    def check(graph: Graph) -> list[Finding]:
        mends = (Mend("Dissolve instead", better),)
        return [
            Finding("x", Severity.ERROR, "Wrong.", one.id, mends=mends)
            for one in graph.vertices
            if one.tool == "buffer"
        ]

    (change,), asked = proposed(case=Case(replace(MEANS, check=check)))
    assert change == replace(better, reason="Dissolve instead")
    assert asked == []


def test_a_change_after_which_more_is_wrong_is_refused() -> None:
    case = Case(replace(MEANS, check=refuses("dissolve"), asks=0))
    (change,), _ = proposed(Says({"changes": [put("replace", "v1", "dissolve", layer="rivers")]}),
                            case=case)  # fmt: skip
    assert change is None


def test_a_model_that_is_gone_proposes_nothing_and_a_stop_is_a_stop() -> None:
    assert proposed(Fails(ModelError("gone")))[0] == [None]
    with pytest.raises(RunCancelled):
        proposed(Fails(RunCancelled()))


# -- requests in words


def test_a_request_changes_only_what_it_names_and_edits_by_hand_are_told_first() -> None:
    by_hand = changed(edit("v1", distance=700))
    with ScriptedSpeaker([Says({"changes": [put("insert", "v2", "dissolve", layer="v2")]})]) as one:
        dialogue = Dialogue(Case().reviser(one), CLIPPED)
        change = dialogue.changed(by_hand, "add a dissolve after the overlay")
        last = one.asked[0].messages[-1].content
    assert last.endswith(
        "The user changed: buffer (v1): distance 500 → 700\n"
        "Request: add a dissolve after the overlay"
    )
    new = applied(by_hand, change)
    assert new.vertex("v1") == by_hand.vertex("v1")
    assert new.vertex("v2") == by_hand.vertex("v2")
    assert new.vertex("v3").parameters == {"layer": Output("v4")}
    assert dialogue.seen == by_hand


def test_tools_that_a_request_names_are_on_offer() -> None:
    assert [one.name for one in named("Dissolve the result, then export a map", TOOLS)] == [
        "dissolve", "export_map",
    ]  # fmt: skip
    assert named("use 2 km instead", TOOLS) == ()


def test_a_request_that_no_reply_fits_is_told_with_what_was_wrong() -> None:
    with ScriptedSpeaker([Mumbles("no")] * 3) as speaker:
        dialogue = Dialogue(Case().reviser(speaker), CLIPPED)
        with pytest.raises(PlanError, match="one JSON object"):
            dialogue.changed(CLIPPED, "make it nicer")


def test_a_request_is_held_against_what_the_change_says_and_asked_about_once() -> None:
    def doubt(graph: Graph) -> list[Finding]:
        found = [(one.parameters or {}).get("distance") for one in graph.vertices]
        text = "The request says half a kilometre, and no step uses that distance."
        return [] if 500 in found else [Finding("x", Severity.WARNING, text)]

    near, right = Says({"changes": [edit("v1", distance=50)]}), edit("v1", distance=500)
    start = changed(edit("v1", distance=100))
    with ScriptedSpeaker([near, Says({"changes": [right]})]) as speaker:
        reviser = Case(replace(MEANS, doubt=doubt)).reviser(speaker)
        change = Dialogue(reviser, start).changed(start, "make it half a kilometre")
        assert speaker.asked[1].messages[-1].content.startswith("The request says half a kilo")
    assert [one.parameters["distance"] for one in change.edited] == [500]
    with ScriptedSpeaker([near, Mumbles("no"), Mumbles("no")]) as speaker:
        reviser = Case(replace(MEANS, doubt=doubt)).reviser(speaker)
        kept = Dialogue(reviser, start).changed(start, "make it half a kilometre")
    assert [one.parameters["distance"] for one in kept.edited] == [50]


def test_only_what_a_change_touches_gets_an_objective() -> None:
    means = replace(MEANS, write=lambda vertex, graph: f"Do {vertex.tool}.")
    with ScriptedSpeaker([Says({"changes": [edit("v1", distance=50)]})]) as speaker:
        change = Dialogue(Case(means).reviser(speaker), CLIPPED).changed(CLIPPED, "50 m")
    assert [(one.id, one.objective) for one in change.edited] == [("v1", "Do buffer.")]


def test_narrowing_adds_conditions_to_those_that_a_step_has() -> None:
    empty, asia = {"field": "POP", "op": "is empty"}, {"field": "NAME", "op": "=", "value": "Asia"}
    first = graph(task("v1", "count", "table", layer="countries", conditions=[empty]))
    more = {"change": "narrow", "step": "v1", "conditions": [asia, empty]}
    assert changed(more, old=first).vertex("v1").parameters["conditions"] == [empty, asia]
    none = graph(task("v1", "count", "table", layer="countries"))
    assert changed(more, old=none).vertex("v1").parameters["conditions"] == [asia, empty]
    assert fits({"change": "narrow", "step": "v3", "conditions": [{**asia, "field": "x"}]})
    assert not fits({"change": "narrow", "step": "v1", "conditions": [asia]})
    world = graph(task("v1", "count", "table", layer="countries", conditions=[empty, asia]))
    africa = {**asia, "value": "Africa"}
    other = changed({"change": "narrow", "step": "v1", "conditions": [africa]}, old=world)
    assert other.vertex("v1").parameters["conditions"] == [empty, africa]
    with pytest.raises(PlanError, match="as a list"):
        changed({"change": "narrow", "step": "v1", "conditions": "Asia"}, old=first)
