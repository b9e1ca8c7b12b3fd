# SPDX-License-Identifier: GPL-2.0-or-later
"""The speaker: schema, native calls or text, and what is read of a reply in each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from plain_toolbox import COUNTRIES, DEFINITIONS

from geo_olm.plugin.agent.message import Message, Role, ToolCall
from geo_olm.plugin.llm.base import (
    Cancelled,
    ChatRequest,
    Choice,
    Chunk,
    FeatureRefused,
    Finish,
    ModelCard,
    Reply,
    Server,
    Spoken,
    TextDelta,
)
from geo_olm.plugin.llm.speaker import Mode, ModelSpeaker, repeats, reply_schema

ASKED = (Message(Role.USER, "How many?"),)
STAGES = {"CURRENT_STAGE": {"type": "string", "enum": ["Filter", "Analyse", "Answer"]}}
CHOICE = Choice(
    tuple(tool for tool in DEFINITIONS if tool.name in ("count", "answer")),
    (COUNTRIES,),
    {},
    STAGES,
    {"count": ("Analyse",), "answer": ("Answer",)},
)
INIT = Choice(
    said={
        "CURRENT_STAGE": {"type": "string", "enum": ["Init"]},
        "USER_INTENT": {"type": "string", "enum": ["Count", "Rank"]},
        "layers": {"type": "array", "items": {"type": "string", "enum": ["countries", "rivers"]}},
    }
)


class OneReply:
    """A chat model that refuses some features and gives one reply to all else."""

    def __init__(self, reply: Reply, *refused: str) -> None:
        self.reply = reply
        self.refused = refused
        self.requests: list[ChatRequest] = []
        self.closed = False

    def card(self) -> ModelCard:
        return ModelCard("one", Server.OPENAI, "http://127.0.0.1", 4096)

    def chat(self, request: ChatRequest, cancelled: Cancelled) -> Iterator[Chunk]:
        self.requests.append(request)
        used = "schema" if request.schema else "tools" if request.tools else "text"
        if used in self.refused:
            raise FeatureRefused(f"{used} is refused. Ask without.")
        if self.reply.text:
            yield TextDelta(self.reply.text)
        yield self.reply

    def close(self) -> None:
        self.closed = True


def speaker_of(model: OneReply, mode: str = "auto") -> ModelSpeaker:
    return ModelSpeaker(model, mode, 512, 0.0, 7)


def spoken(text: str, choice: Choice = CHOICE, mode: str = "text", **reply: Any) -> Spoken:
    model = OneReply(Reply(text, **reply))
    last = list(speaker_of(model, mode).choose(ASKED, choice, lambda: False))[-1]
    assert isinstance(last, Spoken)
    return last


def called(found: Spoken) -> list[tuple[str, dict[str, Any]]]:
    return [(one.name, one.arguments) for one in found.calls]


HELD = json.dumps(
    {"CURRENT_STAGE": "Analyse", "tool": "count", "arguments": {"layer": "countries"}}
)


def test_a_server_that_takes_a_schema_is_sent_one_and_no_tools() -> None:
    model = OneReply(Reply(HELD))
    list(speaker_of(model).choose(ASKED, CHOICE, lambda: False))
    assert [(bool(item.schema), item.tools) for item in model.requests] == [(True, ())]


def test_a_refused_schema_leads_to_native_and_then_to_text_and_is_remembered() -> None:
    model = OneReply(Reply(HELD), "schema", "tools")
    speaker = speaker_of(model)
    for _ in range(2):
        last = list(speaker.choose(ASKED, CHOICE, lambda: False))[-1]
        assert isinstance(last, Spoken)
        assert called(last) == [("count", {"layer": "countries"})]
    used = [
        "schema" if item.schema else "tools" if item.tools else "text" for item in model.requests
    ]
    assert used == ["schema", "tools", "text", "text"]
    assert speaker.mode is Mode.TEXT


def test_a_refusal_of_plain_text_is_passed_on() -> None:
    speaker = speaker_of(OneReply(Reply(HELD), "schema", "tools", "text"))
    with pytest.raises(FeatureRefused):
        list(speaker.choose(ASKED, CHOICE, lambda: False))


def test_native_tools_are_sent_without_our_own_marks() -> None:
    model = OneReply(Reply("", calls=(ToolCall("abcdefghi", "count", {}),)))
    list(speaker_of(model, "native").choose(ASKED, CHOICE, lambda: False))
    assert [tool.name for tool in model.requests[0].tools] == ["count", "answer"]
    assert "x-" not in json.dumps([tool.parameters for tool in model.requests[0].tools])


def test_a_native_call_is_kept_as_a_call_and_its_stage_is_read_from_the_text() -> None:
    call = ToolCall("abcdefghi", "count", {"layer": "countries"})
    found = spoken("CURRENT_STAGE = Analyse", mode="native", calls=(call,))
    assert found.native
    assert found.calls == found.message.calls == (call,)
    assert found.said == {"CURRENT_STAGE": "Analyse"}


@pytest.mark.parametrize(
    "text",
    [
        "CURRENT_STAGE = Filter",
        "CURRENT_STAGE=Filter.",
        "CURRENT_STAGE: Filter",
        '**CURRENT_STAGE**: "Filter"',
        "**CURRENT_STAGE:** `filter`",
        "current_stage = FILTER",
        "CURRENT_STAGE = Answer\nNo, wait.\nCURRENT_STAGE = Filter",
        '{"CURRENT_STAGE": "Filter"}',
    ],
)
def test_the_stage_is_read_in_all_its_spellings_and_the_last_one_counts(text: str) -> None:
    assert spoken(text).said == {"CURRENT_STAGE": "Filter"}


@pytest.mark.parametrize(
    "text", ["CURRENT_STAGE = Dreaming", '{"CURRENT_STAGE": "Dreaming"}', "CURRENT_STAGE", ""]
)
def test_an_unknown_stage_is_not_said(text: str) -> None:
    assert spoken(text).said == {}


def test_an_unknown_stage_beside_a_call_is_not_said_either() -> None:
    text = json.dumps({"CURRENT_STAGE": "Counting", "tool": "count", "arguments": {}})
    found = spoken(text)
    assert (found.said, called(found)) == ({}, [("count", {})])


@pytest.mark.parametrize(
    "text",
    [
        HELD,
        '{"CURRENT_STAGE": "Analyse", "name": "count", "arguments": {"layer": "countries"}}',
        'CURRENT_STAGE = Analyse\n{"tool": "count", "arguments": {"layer": "countries"}}',
        'CURRENT_STAGE = Analyse\n```json\n{"name": "count", "arguments": '
        '{"layer": "countries"}}\n```',
        'CURRENT_STAGE = Analyse <tool_call>{"name": "count", "arguments": '
        '{"layer": "countries"}}</tool_call>',
        '{"CURRENT_STAGE": "Analyse", "tool": "Count", "arguments": {"layer": "countries"}}',
    ],
)
def test_a_call_in_text_is_found_in_all_its_forms(text: str) -> None:
    found = spoken(text)
    assert called(found) == [("count", {"layer": "countries"})]
    assert found.said == {"CURRENT_STAGE": "Analyse"}
    assert not found.native


@pytest.mark.parametrize(
    "text",
    [
        '{"CURRENT_STAGE": "Init", "USER_INTENT": "Count", "layers": ["countries"]}',
        "CURRENT_STAGE = Init\nUSER_INTENT = Count\nlayers = countries",
        'CURRENT_STAGE = Init\nUSER_INTENT: "count"\nlayers: ["countries"]',
        "CURRENT_STAGE = Init\n**USER_INTENT** = Count\nlayers = [countries]",
    ],
)
def test_init_is_read_from_json_and_from_lines(text: str) -> None:
    found = spoken(text, INIT)
    assert found.said["USER_INTENT"] == "Count"
    assert found.said["layers"] == ["countries"]


@pytest.mark.parametrize("layers", [5, {"name": "countries"}, [["countries"]], None, True])
def test_layers_of_a_wrong_type_are_not_said(layers: object) -> None:
    text = json.dumps({"CURRENT_STAGE": "Init", "USER_INTENT": "Count", "layers": layers})
    found = spoken(text, INIT)
    assert found.said.get("layers", []) == []
    assert found.said["USER_INTENT"] == "Count"


@pytest.mark.parametrize(
    "text",
    [
        '{"NEEDS": " a count of countries "}',
        "NEEDS = a count of countries",
        '**NEEDS**: "a count of countries"\n',
    ],
)
def test_a_free_text_is_read_to_its_end(text: str) -> None:
    choice = Choice(said={"NEEDS": {"type": "string", "maxLength": 20}})
    assert spoken(text, choice).said["NEEDS"].startswith("a count of countries"[:20])


def test_a_cut_reply_is_malformed_and_no_call() -> None:
    found = spoken('{"tool": "count", "argu', finish=Finish.LENGTH)
    assert (found.calls, found.malformed) == ((), "the reply was cut")


def test_a_reply_in_circles_is_ended_and_counted_by_estimate() -> None:
    found = spoken("countries and " * 40)
    assert found.malformed == "the reply repeated itself"
    assert found.reply.usage.estimated
    assert found.reply.usage.generated > 0


@pytest.mark.parametrize("text", ["", "There are 17 countries in Asia and 12 in South America."])
def test_an_ordinary_text_is_not_taken_for_a_circle(text: str) -> None:
    assert not repeats(text)


def test_each_tool_of_the_schema_is_held_to_its_own_stages() -> None:
    schema = reply_schema(CHOICE)
    stages = {
        branch["properties"]["tool"]["enum"][0]: branch["properties"]["CURRENT_STAGE"]["enum"]
        for branch in schema["anyOf"]
    }
    assert stages == {"count": ["Analyse"], "answer": ["Answer"]}


def test_without_tools_the_schema_asks_for_the_said_values_alone() -> None:
    schema = reply_schema(INIT)
    assert schema["required"] == ["CURRENT_STAGE", "USER_INTENT", "layers"]
    assert schema["additionalProperties"] is False


def test_the_estimate_grows_with_the_messages_and_counts_calls() -> None:
    speaker = speaker_of(OneReply(Reply("")))
    short = speaker.estimate(ASKED)
    with_call = (Message(Role.ASSISTANT, "", (ToolCall("abcdefghi", "count", {"a": "b" * 99}),)),)
    assert 0 < short < speaker.estimate(ASKED * 2) < speaker.estimate(ASKED * 2 + with_call)


def test_settings_of_a_reply_reach_the_request() -> None:
    model = OneReply(Reply("x"))
    list(ModelSpeaker(model, "text", 99, 0.5, 3).write(ASKED, 44, lambda: False))
    list(ModelSpeaker(model, "text", 99, 0.5, 3).choose(ASKED, CHOICE, lambda: False))
    assert [(item.max_tokens, item.temperature, item.seed) for item in model.requests] == [
        (44, 0.5, 3),
        (99, 0.5, 3),
    ]
