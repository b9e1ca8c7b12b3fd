# SPDX-License-Identifier: GPL-2.0-or-later
"""Every raster and map tool on a worker thread, over a project that fails off the main thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from osgeo import gdal
from raster_case import LEFT, TOP, raster
from toolbox_case import Bench, box, layer

from geo_olm.tools.map_catalog import map_tools
from geo_olm.tools.raster_catalog import raster_tools

pytestmark = pytest.mark.usefixtures("qgis_processing")
CALLS: dict[str, dict[str, Any]] = {
    "raster_index": {"layer": "image", "index": "NDVI"},
    "scale_raster": {"layer": "MOD13Q1.A2023060"},
    "raster_calculate": {"layers": ["dem", "classes"], "expression": "A * B"},
    "terrain": {"layer": "dem", "what": "slope"},
    "viewshed": {"layer": "dem", "observer": "place", "targets": "points"},
    "zonal_statistics": {"layer": "zones", "raster": "dem", "by": "part"},
    "sample_raster": {"layer": "points", "raster": "dem"},
    "reclassify": {"layer": "dem", "breaks": [10]},
    "class_areas": {"layer": "classes"},
    "class_change": {"before": "classes", "after": "later"},
    "raster_series": {"layers": ["dem", "classes"]},
    "cell_statistics": {"layers": ["dem", "classes"], "statistic": "mean"},
    "clip_raster": {"layer": "dem", "polygons": "zones"},
    "merge_rasters": {"layers": ["dem", "classes"]},
    "heat_map": {"layer": "points", "radius": 50, "weight": "n"},
    "interpolate": {"layer": "points", "field": "n", "cell_size": 20},
    "rasterize": {"layer": "zones", "field": "n", "like": "dem"},
    "vectorize": {"layer": "classes"},
    "save_raster": {"layer": "dem", "file": "dem.tif"},
    "style_raster": {"layer": "dem", "ramp": "Reds"},
    "label_layer": {"layer": "zones", "field": "part"},
    "export_map": {"layers": ["dem"], "path": "a.png", "title": "Heights"},
    "export_atlas": {"layer": "zones", "layers": ["dem"]},
}


def project(folder: Path) -> Bench:
    rng = numpy.random.default_rng(4)
    zones = [
        (box(LEFT, TOP - 100, LEFT + 100, TOP), "A", 1),
        (box(LEFT + 100, TOP - 100, LEFT + 200, TOP), "B", 2),
    ]
    points = [(f"POINT({LEFT + 50 * n + 5} {TOP - 30 * n - 5})", n) for n in range(4)]
    (folder / "out").mkdir()
    return Bench(
        folder / "work",
        raster(folder, "dem", rng.random((20, 20)) * 20),
        raster(folder, "classes", rng.integers(1, 4, (20, 20)), kind=gdal.GDT_Byte),
        raster(folder, "later", rng.integers(1, 4, (20, 20)), kind=gdal.GDT_Byte),
        raster(folder, "image", rng.random((5, 5)), rng.random((5, 5)), names=("red", "nir")),
        raster(folder, "MOD13Q1.A2023060", [[6500, -3000]], kind=gdal.GDT_Int16),
        layer("zones", "Polygon", "part:string n:integer", zones),
        layer("points", "Point", "n:integer", points),
        layer("place", "Point", "n:integer", points[1:2]),
        output=folder / "out",
        detectors=(folder / "detectors",),
    )


def test_every_raster_and_map_tool_is_called_here() -> None:
    assert {one.definition.name for one in raster_tools() + map_tools()} == set(CALLS)


def test_every_tool_keeps_to_the_main_thread_what_belongs_there(tmp_path: Path) -> None:
    bench = project(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
    failed = {}
    for tool, arguments in CALLS.items():
        result, error, _ = bench.work(tool, arguments)
        if error is not None or result is None or not result.text:
            failed[tool] = error
    assert failed == {}
    assert {path: path.read_bytes() for path in tmp_path.glob("*.*")} == before
