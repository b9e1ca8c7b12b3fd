# SPDX-License-Identifier: GPL-2.0-or-later
"""Typed vector tools beside plain processing.run on 100,000 points; in both the result is added to
the project and taken out again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from algorithm_ratio import points
from qgis.core import QgsProject, QgsVectorLayer

from geo_olm.tools.catalog import build_registry
from geo_olm.tools.toolbox import ProjectToolbox

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
AIM = 1.05
_SEGMENTS = 8


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
            yield [_buffer(toolbox, project, layer)]
        finally:
            toolbox.close()
            project.clear()


def _buffer(toolbox: ProjectToolbox, project: QgsProject, layer: QgsVectorLayer) -> Pair:
    import processing

    def ours() -> None:
        arguments = {"layer": "points", "distance": 5, "segments": _SEGMENTS}
        made = toolbox.run("buffer", arguments, lambda share: None, lambda: False)
        project.removeMapLayer(made.layers[0].id)

    def theirs() -> None:
        parameters = {
            "INPUT": layer,
            "DISTANCE": 5,
            "SEGMENTS": _SEGMENTS,
            "OUTPUT": "TEMPORARY_OUTPUT",
        }
        made = processing.run("native:buffer", parameters)["OUTPUT"]
        project.addMapLayer(made)
        project.removeMapLayer(made.id())

    return f"buffer of {layer.featureCount():,} points", ours, theirs
