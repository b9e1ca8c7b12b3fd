# SPDX-License-Identifier: GPL-2.0-or-later
"""What leaves over QGIS's network: the offline lock, consent, proxies, keys and the ledger."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from chat_case import HOW_MANY, fill, settings_for, wait_until
from fake_openai import DONE, FakeOpenAI, chunk, said, stream
from qgis.core import (
    QgsApplication,
    QgsAuthMethodConfig,
    QgsNetworkAccessManager,
    QgsProject,
    QgsSettings,
)
from qgis.PyQt.QtCore import QThread

from geo_olm.plugin.agent.message import Message, Role
from geo_olm.plugin.egress import ledger
from geo_olm.plugin.link import ModelLink
from geo_olm.plugin.llm.base import Reply, ServerDown
from geo_olm.plugin.llm.exchange import ExchangeError, Outgoing, fetched
from geo_olm.plugin.llm.gate import ConsentNeeded, Gate, OfflineRefused
from geo_olm.plugin.llm.ledger import Ledger
from geo_olm.plugin.llm.openai import OpenAIModel
from geo_olm.plugin.llm.transport import qgis_exchange
from geo_olm.plugin.llm.ward import DOWNLOAD, PACKAGE, Ward
from geo_olm.plugin.llm.watch import Watch
from geo_olm.plugin.session import answer_question
from geo_olm.plugin.settings import Settings, SettingsStore

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing", "own_store")
HELLO = (Message(Role.USER, "Hello"),)
KEY = "k-very-secret-7f3a"


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")


class Proxy(ThreadingHTTPServer):
    """A proxy on loopback that hands requests for model.test to one server, and counts all."""

    daemon_threads = True

    def __init__(self, aim: str) -> None:
        self.aim, self.asked = urlsplit(aim).netloc, []  # type: ignore[var-annotated]
        super().__init__(("127.0.0.1", 0), _ProxyHandler)

    def __enter__(self) -> Proxy:
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()


class _ProxyHandler(BaseHTTPRequestHandler):
    server: Proxy

    def log_message(self, *_: object) -> None:
        pass

    def _pass(self) -> None:
        import http.client

        self.server.asked.append(self.path)
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        inner = http.client.HTTPConnection(self.server.aim, timeout=5)
        inner.request(self.command, parts.path, body, {"Content-Type": "application/json"})
        answer = inner.getresponse()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.end_headers()
        self.wfile.write(answer.read())
        inner.close()

    do_GET = do_POST = _pass  # noqa: N815


@pytest.fixture
def use_proxy() -> Iterator[Any]:
    """Set QGIS's proxy as its network options do; threads that begin later read it too."""
    manager, store = QgsNetworkAccessManager.instance(), QgsSettings()

    def use(port: int) -> None:
        store.setValue("proxy/proxyEnabled", True)
        store.setValue("proxy/proxyType", "HttpProxy")
        store.setValue("proxy/proxyHost", "127.0.0.1")
        store.setValue("proxy/proxyPort", str(port))
        manager.setupDefaultProxyAndCache()

    yield use
    store.remove("proxy")
    manager.setupDefaultProxyAndCache()


def answered(project: QgsProject, settings: Settings) -> dict[str, Any]:
    """Return the record of a question that is asked on a thread of its own."""
    records: list[dict[str, Any]] = []

    class Thread(QThread):
        def run(self) -> None:
            given = ("How many towns?", project, settings, "", lambda _event: None)
            records.append(answer_question(*given))

    thread = Thread()
    thread.start()
    wait_until(lambda: bool(records))
    assert thread.wait(5000)
    return records[0]


def hello(settings: Settings, folder: Path) -> str:
    speaker = ModelLink(folder).connect(settings, lambda _event: None, lambda: False)
    *_, reply = speaker.write(HELLO, 20, lambda: False)
    assert isinstance(reply, Reply)
    return reply.text


@pytest.mark.usefixtures("client")
def test_a_proxy_reaches_a_name_elsewhere_and_loopback_goes_past_it(
    use_proxy: Any, tmp_path: Path
) -> None:
    with FakeOpenAI(said("through"), said("past")) as server, Proxy(server.address) as proxy:
        use_proxy(proxy.server_port)
        far = Settings(server="openai", address="http://model.test/v1", allowed_hosts="model.test")
        assert hello(far, tmp_path) == "through"
        assert "http://model.test/v1/chat/completions" in proxy.asked
        count = len(proxy.asked)
        assert hello(settings_for(server), tmp_path) == "past"
        assert len(proxy.asked) == count
    hosts = {(entry.host, entry.local) for entry in ledger().entries()}
    assert hosts == {("model.test", False), (server.place, True)}


def test_a_proxy_that_is_down_is_named_while_loopback_works(use_proxy: Any, tmp_path: Path) -> None:
    use_proxy(1)
    far = Settings(server="openai", address="http://model.test/v1", allowed_hosts="model.test")
    with pytest.raises(ServerDown, match="QGIS's proxy did not let"):
        hello(far, tmp_path)
    with FakeOpenAI(said("past")) as server:
        assert hello(settings_for(server), tmp_path) == "past"


