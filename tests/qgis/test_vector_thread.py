# SPDX-License-Identifier: GPL-2.0-or-later
"""Every typed tool over vector layers and files runs on a worker and leaves the project to the
main thread: the project of these tests fails when it is touched elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toolbox_case import Bench, box, layer

from geo_olm.tools.vector_catalog import file_tools, vector_tools

pytestmark = pytest.mark.usefixtures("qgis_processing")

DEGREES = "EPSG:4326"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("filter_time", {"layer": "stops", "field": "day", "start": "2024"}),
    ("buffer", {"layer": "stops", "distance": "100 m"}),
    ("nearest", {"layer": "stops", "other": "parks"}),
    ("join_by_field", {"layer": "stops", "field": "n", "other": "parks", "other_field": "n"}),
    ("join_by_location", {"layer": "stops", "other": "parks"}),
    ("count_in_polygons", {"polygons": "parks", "layer": "stops"}),
    ("grid_count", {"layer": "stops", "size": 1000}),
    ("overlay", {"layer": "parks", "operation": "union", "other": "parks"}),
    ("coverage", {"layer": "parks", "other": "parks"}),
    ("dissolve", {"layer": "parks"}),
    ("hull_or_centre", {"layer": "stops", "shape": "mean centre"}),
    ("distribute", {"zones": "parks", "field": "n", "layer": "stops", "weight": "n"}),
    ("clustering", {"layer": "stops"}),
    ("pivot_table", {"layer": "stops", "rows": ["n"]}),
    ("time_series", {"layer": "stops", "time": "day", "period": "year"}),
    ("clean", {"layer": "parks", "task": "close gaps", "distance": 1}),
    ("points_from_table", {"layer": "readings", "x": "lon", "y": "lat"}),
    ("reproject", {"layer": "stops", "crs": "EPSG:32632"}),
    ("add_layer", {"source": "t.csv"}),
    ("save_layer", {"layer": "stops", "file": "stops.geoparquet"}),
    ("write_json", {"path": "t.json", "content": {"rows": "$stops.rows"}}),
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "t.csv").write_text("lon,lat\n1,2\n", encoding="utf-8")
    points = [(f"POINT({10 + one / 100} {50 + one / 100})", one, "2024-05-01") for one in range(5)]
    parks = [(box(10, 50, 10.025, 50.025), 1), (box(10.02, 50, 10.05, 50.05), 2)]
    return Bench(
        tmp_path,
        layer("stops", "Point", "n:integer day:string", points, DEGREES),
        layer("readings", "None", "lon:double lat:double", [(None, 10.0, 50.0)]),
        layer("parks", "Polygon", "n:integer", parks, DEGREES),
        output=tmp_path / "out",
    )


def test_every_tool_of_the_catalogue_is_called_here() -> None:
    known = [tool.definition.name for tool in [*vector_tools(), *file_tools()]]
    assert [name for name, _ in CALLS] == known


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=[name for name, _ in CALLS])
def test_a_tool_runs_on_a_worker(bench: Bench, name: str, arguments: dict[str, Any]) -> None:
    result, error, _stall = bench.work(name, arguments)
    assert error is None, error
    assert result is not None
    assert result.id == "r1"
    assert result.text


@pytest.mark.parametrize(("name", "arguments"), CALLS[:-1], ids=[name for name, _ in CALLS[:-1]])
def test_a_stopped_tool_leaves_no_layer_and_no_file(
    bench: Bench, name: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    from geo_olm.tools.base import ToolCancelled

    asked = iter([False])
    _result, error, _stall = bench.work(name, arguments, cancelled=lambda: next(asked, True))
    assert isinstance(error, ToolCancelled)
    assert len(bench.project.mapLayers()) == 3
    assert not list((tmp_path / "out").glob("*"))
