# SPDX-License-Identifier: GPL-2.0-or-later
"""The options page shows settings, gives them back, and checks a server on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import (
    QComboBox,
    QFileDialog,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSpinBox,
    QWidget,
)

from geo_olm.plugin.settings import Settings
from geo_olm.ui.options_page import OptionsFactory, OptionsPage
from geo_olm.ui.state_shape import Shape

OTHER = Settings(
    server="openai",
    address="http://127.0.0.1:9999/v1",
    model="/models/a b.gguf",
    server_program="/opt/llama server",
    context=16384,
    threads=3,
    keep_alive="1h",
    think=True,
    plan_first=False,
    states="/srv/states.json",
    graphics=False,
    temperature=0.25,
    seed=11,
    max_steps=20,
    max_errors=2,
    reply_tokens=1024,
    run_tokens=50000,
    tool_mode="text",
    exposure="hint",
    approval="each",
    connect_s=7.5,
    first_token_s=120.0,
    idle_s=30.0,
    output_folder="/tmp/out put",
    allowed_folders="/srv/maps\n/srv/more maps",
    offline=True,
    allowed_hosts="api.example.org\n10.0.0.7:8080",
    package_index="/srv/wheels",
    download_sources="/srv/kit\nhttp://models.example/gguf",
    hourly_rate=2.5,
    copies_memory_gb=48.0,
    price_file="/srv/prices.json",
    debug=True,
)


@pytest.fixture
def page(show: Callable[[QWidget], QWidget]) -> OptionsPage:
    page = OptionsPage(Settings())
    show(page)
    return page


def test_settings_come_back_as_they_were_shown(page: OptionsPage) -> None:
    assert page.settings() == Settings()
    page.show_settings(OTHER)
    assert page.settings() == OTHER


def test_the_example_differs_from_every_default_that_has_a_plain_field() -> None:
    same = [
        f.name for f in fields(Settings) if getattr(OTHER, f.name) == getattr(Settings(), f.name)
    ]
    assert same == ["auth_config"]


def test_typing_changes_what_is_applied(page: OptionsPage) -> None:
    told = QSignalSpy(page.settings_changed)
    server = page.findChild(QComboBox, "GeoOlmOptionsServer")
    server.setCurrentIndex(server.findData("ollama"))
    QTest.keyClicks(page.findChild(QLineEdit, "GeoOlmOptionsAddress"), "http://127.0.0.1:1")
    steps = page.findChild(QSpinBox, "GeoOlmOptions_max_steps")
    QTest.keyClick(steps, Qt.Key.Key_Up)
    page.apply()
    applied = told[0][0]
    assert (applied.server, applied.address, applied.max_steps) == (
        "ollama",
        "http://127.0.0.1:1",
        13,
    )


def test_the_address_can_be_set_only_where_it_is_used(page: OptionsPage) -> None:
    server, address = page.server, page.address
    for value, used in (("auto", False), ("ollama", True), ("openai", True), ("embedded", False)):
        server.setCurrentIndex(server.findData(value))
        assert address.isEnabled() is used


def test_found_models_are_offered_and_the_typed_one_stays(page: OptionsPage) -> None:
    page.model.setCurrentText("mine")
    page.set_models(("a", "b"))
    assert page.model.currentText() == "mine"
    assert [page.model.itemText(at) for at in range(page.model.count())] == ["a", "b"]


def test_folders_to_read_from_are_added_and_removed(
    page: OptionsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    add = page.findChild(QPushButton, "GeoOlmFolderListAdd")
    remove = page.findChild(QPushButton, "GeoOlmFolderListRemove")
    assert not remove.isEnabled()
    for _ in range(2):
        QTest.mouseClick(add, Qt.MouseButton.LeftButton)
    assert page.settings().allowed_folders == str(tmp_path)
    page.findChild(QListWidget, "GeoOlmFolderListItems").selectAll()
    QTest.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert page.settings().allowed_folders == ""


def test_a_check_sends_what_is_typed_and_shows_the_result(page: OptionsPage) -> None:
    asked = QSignalSpy(page.check_requested)
    page.model.setCurrentText("qwen3:8b")
    button = page.findChild(QWidget, "GeoOlmCheck")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked[0][0].model == "qwen3:8b"
    assert not button.isEnabled()
    page.show_check("Ollama has no model named <b>qwen3:8b</b>.", False)
    assert button.isEnabled()
    assert page.check_line.mark.shape is Shape.FAILED
    assert page.check_line.text.text() == "Ollama has no model named <b>qwen3:8b</b>."
    assert page.check_line.text.textFormat() == Qt.TextFormat.PlainText


def test_the_wheel_does_not_change_a_number_that_has_no_focus(page: OptionsPage) -> None:
    from qgis.PyQt.QtCore import QPoint, QPointF
    from qgis.PyQt.QtGui import QWheelEvent
    from qgis.PyQt.QtWidgets import QApplication

    box = page.findChild(QSpinBox, "GeoOlmOptions_seed")
    page.findChild(QLineEdit, "GeoOlmOptionsKeepAlive").setFocus()
    place = QPointF(box.rect().center())
    event = QWheelEvent(
        place,
        QPointF(box.mapToGlobal(box.rect().center())),
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(box, event)
    assert box.value() == 7


def test_every_field_has_a_name(page: OptionsPage) -> None:
    boxes = page.findChildren(QComboBox) + page.findChildren(QSpinBox)
    own = [box for box in boxes if box.objectName().startswith("GeoOlm")]
    assert len(own) >= 11
    assert all(box.accessibleName() for box in own)


def test_the_factory_makes_a_page_with_the_settings_of_the_moment(qgis_app: object) -> None:
    stored = [Settings(seed=1)]
    prepared: list[OptionsPage] = []
    factory = OptionsFactory(lambda: stored[0], prepared.append)
    stored[0] = Settings(seed=2)
    page = factory.createWidget(None)
    assert page.settings().seed == 2
    assert prepared == [page]
    assert not factory.icon().isNull()
    page.deleteLater()


def test_the_doctor_is_asked_for_with_the_settings_as_they_stand(page: OptionsPage) -> None:
    asked = QSignalSpy(page.doctor_requested)
    server = page.findChild(QComboBox, "GeoOlmOptionsServer")
    server.setCurrentIndex(server.findData("ollama"))
    button = page.findChild(QPushButton, "GeoOlmOptionsDoctor")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked[0][0].server == "ollama"


def test_bringing_a_model_shows_the_tab_that_does_it(page: OptionsPage) -> None:
    page.tabs.setCurrentIndex(page.tabs.count() - 1)
    assert not page.fetch.isVisible()
    page.show_fetch()
    assert page.tabs.currentIndex() == 0
    assert page.fetch.isVisible()
