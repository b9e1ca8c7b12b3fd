# SPDX-License-Identifier: GPL-2.0-or-later
"""One small project, and a call of every typed tool in it that makes something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from detection_case import LARGE, SMALL, describe, scene, segments, yolo
from scene_case import catalogue
from test_raster_worker import CALLS as RASTER_CALLS
from test_raster_worker import project as raster_project
from toolbox_case import Bench, box, layer

LEFT, TOP = 500_000.0, 5_000_000.0
VECTOR_CALLS: dict[str, dict[str, Any]] = {
    "unique_values": {"layer": "points", "field": "n"},
    "count": {"layer": "points"},
    "filter": {"layer": "points", "where": '"n" > 0'},
    "statistics": {"layer": "points", "field": "n", "statistic": "sum"},
    "top_n": {"layer": "points", "field": "n", "n": 1},
    "measure": {"layer": "zones", "what": "area", "unit": "m2"},
    "select_by_location": {"layer": "points", "predicate": "within", "other": "zones"},
    "calculate_field": {"layer": "points", "name": "twice", "expression": '"n" * 2'},
    "calculate": {"expression": "1 + 1"},
    "filter_time": {"layer": "visits", "field": "day", "start": "2024-01-02"},
    "buffer": {"layer": "points", "distance": 5},
    "nearest": {"layer": "points", "other": "visits"},
    "join_by_field": {"layer": "points", "field": "n", "other": "facts", "other_field": "n"},
    "join_by_location": {"layer": "points", "predicate": "within", "other": "zones"},
    "count_in_polygons": {"polygons": "zones", "layer": "points"},
    "grid_count": {"layer": "points", "size": 50},
    "overlay": {"layer": "zones", "operation": "intersection", "other": "patches"},
    "coverage": {"layer": "zones", "other": "patches"},
    "dissolve": {"layer": "zones", "by": "part"},
    "hull_or_centre": {"layer": "zones", "shape": "centroid"},
    "distribute": {"zones": "zones", "field": "n", "layer": "patches"},
    "clustering": {"layer": "points"},
    "pivot_table": {"layer": "facts", "rows": "kind", "columns": "n", "field": "value",
                    "statistic": "sum"},
    "time_series": {"layer": "visits", "time": "day", "period": "month", "field": "n",
                    "statistic": "sum"},
    "clean": {"layer": "zones", "task": "fix"},
    "points_from_table": {"layer": "facts", "x": "x", "y": "y", "crs": "EPSG:32632"},
    "reproject": {"layer": "points", "crs": "EPSG:4326"},
    "add_layer": {"source": "more.geojson"},
    "save_layer": {"layer": "points", "file": "points.gpkg"},
    "write_json": {"path": "a.json", "content": {"a": 1}},
    "style_graduated": {"layer": "zones", "field": "n"},
    "style_categorized": {"layer": "zones", "field": "part"},
    "zoom_to_layer": {"layer": "zones"},
    "run_algorithm": {"algorithm": "native:centroids", "parameters": {"INPUT": "zones"}},
}  # fmt: skip
SCENE_CALLS: dict[str, dict[str, Any]] = {
    "index_scenes": {"folders": ["tiles"], "file": "found.gpkg"},
    "find_scenes": {"scenes": "catalogue", "measure": "population"},
    "load_scene": {"scenes": "catalogue", "measure": "population"},
    "observation_series": {"scenes": "catalogue", "zones": "zones", "measure": "population"},
    "forest_by_zone": {"scenes": "catalogue", "zones": "zones"},
    "observation_rows": {"scenes": "catalogue", "measure": "population"},
}
DETECTION_CALLS: dict[str, dict[str, Any]] = {
    "add_detector": {"file": "squares.onnx"},
    "detect_objects": {"layer": "scene", "detector": "squares.onnx"},
    "classify_land_cover": {"layer": "scene", "detector": "cover.onnx"},
}
CALLS = {**VECTOR_CALLS, **RASTER_CALLS, **SCENE_CALLS, **DETECTION_CALLS}


def bench(folder: Path) -> Bench:
    """Return the rasters' project with points, visits with days, facts and patches beside them."""
    found = raster_project(folder)
    near = [(f"POINT({LEFT + 40 * n + 9} {TOP - 20 * n - 9})", n, f"2024-01-0{n + 1}")
            for n in range(3)]  # fmt: skip
    facts = [(None, n, "ab"[n % 2], 2.5 * n, LEFT + n, TOP - n) for n in range(4)]
    patches = [(box(LEFT + 50, TOP - 90, LEFT + 150, TOP - 10), "p", 3)]
    for one in (
        layer("visits", "Point", "n:integer day:date", near),
        layer("facts", "NoGeometry", "n:integer kind:string value:double x:double y:double", facts,
              crs=""),
        layer("patches", "Polygon", "patch:string m:integer", patches),
        catalogue(folder / "out" / "tiles"),
        scene(folder / "scene.tif", [(20, 20, SMALL), (60, 60, LARGE)], size=(100, 90)),
    ):  # fmt: skip
        found.project.addMapLayer(one)
    (folder / "out" / "more.geojson").write_text(
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"k": 1}, '
        '"geometry": {"type": "Point", "coordinates": [9, 45]}}]}',
        encoding="utf-8",
    )
    describe(yolo(folder / "out" / "squares.onnx"))
    segments(folder / "out" / "cover.onnx", [[[[0]]] * 3, [[[1]]] * 3], [200, 0])
    return found
