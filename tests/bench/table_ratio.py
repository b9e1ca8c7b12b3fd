# SPDX-License-Identifier: GPL-2.0-or-later
"""The attribute table of a file of a million features fetched as a frame, beside pyogrio alone;
and the same of an edited layer, which takes QGIS's own export."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qgis.core import QgsProject, QgsVectorLayer

from geo_olm.tools.base import ToolDefinition, ToolResult
from geo_olm.tools.context import Context
from geo_olm.tools.frame import frame
from geo_olm.tools.registry import Registry
from geo_olm.tools.toolbox import ProjectToolbox

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
Figure = tuple[str, float, str, str]
AIM = 1.5
_COUNT = 1_000_000


class _ReadTable:
    """A tool that reads a table and keeps nothing."""

    definition = ToolDefinition("read_table", "Read a table.", {"type": "object"})

    def check(self, arguments: dict[str, Any]) -> None:
        """Check nothing."""

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read the table; a million rows or it is no measure."""
        rows = len(frame(context.vector(arguments["layer"]), context))
        if rows != _COUNT:
            raise ValueError(f"{rows} rows were read instead of {_COUNT}")
        return ToolResult("read")


@contextmanager
def _table() -> Iterator[tuple[ProjectToolbox, QgsVectorLayer, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = _file(Path(folder))
        project, layer = QgsProject(), QgsVectorLayer(path, "table", "ogr")
        project.addMapLayer(layer)
        registry = Registry([_ReadTable()])
        toolbox = ProjectToolbox(project, registry, lambda work: work(), Path(folder))
        toolbox.begin_turn("bench")
        try:
            yield toolbox, layer, path
        finally:
            toolbox.close()
            project.clear()


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give the fetch of the table and pyogrio's own. Main thread."""
    import pyogrio

    with _table() as (toolbox, _layer, path):
        yield [
            (
                f"table of {_COUNT:,} features of a GeoPackage",
                lambda: _fetch(toolbox),
                lambda: pyogrio.read_dataframe(path, read_geometry=False, use_arrow=True),
            )
        ]


def figures() -> list[Figure]:
    """Give the time of the exported way: the layer has an edit that is not saved."""
    with _table() as (toolbox, layer, _path):
        layer.startEditing()
        first = next(layer.getFeatures())
        layer.changeAttributeValue(first.id(), layer.fields().lookupField("n"), 7)
        begun = time.perf_counter()
        _fetch(toolbox)
        seconds = time.perf_counter() - begun
        layer.rollBack()
    return [(f"table of {_COUNT:,} features with an edit", seconds, "s", "by QGIS's own export")]


def _fetch(toolbox: ProjectToolbox) -> None:
    toolbox.run("read_table", {"layer": "table"}, lambda share: None, lambda: False)


def _file(folder: Path) -> str:
    import geopandas
    import numpy

    at = numpy.arange(_COUNT)
    made = geopandas.GeoDataFrame(
        {
            "n": at,
            "v": at / 7,
            "name": numpy.char.add("place ", (at % 1000).astype(str)).astype(object),
        },
        geometry=geopandas.points_from_xy(500_000 + at % 1000, 5_000_000 + at // 1000),
        crs="EPSG:32632",
    )
    path = str(folder / "table.gpkg")
    made.to_file(path, driver="GPKG", SPATIAL_INDEX="NO")
    return path
