# SPDX-License-Identifier: GPL-2.0-or-later
"""One job in a headless QGIS: its layers opened and cut, the workflow run, what it made kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from qgis.core import QgsMapLayer, QgsProcessingContext, QgsProject, QgsRasterLayer

from ...tools.base import ToolCancelled, ToolError, ToolResult
from ...tools.keeping import Kept
from ..question_algorithm import own_project
from ..replay import replay
from ..settings import Settings
from ..source import opened
from ..workflow.event import StepChanged
from ..workflow.graph import Graph
from ..workplace import ToolPlace
from .cutting import EmptyTile, cut
from .job import BatchError, layer_names
from .worker import RECORD

_RESULTS = "results.gpkg"
Ended = dict[str, Any]


class Replaying:
    """Runs a workflow for one job after another. Main thread of a child."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self._graph, self._settings = graph, settings
        used = {parent for parent, _child in graph.edges()}
        self._ends = [one.id for one in graph.vertices if one.id not in used]

    def run(self, job: Mapping[str, Any], folder: Path) -> Ended:
        """Run a job into a folder that is there and empty, its record beside what it made."""
        variables = dict(job["variables"])
        try:
            layers = self._layers(variables)
        except EmptyTile as error:
            return _kept(folder, job, {"status": "rejected", "reason": str(error)})
        except (BatchError, ToolError) as error:
            return {"status": "failed", "reason": str(error)}
        project = own_project(layers, None)
        try:
            return self._replayed(job, {**variables, **_called(layers)}, project, folder)
        finally:
            project.clear()

    def _layers(self, variables: Mapping[str, Any]) -> list[QgsMapLayer]:
        """Return the layers that the variables name, called after the variables."""
        found = []
        for name in layer_names(self._graph):
            if name in variables:
                given = variables[name]
                source = given["source"] if isinstance(given, Mapping) else str(given)
                layer = _one(source)
                if isinstance(given, Mapping):
                    layer = cut(layer, given)
                layer.setName(name)
                found.append(layer)
        return found

    def _replayed(
        self, job: Mapping[str, Any], values: Mapping[str, Any], project: QgsProject, folder: Path
    ) -> Ended:
        results: dict[str, ToolResult] = {}

        def note(event: Any) -> None:
            if isinstance(event, StepChanged) and event.status.is_done and event.result is not None:
                results[event.step] = event.result

        files = folder / "files"
        record = replay(self._graph, project, self._settings, values, str(files), note)
        ended: Ended = {"status": record["status"], "reason": record["reason"]}
        if record["status"] not in ("ok", "rejected"):
            return ended
        ends = {key: results[key] for key in self._ends if key in results}
        try:
            kept = _keep(ends, project, folder)
        except (ToolError, ToolCancelled) as error:
            return {"status": "failed", "reason": f"The results could not be kept: {error}"}
        _shorten(record, folder)
        numbers = {key: dict(one.numbers) for key, one in ends.items() if one.numbers}
        texts = {key: dict(one.texts) for key, one in ends.items() if one.texts}
        made = {"layers": kept, "numbers": numbers, "texts": texts, "record": record}
        return _kept(folder, job, ended, made)


def _called(layers: list[QgsMapLayer]) -> dict[str, str]:
    return {one.name(): one.name() for one in layers}


def _one(source: str) -> QgsMapLayer:
    """Open the one layer of a source. Raises BatchError, ToolError."""
    context = QgsProcessingContext()
    found = [one.clone() for one in opened(source, context)]
    if not found:
        raise BatchError(f"{source} cannot be opened. Check the path.")
    if len(found) > 1:
        listed = ", ".join(one.name() for one in found)
        raise BatchError(f"{source} holds several layers ({listed}): add |layername= and one.")
    return found[0]


def _keep(
    results: Mapping[str, ToolResult], project: QgsProject, folder: Path
) -> list[dict[str, Any]]:
    """Write the layers of the last steps into the folder. Raises ToolError, ToolCancelled."""
    place = ToolPlace()
    owners = {layer.id: step for step, one in results.items() for layer in one.layers}
    owners = {key: step for key, step in owners.items() if project.mapLayer(key) is not None}
    if not owners:
        return []
    toolbox = place.toolbox(project)

    def work(stopped: Callable[[], bool]) -> Kept:
        target, ids = folder / _RESULTS, list(owners)
        return toolbox.keep(target, ids, lambda _percent: None, stopped)

    try:
        kept: Kept = place.run(work, lambda: False)
    finally:
        toolbox.close()
    if kept.faults:
        raise ToolError(" ".join(kept.faults))
    found = []
    for identity, step in owners.items():
        layer = project.mapLayer(identity)
        kind = "raster" if isinstance(layer, QgsRasterLayer) else "vector"
        path, _bar, rest = layer.source().partition("|layername=")
        found.append(
            {
                "step": step,
                "kind": kind,
                "file": Path(path).relative_to(folder).as_posix(),
                "table": rest.partition("|")[0],
            }
        )
    return found


def _shorten(record: dict[str, Any], folder: Path) -> None:
    """Let the record name the files in the job's folder from there on: the folder moves."""
    start = str(folder)

    def short(text: str) -> str:
        return text.replace(f"{start}/", "").replace(f"{start}\\", "")

    record["files"] = [short(one) for one in record["files"]]
    for layer in record["layers"]:
        layer["source"] = short(layer["source"])


def _kept(
    folder: Path, job: Mapping[str, Any], ended: Ended, made: Mapping[str, Any] | None = None
) -> Ended:
    """Write a job's record into its folder and return how it ended."""
    told = {"id": job["id"], "key": job["key"], "variables": job["variables"], **ended}
    text = json.dumps({**told, **(made or {})}, ensure_ascii=False, indent=1)
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")
    return ended
