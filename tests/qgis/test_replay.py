# SPDX-License-Identifier: GPL-2.0-or-later
"""Kept workflows run again with no model and no network: the same answers, numbers and layers."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from exchange_case import content, difference, graphs, names, project_of, tasks
from qgis.core import QgsNetworkAccessManager

from geo_olm.plugin.place import temporary_folder
from geo_olm.plugin.replay import replay
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.file import dumps, loads
from geo_olm.plugin.workflow.graph import Graph

pytestmark = [pytest.mark.shared, pytest.mark.usefixtures("qgis_processing", "no_network")]
FAILING = {
    "D16 plan": ("failed", "before and after at once"),
    "D17 plan": ("failed", "is not nir"),
    "D29 plan": ("rejected", "no coordinate reference system"),
    "D30 plan": ("failed", "is not swir2"),
}
"""What a model planned wrongly, how it ends, and the words with which it does."""


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Forbid every connection, of Python and of QGIS."""
    asked: list[str] = []

    def refuse(_: Any, address: Any) -> None:
        asked.append(str(address))
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    manager = QgsNetworkAccessManager.instance()
    link = manager.requestAboutToBeCreated.connect(
        lambda parameters: asked.append(parameters.request().url().toString())
    )
    yield
    manager.requestAboutToBeCreated.disconnect(link)
    assert asked == []


def played(graph: Graph, name: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the record of a run in a fresh project, and the content of each layer it made."""
    folder.mkdir()
    with project_of(tasks()[name[:3]]) as project:
        there = set(project.mapLayers())
        record = replay(graph, project, Settings(), {}, str(folder), lambda event: None)
        made = {
            one.name(): content(one) for key, one in project.mapLayers().items() if key not in there
        }
    return record, made


@pytest.mark.parametrize("name", names(("D02 gold", "D11 gold", "D21 gold", "D22 plan")))
def test_a_workflow_gives_the_same_twice_without_any_server(name: str, tmp_path: Path) -> None:
    kept = dumps(graphs()[name])
    first, layers = played(loads(kept, name).graph, name, tmp_path / "first")
    second, again = played(loads(kept, name).graph, name, tmp_path / "second")
    status, words = FAILING.get(name, ("ok", ""))
    assert first["status"] == status, first["reason"]
    assert words in first["reason"]
    for key in ("status", "answer", "value", "unit", "reason"):
        assert first[key] == second[key]
    assert first["tokens"]["prompt"] == first["tokens"]["generated"] == 0
    assert [Path(one).name for one in first["files"]] == [Path(one).name for one in second["files"]]
    calls = [[(one["tool"], one["ok"]) for one in record["calls"]] for record in (first, second)]
    assert sorted(calls[0]) == sorted(calls[1])
    assert list(layers) == list(again)
    assert {key: difference(one, again[key]) for key, one in layers.items()} == dict.fromkeys(
        layers, ""
    )


def test_temporary_folders_do_not_grow_deeper_from_run_to_run(tmp_path: Path) -> None:
    depths = []
    for number in range(3):
        record, _ = played(graphs()["D22 plan"], "D22 plan", tmp_path / str(number))
        assert record["status"] == "ok"
        folder = temporary_folder()
        depths.append(len(folder.parts))
    assert len(set(depths)) == 1
