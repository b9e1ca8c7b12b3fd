# SPDX-License-Identifier: GPL-2.0-or-later
"""Model requests over QGIS's network manager: waiting, stopping, limits, proxies, threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_ollama import FakeOllama, line
from fake_ollama import last as ollama_last
from fake_ollama import stream as ollama_stream
from fake_openai import DONE, FakeOpenAI, chunk, said, stream
from qgis.core import QgsApplication, QgsNetworkAccessManager, QgsTask
from qgis.PyQt.QtCore import QCoreApplication, QThread
from qgis.PyQt.QtNetwork import QNetworkProxy
from scripted_server import BREAK

from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.llm.base import (
    ChatModel,
    ChatRequest,
    ModelError,
    Reply,
    RunCancelled,
    ServerDown,
    StreamBroken,
    TextDelta,
)
from geo_olm.plugin.llm.exchange import ExchangeFactory
from geo_olm.plugin.llm.gate import Gate
from geo_olm.plugin.llm.ledger import Ledger
from geo_olm.plugin.llm.ollama import OllamaModel
from geo_olm.plugin.llm.openai import OpenAIModel
from geo_olm.plugin.llm.transport import qgis_exchange
from geo_olm.plugin.llm.ward import Ward
from geo_olm.plugin.llm.watch import Watch, never

QUESTION = ChatRequest((Message(Role.USER, "How many?"),))
KEPT: list[Ledger] = []

pytestmark = pytest.mark.usefixtures("qgis_app", "ledger")
both_clients = pytest.mark.usefixtures("client")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Keep the ledger of one test."""
    KEPT.append(Ledger(tmp_path / "ledger"))
    yield KEPT[-1]
    KEPT.clear()


def exchange(auth_config: str = "", gate: Gate | None = None) -> ExchangeFactory:
    return qgis_exchange(Ward(gate or Gate(), KEPT[-1]), auth_config)


@pytest.fixture
def short_limit_of_qgis() -> Iterator[None]:
    before = QgsNetworkAccessManager.timeout()
    QgsNetworkAccessManager.setTimeout(300)
    yield
    QgsNetworkAccessManager.setTimeout(before)


@pytest.fixture
def dead_proxy() -> Iterator[None]:
    manager = QgsNetworkAccessManager.instance()
    before = (manager.fallbackProxy(), manager.excludeList(), manager.noProxyList())
    dead = QNetworkProxy(QNetworkProxy.ProxyType.HttpProxy, "127.0.0.1", 1)
    manager.setFallbackProxyAndExcludes(dead, [], [])
    yield
    manager.setFallbackProxyAndExcludes(*before)


def openai_model(server: FakeOpenAI, watch: Watch | None = None) -> OpenAIModel:
    return OpenAIModel(server.address, watch=watch, transport=exchange())


def answer(model: ChatModel) -> str:
    *_, reply = model.chat(QUESTION, never)
    model.close()
    assert isinstance(reply, Reply)
    return reply.text


def elsewhere(work: Callable[[], str], as_task: bool) -> str:
    """Return what `work` gives on another thread, while this one handles events."""
    given: list[str] = []

    class Thread(QThread):
        def run(self) -> None:
            given.append(outcome(work))

    class Task(QgsTask):
        def run(self) -> bool:
            given.append(outcome(work))
            return True

    runner = Task("model") if as_task else Thread()
    if isinstance(runner, QgsTask):
        QgsApplication.taskManager().addTask(runner)
    else:
        runner.start()
    until = time.monotonic() + 20
    while not given and time.monotonic() < until:
        QCoreApplication.processEvents()
        time.sleep(0.01)
    if isinstance(runner, QThread):
        assert runner.wait(5000)
    return given[0]


def outcome(work: Callable[[], str]) -> str:
    try:
        return work()
    except (ModelError, RunCancelled) as error:
        return type(error).__name__


@both_clients
def test_both_clients_stream_on_the_main_thread() -> None:
    ndjson = ollama_stream([line(content="a"), line(content="b"), ollama_last()])
    with FakeOpenAI(said("a", "b")) as one, FakeOllama(ndjson) as other:
        assert answer(openai_model(one)) == "ab"
        assert answer(OllamaModel(other.address, transport=exchange())) == "ab"


@pytest.mark.parametrize("as_task", [False, True])
def test_both_clients_stream_on_a_thread_of_their_own(as_task: bool) -> None:
    ndjson = ollama_stream([0.1, line(content="a"), 0.1, line(content="b"), ollama_last()])
    with FakeOpenAI(said("a", "b")) as one, FakeOllama(ndjson) as other:
        assert elsewhere(lambda: answer(openai_model(one)), as_task) == "ab"
        model = OllamaModel(other.address, transport=exchange())
        assert elsewhere(lambda: answer(model), as_task) == "ab"


