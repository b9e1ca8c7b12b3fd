# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings in QGIS's own settings: a round trip, broken values, and what is kept."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import pytest
from qgis.core import QgsSettings

from geo_olm.plugin.settings import PREFIX, Settings, SettingsStore

pytestmark = pytest.mark.usefixtures("qgis_app")

OTHER = Settings(
    server="openai",
    address="http://127.0.0.1:8080",
    model="a model; with 'marks'",
    context=4096,
    temperature=0.25,
    max_steps=3,
    seed=-1,
    debug=True,
)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for item in dataclasses.fields(Settings):
        monkeypatch.delenv(f"GEO_OLM_SET_{item.name.upper()}", raising=False)
    QgsSettings().remove(PREFIX.rstrip("/"))
    yield
    QgsSettings().remove(PREFIX.rstrip("/"))


def kept() -> set[str]:
    return {key[len(PREFIX) :] for key in QgsSettings().allKeys() if key.startswith(PREFIX)}


def test_nothing_stored_gives_the_defaults() -> None:
    assert SettingsStore().load() == Settings()


def test_settings_come_back_as_they_were_saved() -> None:
    SettingsStore().save(OTHER)
    QgsSettings().sync()
    assert SettingsStore().load() == OTHER


def test_only_what_differs_from_the_default_is_kept() -> None:
    SettingsStore().save(dataclasses.replace(Settings(), model="small"))
    assert kept() == {"model"}
    SettingsStore().save(Settings())
    assert kept() == set()


def test_a_broken_value_falls_back_and_leaves_the_others() -> None:
    SettingsStore().save(OTHER)
    store = QgsSettings()
    store.setValue(PREFIX + "max_steps", "many")
    store.setValue(PREFIX + "server", "mainframe")
    found = SettingsStore().load()
    assert found == dataclasses.replace(OTHER, max_steps=12, server="auto")


def test_the_environment_overrides_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    SettingsStore().save(OTHER)
    monkeypatch.setenv("GEO_OLM_SET_MODEL", "of the environment")
    monkeypatch.setenv("GEO_OLM_SET_MAX_STEPS", "nonsense")
    found = SettingsStore().load()
    assert (found.model, found.max_steps) == ("of the environment", OTHER.max_steps)


def test_no_key_is_a_setting() -> None:
    names = {item.name for item in dataclasses.fields(Settings)}
    assert {name for name in names if re.search("key|password|secret|token", name)} == {
        "reply_tokens",
        "run_tokens",
        "first_token_s",
    }
