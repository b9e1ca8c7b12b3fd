# SPDX-License-Identifier: GPL-2.0-or-later
"""The adapter of OpenAI-compatible servers against a strict fake of one."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fake_openai import DONE, FakeOpenAI, chunk, counts, refused, said, stream
from scripted_server import BREAK

from geo_olm.plugin.agent.message import Message, Role, ToolCall
from geo_olm.plugin.llm.base import (
    ChatRequest,
    Chunk,
    ContextFull,
    FeatureRefused,
    Finish,
    ModelError,
    ModelMissing,
    OutOfMemory,
    Reply,
    RunCancelled,
    ServerDown,
    StreamBroken,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
    Usage,
)
from geo_olm.plugin.llm.openai import OpenAIModel
from geo_olm.plugin.llm.textcall import find_calls
from geo_olm.plugin.llm.watch import never

QUESTION = ChatRequest((Message(Role.USER, "How many?"),))
TOOL = ToolSpec("count", "Counts.", {"type": "object", "properties": {}})

pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(autouse=True)
def closed_models(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every model that a test made."""
    made: list[OpenAIModel] = []
    begin = OpenAIModel.__init__

    def noted(self: OpenAIModel, *arguments: Any, **named: Any) -> None:
        made.append(self)
        begin(self, *arguments, **named)

    monkeypatch.setattr(OpenAIModel, "__init__", noted)
    yield
    for model in made:
        model.close()


def ask(model: OpenAIModel, request: ChatRequest = QUESTION) -> tuple[Reply, list[Chunk]]:
    """Return the reply and what was streamed before it."""
    *before, reply = model.chat(request, never)
    assert isinstance(reply, Reply)
    return reply, before


def call_piece(**given: object) -> bytes:
    return chunk(tool_calls=[{"index": 0, "type": "function", **given}])


def test_text_streams_and_the_reply_ends_it() -> None:
    with FakeOpenAI(said("There are ", "17.")) as server:
        reply, before = ask(OpenAIModel(server.address))
    assert before == [TextDelta("There are "), TextDelta("17.")]
    assert (reply.text, reply.finish) == ("There are 17.", Finish.STOP)
    assert reply.usage == Usage(20, 0, 20, 5, estimated=True)


def test_a_request_holds_the_reply_to_its_schema() -> None:
    schema = {"type": "object", "properties": {"tool": {"enum": ["count"]}}}
    with FakeOpenAI(said("{}")) as server:
        ask(OpenAIModel(server.address), ChatRequest(QUESTION.messages, (TOOL,), schema, 9, 0.5, 3))
    body = server.requests[0]
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (9, 0.5, 3)
    assert body["tools"][0]["function"]["parameters"] == TOOL.parameters


def test_cached_tokens_are_read_in_both_forms() -> None:
    details = stream([chunk(content="a"), chunk("stop"), counts(100, 5, cached=80), DONE])
    timings = stream([chunk(content="a"), chunk("stop"), counts(100, 5, timings={"cache_n": 70})])
    with FakeOpenAI(details, timings) as server:
        model = OpenAIModel(server.address)
        assert ask(model)[0].usage == Usage(100, 80, 20, 5)
        assert ask(model)[0].usage == Usage(100, 70, 30, 5)


def test_a_call_in_pieces_is_put_together_and_its_id_kept() -> None:
    pieces = [
        call_piece(id="abcdefgh1", function={"name": "count", "arguments": ""}),
        call_piece(function={"arguments": '{"layer": '}),
        call_piece(function={"arguments": '"roads"}'}),
        chunk("tool_calls"),
        DONE,
    ]
    with FakeOpenAI(stream(pieces)) as server:
        reply, _ = ask(OpenAIModel(server.address))
    assert reply.calls == (ToolCall("abcdefgh1", "count", {"layer": "roads"}),)
    assert reply.finish is Finish.CALLS


@pytest.mark.parametrize(
    "given", [{}, {"arguments": None}, {"arguments": ""}, {"arguments": "null"}]
)
def test_missing_arguments_are_an_empty_object(given: dict[str, object]) -> None:
    """Case A14."""
    pieces = [call_piece(id="abcdefgh1", function={"name": "list_layers", **given})]
    with FakeOpenAI(stream([*pieces, chunk("tool_calls"), DONE])) as server:
        reply, _ = ask(OpenAIModel(server.address))
    assert [(call.name, call.arguments) for call in reply.calls] == [("list_layers", {})]


