# SPDX-License-Identifier: GPL-2.0-or-later
"""The typed tools over vector layers against the field cases and against values worked out by
hand. Areas and lengths of the tools are ellipsoidal: within 0.1 % of the planar ones here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from qgis.core import QgsFeature
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError, ToolError, UnanswerableError
from geo_olm.tools.source import plain

pytestmark = pytest.mark.usefixtures("qgis_processing")

EAST, NORTH = 500_000, 5_000_000
GROUND = 2e-3
"""UTM's own scale of 0.9996 makes areas 0.08 % too small at its middle."""


def at(x: float, y: float) -> str:
    return f"POINT({EAST + x} {NORTH + y})"


def square(x: float, y: float, side: float, height: float = 0) -> str:
    return box(EAST + x, NORTH + y, EAST + x + side, NORTH + y + (height or side))


def rows(bench: Bench, found: Any) -> list[QgsFeature]:
    return list(bench.project.mapLayer(found.layers[0].id).getFeatures())


def table(bench: Bench, found: Any, *names: str) -> list[Any]:
    return [tuple(plain(one[name]) for name in names) for one in rows(bench, found)]


def test_towns_near_a_lake_and_a_river_c03(tmp_path: Path) -> None:
    lake = layer("lakes", "Polygon", "n:integer", [(square(0, 0, 1000), 1)])
    line = f"LINESTRING({EAST + 1000} {NORTH - 50000},{EAST + 1000} {NORTH + 50000})"
    river = layer("rivers", "LineString", "n:integer", [(line, 1)])
    places = [at(9000, 500), at(9100, 500), at(1500, 15000)]
    towns = layer("towns", "Point", "n:integer", [(one, i) for i, one in enumerate(places, 1)])
    bench = Bench(tmp_path, lake, river, towns)
    near = {"predicate": "within_distance", "distance": "5 miles"}
    bench.run("select_by_location", layer="towns", other="lakes", **near)
    found = bench.run("select_by_location", layer="r1", other="rivers", **near)
    assert table(bench, found, "n") == [(1,)]


def test_the_nearest_clinic_is_nearest_on_the_ground_c04_b10(tmp_path: Path) -> None:
    """0.01 degrees of longitude at 60 N are 558 m, 0.007 of latitude 780 m."""
    village = layer("villages", "Point", "name:string", [("POINT(10 60)", "V")], "EPSG:4326")
    places = [("POINT(10.01 60)", "East"), ("POINT(10 60.007)", "North")]
    clinics = layer("clinics", "Point", "name:string", places, "EPSG:4326")
    bench = Bench(tmp_path, village, clinics)
    found = bench.run("nearest", layer="villages", other="clinics")
    ((name, distance),) = table(bench, found, "nearest_name", "distance_m")
    assert name == "East"
    assert distance == pytest.approx(557.8, rel=1e-3)
    assert found.numbers["mean"] == distance


def test_the_nearest_is_the_same_as_by_trying_all(tmp_path: Path) -> None:
    import random

    dice = random.Random(7)
    mine = [(dice.uniform(-20, 20), dice.uniform(40, 60)) for _ in range(40)]
    others = [(dice.uniform(-20, 20), dice.uniform(40, 60)) for _ in range(60)]
    first = layer("a", "Point", "n:integer", _numbered(mine), "EPSG:4326")
    second = layer("b", "Point", "n:integer", _numbered(others), "EPSG:4326")
    bench = Bench(tmp_path, first, second)
    found = bench.run("nearest", layer="a", other="b", fields=["n"])
    expected = [
        min(range(len(others)), key=lambda at, one=one: _great_circle(one, others[at]))
        for one in mine
    ]
    assert [one for (one,) in table(bench, found, "nearest_n")] == expected


def _numbered(points: list[tuple[float, float]]) -> list[tuple[str, int]]:
    return [(f"POINT({x} {y})", at) for at, (x, y) in enumerate(points)]


def _great_circle(one: tuple[float, float], other: tuple[float, float]) -> float:
    (x, y), (u, v) = (tuple(map(math.radians, pair)) for pair in (one, other))
    turn = math.sin((v - y) / 2) ** 2 + math.cos(y) * math.cos(v) * math.sin((u - x) / 2) ** 2
    return 2 * math.asin(math.sqrt(turn))


