# SPDX-License-Identifier: GPL-2.0-or-later
"""A question that speaks of an earlier result: what Init offers, what is in reach, what is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from agent_case import RESOURCES, Case
from plain_toolbox import COUNTRIES, RIVERS, PlainToolbox, made
from scripted_speaker import Says, call, init, wrote

from geo_olm.plugin.agent import prompt
from geo_olm.plugin.agent.event import Notice, Status
from geo_olm.tools.base import ToolResult

PROMPTS = prompt.load(RESOURCES / "prompts")
EMPTY = replace(
    COUNTRIES,
    key="countries where POP is empty",
    id="",
    short="r1",
    features=17,
    parent="countries",
)


def after_a_count() -> Case:
    """A chat in which seventeen countries were counted, which r1 can now mean."""
    toolbox = PlainToolbox({
        "count": [made("17 features.", count=17.0)],
        "filter": [made("4 features.", layer="kept", count=4.0)],
    })  # fmt: skip
    case = Case(toolbox)
    answer = call("Answer", "answer", value="r1.count")
    case.ask(
        "How many countries have no POP?",
        init("Count", "countries"),
        call("Analyse", "count", layer="countries"),
        answer,
        wrote("There are 17."),
    )
    toolbox.profiles = [COUNTRIES, RIVERS, EMPTY]
    return case


def follow(result: str, intent: str = "Count", *layers: str) -> Says:
    said = dict(init(intent, *layers).said)
    return Says({**said, "REFERS_TO": result})


KEEP = call("Filter", "filter", layer="r1", where="Asia")
ANSWER = call("Answer", "answer", value="r2.count")


def test_a_follow_up_works_on_the_result_and_cannot_reach_past_it() -> None:
    case = after_a_count()
    end = case.ask(
        "Only those in Asia.", follow("r1", "Count", "countries"), KEEP, ANSWER, wrote("4 of them.")
    )
    assert (end.status, end.value) == (Status.OK, 4.0)
    assert case.toolbox.calls("layer_info")[-1] == {"layer": "r1"}
    step = case.choices()[1].choice
    assert step is not None
    assert [layer.name for layer in step.layers] == ["rivers", "r1"]


def test_the_user_is_told_what_a_question_was_taken_for() -> None:
    case = after_a_count()
    case.ask("Only those in Asia.", follow("r1", "Count", "r1"), KEEP, ANSWER, wrote("4."))
    told = [event.text for event in case.of(Notice)]
    assert told == ["Taken as a question about r1 = countries where POP is empty."]


def test_a_question_of_place_keeps_both_layers_in_reach() -> None:
    case = after_a_count()
    case.ask(
        "Which countries touch them?", follow("r1", "Location", "r1"), KEEP, ANSWER, wrote("4.")
    )
    step = case.choices()[1].choice
    assert step is not None
    assert [layer.name for layer in step.layers] == ["countries", "rivers", "r1"]


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("Only those in Asia.", ["r1"]),
        ("¿Cuántos de ellos están en África?", ["r1"]),
        ("Bunların kaçı Asya'da?", ["r1"]),
        ("How many countries are in Africa?", ["nothing", "r1"]),
        ("Show the rivers and colour them blue.", ["nothing", "r1"]),
    ],
)
def test_a_question_that_begins_with_those_must_speak_of_a_result(
    question: str, offered: list[str]
) -> None:
    case = after_a_count()
    said = follow(offered[0], "Count", "countries")
    case.ask(question, said, call("Answer", "answer", value="r1.count"), wrote("17."))
    choice = case.choices()[0].choice
    assert choice is not None
    assert choice.said["REFERS_TO"]["enum"] == offered


def test_the_first_question_of_a_chat_can_speak_of_nothing_before_it() -> None:
    case = Case(PlainToolbox({"count": [made("17 features.", count=17.0)]}))
    case.ask(
        "How many of those are there?",
        init("Count", "countries"),
        call("Analyse", "count", layer="countries"),
        call("Answer", "answer", value="r1.count"),
        wrote("17."),
    )
    choice = case.choices()[0].choice
    assert choice is not None
    assert choice.said["REFERS_TO"]["enum"] == ["nothing"]
    assert case.of(Notice) == []


def test_what_was_counted_is_shown_when_the_question_asks_for_it() -> None:
    counted = replace(made("17 features.", count=17.0), speaks=True)
    case = Case(PlainToolbox({"count": [counted], "zoom_to_layer": [ToolResult("Shown.")]}))
    script = (
        init("Count", "countries"),
        call("Analyse", "count", layer="countries"),
        call("Answer", "answer", value="r1.count"),
        wrote("There are 17."),
    )
    case.ask("How many have no POP? Show them.", *script)
    assert case.toolbox.calls("zoom_to_layer") == [{"layer": "r1"}]


def test_what_was_counted_is_not_shown_unasked() -> None:
    counted = replace(made("17 features.", count=17.0), speaks=True)
    case = Case(PlainToolbox({"count": [counted]}))
    case.ask(
        "How many have no POP?",
        init("Count", "countries"),
        call("Analyse", "count", layer="countries"),
        call("Answer", "answer", value="r1.count"),
        wrote("There are 17."),
    )
    assert case.toolbox.calls("zoom_to_layer") == []


def test_an_answer_wrapped_in_json_is_read_as_its_sentence() -> None:
    case = Case(PlainToolbox({"count": [made("17 features.", count=17.0)]}))
    end = case.ask(
        "How many?",
        init("Count", "countries"),
        call("Analyse", "count", layer="countries"),
        call("Answer", "answer", value="r1.count"),
        wrote('{"CURRENT_STAGE": "End", ', '"result": "There are 17 \\"countries\\"."'),
    )
    assert end.answer == 'There are 17 "countries".'


def test_the_words_are_told_by_language() -> None:
    assert PROMPTS.refers("Colour them by population.")
    assert not PROMPTS.refers("Colour the rivers and label all of them.")
    assert PROMPTS.shows("Muéstralos en el mapa")
    assert not PROMPTS.shows("How many shows are there?")
