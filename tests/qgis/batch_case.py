# SPDX-License-Identifier: GPL-2.0-or-later
"""A workflow, inputs and a listener for tests of batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from qgis.core import QgsCoordinateTransformContext, QgsVectorFileWriter, QgsVectorLayer
from toolbox_case import layer

from geo_olm.plugin.batch.job import Job
from geo_olm.plugin.batch.work import Batch, plan_of
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.graph import Answer, Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.value import Asked, Output

NEAR = Graph(
    "How many towns are there, and what lies near them?",
    (
        Vertex("near", "vector", tool="buffer",
               parameters={"layer": Asked("towns"), "distance": Asked("distance")}),
        Vertex("sum", "table", tool="statistics",
               parameters={"layer": Asked("towns"), "field": "people", "statistic": "sum"}),
    ),
    variables=(Variable("towns", Type.LAYER), Variable("distance", Type.NUMBER, default=50)),
    answer=Answer("{sum.sum} people", Output("sum", "sum")),
)  # fmt: skip
"""Two steps that nothing follows: areas round the towns, and their people."""


def towns(path: Path, count: int = 10, crs: str = "EPSG:32632") -> Path:
    """Write points 100 m apart, t0 with 0 people, t1 with 10 and so on."""
    rows = [(f"POINT({x * 100} 0)", f"t{x}", x * 10) for x in range(count)]
    write(layer("towns", "Point", "name:string people:integer", rows, crs), path)
    return path


def write(found: QgsVectorLayer, path: Path) -> None:
    options = QgsVectorFileWriter.SaveVectorOptions()
    done = QgsVectorFileWriter.writeAsVectorFormatV3(
        found, str(path), QgsCoordinateTransformContext(), options
    )
    assert done[0] == QgsVectorFileWriter.WriterError.NoError, done


class Listener:
    """Keeps the lines; `after` is called with each, and may ask to stop by returning true."""

    def __init__(self, after: Callable[[str], bool | None] = lambda _line: None) -> None:
        self.lines: list[str] = []
        self.percent = 0.0
        self.stopped_at = 0.0
        self._after = after

    def isCanceled(self) -> bool:
        return self.stopped_at > 0

    def setProgress(self, percent: float) -> None:
        assert percent >= self.percent
        self.percent = percent

    def pushInfo(self, text: str) -> None:
        self.lines.append(text)
        if self._after(text):
            self.stopped_at = self.stopped_at or time.monotonic()

    def pushWarning(self, text: str) -> None:
        self.pushInfo(text)


def run(
    folder: Path, jobs: list[Job], graph: Graph = NEAR, workers: int = 1, **named: Any
) -> dict[str, Any]:
    """Run a batch on a cluster of this machine, without a process left behind."""
    pytest.importorskip("distributed", reason="Dask is not in the venv")
    listener = named.pop("listener", None) or Listener()
    plan = named.pop("plan", None) or plan_of(workers, "")
    return Batch(graph, Settings(), plan, folder, listener, **named).run(jobs)


def own_processes() -> list[int]:
    """Return the ids of this process's children and theirs."""
    import psutil

    return [one.pid for one in psutil.Process().children(recursive=True)]
