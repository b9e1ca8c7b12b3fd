# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases over vector data, each with its right value.

What the cases give as measured was measured again here on QGIS 3.40.6 with GDAL 3.6.2.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from qgis.core import (
    NULL,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsGeometry,
    QgsProject,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError
from geo_olm.tools.source import plain

pytestmark = pytest.mark.usefixtures("qgis_processing")

LEFT, BOTTOM = 500_000, 5_000_000


def algorithm(bench: Bench, name: str, **parameters: Any) -> Any:
    return bench.run("run_algorithm", algorithm=name, parameters=parameters)


def rows(bench: Bench, found: Any) -> list[Any]:
    return list(bench.project.mapLayer(found.layers[0].id).getFeatures())


def test_a_buffer_of_a_kilometre_has_its_area_b01(tmp_path: Path) -> None:
    """A 64-gon in a circle of 1 km has 3,136,548 m2, the circle itself 3,141,593."""
    bench = Bench(tmp_path, layer("p", "Point", "n:integer", [("POINT(3 60)", 1)], "EPSG:4326"))
    algorithm(bench, "native:reprojectlayer", INPUT="p", TARGET_CRS="EPSG:32631")
    found = algorithm(bench, "native:buffer", INPUT="r1", DISTANCE="1 km", SEGMENTS=16)
    sides = 64
    area = sides / 2 * 1000**2 * math.sin(2 * math.pi / sides)
    assert rows(bench, found)[0].geometry().area() == pytest.approx(area, rel=1e-6)
    assert area == pytest.approx(3_136_548, rel=1e-6)
    assert found.layers[0].crs == "EPSG:32631"


@pytest.mark.parametrize(("crs", "ellipsoid"), [("EPSG:32632", "EPSG:7030"), ("EPSG:4326", "NONE")])
def test_lengths_in_polygons_are_ellipsoidal_b08(tmp_path: Path, crs: str, ellipsoid: str) -> None:
    """In degrees with the project's ellipsoid off, Processing would say 0.0127."""
    way = QgsCoordinateTransform(
        QgsCoordinateReferenceSystem("EPSG:32632"),
        QgsCoordinateReferenceSystem(crs),
        QgsProject.instance(),
    )
    line = f"LINESTRING({LEFT} {BOTTOM + 500},{LEFT + 1000} {BOTTOM + 500})"
    shapes = []
    for wkt in (box(LEFT, BOTTOM, LEFT + 1000, BOTTOM + 1000), line):
        shape = QgsGeometry.fromWkt(wkt)
        shape.transform(way)
        shapes.append(shape.asWkt(12))
    bench = Bench(
        tmp_path,
        layer("squares", "Polygon", "n:integer", [(shapes[0], 1)], crs),
        layer("lines", "LineString", "n:integer", [(shapes[1], 1)], crs),
    )
    bench.project.setEllipsoid(ellipsoid)
    found = algorithm(bench, "native:sumlinelengths", POLYGONS="squares", LINES="lines")
    assert rows(bench, found)[0]["LENGTH"] == pytest.approx(1000.4, rel=1e-4)


def letters() -> QgsVectorLayer:
    values = [(None, "A", 1, 5), (None, "B", 2, 6), (None, None, 3, 7), (None, "", 4, 8)]
    values.append((None, "O'Hare", 5, 9))
    return layer("letters", "None", "t:string n:integer k:integer", values)


@pytest.mark.parametrize(
    ("text", "count"),
    [("\"t\" = 'A'", 1), ("\"T\"='A'", 1), ("t = 'O''Hare'", 1), ("t is null", 1)],
)
def test_right_expressions_find_their_rows_b21(tmp_path: Path, text: str, count: int) -> None:
    assert Bench(tmp_path, letters()).run("count", layer="letters", where=text).numbers == {
        "count": count
    }


def test_a_value_in_double_quotes_is_refused_with_the_hint_b21(tmp_path: Path) -> None:
    with pytest.raises(MendableError, match="in single quotes: 'A'"):
        algorithm(
            Bench(tmp_path, letters()),
            "native:extractbyexpression",
            INPUT="letters",
            EXPRESSION='"t" = "A"',
        )


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("native:extractbyexpression", {"EXPRESSION": '"nn" > 1'}, 'no field "nn".*Closest.*n'),
        ("native:fieldcalculator", {"FIELD_NAME": "x", "FORMULA": '"missing" * 2'}, "no field"),
        ("native:fieldcalculator", {"FIELD_NAME": "x", "FORMULA": 'foo("n")'}, "no function foo"),
    ],
)
def test_a_missing_field_or_function_is_no_empty_result_b22(
    tmp_path: Path, name: str, parameters: dict[str, Any], said: str
) -> None:
    with pytest.raises(MendableError, match=said):
        algorithm(Bench(tmp_path, letters()), name, INPUT="letters", **parameters)


