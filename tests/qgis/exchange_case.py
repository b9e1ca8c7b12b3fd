# SPDX-License-Identifier: GPL-2.0-or-later
"""Workflows of the shared questions, what their steps give when run, and that as plain data.

The graphs in tests/data/graphs were planned by a model of 1.5 billion parameters, right or wrong;
the others are the reference chains of resources/evaluation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from osgeo import gdal
from qgis.core import (
    NULL,
    QgsFeature,
    QgsMapLayer,
    QgsProject,
    QgsRasterLayer,
    QgsVectorLayer,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QDate, QDateTime, Qt, QTime

from geo_olm.plugin.assembly import make_toolbox
from geo_olm.plugin.evaluation.chain import Chain, filled
from geo_olm.plugin.evaluation.source import open_project, resolved
from geo_olm.plugin.evaluation.task import Task, read_tasks
from geo_olm.plugin.flow_means import Nobody
from geo_olm.plugin.replay import agents, run_graph
from geo_olm.plugin.runner import MainThread, RunTask, wait
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.cache import Cache
from geo_olm.plugin.workflow.file import loads
from geo_olm.plugin.workflow.graph import Graph
from geo_olm.plugin.workflow.tracing import Traced, Tracer
from geo_olm.tools.catalog import build_registry

SHARED = Path(__file__).resolve().parents[3] / "shared"
DATA = SHARED / "data"
GRAPHS = Path(__file__).resolve().parents[1] / "data" / "graphs"


def tasks() -> dict[str, Task]:
    """Return the shared questions by their ids."""
    return {one.id: one for one in read_tasks(SHARED / "tasks" / "gis_dev.json").tasks}


def graphs() -> dict[str, Graph]:
    """Return all workflows: "D01 plan" as a model planned it, "D01 gold" of the reference."""
    found = {}
    for key, task in tasks().items():
        planned = GRAPHS / f"{key}.geoflow.json"
        if planned.is_file():
            found[f"{key} plan"] = loads(planned.read_bytes(), planned.name).graph
        for chain in task.chains[:1]:
            graph = of_chain(task, chain)
            if graph.vertices:
                found[f"{key} gold"] = graph
    return found


def of_chain(task: Task, chain: Chain) -> Graph:
    """Return a reference chain as a graph."""
    tools = {one.name: one for one in build_registry().definitions()}
    ids = {one.name: f"r{number}" for number, one in enumerate(chain.steps, 1) if one.name}
    layers = [one.name for one in task.layers]
    calls = [
        Traced(one.tool, filled(one.arguments, chain.names, ids), (ids.get(one.name, ""),))
        for one in chain.work
    ]
    ending = filled(chain.steps[-1].arguments, chain.names, ids)
    return Tracer(tools, agents(), layers).graph(task.question, calls, ending)


def names(short: Collection[str]) -> list[Any]:
    """Return the names of all workflows as parameters; those not in `short` are long."""
    found = sorted(graphs()) if DATA.is_dir() else []
    return [one if one in short else pytest.param(one, marks=pytest.mark.long) for one in found]


def sources(task: Task) -> dict[str, str]:
    """Return the sources of a question's layers by their names."""
    return {one.name: resolved(one.source, DATA)[0] for one in task.layers}


@dataclass(frozen=True)
class Given:
    """What a run gave: the numbers of each step, and the content of its layer."""

    answer: str = ""
    value: float | None = None
    error: str = ""
    numbers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    layers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@contextmanager
def project_of(task: Task) -> Iterator[QgsProject]:
    """Open a question's layers in a fresh project."""
    project = open_project(task, DATA)
    try:
        yield project
    finally:
        project.clear()


