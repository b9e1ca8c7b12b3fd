# SPDX-License-Identifier: GPL-2.0-or-later
"""Bringing a model from the options page and the dock, and what the gauge tells of tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QWidget

from geo_olm.plugin.agent.event import RunStarted, TokensUsed
from geo_olm.plugin.llm.base import Usage
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.fetch_panel import FetchPanel
from geo_olm.ui.fetch_view import FetchView, Offer, size
from geo_olm.ui.model_view import ModelCondition, ModelView
from geo_olm.ui.number import SPACE
from geo_olm.ui.outlet import Outlet
from geo_olm.ui.spent import money
from geo_olm.ui.state_shape import Shape

Child = Callable[[str], Any]
SMALL = Offer("Small", 491_400_064, "Apache-2.0")
LARGE = Offer("Large", 1_117_320_768, "MIT", present=True)
RUNS = FetchView(
    (SMALL, LARGE), True, "Small", "Downloading from models.example", 412_000_000, 491_400_064,
    5_200_000.0,
)  # fmt: skip


@pytest.fixture
def panel(show: Callable[[QWidget], QWidget]) -> FetchPanel:
    made = FetchPanel(Outlet())
    made.resize(600, 240)
    show(made)
    made.show_view(FetchView((SMALL, LARGE), can_pull=True))
    return made


def click(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 MB"), (3_400_000, "3.4 MB"), (412_300_000, "412 MB"), (1_117_320_768, "1.1 GB")],
)
def test_sizes_are_read_as_users_do(number: float, text: str) -> None:
    assert size(number) == text.replace(" ", SPACE)


def test_a_model_is_downloaded_by_one_click_with_the_sources_as_typed(panel: FetchPanel) -> None:
    asked = QSignalSpy(panel.download_requested)
    assert panel.models.currentText() == f"Small · 491{SPACE}MB · Apache-2.0"
    panel.sources.setPlainText("/srv/kit")
    click(panel.download)
    assert [list(each) for each in asked] == [["Small", "/srv/kit"]]


def test_a_model_that_is_here_is_not_offered_again(panel: FetchPanel) -> None:
    panel.models.setCurrentIndex(1)
    assert (panel.download.text(), panel.download.isEnabled()) == ("Is here", False)
    panel.models.setCurrentIndex(0)
    assert panel.download.isEnabled()


def test_a_pull_needs_a_name_and_an_ollama(panel: FetchPanel) -> None:
    asked = QSignalSpy(panel.pull_requested)
    assert not panel.pull.isEnabled()
    QTest.keyClicks(panel.name, "qwen3:4b")
    QTest.keyClick(panel.name, Qt.Key.Key_Return)
    click(panel.pull)
    assert [list(each) for each in asked] == [["qwen3:4b"], ["qwen3:4b"]]
    panel.show_view(FetchView((SMALL,)))
    assert not panel.pull.isEnabled()
    assert "No Ollama answers" in panel.pull.toolTip()
    QTest.keyClick(panel.name, Qt.Key.Key_Return)
    assert len(asked) == 2


def test_a_download_tells_size_speed_and_time_and_can_be_cancelled(panel: FetchPanel) -> None:
    cancelled = QSignalSpy(panel.cancel_requested)
    assert not panel.cancel.isVisible()
    panel.show_view(RUNS)
    assert panel.line.text() == (
        "Downloading from models.example · 412 MB of 491 MB · 5.2 MB/s · 15 s left"
    ).replace(" MB", f"{SPACE}MB").replace("15 s", f"15{SPACE}s")
    assert (panel.bar.maximum(), panel.bar.value()) == (100, 84)
    assert panel.mark.shape is Shape.RUNNING
    assert not panel.download.isEnabled()
    click(panel.cancel)
    assert len(cancelled) == 1
    panel.show_view(replace(RUNS, done=0, total=0))
    assert panel.bar.maximum() == 0


@pytest.mark.parametrize(
    ("view", "shape", "text"),
    [
        (FetchView(error="The disk is full."), Shape.FAILED, "The disk is full."),
        (FetchView(error="Stopped.", stopped=True), Shape.STOPPED, "Stopped."),
        (FetchView(ended="Small is here."), Shape.DONE, "Small is here."),
    ],
)
def test_the_end_is_told_in_a_sentence(
    panel: FetchPanel, view: FetchView, shape: Shape, text: str
) -> None:
    panel.show_view(view)
    assert (panel.mark.shape, panel.text.text()) == (shape, text)
    assert panel.accessibleName() == text
    assert not panel.bar.isVisible()


def test_the_dock_shows_a_download_and_lets_it_be_cancelled(dock: ChatDock, child: Child) -> None:
    cancelled = QSignalSpy(dock.download_cancelled)
    view = ModelView(download="Small", progress=42.7, progress_text="42 MB of 100 MB")
    dock.set_model(view)
    assert child("GeoOlmDownloadLine").text() == "42 MB of 100 MB"
    click(child("GeoOlmAction_cancel_download"))
    assert len(cancelled) == 1
    dock.set_model(replace(view, progress=-1.0, progress_text="The disk is full."))
    assert child("GeoOlmDownloadLine").text() == "The disk is full."
    assert child("GeoOlmAction_download").isEnabled()


def test_the_chips_menu_pulls_and_unloads_where_the_server_can(dock: ChatDock) -> None:
    pulled, unloaded = QSignalSpy(dock.pull_requested), QSignalSpy(dock.unload_requested)
    texts = [action.text() for action in dock.header.chip.menu().actions()]
    assert "Pull a model…" not in texts
    dock.set_model(ModelView(ModelCondition.READY, "m", can_pull=True, can_unload=True))
    menu = {action.text(): action for action in dock.header.chip.menu().actions()}
    menu["Pull a model…"].trigger()
    menu["Unload"].trigger()
    assert (len(pulled), len(unloaded)) == (1, 1)


def test_the_gauge_sums_the_turn_and_the_chat_with_their_cost(dock: ChatDock) -> None:
    gauge, started = dock.header.gauge, RunStarted("q", "m", "ollama", ("Init",), 5)
    call = TokensUsed(Usage(1000, 800, 200, 50), 8192, 2.0, 0.0021, "list price of 2026-06")
    dock.handle(started)
    dock.handle(call)
    dock.handle(call)
    dock.set_running(False)
    dock.handle(started)
    dock.handle(call)
    tip = gauge.toolTip()
    assert "1,050 of 8,192 tokens of the context used" in tip
    assert "This turn: 1,000 read, 800 of them from the cache, 50 written" in tip
    assert "This chat: 3,000 read, 2,400 of them from the cache, 150 written" in tip
    assert "This turn: $0.0021 (list price of 2026-06)" in tip
    assert "This chat: $0.0063 (list price of 2026-06)" in tip
    dock.set_running(False)


def test_a_cost_that_is_not_known_is_left_out_and_estimates_are_marked(dock: ChatDock) -> None:
    dock.handle(RunStarted("q", "m", "ollama", ("Init",), 5))
    dock.handle(TokensUsed(Usage(1000, 0, 1000, 50, estimated=True), 8192, 2.0))
    assert "$" not in dock.header.gauge.toolTip()
    assert "This turn: est. 1,000 read" in dock.header.gauge.toolTip()
    dock.set_running(False)


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0.0, "$0.00"), (0.00214, "$0.0021"), (0.000004, "$0.0000040"), (3.2, "$3.20")],
)  # fmt: skip
def test_money_shows_two_figures_that_say_something(dollars: float, text: str) -> None:
    assert money(dollars) == text