def test_wrong_fields_and_swapped_layers_are_refused_b28(tmp_path: Path) -> None:
    squares = layer("squares", "Polygon", "n:integer", [(box(0, 0, 1, 1), 1)])
    points = layer("points", "Point", "n:integer", [("POINT(0 0)", 1)])
    bench = Bench(tmp_path, squares, points)
    for name, parameters, said in (
        ("native:dissolve", {"INPUT": "squares", "FIELD": ["zzz"]}, "zzz"),
        ("qgis:heatmapkerneldensityestimation",
         {"INPUT": "points", "RADIUS": 5, "PIXEL_SIZE": 1, "WEIGHT_FIELD": "zzz"}, "zzz"),
        ("native:countpointsinpolygon", {"POLYGONS": "points", "POINTS": "squares"},
         "POLYGONS needs polygons"),
        ("native:extractbyattribute", {"INPUT": "points", "FIELD": "zzz", "VALUE": "1"}, "zzz"),
    ):  # fmt: skip
        with pytest.raises(MendableError, match=said):
            algorithm(bench, name, **parameters)


def test_whole_numbers_are_divided_as_the_expression_says_b32(tmp_path: Path) -> None:
    """As a filter of the Shapefile itself, 3 / 2 would be 1."""
    path = str(tmp_path / "pairs.shp")
    pairs = [("POINT(0 0)", one, 2) for one in (1, 3, 4)]
    made = layer("pairs", "Point", "i1:integer i2:integer", pairs)
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "ESRI Shapefile"
    QgsVectorFileWriter.writeAsVectorFormatV3(made, path, made.transformContext(), options)
    stored = QgsVectorLayer(path, "pairs")
    assert stored.setSubsetString("i1/i2 > 1")
    assert stored.featureCount() == 1
    stored.setSubsetString("")
    bench = Bench(tmp_path / "t", stored)
    where = '"i1" / "i2" > 1'
    assert bench.run("count", layer="pairs", where=where).numbers["count"] == 2
    assert bench.run("filter", layer="pairs", where=where).numbers["count"] == 2


def test_layers_are_known_by_their_names_however_they_are_written_b34(tmp_path: Path) -> None:
    line = layer("roads", "LineString", "n:integer", [("LINESTRING(0 0,1 1)", 1)])
    area = layer("roads", "Polygon", "n:integer", [(box(0, 0, 1, 1), 1), (box(2, 0, 3, 1), 2)])
    dated = layer("Roads 2024", "Point", "n:integer", [("POINT(0 0)", 1)] * 3)
    street = layer("Straßen_Köln", "Point", "n:integer", [("POINT(0 0)", 1)] * 4)
    bench = Bench(tmp_path, line, area, dated, street)
    count = {one: bench.run("count", layer=one).numbers["count"] for one in (
        "roads", "roads (2)", "roads 2024", "ROADS_2024", "straßen_köln", "Straßen Köln", line.id(),
    )}  # fmt: skip
    assert count["roads"] + count["roads (2)"] == 3
    assert [count["roads 2024"], count["ROADS_2024"]] == [3, 3]
    assert [count["straßen_köln"], count["Straßen Köln"], count[line.id()]] == [4, 4, 1]
    street.setName("streets")
    assert bench.run("count", layer="streets").numbers["count"] == 4
    with pytest.raises(MendableError, match='no layer "Straßen_Köln"'):
        bench.run("count", layer="Straßen_Köln")


