# SPDX-License-Identifier: GPL-2.0-or-later
"""The first steps in a window: offered once, skipped, found again, and each button's effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_case import settle, wait_until
from qgis.core import QgsProject, QgsSettings
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import QAbstractButton, QDialog, QPushButton
from test_plugin import Window

import geo_olm
from geo_olm.plugin.link import process_link
from geo_olm.ui.fetch_view import FetchView, Offer
from geo_olm.ui.model_view import ModelCondition, ModelView

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")
LEFT = Qt.MouseButton.LeftButton
OFFERED = "geo_olm/first_steps_offered"
READY = ModelView(ModelCondition.READY, "small", "Ollama", models=("small", "large"))


@pytest.fixture
def window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    process_link.cache_clear()
    QgsSettings().remove(OFFERED)
    made = Window()
    made.window.show()
    yield made
    made.window.close()
    made.window.deleteLater()
    settle()
    QgsProject.instance().clear()
    QgsSettings().remove(OFFERED)


@pytest.fixture
def plugin(window: Window) -> Iterator[Any]:
    made = geo_olm.classFactory(window)
    made.initGui()
    yield made
    made.unload()
    settle()


@pytest.fixture
def dialog(plugin: Any) -> Any:
    plugin._first.action.trigger()
    return plugin._iface.window.findChild(QDialog, "GeoOlmFirstRun")


def press(dialog: Any, name: str) -> None:
    (button,) = [one for one in dialog.findChildren(QAbstractButton) if one.objectName() == name]
    QTest.mouseClick(button, LEFT)


def chosen(dialog: Any) -> list[str]:
    return [name for name, card in dialog.model.cards.items() if card.radio.isChecked()]


def test_the_first_steps_are_offered_once_in_a_profile(window: Window) -> None:
    offers = []
    for _ in range(2):
        plugin = geo_olm.classFactory(window)
        plugin.initGui()
        found = window.messages.findChildren(QPushButton, "GeoOlmOfferFirstSteps")
        offers.append(len(found))
        if found:
            QTest.mouseClick(found[0], LEFT)
            assert window.window.findChild(QDialog, "GeoOlmFirstRun").isVisible()
        plugin.unload()
        settle()
    assert offers == [1, 0]
    assert window.window.findChild(QDialog, "GeoOlmFirstRun") is None


def test_skipped_steps_are_found_again_in_the_menu(plugin: Any, dialog: Any) -> None:
    press(dialog, "GeoOlmFirstSkip")
    assert not dialog.isVisible()
    (again,) = [one for _, one in plugin._iface.menus if one.objectName() == "GeoOlmFirstSteps"]
    again.trigger()
    assert dialog.isVisible()


def test_each_page_can_be_passed_and_gone_back_to(dialog: Any) -> None:
    seen = []
    for _ in range(4):
        seen.append(dialog.pages.currentIndex())
        press(dialog, "GeoOlmFirstNext")
    assert seen == [0, 1, 2, 3]
    assert not dialog.isVisible()
    dialog.show()
    press(dialog, "GeoOlmFirstBack")
    assert dialog.pages.currentIndex() == 2


def test_a_found_model_is_chosen_until_the_user_chooses(plugin: Any, dialog: Any) -> None:
    wait_until(lambda: not plugin._desk._tasks)
    plugin._desk.model_shown.emit(ModelView())
    assert chosen(dialog) == ["download"]
    plugin._desk.model_shown.emit(READY)
    assert chosen(dialog) == ["found"]
    assert [dialog.model.models.itemText(at) for at in range(2)] == ["small", "large"]
    QTest.mouseClick(dialog.model.cards["file"], LEFT)
    plugin._desk.model_shown.emit(READY)
    assert chosen(dialog) == ["file"]


def test_a_model_elsewhere_says_so_and_one_without_consent_is_not_chosen(
    plugin: Any, dialog: Any
) -> None:
    wait_until(lambda: not plugin._desk._tasks)
    away = replace(READY, local=False, server="a.example")
    plugin._desk.model_shown.emit(away)
    text = dialog.model.cards["found"].text.text()
    assert text == "a.example answers. Questions leave this machine."
    plugin._desk.model_shown.emit(replace(away, consent="a.example"))
    assert not dialog.model.cards["found"].isEnabled()
    assert chosen(dialog) == ["download"]


def test_a_file_and_a_server_lead_to_the_options(plugin: Any, dialog: Any) -> None:
    for name, button in (("file", "model_file"), ("server", "options")):
        QTest.mouseClick(dialog.model.cards[name], LEFT)
        press(dialog, f"GeoOlmFirst_{button}")
    assert plugin._iface.pages == ["GeoOlmOptionsPage", "GeoOlmOptionsPage"]


def test_a_download_tells_how_far_it_is_and_can_be_cancelled(plugin: Any, dialog: Any) -> None:
    offers = (Offer("Small", 1_100_000_000, "Apache-2.0"),)
    QTest.mouseClick(dialog.model.cards["download"], LEFT)
    cancelled = QSignalSpy(plugin._first.cancel_requested)
    view = FetchView(
        offers, True, "Small", doing="Downloading", done=275_000_000, total=1_100_000_000
    )
    plugin._first.set_fetch(view)
    assert dialog.model.bar.value() == 25
    assert "275" in dialog.model.line.text()
    press(dialog, "GeoOlmFirst_cancel_download")
    assert len(cancelled) == 1
    plugin._first.set_fetch(FetchView(offers, error="The disk is full."))
    assert dialog.model.line.text() == "The disk is full."
    assert dialog.model.download.isVisible()


def test_the_demo_gives_three_questions_and_a_click_asks_one(plugin: Any, dialog: Any) -> None:
    for name in ("Next", "Next", "Demo", "Next"):
        press(dialog, f"GeoOlmFirst{name}")
    wait_until(lambda: len(dialog.findChildren(QAbstractButton, "GeoOlmExample")) == 3)
    plugin._dock.set_model(READY)
    asked = QSignalSpy(plugin._dock.asked)
    card = dialog.findChildren(QAbstractButton, "GeoOlmExample")[0]
    question = card.question
    QTest.mouseClick(card, LEFT)
    assert [list(one) for one in asked] == [[question]]
    assert not dialog.isVisible()
