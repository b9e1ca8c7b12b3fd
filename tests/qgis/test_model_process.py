# SPDX-License-Identifier: GPL-2.0-or-later
"""Exported models run by qgis_process give the layers and numbers that the workflows give here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from exchange_case import Given, content, difference, graphs, names, run, sources, tasks
from qgis.core import QgsApplication, QgsRasterLayer, QgsVectorLayer

from geo_olm.plugin.evaluation.task import Task
from geo_olm.plugin.exchange.catalog import is_offered
from geo_olm.plugin.exchange.loss import Lost
from geo_olm.plugin.exchange.model_out import to_model
from geo_olm.plugin.provider import GeoOlmProvider
from geo_olm.plugin.workflow.graph import Graph

pytestmark = [pytest.mark.shared, pytest.mark.usefixtures("qgis_processing", "provider")]
UNHELD = frozenset({"layer_info", "style_graduated", "export_map", "save_layer"})
"""Tools about the project, the map and files, for which a model has no algorithm."""


@pytest.fixture(scope="module")
def provider() -> Iterator[None]:
    """Let QGIS know our own algorithms."""
    registry = QgsApplication.processingRegistry()
    found = GeoOlmProvider()
    registry.addProvider(found)
    yield
    registry.removeProvider(found)


def exported(
    graph: Graph, task: Task, folder: Path
) -> tuple[Path, dict[str, str], tuple[Lost, ...]]:
    """Write a graph's model; return its file, its inputs and what it cannot hold."""
    model, lost = to_model(graph, is_offered)
    path = folder / "graph.model3"
    assert model.toFile(str(path))
    inputs, given = {}, sources(task)
    for one in model.parameterDefinitions():
        if one.isDestination():
            end = {"rasterDestination": "tif"}.get(one.type(), "gpkg")
            inputs[one.name()] = str(folder / f"{one.name().partition(':')[0]}.{end}")
        else:
            inputs[one.name()] = given[one.description()]
    return path, inputs, lost


def processed(path: Path, inputs: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a model or a script in a process of its own."""
    environ = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QGIS_CUSTOM_CONFIG_PATH": os.environ["QGIS_PROFILES_PATH"],
    }
    return subprocess.run(
        ["qgis_process", "run", str(path), "-"],
        input=json.dumps({"inputs": inputs, "ellipsoid": "EPSG:7030"}),
        capture_output=True, text=True, env=environ, timeout=110, check=False,
    )  # fmt: skip


def layer_of(path: str) -> Any:
    return (QgsRasterLayer if path.endswith(".tif") else QgsVectorLayer)(path, "result")


def differences(here: Given, results: dict[str, str]) -> list[str]:
    """Return in what the results of a model differ from those of its graph."""
    found = []
    for key, path in results.items():
        step, given = key.partition(":")[0], content(layer_of(path))
        if step == "answer":
            told = given["rows"][0][1]
            found += [] if told == here.value else [f"the answer: {here.value} and {told}"]
        elif step in here.layers:
            one = difference(here.layers[step], given)
            found += [f"{step}: {one}"] if one else []
        else:
            row = dict(zip(given["fields"], given["rows"][0][1:]))
            numbers = here.numbers[step]
            if {name: row.get(name) for name in numbers} != numbers:
                found.append(f"{step}: {numbers} and {row}")
    return found


@pytest.mark.parametrize("name", names(("D10 plan", "D21 gold")))
def test_a_model_gives_in_qgis_process_what_its_graph_gives(name: str, tmp_path: Path) -> None:
    graph, task = graphs()[name], tasks()[name[:3]]
    here = run(graph, task, tmp_path)
    path, inputs, lost = exported(graph, task, tmp_path)
    assert here.error or {one.vertex for one in lost} == {
        one.id for one in graph.vertices if one.tool in UNHELD
    }
    if len(lost) == len(graph.vertices):
        return
    done = processed(path, inputs)
    if here.error:
        said = here.error.rpartition("): ")[2][:60]
        assert done.returncode != 0, here.error
        assert said in done.stderr + done.stdout
        return
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(done.stdout)["results"]
    assert results
    assert differences(here, results) == []
