# SPDX-License-Identifier: GPL-2.0-or-later
"""What jobs made, put together; a layer cut by tiles; layers that no input names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import geopandas
import numpy
import pytest
from batch_case import NEAR, Listener, towns, write
from osgeo import gdal, ogr, osr
from qgis.core import QgsRasterLayer
from toolbox_case import box, layer

from geo_olm.plugin.batch.cutting import EmptyTile, cut
from geo_olm.plugin.batch.gathering import gathered
from geo_olm.plugin.batch.input import read_inputs
from geo_olm.plugin.batch.job import BatchError, Ended, Job
from geo_olm.plugin.batch.state import State
from geo_olm.plugin.batch.tile import tiles
from geo_olm.plugin.batch_workflow import with_sources
from geo_olm.plugin.workflow.graph import Graph, Source, Vertex
from geo_olm.plugin.workflow.value import Layer

pytestmark = pytest.mark.usefixtures("qgis_processing")


def raster(path: Path, left: float, values: list[list[float]], crs: int = 32632) -> None:
    """Write a raster of 10 m cells whose top is at 100 m."""
    array = numpy.array(values, dtype="float32")
    data = gdal.GetDriverByName("GTiff").Create(str(path), *array.shape[::-1], 1, gdal.GDT_Float32)
    data.SetGeoTransform((left, 10, 0, 100, 0, -10))
    system = osr.SpatialReference()
    system.ImportFromEPSG(crs)
    data.SetProjection(system.ExportToWkt())
    data.GetRasterBand(1).WriteArray(array)


def test_rows_of_a_spreadsheet_are_jobs(tmp_path: Path) -> None:
    data = ogr.GetDriverByName("XLSX").CreateDataSource(str(tmp_path / "rows.xlsx"))
    sheet = data.CreateLayer("first")
    for name, kind in (("id", ogr.OFTString), ("towns", ogr.OFTString), ("distance", ogr.OFTReal)):
        sheet.CreateField(ogr.FieldDefn(name, kind))
    for values in (("a", "t.gpkg", 2.5), ("b", "u.gpkg", None)):
        row = ogr.Feature(sheet.GetLayerDefn())
        for at, value in enumerate(values):
            if value is not None:
                row.SetField(at, value)
        sheet.CreateFeature(row)
    data = sheet = None
    jobs = read_inputs(str(tmp_path / "rows.xlsx"), NEAR)
    assert [(one.id, dict(one.variables)) for one in jobs] == [
        ("a", {"towns": "t.gpkg", "distance": 2.5}),
        ("b", {"towns": "u.gpkg"}),
    ]
    assert [one.place for one in jobs] == ["rows.xlsx, row 2", "rows.xlsx, row 3"]


class Made:
    """A batch's folder with jobs that are done, without a cluster."""

    def __init__(self, folder: Path) -> None:
        self.state = State(folder)
        self.state.open()
        self.jobs: list[Job] = []
        self.ended: dict[str, Ended] = {}

    def add(self, name: str, variables: dict[str, Any], **record: Any) -> Path:
        job = Job(name, variables)
        self.jobs.append(job)
        folder = self.state.folder / "jobs" / name
        folder.mkdir()
        (folder / "record.json").write_text(json.dumps({"key": "k", "record": {}, **record}))
        self.ended[name] = Ended(name, "k", "ok")
        self.state.note(self.ended[name])
        return folder

    def gather(self) -> Any:
        return gathered(self.state, self.jobs, self.ended, Listener())


def vector(step: str, file: str = "r.gpkg") -> dict[str, Any]:
    return {"step": step, "kind": "vector", "file": file, "table": ""}


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "out")


