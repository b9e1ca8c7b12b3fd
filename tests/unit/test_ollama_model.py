# SPDX-License-Identifier: GPL-2.0-or-later
"""The adapter of Ollama against a strict fake of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fake_ollama import FakeOllama, called, last, line, refused, said, stream
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
from geo_olm.plugin.llm.ollama import OllamaModel
from geo_olm.plugin.llm.watch import Watch, never

QUESTION = ChatRequest((Message(Role.USER, "How many?"),))
TOOL = ToolSpec("count", "Counts.", {"type": "object", "properties": {}})

pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(autouse=True)
def closed_models(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every model that a test made."""
    made: list[OllamaModel] = []
    begin = OllamaModel.__init__

    def noted(self: OllamaModel, *arguments: Any, **named: Any) -> None:
        made.append(self)
        begin(self, *arguments, **named)

    monkeypatch.setattr(OllamaModel, "__init__", noted)
    yield
    for model in made:
        model.close()


def ask(model: OllamaModel, request: ChatRequest = QUESTION) -> tuple[Reply, list[Chunk]]:
    """Return the reply and what was streamed before it."""
    *before, reply = model.chat(request, never)
    assert isinstance(reply, Reply)
    return reply, before


def test_text_streams_and_the_reply_ends_it() -> None:
    with FakeOllama(said("There are ", "17.")) as server:
        reply, before = ask(OllamaModel(server.address, "qwen3"))
    assert before == [TextDelta("There are "), TextDelta("17.")]
    assert (reply.text, reply.finish) == ("There are 17.", Finish.STOP)
    assert reply.usage == Usage(20, 0, 20, 5, estimated=True)


def test_a_request_sets_context_keep_alive_schema_and_no_thinking() -> None:
    """Cases A31 and A37."""
    schema = {"type": "object"}
    request = ChatRequest(QUESTION.messages, (TOOL,), schema, max_tokens=9, seed=3)
    with FakeOllama(said("a"), said("b")) as server:
        model = OllamaModel(server.address, "qwen3", context=4096, keep_alive="-1")
        ask(model, request)
        ask(model, request)
    for body in server.requests:
        assert body["options"] == {
            "num_ctx": 4096, "num_predict": 9, "temperature": 0.0, "seed": 3,
        }  # fmt: skip
        assert (body["keep_alive"], body["think"], body["format"]) == (-1, False, schema)
        assert body["tools"][0]["function"]["name"] == "count"


def test_the_context_is_bounded_by_the_model_and_latest_is_meant() -> None:
    """Case A43: qwen3 is qwen3:latest."""
    with FakeOllama() as server:
        server.trained = 2048
        card = OllamaModel(server.address, "qwen3").card()
        assert (card.name, card.context, card.digest) == ("qwen3:latest", 2048, "0" * 64)
        assert (card.address, card.local, card.native_tools) == (server.place, True, True)


def test_the_first_listed_model_is_used_without_a_name() -> None:
    with FakeOllama(said("a"), models=("gemma:2b", "qwen3:8b")) as server:
        ask(OllamaModel(server.address))
    assert server.requests[0]["model"] == "gemma:2b"


def test_a_model_that_is_not_there_names_those_that_are() -> None:
    """Case A43."""
    with FakeOllama() as server, pytest.raises(ModelMissing) as caught:
        OllamaModel(server.address, "qwen3:8b").card()
    assert "Ollama has no model named qwen3:8b" in caught.value.message
    assert "qwen3:latest, gemma:2b" in caught.value.message
    assert "ollama pull qwen3:8b" in caught.value.message


def test_a_model_removed_within_the_chat_names_those_that_are() -> None:
    fake = FakeOllama(refused(404, 'model "qwen3:latest" not found'))
    with fake as server, pytest.raises(ModelMissing, match="gemma:2b"):
        ask(OllamaModel(server.address, "qwen3"))


