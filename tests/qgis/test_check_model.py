# SPDX-License-Identifier: GPL-2.0-or-later
"""geo_olm:checkmodel and the doctor's page over a fake server, and what they leave behind."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_mind import Mind, OpenAIMind
from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsSettings,
)
from qgis.PyQt.QtCore import QCoreApplication

from geo_olm.plugin.check import CheckModelAlgorithm
from geo_olm.plugin.doctor_desk import DoctorDesk
from geo_olm.plugin.link import process_link
from geo_olm.plugin.llm.base import ModelCard, Server
from geo_olm.plugin.llm.doctor_note import ModelNote, key_of
from geo_olm.plugin.model_note import KEY, MOST_NOTES, NoteStore
from geo_olm.plugin.scout import view_of
from geo_olm.plugin.settings import Settings
from geo_olm.ui.state_shape import Shape

META = {"n_ctx": 4096}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    process_link.cache_clear()
    QgsSettings().remove(KEY)
    yield
    process_link().stop()
    process_link.cache_clear()
    QgsSettings().remove(KEY)


def run(**parameters: Any) -> tuple[dict[str, Any], QgsProcessingFeedback]:
    feedback = QgsProcessingFeedback()
    found, ok = CheckModelAlgorithm().run(parameters, QgsProcessingContext(), feedback)
    assert ok, feedback.textLog()
    return found, feedback


def until(done: Callable[[], bool], seconds: float = 30) -> None:
    limit = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < limit
        QCoreApplication.processEvents()
        time.sleep(0.01)


def test_the_report_is_given_kept_as_json_and_remembered(qgis_app: Any, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    with OpenAIMind(Mind(native=False), meta=META) as server:
        found, feedback = run(SERVER="openai", BASE_URL=server.address, JSON=str(target))
        settings = Settings(server="openai", address=server.address)
        speaker = process_link().connect(settings, lambda event: None, lambda: False)
        assert speaker.exposure("auto") == "hint"
        assert speaker.card().context == 4096
        note = NoteStore().recall(speaker.card())
    assert found["REPORT"].startswith("small-model: ")
    told = json.loads(target.read_text(encoding="utf-8"))
    assert told["settings"]["mode"] == "schema"
    assert next(one["check"] for one in told["findings"]) == "Server"
    assert "Context in force: 4,096 tokens" in feedback.textLog()
    assert note is not None
    assert (note.mode, note.context, note.right, note.asked) == ("schema", 4096, 12, 12)
    assert note.date == told["date"]


def test_a_server_that_is_down_is_told_in_the_report(qgis_app: Any) -> None:
    with OpenAIMind(Mind()) as server:
        address = server.address
    found, _ = run(SERVER="openai", BASE_URL=address)
    assert "does not answer" in found["REPORT"]
    assert not QgsSettings().contains(KEY)


def test_no_model_at_all_is_one_sentence(qgis_app: Any) -> None:
    algorithm, feedback = CheckModelAlgorithm(), QgsProcessingFeedback()
    context = QgsProcessingContext()
    with pytest.raises(QgsProcessingException, match="No model was found"):
        algorithm.run({"SERVER": "embedded"}, context, feedback, catchExceptions=False)


def test_a_cancelled_check_ends_soon_and_changes_nothing(qgis_app: Any) -> None:
    class Stopped(QgsProcessingFeedback):
        """Is cancelled at its third line."""

        def __init__(self) -> None:
            super().__init__()
            self.at = 0.0

        def pushInfo(self, info: str) -> None:
            super().pushInfo(info)
            if not self.isCanceled() and info.startswith("Server"):
                self.at = time.monotonic()
                self.cancel()

    feedback = Stopped()
    with OpenAIMind(Mind(pause=1.0), meta=META) as server:
        parameters = {"SERVER": "openai", "BASE_URL": server.address}
        found, _ok = CheckModelAlgorithm().run(parameters, QgsProcessingContext(), feedback)
    assert time.monotonic() - feedback.at < 2.5
    assert "Stopped before the end" in found["REPORT"]
    assert not QgsSettings().contains(KEY)


def test_the_page_examines_in_the_background_and_keeps_what_is_used(qgis_app: Any) -> None:
    with OpenAIMind(Mind(), meta=META) as server:
        settings = Settings(server="openai", address=server.address)
        desk = DoctorDesk(lambda: settings, lambda: ("small-model",))
        used: list[bool] = []
        desk.used.connect(lambda: used.append(True))
        page = desk.open(None)
        page.check.click()
        until(lambda: page.use.isEnabled())
        card = process_link().model(settings).card()
    assert next(row[0] for row in page.table.texts()) == "Server"
    assert Shape.RUNNING not in page.table.shapes()
    assert NoteStore().recall(card) is None
    page.form.context.setValue(3072)
    page.use.click()
    note = NoteStore().recall(card)
    assert note is not None
    assert (note.context, used) == (3072, [True])
    desk.close()


def test_cancel_on_the_page_keeps_what_is_known(qgis_app: Any) -> None:
    with OpenAIMind(Mind(pause=0.5), meta=META) as server:
        desk = DoctorDesk(lambda: Settings(server="openai", address=server.address), tuple)
        page = desk.open(None)
        page.check.click()
        until(lambda: len(page.table.texts()) > 1)
        begun = time.monotonic()
        page.check.click()
        until(lambda: page.check.text() == "Check again")
        assert time.monotonic() - begun < 2
        assert page.table.shapes() == [Shape.DONE, Shape.STOPPED]
        desk.close()


def test_closing_the_desk_ends_a_running_examination(qgis_app: Any) -> None:
    with OpenAIMind(Mind(pause=0.5), meta=META) as server:
        desk = DoctorDesk(lambda: Settings(server="openai", address=server.address), tuple)
        desk.open(None).check.click()
        until(lambda: bool(server.requests))
        begun = time.monotonic()
        desk.close()
        assert time.monotonic() - begun < 2


def test_notes_are_of_their_weights_and_the_oldest_are_forgotten(qgis_app: Any) -> None:
    card = ModelCard("m", Server.OLLAMA, "127.0.0.1:11434", 4096, "abc")
    note = ModelNote("m", "abc", "2026-01-01T00:00:00Z", "Good", "schema", 4096, "filter")
    store = NoteStore()
    store.keep(key_of(card), note)
    assert store.recall(card) == note
    assert store.recall(replace(card, digest="other")) is None
    for at in range(MOST_NOTES):
        store.keep(f"key {at}", note)
    assert store.recall(card) is None
    QgsSettings().setValue(KEY, "{broken")
    assert store.recall(card) is None


def test_the_chip_tells_what_was_measured_and_when(qgis_app: Any) -> None:
    card = ModelCard("m", Server.OLLAMA, "127.0.0.1:11434", 4096, "abc")
    date = "2026-01-02T03:04:05Z"
    note = ModelNote("m", "abc", date, "Good", "schema", 4096, "filter", 11, 12, 78.4, 23.6)
    assert "tokens a second" not in view_of(card).detail
    NoteStore().keep(key_of(card), note)
    said = "reads 78 and writes 24 tokens a second, checked on 2026-01-02"
    assert said in view_of(card).detail
