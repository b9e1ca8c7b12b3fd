# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user sees and does of packages, the offline lock, consent and what was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from qgis.PyQt.QtCore import QEvent, Qt
from qgis.PyQt.QtGui import QColor, QPalette
from qgis.PyQt.QtTest import QSignalSpy, QTest
from qgis.PyQt.QtWidgets import (
    QApplication,
    QCheckBox,
    QFileDialog,
    QLineEdit,
    QListWidget,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QTableView,
    QToolButton,
    QWidget,
)

from geo_olm.plugin.settings import Settings
from geo_olm.ui.chat_dock import ChatDock
from geo_olm.ui.model_view import ModelCondition, ModelView
from geo_olm.ui.options_page import OptionsPage
from geo_olm.ui.package_view import PackageLine, PackageView
from geo_olm.ui.sent_page import SentPage, size
from geo_olm.ui.sent_row import SentRow
from geo_olm.ui.state_shape import Shape

LEFT = Qt.MouseButton.LeftButton
MISSING = (PackageLine("ollama"), PackageLine("openai"))
THERE = (PackageLine("ollama", "0.6.3", True), PackageLine("openai", "2.1.0", False))
FAR = SentRow(
    1.7e9, "api.example.org", False, "model", "POST /v1/chat/completions", 4200, 900, 200,
    ("roads",), ("name", "pop"), ("Ely",), 3,
)  # fmt: skip
HERE = SentRow(1.6e9, "127.0.0.1:11434", True, "model", "POST /api/chat", 812, 2_300_000, 0)
CONSENT = ModelView(
    ModelCondition.WAITING,
    "big-model",
    error="api.example.org is not on this machine.",
    local=False,
    consent="api.example.org",
)


@pytest.fixture
def page(show: Callable[[QWidget], QWidget]) -> OptionsPage:
    made = OptionsPage(Settings())
    show(made)
    made.tabs.bring(made.packages)
    return made


def part(parent: QWidget, kind: type, name: str) -> Any:
    found = parent.findChild(kind, name)
    assert found is not None, name
    return found


def test_missing_packages_are_no_fault_and_one_click_installs_them(page: OptionsPage) -> None:
    panel = page.packages
    panel.show_view(PackageView(MISSING))
    text = "Not installed: ollama, openai. The built-in client is used; nothing is missing for you."
    assert panel.text.text() == text
    assert panel.mark.shape is Shape.IDLE
    asked = QSignalSpy(panel.install_requested)
    QTest.keyClicks(part(page, QLineEdit, "GeoOlmOptionsPackageIndex"), "/srv/wheels")
    QTest.mouseClick(part(page, QPushButton, "GeoOlmPackagesInstall"), LEFT)
    assert [list(one) for one in asked] == [["/srv/wheels"]]
    assert page.settings().package_index == "/srv/wheels"
    assert part(page, QPushButton, "GeoOlmPackagesRemove").isHidden()


def test_an_installation_shows_how_far_it_is_and_can_be_cancelled(page: OptionsPage) -> None:
    panel = page.packages
    panel.show_view(PackageView(MISSING, True, "Unpacking httpx", 40.0))
    bar = part(page, QProgressBar, "GeoOlmPackagesBar")
    assert (bar.isVisible(), bar.value(), panel.line.text()) == (True, 40, "Unpacking httpx")
    assert part(page, QPushButton, "GeoOlmPackagesInstall").isHidden()
    stopped = QSignalSpy(panel.cancel_requested)
    QTest.mouseClick(part(page, QPushButton, "GeoOlmPackagesCancel"), LEFT)
    assert len(stopped) == 1
    panel.show_view(PackageView(MISSING, True, "Collecting httpx"))
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    panel.show_view(PackageView(MISSING, error="The index could not be reached. Check it."))
    assert panel.mark.shape is Shape.FAILED
    assert panel.text.text().startswith("The index could not be reached. Check it. Not installed")
    assert not bar.isVisible()


