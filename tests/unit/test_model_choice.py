# SPDX-License-Identifier: GPL-2.0-or-later
"""Which model answers: what the user set, then Ollama, then an OpenAI address, then our own."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_ollama import FakeOllama
from fake_ollama import said as ollama_said
from fake_openai import FakeOpenAI
from fake_openai import said as openai_said
from test_model_store import gguf

from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.llm import choice as choice_module
from geo_olm.plugin.llm.base import (
    Cancelled,
    ChatModel,
    ChatRequest,
    ModelError,
    ModelMissing,
    NoModel,
    Remark,
    Reply,
    Server,
    Waiting,
)
from geo_olm.plugin.llm.choice import choose_model
from geo_olm.plugin.llm.store import Store
from geo_olm.plugin.llm.watch import never
from geo_olm.plugin.settings import Settings

QUESTION = ChatRequest((Message(Role.USER, "Hello"),))


class FakeServer:
    """Stands for the embedded server: it is "loaded" in two steps."""

    def __init__(self, address: str) -> None:
        self.address = address

    residence = "on the processor"

    def told(self) -> tuple[Remark, ...]:
        return (Remark("It runs on the processor."),)

    def stop(self) -> None:
        self.address = ""

    def log_text(self) -> str:
        return ""

    def starting(self, cancelled: Cancelled) -> Iterator[float]:
        yield 0.1
        yield 0.2


Choose = Callable[..., ChatModel]


@pytest.fixture
def closed() -> str:
    """A place where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def choose(tmp_path: Path, closed: str) -> Iterator[Choose]:
    made: list[ChatModel] = []
    served: list[tuple[object, ...]] = []

    def chosen(
        settings: Settings | None = None, environ: dict[str, str] | None = None, address: str = ""
    ) -> ChatModel:
        def make(*plan: object) -> FakeServer:
            served.append(plan)
            return FakeServer(address)

        given = {"OLLAMA_HOST": closed, **(environ or {})}
        made.append(choose_model(settings or Settings(), given, Store(tmp_path), make))
        return made[-1]

    chosen.served = served  # type: ignore[attr-defined]
    yield chosen
    for model in made:
        model.close()


def have_embedded(folder: Path) -> None:
    (folder / "models").mkdir()
    (folder / "models" / "tiny.gguf").write_bytes(gguf())
    (folder / "server").mkdir()
    program = folder / "server" / "llama-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)


def test_ollama_comes_first(choose: Choose, tmp_path: Path) -> None:
    have_embedded(tmp_path)
    with FakeOllama() as ollama, FakeOpenAI() as openai:
        environ = {"OLLAMA_HOST": ollama.place, "OPENAI_BASE_URL": openai.address}
        assert choose(environ=environ).card().server is Server.OLLAMA
        assert openai.paths == []


def test_an_openai_address_comes_next_with_its_key(choose: Choose, tmp_path: Path) -> None:
    have_embedded(tmp_path)
    with FakeOpenAI() as server:
        environ = {"OPENAI_BASE_URL": server.address, "OPENAI_API_KEY": "k-1"}
        assert choose(environ=environ).card().server is Server.OPENAI
    assert server.headers[0]["authorization"] == "Bearer k-1"


def test_the_key_of_the_environment_goes_to_no_other_address(choose: Choose, closed: str) -> None:
    with FakeOpenAI() as server:
        environ = {"OPENAI_BASE_URL": f"http://{closed}", "OPENAI_API_KEY": "k-1"}
        choose(Settings(server="openai", address=server.address), environ).card()
    assert "k-1" not in str(server.headers)


