# SPDX-License-Identifier: GPL-2.0-or-later
"""Files written by the tools, read again by other libraries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from osgeo import ogr
from qgis.core import QgsField, QgsVectorLayer
from qgis.PyQt.QtCore import QDate, QDateTime, QMetaType, QTime
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import LastingError, MendableError, ToolError

pytestmark = pytest.mark.usefixtures("qgis_processing")

PLACES = [("POINT(500000 5000000)", "Łódź", "01", 7), ("POINT(501000 5000000)", None, "02", None)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    places = layer("places", "Point", "name:string code:string population_2020:integer", PLACES)
    parks = layer("parks", "Polygon", "n:integer", [(box(10, 50, 11, 51), 1)], "EPSG:4326")
    return Bench(tmp_path, places, parks, output=tmp_path / "out")


def save(bench: Bench, file: str, **more: Any) -> Path:
    found = bench.run("save_layer", **{"layer": "places", **more, "file": file})
    return Path(found.files[0])


def rows_of(path: Path, name: str = "") -> list[dict[str, Any]]:
    dataset = ogr.Open(str(path))
    made = dataset.GetLayerByName(name) if name else dataset.GetLayer(0)
    return [json.loads(feature.ExportToJson())["properties"] for feature in made]


def test_a_geopackage_keeps_its_other_layers_b41(bench: Bench) -> None:
    path = save(bench, "all.gpkg")
    save(bench, "all.gpkg", layer="parks")
    save(bench, "all.gpkg")
    dataset = ogr.Open(str(path))
    names = [dataset.GetLayer(at).GetName() for at in range(dataset.GetLayerCount())]
    assert names == ["places", "parks", "places_2"]
    assert dataset.GetLayerByName("places").GetFeatureCount() == 2


def test_another_file_of_the_same_name_is_kept_b40(bench: Bench) -> None:
    first = save(bench, "t.csv")
    before = first.read_bytes()
    found = bench.run("save_layer", layer="parks", file="t.csv")
    assert Path(found.files[0]).name == "t_2.csv"
    assert "t.csv is there already and was kept." in found.notes
    assert first.read_bytes() == before


def test_a_table_keeps_its_zeros_and_has_no_geometry(bench: Bench) -> None:
    text = save(bench, "t.csv", fields=["code", "name"]).read_text(encoding="utf-8")
    assert text.splitlines() == ["code,name", "01,Łódź", "02,"]


def test_fields_are_renamed_and_typed(bench: Bench) -> None:
    path = save(
        bench,
        "t.csv",
        fields={"id": "code", "people": "population_2020"},
        types={"code": "integer"},
    )
    assert path.read_text(encoding="utf-8").splitlines() == ["id,people", "1,7", "2,"]
    with pytest.raises(MendableError, match="name cannot be made integer: 'Łódź' does not fit"):
        save(bench, "u.csv", types={"name": "integer"})
    assert not (path.parent / "u.csv").exists()


def test_geojson_is_in_degrees_with_members_beside_its_features(bench: Bench) -> None:
    bench.run("statistics", layer="places", field="population_2020", statistic="sum")
    members = {"name": "Places", "totals": {"people": "$r1.sum", "list": [1, "r1.count"]}}
    path = save(bench, "p.geojson", members=members)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["totals"] == {"people": 7, "list": [1, 1]}
    assert document["type"] == "FeatureCollection"
    x, y = document["features"][0]["geometry"]["coordinates"]
    assert (x, y) == pytest.approx((9.0, 45.1536), abs=1e-3)
    with pytest.raises(MendableError, match="a GeoJSON's own"):
        save(bench, "q.geojson", members={"features": []})


def test_rings_of_geojson_turn_as_the_standard_says(bench: Bench) -> None:
    path = save(bench, "p.geojson", layer="parks")
    ring = json.loads(path.read_text())["features"][0]["geometry"]["coordinates"][0]
    twice = sum(x * v - u * y for (x, y), (u, v) in zip(ring, ring[1:]))
    assert twice > 0


def test_rows_as_json_and_a_nested_summary(bench: Bench) -> None:
    path = save(bench, "rows.json", fields=["name", "population_2020"])
    assert json.loads(path.read_text(encoding="utf-8")) == [
        {"name": "Łódź", "population_2020": 7},
        {"name": None, "population_2020": None},
    ]
    bench.run("filter", layer="places", where="\"code\" = '01'")
    content = {
        "count": "$r2.count",
        "box": "$places.extent",
        "what": {"crs": "$places.crs", "type": "$places.geometry_type", "rows": "$r2.rows"},
        "text": "r2 is a road",
    }
    found = bench.run("write_json", path="summary", content=content)
    written = json.loads(Path(found.files[0]).read_text(encoding="utf-8"))
    assert written == {
        "count": 1,
        "box": [500000.0, 5000000.0, 501000.0, 5000000.0],
        "what": {
            "crs": "EPSG:32632",
            "type": "Point",
            "rows": [{"name": "Łódź", "code": "01", "population_2020": 7}],
        },
        "text": "r2 is a road",
    }
    with pytest.raises(MendableError, match="refers to nothing"):
        bench.run("write_json", path="no", content={"a": "$r2.nothing"})


def test_geoparquet_has_the_types_that_were_set(bench: Bench) -> None:
    import geopandas

    path = save(
        bench,
        "p.geoparquet",
        types={"code": "integer", "population_2020": "real"},
        fields=["code", "population_2020"],
        crs="EPSG:4326",
    )
    found = geopandas.read_parquet(path)
    assert list(found.columns) == ["code", "population_2020", "geometry"]
    assert str(found["code"].dtype) in ("int64", "Int64")
    assert found["population_2020"].dtype == "float64"
    assert found.crs.to_epsg() == 4326
    assert found.geometry[0].x == pytest.approx(9.0, abs=1e-6)
    with pytest.raises(MendableError, match="name cannot be made real"):
        save(bench, "q.geoparquet", types={"name": "real"})
    assert [one.name for one in path.parent.iterdir()] == ["p.geoparquet"]


def test_an_algorithm_writes_geoparquet(bench: Bench) -> None:
    import geopandas

    asked = {"INPUT": "places", "DISTANCE": 10, "OUTPUT": "b.geoparquet"}
    found = bench.run("run_algorithm", algorithm="native:buffer", parameters=asked)
    (path,) = found.files
    frame = geopandas.read_parquet(path)
    assert len(frame) == 2
    assert set(frame.geom_type) <= {"Polygon", "MultiPolygon"}
    assert frame.crs.to_epsg() == 32632


def test_a_shapefile_tells_its_limits_b25(bench: Bench) -> None:
    found = bench.run("save_layer", layer="places", file="p.shp")
    assert any("population_2020 is population" in one for one in found.notes)
    assert rows_of(Path(found.files[0]))[0]["name"] == "Łódź"


@pytest.mark.parametrize("file", ["p.kml", "p.fgb", "p.xlsx", "p.gpkg"])
def test_other_formats_can_be_read_again(bench: Bench, file: str) -> None:
    rows = rows_of(save(bench, file))
    assert len(rows) == 2
    assert any("Łódź" in one.values() for one in rows)


def test_what_a_format_drops_is_told(tmp_path: Path) -> None:
    some = layer("s", "Point", "n:integer", [("POINT(0 0)", 1), (None, 2)])
    bench = Bench(tmp_path, some, output=tmp_path / "out")
    found = bench.run("save_layer", layer="s", file="s.fgb")
    assert "1 feature without geometry left out: .fgb cannot hold them." in found.notes
    assert len(rows_of(Path(found.files[0]))) == 1
    bench.run("save_layer", layer="s", file="s.geojson")
    assert len(rows_of(tmp_path / "out" / "s.geojson")) == 2


def test_a_field_called_fid_is_kept(tmp_path: Path) -> None:
    twice = layer("t", "Point", "fid:string", [("POINT(0 0)", "a"), ("POINT(0 0)", "a")])
    numbered = layer("n", "Point", "fid:integer", [("POINT(0 0)", 7), ("POINT(0 0)", 7)])
    bench = Bench(tmp_path, twice, numbered, output=tmp_path / "out")
    assert [one["fid"] for one in rows_of(save(bench, "a.gpkg", layer="t"))] == ["a", "a"]
    assert [one["fid"] for one in rows_of(save(bench, "b.gpkg", layer="n"))] == [7, 7]


def test_dates_and_truth_values_are_kept(tmp_path: Path) -> None:
    import geopandas

    made = QgsVectorLayer("Point?crs=EPSG:4326&field=n:integer", "t", "memory")
    kinds = (QMetaType.Type.QDate, QMetaType.Type.QDateTime, QMetaType.Type.Bool)
    fields = [QgsField(name, kind) for name, kind in zip(("day", "when", "ok"), kinds)]
    made.dataProvider().addAttributes(fields)
    made.updateFields()
    from qgis.core import QgsFeature, QgsGeometry

    feature = QgsFeature(made.fields())
    when = QDateTime(QDate(2024, 5, 6), QTime(7, 8, 9))
    feature.setAttributes([1, QDate(2024, 5, 6), when, True])
    feature.setGeometry(QgsGeometry.fromWkt("POINT(1 2)"))
    made.dataProvider().addFeatures([feature])
    bench = Bench(tmp_path, made, output=tmp_path / "out")
    path = save(bench, "t.geoparquet", layer="t")
    row = geopandas.read_parquet(path).iloc[0]
    assert str(row["day"]) == "2024-05-06"
    assert str(row["when"]).startswith("2024-05-06 07:08:09")
    assert bool(row["ok"]) is True
    back = bench.run("add_layer", source=str(path))
    again = next(bench.project.mapLayer(back.layers[0].id).getFeatures())
    assert again["day"] == QDate(2024, 5, 6)
    assert again["ok"] is True


def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    nowhere = layer("q", "Point", "n:integer", [("POINT(1 1)", 1)], "")
    bench = Bench(tmp_path, nowhere, output=tmp_path / "out")
    cases = {
        "q.xyz": "needs an ending that is known",
        "q.geojson": "q has no coordinate reference system",
        "../q.csv": "Files are written only in",
    }
    for file, said in cases.items():
        with pytest.raises(ToolError, match=said):
            bench.run("save_layer", layer="q", file=file)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
    homeless = Bench(tmp_path, layer("p", "Point", "n:integer", [("POINT(1 1)", 1)]))
    with pytest.raises(LastingError, match="No folder for files is set"):
        homeless.run("save_layer", layer="p", file="p.csv")