def run(graph: Graph, task: Task, folder: Path) -> Given:
    """Run a graph in a fresh project and return what it gave."""
    with project_of(task) as project:
        toolbox = make_toolbox(project, Settings(output_folder=str(folder)), MainThread())
        toolbox.begin_turn(graph.question)
        events: list[Any] = []
        outcomes: list[Any] = []
        ran = RunTask(
            "run",
            lambda emit, stopped: outcomes.append(
                run_graph(graph, toolbox, Cache(toolbox), Nobody(), emit, stopped)
            ),
        )
        ran.told.connect(events.append)
        try:
            wait(ran, lambda: False)
            end = events[-1]
            results = outcomes[0].results
            layers = {
                key: content(project.mapLayer(one.layers[0].id))
                for key, one in results.items()
                if one.layers and project.mapLayer(one.layers[0].id) is not None
            }
            numbers = {key: dict(one.numbers) for key, one in results.items()}
            layers.update(_spoken(results, layers, project, toolbox))
        finally:
            toolbox.close()
    return Given(end.answer, end.value, end.reason, numbers, layers)


def _spoken(
    results: Mapping[str, Any], known: Mapping[str, Any], project: QgsProject, toolbox: Any
) -> dict[str, Any]:
    """Return the features that rankings speak of."""
    found = {}
    for key, one in results.items():
        if one.speaks and key not in known and "value" in one.numbers:
            made = toolbox.run("layer_info", {"layer": one.id}, lambda done: None, lambda: False)
            found[key] = content(project.mapLayer(made.extracted[0].id))
    return found


def content(layer: QgsMapLayer) -> dict[str, Any]:
    """Return what a layer holds as plain data; a row number that a file adds is left out."""
    if isinstance(layer, QgsRasterLayer):
        return _raster(layer)
    assert isinstance(layer, QgsVectorLayer)
    assert layer.isValid()
    kept = [at for at, one in enumerate(layer.fields()) if one.name().lower() != "fid"]
    rows = [
        (_shape(one, layer), *(_plain(one.attribute(at)) for at in kept))
        for one in layer.getFeatures()
    ]
    return {
        "crs": _place(layer),
        "fields": [layer.fields()[at].name() for at in kept],
        "rows": rows,
    }


def _raster(layer: QgsRasterLayer) -> dict[str, Any]:
    opened = gdal.Open(layer.source())
    bands = [opened.GetRasterBand(number + 1) for number in range(opened.RasterCount)]
    return {
        "crs": _place(layer),
        "size": (opened.RasterXSize, opened.RasterYSize),
        "place": opened.GetGeoTransform(),
        "kinds": [one.DataType for one in bands],
        "empty": [str(one.GetNoDataValue()) for one in bands],
        "cells": hashlib.sha256(opened.ReadAsArray().tobytes()).hexdigest(),
    }


def _shape(feature: QgsFeature, layer: QgsVectorLayer) -> str | None:
    """Return a geometry as WKB, of many parts in a layer of such: files write it so."""
    if not feature.hasGeometry():
        return None
    geometry = feature.geometry()
    if QgsWkbTypes.isMultiType(layer.wkbType()):
        geometry.convertToMultiType()
    return bytes(geometry.asWkb()).hex()


def _place(layer: QgsMapLayer) -> str:
    """Return a CRS as PROJ writes it; a GeoPackage knows a nameless WGS 84 by its ellipsoid."""
    text = layer.crs().toProj().replace("+ellps=WGS84", "+datum=WGS84")
    return text.replace(" +type=crs", "")


def _plain(value: Any) -> Any:
    if value is None or value == NULL:
        return None
    if isinstance(value, (QDate, QDateTime, QTime)):
        return value.toString(Qt.DateFormat.ISODateWithMs)
    return value


def difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return in what the contents of two layers differ, "" for nothing.

    The last digit of an attribute may differ: layers in memory round to the field's precision.
    """
    if set(one) != set(other):
        return "another kind of layer"
    for key, value in one.items():
        if key != "rows" and value != other[key]:
            return f"{key} {value} and {other[key]}"
    rows, others = one.get("rows", []), other.get("rows", [])
    if len(rows) != len(others):
        return f"{len(rows)} and {len(others)} features"
    for number, (row, seen) in enumerate(zip(rows, others)):
        for name, value, now in zip(["geometry", *one["fields"]], row, seen):
            if value != now and value != pytest.approx(now, rel=1e-14):
                return f"row {number}: {name} {value!r:.80} and {now!r:.80}"
    return ""
