# SPDX-License-Identifier: GPL-2.0-or-later
"""The typed tools run as algorithms of Processing give what the tools give."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from every_call import CALLS, bench
from qgis.core import (
    QgsApplication,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingUtils,
    QgsProject,
)
from toolbox_case import Bench

from geo_olm.plugin.exchange.catalog import is_offered, tool_algorithms
from geo_olm.plugin.exchange.tool_algorithm import ToolAlgorithm
from geo_olm.plugin.place import RESOURCES
from geo_olm.plugin.replay import agents
from geo_olm.plugin.workflow import shape
from geo_olm.plugin.workplace import ToolPlace
from geo_olm.tools.catalog import build_registry

pytestmark = pytest.mark.usefixtures("qgis_processing")
SHAPES = RESOURCES / "workflows" / "shapes.json"


def made() -> dict[str, ToolAlgorithm]:
    found = tool_algorithms(build_registry(), agents(), shape.load(SHAPES), ToolPlace())
    return {one.definition.name: one for one in found}


@pytest.fixture
def stage(tmp_path: Path) -> Bench:
    return bench(tmp_path)


def test_each_tool_that_needs_no_chat_is_an_algorithm() -> None:
    names = {one.name for one in build_registry().definitions()}
    assert set(made()) == {name for name in names if is_offered(name)}
    for name, one in made().items():
        created = one.create()
        assert created.name() == f"tool_{name}"
        assert created.displayName()
        assert created.group().endswith("tools")
        assert [x.name() for x in created.parameterDefinitions() if not x.isDestination()] == list(
            one.definition.parameters["properties"]
        )


def compared(stage: Bench, tools: Iterable[str]) -> dict[str, str]:
    """Return what differs between a tool's own call and its algorithm."""
    algorithms, wrong = made(), {}
    for tool in tools:
        arguments = {**CALLS[tool]}
        if tool == "clean":
            arguments["task"] = "remove duplicate rows"
        result, error, _ = stage.work(tool, arguments)
        assert error is None, (tool, error)
        assert result is not None
        context = QgsProcessingContext()
        context.setEllipsoid("EPSG:7030")
        values = _values(arguments, stage.project)
        found, done = algorithms[tool].create().run(values, context, QgsProcessingFeedback())
        numbers = {key: found.get(key) for key in result.numbers}
        if not done:
            wrong[tool] = "it did not run"
        elif numbers != pytest.approx(result.numbers, nan_ok=True):
            wrong[tool] = f"numbers {numbers} for {result.numbers}"
        elif result.layers and "OUTPUT" not in found:
            wrong[tool] = "no layer"
        elif result.layers:
            layer = QgsProcessingUtils.mapLayerFromString(found["OUTPUT"], context)
            real = stage.project.mapLayer(result.layers[0].id)
            if real.crs().isValid() and layer.crs() != real.crs():
                wrong[tool] = f"{layer.crs().authid()} for {real.crs().authid()}"
            if result.layers[0].features not in (-1, getattr(layer, "featureCount", int)()):
                wrong[tool] = "other features"
    return wrong


def test_a_tool_gives_as_an_algorithm_what_it_gives_in_a_chat(stage: Bench) -> None:
    assert compared(stage, ("count", "filter", "buffer", "terrain", "raster_calculate")) == {}


@pytest.mark.long
def test_every_tool_gives_as_an_algorithm_what_it_gives_in_a_chat(
    stage: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEO_OLM_SET_ALLOWED_FOLDERS", str(tmp_path / "out"))
    assert compared(stage, [tool for tool in CALLS if is_offered(tool)]) == {}


def _values(arguments: dict[str, Any], project: QgsProject) -> dict[str, Any]:
    """Return the arguments as a user gives them: layers themselves, lists and objects as JSON."""
    layers = {one.name(): one for one in project.mapLayers().values()}
    found: dict[str, Any] = {"OUTPUT": "TEMPORARY_OUTPUT"}
    for key, value in arguments.items():
        if isinstance(value, str) and value in layers:
            found[key] = layers[value]
        elif isinstance(value, list) and set(map(str, value)) <= set(layers):
            found[key] = [layers[one] for one in value]
        else:
            found[key] = json.dumps(value) if isinstance(value, (dict, list)) else value
    return found


def test_a_wrong_value_is_refused_in_the_tool_s_own_words(stage: Bench) -> None:
    said: list[str] = []

    class Heard(QgsProcessingFeedback):
        def reportError(self, error: str, fatalError: bool = False) -> None:
            said.append(error)

    towns = stage.project.mapLayersByName("points")[0]
    _, done = (
        made()["buffer"]
        .create()
        .run(
            {"layer": towns, "distance": "far", "OUTPUT": "TEMPORARY_OUTPUT"},
            QgsProcessingContext(),
            Heard(),
        )
    )
    assert not done
    assert QgsApplication.instance() is not None
    assert any('distance cannot be "far"' in one for one in said)
