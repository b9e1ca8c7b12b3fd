# SPDX-License-Identifier: GPL-2.0-or-later
"""Results are kept in one GeoPackage without touching what is in it, and stay what they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from osgeo import gdal
from qgis.core import QgsApplication, QgsRasterLayer, QgsVectorFileWriter, QgsVectorLayer
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError, ToolCancelled
from geo_olm.tools.keeping import Kept

pytestmark = pytest.mark.usefixtures("qgis_processing")


def parcels() -> QgsVectorLayer:
    rows = [(box(0, 0, 10, 10), "a", 1), (box(10, 0, 20, 10), "b", 2), (box(0, 20, 5, 25), "c", 3)]
    return layer("parcels", "Polygon", "name:string n:integer", rows)


def kept(bench: Bench, target: Path, *ids: str) -> Kept:
    wanted = ids or tuple(one.id() for one in group(bench))
    return bench.toolbox.keep(target, wanted, lambda percent: None, lambda: False)


def group(bench: Bench) -> list[Any]:
    found = bench.project.layerTreeRoot().findGroup("Geo-OLM results")
    return [node.layer() for node in found.findLayers()]


def tables(path: Path) -> list[str]:
    dataset = gdal.OpenEx(str(path), gdal.OF_VECTOR)
    return sorted(dataset.GetLayer(at).GetName() for at in range(dataset.GetLayerCount()))


def three(bench: Bench) -> None:
    bench.run("filter", layer="parcels", where='"n" > 1')
    bench.run("filter", layer="parcels", where='"n" > 2')
    bench.run("run_algorithm", algorithm="native:centroids", parameters={"INPUT": "parcels"})


def test_all_results_go_into_one_geopackage_b38(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "t", parcels())
    three(bench)
    before = [(one.id(), one.name(), one.featureCount()) for one in group(bench)]
    bench.run("style_graduated", layer="r1", field="n", classes=2)
    found = kept(bench, tmp_path / "results.gpkg")
    assert found.path == str(tmp_path / "results.gpkg")
    assert found.faults == ()
    assert tables(tmp_path / "results.gpkg") == sorted(
        [*(name for _, name, _ in before), "layer_styles"]
    )
    after = [(one.id(), one.name(), one.featureCount()) for one in group(bench)]
    assert after == before
    assert {one.providerType() for one in group(bench)} == {"ogr"}
    assert all(str(tmp_path / "results.gpkg") in one.source() for one in group(bench))
    first = next(one for one in group(bench) if one.name().endswith('"n" > 1'))
    assert first.renderer().type() == "graduatedSymbol"
    assert sorted(one["n"] for one in first.getFeatures()) == [2, 3]
    history = json.loads(first.metadata().history()[-1])
    assert (history["tool"], history["inputs"]) == ("filter", ["parcels"])
    assert first.metadata().abstract() == "a question"


def test_what_is_in_the_geopackage_stays_b41(tmp_path: Path) -> None:
    target = tmp_path / "results.gpkg"
    bench = Bench(tmp_path / "t", parcels())
    bench.run("filter", layer="parcels", where='"n" > 1')
    name = group(bench)[0].name()
    options = QgsVectorFileWriter.SaveVectorOptions()
    for one in ("second", name):
        options.layerName = one
        QgsVectorFileWriter.writeAsVectorFormatV3(
            parcels(), str(target), bench.project.transformContext(), options
        )
        options.actionOnExistingFile = (
            QgsVectorFileWriter.ActionOnExistingFile.CreateOrOverwriteLayer
        )
    kept(bench, target)
    assert {"second", name, f"{name} (2)"} <= set(tables(target))
    assert QgsVectorLayer(f"{target}|layername={name}").featureCount() == 3
    assert group(bench)[0].source() == f"{target}|layername={name} (2)"
    assert group(bench)[0].featureCount() == 2


def test_feature_ids_that_a_result_carries_do_not_hinder(tmp_path: Path) -> None:
    """A join one to many repeats the ids of a GeoPackage, which cannot be ids again."""
    rows = [(box(0, 0, 1, 1), 7, "a"), (box(2, 0, 3, 1), 7, "b")]
    bench = Bench(tmp_path / "t", layer("doubled", "Polygon", "fid:integer name:string", rows))
    bench.run("filter", layer="doubled", where='"fid" > 1')
    found = kept(bench, tmp_path / "results.gpkg")
    assert found.faults == ()
    assert [one["fid"] for one in group(bench)[0].getFeatures()] == [7, 7]


def test_a_raster_is_kept_beside_as_a_geotiff(tmp_path: Path) -> None:
    path = tmp_path / "dem.tif"
    made = gdal.GetDriverByName("GTiff").Create(str(path), 3, 2, 1, gdal.GDT_Float32)
    made.SetGeoTransform((500_000, 10, 0, 5_000_000, 0, -10))
    made.SetProjection(group_crs())
    made.GetRasterBand(1).WriteArray(numpy.arange(6, dtype="float32").reshape(2, 3))
    del made
    bench = Bench(tmp_path / "t", QgsRasterLayer(str(path), "dem"), parcels())
    bench.run(
        "run_algorithm",
        algorithm="native:rastercalc",
        parameters={"LAYERS": ["dem"], "EXPRESSION": '"dem@1" * 2'},
    )
    bench.run("filter", layer="parcels", where='"n" > 1')
    target = tmp_path / "results.gpkg"
    found = kept(bench, target)
    assert found.faults == ()
    assert len(found.files) == 2
    raster = next(one for one in group(bench) if isinstance(one, QgsRasterLayer))
    assert Path(raster.source()).parent == tmp_path
    assert gdal.Open(raster.source()).ReadAsArray().tolist() == [[0, 2, 4], [6, 8, 10]]
    again = kept(bench, target, raster.id())
    assert again.path == raster.source() != found.files[0]


def group_crs() -> str:
    from osgeo import osr

    found = osr.SpatialReference()
    found.ImportFromEPSG(32632)
    return str(found.ExportToWkt())


def test_a_file_that_is_no_geopackage_is_left_alone_b40(tmp_path: Path) -> None:
    target = tmp_path / "notes.gpkg"
    target.write_text("my notes")
    bench = Bench(tmp_path / "t", parcels())
    bench.run("filter", layer="parcels", where='"n" > 1')
    with pytest.raises(MendableError, match=r"notes.gpkg is there and is no GeoPackage"):
        kept(bench, target)
    assert target.read_text() == "my notes"
    assert group(bench)[0].providerType() == "memory"


def test_keeping_that_is_stopped_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "t", parcels())
    bench.run("filter", layer="parcels", where='"n" > 1')
    target = tmp_path / "results.gpkg"
    with pytest.raises(ToolCancelled):
        bench.toolbox.keep(target, [group(bench)[0].id()], lambda percent: None, lambda: True)
    assert not target.exists()
    kept(bench, target)
    before = tables(target)
    bench.run("filter", layer="parcels", where='"n" > 2')
    with pytest.raises(ToolCancelled):
        bench.toolbox.keep(target, [group(bench)[0].id()], lambda percent: None, lambda: True)
    assert tables(target) == before


def test_kept_layers_are_no_longer_temporary_and_undo_leaves_the_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "t", parcels())
    bench.run("filter", layer="parcels", where='"n" > 1')
    target = tmp_path / "results.gpkg"
    kept(bench, target)
    assert bench.toolbox.undo_turn()
    assert len(bench.project.mapLayers()) == 1
    assert target.exists()
    assert QgsApplication.instance() is not None