def test_offline_sends_nothing_to_a_proxy_for_models_packages_and_downloads(
    use_proxy: Any, tmp_path: Path
) -> None:
    with FakeOpenAI(said("here")) as server, Proxy(server.address) as proxy:
        use_proxy(proxy.server_port)
        far = Settings(
            server="openai", address="http://model.test", allowed_hosts="model.test", offline=True
        )
        with pytest.raises(OfflineRefused) as caught:
            hello(far, tmp_path)
        assert caught.value.message == "Offline is on, so model.test was not contacted."
        for purpose in (PACKAGE, DOWNLOAD):
            ward = Ward(Gate(offline=True), ledger(), purpose)
            with pytest.raises(OfflineRefused):
                fetched(qgis_exchange(ward)(Watch()), "http://model.test/simple/")
        assert proxy.asked == []
        assert hello(settings_for(server, offline=True), tmp_path) == "here"


def test_a_question_without_consent_is_refused_with_the_way_to_allow_it(
    use_proxy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = fill(QgsProject())
    with FakeOpenAI(*HOW_MANY) as server, Proxy(server.address) as proxy:
        use_proxy(proxy.server_port)
        settings = Settings(server="openai", address="http://model.test/v1")
        record = answered(project, settings)
        assert record["status"] == "failed"
        assert "GEO_OLM_SET_ALLOWED_HOSTS=model.test" in record["reason"]
        assert proxy.asked == []
        monkeypatch.setenv("GEO_OLM_SET_ALLOWED_HOSTS", "model.test")
        monkeypatch.setenv("GEO_OLM_SET_SERVER", "openai")
        monkeypatch.setenv("GEO_OLM_SET_ADDRESS", "http://model.test/v1")
        monkeypatch.setenv("GEO_OLM_SET_PLAN_FIRST", "0")
        record = answered(project, SettingsStore().load())
        assert (record["status"], record["value"]) == ("ok", 3)
    entry = next(item for item in ledger().entries() if item.path.endswith("completions"))
    assert entry.host == "model.test"
    assert "towns" in entry.held.layers
    assert {"name", "pop"} & set(entry.held.fields)
    first = [item for item in ledger().entries() if item.path.endswith("completions")][-1]
    assert {"Ely", "Bath", "Diss"} & set(first.held.values + entry.held.values)
    project.clear()


def test_a_redirect_to_another_host_is_not_followed(use_proxy: Any) -> None:
    from scripted_server import Step

    with FakeOpenAI() as aim, FakeOpenAI() as server:
        server.chat_paths = ("/v1/models",)
        server.breach = lambda _: ""  # type: ignore[method-assign]
        server.steps = [Step([b"{}"], 307, headers=[("Location", f"{aim.address}/v1/models")])]
        exchange = qgis_exchange(Ward(Gate(), ledger()))(Watch())
        status, _ = fetched(exchange, f"{server.address}/v1/models")
        assert status == 307
    assert aim.paths == []


def test_a_key_lives_in_the_auth_manager_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    manager = QgsApplication.authManager()
    assert manager.setMasterPassword("a test's password", False)
    config = QgsAuthMethodConfig("APIHeader")
    config.setName("model key")
    config.setConfig("Authorization", f"Bearer {KEY}")
    stored, config = manager.storeAuthenticationConfig(config)
    assert stored
    messages: list[str] = []
    log = QgsApplication.messageLog()
    log.messageReceived.connect(lambda text, *_: messages.append(text))
    logging.getLogger("geo_olm").setLevel(logging.DEBUG)
    with caplog.at_level(logging.DEBUG), FakeOpenAI(said("17")) as server:
        settings = settings_for(server, auth_config=config.id(), debug=True)
        SettingsStore().save(settings)
        assert hello(settings, tmp_path) == "17"
        assert {item.get("authorization") for item in server.headers} == {f"Bearer {KEY}"}
    store = QgsSettings()
    kept = [str(store.value(name)) for name in store.allKeys()]
    files = [path.read_text() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert files
    for text in (*kept, *files, *messages, caplog.text):
        assert KEY not in text
    SettingsStore().save(Settings())
    manager.removeAuthenticationConfig(config.id())


def test_a_reply_that_breaks_off_is_noted_with_what_had_come(tmp_path: Path) -> None:
    own = Ledger(tmp_path / "own")
    fake = FakeOpenAI(stream([chunk(content="Half"), 5.0, chunk("stop"), DONE]))
    with fake as server:
        watch = Watch(idle_s=0.4)
        exchange = qgis_exchange(Ward(Gate(), own))
        model = OpenAIModel(server.address, watch=watch, transport=exchange)
        with pytest.raises(Exception, match="broke off"):
            list(model.chat(_request(), lambda: False))
        model.close()
    entry = own.entries()[0]
    assert (entry.status, entry.received > 0) == (200, True)


def test_a_closed_port_is_noted_without_a_status(tmp_path: Path) -> None:
    own = Ledger(tmp_path / "own")
    with FakeOpenAI() as server:
        address = server.address
    with pytest.raises(ExchangeError):
        qgis_exchange(Ward(Gate(), own))(Watch()).send(Outgoing("POST", f"{address}/v1", (), b"x"))
    (entry,) = own.entries()
    assert (entry.status, entry.sent) == (0, 1)


def test_consent_is_asked_of_the_model_only_and_before_the_first_contact(tmp_path: Path) -> None:
    with pytest.raises(ConsentNeeded):
        hello(Settings(address="http://model.test:1234"), tmp_path)
    assert ledger().entries() == []


def _request() -> Any:
    from geo_olm.plugin.llm.base import ChatRequest

    return ChatRequest(HELLO)
