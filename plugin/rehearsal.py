# SPDX-License-Identifier: GPL-2.0-or-later
"""A workflow tried on small samples of its layers, so that a wrong parameter shows in a second."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qgis.core import QgsProject

from ..tools.catalog import build_registry
from ..tools.sample import samples
from ..tools.toolbox import ProjectToolbox
from .flow_runner import GraphRun
from .number import in_locale
from .place import detector_folder, temporary_folder
from .replay import agents
from .runner import MainThread
from .workflow.cache import Cache
from .workflow.event import StepChanged
from .workflow.finding import Finding, Severity
from .workflow.graph import Graph, Status
from .workflow.value import Layer

_SKIPPED = "A model or the user is asked there, so the rehearsal ends before it."
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class RehearsedStep:
    """How a step did on the samples: its features (-1 where it made no layer) and seconds."""

    step: str
    status: Status
    text: str
    features: int
    seconds: float


@dataclass(frozen=True)
class Rehearsal:
    """What a rehearsal showed: its steps, and the findings of those that failed or made nothing."""

    steps: tuple[RehearsedStep, ...]
    findings: tuple[Finding, ...]


def rehearse(
    graph: Graph, project: QgsProject, main: MainThread, cancelled: Cancelled
) -> Rehearsal:
    """Run a graph whose variables are filled on samples of its layers. On a worker thread.

    It works in a project and a folder of its own, which go afterwards: the user's layers and
    files stay as they are.
    """
    folder = Path(tempfile.mkdtemp(dir=temporary_folder()))
    scratch = main.call(lambda: _scratch(graph, project, folder))
    (folder / "files").mkdir()
    toolbox = ProjectToolbox(
        scratch, build_registry(), main.call, folder, folder / "files", None, (folder,),
        (folder / "detectors", detector_folder()),
    )  # fmt: skip
    changes: list[StepChanged] = []

    def note(event: Any) -> None:
        if isinstance(event, StepChanged):
            changes.append(event)

    try:
        toolbox.begin_turn(graph.question)
        GraphRun(toolbox, Cache(toolbox), agents(), in_locale).run(graph, note, cancelled)
    finally:
        toolbox.close()
        main.call(scratch.clear)
        shutil.rmtree(folder, ignore_errors=True)
    return Rehearsal(tuple(_steps(changes)), tuple(_findings(graph, changes)))


def _scratch(graph: Graph, project: QgsProject, folder: Path) -> QgsProject:
    """Return a project with samples of the layers that a graph uses. Main thread only."""
    found = QgsProject()
    found.setCrs(project.crs())
    found.setEllipsoid(project.ellipsoid())
    found.setTransformContext(project.transformContext())
    names = list(dict.fromkeys(name for one in graph.vertices for name in one.layers()))
    for layer in samples(project, names, _wanted(graph), folder):
        found.addMapLayer(layer)
    return found


def _wanted(graph: Graph) -> dict[str, Sequence[str]]:
    """Return the expressions by which steps filter the project's own layers."""
    found: dict[str, list[str]] = {}
    for vertex in graph.vertices:
        parameters = dict(vertex.parameters or {})
        layer, where = parameters.get("layer"), parameters.get("where")
        if isinstance(layer, Layer) and isinstance(where, str) and where.strip():
            found.setdefault(layer.name, []).append(where)
    return dict(found)


def _steps(changes: Sequence[StepChanged]) -> list[RehearsedStep]:
    last = {one.step: one for one in changes}
    return [
        RehearsedStep(key, one.status, one.text, _made(one), one.seconds)
        for key, one in last.items()
    ]


def _findings(graph: Graph, changes: Sequence[StepChanged]) -> list[Finding]:
    found = []
    for one in changes:
        if one.status is Status.FAILED and graph.vertex(one.step).is_abstract:
            found.append(Finding("rehearsal", Severity.NOTE, _SKIPPED, one.step))
        elif one.status is Status.FAILED:
            found.append(Finding("rehearsal", Severity.ERROR, one.text, one.step))
        elif one.status.is_done and _made(one) == 0:
            text = f"{one.step} makes no features from the samples. Check its conditions."
            found.append(Finding("rehearsal empty", Severity.WARNING, text, one.step))
    return found


def _made(change: StepChanged) -> int:
    layers = change.result.layers if change.result is not None else ()
    return layers[0].features if layers else -1
