# SPDX-License-Identifier: GPL-2.0-or-later
"""The context that Ollama is asked for, where it puts the model, thinking and pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fake_ollama import COUNTED, FakeOllama, called, last, line, said, stream

from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.llm.base import (
    ChatRequest,
    Chunk,
    ContextFull,
    FeatureRefused,
    ModelError,
    Remark,
    Reply,
    ToolSpec,
)
from geo_olm.plugin.llm.context import Room, bytes_per_token, room
from geo_olm.plugin.llm.embedding import OllamaEmbedder
from geo_olm.plugin.llm.memory import Memory
from geo_olm.plugin.llm.ollama import OllamaModel
from geo_olm.plugin.llm.watch import never

QUESTION = ChatRequest((Message(Role.USER, "How many?"),))
GIB = 1 << 30
QWEN_1_5B = {
    "general.architecture": "qwen3",
    "qwen3.block_count": 28,
    "qwen3.attention.head_count": 12,
    "qwen3.attention.head_count_kv": 2,
    "qwen3.embedding_length": 1536,
}
"""28 layers, 2 groups of 128 numbers for keys and as many for values, 2 bytes each."""

pytestmark = pytest.mark.usefixtures("client")


def model_of(server: FakeOllama, free: int = 0, **named: Any) -> OllamaModel:
    return OllamaModel(server.address, "qwen3", memory=lambda: Memory(2 * free, free), **named)


def asked(model: OllamaModel, request: ChatRequest = QUESTION) -> tuple[Reply, list[Chunk]]:
    *before, reply = model.chat(request, never)
    model.close()
    assert isinstance(reply, Reply)
    return reply, before


def remarks(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks if isinstance(chunk, Remark)]


def long_request(tokens: int, answer: int = 512) -> ChatRequest:
    """Return a request that the fake counts as about so many tokens."""
    text = "word" * tokens
    return ChatRequest((Message(Role.SYSTEM, "Tools."), Message(Role.USER, text)), (), None, answer)


def test_the_cache_of_a_token_is_computed_from_the_models_card() -> None:
    assert bytes_per_token(QWEN_1_5B) == 28 * 2 * (128 + 128) * 2 == 28_672
    assert bytes_per_token({**QWEN_1_5B, "qwen3.attention.key_length": 64}) == 28 * 2 * 192 * 2
    assert bytes_per_token({"qwen3.block_count": 28}) == 0


@pytest.mark.parametrize(
    ("free", "weights", "trained", "most"),
    [
        (0, GIB, 32768, 32768),  # the machine does not say: the training bounds
        (8 * GIB, GIB, 32768, 32768),  # 6 GiB for the cache are 224,694 tokens
        (2 * GIB + 250 * 28_672 * 16, GIB, 32768, 2048),  # 4,000 tokens: whole steps of 2,048
        (2 * GIB + 300 * 28_672 * 16, GIB, 32768, 4096),  # 4,800 tokens
        (GIB, GIB, 32768, 2048),  # less than nothing is left: the least that is tried
    ],
)
def test_the_context_is_bounded_by_training_and_memory(
    free: int, weights: int, trained: int, most: int
) -> None:
    info = {**QWEN_1_5B, "qwen3.context_length": trained}
    assert room(info, weights, Memory(free * 2, free)).most == most


def test_a_context_grows_by_doubling_and_not_beyond_its_room() -> None:
    assert Room().grown(8192, 9000) == 16384
    assert Room(trained=32768).grown(8192, 17000) == 32768
    assert Room(trained=12000).grown(8192, 9000) == 12000
    assert Room(trained=8192).grown(8192, 9000) == 0
    assert Room(32768, 8192).grown(4096, 9000) == 0


def test_a_small_machine_gets_a_smaller_context() -> None:
    with FakeOllama() as server:
        server.info = QWEN_1_5B
        card = model_of(server, free=GIB + server.size + 5000 * 28_672).card()
    assert card.context == 4096  # 5,000 tokens fit beside the weights and what is left free


def test_a_loaded_model_counts_its_weights_once() -> None:
    with FakeOllama() as server:
        server.info, server.loaded = QWEN_1_5B, ("qwen3:latest", 8192)
        card = model_of(server, free=GIB + 8300 * 28_672).card()
    assert card.context == 8192
    assert card.residence == "on the graphics card"


def test_another_machines_memory_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geo_olm.plugin.llm.ollama.is_loopback", lambda _: False)
    with FakeOllama() as server:
        server.info = QWEN_1_5B
        assert model_of(server, free=GIB).card().context == 8192


def test_a_chat_keeps_one_context_and_is_loaded_once() -> None:
    """Case A31: three requests of growing length within the context load the model once."""
    with FakeOllama(*(said("a", prompt=COUNTED) for _ in range(3))) as server:
        model = model_of(server, context=4096)
        for size in (10, 1000, 2500):
            reply, _ = asked(model, long_request(size))
            assert reply.usage.prompt == size + 1
    assert server.loads == [("qwen3:latest", 4096)]


def test_a_first_prompt_that_is_long_gets_its_context_at_once() -> None:
    """Case A31: the prompt is not cut, and the model is not loaded twice."""
    with FakeOllama(said("a", prompt=COUNTED), said("b")) as server:
        model = model_of(server, context=2048)
        reply, before = asked(model, long_request(5000))
        asked(model)
    assert server.loads == [("qwen3:latest", 8192)]
    assert reply.usage.prompt == 5001
    assert remarks(before) == []
    assert model.card().context == 8192


def test_a_chat_that_outgrows_its_context_is_told_the_step() -> None:
    with FakeOllama(said("a"), said("b", prompt=COUNTED)) as server:
        server.may_grow = True
        model = model_of(server, context=2048)
        asked(model)
        reply, before = asked(model, long_request(3000))
    assert server.loads == [("qwen3:latest", 2048), ("qwen3:latest", 8192)]
    assert remarks(before) == [
        "The chat outgrew the context of 2,048 tokens, so the model is loaded anew with 8,192."
    ]
    assert reply.usage.prompt == 3001


def test_a_prompt_beyond_every_context_is_not_sent() -> None:
    with FakeOllama() as server:
        server.trained = 4096
        with pytest.raises(ContextFull, match="4,096 tokens"):
            asked(model_of(server), long_request(9000))
    assert server.requests == []


def test_a_prompt_that_the_server_cut_is_told() -> None:
    """Case A31: a server that reads 2,051 of about 5,000 tokens says nothing itself."""
    with FakeOllama(said("a", prompt=2051), said("b", prompt=4900)) as server:
        model = model_of(server)
        _, cut = asked(model, long_request(5000))
        _, whole = asked(model, long_request(5000))
    assert remarks(cut) == [
        "Ollama read only 2,051 of about 5,009 tokens: it cut the question's context. "
        "Choose a larger context in the options."
    ]
    assert remarks(whole) == []


@pytest.mark.parametrize(
    ("share", "words", "told"),
    [
        (1.0, "on the graphics card", []),
        (
            0.4,
            "0.4 of 1.0 GB on the graphics card",
            [
                "Only 0.4 of 1.0 GB of the model are on the graphics card: the rest runs on the "
                "processor and slows it down. Choose a smaller model or a smaller context."
            ],
        ),
        (0.0, "on the processor", ["The model runs on the processor, not on a graphics card."]),
    ],
)
def test_where_the_model_lies_is_told_once(share: float, words: str, told: list[str]) -> None:
    with FakeOllama(said("a"), said("b")) as server:
        server.share_on_card = share
        model = model_of(server)
        assert model.card().residence == ""
        _, first = asked(model)
        _, second = asked(model)
    assert (remarks(first), remarks(second)) == (told, [])
    assert model.card().residence == words


def test_a_server_too_old_to_list_what_is_loaded_answers_all_the_same() -> None:
    with FakeOllama(said("a")) as server:
        pages = server.page
        server.page = (  # type: ignore[method-assign]
            lambda path, body: (
                (404, {"error": "404 page not found"}) if path == "/api/ps" else pages(path, body)
            )
        )
        model = model_of(server)
        reply, before = asked(model)
    assert (reply.text, remarks(before), model.card().residence) == ("a", [], "")


def test_a_page_that_a_server_lacks_is_not_taken_for_a_missing_model() -> None:
    """Seen with a stand-in for Ollama that has no page for unloading or embedding."""
    with FakeOllama() as server:
        pages = server.page
        server.page = (  # type: ignore[method-assign]
            lambda path, body: (
                (404, {"error": "not found"})
                if path in ("/api/generate", "/api/embed")
                else pages(path, body)
            )
        )
        model, embedder = model_of(server), OllamaEmbedder(server.address, "qwen3")
        for call in (model.unload, lambda: embedder.embed(["a"])):
            with pytest.raises(ModelError, match="does not know this request"):
                call()
        model.close()
        embedder.close()


def test_a_size_that_is_not_told_is_not_judged() -> None:
    with FakeOllama(said("a")) as server:
        server.size = 0
        _, before = asked(model_of(server))
    assert remarks(before) == []


def test_every_request_keeps_the_model_as_long_as_the_user_set() -> None:
    """Case A37: chat, an empty reply asked again, embedding; a 0 is sent by unload alone."""
    with FakeOllama(stream([last()]), said("a")) as server:
        server.capabilities["gemma:2b"] = ("embedding",)
        model = model_of(server, keep_alive="-1")
        asked(model)
        embedder = OllamaEmbedder(server.address, "gemma:2b", keep_alive="-1")
        assert embedder.embed(["ab", "abc"]) == ((2.0, 1.0), (3.0, 1.0))
        embedder.close()
        model.unload()
        model.close()
    assert server.keep_alives == [-1, -1, -1]
    assert server.unloaded == ["qwen3:latest"]
    assert model.card().residence == ""


def test_embedding_says_what_is_wrong_with_a_model_or_a_text() -> None:
    with FakeOllama() as server:
        server.capabilities["qwen3:latest"] = ("embedding",)
        server.trained = 100
        for name, text, told in (
            ("gemma:2b", "a", "gemma:2b makes no vectors"),
            ("gone", "a", "no model named gone"),
            ("qwen3:latest", "word" * 200, "context"),
        ):
            embedder = OllamaEmbedder(server.address, name)
            with pytest.raises(ModelError, match=told):
                embedder.embed([text])
            embedder.close()


def test_only_a_model_that_can_is_asked_to_think() -> None:
    """Case A29: a model without thinking refuses to be asked for it."""
    thought = stream([line(content="", thinking="hm"), line(content="17"), last()])
    with FakeOllama(thought, said("a")) as server:
        server.capabilities["qwen3:latest"] = ("completion", "thinking")
        reply, _ = asked(model_of(server, think=True))
        assert (reply.thinking, reply.text) == ("hm", "17")
        server.capabilities.clear()
        asked(model_of(server, think=True))
    assert [body["think"] for body in server.requests] == [True, False]


def test_a_budget_spent_on_thinking_is_asked_again_without() -> None:
    """Case A29."""
    spent = stream([line(content="", thinking="Let me see"), last("length")])
    with FakeOllama(spent, said("17")) as server:
        server.capabilities["qwen3:latest"] = ("completion", "thinking")
        reply, _ = asked(model_of(server, think=True))
    assert (reply.text, reply.thinking) == ("17", "Let me see")
    assert [body["think"] for body in server.requests] == [True, False]


def test_a_picture_is_shown_to_a_model_that_can_look() -> None:
    shown = ChatRequest((Message(Role.USER, "What is it?", images=(b"\x89PNG",)),))
    with FakeOllama(said("A map.")) as server:
        with pytest.raises(ModelError, match="qwen3:latest cannot look at pictures"):
            asked(model_of(server), shown)
        server.capabilities["qwen3:latest"] = ("completion", "vision")
        assert asked(model_of(server), shown)[0].text == "A map."
    assert server.requests[0]["messages"][0]["images"] == ["iVBORw=="]


def test_a_model_without_tools_refuses_them_and_a_wrong_keep_alive_is_said() -> None:
    """Case A38, and a duration that nobody can read."""
    tool = ToolSpec("count", "Counts.", {"type": "object", "properties": {}})
    with FakeOllama() as server:
        server.capabilities["qwen3:latest"] = ("completion",)
        with pytest.raises(FeatureRefused):
            asked(model_of(server), replace(QUESTION, tools=(tool,)))
        with pytest.raises(ModelError, match="Write it as 5m or 1h"):
            asked(model_of(server, keep_alive="soon"))


def test_what_the_card_tells_of_the_model() -> None:
    with FakeOllama(called(("count", {}))) as server:
        model = model_of(server)
        card = model.card()
        asked(model)
    assert (card.size, card.capabilities) == (1_000_000_000, ("completion", "tools"))
