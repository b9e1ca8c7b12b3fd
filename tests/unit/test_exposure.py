# SPDX-License-Identifier: GPL-2.0-or-later
"""The two ways in which tools are shown to a model: all at the head, or those of the stage."""

from __future__ import annotations

from itertools import pairwise

import pytest
from agent_case import Case
from fake_ollama import FakeOllama
from fake_ollama import said as ollama_said
from plain_toolbox import DEFINITIONS, PlainToolbox, made
from scripted_speaker import Asked, Fails, call, init, wrote

from geo_olm.plugin.agent.event import Notice, Status, TokensUsed
from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.llm.base import Choice, ServerDown
from geo_olm.plugin.llm.ollama import OllamaModel
from geo_olm.plugin.llm.speaker import ModelSpeaker
from geo_olm.plugin.llm.watch import never

COUNT = (
    init("Count", "countries"),
    call("Analyse", "count", layer="countries"),
    call("Answer", "answer", value="r1.count"),
    wrote("There are 241."),
)
AGAIN = (
    init("Count", "rivers"),
    call("Analyse", "count", layer="rivers"),
    call("Answer", "answer", value="r2.count"),
    wrote("There are 12."),
)
ROOM = 65536


def case(exposure: str, context: int = ROOM) -> Case:
    toolbox = PlainToolbox(outcomes={"count": [made("241.", count=241), made("12.", count=12)]})
    return Case(toolbox, exposure=exposure, context=context)


def text(asked: Asked) -> str:
    return "\n".join(f"{item.role.value}: {item.content}" for item in asked.messages)


def choices(asked: list[Asked]) -> list[Asked]:
    """Return the requests that belong to the chat itself."""
    return [one for one in asked if one.tools or is_init(one)]


def is_init(asked: Asked) -> bool:
    return asked.choice is not None and "USER_INTENT" in asked.choice.said


@pytest.mark.parametrize("exposure", ["hint", "filter"])
def test_each_request_of_a_chat_is_an_exact_extension_of_the_one_before(exposure: str) -> None:
    chat = case(exposure)
    requests: list[Asked] = []
    for question, steps in (("How many countries?", COUNT), ("And rivers?", AGAIN)):
        assert chat.ask(question, *steps).status is Status.OK
        requests += choices(chat.asked)
    assert len(requests) == 6
    for before, after in pairwise(requests):
        assert after.messages[: len(before.messages)] == before.messages
        assert len(after.messages) > len(before.messages)


def test_with_hint_all_tools_stand_once_at_the_head_whatever_is_asked() -> None:
    one, other = case("hint"), case("hint")
    one.ask("How many countries?", *COUNT)
    other.ask("And rivers?", init("Count", "rivers"), *COUNT[1:])
    heads = [text(chat.asked[0]).split("Question: ")[0] for chat in (one, other)]
    assert heads[0] == heads[1]
    whole = text(choices(one.asked)[-1])
    for tool in DEFINITIONS:
        if tool.name in ("count", "filter", "statistics", "answer", "reject"):
            assert whole.count(f"Does {tool.name}.") == 1
            assert f"Does {tool.name}." in heads[0]


def test_with_hint_a_last_line_names_the_tools_of_the_moment() -> None:
    chat = case("hint")
    chat.ask("How many countries?", *COUNT)
    steps = [one for one in choices(chat.asked) if one.tools]
    for one in steps:
        lines = [line for line in text(one).splitlines() if line.startswith("Tools now: ")]
        assert lines[-1] == "Tools now: " + ", ".join(one.tools)
    assert steps[0].messages[-1].content.splitlines()[-1].startswith("Tools now: ")


def test_with_filter_only_usual_tools_are_described_and_no_line_names_them() -> None:
    chat = case("filter")
    chat.ask("How many countries?", *COUNT)
    whole = text(choices(chat.asked)[-1])
    assert "Does count." in whole
    assert "Does statistics." not in whole
    assert "Tools now" not in whole


def test_a_head_that_fills_the_context_is_left_out_and_it_is_said_once() -> None:
    chat = case("hint", context=3000)
    chat.ask("How many countries?", *COUNT)
    said = [event.text for event in chat.events if isinstance(event, Notice)]
    assert said == [
        "All tools together do not fit this model's context, so only those of each stage are "
        "offered."
    ]
    assert "Tools now" not in text(chat.asked[-1])
    chat.ask("And rivers?", *AGAIN)
    told = [event.text for event in chat.events if isinstance(event, Notice)]
    assert not any(line.startswith("All tools") for line in told)


def test_a_failed_turn_does_not_describe_the_tools_a_second_time() -> None:
    chat = case("hint")
    chat.ask("How many countries?", init("Count", "countries"), Fails(ServerDown("Down.")))
    chat.ask("How many countries?", *COUNT)
    assert text(choices(chat.asked)[-1]).count("Does count.") == 1


def test_the_tokens_of_every_call_are_told() -> None:
    chat = case("hint")
    chat.ask("How many countries?", *COUNT)
    told = [event for event in chat.events if isinstance(event, TokensUsed)]
    assert len(told) == len(chat.asked)
    usage = told[0].usage
    assert usage.prompt == usage.cached + usage.evaluated > 0


def test_native_calls_are_told_the_same_tools_all_through_a_chat() -> None:
    """Another list of tools changes the head of the prompt, and throws the server's cache away."""
    narrow = Choice(DEFINITIONS[:2], offered=DEFINITIONS)
    other = Choice(DEFINITIONS[2:4], offered=DEFINITIONS)
    messages = (Message(Role.USER, "How many?"),)
    with FakeOllama(ollama_said("a"), ollama_said("b"), ollama_said("c")) as server:
        model = OllamaModel(server.address, "qwen3")
        speaker = ModelSpeaker(model, "native", 100, 0.0, 1)
        for choice in (narrow, other, Choice(DEFINITIONS[:2])):
            list(speaker.choose(messages, choice, never))
        model.close()
    names = [[tool["function"]["name"] for tool in body["tools"]] for body in server.requests]
    assert names[0] == names[1] == [tool.name for tool in DEFINITIONS]
    assert names[2] == ["list_layers", "layer_info"]