def test_installed_packages_say_where_they_are_and_can_be_removed(page: OptionsPage) -> None:
    panel = page.packages
    panel.show_view(PackageView(THERE, removable=True))
    assert panel.text.text() == (
        "In the plugin's own folder: ollama 0.6.3. In QGIS's Python: openai 2.1.0."
    )
    assert panel.mark.shape is Shape.DONE
    removed = QSignalSpy(panel.remove_requested)
    QTest.mouseClick(part(page, QPushButton, "GeoOlmPackagesRemove"), LEFT)
    assert len(removed) == 1


@pytest.mark.parametrize(
    ("name", "package"),
    [("GeoOlmPackagesBatch", "distributed"), ("GeoOlmPackagesVision", "onnxruntime")],
)
def test_an_optional_package_is_offered_where_qgis_has_none_of_its_own(
    page: OptionsPage, name: str, package: str
) -> None:
    panel = page.packages
    box = part(page, QCheckBox, name)
    panel.show_view(PackageView(MISSING))
    assert (box.isHidden(), box.isChecked()) == (False, False)
    panel.show_view(PackageView((*THERE, PackageLine(package, "2024.8.0", True))))
    assert (box.isHidden(), box.isChecked()) == (False, True)
    panel.show_view(PackageView((*THERE, PackageLine(package, "2024.8.0"))))
    assert box.isHidden()


def test_a_folder_of_wheels_is_chosen(page: OptionsPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "/srv/my wheels")
    QTest.mouseClick(part(page, QPushButton, "GeoOlmPackagesFolder"), LEFT)
    assert page.settings().package_index == "/srv/my wheels"


def test_offline_and_allowed_hosts_are_settings_and_a_host_is_taken_back(page: OptionsPage) -> None:
    hosts = part(page, QListWidget, "GeoOlmOptionsHosts")
    assert hosts.isHidden()
    page.show_settings(Settings(allowed_hosts="api.example.org\n10.0.0.7:8080"))
    assert not hosts.isHidden()
    box = part(page, QCheckBox, "GeoOlmOptionsOffline")
    QTest.keyClick(box, Qt.Key.Key_Space)
    hosts.item(0).setSelected(True)
    QTest.mouseClick(part(page, QPushButton, "GeoOlmPrivacyTakeBack"), LEFT)
    found = page.settings()
    assert found.allowed_hosts == "10.0.0.7:8080"
    assert found.offline


def test_a_check_of_a_host_elsewhere_offers_to_allow_it_and_checks_again(page: OptionsPage) -> None:
    checked = QSignalSpy(page.check_requested)
    page.show_check("api.example.org is not on this machine.", False, "api.example.org")
    assert page.check_line.mark.shape is Shape.WAITING
    QTest.mouseClick(part(page, QPushButton, "GeoOlmCheckAllow"), LEFT)
    assert checked[0][0].allowed_hosts == "api.example.org"
    page.show_check("big-model is ready.", True)
    assert part(page, QPushButton, "GeoOlmCheckAllow").isHidden()


def test_consent_is_a_card_in_the_dock_with_two_answers(dock: ChatDock, child: Any) -> None:
    given, refused = QSignalSpy(dock.consent_given), QSignalSpy(dock.consent_refused)
    dock.set_model(CONSENT)
    card = child("GeoOlmMessage")
    assert card.accessibleName().startswith("Send data to api.example.org?")
    assert card.shape.shape is Shape.WAITING
    text = child("GeoOlmMessageText").text()
    assert "names of layers and fields" in text
    assert "stay here" in text
    assert dock.header.chip.word == "Waiting"
    dock.composer.field.setPlainText("How many?")
    assert not dock.composer.send.isEnabled()
    QTest.mouseClick(child("GeoOlmMessage_allow"), LEFT)
    assert [list(one) for one in given] == [["api.example.org"]]
    QTest.mouseClick(child("GeoOlmMessage_refuse"), LEFT)
    assert [list(one) for one in refused] == [["api.example.org"]]
    dock.set_model(ModelView(ModelCondition.READY, "big-model", "A server", local=False))
    assert dock.composer.send.isEnabled()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert dock.findChildren(QWidget, "GeoOlmMessage_allow") == []


