# SPDX-License-Identifier: GPL-2.0-or-later
"""Bringing, showing and unloading models, as the desk wires the dock to them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_case import HOW_MANY, fill, settings_for, settle, wait_until
from fake_ollama import FakeOllama
from fake_ollama import said as ollama_said
from fake_openai import FakeOpenAI
from file_server import FileServer
from qgis.core import QgsProject
from qgis.gui import QgsMessageBar
from qgis.PyQt.QtWidgets import QMainWindow

from geo_olm.plugin import model_desk as module
from geo_olm.plugin.desk import Desk
from geo_olm.plugin.link import process_link
from geo_olm.plugin.llm.store import Store
from geo_olm.plugin.model_desk import ModelDesk
from geo_olm.plugin.settings import Settings
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.empty_page import ChoiceCard
from geo_olm.ui.model_view import ModelCondition, ModelView

pytestmark = pytest.mark.usefixtures("qgis_processing")
DATA = b"GGUF" + bytes(200_000)
Open = Callable[[Settings], Desk]


class Window:
    """What the desk asks of QGIS's window here."""

    def __init__(self) -> None:
        self.window, self.bar = QMainWindow(), QgsMessageBar()

    def mainWindow(self) -> QMainWindow:
        return self.window

    def messageBar(self) -> QgsMessageBar:
        return self.bar


@pytest.fixture
def open_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open desks over a store of one known model that is not there yet."""
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    resources = tmp_path / "resources"
    resources.mkdir()
    model = {"name": "Tiny", "file": "t.gguf", "bytes": len(DATA), "licence": "CC0"}
    (resources / "models.json").write_text(json.dumps([model]))
    digest = hashlib.sha256(DATA).hexdigest()
    (resources / "models.sha256").write_text(f"{digest}  t.gguf\n")
    monkeypatch.setattr(module, "RESOURCES", resources)
    store = Store(tmp_path / "store", resources / "models.json")
    store.server_folder.mkdir(parents=True)
    (store.server_folder / "llama-server").write_text("#!/bin/sh\n")
    (store.server_folder / "llama-server").chmod(0o755)
    process_link.cache_clear()
    project = fill(QgsProject.instance())
    made: list[Any] = []

    def opened(settings: Settings) -> Desk:
        desk, models = Desk(Window(), ChatDock(), settings), ModelDesk(lambda: settings)
        desk.join_models(models)
        made.extend((models, desk))
        return desk

    yield opened
    for one in made:
        one.close()
    settle()
    project.clear()
    process_link().stop()
    process_link.cache_clear()


def shown(desk: Desk) -> ModelView:
    return desk._view


def test_without_a_model_the_dock_offers_a_download_and_does_it(open_desk: Open) -> None:
    with FileServer({"/t.gguf": DATA}) as server:
        server.pause = 0.01
        desk = open_desk(Settings(server="embedded", download_sources=server.address))
        wait_until(lambda: bool(shown(desk).download))
        assert shown(desk).download.startswith("Tiny · ")
        (card,) = desk._dock.empty.findChildren(ChoiceCard, "GeoOlmChoice_download")
        card.button.click()
        wait_until(lambda: shown(desk).progress > 0)
        assert "MB of" in shown(desk).progress_text.replace("\u00a0", " ")
        wait_until(lambda: shown(desk).condition is not ModelCondition.NONE)
    assert shown(desk).progress == -1


def test_a_download_that_fails_is_told_in_the_dock(open_desk: Open) -> None:
    desk = open_desk(Settings(server="embedded", download_sources="/nowhere"))
    wait_until(lambda: bool(shown(desk).download))
    desk._dock.download_requested.emit()
    wait_until(lambda: "/nowhere does not hold t.gguf" in shown(desk).progress_text)
    assert shown(desk).progress == -1


def test_where_the_model_lies_is_known_after_the_first_question_and_it_can_be_unloaded(
    open_desk: Open,
) -> None:
    said = (
        {"CURRENT_STAGE": "Init", "USER_INTENT": "Count", "NEEDS": "towns", "layers": ["towns"]},
        {"CURRENT_STAGE": "Analyse", "tool": "count", "arguments": {"layer": "towns"}},
        {"CURRENT_STAGE": "Answer", "tool": "answer", "arguments": {"value": "r1.count"}},
    )
    steps = [ollama_said(json.dumps(one)) for one in said]
    with FakeOllama(*steps, ollama_said("There are 3 towns.")) as server:
        server.share_on_card = 0.5
        settings = Settings(server="ollama", address=server.address, plan_first=False)
        desk = open_desk(settings)
        wait_until(lambda: shown(desk).condition is ModelCondition.READY)
        assert not shown(desk).can_unload
        assert shown(desk).can_pull
        desk.session.ask("How many towns?")
        wait_until(lambda: not desk.session.busy)
        wait_until(lambda: shown(desk).can_unload)
        assert "loaded 0.5 of 1.0 GB on the graphics card" in shown(desk).detail
        desk._dock.unload_requested.emit()
        wait_until(lambda: not shown(desk).can_unload)
    assert server.unloaded == ["qwen3:latest"]
    assert desk._iface.bar.items()


def test_a_model_that_ollama_lacks_can_be_pulled_by_its_name(open_desk: Open) -> None:
    with FakeOllama() as server:
        desk = open_desk(Settings(server="ollama", address=server.address, model="qwen9:4b"))
        wait_until(lambda: shown(desk).condition is ModelCondition.UNREACHABLE)
        assert desk.missing_model == "qwen9:4b"
        assert [action.value for action in shown(desk).actions] == ["pull", "options"]


def test_the_hour_of_this_machine_shows_in_the_gauge(open_desk: Open) -> None:
    with FakeOpenAI(*HOW_MANY) as server:
        settings = replace(settings_for(server), hourly_rate=3600.0)
        desk = open_desk(settings)
        wait_until(lambda: shown(desk).condition is ModelCondition.READY)
        desk.ask("How many towns?")
        wait_until(lambda: not desk.session.busy)
    assert "This chat: $" in desk._dock.header.gauge.toolTip()
    assert "$3600 an hour" in desk._dock.header.gauge.toolTip()
