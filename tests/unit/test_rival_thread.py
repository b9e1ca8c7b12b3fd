# SPDX-License-Identifier: GPL-2.0-or-later
"""What rivals send and read: tools that fit, old results cut, replies and their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rival_case import RESOURCES, TEAM, TWO, toolbox

from geo_olm.plugin.agent import prompt
from geo_olm.plugin.agent.limit import Limits
from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.evaluation.fault_model import FaultModel
from geo_olm.plugin.evaluation.fault_rate import rates
from geo_olm.plugin.evaluation.rival import example
from geo_olm.plugin.evaluation.rival.ask import Ask, json_in, named, rejection, value_in
from geo_olm.plugin.evaluation.rival.desk import Desk, Mode
from geo_olm.plugin.evaluation.rival.geollm_qa import GeoLlmQa
from geo_olm.plugin.evaluation.rival.play import played
from geo_olm.plugin.evaluation.rival.thread import fitted, shortened, without_runs
from geo_olm.plugin.llm.base import ChatRequest, Chunk, ContextFull, FeatureRefused
from geo_olm.plugin.llm.speaker import ModelSpeaker
from geo_olm.tools.base import ToolDefinition

CONDITIONS = {
    "type": "array",
    "description": "x" * 300,
    "items": {"type": "object", "properties": {"field": {"type": "string", "x-field": "layer"}}},
}
TOOL = ToolDefinition(
    "filter",
    "Make a layer of some features; gives their count.",
    {
        "type": "object",
        "properties": {
            "layer": {"type": "string", "x-layer": "vector", "description": "y" * 300},
            "order": {"type": "string", "enum": ["largest", "smallest"]},
            "conditions": CONDITIONS,
        },
        "required": ["layer"],
    },
)


def test_tools_are_sent_whole_where_they_fit() -> None:
    assert shortened([TOOL], 8192) == (TOOL,)


@pytest.mark.parametrize(
    ("context", "layer", "conditions", "described"),
    [
        (450, {"type": "string"}, True, "Make a layer of some features; gives their count."),
        (180, {"type": "string"}, False, "Make a layer of some features; gives their count."),
        (10, {}, False, "Make a layer of some features"),
    ],
)
def test_tools_are_shortened_step_by_step(
    context: int, layer: dict[str, str], conditions: bool, described: str
) -> None:
    (found,) = shortened([TOOL], context)
    properties = found.parameters["properties"]
    assert properties["layer"] == layer
    assert ("conditions" in properties) is conditions
    assert found.description == described
    assert found.parameters["required"] == ["layer"]


def model() -> FaultModel:
    return FaultModel(TWO, TEAM, rates("0"), 1, "T")


def speaker() -> ModelSpeaker:
    return ModelSpeaker(model(), "text", 256, 0.0, 1)


def test_old_results_are_cut_first_and_the_last_message_never() -> None:
    long = "Observation: " + "a" * 16000
    messages = [
        Message(Role.USER, "Question"),
        Message(Role.USER, long),
        Message(Role.ASSISTANT, "next"),
        Message(Role.USER, long),
    ]
    sent = fitted(messages, speaker(), 512)
    assert len(sent[1].content) < 200
    assert sent[3].content == long


def test_what_cannot_be_made_to_fit_is_told() -> None:
    with pytest.raises(ContextFull, match="there is room for"):
        fitted([Message(Role.USER, "a" * 40000)], speaker(), 512)


def test_user_messages_in_a_row_become_one() -> None:
    joined = without_runs(
        [Message(Role.SYSTEM, ""), Message(Role.USER, "a"), Message(Role.USER, "b")]
    )
    assert joined == (Message(Role.USER, "a\nb"),)


class WithoutTools:
    """A model whose server takes no native tools and no schema."""

    def __init__(self) -> None:
        self.inner = model()
        self.requests: list[ChatRequest] = []

    def card(self) -> Any:
        return self.inner.card()

    def chat(self, request: ChatRequest, cancelled: Any) -> Iterator[Chunk]:
        if request.tools:
            raise FeatureRefused("This model does not support tools.")
        self.requests.append(request)
        yield from self.inner.chat(request, cancelled)

    def close(self) -> None:
        pass


def test_a_method_of_the_chat_api_puts_its_tools_into_the_text_where_the_server_refuses() -> None:
    refusing = WithoutTools()
    desk = Desk(
        "How many countries are big?",
        toolbox(),
        ModelSpeaker(refusing, "native", 256, 0.0, 1),
        Limits(),
        prompt.load(RESOURCES / "prompts"),
        example.load(RESOURCES / "evaluation" / "examples.json"),
        lambda: False,
        mode=Mode.CHAT,
    )
    events = []
    for event in played(GeoLlmQa(), desk):
        refusing.inner.note(event)
        events.append(event)
    assert events[-1].value == 5  # type: ignore[union-attr]
    assert "- filter(layer, where?)" in refusing.requests[-1].messages[0].content


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("There are 17 countries.", 17.0),
        ("We looked at 3 layers. The answer is 81.", 81.0),
        ("Of 240 countries 17 have none.", 17.0),
        ("The area is 83,975.88 km2.", 83975.88),
        ("It is EPSG:4326.", None),
        ("No number here.", None),
        ("", None),
    ],
)
def test_a_text_gives_the_number_of_its_last_sentence(text: str, value: float | None) -> None:
    assert value_in(text, [17.0]) == value


def test_a_text_rejects_by_a_line_that_says_so() -> None:
    assert rejection("REJECTED: there is no roads layer.") == "there is no roads layer."
    assert rejection("I looked.\n**Rejected** - no CRS") == "no CRS"
    assert rejection("It was not rejected: fine.") is None


def test_json_is_found_in_prose_fences_and_after_thinking() -> None:
    assert json_in('Sure:\n```json\n{"next": "map_agent"}\n```') == {"next": "map_agent"}
    assert json_in('<think>{"next": "a"}</think> [{"agent": "b"}]') == [{"agent": "b"}]
    assert json_in('{"broken": ') is None


def test_names_are_taken_in_any_case_and_kinds_by_their_line() -> None:
    assert named("Map Agent", ["map_agent"]) == "map_agent"
    assert named("pilot", ["map_agent"]) == ""
    assert Ask.of("Question: how?\nLEDGER. Write one object.") is Ask.LEDGER
    assert Ask.of("Write the LEDGER.") is None