def test_empty_and_equal_ids_are_replaced() -> None:
    """Cases A23 and A42."""
    calls = [
        {"index": at, "id": given, "function": {"name": "count", "arguments": f'{{"n": {at}}}'}}
        for at, given in enumerate(["", "", "same00000", "same00000"])
    ]
    with FakeOpenAI(stream([chunk(tool_calls=calls), chunk("tool_calls"), DONE])) as server:
        reply, _ = ask(OpenAIModel(server.address))
    assert [call.arguments["n"] for call in reply.calls] == [0, 1, 2, 3]
    ids = [call.id for call in reply.calls]
    assert len(set(ids)) == 4
    assert ids[2] == "same00000"
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", item) for item in ids)


def test_arguments_that_cannot_be_read_come_back_as_a_malformed_call() -> None:
    pieces = [call_piece(id="abcdefgh1", function={"name": "count", "arguments": '{"layer": &'})]
    with FakeOpenAI(stream([*pieces, chunk("tool_calls"), DONE])) as server:
        reply, _ = ask(OpenAIModel(server.address))
    assert reply.calls == ()
    found = find_calls(reply.text, ["count"])
    assert (found.text, found.calls) == ("", ())
    assert "malformed JSON" in found.malformed


def test_text_beside_a_call_is_kept() -> None:
    """Case A25."""
    pieces = [
        chunk(content="I will buffer the roads first."),
        call_piece(id="abcdefgh1", function={"name": "count", "arguments": "{}"}),
        chunk("tool_calls"),
        DONE,
    ]
    with FakeOpenAI(stream(pieces)) as server:
        reply, before = ask(OpenAIModel(server.address))
    assert before == [TextDelta("I will buffer the roads first.")]
    assert (reply.text, len(reply.calls)) == ("I will buffer the roads first.", 1)


def test_a_history_with_a_call_goes_back_as_json_text_with_ids() -> None:
    """Cases A14, A27 and A42: the fake refuses anything else."""
    history = (
        Message(Role.USER, "How many?"),
        Message(Role.ASSISTANT, "", (ToolCall("abcdefghi", "list_layers", {}),)),
        Message(Role.TOOL, "17", call_id="abcdefghi", name="list_layers"),
    )
    with FakeOpenAI(said("17")) as server:
        ask(OpenAIModel(server.address), ChatRequest(history))
    sent = server.requests[0]["messages"]
    assert sent[1]["tool_calls"][0]["function"] == {"name": "list_layers", "arguments": "{}"}
    assert sent[2]["tool_call_id"] == "abcdefghi"


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content", "thinking"])
def test_reasoning_alone_is_asked_again_without_thinking(key: str) -> None:
    """Cases A28 and A29."""
    only = stream([chunk(content="", **{key: "The layer has 42."}), chunk("length"), DONE])
    with FakeOpenAI(only, said("42"), said("43")) as server:
        model = OpenAIModel(server.address)
        reply, before = ask(model)
        ask(model)
    assert before == [ThinkingDelta("The layer has 42."), TextDelta("42")]
    assert (reply.text, reply.thinking) == ("42", "The layer has 42.")
    efforts = [body.get("reasoning_effort") for body in server.requests]
    assert efforts == [None, "none", "none"]


def test_reasoning_is_kept_where_the_server_cannot_do_without() -> None:
    """Case A28."""
    only = stream([chunk(reasoning="It has 42."), chunk("stop"), DONE])
    fault = refused(400, "reasoning_effort is not a known parameter of format")
    with FakeOpenAI(only, fault, said("42")) as server:
        model = OpenAIModel(server.address)
        reply, _ = ask(model)
        assert (reply.text, reply.thinking) == ("", "It has 42.")
        assert ask(model)[0].text == "42"
    assert "reasoning_effort" not in server.requests[2]


@pytest.mark.parametrize(
    ("status", "fault", "named"),
    [
        (500, "tools param requires --jinja flag", "--jinja"),
        (
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser',
            "--tool-call-parser",
        ),
        (400, "failed to parse grammar", "schema"),
        (400, "response_format type json_schema is not supported", "schema"),
    ],
)
def test_a_refused_feature_is_told_apart(status: int, fault: str, named: str) -> None:
    """Cases A40 and A41."""
    with FakeOpenAI(refused(status, fault)) as server, pytest.raises(FeatureRefused) as caught:
        ask(OpenAIModel(server.address))
    assert named in caught.value.message
    assert not caught.value.retry


