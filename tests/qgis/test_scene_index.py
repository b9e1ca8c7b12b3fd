# SPDX-License-Identifier: GPL-2.0-or-later
"""The catalogue of scenes: what it holds, what it skips, and how it is brought up to date."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy
import pytest
from product_maker import geotiff
from qgis.core import QgsProject, QgsVectorLayer
from scene_case import LANDSAT, SAFE, SceneBench, everything, people, vegetation
from toolbox_case import box, layer

from geo_olm.tools.base import LastingError, MendableError, ToolCancelled
from geo_olm.tools.observation_product import MEASURES, families

pytestmark = pytest.mark.usefixtures("qgis_processing")
GOOD = numpy.zeros((2, 2))


def test_the_measures_of_the_tools_are_those_of_the_table() -> None:
    known = {name for one in families().values() for name in one.names()}
    assert known | {"value"} == set(MEASURES)
    assert all(one.source for one in families().values())


def test_products_of_every_kind_are_recognised_with_date_sensor_and_cloud(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    everything(bench.scenes)
    found = bench.index()
    rows = bench.rows(found)
    said = {
        (one["product"], one["measures"], one["date"].toString("yyyy-MM-dd") if one["date"] else "")
        for one in rows
    }
    assert said == {
        ("MOD13A3", "ndvi", "2024-03-01"),
        ("MOD13A3", "ndvi", "2024-04-01"),
        ("MYD11A2", "temperature", "2024-03-29"),
        ("MCD19A2", "aerosol", "2024-03-01"),
        ("MOD09GA", "red ndvi", "2024-03-01"),
        ("MOD09GA", "nir", "2024-03-01"),
        ("GHS-POP", "population", "2020-01-01"),
        ("GHS-BUILT-S", "built-up", "2020-01-01"),
        ("Hansen tree cover", "tree_cover", "2000-01-01"),
        ("Hansen loss year", "tree_loss", "2023-01-01"),
        ("WorldPop", "population", "2020-01-01"),
        ("", "value", "2024-05-06"),
        ("Landsat 8-9 L2", "red nir temperature ndvi", "2024-06-15"),
        ("Sentinel-2 L2A", "red nir ndvi", "2024-03-15"),
    }
    clouds = {one["scene"]: one["cloud"] for one in rows if one["scene"] in (LANDSAT, SAFE)}
    assert clouds == {LANDSAT: 12.5, SAFE: 30.5}
    assert found.numbers["skipped"] == 0
    month = next(one for one in rows if one["path"].endswith("A2024061.h29v12.061.2024200000000.nc")
                 and one["product"] == "MOD13A3")  # fmt: skip
    assert month["until"].toString("yyyy-MM-dd") == "2024-03-31"
    assert month["subdataset"].endswith(":NDVI")
    assert month["resolution"] == 1000


def test_a_footprint_is_where_the_scene_lies(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    people(bench.scenes, 2020, GOOD)
    found = bench.index()
    made = bench.project.mapLayer(found.layers[0].id)
    extent = made.extent()
    assert made.crs().authid() == "EPSG:4326"
    assert [extent.xMinimum(), extent.yMinimum(), extent.xMaximum(), extent.yMaximum()] == (
        pytest.approx([9.0, 45.98, 9.02, 46.0])
    )


def test_only_what_changed_is_read_again_and_what_is_gone_goes(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    first = people(bench.scenes, 2015, GOOD)
    second = people(bench.scenes, 2020, GOOD)
    assert bench.index().numbers["read"] == 2
    assert bench.index().numbers["read"] == 0
    os.utime(second, (1, 1))
    third = people(bench.scenes, 2025, GOOD)
    found = bench.index()
    assert (found.numbers["read"], found.numbers["count"]) == (2, 3)
    first.unlink()
    third.unlink()
    found = bench.index()
    assert (found.numbers["read"], found.numbers["gone"], found.numbers["count"]) == (0, 2, 1)


def test_damaged_files_and_files_without_georeference_are_listed_and_skipped(
    tmp_path: Path,
) -> None:
    bench = SceneBench(tmp_path)
    people(bench.scenes, 2020, GOOD)
    geotiff(bench.scenes / "bare.tif", GOOD, crs="")
    (bench.scenes / "broken.tif").write_bytes(b"II*\0nothing of a picture")
    (bench.scenes / "empty.nc").write_bytes(b"")
    found = bench.index()
    assert (found.numbers["count"], found.numbers["skipped"]) == (1, 3)
    assert "Skipped: bare.tif has no georeference: nothing tells where it lies." in found.notes
    skipped = QgsVectorLayer(f"{found.files[0]}|layername=skipped", "skipped", "ogr")
    reasons = {Path(one["path"]).name: one["reason"] for one in skipped.getFeatures()}
    assert set(reasons) == {"bare.tif", "broken.tif", "empty.nc"}
    assert "cannot be read" in reasons["broken.tif"]
    assert bench.index().numbers["read"] == 0  # a skipped file too is read once


def test_a_cancelled_index_leaves_the_old_catalogue(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    people(bench.scenes, 2020, GOOD)
    path = Path(bench.index().files[0])
    before = path.read_bytes()
    for epoch in range(1980, 2015, 5):
        people(bench.scenes, epoch, GOOD)
    calls: list[int] = []

    def cancelled() -> bool:
        calls.append(1)
        return len(calls) > 4

    with pytest.raises(ToolCancelled):
        bench.toolbox.run(
            "index_scenes", {"folders": [str(bench.scenes)]}, lambda share: None, cancelled
        )
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.glob("*scenes*gpkg")] == ["scenes.gpkg"]


def test_a_file_that_is_no_catalogue_is_not_replaced(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    people(bench.scenes, 2020, GOOD)
    other = tmp_path / "out" / "roads.gpkg"
    other.write_bytes(b"something of the user")
    with pytest.raises(MendableError, match=r"roads\.gpkg is there already and is no catalogue"):
        bench.run("index_scenes", folders=[str(bench.scenes)], file="roads.gpkg")
    assert other.read_bytes() == b"something of the user"
    with pytest.raises(MendableError, match="outside the folders"):
        bench.run("index_scenes", folders=["/"])


def test_scenes_are_found_by_product_place_area_days_and_cloud(tmp_path: Path) -> None:
    towns = [(box(9.0, 45.9, 9.1, 46.1), "Como"), (box(6.0, 49.9, 6.1, 50.1), "Arlon")]
    bench = SceneBench(tmp_path, layer("towns", "Polygon", "name:string", towns, "EPSG:4326"))
    everything(bench.scenes)
    scenes = bench.index().id

    def products(**asked: object) -> set[str]:
        found = bench.run("find_scenes", scenes=scenes, **asked)
        return {one["product"] for one in bench.rows(found)}

    assert products(product="modis", measure="ndvi") == {"MOD13A3", "MOD09GA"}
    assert products(product="Landsat 8") == {"Landsat 8-9 L2"}
    assert products(place="arlon") == {"WorldPop"}
    assert products(extent=[5.9, 49.9, 6.2, 50.2]) == {"WorldPop"}
    assert products(start="2024-03-20", end="2024-03", measure="ndvi") == {"MOD13A3"}
    assert products(cloud=20, measure="red", start="2024-03-10") == {"Landsat 8-9 L2"}
    assert "WorldPop" in products(area="towns")
    with pytest.raises(MendableError, match='No layer of this project has a feature called "Rom"'):
        products(place="Rom")
    with pytest.raises(MendableError, match=r"They go from 2000-01-01 to 2024-06-15"):
        products(start="2030")
    with pytest.raises(MendableError, match='start "soon" is no date'):
        products(start="soon")
    with pytest.raises(MendableError, match="start is after end"):
        products(start="2024", end="2023")


def test_another_layer_is_no_catalogue(tmp_path: Path) -> None:
    zones = layer("zones", "Polygon", "a:integer", [(box(0, 0, 1, 1), 1)], "EPSG:4326")
    bench = SceneBench(tmp_path, zones)
    with pytest.raises(MendableError, match=r"zones is no catalogue of scenes .* index_scenes"):
        bench.run("find_scenes", scenes="zones")


def test_the_index_is_made_on_a_worker_and_can_be_used_there(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    vegetation(bench.scenes, "2024061", GOOD + 5000, GOOD)
    result, error, _ = bench.work("index_scenes", {"folders": [str(bench.scenes)]})
    assert error is None
    assert result is not None
    assert result.numbers["count"] == 1
    assert isinstance(bench.project, QgsProject)


def stac(folder: Path, asset: str, cloud: float = 7.5) -> None:
    """Write a STAC catalogue of one item with one picture and a thumbnail."""
    item = {
        "type": "Feature", "stac_version": "1.0.0", "id": "one", "collection": "pictures",
        "geometry": {"type": "Point", "coordinates": [9, 46]}, "bbox": [9, 45, 10, 46],
        "properties": {"datetime": "2023-07-08T10:00:00Z", "eo:cloud_cover": cloud},
        "links": [],
        "assets": {"data": {"href": asset}, "look": {"href": "./look.tif", "roles": ["thumbnail"]}},
    }  # fmt: skip
    catalogue = {
        "type": "Catalog", "stac_version": "1.0.0", "id": "all", "description": "Pictures",
        "links": [{"rel": "item", "href": "./one/one.json", "type": "application/json"}],
    }  # fmt: skip
    (folder / "one").mkdir(parents=True)
    (folder / "one" / "one.json").write_text(json.dumps(item), encoding="utf-8")
    (folder / "catalog.json").write_text(json.dumps(catalogue), encoding="utf-8")


def test_a_stac_catalogue_tells_date_and_cloud_of_its_files(tmp_path: Path) -> None:
    pytest.importorskip("pystac")
    bench = SceneBench(tmp_path)
    stac(bench.scenes, "./picture.tif")
    geotiff(bench.scenes / "one" / "picture.tif", GOOD)
    (row,) = bench.rows(bench.index())
    assert row["date"].toString("yyyy-MM-dd") == "2023-07-08"
    assert row["cloud"] == 7.5


@pytest.mark.parametrize(
    ("asset", "told"),
    [
        ("https://example.org/picture.tif", "is an address; only files are indexed"),
        ("./absent.tif", "there is no file"),
        ("../../../outside.tif", "lies outside the folders that may be read"),
    ],
)
def test_what_a_stac_catalogue_names_elsewhere_is_told_and_not_read(
    tmp_path: Path, asset: str, told: str
) -> None:
    pytest.importorskip("pystac")
    bench = SceneBench(tmp_path)
    stac(bench.scenes, asset)
    geotiff(tmp_path / "outside.tif", GOOD)
    people(bench.scenes, 2020, GOOD)
    found = bench.index()
    assert found.numbers["count"] == 1
    assert any(told in note for note in found.notes), found.notes


def test_a_catalogue_that_is_being_edited_is_not_replaced(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    people(bench.scenes, 2020, GOOD)
    path = Path(bench.index().files[0])
    before = path.read_bytes()
    path.with_name("scenes.gpkg-wal").write_bytes(b"edits of somebody")
    with pytest.raises(LastingError, match=r"scenes\.gpkg is being edited"):
        bench.index()
    assert path.read_bytes() == before


def test_without_pystac_the_files_themselves_are_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pystac", None)
    bench = SceneBench(tmp_path)
    stac(bench.scenes, "./picture.tif")
    geotiff(bench.scenes / "one" / "picture.tif", GOOD)
    found = bench.index()
    assert found.numbers["count"] == 1
    assert any("needs the Python package pystac" in note for note in found.notes), found.notes
