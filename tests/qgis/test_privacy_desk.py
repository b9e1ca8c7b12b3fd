# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin in a window: packages by one click, consent, the lock, and what was sent."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_case import HOW_MANY, fill, settings_for, settle, wait_until
from fake_openai import FakeOpenAI
from qgis.core import QgsProject, QgsSettings
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QPushButton, QTableView
from test_plugin import Window
from wheel_case import LoopbackIndex, client_wheels, make_wheel

import geo_olm
from geo_olm.plugin.egress import ledger
from geo_olm.plugin.link import process_link
from geo_olm.plugin.settings import Settings, SettingsStore
from geo_olm.ui.model_view import ModelCondition
from geo_olm.ui.options_page import OptionsPage

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(autouse=True)
def own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    process_link.cache_clear()
    SettingsStore().save(Settings())
    yield
    settle()
    QgsProject.instance().clear()
    SettingsStore().save(Settings())


@pytest.fixture
def plugin() -> Iterator[Any]:
    window = Window()
    made = geo_olm.classFactory(window)
    made.initGui()
    yield made
    made.unload()
    window.window.close()
    window.window.deleteLater()
    settle()


@pytest.fixture
def page(plugin: Any) -> Iterator[OptionsPage]:
    made = plugin._options.createWidget(None)
    made.show()
    made.tabs.bring(made.packages)
    yield made
    made.deleteLater()
    settle()


def press(parent: Any, name: str) -> None:
    button = parent.findChild(QPushButton, name)
    assert button is not None, name
    QTest.mouseClick(button, LEFT)


def test_one_click_installs_and_one_removes(page: OptionsPage, tmp_path: Path) -> None:
    client_wheels(tmp_path / "wheels")
    page.packages.source.setText(str(tmp_path / "wheels"))
    before = list(sys.path)
    press(page, "GeoOlmPackagesInstall")
    assert page.packages.cancel.isVisible()
    wait_until(lambda: page.packages.remove.isVisible(), 60)
    assert sys.path[:-1] == before
    assert str(tmp_path) in sys.path[-1]
    assert (Path(sys.path[-1]) / "only_ours").is_dir()
    press(page, "GeoOlmPackagesRemove")
    wait_until(lambda: page.packages.remove.isHidden())
    assert sys.path == before


def test_dask_is_installed_beside_the_clients_where_it_is_ticked(
    page: OptionsPage, tmp_path: Path
) -> None:
    make_wheel(client_wheels(tmp_path / "wheels"), "distributed", "2024.8.0", (),
               {"distributed/__init__.py": ""})  # fmt: skip
    page.packages.source.setText(str(tmp_path / "wheels"))
    page.packages.batch.setChecked(True)
    press(page, "GeoOlmPackagesInstall")
    wait_until(lambda: page.packages.remove.isVisible(), 60)
    assert (Path(sys.path[-1]) / "distributed").is_dir()
    assert (Path(sys.path[-1]) / "only_ours").is_dir()
    press(page, "GeoOlmPackagesRemove")
    wait_until(lambda: page.packages.remove.isHidden())


def test_onnx_runtime_is_installed_without_the_numpy_that_it_asks_for(
    page: OptionsPage, tmp_path: Path
) -> None:
    make_wheel(client_wheels(tmp_path / "wheels"), "onnxruntime", "1.24.4", ("numpy>=1.21",))
    page.packages.source.setText(str(tmp_path / "wheels"))
    page.packages.vision.setChecked(True)
    press(page, "GeoOlmPackagesInstall")
    wait_until(lambda: page.packages.remove.isVisible(), 60)
    assert (Path(sys.path[-1]) / "onnxruntime").is_dir()
    assert (Path(sys.path[-1]) / "only_ours").is_dir()
    assert not (Path(sys.path[-1]) / "numpy").exists()
    press(page, "GeoOlmPackagesRemove")
    wait_until(lambda: page.packages.remove.isHidden())


def test_a_failed_and_a_cancelled_installation_say_so(page: OptionsPage, tmp_path: Path) -> None:
    page.packages.source.setText(str(tmp_path / "gone"))
    press(page, "GeoOlmPackagesInstall")
    wait_until(lambda: page.packages.install.isVisible(), 60)
    assert page.packages.text.text().startswith("The packages could not be installed")
    client_wheels(tmp_path / "wheels")
    with LoopbackIndex(tmp_path / "wheels", pause=30.0) as index:
        page.packages.source.setText(index.address)
        press(page, "GeoOlmPackagesInstall")
        wait_until(lambda: any("files" in path for path in index.paths), 60)
        press(page, "GeoOlmPackagesCancel")
        wait_until(lambda: page.packages.install.isVisible(), 5)
    assert page.packages.text.text().startswith("Stopped. Nothing was changed.")
    assert not any((tmp_path / "store" / "packages").iterdir())


