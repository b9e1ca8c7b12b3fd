# SPDX-License-Identifier: GPL-2.0-or-later
"""The dock before the first question: questions, no layers, no model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QWidget

from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.empty_page import QuestionCard
from geo_olm.ui.model_view import ModelCondition, ModelView

Child = Callable[[str], Any]


def click(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def test_an_example_question_is_asked_by_a_click(dock: ChatDock, child: Child) -> None:
    asked = QSignalSpy(dock.asked)
    cards = [card for card in dock.findChildren(QuestionCard) if card.isVisible()]
    assert 2 <= len(cards) <= 4
    click(cards[0])
    assert [list(each) for each in asked] == [
        ["How many features of cycle_hire have no value in area?"]
    ]


def test_an_example_question_is_asked_by_the_keyboard(dock: ChatDock) -> None:
    asked = QSignalSpy(dock.asked)
    card = dock.findChildren(QuestionCard)[1]
    QTest.keyClick(card, Qt.Key.Key_Space)
    assert [list(each) for each in asked] == [[card.question]]


def test_without_layers_it_offers_to_add_one_or_to_open_the_demo(
    dock: ChatDock, child: Child
) -> None:
    added, demo = QSignalSpy(dock.add_layer_requested), QSignalSpy(dock.demo_requested)
    dock.set_layers(())
    assert child("GeoOlmEmptyTitle").text() == "No layers yet"
    click(child("GeoOlmAction_add_layer"))
    click(child("GeoOlmAction_demo"))
    assert (len(added), len(demo)) == (1, 1)


def test_without_a_model_it_shows_the_ways_and_nothing_can_be_sent(
    dock: ChatDock, child: Child
) -> None:
    signals = [
        QSignalSpy(signal)
        for signal in (
            dock.download_requested,
            dock.model_file_requested,
            dock.options_requested,
            dock.retry_requested,
        )
    ]
    dock.set_model(ModelView(download="Qwen2.5-Coder 1.5B · 1.1 GB · Apache-2.0"))
    assert child("GeoOlmEmptyTitle").text() == "No model yet"
    for name in ("download", "model_file", "options", "look_again"):
        click(child(f"GeoOlmAction_{name}"))
    assert [len(signal) for signal in signals] == [1, 1, 1, 1]
    QTest.keyClicks(child("GeoOlmQuestion"), "How many?")
    assert not child("GeoOlmSend").isEnabled()
    dock.set_model(ModelView(ModelCondition.READY, "m"))
    assert child("GeoOlmSend").isEnabled()


def test_a_download_shows_its_progress_and_cannot_be_started_twice(
    dock: ChatDock, child: Child
) -> None:
    dock.set_model(ModelView(download="Small", progress=42.7))
    assert child("GeoOlmDownloadBar").value() == 42
    assert not child("GeoOlmAction_download").isEnabled()


def test_without_a_downloadable_model_no_download_is_offered(dock: ChatDock) -> None:
    dock.set_model(ModelView())
    QTest.qWait(5)
    assert not dock.findChildren(QWidget, "GeoOlmAction_download")


def test_it_says_where_questions_go_when_the_model_is_elsewhere(
    dock: ChatDock, child: Child
) -> None:
    assert "Nothing leaves this machine." in child("GeoOlmEmptyText").text()
    dock.set_model(ModelView(ModelCondition.READY, "m", "models.example.org", local=False))
    text = child("GeoOlmEmptyText").text()
    assert "Nothing leaves" not in text
    assert "models.example.org" in text
