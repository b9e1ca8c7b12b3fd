# SPDX-License-Identifier: GPL-2.0-or-later
"""Points from the coordinates in a table, and layers in another CRS."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolbox_case import Bench, layer

from geo_olm.tools.base import MendableError, UnanswerableError

pytestmark = pytest.mark.usefixtures("qgis_processing")

# By pyproj 3.6: EPSG:4326 (9.0, 48.0), (9.1, 48.2) and (9.1, 48.0) in EPSG:25832.
EAST, NORTH = (500000.0, 507430.672), (5316300.224, 5338534.616)
EAST_SOUTH = 507459.550


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    rows = [
        (None, "a", "9.0", "48.0", 500000, 5316300),
        (None, "b", "9.1", "48.2", 507430, 5338537),
        (None, "c", "", "n/a", None, 5338537),
    ]
    fields = "id:string lon:string lat:string e:integer n:integer"
    square = "POLYGON((9 48,9.1 48,9.1 48.2,9 48.2,9 48))"
    return Bench(
        tmp_path / "temporary",
        layer("sensors", "None", fields, rows),
        layer("park", "Polygon", "id:integer", [(square, 1)], crs="EPSG:4326"),
        layer("adrift", "Point", "id:integer", [("POINT(1 1)", 1)], crs=""),
    )


def test_degrees_in_texts_become_points_in_the_crs_wanted(bench: Bench) -> None:
    found = bench.run("points_from_table", layer="sensors", x="lon", y="lat", crs="EPSG:25832")
    assert found.numbers["count"] == 2
    assert found.layers[0].crs == "EPSG:25832"
    assert (found.numbers["x_min"], found.numbers["x_max"]) == pytest.approx(EAST, abs=0.01)
    assert (found.numbers["y_min"], found.numbers["y_max"]) == pytest.approx(NORTH, abs=0.01)
    assert found.notes == (
        "1 row of sensors without coordinates left out.",
        "The coordinates were taken as EPSG:4326.",
    )
    made = bench.project.mapLayer(found.layers[0].id)
    assert [one["id"] for one in made.getFeatures()] == ["a", "b"]


def test_metres_are_taken_in_the_crs_given(bench: Bench) -> None:
    found = bench.run("points_from_table", layer="sensors", x="e", y="n", crs="25832")
    assert (found.numbers["x_max"], found.numbers["y_max"]) == (507430, 5338537)


def test_metres_without_a_crs_are_refused(bench: Bench) -> None:
    with pytest.raises(MendableError, match="no degrees: say their crs"):
        bench.run("points_from_table", layer="sensors", x="e", y="n")


def test_columns_without_numbers_are_refused(bench: Bench) -> None:
    with pytest.raises(MendableError, match="numbers in id and lat"):
        bench.run("points_from_table", layer="sensors", x="id", y="lat")


def test_a_layer_is_brought_into_another_crs(bench: Bench) -> None:
    found = bench.run("reproject", layer="park", crs="EPSG:25832")
    assert (found.layers[0].crs, found.numbers["count"]) == ("EPSG:25832", 1)
    assert found.numbers["x_max"] == pytest.approx(EAST_SOUTH, abs=0.01)
    assert found.numbers["y_max"] == pytest.approx(NORTH[1], abs=0.01)


@pytest.mark.parametrize(
    ("layer_name", "crs", "error", "said"),
    [
        ("park", "EPSG:99999", MendableError, 'no CRS "EPSG:99999"'),
        ("sensors", "EPSG:4326", MendableError, "points_from_table"),
        ("adrift", "EPSG:4326", UnanswerableError, "adrift has no coordinate reference system"),
    ],
)
def test_what_cannot_be_reprojected_is_told(
    bench: Bench, layer_name: str, crs: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        bench.run("reproject", layer=layer_name, crs=crs)