def network(*lines: str) -> QgsVectorLayer:
    return layer("net", "LineString", "n:integer", [(f"LINESTRING({one})", 1) for one in lines])


SIDES = ("0 0,1000 0", "1000 0,1000 1000", "1000 1000,0 1000", "0 1000,0 0")


def route(bench: Bench, start: str, end: str, **more: Any) -> Any:
    return algorithm(
        bench,
        "native:shortestpathpointtopoint",
        INPUT="net",
        START_POINT=start,
        END_POINT=end,
        **more,
    )


def shifted(*lines: str) -> tuple[str, ...]:
    """Move the lines to where the CRS of the tests is at home."""
    moved = []
    for line in lines:
        points = [tuple(map(float, point.split())) for point in line.split(",")]
        moved.append(",".join(f"{x + LEFT} {y + BOTTOM}" for x, y in points))
    return tuple(moved)


def place(x: float, y: float) -> str:
    return f"{x + LEFT},{y + BOTTOM}"


def test_a_route_has_its_length_and_its_time_in_minutes_b64(tmp_path: Path) -> None:
    bench = Bench(tmp_path, network(*shifted(*SIDES)))
    shortest = route(bench, place(0, 0), place(1000, 1000), STRATEGY=0)
    assert shortest.numbers["TRAVEL_COST"] == pytest.approx(2000, rel=0.005)
    fastest = route(bench, place(0, 0), place(1000, 1000), STRATEGY=1, DEFAULT_SPEED=50)
    assert fastest.numbers["TRAVEL_COST"] == pytest.approx(0.04, rel=0.005)
    assert any(note.startswith("TRAVEL_COST is in hours: 0.04") for note in fastest.notes)
    assert "2.4" in next(note for note in fastest.notes if "minutes" in note)


def test_a_route_from_afar_tells_how_far_it_was_moved_b64(tmp_path: Path) -> None:
    bench = Bench(tmp_path, network(*shifted(*SIDES)))
    found = route(bench, place(-5000, 0), place(1000, 0), STRATEGY=0)
    note = next(one for one in found.notes if one.startswith("START_POINT lies"))
    metres = float(note.split()[2].replace(",", ""))
    assert metres == pytest.approx(5000, rel=0.005)
    near = route(bench, place(1, 0), place(1000, 0), STRATEGY=0)
    assert not any("lies" in note for note in near.notes)


def test_a_gap_in_a_network_is_closed_by_the_tolerance_only_b64(tmp_path: Path) -> None:
    gap = shifted("0 0,999.5 0", "1000 0,1000 1000", "1000 1000,0 1000", "0 1000,0 0")
    bench = Bench(tmp_path, network(*gap))
    around = route(bench, place(0, 0), place(1000, 0), STRATEGY=0)
    assert around.numbers["TRAVEL_COST"] == pytest.approx(3000, rel=0.005)
    closed = route(bench, place(0, 0), place(1000, 0), STRATEGY=0, TOLERANCE=1)
    assert closed.numbers["TRAVEL_COST"] == pytest.approx(1000, rel=0.005)
    apart = Bench(tmp_path, network(*shifted("0 0,10 0", "500 500,600 500")))
    with pytest.raises(MendableError, match="no route"):
        route(apart, place(0, 0), place(600, 500), STRATEGY=0)


def test_a_null_is_null_in_every_form_b69(tmp_path: Path) -> None:
    stored = next(letters().getFeatures('"n" = 3'))["t"]
    for null in (NULL, None, stored, float("nan")):
        assert json.dumps(plain(null)) == "null"
        assert json.dumps(plain([null, {"a": null}, 1])) == '[null, {"a": null}, 1]'