def test_ties_and_what_lies_too_far_are_told_b10(tmp_path: Path) -> None:
    mine = layer("a", "Point", "n:integer", [(at(0, 0), 1), (at(9000, 0), 2)])
    other = layer("b", "Point", "n:integer", [(at(100, 0), 1), (at(-100, 0), 2)])
    bench = Bench(tmp_path, mine, other)
    found = bench.run("nearest", layer="a", other="b", fields=["n"], max_distance="1 km")
    assert [one for (one,) in table(bench, found, "distance_m")][1] is None
    assert "1 feature had several nearest ones at the same distance: one was kept." in found.notes
    assert "1 feature of a have no b within 1000 m: left NULL." in found.notes


def test_the_nearest_other_feature_of_the_same_layer(tmp_path: Path) -> None:
    trees = [(at(x, 0), number) for number, x in enumerate((0, 3, 100, 106), 1)]
    bench = Bench(tmp_path, layer("trees", "Point", "n:integer", trees))
    found = bench.run("nearest", layer="trees", other="trees", fields=["n"])
    assert [one for (one,) in table(bench, found, "nearest_n")] == [2, 1, 4, 3]


def test_the_nearest_over_the_date_line_b14(tmp_path: Path) -> None:
    first = layer("a", "Point", "n:integer", [("POINT(179.9 -16)", 1)], "EPSG:4326")
    places = [("POINT(-179.9 -16)", 1), ("POINT(178 -16)", 2)]
    bench = Bench(tmp_path, first, layer("b", "Point", "n:integer", places, "EPSG:4326"))
    found = bench.run("nearest", layer="a", other="b", fields=["n"])
    ((number, distance),) = table(bench, found, "nearest_n", "distance_m")
    assert number == 1
    assert distance == pytest.approx(0.2 * 107_034, rel=1e-3)


@pytest.mark.parametrize("crs", ["EPSG:32631", "EPSG:4326", "EPSG:3857"])
def test_a_buffer_is_in_metres_in_any_crs_b01(tmp_path: Path, crs: str) -> None:
    from qgis.core import QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsProject

    way = QgsCoordinateTransform(
        QgsCoordinateReferenceSystem("EPSG:4326"),
        QgsCoordinateReferenceSystem(crs),
        QgsProject.instance(),
    )
    point = way.transform(3, 60)
    place = f"POINT({point.x()} {point.y()})"
    bench = Bench(tmp_path, layer("p", "Point", "n:integer", [(place, 1)], crs))
    bench.run("buffer", layer="p", distance="1 km", segments=16)
    found = bench.run("measure", layer="r1", what="area", unit="m2")
    assert found.numbers["sum"] == pytest.approx(3_136_548, rel=GROUND)
    assert bench.toolbox.layers()[1].crs == crs


def test_a_buffer_crosses_the_date_line_in_two_parts_b14(tmp_path: Path) -> None:
    places = [("POINT(179.999 -16)", 1), ("POINT(0 50)", 2)]
    bench = Bench(tmp_path, layer("p", "Point", "n:integer", places, "EPSG:4326"))
    found = bench.run("buffer", layer="p", distance=10_000)
    first, second = (one.geometry() for one in rows(bench, found))
    assert len(first.asGeometryCollection()) == 2
    assert first.boundingBox().xMinimum() == -180
    assert first.boundingBox().xMaximum() == 180
    measured = bench.run("measure", layer="r1", what="area", unit="km2")
    assert measured.numbers["max"] == pytest.approx(math.pi * 100, rel=2e-3)
    assert measured.numbers["min"] == pytest.approx(math.pi * 100, rel=2e-3)
    assert second.boundingBox().width() < 1


def test_a_buffer_that_reaches_the_pole_is_refused(tmp_path: Path) -> None:
    places = [("POINT(0 89.95)", 1), ("POINT(170 10)", 2)]
    bench = Bench(tmp_path, layer("p", "Point", "n:integer", places, "EPSG:4326"))
    with pytest.raises(MendableError, match="reaches a pole"):
        bench.run("buffer", layer="p", distance=50_000)


def test_buffers_that_mean_nothing_are_refused_b03(tmp_path: Path) -> None:
    bench = Bench(tmp_path, layer("p", "Point", "n:integer", [(at(0, 0), 1)]))
    for wrong, said in ((0, "changes nothing"), (-5, "leaves nothing"), ("1,5", "cannot be")):
        with pytest.raises(MendableError, match=said):
            bench.run("buffer", layer="p", distance=wrong)
    nowhere = Bench(tmp_path, layer("q", "Point", "n:integer", [("POINT(1 1)", 1)], ""))
    with pytest.raises(UnanswerableError, match="q has no coordinate reference system"):
        nowhere.run("buffer", layer="q", distance=5)