def test_layers_of_one_kind_are_put_together_and_other_kinds_beside_with_a_remark(
    made: Made, tmp_path: Path
) -> None:
    for name, geometry, wkt, crs in (
        ("a", "Point", "POINT(1 2)", "EPSG:32632"),
        ("b", "MultiPoint", "MULTIPOINT((3 4),(5 6))", "EPSG:32632"),
        ("c", "Point", "POINT(7 8)", "EPSG:32633"),
        ("d", "LineString", "LINESTRING(0 0,1 1)", "EPSG:32632"),
    ):
        folder = made.add(name, {"distance": 5}, layers=[vector("near")])
        write(layer("r", geometry, "job:string n:integer", [(wkt, f"mine {name}", 7)], crs),
              folder / "r.gpkg")  # fmt: skip
    found = made.gather()
    assert [one.name for one in found.files] == ["results.gpkg"]
    assert len(found.remarks) == 2
    assert "EPSG:32633" in found.remarks[0]
    path = tmp_path / "out" / "results.gpkg"
    near = geopandas.read_file(path, layer="near")
    assert list(near["job"]) == ["mine a", "mine b"]
    assert list(near["job_2"]) == ["a", "b"]
    assert list(near["distance"]) == [5, 5]
    assert [one.wkt for one in near.geometry] == ["MULTIPOINT (1 2)", "MULTIPOINT (3 4, 5 6)"]
    assert near.crs.to_epsg() == 32632
    names = [row[0] for row in geopandas.list_layers(path).to_numpy()]
    assert len(names) == 4
    assert names[-1] == "jobs"
    assert geopandas.read_file(path, layer=names[1]).crs.to_epsg() == 32633
    assert geopandas.read_file(path, layer=names[2]).geometry[0].geom_type == "MultiLineString"


def test_fields_of_several_types_become_one_that_holds_them_all(made: Made) -> None:
    for name, kind, value in (("a", "integer", 4), ("b", "double", 2.5)):
        folder = made.add(name, {}, layers=[vector("t")])
        write(layer("r", "Point", f"n:{kind}", [("POINT(0 0)", value)]), folder / "r.gpkg")
    made.gather()
    found = geopandas.read_file(made.state.folder / "results.gpkg", layer="t")
    assert list(found["n"]) == [4.0, 2.5]


def test_numbers_and_answers_stand_in_a_table_with_the_failed_jobs(made: Made) -> None:
    made.add("a", {"distance": 5}, numbers={"sum": {"sum": 450.5}},
             record={"answer": "450.5 people", "value": 450.5})  # fmt: skip
    made.jobs.append(Job("bad", {"distance": 6}))
    made.ended["bad"] = Ended("bad", "k", "failed", "It broke.")
    made.gather()
    data = ogr.Open(str(made.state.folder / "results.gpkg"))
    rows = [one.items() for one in data.GetLayerByName("jobs")]
    assert [(one["job"], one["status"], one["reason"], one["distance"]) for one in rows] == [
        ("a", "ok", None, 5),
        ("bad", "failed", "It broke.", 6),
    ]
    assert (rows[0]["sum_sum"], rows[0]["answer"], rows[1]["value"]) == (
        450.5,
        "450.5 people",
        None,
    )


def test_rasters_become_a_mosaic_with_relative_paths_and_another_crs_one_of_its_own(
    made: Made, tmp_path: Path
) -> None:
    for name, left, value, crs in (("a", 0, 1, 32632), ("b", 20, 2, 32632), ("c", 0, 3, 32633)):
        folder = made.add(name, {}, layers=[{"step": "slope", "kind": "raster", "file": "s.tif"}])
        raster(folder / "s.tif", left, [[value, value], [value, value]], crs)
    found = made.gather()
    assert [one.name for one in found.files] == [
        "results.gpkg", "slope.vrt", "slope_EPSG_32633_1.vrt",
    ]  # fmt: skip
    assert "2 in EPSG:32632 with 1 bands; 1 in EPSG:32633" in found.remarks[0]
    moved = tmp_path / "moved"
    (tmp_path / "out").rename(moved)
    values = gdal.Open(str(moved / "slope.vrt")).ReadAsArray()
    assert values.tolist() == [[1, 1, 2, 2], [1, 1, 2, 2]]


def test_a_file_of_somebody_else_is_never_written_over_but_the_batch_s_own_is(
    made: Made, tmp_path: Path
) -> None:
    foreign = tmp_path / "out" / "results.gpkg"
    foreign.write_text("mine")
    made.add("a", {})
    assert [one.name for one in made.gather().files] == ["results_2.gpkg"]
    again = Made(tmp_path / "out")
    again.jobs, again.ended = made.jobs, made.ended
    assert [one.name for one in again.gather().files] == ["results_2.gpkg"]
    assert foreign.read_text() == "mine"
    assert not list((tmp_path / "out").glob(".part*"))


