# SPDX-License-Identifier: GPL-2.0-or-later
"""The clients that stand in: which one is taken, their calls beside the chat, odd replies."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from fake_ollama import FakeOllama, stream
from fake_openai import FakeOpenAI
from scripted_server import ScriptedServer, Step

from geo_olm.plugin.llm import ollama_client as ollama_side
from geo_olm.plugin.llm import openai_client as openai_side
from geo_olm.plugin.llm.base import ModelError
from geo_olm.plugin.llm.exchange import BrokenExchange, ExchangeError, Outgoing, whole
from geo_olm.plugin.llm.openai import OpenAIModel
from geo_olm.plugin.llm.plain_exchange import PlainExchange
from geo_olm.plugin.llm.standin import RefusedRequest
from geo_olm.plugin.llm.watch import Watch


def ollama(address: str) -> Any:
    return ollama_side.ollama_client(address, Watch(), PlainExchange)


def openai(address: str) -> Any:
    return openai_side.openai_client(f"{address}/v1", "", Watch(), PlainExchange)


def test_the_official_client_is_taken_where_it_is_there(client: str) -> None:
    standing_in = client == "stand-in"
    made = ollama("http://127.0.0.1:9"), openai("http://127.0.0.1:9")
    assert isinstance(made[0], ollama_side.StandIn) is standing_in
    assert isinstance(made[1], openai_side.StandIn) is standing_in
    for each in made:
        each.close()


@pytest.mark.parametrize("fault", [ImportError("gone"), SystemError("pydantic-core is too old")])
def test_a_broken_package_is_stood_in_for(
    fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def find_spec(self, name: str, *_rest: object) -> None:
            if name in ("ollama", "openai"):
                raise fault

    for name in ("ollama", "openai"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    assert isinstance(ollama("http://127.0.0.1:9"), ollama_side.StandIn)
    assert isinstance(openai("http://127.0.0.1:9"), openai_side.StandIn)


def test_a_package_that_is_too_old_is_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    old = ModuleType("ollama")

    class Client:
        def chat(self, model: str, messages: list[Any]) -> None:
            pass

    old.Client = Client  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ollama", old)
    monkeypatch.setitem(sys.modules, "openai", ModuleType("openai"))
    assert isinstance(ollama("http://127.0.0.1:9"), ollama_side.StandIn)
    assert isinstance(openai("http://127.0.0.1:9"), openai_side.StandIn)


def served(pages: dict[str, Any]) -> FakeOllama:
    fake = FakeOllama()
    fake.page = lambda path, body: (200, pages[path](body))  # type: ignore[method-assign]
    return fake


@pytest.mark.usefixtures("client")
def test_the_calls_beside_the_chat_give_the_same_from_both_clients() -> None:
    pages: dict[str, Callable[[dict[str, Any]], Any]] = {
        "/api/tags": lambda _: {"models": [{"model": "m", "name": "m", "size": 5, "digest": "d"}]},
        "/api/ps": lambda _: {
            "models": [{"model": "m", "name": "m", "size": 10, "size_vram": 4, "digest": "d"}]
        },
        "/api/show": lambda body: {
            "capabilities": ["tools"],
            "model_info": {"qwen3.context_length": 4096, "asked": body["model"]},
            "template": "{{ .Prompt }}",
        },
        "/api/embed": lambda body: {
            "model": body["model"],
            "embeddings": [[0.5, len(text)] for text in body["input"]],
        },
        "/api/generate": lambda body: {"model": "m", "response": "", "done": True},
    }
    with served(pages) as server:
        client = ollama(server.address)
        listed, loaded = client.list().models[0], client.ps().models[0]
        assert (listed.model, listed.digest, int(listed.size)) == ("m", "d", 5)
        assert (loaded.model, int(loaded.size), int(loaded.size_vram)) == ("m", 10, 4)
        card = client.show("m")
        assert card.modelinfo["qwen3.context_length"] == 4096
        assert card.modelinfo["asked"] == "m"
        assert list(card.capabilities) == ["tools"]
        made = client.embed("m", ["a", "bcd"]).embeddings
        assert [list(item) for item in made] == [[0.5, 1.0], [0.5, 3.0]]
        assert client.generate(model="m", keep_alive=0).done
        client.close()


@pytest.mark.usefixtures("client")
def test_a_pull_streams_its_progress_and_its_error() -> None:
    lines = [
        b'{"status": "pulling manifest"}\n',
        b'{"status": "pulling abc", "digest": "abc", "total": 100, "completed": 40}\n',
        b'{"error": "no space left on device"}\n',
    ]
    fake = FakeOllama(stream(lines))
    fake.chat_paths = ("/api/pull",)
    fake.breach = lambda body: "" if body["stream"] else "not streamed"  # type: ignore[method-assign]
    with fake as server:
        client = ollama(server.address)
        told = client.pull("m", stream=True)
        assert next(told).status == "pulling manifest"
        step = next(told)
        assert (step.completed, step.total) == (40, 100)
        with pytest.raises(Exception, match="no space left") as caught:
            next(told)
        said = ollama_side.refusal_of(caught.value)
        assert said is not None
        assert (said.status, said.text) == (None, "no space left on device")
        client.close()


@pytest.mark.usefixtures("client")
def test_embeddings_come_from_an_openai_server() -> None:
    with FakeOpenAI() as server:
        server.page = lambda path, body: (  # type: ignore[method-assign]
            200,
            {
                "object": "list",
                "model": "m",
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
                "data": [{"object": "embedding", "index": 0, "embedding": [0.25, 1.5]}],
            },
        )
        client = openai(server.address)
        made = client.embeddings.create(model="m", input=["a"], encoding_format="float")
        assert list(made.data[0].embedding) == [0.25, 1.5]
        client.close()


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    """The key and the question stay where the user sent them."""
    with FakeOpenAI() as aim, FakeOpenAI() as server:
        server.chat_paths = ("/v1/models",)
        server.breach = lambda _: ""  # type: ignore[method-assign]
        server.steps = [Step([b"{}"], status, headers=[("Location", f"{aim.address}/v1/models")])]
        model = OpenAIModel(server.address, api_key="k-secret")
        with pytest.raises(ModelError, match="which is not followed"):
            model.card()
        model.close()
    assert aim.paths == []


@pytest.mark.parametrize("body", [b"[]", b"17", b"{", b'{"data": 5}', b"\xff", b"null"])
def test_a_page_of_another_service_is_one_sentence(body: bytes, client: str) -> None:
    with FakeOpenAI() as server:
        server.chat_paths = ("/v1/models",)
        server.steps = [Step([body])]
        server.breach = lambda _: ""  # type: ignore[method-assign]
        model = OpenAIModel(server.address)
        with pytest.raises(ModelError):
            model.card()
        model.close()


def test_a_stand_in_refuses_a_line_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geo_olm.plugin.llm.standin.LONGEST_LINE", 1000)
    for name in ("ollama", "httpx"):
        monkeypatch.setitem(sys.modules, name, None)
    with FakeOllama(stream([b"x" * 600, b"x" * 600])) as server:
        server.breach = lambda _: ""  # type: ignore[method-assign]
        told = ollama(server.address).chat(model="m", messages=[], stream=True)
        with pytest.raises(ValueError, match="no end"):
            next(told)


def test_a_refused_request_tells_status_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with FakeOllama() as server, pytest.raises(RefusedRequest) as caught:
        ollama(server.address)._caller.asked("GET", "/api/none")
    assert caught.value.refusal.status == 404


def test_a_plain_exchange_tells_a_body_that_is_too_short() -> None:
    class Short(ScriptedServer):
        pass

    with Short() as server:
        exchange = PlainExchange(Watch())
        with pytest.raises(ExchangeError):
            whole(exchange.send(Outgoing("GET", server.address + "/")), limit=3)
    assert issubclass(BrokenExchange, ExchangeError)