def test_the_embedded_server_comes_last_and_is_started_by_the_question(
    choose: Choose, tmp_path: Path
) -> None:
    have_embedded(tmp_path)
    with FakeOpenAI(openai_said("Hello"), models=("tiny",)) as server:
        model = choose(address=server.address)
        card = model.card()
        assert (card.name, card.server, card.context) == ("tiny", Server.EMBEDDED, 4096)
        assert server.paths == []
        first, second, remark, *_, reply = model.chat(QUESTION, never)
        model.close()
    assert (first, second) == (Waiting(0.1, loading=True), Waiting(0.2, loading=True))
    assert remark == Remark("It runs on the processor.")
    assert isinstance(reply, Reply)
    assert reply.text == "Hello"
    program, path, name, context, _ = choose.served[0]  # type: ignore[attr-defined]
    assert (program, path) == (
        tmp_path / "server" / "llama-server",
        tmp_path / "models" / "tiny.gguf",
    )
    assert (name, context) == ("tiny", 4096)


def test_nothing_at_all_names_the_three_ways(choose: Choose) -> None:
    begun = time.monotonic()
    with pytest.raises(NoModel) as caught:
        choose()
    assert time.monotonic() - begun < 2
    for way in ("Ollama", "address of a server", "GGUF file"):
        assert way in caught.value.message


def test_a_name_is_one_that_the_found_server_lists(choose: Choose, tmp_path: Path) -> None:
    """A file's path does not start a second server beside one that answers."""
    have_embedded(tmp_path)
    with FakeOllama() as ollama:
        settings = Settings(model=str(tmp_path / "models" / "tiny.gguf"))
        with pytest.raises(ModelMissing, match="qwen3:latest"):
            choose(settings, {"OLLAMA_HOST": ollama.place}).card()


def test_what_the_user_set_comes_before_everything(choose: Choose, closed: str) -> None:
    with FakeOllama() as ollama, FakeOpenAI() as openai:
        environ = {"OLLAMA_HOST": ollama.place}
        card = choose(Settings(address=openai.address), environ).card()
        assert card.server is Server.OPENAI
        card = choose(Settings(server="openai", address=openai.place), environ).card()
        assert card.server is Server.OPENAI
        card = choose(Settings(address=ollama.address + "/v1")).card()
        assert card.server is Server.OLLAMA
        with pytest.raises(ModelError, match=f"Ollama does not answer at {closed}"):
            choose(Settings(server="ollama")).card()


def test_another_service_at_ollamas_place_is_not_taken_for_it(choose: Choose) -> None:
    with FakeOpenAI() as other, pytest.raises(NoModel):
        choose(environ={"OLLAMA_HOST": other.place})


def test_settings_reach_the_requests(choose: Choose) -> None:
    with FakeOllama(ollama_said("a")) as ollama:
        settings = Settings(server="ollama", address=ollama.place, context=2048, keep_alive="9m")
        list(choose(settings).chat(QUESTION, never))
    assert ollama.requests[0]["options"]["num_ctx"] == 2048
    assert ollama.requests[0]["keep_alive"] == "9m"


@pytest.mark.parametrize("text", ["http://", "ftp://box", "http://box:port"])
def test_a_wrong_address_is_one_sentence(choose: Choose, text: str) -> None:
    with pytest.raises(ModelError, match="Type one like"):
        choose(Settings(server="openai", address=text))


def test_a_missing_program_is_named(choose: Choose, tmp_path: Path) -> None:
    with pytest.raises(NoModel, match="no server program"):
        choose(Settings(server="embedded", server_program=str(tmp_path / "gone")))


@pytest.mark.usefixtures("client")
def test_every_way_to_a_model_is_gone_with_and_without_the_official_clients(
    choose: Choose, tmp_path: Path
) -> None:
    have_embedded(tmp_path)
    with FakeOllama(ollama_said("a")) as ollama, FakeOpenAI(openai_said("b")) as openai:
        for environ, text in (
            ({"OLLAMA_HOST": ollama.place}, "a"),
            ({"OPENAI_BASE_URL": openai.address}, "b"),
        ):
            *_, reply = choose(environ=environ).chat(QUESTION, never)
            assert isinstance(reply, Reply)
            assert reply.text == text
    with FakeOpenAI(openai_said("c"), models=("tiny",)) as server:
        *_, reply = choose(address=server.address).chat(QUESTION, never)
        assert isinstance(reply, Reply)
        assert reply.text == "c"


def test_a_probe_is_short() -> None:
    assert choice_module.PROBE_S <= 2