def test_a_merged_buffer_is_one_feature(tmp_path: Path) -> None:
    places = [(at(0, 0), 1), (at(100, 0), 2), (at(9000, 0), 3)]
    bench = Bench(tmp_path, layer("p", "Point", "n:integer", places))
    found = bench.run("buffer", layer="p", distance=100, dissolve=True)
    assert found.numbers["count"] == 1


def wells(bench: Path) -> Bench:
    districts = [
        (square(0, 0, 2000), "A"),
        (square(2000, 0, 1000), "B"),
        (square(3000, 0, 1000), "C"),
    ]
    inside = [(at(200 + 100 * one, 300), "") for one in range(8)]
    inside += [(at(2200 + 100 * one, 300), "") for one in range(4)]
    return Bench(
        bench,
        layer("districts", "Polygon", "name:string", districts),
        layer("wells", "Point", "name:string", inside),
    )


def test_wells_per_square_kilometre_with_zeros_c07(tmp_path: Path) -> None:
    bench = wells(tmp_path)
    found = bench.run("count_in_polygons", polygons="districts", layer="wells")
    names, counts, densities = zip(*table(bench, found, "name", "count", "per_km2"))
    assert names == ("A", "B", "C")
    assert counts == (8, 4, 0)
    assert densities == pytest.approx((2.0, 4.0, 0.0), rel=GROUND)
    assert found.numbers == {"total": 12, "max": 8, "empty": 1, "features": 3}


def test_a_point_on_a_border_counts_once_and_one_outside_is_told_b20(tmp_path: Path) -> None:
    squares = layer(
        "squares", "Polygon", "n:integer", [(square(0, 0, 10), 1), (square(10, 0, 10), 2)]
    )
    places = [(at(10, 5), 1), (at(15, 5), 2), (at(50, 50), 3)]
    bench = Bench(tmp_path, squares, layer("points", "Point", "w:integer", places))
    found = bench.run("count_in_polygons", polygons="squares", layer="points")
    assert table(bench, found, "count") == [(1,), (1,)]
    assert "1 point on a border: counted once, in the first polygon." in found.notes
    assert "1 feature of points lie outside all of squares: not counted." in found.notes
    weighed = bench.run("count_in_polygons", polygons="squares", layer="points", sum_field="w")
    assert table(bench, weighed, "sum") == [(1,), (2,)]


def test_a_sum_of_texts_is_refused_b20(tmp_path: Path) -> None:
    bench = wells(tmp_path)
    with pytest.raises(MendableError, match="no sum of text values"):
        bench.run("count_in_polygons", polygons="districts", layer="wells", sum_field="name")


def parcel_and_flood(folder: Path) -> Bench:
    parcel = layer("parcels", "Polygon", "n:integer", [(square(0, 0, 20, 10), 1)])
    floods = [(square(0, 0, 10), 1), (square(5, 0, 10), 2)]
    return Bench(folder, parcel, layer("flood", "Polygon", "n:integer", floods))


def test_ground_is_flooded_once_c09_b18(tmp_path: Path) -> None:
    bench = parcel_and_flood(tmp_path)
    found = bench.run("coverage", layer="parcels", other="flood")
    assert found.numbers["percent"] == pytest.approx(75)
    assert found.numbers["covered_m2"] == pytest.approx(150, rel=GROUND)
    assert table(bench, found, "covered_pct")[0][0] == pytest.approx(75)


def test_an_overlay_tells_ground_that_it_holds_twice_b18(tmp_path: Path) -> None:
    bench = parcel_and_flood(tmp_path)
    found = bench.run("overlay", layer="parcels", operation="intersect", other="flood")
    assert found.numbers["area_ha"] == pytest.approx(0.02, rel=GROUND)
    (note,) = [one for one in found.notes if "overlap" in one]
    assert float(note.split("it is ")[1].split(" ha")[0]) == pytest.approx(0.015, rel=GROUND)


def test_square_metres_of_each_land_use_c10(tmp_path: Path) -> None:
    site = layer("site", "Polygon", "n:integer", [(square(0, 0, 100), 1)])
    uses = [
        (square(0, 0, 50, 100), "wood"),
        (square(50, 0, 100, 100), "crop"),
        (square(50, 50, 50), "crop"),
    ]
    bench = Bench(tmp_path, site, layer("uses", "Polygon", "cls:string", uses))
    found = bench.run("coverage", layer="site", other="uses", by="cls")
    assert found.numbers["wood"] == pytest.approx(5000, rel=GROUND)
    assert found.numbers["crop"] == pytest.approx(5000, rel=GROUND)
    assert table(bench, found, "m2_crop")[0][0] == pytest.approx(5000, rel=GROUND)