def test_unloading_in_the_middle_of_an_installation_leaves_nothing(tmp_path: Path) -> None:
    window = Window()
    plugin = geo_olm.classFactory(window)
    plugin.initGui()
    page = plugin._options.createWidget(None)
    client_wheels(tmp_path / "wheels")
    with LoopbackIndex(tmp_path / "wheels", pause=30.0) as index:
        page.packages.source.setText(index.address)
        page.packages.install.click()
        wait_until(lambda: any("files" in path for path in index.paths), 60)
        plugin.unload()
    page.deleteLater()
    window.window.deleteLater()
    settle()
    assert not any((tmp_path / "store" / "packages").iterdir())


def test_consent_is_asked_in_the_dock_remembered_and_taken_back(
    plugin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed port of this machine stands for a host elsewhere, so that no name is looked up."""
    for module in ("gate", "ward"):
        monkeypatch.setattr(
            f"geo_olm.plugin.llm.{module}.is_loopback", lambda url: ":81" not in url
        )
    far = Settings(server="openai", address="http://127.0.0.1:81/v1", connect_s=0.5)
    plugin._apply(far)
    dock = plugin._dock
    wait_until(lambda: dock.header.chip.condition is ModelCondition.WAITING)
    assert dock._message.accessibleName().startswith("Send data to 127.0.0.1:81?")
    press(dock._message, "GeoOlmMessage_refuse")
    assert dock._message.text_label.text().startswith("Nothing was sent to 127.0.0.1:81.")
    assert SettingsStore().load().allowed_hosts == ""
    assert [one for one in ledger().entries() if not one.local] == []
    press(dock._message, "GeoOlmMessage_look_again")
    wait_until(lambda: dock.header.chip.condition is ModelCondition.WAITING)
    press(dock._message, "GeoOlmMessage_allow")
    assert SettingsStore().load().allowed_hosts == "127.0.0.1:81"
    wait_until(lambda: dock.header.chip.condition is ModelCondition.UNREACHABLE)
    assert {one.host for one in ledger().entries() if not one.local} == {"127.0.0.1:81"}
    dock.header.offline.click()
    assert SettingsStore().load().offline
    wait_until(
        lambda: (
            dock._message is not None
            and dock._message.text_label.text()
            == "Offline is on, so 127.0.0.1:81 was not contacted."
        )
    )
    settle()


def test_what_was_sent_opens_from_the_dock_and_is_exported_and_cleared(
    plugin: Any, tmp_path: Path
) -> None:
    fill(QgsProject.instance())
    with FakeOpenAI(*HOW_MANY) as server:
        plugin._apply(settings_for(server))
        wait_until(lambda: plugin._dock.header.chip.condition is ModelCondition.READY)
        record = plugin.ask_and_wait("How many towns?", 30)
    assert record["status"] == "ok"
    plugin._dock.sent_page_requested.emit()
    sent = plugin._sent
    table = sent.findChild(QTableView, "GeoOlmSentTable").model()
    assert table.rowCount() == len(ledger().entries()) >= 5
    held = [table.index(row, 6).data() for row in range(table.rowCount())]
    assert any("towns" in text for text in held)
    sent.export_requested.emit(str(tmp_path / "sent.csv"), False)
    with (tmp_path / "sent.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == table.rowCount()
    assert "towns" in rows[0]["layers"] + rows[1]["layers"]
    sent.clear_requested.emit()
    assert table.rowCount() == 0
    assert ledger().entries() == []
    sent.close()
    settle()
    assert plugin._sent is None


def test_the_options_page_sums_up_and_opens_the_ledger(plugin: Any, page: OptionsPage) -> None:
    assert page.privacy.note.text() == "Nothing left this machine in the last 30 days"
    press(page, "GeoOlmPrivacySent")
    assert plugin._sent.isVisible()
    plugin._sent.close()


def test_installed_packages_serve_qgis_process_too(tmp_path: Path) -> None:
    from geo_olm.plugin.dependency.folder import PackageFolder

    store = PackageFolder(tmp_path / "store" / "packages")
    draft = store.begin()
    (draft / "only_ours.py").write_text("told = 17\n")
    store.commit(draft)
    store.deactivate()
    plugin = geo_olm.classFactory(None)
    plugin.initProcessing()
    try:
        import only_ours  # type: ignore[import-not-found]

        assert only_ours.told == 17
    finally:
        plugin.unload()
        sys.modules.pop("only_ours", None)
    with pytest.raises(ImportError):
        __import__("only_ours")


def test_no_setting_holds_more_than_it_must() -> None:
    store = QgsSettings()
    store.remove("geo_olm")  # what other tests left
    SettingsStore().save(Settings(offline=True, allowed_hosts="a.example"))
    kept = {key: store.value(key) for key in store.allKeys() if key.startswith("geo_olm/")}
    assert set(kept) == {"geo_olm/offline", "geo_olm/allowed_hosts"}
