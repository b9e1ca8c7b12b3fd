# SPDX-License-Identifier: GPL-2.0-or-later
"""Workflows: two branches at the same time against one after the other, the engine beside plain
Processing, and a run after one edit beside a whole one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qgis.core import QgsFeature, QgsGeometry, QgsPointXY, QgsProject, QgsVectorLayer

from geo_olm.plugin.agent.event import RunFinished, Status
from geo_olm.plugin.flow_means import Ways
from geo_olm.plugin.flow_runner import GraphRun
from geo_olm.plugin.replay import agents
from geo_olm.plugin.runner import MainThread, RunTask, wait
from geo_olm.plugin.workflow.cache import Cache
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.catalog import build_registry
from geo_olm.tools.toolbox import ProjectToolbox

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
_COUNT = 20_000


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give the three comparisons over points of one layer. Main thread."""
    import processing

    with tempfile.TemporaryDirectory() as folder:
        project = QgsProject.instance()  # it outlives what its tasks still hold
        points = project.addMapLayer(_points())
        toolbox = ProjectToolbox(project, build_registry(), MainThread().call, Path(folder))
        work = _Work(toolbox)
        edited = iter(range(1_000_000))
        try:
            yield [
                (
                    "two branches at the same time beside one after the other",
                    lambda: work.run(_branches(), lanes=2),
                    lambda: work.run(_branches(), lanes=1),
                ),
                (
                    f"buffer of {_COUNT:,} points in a graph beside processing.run",
                    lambda: work.run(Graph("", (_buffer("v1", Layer("points"), 5),))),
                    lambda: processing.run(
                        "native:buffer",
                        {"INPUT": points, "DISTANCE": 5, "OUTPUT": "TEMPORARY_OUTPUT"},
                    ),
                ),
                (
                    "five steps after the last was edited beside all five",
                    lambda: work.run(_chain(next(edited)), fresh=False),
                    lambda: work.run(_chain(-1)),
                ),
            ]
        finally:
            work.end()
            toolbox.close()
            project.clear()


class _Work:
    """Runs graphs and takes back what they made."""

    def __init__(self, toolbox: ProjectToolbox) -> None:
        self._toolbox = toolbox
        self._cache = Cache(toolbox)

    def end(self) -> None:
        """Take back all that was made."""
        self._cache.clear()
        while self._toolbox.undo_turn():
            pass

    def run(self, graph: Graph, lanes: int = 2, fresh: bool = True) -> None:
        """Run a graph; `fresh` forgets what earlier runs kept. Raises RuntimeError."""
        if fresh:
            self.end()
        self._toolbox.begin_turn("bench")
        ends: list[RunFinished] = []

        def note(event: Any) -> None:
            ends.extend([event] if isinstance(event, RunFinished) else [])

        engine = GraphRun(self._toolbox, self._cache, agents(), str, ways=Ways(lanes=lanes))
        task = RunTask("bench", lambda emit, stopped: engine.run(graph, emit, stopped))
        task.told.connect(note)
        wait(task, lambda: False)
        if ends[-1].status is not Status.OK:
            raise RuntimeError(ends[-1].reason)


def _branches() -> Graph:
    return Graph("", tuple(_buffer(f"v{n}", Layer("points"), n + 5) for n in range(2)))


def _chain(edit: int) -> Graph:
    """Return five steps of which only the last depends on `edit`."""
    steps = [_buffer("v0", Layer("points"), 3)]
    steps += [_buffer(f"v{n}", Output(f"v{n - 1}"), n) for n in range(1, 4)]
    where = f'"n" > {edit % 100}'
    last = Vertex("v4", "table", tool="count", parameters={"layer": Output("v3"), "where": where})
    return Graph("", (*steps, last))


def _buffer(identity: str, layer: Any, distance: float) -> Vertex:
    parameters = {"INPUT": layer, "DISTANCE": distance}
    return Vertex(
        identity,
        "vector",
        tool="run_algorithm",
        parameters={"algorithm": "native:buffer", "parameters": parameters},
    )


def _points() -> QgsVectorLayer:
    found = QgsVectorLayer("Point?crs=EPSG:32632&field=n:integer", "points", "memory")
    features = []
    for n in range(_COUNT):
        feature = QgsFeature(found.fields())
        point = QgsPointXY(500_000 + 20 * (n % 200), 5_000_000 + 20 * (n // 200))
        feature.setGeometry(QgsGeometry.fromPointXY(point))
        feature.setAttributes([n])
        features.append(feature)
    found.dataProvider().addFeatures(features)
    return found