def test_pieces_arrive_as_they_are_written() -> None:
    pieces = [chunk(content="one"), 1.0, chunk(content="two"), chunk("stop"), DONE]
    with FakeOpenAI(stream(pieces)) as server:
        model = openai_model(server)
        model.card()
        begun = time.monotonic()
        chunks = model.chat(QUESTION, never)
        assert next(chunks) == TextDelta("one")
        assert time.monotonic() - begun < 0.8
        assert next(chunks) == TextDelta("two")
        assert time.monotonic() - begun >= 1.0
        list(chunks)
        model.close()


def test_a_reply_may_take_longer_than_qgis_waits(short_limit_of_qgis: None) -> None:
    """Case A46: QGIS would end the request after 0.3 s, before its first byte and between two."""
    pieces = [1.0, chunk(content="late"), 1.0, chunk("stop"), DONE]
    with FakeOpenAI(stream(pieces)) as server:
        assert answer(openai_model(server)) == "late"


def test_this_machine_is_reached_without_the_proxy(dead_proxy: None) -> None:
    with FakeOpenAI(said("direct")) as server:
        assert answer(openai_model(server)) == "direct"


@both_clients
@pytest.mark.parametrize("before", [[], [chunk(content="Half")]])
def test_a_stop_ends_a_waiting_reply_within_half_a_second(before: list[bytes]) -> None:
    with FakeOpenAI(stream([*before, 3.0, chunk("stop"), DONE])) as server:
        model = openai_model(server)
        model.card()
        begun = time.monotonic()
        with pytest.raises(RunCancelled):
            list(model.chat(QUESTION, lambda: time.monotonic() - begun > 0.3))
        assert time.monotonic() - begun < 0.8
        model.close()


def test_who_waits_is_told_the_seconds() -> None:
    told: list[float] = []
    with FakeOpenAI(stream([2.4, chunk(content="x"), chunk("stop"), DONE])) as server:
        model = openai_model(server)
        model.on_wait = told.append
        answer(model)
    assert [round(seconds) for seconds in told] == [1, 2]


def test_a_sign_of_life_is_not_the_first_word() -> None:
    told: list[float] = []
    ping = b": still reading\n\n"
    words = [ping, 1.2, ping, 1.2, chunk(content="42"), chunk("stop"), DONE]
    with FakeOpenAI(stream(words)) as server:
        model = openai_model(server, Watch(idle_s=0.5))
        model.on_wait = told.append
        assert answer(model) == "42"
    assert max(told) > 2
    silent = stream([ping, 0.3, ping, 0.3, ping, 0.3, ping, 0.3, ping, DONE])
    with FakeOpenAI(silent) as server, pytest.raises(ModelError, match="took too long"):
        answer(openai_model(server, Watch(first_token_s=0.8)))


def test_each_wait_has_its_own_limit() -> None:
    """Case A46, in small: slow bytes pass, silence ends and keeps what had come."""
    slow = [0.4, chunk(content="a"), 0.4, chunk(content="b"), 0.4, chunk("stop"), DONE]
    silent = [chunk(content="Half"), 2.0, chunk("stop"), DONE]
    watch = Watch(connect_s=0.6, first_token_s=0.8, idle_s=0.6)
    with FakeOpenAI(stream(slow), stream(silent), stream([1.5, DONE])) as server:
        assert answer(openai_model(server, watch)) == "ab"
        with pytest.raises(StreamBroken) as caught:
            answer(openai_model(server, watch))
        assert caught.value.partial == "Half"
        with pytest.raises(ModelError, match="took too long"):
            answer(openai_model(server, watch))


@both_clients
def test_a_broken_stream_keeps_what_had_come() -> None:
    fake = FakeOpenAI(stream([chunk(content="Half"), 0.1, BREAK]))
    with fake as server, pytest.raises(StreamBroken) as caught:
        answer(openai_model(server))
    assert caught.value.partial == "Half"


@both_clients
def test_a_closed_port_is_one_sentence_at_once() -> None:
    """Case A44."""
    with FakeOpenAI() as server:
        address = server.address
    begun = time.monotonic()
    with pytest.raises(ServerDown):
        OpenAIModel(address, transport=exchange()).card()
    with pytest.raises(ServerDown):
        OllamaModel(address, transport=exchange()).card()
    assert time.monotonic() - begun < 2


@both_clients
def test_an_error_page_is_read_to_its_end() -> None:
    with FakeOpenAI() as server:
        server.page = lambda path, body: (401, {"error": {"message": "bad"}})  # type: ignore[method-assign]
        with pytest.raises(ModelError, match="refuses the key") as caught:
            openai_model(server).card()
    assert "bad" in caught.value.detail


def test_an_unknown_authentication_sends_nothing() -> None:
    with FakeOpenAI() as server:
        model = OpenAIModel(server.address, transport=exchange("nothere"))
        with pytest.raises(ModelError):
            model.card()
    assert server.paths == []