def test_a_closed_port_is_one_sentence_at_once() -> None:
    """Case A44."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{probe.getsockname()[1]}"
    begun = time.monotonic()
    with pytest.raises(ServerDown) as caught:
        OllamaModel(place, "qwen3").card()
    assert time.monotonic() - begun < 2
    assert caught.value.message == (
        f"Ollama does not answer at {place}. Start it, or choose another model."
    )


def test_native_calls_without_ids_get_their_own() -> None:
    """Case A23."""
    step = called(("count", {"layer": "a"}), ("count", {"layer": "b"}))
    with FakeOllama(step) as server:
        reply, _ = ask(OllamaModel(server.address, "qwen3"))
    assert [call.arguments for call in reply.calls] == [{"layer": "a"}, {"layer": "b"}]
    assert len({call.id for call in reply.calls}) == 2
    assert reply.finish is Finish.CALLS


def test_text_beside_a_call_is_kept() -> None:
    """Case A25."""
    step = called(("count", {}), content="I will count first.")
    with FakeOllama(step) as server:
        reply, before = ask(OllamaModel(server.address, "qwen3"))
    assert before == [TextDelta("I will count first.")]
    assert (reply.text, [call.name for call in reply.calls]) == ("I will count first.", ["count"])


def test_a_history_with_a_call_goes_back_as_objects_and_text() -> None:
    """Cases A14 and A27."""
    history = (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "How many?"),
        Message(Role.ASSISTANT, "", (ToolCall("abcdefghi", "list_layers", {}),)),
        Message(Role.TOOL, '{"count": 17}', call_id="abcdefghi", name="list_layers"),
    )
    with FakeOllama(said("17")) as server:
        ask(OllamaModel(server.address, "qwen3"), ChatRequest(history))
    sent = server.requests[0]["messages"]
    assert sent[2]["tool_calls"] == [{"function": {"name": "list_layers", "arguments": {}}}]
    assert sent[3] == {"role": "tool", "content": '{"count": 17}', "tool_name": "list_layers"}


def test_a_longer_chat_begins_with_the_same_bytes() -> None:
    one = (Message(Role.SYSTEM, "S"), Message(Role.USER, "Q"))
    two = (*one, Message(Role.ASSISTANT, "A"), Message(Role.USER, "R"))
    with FakeOllama(said("A"), said("B")) as server:
        model = OllamaModel(server.address, "qwen3")
        ask(model, ChatRequest(one))
        ask(model, ChatRequest(two))
    assert server.requests[1]["messages"][:2] == server.requests[0]["messages"]


def test_a_model_without_tools_is_a_refusal() -> None:
    """Case A38."""
    fault = "registry.ollama.ai/library/gemma:2b does not support tools"
    request = ChatRequest(QUESTION.messages, (TOOL,))
    with FakeOllama(refused(400, fault)) as server, pytest.raises(FeatureRefused) as caught:
        ask(OllamaModel(server.address, "gemma:2b"), request)
    assert "gemma:2b" in caught.value.message


@pytest.mark.parametrize(
    "fault",
    [
        "model requires more system memory (7.5 GiB) than is available (5.2 GiB)",
        "llama runner process has terminated: CUDA error: out of memory",
    ],
)
def test_too_little_memory_is_said_and_not_tried_again(fault: str) -> None:
    """Case A48."""
    with FakeOllama(refused(500, fault)) as server, pytest.raises(OutOfMemory) as caught:
        ask(OllamaModel(server.address, "qwen3"))
    assert not caught.value.retry
    assert fault in caught.value.detail
    assert "smaller model" in caught.value.message


def test_null_content_blank_lines_and_comments_are_skipped() -> None:
    """Case A50."""
    pieces = [line(content=None), b"\n", b": ping\n", line(content="Yes."), last()]
    with FakeOllama(stream(pieces)) as server:
        reply, before = ask(OllamaModel(server.address, "qwen3"))
    assert (reply.text, before) == ("Yes.", [TextDelta("Yes.")])


def test_an_error_in_mid_stream_keeps_what_had_come() -> None:
    """Case A50."""
    fault = b'{"error":"an error was encountered while running the model"}\n'
    fake = FakeOllama(stream([line(content="Half"), fault]))
    with fake as server, pytest.raises(StreamBroken) as caught:
        ask(OllamaModel(server.address, "qwen3"))
    assert caught.value.partial == "Half"
    assert "running the model" in caught.value.detail


@pytest.mark.parametrize("end", [[BREAK], []])
def test_a_stream_that_breaks_off_keeps_what_had_come(end: list[None]) -> None:
    fake = FakeOllama(stream([line(content="Half"), *end]))
    with fake as server, pytest.raises(StreamBroken) as caught:
        ask(OllamaModel(server.address, "qwen3"))
    assert caught.value.partial == "Half"


def test_an_empty_reply_is_asked_for_once_more() -> None:
    """Case A50."""
    with FakeOllama(stream([last()]), said("17")) as server:
        reply, _ = ask(OllamaModel(server.address, "qwen3"))
    assert (reply.text, reply.usage.prompt) == ("17", 40)


def test_a_second_empty_reply_is_left_to_the_caller() -> None:
    with FakeOllama(stream([last()]), stream([last()])) as server:
        reply, _ = ask(OllamaModel(server.address, "qwen3"))
    assert reply.text == ""


def test_thinking_stays_apart_in_both_forms() -> None:
    """Case A29: content empty, budget spent on thinking, then answered."""
    spent = stream([line(content="", thinking="Let me see"), last("length")])
    tagged = said("<thi", "nk>hm</th", "ink>17")
    with FakeOllama(spent, tagged) as server:
        reply, before = ask(OllamaModel(server.address, "qwen3"))
    assert before == [ThinkingDelta("Let me see"), ThinkingDelta("hm"), TextDelta("17")]
    assert (reply.text, reply.thinking) == ("17", "hm")


def test_an_absent_count_of_the_prompt_is_estimated() -> None:
    with FakeOllama(said("17", prompt=None)) as server:
        reply, _ = ask(OllamaModel(server.address, "qwen3"))
    assert reply.usage.estimated
    assert reply.usage.prompt == reply.usage.evaluated > 0


def test_a_prompt_beyond_the_context_is_not_sent() -> None:
    long = ChatRequest((Message(Role.USER, "word " * 5000),))
    fake = FakeOllama()
    fake.trained = 2048
    with fake as server, pytest.raises(ContextFull, match="2,048 tokens"):
        ask(OllamaModel(server.address, "qwen3", context=2048), long)


def test_a_stop_between_two_pieces_ends_the_reply() -> None:
    pieces = [line(content="one"), 0.05, line(content="two"), last()]
    stopped = False
    with FakeOllama(stream(pieces)) as server:
        model = OllamaModel(server.address, "qwen3")
        chunks = model.chat(QUESTION, lambda: stopped)
        assert next(chunks) == TextDelta("one")
        stopped = True
        with pytest.raises(RunCancelled):
            next(chunks)


def test_a_slow_first_byte_is_awaited_and_silence_is_not() -> None:
    """Case A46, in small: waits of 0.3 s pass a limit of 1 s, a longer one does not."""
    slow = stream([0.3, line(content="a"), 0.3, line(content="b"), last()])
    silent = stream([line(content="Half"), 2.5, last()])
    watch = Watch(first_token_s=1.0, idle_s=1.0)
    with FakeOllama(slow, silent) as server:
        model = OllamaModel(server.address, "qwen3", watch=watch)
        assert ask(model)[0].text == "ab"
        with pytest.raises(StreamBroken) as caught:
            ask(model)
    assert caught.value.partial == "Half"


def test_unloading_sends_a_keep_alive_of_zero_once() -> None:
    """Case A37."""
    with FakeOllama() as server:
        model = OllamaModel(server.address, "qwen3")
        model.unload()
    assert server.unloaded == ["qwen3:latest"]


def test_an_address_with_another_service_is_one_sentence() -> None:
    with FakeOllama() as server:
        server.page = lambda path, body: (200, ["unexpected"])  # type: ignore[method-assign]
        with pytest.raises(ModelError):
            OllamaModel(server.address).card()