def crimes(folder: Path, *extra: tuple[str, int]) -> Bench:
    districts = [(square(0, 0, 1), 1, 1000), (square(2, 0, 1), 2, 2000), (square(4, 0, 1), 3, 0)]
    counts = [(None, "01", 10), (None, "02", 30), (None, "04", 5), *((None, *one) for one in extra)]
    return Bench(
        folder,
        layer("districts", "Polygon", "key:integer pop:integer", districts),
        layer("crimes", "None", "key:string n:integer", counts),
    )


def test_crimes_for_each_thousand_inhabitants_c11_b26(tmp_path: Path) -> None:
    bench = crimes(tmp_path)
    found = bench.run(
        "join_by_field", layer="districts", field="key", other="crimes", other_field="key"
    )
    assert table(bench, found, "key", "n") == [(1, 10), (2, 30), (3, None)]
    assert found.numbers == {"count": 3, "matched": 2, "unmatched": 1, "other_unmatched": 1}
    assert "1 key of crimes match no feature (key: 4)." in found.notes
    assert any('compared as numbers, so "01" equals 1' in one for one in found.notes)
    rate = bench.run(
        "calculate_field", layer="r1", name="rate", expression='1000.0 * "n" / nullif("pop", 0)'
    )
    assert [one for (one,) in table(bench, rate, "rate")] == [10.0, 15.0, None]


def test_a_key_in_several_rows_is_refused_or_summed_up_b26(tmp_path: Path) -> None:
    bench = crimes(tmp_path, ("02", 12))
    asked = {"layer": "districts", "field": "key", "other": "crimes", "other_field": "key"}
    with pytest.raises(MendableError, match=r"2 matches 2.*several = "):
        bench.run("join_by_field", **asked)
    found = bench.run("join_by_field", **asked, several="sum", fields=["n"])
    assert table(bench, found, "n") == [(10,), (42,), (None,)]
    first = bench.run("join_by_field", **asked, several="first", fields=["n"])
    assert table(bench, first, "n") == [(10,), (30,), (None,)]


def test_a_code_that_also_means_no_code_finds_its_row_by_the_name_b26(tmp_path: Path) -> None:
    lands = [(None, "NA", "Namibia"), (None, "AO", "Angola")]
    values = [(None, "NA", "Kosovo", 1), (None, "NA", "Namibia", 2), (None, "AO", "Angola", 3)]
    mine = layer("lands", "None", "code:string name:string", lands)
    other = layer("values", "None", "code:string land:string v:integer", values)
    bench = Bench(tmp_path, mine, other)
    asked = {"layer": "lands", "field": "code", "other": "values", "other_field": "code"}
    for several in ({}, {"several": "first"}):
        found = bench.run("join_by_field", **asked, fields=["v"], **several)
        assert table(bench, found, "v") == [(2,), (3,)]
        assert any('"NA" stands in 2 rows of values' in one for one in found.notes)
    summed = bench.run("join_by_field", **asked, fields=["v"], several="sum")
    assert table(bench, summed, "v") == [(3,), (3,)]


def test_fields_of_the_same_name_are_numbered_and_told_b26(tmp_path: Path) -> None:
    mine = layer("a", "None", "key:string name:string", [(None, "x", "mine")])
    other = layer("b", "None", "key:string name:string", [(None, " X", "theirs")])
    bench = Bench(tmp_path, mine, other)
    found = bench.run("join_by_field", layer="a", field="key", other="b", other_field="key")
    assert table(bench, found, "name", "name_2") == [("mine", "theirs")]
    assert "a has fields of the same name: name is name_2." in found.notes
    assert any("without case and blanks" in one for one in found.notes)


def test_keys_that_never_meet_are_refused_with_examples_b26(tmp_path: Path) -> None:
    mine = layer("a", "None", "key:string", [(None, "x")])
    other = layer("b", "None", "key:string", [(None, "y")])
    bench = Bench(tmp_path, mine, other)
    with pytest.raises(MendableError, match='there are "x" and "y"'):
        bench.run("join_by_field", layer="a", field="key", other="b", other_field="key")


def test_municipalities_by_density_c13(tmp_path: Path) -> None:
    places = [
        (square(0, 0, 1000), "A", 5000),
        (square(2000, 0, 2000), "B", 8000),
        (square(5000, 0, 500), "C", None),
    ]
    bench = Bench(tmp_path, layer("m", "Polygon", "name:string pop:integer", places))
    found = bench.run("top_n", layer="m", expression='"pop" / ($area / 1000000)', n=3)
    assert [found.texts["name"], found.texts["name2"]] == ["A", "B"]
    assert found.numbers["value"] == pytest.approx(4996, rel=1e-3)
    assert found.numbers["value2"] == pytest.approx(1998, rel=1e-3)
    assert "1 features without a number" in " ".join(found.notes)


