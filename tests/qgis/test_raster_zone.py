# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones, samples, classes and their change against values by hand, on data made as cases say."""

from __future__ import annotations

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


def rows_of(bench: Bench, result: Any, *fields: str) -> list[tuple[Any, ...]]:
    live = bench.project.mapLayer(result.layers[0].id)
    return [tuple(feature[name] for name in fields) for feature in live.getFeatures()]


def test_zones_without_data_are_told_from_zero_b57(tmp_path: Path) -> None:
    cells = numpy.full((4, 4), 5.0)
    cells[0, 0] = -1
    cells[3, 3] = 6
    zones = [
        (box(LEFT, TOP - 40, LEFT + 40, TOP), "all"),
        (box(LEFT, TOP - 10, LEFT + 10, TOP), "hole"),
        (box(LEFT + 34, TOP - 36, LEFT + 36, TOP - 34), "tiny"),
        (box(LEFT + 400, TOP - 10, LEFT + 410, TOP), "outside"),
    ]
    bench = Bench(
        tmp_path,
        raster(tmp_path, "dem", cells, nodata=-1),
        layer("zones", "Polygon", "name:string", zones),
    )
    found = bench.run("zonal_statistics", layer="zones", raster="dem", statistic="mean")
    values = dict(rows_of(bench, found, "name", "z_mean"))
    assert values["all"] == pytest.approx(76 / 15)
    assert values["tiny"] == pytest.approx(6)
    assert not values["hole"]
    assert not values["outside"]
    assert "2 polygons hold no cell with data: not ranked." in found.notes
    assert (found.texts["highest"], found.numbers["highest"]) == ("tiny", pytest.approx(6))
    with pytest.raises(MendableError, match="dem has no band 3; it has 1"):
        bench.run("zonal_statistics", layer="zones", raster="dem", band=3)


def test_people_are_counted_in_the_rasters_own_grid_b60(tmp_path: Path) -> None:
    people = raster(
        tmp_path, "people", numpy.full((20, 20), 5), cell=0.01, left=10, top=60, crs=4326
    )
    zone = "POLYGON((550000 6600000,575000 6600000,575000 6700000,550000 6700000,550000 6600000))"
    bench = Bench(tmp_path, people, layer("zone", "Polygon", "n:string", [(zone, "z")]))
    found = bench.run("zonal_statistics", layer="zone", raster="people", statistic="sum")
    assert found.numbers == {"sum": 2000.0, "zones": 1.0}


def test_people_near_the_railway_are_counted_c01(tmp_path: Path) -> None:
    people = raster(tmp_path, "people", numpy.ones((200, 100)), cell=100, top=5010000)
    rail = layer(
        "rail", "LineString", "a:integer", [("LINESTRING(500000 5000000,510000 5000000)", 1)]
    )
    bench = Bench(tmp_path, people, rail)
    near = {}
    for distance in (1000, 5000):
        made = bench.run(
            "run_algorithm",
            algorithm="native:buffer",
            parameters={
                "INPUT": "rail",
                "DISTANCE": distance,
                "DISSOLVE": True,
                "END_CAP_STYLE": "flat",
            },
        )
        found = bench.run("zonal_statistics", layer=made.id, raster="people", statistic="sum")
        near[distance] = found.numbers["sum"]
    assert near == {1000: 2000, 5000: 10000}


def test_polygons_of_one_value_are_merged_before_the_mean_is_taken(tmp_path: Path) -> None:
    cells = numpy.array([[1.0, 1, 1, 9], [4, 4, 4, 4]])
    zones = [
        (box(LEFT, TOP - 10, LEFT + 30, TOP), "A", 7),
        (box(LEFT + 30, TOP - 10, LEFT + 40, TOP), "A", 8),
        (box(LEFT, TOP - 20, LEFT + 40, TOP - 10), "B", 9),
        (box(LEFT, TOP - 20, LEFT + 10, TOP - 10), None, 1),
    ]
    bench = Bench(
        tmp_path,
        raster(tmp_path, "dem", cells),
        layer("zones", "Polygon", "part:string n:integer", zones),
    )
    found = bench.run("zonal_statistics", layer="zones", raster="dem", by="part")
    values = {name: mean for name, mean in rows_of(bench, found, "part", "z_mean") if name}
    assert values == {"A": pytest.approx(3.0), "B": pytest.approx(4.0)}
    assert (found.texts["highest"], found.texts["lowest"]) == ("B", "A")
    assert "n" not in bench.project.mapLayer(found.layers[0].id).fields().names()


