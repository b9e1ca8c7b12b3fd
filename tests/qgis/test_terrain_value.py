# SPDX-License-Identifier: GPL-2.0-or-later
"""Slopes, contours, views and surfaces against values by hand, on data made as the cases say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from osgeo import gdal
from raster_case import LEFT, TOP, raster, read
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError, UnanswerableError

pytestmark = pytest.mark.usefixtures("qgis_processing")
DEGREES = "EPSG:4326"


def plane_in_degrees() -> Any:
    """A grade of 10 % towards the east at 45 N, on cells of 0.001 degrees."""
    metres = 0.001 * math.pi / 180 * 6378137 * math.cos(math.radians(45))
    metres /= math.sqrt(1 - 0.00669438 * math.sin(math.radians(45)) ** 2)
    return numpy.tile(numpy.arange(60) * metres * 0.1, (60, 1))


def test_the_slope_of_a_model_in_degrees_is_taken_in_metres_b61(tmp_path: Path) -> None:
    dem = raster(tmp_path, "dem", plane_in_degrees(), cell=0.001, left=9, top=45.03, crs=4326)
    found = Bench(tmp_path, dem).run("terrain", layer="dem", what="slope")
    assert found.numbers["mean"] == pytest.approx(math.degrees(math.atan(0.1)), rel=0.01)
    assert found.units["mean"] == "degrees"
    assert any(
        "dem is in degrees, so it was reprojected to EPSG:32632" in one for one in found.notes
    )


def test_the_slope_in_a_stretched_projection_is_true(tmp_path: Path) -> None:
    stretch = 1 / math.cos(math.radians(60))
    cells = numpy.tile(numpy.arange(40) * 100.0 / stretch * 0.1, (40, 1))
    dem = raster(tmp_path, "dem", cells, cell=100, left=1113000, top=8400000, crs=3857)
    bench = Bench(tmp_path, dem)
    found = read(bench, bench.run("terrain", layer="dem", what="slope percent"))
    assert numpy.ma.median(found) == pytest.approx(10, rel=0.01)


def test_heights_in_feet_are_told_or_said(tmp_path: Path) -> None:
    cells = numpy.tile(numpy.arange(20) * 10 / 0.3048 * 0.1, (20, 1))
    bench = Bench(tmp_path, raster(tmp_path, "dem", cells))
    found = bench.run("terrain", layer="dem", what="slope percent", height_unit="feet")
    assert numpy.ma.median(read(bench, found)) == pytest.approx(10, rel=1e-4)
    wrong = bench.run("terrain", layer="dem", what="slope percent")
    assert numpy.ma.median(read(bench, wrong)) == pytest.approx(10 / 0.3048, rel=1e-4)
    assert "Heights are taken as metres." in wrong.notes


def test_a_model_at_sea_level_without_declared_nodata_keeps_its_zeros_d19(tmp_path: Path) -> None:
    cells = numpy.zeros((20, 20))
    cells[:, 10:] = numpy.arange(10) * 1.0
    found = Bench(tmp_path, raster(tmp_path, "dem", cells)).run(
        "terrain", layer="dem", what="slope"
    )
    assert found.numbers["count"] == 400
    flat = read(Bench.opened[-1], found)[:, :9]
    assert flat.max() == 0


def test_a_hole_that_is_not_declared_makes_no_cliff(tmp_path: Path) -> None:
    cells = numpy.full((20, 20), 100.0)
    cells[8:12, 8:12] = -9999
    found = Bench(tmp_path, raster(tmp_path, "dem", cells)).run(
        "terrain", layer="dem", what="slope"
    )
    assert found.numbers["max"] == 0
    assert "dem holds -9999 without declaring it: taken as no data." in found.notes


def test_a_hut_site_faces_north_and_is_not_steep_c28(tmp_path: Path) -> None:
    south = numpy.arange(20)[:, None] * 10.0
    cells = numpy.hstack([numpy.tile(south * 0.05, 10), numpy.tile(south * 0.5, 10)])
    bench = Bench(tmp_path, raster(tmp_path, "dem", cells))
    slope = bench.run("terrain", layer="dem", what="slope")
    aspect = bench.run("terrain", layer="dem", what="aspect")
    assert slope.numbers["min"] == pytest.approx(2.86, abs=0.01)
    assert read(bench, slope)[10, 15] == pytest.approx(26.57, abs=0.01)
    assert read(bench, aspect)[10, 3] in (0, 360)
    fits = bench.run(
        "raster_calculate",
        layers=[slope.id, aspect.id],
        expression="(A <= 5) AND ((B >= 315) OR (B <= 45))",
    )
    found = bench.run("class_areas", layer=fits.id, classes=[1], unit="ha").numbers
    assert (found["cells"], found["total"]) == (180, pytest.approx(1.8))


def test_contours_stand_at_every_interval_c30(tmp_path: Path) -> None:
    cells = numpy.tile(numpy.arange(20) * 5 + 2.5, (20, 1))
    bench = Bench(tmp_path, raster(tmp_path, "dem", cells))
    found = bench.run("terrain", layer="dem", what="contours", interval=20)
    assert found.numbers == {"count": 4, "levels": 4, "min": 20, "max": 80}
    live = bench.project.mapLayer(found.layers[0].id)
    assert sorted(feature["ELEV"] for feature in live.getFeatures()) == [20, 40, 60, 80]
    with pytest.raises(MendableError, match="contours need an interval above 0"):
        bench.run("terrain", layer="dem", what="contours")
    with pytest.raises(MendableError, match="over 1000 contours"):
        bench.run("terrain", layer="dem", what="contours", interval=0.01)


def test_hillshade_roughness_and_ruggedness_are_gdals(tmp_path: Path) -> None:
    cells = numpy.random.default_rng(5).random((12, 12)) * 30
    bench = Bench(tmp_path, raster(tmp_path, "dem", cells))
    found = read(bench, bench.run("terrain", layer="dem", what="roughness"))
    window = cells[4:7, 4:7].astype("float32")
    assert found[5, 5] == pytest.approx(float(window.max() - window.min()), rel=1e-5)
    rugged = read(bench, bench.run("terrain", layer="dem", what="ruggedness"))
    assert rugged[5, 5] > 0
    shade = bench.run("terrain", layer="dem", what="hillshade")
    assert 1 <= shade.numbers["min"] < shade.numbers["max"] <= 255


def test_terrain_without_crs_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, raster(tmp_path, "dem", [[1, 2], [3, 4]], crs=0))
    with pytest.raises(UnanswerableError, match="its slope cannot be computed"):
        bench.run("terrain", layer="dem", what="slope")


def lookout(tmp_path: Path) -> Bench:
    cells = numpy.zeros((41, 41))
    cells[:, 20] = 50
    villages = [("POINT(500050 5000205)", "West"), ("POINT(500350 5000205)", "East")]
    return Bench(
        tmp_path,
        raster(tmp_path, "dem", cells, top=5000410),
        layer("lookout", "Point", "name:string", [("POINT(500105 5000205)", "L")]),
        layer("villages", "Point", "name:string", villages),
    )


def test_a_view_ends_at_the_wall_and_not_at_100_m_b63_c31(tmp_path: Path) -> None:
    bench = lookout(tmp_path)
    found = bench.run(
        "viewshed", layer="dem", observer="lookout", targets="villages", eye_height=1.6
    )
    seen = read(bench, found) == 255
    assert seen.shape == (41, 41)
    assert (int(seen[:, :20].sum()), int(seen[:, 21:].sum())) == (814, 0)
    assert found.texts["visible"] == "West"
    assert found.numbers["targets"] == 1
    with pytest.raises(MendableError, match=r"looks from one point, and villages has 2"):
        bench.run("viewshed", layer="dem", observer="villages")


def test_a_radius_of_a_view_takes_a_unit(tmp_path: Path) -> None:
    found = lookout(tmp_path).run("viewshed", layer="dem", observer="lookout", radius="0.05 km")
    assert 0 < found.numbers["cells"] < 120


def test_a_heat_map_of_points_in_degrees_has_its_radius_in_metres_c14(tmp_path: Path) -> None:
    quakes = [("POINT(10 45)", 1), ("POINT(10.001 45)", 3)]
    bench = Bench(tmp_path, layer("quakes", "Point", "mag:integer", quakes, DEGREES))
    found = bench.run("heat_map", layer="quakes", radius=500, weight="mag", cell_size=50)
    assert read(bench, found).shape in ((23, 22), (22, 23))
    assert found.numbers["max"] == pytest.approx(3.94, abs=0.01)
    renderer = bench.project.mapLayer(found.layers[0].id).renderer()
    hidden = renderer.rasterTransparency().transparentSingleValuePixelList()
    assert [(one.min, one.max, one.opacity) for one in hidden] == [(0, 0, 0)]
    assert found.layers[0].crs == "EPSG:32632"


def test_a_heat_map_keeps_the_size_of_its_cells_b12(tmp_path: Path) -> None:
    rows = [("POINT(10 60)", 1), ("POINT(10.001 60)", 1), ("POINT(10.01 60.01)", 1)]
    bench = Bench(tmp_path, layer("p", "Point", "a:integer", rows, DEGREES))
    found = bench.run("heat_map", layer="p", radius="0.5 km", cell_size=100)
    assert sorted(read(bench, found).shape) == [17, 23]
    assert found.numbers["max"] == pytest.approx(1.94, abs=0.01)


def test_points_without_a_weight_do_not_count_as_zero(tmp_path: Path) -> None:
    rows = [("POINT(10 45)", 2), ("POINT(10.02 45)", None)]
    bench = Bench(tmp_path, layer("p", "Point", "w:integer", rows, DEGREES))
    found = bench.run("heat_map", layer="p", radius=300, weight="w")
    assert "1 point without w were left out." in found.notes
    with pytest.raises(MendableError, match="too many cells"):
        bench.run("heat_map", layer="p", radius=300, cell_size=0.01)
    with pytest.raises(MendableError, match="must be above 0"):
        bench.run("heat_map", layer="p", radius=0)


def test_rainfall_between_stations_is_interpolated_c33(tmp_path: Path) -> None:
    corners = [(0, 0, 100), (1000, 0, 100), (0, 1000, 200), (1000, 1000, 200)]
    rows = [(f"POINT({LEFT + x} {TOP + y})", value) for x, y, value in corners]
    rows.append((f"POINT({LEFT + 500} {TOP + 500})", None))
    bench = Bench(tmp_path, layer("stations", "Point", "rain:double", rows))
    found = bench.run("interpolate", layer="stations", field="rain", cell_size=100)
    cells = read(bench, found)
    assert cells.shape == (10, 10)
    assert found.numbers["mean"] == pytest.approx(150.0, abs=0.01)
    assert found.numbers["min"] == pytest.approx(100.8, abs=0.05)
    assert found.numbers["max"] == pytest.approx(199.2, abs=0.05)
    x, y = LEFT + 50, TOP + 950
    weights = dict.fromkeys((100, 200), 0.0)
    for dx, dy, value in corners:
        weights[value] += 1 / ((LEFT + dx - x) ** 2 + (TOP + dy - y) ** 2)
    wanted = sum(value * one for value, one in weights.items()) / sum(weights.values())
    assert cells[0, 0] == pytest.approx(wanted, rel=1e-5)
    assert "1 point without rain were left out." in found.notes
    assert found.layers[0].crs == "EPSG:32632"


def test_a_mosaic_keeps_holes_and_values_of_every_type(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path,
        raster(tmp_path, "a", [[255, 0]], kind=gdal.GDT_Byte),
        raster(tmp_path, "b", [[7, 9]], left=LEFT + 30, kind=gdal.GDT_Byte),
        raster(tmp_path, "c", [[1, -1]], nodata=-1),
        raster(tmp_path, "d", [[5, 6]], nodata=-1),
    )
    found = bench.run("merge_rasters", layers=["a", "b"])
    assert read(bench, found).tolist() == [[255, 0, None, 7, 9]]
    on_top = bench.run("merge_rasters", layers=["d", "c"])
    assert read(bench, on_top).tolist() == [[1, 6]]


def test_a_clip_keeps_the_grid_and_the_values_255(tmp_path: Path) -> None:
    cells = numpy.arange(36).reshape(6, 6)
    cells[2, 2] = 255
    zone = layer(
        "zone", "Polygon", "a:integer", [(box(LEFT + 12, TOP - 38, LEFT + 38, TOP - 12), 1)]
    )
    bench = Bench(tmp_path, raster(tmp_path, "a", cells, kind=gdal.GDT_Byte), zone)
    found = bench.run("clip_raster", layer="a", polygons="zone")
    values = read(bench, found)
    assert values.max() == 255
    for value in values.compressed():
        assert value in cells[1:4, 1:4]
    assert values.shape == (3, 3)


def test_features_are_burnt_onto_the_grid_of_a_raster_and_back(tmp_path: Path) -> None:
    zones = [
        (box(LEFT, TOP - 20, LEFT + 20, TOP), 3),
        (box(LEFT + 20, TOP - 20, LEFT + 40, TOP), 8),
    ]
    bench = Bench(
        tmp_path,
        raster(tmp_path, "dem", numpy.zeros((2, 5))),
        layer("zones", "Polygon", "code:integer", zones),
    )
    found = bench.run("rasterize", layer="zones", field="code", like="dem")
    assert read(bench, found).tolist() == [[3, 3, 8, 8, None]] * 2
    back = bench.run("vectorize", layer=found.id)
    live = bench.project.mapLayer(back.layers[0].id)
    assert {one["DN"]: one.geometry().area() for one in live.getFeatures()} == {3: 400, 8: 400}
    with pytest.raises(MendableError, match="rasterize needs cell_size"):
        bench.run("rasterize", layer="zones", field="code")


@pytest.mark.parametrize(
    ("names", "highest"),
    [
        (("A2023060", "A2023091", "A2023121", "A2023152"), "May 2023"),
        (("2023-03-01", "2023-04-01", "2023-05-01", "2023-06-01"), "May 2023"),
        (("ndvi_mar_2023", "ndvi_apr_2023", "ndvi_may_2023", "ndvi_jun_2023"), "May 2023"),
        (("m0", "m1", "m2", "m3"), "m2"),
    ],
)
def test_the_greenest_month_is_told_by_its_date_c27(
    tmp_path: Path, names: tuple[str, ...], highest: str
) -> None:
    values = (0.2, 0.5, 0.8, 0.4)
    layers = [
        raster(tmp_path, name, numpy.full((3, 3), value)) for name, value in zip(names, values)
    ]
    bench = Bench(tmp_path, *layers)
    found = bench.run("raster_series", layers=list(reversed(names)))
    assert found.texts["highest"].startswith(highest)
    assert found.numbers["highest"] == pytest.approx(0.8)
    assert found.numbers["mean"] == pytest.approx(0.475)
    together = bench.run("cell_statistics", layers=list(names), statistic="mean")
    assert together.numbers["mean"] == pytest.approx(0.475)


def test_a_long_calculation_is_stopped_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    dem = raster(tmp_path, "dem", numpy.random.default_rng(2).random((3000, 3000)))
    bench = Bench(tmp_path / "work", dem)
    calls = {
        "terrain": {"layer": "dem", "what": "slope"},
        "statistics": {"layer": "dem", "statistic": "median"},
        "raster_calculate": {"layers": ["dem"], "expression": "sqrt(A) * 2"},
    }
    for tool, arguments in calls.items():
        asked: list[int] = []

        def stop(asked: list[int] = asked) -> bool:
            asked.append(1)
            return len(asked) > 4

        result, error, _ = bench.work(tool, arguments, stop)
        assert result is None
        assert type(error).__name__ == "ToolCancelled", (tool, error)
    assert [path for path in (tmp_path / "work").rglob("*") if path.is_file()] == []
    assert len(bench.project.mapLayers()) == 1