def test_crimes_in_hexagons_c15(tmp_path: Path) -> None:
    places = [(at(500 + one, 500), one) for one in range(7)] + [(at(3500, 3500), 8)]
    area = layer("town", "Polygon", "n:integer", [(square(0, 0, 4000), 1)])
    bench = Bench(tmp_path, layer("crimes", "Point", "n:integer", places), area)
    found = bench.run("grid_count", layer="crimes", size="1 km", shape="hex", area="town")
    assert found.numbers["cells"] == 20
    assert found.numbers["total"] == 8
    assert found.numbers["max"] == 7
    first = rows(bench, found)[0].geometry()
    assert first.area() == pytest.approx(866_025, rel=1e-6)


def test_a_grid_over_degrees_is_in_metres(tmp_path: Path) -> None:
    places = [(f"POINT({10 + one / 100} 50)", one) for one in range(10)]
    bench = Bench(tmp_path, layer("p", "Point", "n:integer", places, "EPSG:4326"))
    found = bench.run("grid_count", layer="p", size=1000, shape="square")
    assert found.numbers["total"] == 10
    ((density,), *_) = table(bench, found, "per_km2")
    assert density == pytest.approx(table(bench, found, "count")[0][0], rel=1e-3)
    area = bench.run("measure", layer="r1", what="area", unit="ha")
    assert area.numbers["mean"] == pytest.approx(100, rel=1e-3)


def test_points_in_degrees_are_measured_on_every_worker(tmp_path: Path) -> None:
    """QGIS would give NaN from the second thread on that measures in a CRS of the tool's own."""
    places = [(f"POINT({10 + one / 100} {50 + one / 100})", one) for one in range(5)]
    bench = Bench(tmp_path, layer("p", "Point", "n:integer", places, "EPSG:4326"))
    found = [bench.work("clustering", {"layer": "p"})[0] for _ in range(3)]
    assert [round(one.numbers["mean_distance"], 1) for one in found] == [1323.2] * 3


def test_a_layer_in_a_crs_of_its_own_is_measured(tmp_path: Path) -> None:
    from qgis.core import QgsCoordinateReferenceSystem

    own = layer("p", "Polygon", "n:integer", [(box(0, 0, 1000, 1000), 1)])
    text = "+proj=aeqd +lat_0=50 +lon_0=10 +datum=WGS84 +units=m +no_defs"
    own.setCrs(QgsCoordinateReferenceSystem.fromProj(text))
    bench = Bench(tmp_path, own)
    found = bench.run("measure", layer="p", what="area", unit="ha")
    assert found.numbers["sum"] == pytest.approx(100, rel=1e-6)