def test_people_in_the_flood_are_summed_by_district_c39(tmp_path: Path) -> None:
    flood = numpy.zeros((10, 10))
    flood[:, :3] = 1
    left, top = LEFT, TOP
    districts = [
        (box(left, top - 1000, left + 500, top), "W"),
        (box(left + 500, top - 1000, left + 1000, top), "E"),
    ]
    bench = Bench(
        tmp_path,
        raster(tmp_path, "pop", numpy.full((10, 10), 2), cell=100),
        raster(tmp_path, "flood", flood, cell=100),
        layer("districts", "Polygon", "name:string", districts),
    )
    wet = bench.run("raster_calculate", layers=["pop", "flood"], expression='"pop@1" * "flood@1"')
    found = bench.run("zonal_statistics", layer="districts", raster=wet.id, statistic="sum")
    assert dict(rows_of(bench, found, "name", "z_sum")) == {"W": 60, "E": 0}
    assert found.numbers["total"] == 60


def test_forest_loss_near_the_road_is_a_share_c43(tmp_path: Path) -> None:
    loss = numpy.zeros((20, 20))
    loss[:, :5] = 1
    loss[:10, 15:] = 1
    road = layer(
        "road", "LineString", "a:integer", [(f"LINESTRING({LEFT} {TOP - 20000},{LEFT} {TOP})", 1)]
    )
    bench = Bench(tmp_path, raster(tmp_path, "loss", loss, cell=1000), road)
    near = bench.run(
        "run_algorithm", algorithm="native:buffer", parameters={"INPUT": "road", "DISTANCE": 5500}
    )
    found = bench.run("zonal_statistics", layer=near.id, raster="loss", statistic="sum")
    total = bench.run("statistics", layer="loss", statistic="sum")
    share = 100 * found.numbers["sum"] / total.numbers["sum"]
    assert share == pytest.approx(66.7, abs=0.05)


def test_a_layer_beside_the_raster_is_refused_and_so_is_one_without_crs(tmp_path: Path) -> None:
    far = layer("far", "Polygon", "a:integer", [(box(0, 0, 1, 1), 1)])
    nowhere = layer("nowhere", "Polygon", "a:integer", [(box(0, 0, 1, 1), 1)], "")
    bench = Bench(tmp_path, raster(tmp_path, "dem", [[1, 2]]), far, nowhere)
    with pytest.raises(MendableError, match="far and dem do not overlap"):
        bench.run("zonal_statistics", layer="far", raster="dem")
    with pytest.raises(UnanswerableError, match="nowhere has no coordinate reference system"):
        bench.run("zonal_statistics", layer="nowhere", raster="dem")
    assert len(bench.project.mapLayers()) == 3


def test_points_get_the_values_under_them(tmp_path: Path) -> None:
    rows = [
        (f"POINT({LEFT + 5} {TOP - 5})", "a"),
        (f"POINT({LEFT + 15} {TOP - 5})", "b"),
        (f"POINT({LEFT + 900} {TOP - 5})", "c"),
    ]
    bench = Bench(
        tmp_path,
        raster(tmp_path, "dem", [[3, -9999]], [[7, 8]]),
        layer("points", "Point", "name:string", rows),
    )
    found = bench.run("sample_raster", layer="points", raster="dem")
    assert found.numbers == {"mean": 3.0, "min": 3.0, "max": 3.0, "count": 1.0}
    assert "2 points of 3 got no value." in found.notes
    values = rows_of(bench, found, "name", "value_1", "value_2")
    assert values[0] == ("a", 3, 7)


def test_burn_severity_is_classed_with_the_lower_bound_included_c25(tmp_path: Path) -> None:
    post = numpy.array([[0.55, 0.35], [0.1, -0.2]])
    bench = Bench(
        tmp_path,
        raster(tmp_path, "pre", numpy.full((2, 2), 0.6), cell=20),
        raster(tmp_path, "post", post, cell=20),
    )
    change = bench.run("raster_calculate", layers=["pre", "post"], expression='"pre@1"-"post@1"')
    found = bench.run("reclassify", layer=change.id, breaks=[0.1, 0.27, 0.44, 0.66])
    assert read(bench, found).tolist() == [[0, 1], [3, 4]]
    assert [found.numbers[f"class_{one}"] for one in (0, 1, 3, 4)] == [400] * 4
    assert "Each range includes its lower bound, not its upper one." in found.notes


