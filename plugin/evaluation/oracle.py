# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools of a run: those of a user's project, where it holds labels of a benchmark the detectors
that read them, and those of the earthquake study."""

from __future__ import annotations

import json

from qgis.core import QgsProject

from ...tools.catalog import build_registry
from ...tools.detection_oracle import Known, OracleClassifier, OracleDetector
from ...tools.registry import Tool
from ...tools.study_catalog import study_tools
from ...tools.toolbox import ProjectToolbox
from ..assembly import make_toolbox
from ..place import RESOURCES
from ..runner import MainThread
from ..settings import Settings

_TABLE = RESOURCES / "evaluation" / "oracles.json"


def equipped(project: QgsProject, settings: Settings, main: MainThread) -> ProjectToolbox:
    """Return the tools over a task's project. Main thread only."""
    names = {layer.name() for layer in project.mapLayers().values()}
    return make_toolbox(project, settings, main, more=(*oracles(names), *_study()))


def _study() -> tuple[Tool, ...]:
    """Return the tools of the earthquake study that not every project has."""
    known = {one.name for one in build_registry().definitions()}
    return tuple(one for one in study_tools() if one.definition.name not in known)


def oracles(layers: set[str]) -> tuple[Tool, ...]:
    """Return the detectors for those of some layers, by their names, that are labels."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    detectors, classifiers = (_known(table[key], layers) for key in ("detectors", "classifiers"))
    found: list[Tool] = []
    if detectors:
        found.append(OracleDetector(detectors))
    if classifiers:
        found.append(OracleClassifier(classifiers))
    return tuple(found)


def _known(table: Known, layers: set[str]) -> Known:
    return {name: readers for name, readers in table.items() if name in layers}