def test_points_are_clustered_or_evenly_spread_c17(tmp_path: Path) -> None:
    even = [(at(100 * (one % 10), 100 * (one // 10)), one) for one in range(100)]
    near = [
        (at(x + one % 4, y + one // 4), one)
        for x, y in ((0, 0), (1000, 0), (0, 1000), (1000, 1000))
        for one in range(10)
    ]
    bench = Bench(
        tmp_path,
        layer("grid", "Point", "n:integer", even),
        layer("tight", "Point", "n:integer", near),
    )
    spread = bench.run("clustering", layer="grid")
    assert spread.numbers["index"] == pytest.approx(2.22, abs=0.01)
    assert spread.numbers["z_score"] == pytest.approx(23.4, abs=0.1)
    assert spread.texts["pattern"] == "evenly spread"
    tight = bench.run("clustering", layer="tight")
    assert tight.numbers["index"] < 0.1
    assert tight.numbers["z_score"] == pytest.approx(-11.9, abs=0.3)
    assert tight.texts["pattern"] == "clustered"
    assert len(bench.toolbox.layers()) == 2


def elk(folder: Path) -> Bench:
    corners = [(at(x, y), 1) for x, y in ((0, 0), (1000, 0), (1000, 1000), (0, 1000))]
    return Bench(folder, layer("elk", "Point", "w:integer", [*corners, (at(500, 200), 6)]))


def test_a_home_range_and_its_weighted_centre_c18(tmp_path: Path) -> None:
    bench = elk(tmp_path)
    hull = bench.run("hull_or_centre", layer="elk", shape="convex hull")
    assert hull.numbers["count"] == 1
    assert hull.numbers["area_ha"] == pytest.approx(100, rel=GROUND)
    centre = bench.run("hull_or_centre", layer="elk", shape="mean centre", weight="w")
    assert centre.numbers["x"] == pytest.approx(EAST + 500)
    assert centre.numbers["y"] == pytest.approx(NORTH + 320)
    plainly = bench.run("hull_or_centre", layer="elk", shape="mean centre")
    assert plainly.numbers["y"] == pytest.approx(NORTH + 440)


def test_points_alone_enclose_nothing_and_that_is_said_c18(tmp_path: Path) -> None:
    bench = elk(tmp_path)
    found = bench.run("hull_or_centre", layer="elk", shape="convex hull", of="each")
    assert found.numbers["count"] == 0
    assert any("enclose nothing" in one for one in found.notes)


def test_a_town_out_of_reach_of_its_fire_station_c35(tmp_path: Path) -> None:
    town = layer("town", "Polygon", "n:integer", [(square(0, 0, 4000), 1)])
    bench = Bench(tmp_path, town, layer("station", "Point", "n:integer", [(at(2000, 2000), 1)]))
    bench.run("buffer", layer="station", distance="1 km", segments=64)
    found = bench.run("overlay", layer="town", operation="difference", other="r1")
    assert found.numbers["area_ha"] / 100 == pytest.approx(12.859, rel=GROUND)
    share = bench.run("coverage", layer="town", other="r1")
    assert 100 - share.numbers["percent"] == pytest.approx(80.37, abs=0.02)


def test_the_shortest_and_the_fastest_way_c36(tmp_path: Path) -> None:
    corners = [(0, 0), (1000, 0), (1000, 1000), (0, 1000), (0, 0)]
    lines = [
        (f"LINESTRING({EAST + x} {NORTH + y},{EAST + u} {NORTH + v})", 50.0)
        for (x, y), (u, v) in zip(corners, corners[1:])
    ]
    bench = Bench(tmp_path, layer("roads", "LineString", "speed:double", lines))
    way = {
        "INPUT": "roads",
        "START_POINT": f"{EAST},{NORTH} [EPSG:32632]",
        "END_POINT": f"{EAST + 1000},{NORTH + 1000} [EPSG:32632]",
        "SPEED_FIELD": "speed",
    }
    name = "native:shortestpathpointtopoint"
    short = bench.run("run_algorithm", algorithm=name, parameters={**way, "STRATEGY": 0})
    assert short.numbers["TRAVEL_COST"] == pytest.approx(2000, rel=1e-3)
    fast = bench.run("run_algorithm", algorithm=name, parameters={**way, "STRATEGY": 1})
    assert fast.numbers["TRAVEL_COST"] * 60 == pytest.approx(2.4, rel=1e-3)


def test_houses_for_sale_near_the_school_c37(tmp_path: Path) -> None:
    places = [
        ((0, 0), "H1", 200),
        ((900, 0), "H2", 150),
        ((100, 40), "H3", 400),
        ((100, 0), "H4", 250),
    ]
    houses = layer(
        "houses", "Point", "name:string price:integer", [(at(*xy), *rest) for xy, *rest in places]
    )
    school = layer("school", "Point", "n:integer", [(at(1050, 0), 1)])
    line = f"LINESTRING({EAST - 100} {NORTH + 60},{EAST + 300} {NORTH + 60})"
    bench = Bench(tmp_path, houses, school, layer("roads", "LineString", "n:integer", [(line, 1)]))
    near, far = {"predicate": "within_distance"}, {"predicate": "beyond_distance"}
    bench.run("select_by_location", layer="houses", other="school", distance=1000, **near)
    quiet = bench.run("select_by_location", layer="r1", other="roads", distance=50, **far)
    assert quiet.layers[0].name == "houses within 1 km of school farther than 50 m from roads"
    found = bench.run("filter", layer="r2", where='"price" <= 250')
    assert table(bench, found, "name") == [("H2",), ("H4",)]


def test_buildings_in_a_flood_and_their_people_c40(tmp_path: Path) -> None:
    homes = [(square(20 * one, 0, 10), 4) for one in range(10)]
    floods = [(square(-5, -5, 80, 30), 1), (square(45, -5, 50, 30), 2)]
    bench = Bench(
        tmp_path,
        layer("buildings", "Polygon", "people:integer", homes),
        layer("flood", "Polygon", "n:integer", floods),
    )
    found = bench.run(
        "select_by_location", layer="buildings", predicate="intersects", other="flood"
    )
    people = bench.run("statistics", layer="r1", field="people", statistic="sum")
    assert (found.numbers["count"], people.numbers["sum"]) == (5, 20)
    joined = bench.run("join_by_location", layer="buildings", other="flood", several="count")
    assert joined.numbers["matched"] == 5
    assert joined.numbers["count"] == 10


def test_people_of_a_zone_by_the_size_of_their_buildings_c42(tmp_path: Path) -> None:
    zone = layer("zones", "Polygon", "pop:integer", [(square(0, 0, 500), 300)])
    homes = [(square(10, 10, 10), 1), (square(50, 10, 20), 2), (square(100, 10, 10), 3)]
    bench = Bench(tmp_path, zone, layer("buildings", "Polygon", "n:integer", homes))
    found = bench.run("distribute", zones="zones", field="pop", layer="buildings")
    assert [one for (one,) in table(bench, found, "pop_share")] == pytest.approx([50, 200, 50])
    assert found.numbers["sum"] == pytest.approx(300)


def test_what_is_shared_out_nowhere_is_told_c42(tmp_path: Path) -> None:
    zones = layer(
        "zones", "Polygon", "pop:integer", [(square(0, 0, 50), 300), (square(50, 0, 50), 7)]
    )
    homes = [(square(10, 10, 10), 1), (square(900, 10, 10), 2)]
    bench = Bench(tmp_path, zones, layer("buildings", "Polygon", "n:integer", homes))
    found = bench.run("distribute", zones="zones", field="pop", layer="buildings")
    assert [one for (one,) in table(bench, found, "pop_share")] == [300, None]
    assert "1 zone of zones hold no feature: their 7 went nowhere." in found.notes
    assert any("lie in no zone" in one for one in found.notes)


def test_duplicate_buildings_and_trees_too_close_c46(tmp_path: Path) -> None:
    ring = [(10, 0), (10, 10), (0, 10), (0, 0), (10, 0)]
    turned = f"POLYGON(({','.join(f'{EAST + x} {NORTH + y}' for x, y in ring)}))"
    homes = [(square(0, 0, 10), 1), (square(0, 0, 10), 2), (turned, 3), (square(50, 0, 10), 4)]
    trees = [(at(x, 0), number) for number, x in enumerate((0, 3, 100, 106), 1)]
    bench = Bench(
        tmp_path,
        layer("buildings", "Polygon", "n:integer", homes),
        layer("trees", "Point", "n:integer", trees),
    )
    found = bench.run("clean", layer="buildings", task="remove duplicates")
    assert table(bench, found, "n") == [(1,), (4,)]
    assert found.numbers["removed"] == 2
    assert "2 equals 1, 3 equals 1" in found.text
    near = bench.run(
        "select_by_location", layer="trees", predicate="within_distance", other="trees", distance=5
    )
    assert table(bench, near, "n") == [(1,), (2,)]


def test_gaps_are_closed_and_the_change_told_c47(tmp_path: Path) -> None:
    squares = [(square(0, 0, 10), 1), (square(10.01, 0, 10), 2)]
    bench = Bench(tmp_path, layer("p", "Polygon", "n:integer", squares))
    found = bench.run("clean", layer="p", task="close gaps", distance=0.05)
    assert found.numbers["parts"] == 1
    assert found.numbers["area_m2"] == pytest.approx(200.1, rel=GROUND)
    assert found.numbers["area_change_m2"] == pytest.approx(0.1, rel=0.01)
    assert "2 parts became 1" in found.text


def test_invalid_geometries_are_repaired_on_a_copy_b15(tmp_path: Path) -> None:
    bow = "POLYGON((0 0,10 10,10 0,0 10,0 0))"
    shapes = [(bow, 1), (box(20, 0, 30, 10), 2), (box(40, 0, 50, 10), 3)]
    bench = Bench(tmp_path, layer("p", "Polygon", "n:integer", shapes))
    found = bench.run("clean", layer="p", task="repair geometries")
    assert found.numbers["repaired"] == 1
    assert "1 of 3 were repaired: feature 1 (" in found.text
    mended = rows(bench, found)[0].geometry()
    assert mended.area() == pytest.approx(50)
    assert len(mended.asGeometryCollection()) == 2


def test_duplicate_rows_differ_by_any_value(tmp_path: Path) -> None:
    lines = [(None, "a", 1), (None, "a", 1), (None, "a", 2), (None, None, 1), (None, None, 1)]
    bench = Bench(tmp_path, layer("t", "None", "s:string n:integer", lines))
    found = bench.run("clean", layer="t", task="remove duplicate rows")
    assert table(bench, found, "s", "n") == [("a", 1), ("a", 2), (None, 1)]


def test_features_are_merged_by_a_field_with_their_sum(tmp_path: Path) -> None:
    parts = [
        (square(0, 0, 10), "x", 1),
        (square(10, 0, 10), "x", 2),
        (square(50, 0, 10), "y", None),
        (square(90, 0, 10), None, 4),
    ]
    bench = Bench(tmp_path, layer("p", "Polygon", "kind:string v:integer", parts))
    found = bench.run("dissolve", layer="p", by=["kind"], fields=["v"], statistic="sum")
    got = sorted(table(bench, found, "kind", "v", "merged"), key=str)
    assert got == [("x", 3, 2), ("y", None, 1), (None, 4, 1)] or got == sorted(
        [("x", 3, 2), ("y", 0, 1), (None, 4, 1)], key=str
    )
    areas = sorted(one.geometry().area() for one in rows(bench, found))
    assert areas == pytest.approx([100, 100, 200])


def test_each_feature_gets_the_district_with_which_it_shares_most(tmp_path: Path) -> None:
    districts = [(square(0, 0, 10), "west"), (square(10, 0, 100), "east")]
    parcels = [(square(8, 0, 10), 1), (square(-100, 0, 5), 2)]
    bench = Bench(
        tmp_path,
        layer("districts", "Polygon", "name:string", districts),
        layer("parcels", "Polygon", "n:integer", parcels),
    )
    found = bench.run(
        "join_by_location", layer="parcels", other="districts", several="largest overlap"
    )
    assert table(bench, found, "name") == [("east",), (None,)]
    assert found.numbers["unmatched"] == 1


DATES = [
    (None, "2023-12-31T23:00:00Z", "31/12/2023", 1.0),
    (None, "2024-02-29", "29/02/2024", 2.0),
    (None, "2024-03-01 12:00", "01/03/2024", 4.0),
    (None, "2024-06-15", "15/06/2024", None),
    (None, "soon", None, 8.0),
]


@pytest.mark.parametrize("field", ["iso", "slashed"])
def test_texts_with_dates_are_filtered_by_time(tmp_path: Path, field: str) -> None:
    bench = Bench(tmp_path, layer("t", "None", "iso:string slashed:string v:double", DATES))
    year = bench.run("filter_time", layer="t", field=field, start="2024")
    assert year.numbers["count"] == 3
    spring = bench.run("filter_time", layer="t", field=field, start="2024-02", end="2024-03")
    assert [one for (one,) in table(bench, spring, "v")] == [2.0, 4.0]
    latest = bench.run("filter_time", layer="t", field=field, latest=1)
    assert latest.texts["last"].startswith("2024-06-15")
    if field == "iso":
        assert any("1 value of iso cannot be read as a date" in one for one in year.notes)


def test_dates_that_could_be_read_either_way_are_asked_about(tmp_path: Path) -> None:
    lines = [(None, "03/04/2024"), (None, "05/06/2024")]
    bench = Bench(tmp_path, layer("t", "None", "d:string", lines))
    with pytest.raises(MendableError, match="say order = day first or month first"):
        bench.run("filter_time", layer="t", field="d", start="2024-04")
    found = bench.run(
        "filter_time", layer="t", field="d", start="2024-04", end="2024-04", order="day first"
    )
    assert found.numbers["count"] == 1


def test_a_series_fills_the_months_between(tmp_path: Path) -> None:
    bench = Bench(tmp_path, layer("t", "None", "iso:string slashed:string v:double", DATES))
    found = bench.run(
        "time_series", layer="t", time="iso", period="month", field="v", statistic="sum"
    )
    got = table(bench, found, "month", "v_sum")
    assert got[0] == ("2023-12", 1.0)
    assert got[1:4] == [("2024-01", 0.0), ("2024-02", 2.0), ("2024-03", 4.0)]
    assert len(got) == 7
    assert found.texts["highest_period"] == "2024-03"


def test_a_pivot_table_counts_and_sums_with_the_empty_cells_told(tmp_path: Path) -> None:
    lines = [(None, "a", "x", 1), (None, "a", "y", 2), (None, "b", "x", 4), (None, "b", "x", None)]
    bench = Bench(tmp_path, layer("t", "None", "r:string c:string v:integer", lines))
    count = bench.run("pivot_table", layer="t", rows=["r"], columns="c")
    assert table(bench, count, "r", "x", "y") == [("a", 1, 1), ("b", 2, 0)]
    total = bench.run("pivot_table", layer="t", rows=["r"], columns="c", field="v")
    assert table(bench, total, "r", "x", "y") == [("a", 1, 2), ("b", 4, None)]
    assert "1 cell without a row to take the sum of: NULL." in total.notes
    with pytest.raises(ToolError, match="has no mean"):
        bench.run("pivot_table", layer="t", rows=["r"], field="c", statistic="mean")
