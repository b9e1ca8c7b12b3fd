# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures stay right when the thread that first met a CRS has ended.

QGIS 3.40 gives NaN, or millions of metres, through a CRS that such a thread has left behind.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toolbox_case import Bench, box, layer

pytestmark = pytest.mark.usefixtures("qgis_processing")
SQUARE = box(10, 50, 10.01, 50.01)


def run(bench: Bench, tool: str, **arguments: Any) -> Any:
    result, error, _stall = bench.work(tool, arguments)
    assert error is None, error
    return result


@pytest.mark.parametrize("crs", ["EPSG:5652", "EPSG:25832"])
def test_a_layer_is_measured_on_later_threads_in_a_crs_that_a_worker_met_first(
    tmp_path: Path, crs: str
) -> None:
    bench = Bench(tmp_path, layer("p", "Polygon", "n:integer", [(SQUARE, 1)], "EPSG:4326"))
    parameters = {"INPUT": "p", "TARGET_CRS": crs}
    run(bench, "run_algorithm", algorithm="native:reprojectlayer", parameters=parameters)
    asked = {"layer": "r1", "what": "area", "unit": "m2"}
    found = [run(bench, "measure", **asked).numbers["sum"] for _ in range(3)]
    found.append(bench.run("measure", **asked).numbers["sum"])
    assert found == pytest.approx([797_383] * 4, rel=1e-4)


def test_an_expression_measures_on_later_threads_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path, layer("p", "Polygon", "n:integer", [(SQUARE, 1)], "EPSG:4326"))
    grid = {
        "TYPE": "Rectangle (Polygon)",
        "EXTENT": "33500000,33501000,5000000,5001000 [EPSG:5653]",
        "HSPACING": 500,
        "VSPACING": 500,
        "CRS": "EPSG:5653",
    }
    run(bench, "run_algorithm", algorithm="native:creategrid", parameters=grid)
    for _ in range(3):
        found = run(bench, "calculate_field", layer="r1", name="a", expression="$area")
        assert found.numbers["min"] > 0
        assert found.numbers["max"] < 1e6
