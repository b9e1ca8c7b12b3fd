# SPDX-License-Identifier: GPL-2.0-or-later
"""Agents of the user's own, which lie beside the product's in the profile's store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geo_olm.plugin.replay import OWN_AGENTS, agents

pytestmark = pytest.mark.usefixtures("qgis_app")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path))
    return tmp_path


def test_an_agent_of_the_users_own_stands_beside_the_others(store: Path) -> None:
    own = {"name": "roads", "label": "Roads", "scope": "works on roads", "tools": ["buffer"]}
    other = {"name": "map", "label": "Atlas", "scope": "makes maps", "tools": ["export_map"]}
    (store / OWN_AGENTS).write_text(json.dumps({"agents": [own, other]}), encoding="utf-8")
    found = {one.name: one for one in agents().all()}
    assert found["roads"].tools == ("buffer",)
    assert found["map"].label == "Atlas"
    assert "vector" in found


def test_a_broken_file_of_agents_is_left_out_and_told(
    store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (store / OWN_AGENTS).write_text("{", encoding="utf-8")
    assert "vector" in {one.name for one in agents().all()}
    assert OWN_AGENTS in caplog.text
