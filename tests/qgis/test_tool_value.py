# SPDX-License-Identifier: GPL-2.0-or-later
"""Right values on small layers, each computed by hand or stated by the field cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from osgeo import gdal, osr
from qgis.core import QgsRasterLayer
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError, ToolResult, UnanswerableError

pytestmark = pytest.mark.usefixtures("qgis_processing")
DEGREES = "EPSG:4326"


def algorithm(bench: Bench, name: str, **parameters: Any) -> ToolResult:
    return bench.run("run_algorithm", algorithm=name, parameters=parameters)


def only_layer(bench: Bench, result: ToolResult) -> Any:
    return bench.project.mapLayer(result.layers[0].id)


def values() -> Any:
    rows = [
        ("POINT(0 0)", "A", 1, "3"),
        ("POINT(10 0)", "B", 2, "4.5"),
        ("POINT(20 0)", None, None, "NA"),
        ("POINT(30 0)", "", 9, None),
        ("POINT(40 0)", "O'Hare", 9, " "),
    ]
    return layer("t", "Point", "t:string n:integer code:string", rows)


def test_a_buffer_in_degrees_is_refused_with_the_fix_b01(tmp_path: Path) -> None:
    bench = Bench(tmp_path, layer("p", "Point", "a:integer", [("POINT(3 60)", 1)], DEGREES))
    with pytest.raises(MendableError) as caught:
        algorithm(bench, "native:buffer", INPUT="p", DISTANCE=1000)
    assert "The distance 1000 would be in degrees: p is in EPSG:4326." in caught.value.message
    assert "EPSG:32631" in caught.value.message
    moved = algorithm(bench, "native:reprojectlayer", INPUT="p", TARGET_CRS="EPSG:32631")
    buffered = algorithm(bench, "native:buffer", INPUT=moved.id, DISTANCE="1 km", SEGMENTS=16)
    area = next(only_layer(bench, buffered).getFeatures()).geometry().area()
    assert area == pytest.approx(3_136_548, rel=1e-4)


@pytest.mark.parametrize("wrong", ["1,5", "far", None, "5 leagues"])
def test_a_distance_that_means_nothing_is_refused_b03(tmp_path: Path, wrong: Any) -> None:
    bench = Bench(tmp_path, values())
    with pytest.raises(MendableError, match=r"DISTANCE"):
        algorithm(bench, "native:buffer", INPUT="t", DISTANCE=wrong)
    with pytest.raises(MendableError, match=r"DISTANCE"):
        algorithm(bench, "native:buffer", INPUT="t")


def test_a_negative_distance_on_points_is_refused_b03(tmp_path: Path) -> None:
    with pytest.raises(MendableError, match=r"negative distance"):
        algorithm(Bench(tmp_path, values()), "native:buffer", INPUT="t", DISTANCE=-5)


@pytest.mark.parametrize("crs", [DEGREES, "EPSG:3857"])
def test_areas_are_ellipsoidal_in_any_crs_b06(tmp_path: Path, crs: str) -> None:
    rows = [(box(3, 0, 4, 1), 1), (box(3, 60, 4, 61), 2)]
    bench = Bench(tmp_path, layer("boxes", "Polygon", "a:integer", rows, DEGREES))
    name = "boxes"
    if crs != DEGREES:
        name = algorithm(bench, "native:reprojectlayer", INPUT="boxes", TARGET_CRS=crs).id
    found = bench.run("measure", layer=name, what="area", unit="km2").numbers
    assert found["max"] == pytest.approx(12_308.78, rel=1e-5)
    assert found["min"] == pytest.approx(6_122.94, rel=1e-5)


def test_each_polygon_of_web_mercator_gets_its_true_hectares_c19(tmp_path: Path) -> None:
    rows = [(box(3, 0, 4, 1), 1), (box(3, 60, 4, 61), 2)]
    bench = Bench(tmp_path, layer("boxes", "Polygon", "a:integer", rows, DEGREES))
    mercator = bench.run("reproject", layer="boxes", crs="EPSG:3857")
    name = mercator.layers[0].id
    made = bench.run("calculate_field", layer=name, name="ha", expression="$area / 10000")
    found = bench.project.mapLayer(made.layers[0].id)
    by_id = {one["a"]: one["ha"] for one in found.getFeatures()}
    assert by_id[1] == pytest.approx(1_230_878, rel=1e-4)
    assert by_id[2] == pytest.approx(612_294, rel=1e-4)


def test_lengths_are_ellipsoidal_without_the_projects_ellipsoid_b08(tmp_path: Path) -> None:
    line = ("LINESTRING(499500 5000500,500500 5000500)", 1)
    bench = Bench(tmp_path, layer("line", "LineString", "a:integer", [line]))
    bench.project.setEllipsoid("NONE")
    moved = algorithm(bench, "native:reprojectlayer", INPUT="line", TARGET_CRS=DEGREES)
    for name in ("line", moved.id):
        found = bench.run("measure", layer=name, what="length", unit="m").numbers
        assert found["sum"] == pytest.approx(1000.40, abs=0.02)


def villages(tmp_path: Path) -> Bench:
    clinics = [("POINT(10.01 60)", "East"), ("POINT(10 60.007)", "North")]
    return Bench(
        tmp_path,
        layer("village", "Point", "n:string", [("POINT(10 60)", "V")], DEGREES),
        layer("clinic", "Point", "n:string", clinics, DEGREES),
    )


@pytest.mark.parametrize(("metres", "count"), [(557, 0), (558.5, 1), (779, 1), (781, 2)])
def test_a_distance_is_on_the_ground_b10(tmp_path: Path, metres: float, count: int) -> None:
    found = villages(tmp_path).run(
        "select_by_location",
        layer="clinic",
        predicate="within_distance",
        other="village",
        distance=metres,
    )
    assert found.numbers["count"] == count


def test_a_distance_reaches_over_the_date_line_b14(tmp_path: Path) -> None:
    rows = [("POINT(179.9 -16)", "west"), ("POINT(-179.9 -16)", "east"), ("POINT(170 -16)", "x")]
    bench = Bench(tmp_path, layer("islands", "Point", "n:string", rows, DEGREES))
    condition = {"field": "n", "op": "=", "value": "west"}
    found = bench.run(
        "select_by_location",
        layer="islands",
        predicate="within_distance",
        other="islands",
        distance="25 km",
        other_conditions=[condition],
    )
    live = only_layer(bench, found)
    assert [feature["n"] for feature in live.getFeatures()] == ["east"]


def test_predicates_are_told_apart_c06(tmp_path: Path) -> None:
    counties = [
        (box(500000, 5000000, 500100, 5000100), "A"),
        (box(500100, 5000000, 500200, 5000100), "B"),
        (box(500200, 5000100, 500300, 5000200), "C"),
        (box(501000, 5000000, 501100, 5000100), "D"),
    ]
    river = ("LINESTRING(500050 5000050,500200 5000100)", 1)
    bench = Bench(
        tmp_path,
        layer("counties", "Polygon", "n:string", counties),
        layer("river", "LineString", "a:integer", [river]),
    )
    wanted = {"intersects": "ABC", "crosses": "AB", "touches": "C", "disjoint": "D"}
    for predicate, names in wanted.items():
        found = bench.run(
            "select_by_location", layer="counties", predicate=predicate, other="river"
        )
        live = only_layer(bench, found)
        assert "".join(sorted(feature["n"] for feature in live.getFeatures())) == names


def test_within_and_contains_are_converses(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path,
        layer("big", "Polygon", "a:integer", [(box(0, 0, 10, 10), 1), (box(50, 50, 60, 60), 2)]),
        layer("small", "Polygon", "a:integer", [(box(1, 1, 2, 2), 1), (box(9, 9, 11, 11), 2)]),
    )
    for subject, predicate, other in (("small", "within", "big"), ("big", "contains", "small")):
        found = bench.run("select_by_location", layer=subject, predicate=predicate, other=other)
        assert found.numbers["count"] == 1


def test_areas_are_found_by_one_point_in_them(tmp_path: Path) -> None:
    areas = [(box(0, 0, 10, 10), "A"), (box(20, 0, 30, 10), "B"), (box(0, 20, 10, 30), "C")]
    bench = Bench(
        tmp_path,
        layer("areas", "Polygon", "n:string", areas),
        layer("well", "Point", "a:integer", [("POINT(25 5)", 1)]),
    )
    for predicate in ("intersects", "contains"):
        found = bench.run("select_by_location", layer="areas", predicate=predicate, other="well")
        assert [one["n"] for one in only_layer(bench, found).getFeatures()] == ["B"]


def test_many_places_and_few_give_the_same(tmp_path: Path) -> None:
    rows = [(f"POINT({500000 + 10 * number} 5000000)", number) for number in range(200)]
    bench = Bench(tmp_path, layer("posts", "Point", "n:integer", rows))
    for last, wanted in ((30, 33), (100, 103)):
        condition = {"field": "n", "op": "<=", "value": last}
        found = bench.run(
            "select_by_location",
            layer="posts",
            predicate="within_distance",
            other="posts",
            distance=20,
            other_conditions=[condition],
        )
        assert found.numbers["count"] == wanted


def test_a_layer_without_crs_is_not_measured_b05(tmp_path: Path) -> None:
    bench = Bench(tmp_path, layer("columbus", "Polygon", "a:integer", [(box(0, 0, 1, 1), 1)], ""))
    sentence = "columbus has no coordinate reference system, so"
    with pytest.raises(UnanswerableError, match=sentence):
        bench.run("measure", layer="columbus", what="area", unit="km2")
    with pytest.raises(UnanswerableError, match=sentence):
        bench.run("calculate_field", layer="columbus", name="x", expression="$area")
    with pytest.raises(UnanswerableError, match=sentence):
        algorithm(bench, "native:buffer", INPUT="columbus", DISTANCE=5)


def parcels() -> Any:
    rows = [
        (box(20, 20, 30, 30), "good"),
        ("POLYGON((0 0,10 10,10 0,0 10,0 0))", "bow tie"),
        (box(40, 40, 50, 50), "fine"),
    ]
    return layer("parcels", "Polygon", "name:string", rows)


def test_an_invalid_geometry_is_repaired_on_a_copy_and_said_b15(tmp_path: Path) -> None:
    bench = Bench(tmp_path, parcels())
    found = algorithm(bench, "native:dissolve", INPUT="parcels")
    area = next(only_layer(bench, found).getFeatures()).geometry().area()
    assert area == pytest.approx(250)
    assert "1 of 3 geometries of parcels were invalid and repaired on a copy." in found.notes
    source = bench.project.mapLayersByName("parcels")[0]
    assert [one.geometry().isGeosValid() for one in source.getFeatures()] == [True, False, True]
    assert len(bench.project.mapLayers()) == 2


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ('"t"="A"', "'A'"),
        ("t=='A'", "single ="),
        ('"populaton" > 1', 'no field "populaton"'),
        ('foo("n") > 1', "no function foo"),
        ("load_layer('/etc/passwd','ogr')", "load_layer"),
        ("n >", "does not parse"),
    ],
)
def test_a_wrong_expression_is_refused_b21_b22(tmp_path: Path, expression: str, hint: str) -> None:
    bench = Bench(tmp_path, values())
    for tool in ("count", "filter"):
        with pytest.raises(MendableError) as caught:
            bench.run(tool, layer="t", where=expression)
        assert hint in caught.value.message
    with pytest.raises(MendableError) as caught:
        algorithm(bench, "native:extractbyexpression", INPUT="t", EXPRESSION=expression)
    assert hint in caught.value.message


def test_a_right_expression_is_counted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    assert bench.run("count", layer="t", where="\"T\" = 'O''Hare'").numbers["count"] == 1
    found = bench.run("count", layer="t", conditions=[{"field": "t", "op": "=", "value": "O'HARE"}])
    assert found.numbers["count"] == 1


def test_a_null_is_not_counted_as_zero(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    found = bench.run("statistics", layer="t", field="n")
    assert found.numbers["mean"] == pytest.approx(21 / 4)
    assert found.numbers["median"] == pytest.approx(5.5)
    assert found.numbers["count"] == 4
    assert "1 features without n were left out." in found.notes


def test_numbers_in_texts_are_read_and_the_others_told_d23(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    found = bench.run("statistics", layer="t", field="code", statistic="sum")
    assert found.numbers == {"sum": 7.5, "count": 2.0}
    assert "code is text: 1 values that are not numbers were left out." in found.notes
    assert "2 features without code were left out." in found.notes


def test_groups_are_ranked_and_empty_ones_left_out_c12(tmp_path: Path) -> None:
    rows = [(None, "a", 1), (None, "a", 3), (None, "a", None)]
    rows += [(None, "b", 10), (None, "b", 20), (None, "b", 60)]
    bench = Bench(tmp_path, layer("g", "NoGeometry", "k:string v:integer", rows, ""))
    found = bench.run("statistics", layer="g", field="v", statistic="mean", group_by="k")
    assert found.texts == {"highest": "b", "lowest": "a"}
    assert found.numbers["highest"] == 30
    assert found.numbers["lowest"] == 2
    median = bench.run("statistics", layer="g", field="v", statistic="median", group_by="k")
    assert median.numbers["highest"] == 20


def test_ties_are_told(tmp_path: Path) -> None:
    found = Bench(tmp_path, values()).run("top_n", layer="t", field="n", n=1)
    assert found.numbers["value"] == 9
    assert "1 more have the same value 9 as the last one." in found.notes
    least = Bench(tmp_path, values()).run("top_n", layer="t", field="n", order="lowest")
    assert (least.numbers["value"], least.texts["name"]) == (1, "A")


def test_a_calculated_field_comes_in_a_new_layer(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    found = bench.run("calculate_field", layer="t", name="twice", expression='"n" * 2')
    assert found.numbers["sum"] == 42
    assert "1 features have no twice: it gave no value." in found.notes
    live = only_layer(bench, found)
    assert live.fields().field("twice").typeName().lower().startswith("int")
    source = bench.project.mapLayersByName("t")[0]
    assert "twice" not in source.fields().names()


def test_areas_in_degrees_are_refused_with_the_right_function(tmp_path: Path) -> None:
    bench = Bench(tmp_path, layer("b", "Polygon", "a:integer", [(box(3, 0, 4, 1), 1)], DEGREES))
    with pytest.raises(MendableError, match=r"Use \$area"):
        bench.run("calculate_field", layer="b", name="x", expression="area($geometry)")
    found = bench.run("calculate_field", layer="b", name="x", expression="$area / 1e6")
    assert found.numbers["sum"] == pytest.approx(12_308.78, rel=1e-5)


def test_missing_fields_and_wrong_kinds_of_layers_are_refused_b28(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path, values(), layer("areas", "Polygon", "a:integer", [(box(0, 0, 1, 1), 1)])
    )
    with pytest.raises(MendableError, match=r'areas has no field "zzz"'):
        algorithm(bench, "native:dissolve", INPUT="areas", FIELD=["zzz"])
    with pytest.raises(MendableError, match=r"POLYGONS needs polygons; t is a point layer"):
        algorithm(bench, "native:countpointsinpolygon", POLYGONS="t", POINTS="areas")
    with pytest.raises(MendableError, match=r't has no field "zzz"'):
        algorithm(
            bench, "native:extractbyattribute", INPUT="t", FIELD="zzz", OPERATOR="=", VALUE="1"
        )


def test_labels_and_names_in_lower_case_are_taken_b29(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    found = algorithm(
        bench, "native:buffer", input="t", distance=4, end_cap_style="square", dissolve="true"
    )
    assert found.numbers["count"] == 1
    area = next(only_layer(bench, found).getFeatures()).geometry().area()
    assert area == pytest.approx(5 * 64)
    assert found.parameters["END_CAP_STYLE"] == 2
    with pytest.raises(MendableError, match=r'no parameter "FOO". Its parameters are INPUT'):
        algorithm(bench, "native:buffer", INPUT="t", DISTANCE=4, FOO=1)
    with pytest.raises(MendableError, match=r"Allowed: Round, Flat, Square"):
        algorithm(bench, "native:buffer", INPUT="t", DISTANCE=4, END_CAP_STYLE="pointed")


def test_invented_algorithm_ids_give_the_closest_b30(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    for wrong, right in (
        ("native:rastercalculator", "native:rastercalc"),
        ("native:joinbylocation", "native:joinattributesbylocation"),
    ):
        with pytest.raises(MendableError) as caught:
            algorithm(bench, wrong)
        assert right in caught.value.message
    found = algorithm(bench, "NATIVE:checkvalidity", INPUT_LAYER="t", METHOD="GEOS")
    assert found.numbers["VALID_COUNT"] == 5


def test_files_are_written_in_the_output_folder_only_and_never_over_others_b40(
    tmp_path: Path,
) -> None:
    output = tmp_path / "results"
    bench = Bench(tmp_path / "temporary", values(), output=output)
    for outside in ("/tmp/x.gpkg", "../x.gpkg"):
        with pytest.raises(MendableError, match=r"Files are written only in"):
            algorithm(bench, "native:centroids", INPUT="t", OUTPUT=outside)
    for _ in range(2):
        algorithm(bench, "native:centroids", INPUT="t", OUTPUT="c.gpkg")
    assert sorted(path.name for path in output.glob("*.gpkg")) == ["c.gpkg", "c_2.gpkg"]
    plain = Bench(tmp_path / "temporary", values())
    with pytest.raises(MendableError, match=r"leave the output out"):
        algorithm(plain, "native:centroids", INPUT="t", OUTPUT="c.gpkg")


def test_free_text_for_programs_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, raster(tmp_path, "dem", [[1, 2], [3, 4]]))
    with pytest.raises(MendableError, match=r"EXTRA passes text to a program"):
        algorithm(bench, "gdal:translate", INPUT="dem", EXTRA="-co X=1")


def test_a_file_that_is_no_layer_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    with pytest.raises(MendableError, match=r"no layer"):
        algorithm(bench, "native:centroids", INPUT="/etc/passwd")


def raster(folder: Path, name: str, cells: Any, nodata: float | None = None) -> Any:
    """Write cells of 10 m as a GeoTIFF and open it."""
    array = numpy.asarray(cells, dtype="float32")
    path = folder / f"{name}.tif"
    data = gdal.GetDriverByName("GTiff").Create(
        str(path), array.shape[1], array.shape[0], 1, gdal.GDT_Float32
    )
    data.SetGeoTransform((500000, 10, 0, 5000000, 0, -10))
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(32632)
    data.SetProjection(reference.ExportToWkt())
    if nodata is not None:
        data.GetRasterBand(1).SetNoDataValue(nodata)
    data.GetRasterBand(1).WriteArray(array)
    data.GetRasterBand(1).SetStatistics(-9999, 9999, -9999, 1)
    data = None
    return QgsRasterLayer(str(path), name)


def test_raster_statistics_leave_nodata_out_and_ignore_stored_ones_d15(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "temporary", raster(tmp_path, "dem", [[1, 2], [6, -9999]], -9999))
    before = sorted(path.name for path in tmp_path.iterdir())
    found = bench.run("statistics", layer="dem")
    assert found.numbers["mean"] == pytest.approx(3.0)
    assert (found.numbers["min"], found.numbers["max"], found.numbers["count"]) == (1, 6, 3)
    assert "1 cells without data were left out." in found.notes
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("method", ["quantile", "equal interval", "jenks", "pretty"])
def test_classes_leave_null_out_b66(tmp_path: Path, method: str) -> None:
    rows = [(box(n, 0, n + 1, 1), v) for n, v in enumerate([5, 10, 15, None])]
    bench = Bench(tmp_path, layer("d", "Polygon", "v:integer", rows))
    bench.run("style_graduated", layer="d", field="v", classes=2, method=method)
    renderer = bench.project.mapLayersByName("d")[0].renderer()
    assert renderer.classAttribute() == "v"
    assert len(renderer.ranges()) >= 1
    if method != "pretty":
        assert len(renderer.ranges()) == 2
        assert renderer.ranges()[0].lowerValue() == 5
    assert renderer.ranges()[-1].upperValue() >= 15


@pytest.mark.parametrize("method", ["quantile", "equal interval", "jenks", "pretty"])
def test_equal_values_make_one_class_b66(tmp_path: Path, method: str) -> None:
    rows = [(box(n, 0, n + 1, 1), 0) for n in range(3)]
    bench = Bench(tmp_path, layer("d", "Polygon", "v:integer", rows))
    bench.run("style_graduated", layer="d", field="v", classes=5, method=method)
    renderer = bench.project.mapLayersByName("d")[0].renderer()
    assert len(renderer.ranges()) == 1


def test_an_empty_result_is_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    found = bench.run("filter", layer="t", conditions=[{"field": "n", "op": ">", "value": 99}])
    assert found.numbers["count"] == 0
    assert "No feature of t meets the conditions." in found.text


def test_a_heat_map_radius_in_degrees_is_refused_b12(tmp_path: Path) -> None:
    rows = [("POINT(10 60)", 1), ("POINT(10.001 60)", 3), ("POINT(10.01 60.01)", 1)]
    bench = Bench(tmp_path, layer("quakes", "Point", "m:integer", rows, DEGREES))
    name = "heatmapkerneldensityestimation"
    with pytest.raises(MendableError, match="The distance 500 would be in degrees"):
        algorithm(bench, name, INPUT="quakes", RADIUS=500, PIXEL_SIZE=100)
    moved = algorithm(bench, "native:reprojectlayer", INPUT="quakes", TARGET_CRS="EPSG:32632")
    found = algorithm(bench, name, INPUT=moved.id, RADIUS="500 m", PIXEL_SIZE=100)
    maximum = bench.run("statistics", layer=found.id, statistic="max").numbers["max"]
    assert maximum == pytest.approx(1.94, abs=0.01)


def test_an_area_in_degrees_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, layer("b", "Polygon", "a:integer", [(box(3, 0, 4, 1), 1)], DEGREES))
    with pytest.raises(MendableError, match="The area 100 would be in square degrees"):
        algorithm(bench, "native:deleteholes", INPUT="b", MIN_AREA=100)


def test_a_grid_is_spaced_in_the_units_of_its_crs(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    grid = {"TYPE": "Rectangle (Polygon)", "HSPACING": "1 km", "VSPACING": "1 km"}
    found = algorithm(
        bench, "native:creategrid", EXTENT="0,3000,0,2000 [EPSG:32632]", CRS="EPSG:32632", **grid
    )
    assert found.numbers["count"] == 6
    with pytest.raises(MendableError, match="EPSG:4326 is in degrees"):
        algorithm(bench, "native:creategrid", EXTENT="0,3,0,2", CRS=DEGREES, **grid)


def test_a_raster_is_not_taken_for_features_nor_features_for_a_raster(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "temporary", values(), raster(tmp_path, "dem", [[1, 2], [3, 4]]))
    with pytest.raises(MendableError, match="INPUT needs a vector layer; dem is a raster"):
        algorithm(bench, "native:centroids", INPUT="dem")
    with pytest.raises(MendableError, match="INPUT needs a raster; t is a point layer"):
        algorithm(bench, "native:slope", INPUT="t")
    with pytest.raises(MendableError, match="LAYERS needs a raster; t is a point layer"):
        algorithm(bench, "native:rastercalc", LAYERS=["t"], EXPRESSION='"t@1"')
    with pytest.raises(MendableError, match="dem is a raster"):
        bench.run("count", layer="dem")
    with pytest.raises(MendableError, match="dem has no band 3; it has bands 1 to 1"):
        algorithm(bench, "native:rasterlayerstatistics", INPUT="dem", BAND=3)


def test_a_raster_calculation_counts_the_cells(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "temporary", raster(tmp_path, "dem", [[1, 2], [3, 4]]))
    found = algorithm(bench, "native:rastercalc", LAYERS=["dem"], EXPRESSION='"dem@1" * 2')
    assert found.layers[0].name == "Raster calculator of dem"
    assert bench.run("statistics", layer=found.id).numbers["sum"] == 20


def test_a_wide_layer_lists_every_field_by_name(tmp_path: Path) -> None:
    fields = " ".join(f"field_number_{place}:string" for place in range(60))
    wide = layer("wide", "Point", fields, [("POINT(0 0)", *["some text"] * 60)])
    text = Bench(tmp_path, wide).run("layer_info", layer="wide").text
    assert len(text) < 2000
    assert "field_number_0 (text)" in text
    assert "… and" in text


def test_an_expression_in_any_parameter_stays_inside_the_project(tmp_path: Path) -> None:
    bench = Bench(tmp_path, values())
    aggregates = [
        {
            "aggregate": "first_value",
            "delimiter": ",",
            "input": "env('HOME')",
            "length": 0,
            "name": "x",
            "precision": 0,
            "type": 10,
        }
    ]
    with pytest.raises(MendableError, match="reaches outside the project"):
        algorithm(bench, "native:aggregate", INPUT="t", GROUP_BY="NULL", AGGREGATES=aggregates)


def test_coordinates_that_do_not_fit_their_crs_are_said(tmp_path: Path) -> None:
    rows = [("POINT(500000 5000000)", 1)]
    bench = Bench(tmp_path, layer("wrong", "Point", "a:integer", rows, DEGREES))
    with pytest.raises(MendableError, match="CRS"):
        bench.run(
            "select_by_location",
            layer="wrong",
            predicate="within_distance",
            other="wrong",
            distance=5,
        )
