# SPDX-License-Identifier: GPL-2.0-or-later
"""run_algorithm and the buffer tool beside plain processing.run on 100,000 points; in both the
result is added to the project and taken out again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qgis.core import QgsFeature, QgsGeometry, QgsPointXY, QgsProject, QgsVectorLayer

from geo_olm.tools.catalog import build_registry
from geo_olm.tools.toolbox import ProjectToolbox

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
AIM = 1.05
_COUNT = 100_000
_RUNS: dict[str, dict[str, Any]] = {
    "native:buffer": {"DISTANCE": 5, "SEGMENTS": 8},
    "native:extractbyexpression": {"EXPRESSION": '"n" > 50000'},
    "native:fieldcalculator": {"FIELD_NAME": "w", "FIELD_TYPE": 0, "FORMULA": '"n" * 2'},
}


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give name, ours and theirs of each comparison. Processing must be initialised. Main
    thread."""
    with tempfile.TemporaryDirectory() as folder:
        project, layer = QgsProject(), points()
        project.addMapLayer(layer)
        toolbox = ProjectToolbox(project, build_registry(), lambda work: work(), Path(folder))
        toolbox.begin_turn("bench")
        try:
            yield [
                *(_pair(name, toolbox, project, layer) for name in _RUNS),
                _buffer(toolbox, project, layer),
            ]
        finally:
            toolbox.close()
            project.clear()


def _pair(name: str, toolbox: ProjectToolbox, project: QgsProject, layer: QgsVectorLayer) -> Pair:
    arguments = {"algorithm": name, "parameters": {"INPUT": "points", **_RUNS[name]}}
    theirs = _plain(name, _RUNS[name], project, layer)
    return (
        f"{name} of {_COUNT:,} points",
        _ours("run_algorithm", arguments, toolbox, project),
        theirs,
    )


def _buffer(toolbox: ProjectToolbox, project: QgsProject, layer: QgsVectorLayer) -> Pair:
    arguments = {"layer": "points", "distance": 5, "segments": 8}
    theirs = _plain("native:buffer", _RUNS["native:buffer"], project, layer)
    return f"tool buffer of {_COUNT:,} points", _ours("buffer", arguments, toolbox, project), theirs


def _ours(
    tool: str, arguments: dict[str, Any], toolbox: ProjectToolbox, project: QgsProject
) -> Callable[[], None]:
    def run() -> None:
        made = toolbox.run(tool, arguments, lambda share: None, lambda: False)
        project.removeMapLayer(made.layers[0].id)

    return run


def _plain(
    name: str, parameters: dict[str, Any], project: QgsProject, layer: QgsVectorLayer
) -> Callable[[], None]:
    import processing

    def run() -> None:
        given = {"INPUT": layer, **parameters, "OUTPUT": "TEMPORARY_OUTPUT"}
        made = processing.run(name, given)["OUTPUT"]
        project.addMapLayer(made)
        project.removeMapLayer(made.id())

    return run


def points() -> QgsVectorLayer:
    """Return 100,000 points, ten metres apart."""
    layer = QgsVectorLayer("Point?crs=EPSG:32632&field=n:integer", "points", "memory")
    fields, made = layer.fields(), []
    for at in range(_COUNT):
        feature = QgsFeature(fields)
        feature.setAttributes([at])
        place = QgsPointXY(500_000 + at % 1000 * 10, 5_000_000 + at // 1000 * 10)
        feature.setGeometry(QgsGeometry.fromPointXY(place))
        made.append(feature)
    layer.dataProvider().addFeatures(made)
    layer.updateExtents()
    return layer
