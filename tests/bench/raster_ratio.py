# SPDX-License-Identifier: GPL-2.0-or-later
"""The raster tools beside plain processing.run on the same raster of 4000 x 4000 cells and 10,000
polygons. The tools state mean, min and max of what they made, so Processing computes them too."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal, osr
from qgis.core import (
    QgsFeature,
    QgsGeometry,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsVectorLayer,
)

from geo_olm.tools.catalog import build_registry
from geo_olm.tools.toolbox import ProjectToolbox

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
AIM = 1.05
_SIDE, _CELL, _ZONES = 4000, 10.0, 100
_LEFT, _TOP = 500_000.0, 5_000_000.0


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give name, ours and theirs of each comparison. Processing must be initialised. Main
    thread."""
    with tempfile.TemporaryDirectory() as folder:
        project = QgsProject()
        raster, zones = _raster(Path(folder)), _zones()
        for layer in (raster, zones):
            project.addMapLayer(layer)
        toolbox = ProjectToolbox(project, build_registry(), lambda work: work(), Path(folder))
        toolbox.begin_turn("bench")
        try:
            yield [_zonal(toolbox, raster, zones), _arithmetic(toolbox, raster)]
        finally:
            toolbox.close()
            project.clear()


def _call(toolbox: ProjectToolbox, tool: str, **arguments: Any) -> None:
    toolbox.run(tool, arguments, lambda share: None, lambda: False)


def _zonal(toolbox: ProjectToolbox, raster: QgsRasterLayer, zones: QgsVectorLayer) -> Pair:
    import processing

    parameters = {
        "INPUT": zones,
        "INPUT_RASTER": raster,
        "RASTER_BAND": 1,
        "STATISTICS": [0, 2],
        "OUTPUT": "TEMPORARY_OUTPUT",
    }
    return (
        "raster: zonal statistics",
        lambda: _call(toolbox, "zonal_statistics", layer="zones", raster="cells"),
        lambda: processing.run("native:zonalstatisticsfb", parameters),
    )


def _arithmetic(toolbox: ProjectToolbox, raster: QgsRasterLayer) -> Pair:
    import processing

    expression = '"cells@1" * 2 + 1'

    def theirs() -> None:
        parameters = {"LAYERS": [raster], "EXPRESSION": expression, "OUTPUT": "TEMPORARY_OUTPUT"}
        made = processing.run("native:rastercalc", parameters)["OUTPUT"]
        processing.run("native:rasterlayerstatistics", {"INPUT": made, "BAND": 1})

    return (
        "raster: band arithmetic and its statistics",
        lambda: _call(toolbox, "raster_calculate", layers=["cells"], expression=expression),
        theirs,
    )


def _raster(folder: Path) -> QgsRasterLayer:
    path = str(folder / "cells.tif")
    dataset = gdal.GetDriverByName("GTiff").Create(path, _SIDE, _SIDE, 1, gdal.GDT_Float32)
    dataset.SetGeoTransform((_LEFT, _CELL, 0, _TOP, 0, -_CELL))
    system = osr.SpatialReference()
    system.ImportFromEPSG(32632)
    dataset.SetProjection(system.ExportToWkt())
    cells = numpy.random.default_rng(1).random((_SIDE, _SIDE), dtype="float32")
    dataset.GetRasterBand(1).WriteArray(cells)
    dataset = None
    return QgsRasterLayer(path, "cells")


def _zones() -> QgsVectorLayer:
    layer = QgsVectorLayer("Polygon?crs=EPSG:32632&field=name:string", "zones", "memory")
    size, features = _SIDE * _CELL / _ZONES, []
    for column in range(_ZONES):
        for row in range(_ZONES):
            left, top = _LEFT + column * size + 5, _TOP - row * size - 5
            feature = QgsFeature(layer.fields())
            box = QgsRectangle(left, top - size + 10, left + size - 10, top)
            feature.setGeometry(QgsGeometry.fromRect(box))
            feature.setAttributes([f"{column}-{row}"])
            features.append(feature)
    layer.dataProvider().addFeatures(features)
    layer.updateExtents()
    return layer
