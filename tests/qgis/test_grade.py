# SPDX-License-Identifier: GPL-2.0-or-later
"""Near misses of what a run made: layers, rasters, styles, files, and the best of several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graded_data import categorised, graduated, raster, squares, style, written
from qgis.core import QgsCoordinateReferenceSystem, QgsVectorLayer
from record_case import record_of

from geo_olm.plugin.evaluation.grade import grade
from geo_olm.plugin.evaluation.outcome import Output

LAYER = {
    "geometry": "Polygon",
    "feature_count": 4,
    "count_tol": 0,
    "crs": "EPSG:32631",
    "fields_include": ["name", "POP"],
    "sum": {"field": "POP", "value": 100, "rel_tol": 0.001},
    # 4 squares of 100 m in UTM at its central meridian: the scale there is 0.9996
    "total_area_m2": {"value": 40_000 / 0.9996**2, "rel_tol": 1e-4},
}


def reasons(expect: Any, *outputs: tuple[str, str], **record: Any) -> str:
    made = [Output(kind, Path(path).name, path) for kind, path in outputs]
    judged = grade(expect, record_of(**record), made)
    assert judged.success == (not judged.reasons)
    return "; ".join(judged.reasons)


def layer_reasons(layer: QgsVectorLayer, folder: Path, expect: Any = None) -> str:
    path = written(layer, folder / "made.gpkg")
    return reasons({"layer": expect or LAYER}, ("layer", path))


def test_the_right_layer_passes(tmp_path: Path) -> None:
    assert layer_reasons(squares(), tmp_path) == ""


def test_the_right_layer_in_the_wrong_crs_fails(tmp_path: Path) -> None:
    layer = squares()
    layer.setCrs(QgsCoordinateReferenceSystem("EPSG:32632"))
    assert "the CRS is EPSG:32632" in layer_reasons(layer, tmp_path)


def test_a_layer_without_a_crs_has_no_area(tmp_path: Path) -> None:
    layer = squares(crs="")
    layer.setCrs(QgsCoordinateReferenceSystem())
    expect = {"total_area_m2": LAYER["total_area_m2"]}
    assert "no CRS" in layer_reasons(layer, tmp_path, expect)


def test_one_feature_too_few_fails(tmp_path: Path) -> None:
    assert "3 features instead of 4" in layer_reasons(squares(3), tmp_path)


def test_one_feature_too_few_passes_within_the_tolerance(tmp_path: Path) -> None:
    expect = {"feature_count": 4, "count_tol": 1}
    assert layer_reasons(squares(3), tmp_path, expect) == ""


def test_the_wrong_geometry_fails(tmp_path: Path) -> None:
    layer = QgsVectorLayer("Point?crs=EPSG:32631&field=name:string&field=POP:double", "p", "memory")
    assert "Point instead of Polygon" in layer_reasons(layer, tmp_path)


def test_a_multipolygon_stands_for_a_polygon(tmp_path: Path) -> None:
    layer = QgsVectorLayer("MultiPolygon?crs=EPSG:32631", "p", "memory")
    assert layer_reasons(layer, tmp_path, {"geometry": "Polygon"}) == ""


def test_a_field_with_another_name_fails(tmp_path: Path) -> None:
    expect = {"fields_include": ["name", "pop"]}
    assert "'pop' is missing" in layer_reasons(squares(), tmp_path, expect)


def test_a_wrong_sum_fails_and_a_null_is_not_counted_as_zero(tmp_path: Path) -> None:
    layer = squares(pops=(10, 20, 30, None))
    assert "the sum of 'POP' is 60 instead of 100" in layer_reasons(layer, tmp_path)
    assert layer_reasons(layer, tmp_path, {"mean": {"field": "POP", "value": 20}}) == ""


def test_a_wrong_area_fails(tmp_path: Path) -> None:
    expect = {"total_area_m2": {"value": 41_000, "rel_tol": 0.01}}
    assert "its area is 40032" in layer_reasons(squares(), tmp_path, expect)


def test_the_best_of_several_layers_counts(tmp_path: Path) -> None:
    short = written(squares(3), tmp_path / "short.gpkg")
    whole = written(squares(), tmp_path / "whole.gpkg")
    assert reasons({"layer": LAYER}, ("layer", short), ("layer", whole)) == ""


def test_two_halves_do_not_make_a_whole(tmp_path: Path) -> None:
    short = written(squares(3), tmp_path / "short.gpkg")
    layer = squares()
    layer.setCrs(QgsCoordinateReferenceSystem("EPSG:32632"))
    moved = written(layer, tmp_path / "moved.gpkg")
    assert reasons({"layer": LAYER}, ("layer", short), ("layer", moved))


def test_no_layer_at_all_fails(tmp_path: Path) -> None:
    assert reasons({"layer": LAYER}) == "no layer was made"
    assert "no layer" in reasons({"layer": LAYER}, ("style", str(tmp_path / "a.qml")))


def test_a_run_that_failed_fails_although_its_layer_is_right(tmp_path: Path) -> None:
    path = written(squares(), tmp_path / "made.gpkg")
    assert reasons({"layer": LAYER}, ("layer", path), status="failed") == "the run ended as failed"


def test_every_expectation_has_to_be_met(tmp_path: Path) -> None:
    path = written(squares(), tmp_path / "made.gpkg")
    expect = {"layer": LAYER, "number": {"value": 4}, "text": {"any_of": ["four"]}}
    assert reasons(expect, ("layer", path), value=4, answer="four") == ""
    assert "no value" in reasons(expect, ("layer", path), answer="four 4")
    assert "does not say" in reasons(expect, ("layer", path), value=4, answer="fourteen")


CELLS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, -9999.0]])
RASTER = {"band_count": 1, "min": 1, "max": 5, "mean": 3, "rel_tol": 0.01, "crs": "EPSG:32631"}


def test_a_raster_is_judged_by_its_valid_cells(tmp_path: Path) -> None:
    path = raster(tmp_path / "a.tif", CELLS)
    assert reasons({"raster": RASTER}, ("raster", path)) == ""


@pytest.mark.parametrize(
    ("cells", "crs", "nodata", "said"),
    [
        (CELLS + np.array([[0, 0, 0], [0, 1, 0]]), 32631, -9999, "its max is 6"),
        (CELLS, 32632, -9999, "EPSG:32632"),
        (CELLS, 32631, None, "its min is -9999"),
        (np.stack([CELLS, CELLS]), 32631, -9999, "2 bands"),
        (np.full((2, 2), -9999.0), 32631, -9999, "no valid cell"),
    ],
)
def test_a_raster_that_differs_fails(
    tmp_path: Path, cells: Any, crs: int, nodata: float | None, said: str
) -> None:
    path = raster(tmp_path / "a.tif", cells, crs, nodata)
    assert said in reasons({"raster": RASTER}, ("raster", path))


def test_a_wrong_mean_fails_although_ends_are_right(tmp_path: Path) -> None:
    path = raster(tmp_path / "a.tif", np.array([[1.0, 1.0, 5.0]]))
    assert "mean is 2.33" in reasons({"raster": RASTER}, ("raster", path))


def test_stored_statistics_of_a_raster_are_not_believed(tmp_path: Path) -> None:
    from osgeo import gdal

    path = raster(tmp_path / "a.tif", CELLS)
    dataset = gdal.Open(path, gdal.GA_Update)
    dataset.GetRasterBand(1).SetStatistics(-1.0, 9.0, 7.0, 1.0)
    dataset.FlushCache()
    assert reasons({"raster": RASTER}, ("raster", path)) == ""


STYLE = {"renderer": "graduated", "field": "POP", "classes": 4}


def style_reasons(layer: QgsVectorLayer, folder: Path, expect: Any) -> str:
    return reasons({"style": expect}, ("style", style(layer, folder / "a.qml")))


def test_a_graduated_style_passes_with_a_quoted_field_too(tmp_path: Path) -> None:
    layer = squares()
    for field in ("POP", '"POP"'):
        graduated(layer, field, 4)
        assert style_reasons(layer, tmp_path, STYLE) == ""


def test_one_class_too_few_fails(tmp_path: Path) -> None:
    layer = squares()
    graduated(layer, "POP", 3)
    assert "3 classes instead of 4" in style_reasons(layer, tmp_path, STYLE)


def test_a_style_of_another_field_fails(tmp_path: Path) -> None:
    layer = squares()
    graduated(layer, '"POP" / 2', 4)
    assert "instead of 'POP'" in style_reasons(layer, tmp_path, STYLE)


def test_a_single_symbol_is_not_graduated(tmp_path: Path) -> None:
    assert "singleSymbol" in style_reasons(squares(), tmp_path, STYLE)


def test_a_category_for_all_other_values_is_no_class(tmp_path: Path) -> None:
    layer = squares()
    categorised(layer, "name", ["s0", "s1"])
    expect = {"renderer": "categorised", "field": "name", "classes": 2}
    assert style_reasons(layer, tmp_path, expect) == ""
    assert "2 classes" in style_reasons(layer, tmp_path, {**expect, "classes": 3})


FILE = {"name": "made.gpkg", "driver": "GPKG", "feature_count": 4, "geometry": "Polygon"}


def test_a_file_of_the_right_driver_passes(tmp_path: Path) -> None:
    path = written(squares(), tmp_path / "made.gpkg")
    assert reasons({"file": FILE}, ("file", path)) == ""


def test_a_layer_that_was_not_written_is_no_file(tmp_path: Path) -> None:
    path = written(squares(), tmp_path / "made.gpkg")
    assert reasons({"file": FILE}, ("layer", path)) == "no file was made"


def test_a_file_under_another_name_fails(tmp_path: Path) -> None:
    path = written(squares(), tmp_path / "other.gpkg")
    assert "name is not 'made.gpkg'" in reasons({"file": FILE}, ("file", path))


def test_another_format_under_the_right_name_fails(tmp_path: Path) -> None:
    plain = written(squares(), tmp_path / "a.geojson", "GeoJSON")
    path = tmp_path / "made.gpkg"
    Path(plain).rename(path)
    assert "GeoJSON instead of GPKG" in reasons({"file": FILE}, ("file", str(path)))


def test_a_file_with_one_row_too_few_fails(tmp_path: Path) -> None:
    path = written(squares(3), tmp_path / "made.gpkg")
    assert "3 rows instead of 4" in reasons({"file": FILE}, ("file", path))


def test_a_multipolygon_in_a_file_is_no_plain_polygon(tmp_path: Path) -> None:
    layer = QgsVectorLayer("MultiPolygon?crs=EPSG:32631&field=name:string", "p", "memory")
    expect = {"driver": "GPKG", "geometry": "Polygon"}
    for feature in squares().getFeatures():
        geometry = feature.geometry()
        geometry.convertToMultiType()
        feature.setGeometry(geometry)
        feature.setAttributes(["s"])
        layer.dataProvider().addFeature(feature)
    path = written(layer, tmp_path / "made.gpkg")
    assert "MultiPolygon instead of Polygon" in reasons({"file": expect}, ("file", path))
    either = {"driver": "GPKG", "geometry": ["Polygon", "MultiPolygon"]}
    assert reasons({"file": either}, ("file", path)) == ""


def test_a_png_is_judged_by_its_content(tmp_path: Path) -> None:
    fake = tmp_path / "map.png"
    fake.write_text("no picture", encoding="utf-8")
    assert "none that can be read" in reasons({"file": {"driver": "PNG"}}, ("file", str(fake)))


CHECKS = [
    {"what": "sum", "value": 100, "tolerance": 0, "agg": "sum", "expression": '"POP"'},
    {"what": "mean", "value": 25, "tolerance": 0, "agg": "mean", "expression": '"POP"'},
    {"what": "largest", "value": "s3", "agg": "max", "expression": '"name"'},
    {"what": "big", "value": 2, "tolerance": 0, "agg": "count", "where": '"POP" > 20'},
    {"what": "names", "value": 4, "agg": "count_distinct", "expression": '"name"'},
    {"what": "order", "value": "10,20,30,40", "agg": "join_in_order", "expression": '"POP"'},
    {
        "what": "east",
        "value": 500_400,
        "tolerance": 1,
        "agg": "max",
        "expression": "x_max(@geometry)",
    },
    {
        "what": "area",
        "value": 40_000,
        "tolerance": 1,
        "agg": "union_area",
        "expression": "transform(@geometry, layer_property(@layer, 'crs'), 'EPSG:32631')",
    },
]


def check_reasons(path: str, *checks: Any) -> str:
    return reasons({"file": {"driver": "GPKG"}, "checks": list(checks)}, ("file", path))


def test_checks_are_computed_on_the_rows(tmp_path: Path) -> None:
    path = written(squares(), tmp_path / "made.gpkg")
    assert check_reasons(path, *CHECKS) == ""


@pytest.mark.parametrize("index", range(len(CHECKS)))
def test_each_check_can_fail(tmp_path: Path, index: int) -> None:
    path = written(squares(3, pops=(20, 10, 21)), tmp_path / "made.gpkg")
    assert CHECKS[index]["what"] in check_reasons(path, CHECKS[index])


@pytest.mark.parametrize("expression", ['"gone"', "1 +", "nofunction(1)"])
def test_a_check_that_cannot_be_computed_fails(tmp_path: Path, expression: str) -> None:
    path = written(squares(), tmp_path / "made.gpkg")
    check = {"what": "it", "value": 0, "agg": "sum", "expression": expression}
    assert check_reasons(path, check).startswith("file 'made.gpkg': it: ")


def test_the_tolerance_of_a_check_is_absolute_with_both_ends(tmp_path: Path) -> None:
    path = written(squares(), tmp_path / "made.gpkg")
    check = {"what": "sum", "value": 101, "agg": "sum", "expression": '"POP"'}
    assert check_reasons(path, {**check, "tolerance": 1}) == ""
    assert check_reasons(path, {**check, "tolerance": 0.99})


def test_a_csv_is_a_table_of_texts(tmp_path: Path) -> None:
    path = written(squares(), tmp_path / "made.csv", "CSV")
    check = {"what": "sum", "value": 100, "agg": "sum", "expression": 'to_real("POP")'}
    expect = {"file": {"driver": "CSV", "feature_count": 4, "fields_include": ["POP"]}}
    assert reasons({**expect, "checks": [check]}, ("file", path)) == ""


JSON = {
    "file": {"driver": "JSON", "fields_include": ["count"]},
    "checks": [{"what": "n", "value": 42, "tolerance": 0, "json": "count"}],
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"count": 42}', ""),
        ('{"count": 41}', "n: 41 instead of 42"),
        ('{"count": "42"}', "n: 42"),
        ('{"count": true}', "n: True"),
        ('{"number": 42}', "missing"),
        ("[42]", "missing"),
        ("{count: 42}", "no JSON"),
    ],
)
def test_a_json_file_is_judged_by_its_values(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    found = reasons(JSON, ("file", str(path)))
    assert said in found
    assert bool(found) == bool(said)


def test_records_of_a_json_file_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    expect = {"file": {"driver": "JSON"}, "records": [{"name": "parks", "count": 3}]}
    path.write_text(json.dumps([{"name": "parks", "count": 3}]), encoding="utf-8")
    assert reasons(expect, ("file", str(path))) == ""
    path.write_text(json.dumps([{"name": "parks", "count": 2}]), encoding="utf-8")
    assert "count of parks is 2" in reasons(expect, ("file", str(path)))


def test_a_geopackage_under_a_parquet_name_is_no_parquet(tmp_path: Path) -> None:
    made = written(squares(), tmp_path / "made.gpkg")
    path = tmp_path / "made.parquet"
    Path(made).rename(path)
    assert reasons({"file": {"driver": "Parquet"}}, ("file", str(path)))


def test_a_refusal_asks_for_no_output() -> None:
    expect = {"reject": {"reason_any_of": ["no income"]}}
    assert reasons(expect, status="rejected", reason="There is no income field.") == ""
    assert reasons(expect, status="rejected", answer="no income")
    assert reasons(expect, status="ok", answer="no income", reason="no income")
