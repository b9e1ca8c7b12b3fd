# SPDX-License-Identifier: GPL-2.0-or-later
"""Files opened as layers: every layer of every format, the right types, and nothing left beside
an input; damaged files of every format say so in one sentence."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from osgeo import gdal, ogr, osr
from qgis.core import QgsFeature
from toolbox_case import Bench, layer

from geo_olm.tools.base import MendableError
from geo_olm.tools.source import field_type, plain

pytestmark = pytest.mark.usefixtures("qgis_processing")

B49 = "x;y;zip;v\n9,5;45,1;01234;1,5\n;;00501;2,0\n"


def bench_of(folder: Path, *layers: Any) -> Bench:
    return Bench(folder, *layers, output=folder / "out")


def rows(bench: Bench, found: Any, at: int = 0) -> list[QgsFeature]:
    return list(bench.project.mapLayer(found.layers[at].id).getFeatures())


def kinds(bench: Bench, found: Any) -> dict[str, str]:
    fields = bench.project.mapLayer(found.layers[0].id).fields()
    return {one.name(): field_type(one) for one in fields}


def opened(folder: Path, name: str, text: str | bytes, **more: Any) -> tuple[Bench, Any]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    bench = bench_of(folder)
    return bench, bench.run("add_layer", source=str(path), **more)


def test_a_table_with_semicolons_and_decimal_commas_b49(tmp_path: Path) -> None:
    bench, found = opened(tmp_path, "t.csv", B49)
    first, second = rows(bench, found)
    assert first["zip"] == "01234"
    assert first["v"] == 1.5
    assert first.geometry().asWkt(1) == "Point (9.5 45.1)"
    assert not second.hasGeometry()
    assert second["zip"] == "00501"
    assert plain(second["x"]) is None
    assert found.layers[0].crs == "EPSG:4326"
    assert "1 row of t.csv without coordinates, kept empty." in found.notes
    assert "The numbers of t.csv have a decimal comma." in found.notes


def test_types_are_those_of_the_whole_column_b49(tmp_path: Path) -> None:
    head = "n,late,big,day,when,mixed,gap\n"
    body = "".join(
        f"{one},{one},9007199254740993,2024-01-31,2024-01-31T12:00,1,\n" for one in range(300)
    )
    text = f"{head}{body}300,end,1,2024-02-01,2024-02-01T00:00:01Z,1.5,7\n"
    bench, found = opened(tmp_path, "t.csv", text)
    expected = ["integer", "text", "integer", "date", "datetime", "real", "integer"]
    assert kinds(bench, found) == dict(zip(head.strip().split(","), expected))
    first = rows(bench, found)[0]
    assert first["big"] == 9_007_199_254_740_993
    assert plain(first["gap"]) is None
    assert plain(first["day"]) == "2024-01-31"


@pytest.mark.parametrize(
    ("name", "text", "crs", "said"),
    [
        ("a.csv", "id,lon,lat\n1,9.5,45.1\n", "EPSG:4326", "Points of the columns lon and lat."),
        ("b.tsv", "Easting\tNorthing\n500000\t5000000\n", "", "open it again with crs"),
        ("c.csv", "id|the_geom\n1|SRID=25832;POINT(500000 5000000)\n", "EPSG:25832", ""),
        ("d.csv", 'wkt,n\n"POLYGON((0 0,1 0,1 1,0 0))",1\n', "EPSG:4326", "can be degrees"),
    ],
)
def test_coordinates_and_wkt_are_found(
    tmp_path: Path, name: str, text: str, crs: str, said: str
) -> None:
    bench, found = opened(tmp_path, name, text)
    assert found.layers[0].crs == crs
    assert rows(bench, found)[0].hasGeometry()
    assert said in " ".join(found.notes)


def test_the_crs_of_a_table_can_be_said(tmp_path: Path) -> None:
    bench, found = opened(tmp_path, "t.csv", "x,y\n500000,5000000\n", crs="EPSG:25832")
    assert found.layers[0].crs == "EPSG:25832"
    with pytest.raises(MendableError, match='There is no CRS "EPSG:1"'):
        bench.run("add_layer", source="t.csv", crs="EPSG:1")


def test_wkt_of_several_kinds_gives_a_layer_of_each(tmp_path: Path) -> None:
    text = 'wkt,n\nPOINT(1 2),1\n"LINESTRING(0 0,1 1)",2\n"MULTIPOINT((0 0),(1 1))",3\n'
    bench, found = opened(tmp_path, "t.csv", text)
    assert [one.name for one in found.layers] == ["t points", "t lines"]
    assert [one.features for one in found.layers] == [2, 1]
    assert rows(bench, found)[0].geometry().isMultipart()


def test_another_encoding_is_read_and_said_b51(tmp_path: Path) -> None:
    bench, found = opened(tmp_path, "t.csv", "name;n\nSão Lourenço;1\n".encode("cp1252"))
    assert rows(bench, found)[0]["name"] == "São Lourenço"
    assert "t.csv was read as Windows-1252." in found.notes


def source(folder: Path, name: str, driver: str, *names: str, count: int = 200) -> Path:
    """Write a file of points with one layer for each name."""
    path = folder / name
    system = osr.SpatialReference()
    system.ImportFromEPSG(4326)
    dataset = ogr.GetDriverByName(driver).CreateDataSource(str(path))
    for one in names or ("places",):
        made = dataset.CreateLayer(one, system, ogr.wkbPoint)
        if driver != "GPX":
            made.CreateField(ogr.FieldDefn("name", ogr.OFTString))
        for number in range(count):
            feature = ogr.Feature(made.GetLayerDefn())
            feature.SetField("name", f"{one} {number}")
            if driver != "XLSX":
                feature.SetGeometry(ogr.CreateGeometryFromWkt(f"POINT({number / 100} 50)"))
            made.CreateFeature(feature)
    del made, dataset
    return path


FORMATS = {
    "a.gpkg": "GPKG",
    "a.geojson": "GeoJSON",
    "a.shp": "ESRI Shapefile",
    "a.fgb": "FlatGeobuf",
    "a.gml": "GML",
    "a.kml": "KML",
    "a.xlsx": "XLSX",
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_opened_and_its_folder_stays_as_it_was(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    path = source(folder, name, FORMATS[name])
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    bench = bench_of(tmp_path)
    found = bench.run("add_layer", source=str(path))
    assert found.layers[0].features == 200
    bench.run("statistics", layer="r1", field="name", statistic="distinct")
    bench.run("filter", layer="r1", where="$id < 10")
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == before


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 6 // 10])


def noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 8)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("harm", [cut, noise, emptied])
@pytest.mark.parametrize("name", [*FORMATS, "a.geoparquet", "a.csv", "a.zip", "a.gpx"])
def test_a_damaged_file_is_told_in_one_sentence(
    tmp_path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / name
    if name in FORMATS:
        source(tmp_path, name, FORMATS[name])
    elif name == "a.geoparquet":
        bench_of(tmp_path, layer("p", "Point", "n:integer", [("POINT(1 1)", 1)])).run(
            "save_layer", layer="p", file=name
        )
        path = tmp_path / "out" / name
    elif name == "a.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(source(tmp_path, "b.geojson", "GeoJSON"), "b.geojson")
    elif name == "a.gpx":
        source(tmp_path, name, "GPX", "waypoints")
    if name == "a.csv":
        if harm is cut:
            pytest.skip("half a table is a table")
        path.write_text("a")
    harm(path)
    bench = bench_of(tmp_path)
    with pytest.raises(MendableError) as caught:
        bench.run("add_layer", source=str(path))
    assert path.name in caught.value.message
    assert "\n" not in caught.value.message
    assert not bench.project.mapLayers()


def test_a_shapefile_without_its_companions_is_told(tmp_path: Path) -> None:
    path = source(tmp_path, "a.shp", "ESRI Shapefile")
    (tmp_path / "a.shx").unlink()
    with pytest.raises(MendableError, match=r"a\.shp lacks its file a\.shx"):
        bench_of(tmp_path).run("add_layer", source=str(path))


def test_every_layer_of_a_file_is_opened_and_one_can_be_named(tmp_path: Path) -> None:
    source(tmp_path, "many.gpkg", "GPKG", "roads", "rivers", "parks", count=3)
    bench = bench_of(tmp_path)
    found = bench.run("add_layer", source="many.gpkg")
    assert sorted(one.name for one in found.layers) == ["parks", "rivers", "roads"]
    assert "many.gpkg has 3 layers; each was opened." in found.notes
    for one in (
        {"source": "many.gpkg", "layer": "Rivers"},
        {"source": "many.gpkg|layername=rivers"},
    ):
        assert bench.run("add_layer", **one).layers[0].name.startswith("rivers")
    with pytest.raises(MendableError, match=r'no layer "lakes"\. Its layers: '):
        bench.run("add_layer", source="many.gpkg", layer="lakes")


def test_the_folders_of_a_kml_are_layers_b51(tmp_path: Path) -> None:
    place = "<Placemark><name>{0}</name><Point><coordinates>1,2</coordinates></Point></Placemark>"
    folders = "".join(
        f"<Folder><name>{name}</name>{place.format(name)}</Folder>" for name in ("Cafés", "Parks")
    )
    text = f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{folders}</Document></kml>'
    _bench, found = opened(tmp_path, "two.kml", text)
    assert [one.name for one in found.layers] == ["Cafés", "Parks"]


def test_only_the_filled_layers_of_a_gpx_are_opened(tmp_path: Path) -> None:
    path = source(tmp_path, "walk.gpx", "GPX", "waypoints", count=4)
    found = bench_of(tmp_path).run("add_layer", source=str(path))
    assert [(one.name, one.features) for one in found.layers] == [("waypoints", 4)]


def test_a_zipped_shapefile_is_opened(tmp_path: Path) -> None:
    source(tmp_path, "a.shp", "ESRI Shapefile", count=5)
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as archive:
        for one in tmp_path.glob("a.*"):
            archive.write(one, f"inner/{one.name}")
    found = bench_of(tmp_path).run("add_layer", source="pack.zip")
    assert [(one.name, one.features) for one in found.layers] == [("a", 5)]


def test_a_raster_is_opened_too(tmp_path: Path) -> None:
    gdal.GetDriverByName("GTiff").Create(str(tmp_path / "r.tif"), 3, 2).SetGeoTransform(
        (500000, 10, 0, 5000000, 0, -10)
    )
    found = bench_of(tmp_path).run("add_layer", source="r.tif")
    assert found.layers[0].geometry == "raster"
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == ["r.tif"]


def test_a_file_outside_the_allowed_folders_is_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "project", tmp_path / "elsewhere"
    inside.mkdir()
    outside.mkdir()
    source(outside, "a.geojson", "GeoJSON", count=1)
    (inside / "link.geojson").symlink_to(outside / "a.geojson")
    bench = Bench(inside)
    for text in (str(outside / "a.geojson"), "../elsewhere/a.geojson", "link.geojson"):
        with pytest.raises(MendableError, match="outside the folders that may be read"):
            bench.run("add_layer", source=text)
    with pytest.raises(MendableError, match="cannot be an address"):
        bench.run("add_layer", source="https://example.org/a.geojson")
    with pytest.raises(MendableError, match=r"There is no file none\.gpkg"):
        bench.run("add_layer", source="none.gpkg")


def test_geoparquet_keeps_values_types_and_crs(tmp_path: Path) -> None:
    import geopandas
    import pandas
    import shapely

    made = geopandas.GeoDataFrame(
        {
            "big": pandas.array([9_007_199_254_740_993, None], dtype="Int64"),
            "ok": [True, False],
            "when": pandas.to_datetime(["2024-05-06 07:08:09.123", None], format="ISO8601"),
            "day": [datetime.date(2024, 5, 6), None],
            "tags": [["a", "b"], None],
            "kind": pandas.Categorical(["x", "y"]),
            "fid": ["seven", "eight"],
        },
        geometry=[shapely.Point(1, 2, 3), None],
        crs="EPSG:25832",
    )
    made.to_parquet(tmp_path / "a.parquet")
    bench = bench_of(tmp_path)
    found = bench.run("add_layer", source="a.parquet")
    first, second = rows(bench, found)
    assert first["big"] == 9_007_199_254_740_993
    assert plain(second["big"]) is None
    assert [first["ok"], first["kind"], first["fid"]] == [True, "x", "seven"]
    assert plain(first["when"]).startswith("2024-05-06T07:08:09")
    assert plain(first["day"]) == "2024-05-06"
    assert first["tags"] == '["a", "b"]'
    assert first.geometry().asWkt(0) == "Point Z (1 2 3)"
    assert not second.hasGeometry()
    assert found.layers[0].crs == "EPSG:25832"


def test_an_index_with_a_name_is_a_column(tmp_path: Path) -> None:
    import pandas

    index = pandas.Index([7, 8], name="fid")
    pandas.DataFrame({"a": [1, 2]}, index=index).to_parquet(tmp_path / "t.parquet")
    bench = bench_of(tmp_path)
    found = bench.run("add_layer", source="t.parquet")
    assert [(one["fid"], one["a"]) for one in rows(bench, found)] == [(7, 1), (8, 2)]


def test_a_parquet_table_without_geometry_is_a_table(tmp_path: Path) -> None:
    import pandas

    pandas.DataFrame({"a": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    bench = bench_of(tmp_path)
    found = bench.run("add_layer", source="t.parquet")
    assert found.layers[0].geometry == "table"
    assert [one["a"] for one in rows(bench, found)] == [1, 2]


def test_a_missing_package_is_one_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from geo_olm.tools.base import LastingError

    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(LastingError, match="GeoParquet needs the Python package geopandas"):
        bench_of(tmp_path).run("add_layer", source="a.parquet")