@pytest.mark.parametrize(
    ("status", "fault", "kind", "said_part", "retry"),
    [
        (401, "bad key", ModelError, "refuses the key", False),
        (403, "no", ModelError, "refuses the key", False),
        (404, "no such model", ModelMissing, "small-model", False),
        (429, "slow down", ModelError, "busy", True),
        (500, "boom", ModelError, "could not answer", True),
        (503, "Loading model", ModelError, "still loading", True),
        (500, "CUDA error: out of memory", OutOfMemory, "smaller model", False),
        (
            400,
            "the request exceeds the available context size, try increasing it",
            ContextFull,
            "new chat",
            False,
        ),
    ],
)
def test_an_error_is_one_sentence_with_the_next_step(
    status: int, fault: str, kind: type[ModelError], said_part: str, retry: bool
) -> None:
    """Case A48 and its kin."""
    with FakeOpenAI(refused(status, fault)) as server, pytest.raises(kind) as caught:
        ask(OpenAIModel(server.address))
    assert said_part in caught.value.message
    assert (caught.value.retry, fault in caught.value.detail) == (retry, True)


def test_null_pieces_and_pings_are_skipped() -> None:
    """Case A50."""
    pieces = [b": ping\n\n", chunk(content=None), b"\n", chunk(content="Yes."), chunk("stop"), DONE]
    with FakeOpenAI(stream(pieces)) as server:
        reply, _ = ask(OpenAIModel(server.address))
    assert reply.text == "Yes."
    assert reply.usage.estimated


@pytest.mark.parametrize(
    "end",
    [
        [b'data: {"error": {"message": "the model fell over"}}\n\n'],
        [BREAK],
        [DONE],
        [b"data: {not json\n\n"],
    ],
)
def test_a_stream_that_breaks_off_keeps_what_had_come(end: list[bytes | None]) -> None:
    """Case A50."""
    fake = FakeOpenAI(stream([chunk(content="Half"), *end]))
    with fake as server, pytest.raises(StreamBroken) as caught:
        ask(OpenAIModel(server.address))
    assert caught.value.partial == "Half"
    assert caught.value.retry


def test_an_empty_reply_is_asked_for_once_more() -> None:
    """Case A50."""
    with FakeOpenAI(stream([chunk("stop"), DONE]), said("17")) as server:
        assert ask(OpenAIModel(server.address))[0].text == "17"


def test_a_cut_reply_says_so() -> None:
    with FakeOpenAI(said("There are", finish="length")) as server:
        assert ask(OpenAIModel(server.address))[0].finish is Finish.LENGTH


def test_the_card_tells_what_the_server_tells() -> None:
    with FakeOpenAI(meta={"n_ctx": 8192, "n_params": 5, "size": 7, "ftype": "Q4"}) as server:
        model = OpenAIModel(server.address + "/v1/", context=100)
        card = model.card()
    assert (card.name, card.context, card.address) == ("small-model", 8192, server.place)
    assert (card.digest, card.local) == ("Q4 5 weights 7 bytes", True)


def test_an_older_llama_tells_its_context_on_its_own_page() -> None:
    with FakeOpenAI(meta={"n_params": 5}) as server:
        model = OpenAIModel(server.address)
        assert model.card().context == 4096


def test_a_wrong_name_lists_the_right_ones() -> None:
    with FakeOpenAI() as server, pytest.raises(ModelMissing, match="It has: small-model"):
        OpenAIModel(server.address, "big-model").card()


def test_a_closed_port_is_one_sentence_at_once() -> None:
    """Case A44."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{probe.getsockname()[1]}"
    begun = time.monotonic()
    with pytest.raises(ServerDown, match=f"does not answer at {place}"):
        OpenAIModel(f"http://{place}/v1").card()
    assert time.monotonic() - begun < 2


def test_the_key_is_sent_and_never_told() -> None:
    with FakeOpenAI(refused(401, "bad key")) as server:
        model = OpenAIModel(server.address, api_key="k-secret")
        with pytest.raises(ModelError) as caught:
            ask(model)
    assert {item.get("authorization") for item in server.headers} == {"Bearer k-secret"}
    assert "k-secret" not in caught.value.message + caught.value.detail + repr(
        model.__dict__["_made"]
    )


def test_a_stop_between_two_pieces_ends_the_reply() -> None:
    stopped = False
    pieces = [chunk(content="one"), 0.05, chunk(content="two"), chunk("stop"), DONE]
    with FakeOpenAI(stream(pieces)) as server:
        model = OpenAIModel(server.address)
        chunks = model.chat(QUESTION, lambda: stopped)
        assert next(chunks) == TextDelta("one")
        stopped = True
        with pytest.raises(RunCancelled):
            next(chunks)