def test_a_state_that_was_cut_off_in_mid_line_is_read_and_written_on(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.add("a", {})
    with (tmp_path / "jobs.jsonl").open("a") as file:
        file.write('{"id": "b", "ke')
    again = State(tmp_path)
    again.open()
    assert again.finished("a", "k") is not None
    assert again.finished("a", "other") is None
    again.note(Ended("c", "k", "failed", "x"))
    assert len((tmp_path / "jobs.jsonl").read_text().splitlines()) == 3
    third = State(tmp_path)
    third.open()
    assert third.finished("c", "k") is None


def test_a_second_batch_in_a_folder_waits_for_the_first(tmp_path: Path) -> None:
    (tmp_path / ".running").write_text("1")  # the first process of the machine, which is alive
    with pytest.raises(BatchError, match="Another batch runs in"):
        State(tmp_path).open()


def cut_by(found: Any, size: float, extent: tuple[float, float, float, float]) -> list[Any]:
    parts = []
    for tile in tiles(extent, (size, size)):
        form = {"extent": list(tile.box), "crs": "EPSG:32632", "closed": list(tile.closed)}
        try:
            parts.append(cut(found, form))
        except EmptyTile:
            parts.append(None)
    return parts


def test_each_point_lies_in_one_tile_also_on_an_edge() -> None:
    points = layer("p", "Point", "n:integer", [(f"POINT({x * 5} 0)", x) for x in range(5)])
    parts = cut_by(points, 10, (0, 0, 20, 10))
    assert [[one["n"] for one in part.getFeatures()] for part in parts] == [[0, 1], [2, 3, 4]]


def test_areas_are_cut_at_the_edges_and_keep_their_whole_area() -> None:
    areas = layer("p", "Polygon", "n:integer", [(box(2, 2, 25, 8), 1)])
    parts = cut_by(areas, 10, (0, 0, 40, 10))
    assert parts[3] is None
    sizes = [next(one.getFeatures()).geometry().area() for one in parts[:3]]
    assert sizes == pytest.approx([48, 60, 30])


def test_a_raster_is_cut_to_the_cells_of_its_tile(tmp_path: Path) -> None:
    raster(tmp_path / "r.tif", 0, [[1, 2, 3, 4], [5, 6, 7, 8]])
    parts = cut_by(QgsRasterLayer(str(tmp_path / "r.tif"), "r"), 20, (0, 80, 60, 100))
    assert parts[2] is None
    values = [gdal.Open(one.source()).ReadAsArray().tolist() for one in parts[:2]]
    assert values == [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]


def test_tiles_in_degrees_hold_each_point_in_metres_once() -> None:
    rows = [(f"POINT({x} {y})", x) for x in range(499000, 501001, 100)
            for y in range(4999000, 5001001, 100)]  # fmt: skip
    points = layer("p", "Point", "n:integer", rows)
    count = 0
    for tile in tiles((8.98, 45.13, 9.02, 45.17), (0.01, 0.01)):
        form = {"extent": list(tile.box), "crs": "EPSG:4326", "closed": list(tile.closed)}
        try:
            count += cut(points, form).featureCount()
        except EmptyTile:
            continue
    assert count == len(rows)


def test_a_tile_in_degrees_cuts_a_layer_in_metres_by_its_bounding_box() -> None:
    points = layer("p", "Point", "n:integer", [("POINT(500000 5000000)", 1),
                                               ("POINT(600000 5000000)", 2)])  # fmt: skip
    form = {"extent": [8.9, 45.0, 9.1, 45.3], "crs": "EPSG:4326", "closed": [True, True]}
    assert [one["n"] for one in cut(points, form).getFeatures()] == [1]
    with pytest.raises(BatchError, match="no CRS nonsense"):
        cut(points, {**form, "crs": "nonsense"})


def test_layers_that_no_input_names_come_from_the_project_or_the_workflow(tmp_path: Path) -> None:
    roads = towns(tmp_path / "roads.gpkg")
    graph = Graph(
        vertices=(*NEAR.vertices, Vertex("r", tool="count", parameters={"layer": Layer("roads")})),
        variables=NEAR.variables,
        sources=(Source("roads", str(roads)),),
    )
    job = Job("a", {"towns": "/d/t.gpkg"}, "line 1")
    (filled,) = with_sources([job], graph, {})
    assert filled.variables == {"towns": "/d/t.gpkg", "roads": str(roads)}
    other = f"{towns(tmp_path / 'other.gpkg')}|layername=other"
    (filled,) = with_sources([job], graph, {"roads": other})
    assert filled.variables["roads"] == other
    for elsewhere in ("Point?crs=EPSG:4326&uid={1}", "dbname='d' host=h password='p' table=\"t\""):
        with pytest.raises(BatchError, match="roads lies in no file: keep a copy"):
            with_sources([job], graph, {"roads": elsewhere})
    bare = Graph(vertices=graph.vertices, variables=graph.variables)
    with pytest.raises(BatchError, match="line 1: the layer roads has no source"):
        with_sources([job], bare, {})
