# SPDX-License-Identifier: GPL-2.0-or-later
"""A catalogue of 400 scenes beside gdalinfo of the same files, and a series over 400 zones on a
raster of 3000 x 3000 cells beside exactextract, which weighs the cells at the edges too."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import exactextract
import geopandas
import numpy
import shapely
from osgeo import gdal, osr
from qgis.core import QgsProject, QgsVectorLayer

from geo_olm.tools.catalog import build_registry
from geo_olm.tools.toolbox import ProjectToolbox

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
AIM = 1.5
_SCENES, _SIDE, _ZONES = 400, 3000, 20
_LEFT, _TOP, _CELL = 500_000.0, 5_000_000.0, 10.0


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give ours and theirs. Main thread."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("many", "one", "out"):
            (folder / part).mkdir()
        project = QgsProject()
        toolbox = ProjectToolbox(
            project, build_registry(), lambda work: work(), folder, folder / "out", None, (folder,)
        )
        toolbox.begin_turn("bench")
        try:
            yield [_scan(toolbox, folder / "many"), _series(toolbox, project, folder / "one")]
        finally:
            toolbox.close()
            project.clear()


def _call(toolbox: ProjectToolbox, tool: str, **arguments: Any) -> Any:
    return toolbox.run(tool, arguments, lambda share: None, lambda: False)


def _raster(path: Path, side: int) -> Path:
    dataset = gdal.GetDriverByName("GTiff").Create(str(path), side, side, 1, gdal.GDT_Float32)
    dataset.SetGeoTransform((_LEFT, _CELL, 0, _TOP, 0, -_CELL))
    system = osr.SpatialReference()
    system.ImportFromEPSG(32632)
    dataset.SetProjection(system.ExportToWkt())
    cells = numpy.random.default_rng(side).random((side, side), dtype="float32")
    dataset.GetRasterBand(1).WriteArray(cells)
    dataset = None
    return path


def _scan(toolbox: ProjectToolbox, folder: Path) -> Pair:
    files = [
        _raster(folder / f"scene_2024-{1 + n // 28 % 12:02}-{1 + n % 28:02}_{n}.tif", 16)
        for n in range(_SCENES)
    ]
    serial = count()

    def theirs() -> None:
        for one in files:
            gdal.Info(str(one))

    return (
        f"catalogue: {_SCENES} scenes",
        lambda: _call(
            toolbox, "index_scenes", folders=[str(folder)], file=f"scan{next(serial)}.gpkg"
        ),
        theirs,
    )


def _series(toolbox: ProjectToolbox, project: QgsProject, folder: Path) -> Pair:
    path = _raster(folder / "scene_2024-05-01.tif", _SIDE)
    size = _SIDE * _CELL / _ZONES
    boxes = [
        shapely.box(_LEFT + x * size + 7, _TOP - (y + 1) * size + 7, _LEFT + (x + 1) * size - 7,
                    _TOP - y * size - 7)
        for x in range(_ZONES) for y in range(_ZONES)
    ]  # fmt: skip
    names = [str(place) for place in range(len(boxes))]
    frame = geopandas.GeoDataFrame({"name": names}, geometry=boxes, crs=32632)
    frame.to_file(folder / "zones.gpkg")
    project.addMapLayer(QgsVectorLayer(str(folder / "zones.gpkg"), "zones", "ogr"))
    scenes = _call(toolbox, "index_scenes", folders=[str(folder)], file="one.gpkg").id
    return (
        f"series: {len(boxes)} zones on {_SIDE} x {_SIDE} cells",
        lambda: _call(toolbox, "observation_series", scenes=scenes, zones="zones", measure="value"),
        lambda: exactextract.exact_extract(gdal.Open(str(path)), frame, ["mean"]),
    )