def test_the_offline_button_tells_and_shows_the_lock(dock: ChatDock, child: Any) -> None:
    told = QSignalSpy(dock.offline_chosen)
    button: QToolButton = child("GeoOlmOffline")
    dock.set_offline(True)
    assert (button.isChecked(), len(told)) == (True, 0)
    QTest.mouseClick(button, LEFT)
    assert [list(one) for one in told] == [[False]]


def test_the_models_menu_leads_to_what_was_sent(dock: ChatDock) -> None:
    asked = QSignalSpy(dock.sent_page_requested)
    menu = dock.header.chip.menu()
    next(one for one in menu.actions() if one.text() == "What was sent…").trigger()
    assert len(asked) == 1
    menu.deleteLater()


@pytest.fixture
def sent(show: Callable[[QWidget], QWidget]) -> SentPage:
    made = SentPage()
    made.set_rows((FAR, HERE))
    show(made)
    return made


def cells(page: SentPage) -> list[list[str]]:
    model = part(page, QTableView, "GeoOlmSentTable").model()
    return [
        [model.index(row, column).data() for column in range(1, model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_requests_are_listed_and_narrowed_to_what_left(sent: SentPage) -> None:
    assert cells(sent) == [
        ["api.example.org", "Model", "4.2\u00a0kB", "900\u00a0B", "200", "roads", "name, pop",
         "Ely +3"],
        ["This machine", "Model", "812\u00a0B", "2.3\u00a0MB", "–", "", "", ""],
    ]  # fmt: skip
    assert sent.note.text() == "2 requests, 1 of them left this machine"
    box = part(sent, QCheckBox, "GeoOlmSentElsewhere")
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert [row[0] for row in cells(sent)] == ["api.example.org"]


def test_a_chosen_request_shows_all_that_it_held(sent: SentPage) -> None:
    table = part(sent, QTableView, "GeoOlmSentTable")
    QTest.mouseClick(
        table.viewport(), LEFT, pos=table.visualRect(table.model().index(0, 1)).center()
    )
    assert sent.detail.text().replace("\u200b", "") == (
        "api.example.org · POST /v1/chat/completions · "
        "Layers: roads · Fields: name, pop · Values: Ely · and 3 more"
    )


def test_sizes_are_sorted_as_numbers(sent: SentPage) -> None:
    table = part(sent, QTableView, "GeoOlmSentTable")
    table.sortByColumn(3, Qt.SortOrder.AscendingOrder)
    assert [row[2] for row in cells(sent)] == ["812\u00a0B", "4.2\u00a0kB"]
    assert size(0) == "0\u00a0B"


def test_export_asks_for_a_file_and_clear_asks_first(
    sent: SentPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("/tmp/x.csv", ""))
    exported, cleared = QSignalSpy(sent.export_requested), QSignalSpy(sent.clear_requested)
    QTest.mouseClick(part(sent, QPushButton, "GeoOlmSentExport"), LEFT)
    assert [list(one) for one in exported] == [["/tmp/x.csv", False]]
    buttons = QMessageBox.StandardButton
    for answer, count in ((buttons.No, 0), (buttons.Yes, 1)):
        monkeypatch.setattr(QMessageBox, "question", lambda *_, given=answer: given)
        QTest.mouseClick(part(sent, QPushButton, "GeoOlmSentClear"), LEFT)
        assert len(cleared) == count
    sent.set_rows(())
    assert not part(sent, QPushButton, "GeoOlmSentClear").isEnabled()
    assert not part(sent, QPushButton, "GeoOlmSentExport").isEnabled()


def test_a_check_box_keeps_a_frame_on_a_dark_page(page: OptionsPage, dark: QPalette) -> None:
    box = part(page, QCheckBox, "GeoOlmOptionsOffline")
    before = QApplication.palette()
    QApplication.setPalette(dark)
    QApplication.processEvents()
    try:
        shade: QColor = box.palette().color(QPalette.ColorRole.Window)
        assert shade.lightness() > 128
    finally:
        QApplication.setPalette(before)