def test_a_value_on_a_bound_belongs_to_the_range_above_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, raster(tmp_path, "a", [[0.1, 0.7, 0.2, 5]]))
    found = bench.run("reclassify", layer="a", breaks=[0.1, 0.2, 0.7])
    assert read(bench, found).tolist() == [[1, 3, 2, 3]]
    ranges = bench.run("reclassify", layer="a", table=[[0, 0.2, 10], [0.2, 0.7, 20]])
    assert read(bench, ranges).tolist() == [[10, None, 20, None]]
    assert "2 cells lie in no range: they have no data now." in ranges.notes


def test_classes_are_renamed_by_value(tmp_path: Path) -> None:
    bench = Bench(tmp_path, raster(tmp_path, "a", [[1, 2, 3]], kind=gdal.GDT_Byte))
    found = bench.run("reclassify", layer="a", table=[[1, 10], [2, 20], [3, 20]])
    assert read(bench, found).tolist() == [[10, 20, 20]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Give breaks, or a table"),
        ({"breaks": [1], "table": [[1, 2]]}, "Give breaks, or a table"),
        ({"breaks": [2, 1]}, "must rise"),
        ({"table": [[1, 2], [1, 2, 3]]}, "Every row"),
        ({"table": [[5, 5, 1]]}, "range 5 to 5 is empty"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, arguments: Any, message: str) -> None:
    bench = Bench(tmp_path, raster(tmp_path, "a", [[1, 2]]))
    with pytest.raises(MendableError, match=message):
        bench.run("reclassify", layer="a", **arguments)


def test_class_areas_are_planar_in_metres_and_ellipsoidal_in_degrees(tmp_path: Path) -> None:
    cells = numpy.array([[1, 1], [2, 2]])
    bench = Bench(
        tmp_path,
        raster(tmp_path, "metres", cells, cell=30, kind=gdal.GDT_Byte),
        raster(tmp_path, "degrees", cells, cell=1.0, left=3, top=61, crs=4326, kind=gdal.GDT_Byte),
        raster(tmp_path, "web", cells, cell=1000, left=334000, top=8400000, crs=3857),
    )
    planar = bench.run("class_areas", layer="metres")
    assert (planar.numbers["class_1"], planar.numbers["total"]) == (1800, 3600)
    found = bench.run("class_areas", layer="degrees", unit="km2", classes=[1]).numbers
    assert found["total"] == pytest.approx(2 * 6122.94, rel=1e-5)
    web = bench.run("class_areas", layer="web", unit="km2").numbers["total"]
    assert web == pytest.approx(4 * numpy.cos(numpy.radians(60.1)) ** 2, rel=0.02)


def test_a_missing_class_is_told_and_a_raster_of_numbers_is_no_raster_of_classes(
    tmp_path: Path,
) -> None:
    bench = Bench(
        tmp_path,
        raster(tmp_path, "a", [[1, 2]]),
        raster(tmp_path, "dem", numpy.random.default_rng(3).random((50, 50))),
        raster(tmp_path, "bare", [[1, 2]], crs=0),
    )
    found = bench.run("class_areas", layer="a", classes=[1, 9])
    assert "a has no cell of class 9." in found.notes
    with pytest.raises(MendableError, match="more than 1000 distinct values"):
        bench.run("class_areas", layer="dem")
    with pytest.raises(UnanswerableError, match="bare has no coordinate reference system"):
        bench.run("class_areas", layer="bare")


BEFORE = [[10] * 4 + [20] * 4, [10] * 4 + [20] * 4, [10] * 2 + [30] * 6, [30] * 8]
AFTER = [[10] * 4 + [30] * 4, [10] * 4 + [20] * 4, [30] * 8, [30] * 8]


def test_land_cover_change_is_a_matrix_of_areas_c21(tmp_path: Path) -> None:
    from qgis.core import QgsPalettedRasterRenderer
    from qgis.PyQt.QtGui import QColor

    byte = gdal.GDT_Byte
    before = raster(tmp_path, "lc2015", BEFORE, kind=byte)
    names = {10: "forest", 20: "grass", 30: "built-up"}
    classes = [
        QgsPalettedRasterRenderer.Class(key, QColor("red"), name) for key, name in names.items()
    ]
    before.setRenderer(QgsPalettedRasterRenderer(before.dataProvider(), 1, classes))
    bench = Bench(tmp_path, before, raster(tmp_path, "lc2023", AFTER, kind=byte))
    found = bench.run("class_change", before="lc2015", after="lc2023")
    wanted = {"10_to_30": 200, "20_to_30": 400, "10_to_10": 800, "20_to_20": 400, "30_to_30": 1400}
    assert {key: found.numbers[f"from_{key}"] for key in wanted} == wanted
    assert (found.numbers["changed"], found.numbers["unchanged"]) == (600, 2600)
    made = bench.project.mapLayer(found.layers[0].id)
    labels = {one.label for one in made.renderer().classes()}
    assert "forest -> built-up" in labels
    assert "grass unchanged" in labels


def test_a_raster_is_no_change_of_itself(tmp_path: Path) -> None:
    bench = Bench(tmp_path, raster(tmp_path, "use", [[10, 20]]))
    with pytest.raises(MendableError, match="use cannot be before and after at once"):
        bench.run("class_change", before="use", after="use")


def test_change_on_different_grids_is_refused_with_the_fix(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path,
        raster(tmp_path, "a", BEFORE, kind=gdal.GDT_Byte),
        raster(tmp_path, "b", AFTER, left=LEFT + 10, kind=gdal.GDT_Byte),
    )
    with pytest.raises(MendableError, match=r"different grids. Bring one over by raster_calculate"):
        bench.run("class_change", before="a", after="b")
    moved = bench.run("raster_calculate", layers=["a", "b"], expression="A * 0 + B")
    assert bench.run("class_change", before="a", after=moved.id).numbers["cells"] > 0


def test_the_lake_that_shrank_is_measured_c24(tmp_path: Path) -> None:
    names = ("green", "nir")
    bench = Bench(tmp_path)
    for name, size in (("early", 6), ("late", 4)):
        green, nir = numpy.full((10, 10), 1000), numpy.full((10, 10), 3000)
        green[:size, :size], nir[:size, :size] = 3000, 1000
        bench.project.addMapLayer(
            raster(tmp_path, name, green, nir, cell=30, kind=gdal.GDT_UInt16, names=names)
        )
    areas = []
    for name in ("early", "late"):
        index = bench.run("raster_index", layer=name, index="NDWI")
        water = bench.run("reclassify", layer=index.id, breaks=[0])
        found = bench.run("class_areas", layer=water.id, classes=[1], unit="ha")
        areas.append(found.numbers["total"])
    assert areas == [pytest.approx(3.24), pytest.approx(1.44)]
    assert 100 * (areas[1] - areas[0]) / areas[0] == pytest.approx(-55.6, abs=0.05)


def test_the_mean_index_of_each_field_of_a_sentinel_scene_c22(tmp_path: Path) -> None:
    nir = numpy.full((4, 8), 3000)
    nir[:, :4] = 5000
    scene = raster(
        tmp_path,
        "scene",
        numpy.full((4, 8), 2000),
        nir,
        kind=gdal.GDT_UInt16,
        names=("B04", "B08"),
        metadata={"PROCESSING_BASELINE": "05.09"},
    )
    fields = [
        (box(LEFT, TOP - 40, LEFT + 40, TOP), "F1"),
        (box(LEFT + 40, TOP - 40, LEFT + 80, TOP), "F2"),
    ]
    bench = Bench(tmp_path, scene, layer("fields", "Polygon", "name:string", fields))
    index = bench.run("raster_index", layer="scene", index="NDVI")
    found = bench.run("zonal_statistics", layer="fields", raster=index.id, statistic="mean")
    values = dict(rows_of(bench, found, "name", "z_mean"))
    assert values == {"F1": pytest.approx(0.6, abs=5e-4), "F2": pytest.approx(1 / 3, abs=5e-4)}
