# SPDX-License-Identifier: GPL-2.0-or-later
"""Before an exchange stands its ward: nothing is sent that may not be, and all is noted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_ollama import FakeOllama
from fake_ollama import said as ollama_said
from fake_openai import FakeOpenAI, refused, said

from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.llm.base import ChatModel, ChatRequest, ModelError, Reply
from geo_olm.plugin.llm.exchange import (
    Exchange,
    Incoming,
    NoConnection,
    Outgoing,
    fetched,
    whole,
)
from geo_olm.plugin.llm.gate import ConsentNeeded, Gate, OfflineRefused
from geo_olm.plugin.llm.holding import Held, Known
from geo_olm.plugin.llm.ledger import Ledger
from geo_olm.plugin.llm.ollama import OllamaModel
from geo_olm.plugin.llm.openai import OpenAIModel
from geo_olm.plugin.llm.plain_exchange import PlainExchange
from geo_olm.plugin.llm.ward import PACKAGE, Guarded, Ward
from geo_olm.plugin.llm.watch import Watch, never

SECRET = "What is the pop of Ely in roads?"
QUESTION = ChatRequest((Message(Role.SYSTEM, "Be brief."), Message(Role.USER, SECRET)))
KNOWN = Known(("roads", "rivers"), ("pop",), ("Ely",))


class Trap:
    """An exchange to which nothing may come."""

    def send(self, request: Outgoing) -> Incoming:
        raise AssertionError(f"{request.url} was contacted")


class Deaf:
    """An exchange that reaches nobody."""

    def send(self, request: Outgoing) -> Incoming:
        raise NoConnection("closed")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def chat(model: ChatModel) -> str:
    *_, reply = model.chat(QUESTION, never)
    model.close()
    assert isinstance(reply, Reply)
    return reply.text


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("kind", [OllamaModel, OpenAIModel])
def test_a_refused_host_gets_nothing_and_the_user_one_sentence(
    kind: type[OllamaModel] | type[OpenAIModel], ledger: Ledger
) -> None:
    for gate, error in ((Gate(), ConsentNeeded), (Gate(offline=True), OfflineRefused)):
        ward = Ward(gate, ledger)
        model = kind("https://api.example.org/v1", transport=lambda _, w=ward: Guarded(Trap(), w))
        with pytest.raises(error):
            model.card()
        with pytest.raises(error):
            list(model.chat(QUESTION, never))
        model.close()
    assert ledger.entries() == []


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("kind", ["ollama", "openai"])
def test_a_chat_is_noted_with_what_it_held_and_without_its_words(
    kind: str, ledger: Ledger, tmp_path: Path
) -> None:
    ward = Ward(Gate(), ledger, known=lambda: KNOWN)

    def transport(watch: Watch) -> Exchange:
        return Guarded(PlainExchange(watch), ward)

    if kind == "ollama":
        with FakeOllama(ollama_said("12")) as one:
            assert chat(OllamaModel(one.address, "qwen3", transport=transport)) == "12"
    else:
        with FakeOpenAI(said("12")) as other:
            model = OpenAIModel(other.address, api_key="k-secret", transport=transport)
            assert chat(model) == "12"
    path = "/api/chat" if kind == "ollama" else "/v1/chat/completions"
    entry = next(item for item in ledger.entries() if item.path == path)
    assert (entry.local, entry.method, entry.status, entry.purpose) == (True, "POST", 200, "model")
    assert entry.held == Held(("roads",), ("pop",), ("Ely",))
    assert entry.sent > len(SECRET)
    assert entry.received > 50
    kept = "".join(path.read_text() for path in (tmp_path / "ledger").iterdir())
    assert "What is" not in kept
    assert "k-secret" not in kept


def test_an_error_and_a_closed_port_are_noted_too(ledger: Ledger) -> None:
    with FakeOpenAI(refused(500, "boom")) as server:
        exchange = Guarded(PlainExchange(Watch()), Ward(Gate(), ledger))
        body = b'{"model": "small-model", "stream": true, "stream_options": {"include_usage": 1}, '
        body += b'"messages": []}'
        url = f"{server.address}/v1/chat/completions?key=k-secret"
        incoming = exchange.send(Outgoing("POST", url.partition("?")[0], (), body))
        whole(incoming)
    with pytest.raises(NoConnection):
        Guarded(Deaf(), Ward(Gate(), ledger, PACKAGE)).send(Outgoing("GET", f"{url}x"))
    newest, first = ledger.entries()
    assert (first.status, first.sent) == (500, len(body))
    assert (newest.status, newest.purpose, newest.path) == (0, "package", "/v1/chat/completions")


def test_what_cannot_be_noted_does_not_leave_this_machine(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("a file where the folder should be")
    ward = Ward(Gate(allowed=frozenset({"api.example.org"})), Ledger(tmp_path / "ledger"))
    with pytest.raises(ModelError, match="could not be noted, so nothing was sent"):
        Guarded(Trap(), ward).send(Outgoing("POST", "https://api.example.org/v1", (), b"x"))
    with FakeOllama() as server:
        status, _ = fetched(Guarded(PlainExchange(Watch()), ward), f"{server.address}/api/version")
    assert status == 200


def test_a_reply_let_go_early_is_noted_with_what_had_come(ledger: Ledger) -> None:
    class Endless:
        status = 200
        headers = ()

        def pieces(self) -> Iterator[bytes]:
            while True:
                yield b"1234567890"

        def close(self) -> None:
            pass

    class Source:
        def send(self, request: Outgoing) -> Incoming:
            return Endless()

    incoming = Guarded(Source(), Ward(Gate(), ledger)).send(Outgoing("GET", "http://127.0.0.1/"))
    pieces = incoming.pieces()
    next(pieces)
    next(pieces)
    incoming.close()
    incoming.close()
    (entry,) = ledger.entries()
    assert (entry.status, entry.received) == (200, 20)
