# SPDX-License-Identifier: GPL-2.0-or-later
"""The templates over real layers: they check clean once bound, and give what others compute."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from osgeo import gdal
from qgis.core import QgsMapLayer, QgsProject, QgsRasterLayer, QgsVectorLayer
from toolbox_case import box, layer

from geo_olm.plugin.assembly import make_toolbox
from geo_olm.plugin.graph_check import checker, surroundings
from geo_olm.plugin.library import read
from geo_olm.plugin.place import RESOURCES
from geo_olm.plugin.replay import agents, replay
from geo_olm.plugin.runner import MainThread
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.finding import Finding
from geo_olm.plugin.workflow.graph import Graph, Type
from geo_olm.plugin.workflow.variable import bound
from geo_olm.plugin.workflow.variable_check import CODE, checked
from geo_olm.tools.catalog import build_registry
from geo_olm.tools.toolbox import ProjectToolbox

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"
FOLDER = RESOURCES / "workflows" / "templates"
REGISTRY = build_registry()
NAMES = sorted(one.name.partition(".")[0] for one in FOLDER.glob("*.geoflow.json"))
pytestmark = pytest.mark.usefixtures("qgis_processing")


def template(name: str) -> Graph:
    loaded = read(FOLDER / f"{name}.geoflow.json")
    assert (loaded.remarks, loaded.faults, loaded.read_only) == ((), (), False)
    return loaded.graph


@pytest.fixture(scope="module")
def toolbox(qgis_processing: None) -> Iterator[ProjectToolbox]:
    """A toolbox over no layers: making one is most of the time of a check."""
    made = make_toolbox(QgsProject(), Settings(), MainThread())
    yield made
    made.close()


def found(graph: Graph, toolbox: ProjectToolbox, folder: Path) -> tuple[Finding, ...]:
    around = surroundings(toolbox, REGISTRY, agents(), folder)
    return checked(graph, checker(around))


@pytest.mark.parametrize("name", NAMES)
def test_a_template_tells_what_it_is_for_and_what_it_lacks(
    name: str, toolbox: ProjectToolbox, tmp_path: Path
) -> None:
    graph = template(name)
    assert graph.title
    assert graph.description.endswith(".")
    assert graph.question
    assert all(one.label for one in graph.variables)
    assert all(one.title and one.objective for one in graph.vertices)
    slots = {one.name for one in graph.variables if one.type is Type.LAYER}
    assert slots
    assert not any(list(vertex.layers()) for vertex in graph.vertices)
    lacks = [one for one in graph.variables if one.default is None]
    seen = found(graph, toolbox, tmp_path)
    assert [one.message for one in seen] == [
        f"The variable {one.name} ({one.label}) has no value: give one." for one in lacks
    ]
    assert {one.code for one in seen} == {CODE}


def test_there_is_a_template_for_each_common_task() -> None:
    assert len(NAMES) >= 8
    assert len({template(one).title for one in NAMES}) == len(NAMES)


class Case:
    """A template over layers: checked, then run."""

    def __init__(self, folder: Path) -> None:
        self.project, self.folder = QgsProject(), folder

    def add(self, *layers: QgsMapLayer | str) -> None:
        for one in layers:
            self.project.addMapLayer(one if isinstance(one, QgsMapLayer) else opened(REAL / one))

    def run(self, name: str, /, **values: Any) -> dict[str, Any]:
        graph = template(name)
        toolbox = make_toolbox(self.project, Settings(), MainThread())
        assert found(bound(graph, values), toolbox, self.folder) == ()
        toolbox.close()
        out = str(self.folder / "out")
        record = replay(graph, self.project, Settings(), values, out, lambda event: None)
        assert record["status"] == "ok", record["reason"]
        return record

    def made(self, field: str) -> QgsVectorLayer:
        """Return the layer with a field that the run added to the project."""
        return next(
            one for one in self.project.mapLayers().values()
            if isinstance(one, QgsVectorLayer) and one.fields().indexOf(field) >= 0
        )  # fmt: skip


def opened(path: Path) -> QgsMapLayer:
    made = (QgsRasterLayer if path.suffix == ".tif" else QgsVectorLayer)(str(path), path.stem)
    assert made.isValid(), path
    return made


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    made = Case(tmp_path)
    yield made
    made.project.clear()


def frame(name: str) -> Any:
    import geopandas

    return geopandas.read_file(REAL / name)


@pytest.fixture
def halves() -> QgsVectorLayer:
    """Two boxes, west and east of 0.1 degrees west in London."""
    rows = [(box(-0.3, 51.4, -0.1, 51.6), "west"), (box(-0.1, 51.4, 0.1, 51.6), "east")]
    return layer("halves", "Polygon", "half:string", rows, "EPSG:4326")


shared = pytest.mark.shared


@shared
def test_buffer_and_count(case: Case) -> None:
    case.add("cycle_hire.geojson", "cycle_hire_osm.geojson")
    record = case.run("buffer_and_count", sites="cycle_hire", places="cycle_hire_osm", distance=100)
    sites, places = (
        frame(one).to_crs(27700) for one in ("cycle_hire.geojson", "cycle_hire_osm.geojson")
    )
    _, metres = sites.sindex.nearest(places.geometry, return_all=False, return_distance=True)
    near = (metres <= 100).sum()
    assert record["value"] == pytest.approx(near, abs=1)  # the ellipsoid against the grid
    assert record["answer"].endswith("lie within 100 m of the sites.")


@shared
def test_count_by_area(case: Case, halves: QgsVectorLayer) -> None:
    case.add(halves, "cycle_hire.geojson")
    record = case.run("count_by_area", areas="halves", places="cycle_hire")
    west = int((frame("cycle_hire.geojson").geometry.x < -0.1).sum())
    assert record["value"] == 742
    assert f": {max(west, 742 - west)} in the fullest one, and none in 0 areas." in record["answer"]
    assert [one["features"] for one in record["layers"]] == [2]  # the shaded layer is told of


@shared
def test_clip_and_dissolve(case: Case, tmp_path: Path) -> None:
    outline = layer("outline", "Polygon", "id:integer", [(box(5.9, 49.4, 6.2, 49.8), 1)],
                    "EPSG:4326")  # fmt: skip
    case.add("lux.shp", outline)
    record = case.run("clip_and_dissolve", layer="lux", outline="outline", group="NAME_1")
    cut = frame("lux.shp").clip((5.9, 49.4, 6.2, 49.8))
    assert record["value"] == cut.NAME_1.nunique() == 3
    assert record["layers"][0]["features"] == 3


@shared
def test_join_and_summarise(case: Case, halves: QgsVectorLayer) -> None:
    case.add("cycle_hire.geojson", halves)
    case.run("join_and_summarise", places="cycle_hire", areas="halves", name="half",
             value="nbikes", statistic="sum")  # fmt: skip
    table = next(
        one for one in case.project.mapLayers().values() if one.name() == "sum of nbikes by half"
    )
    rows = {one["half"]: one.attributes()[-1] for one in table.getFeatures()}
    hire = frame("cycle_hire.geojson")
    is_west = hire.geometry.x < -0.1
    assert rows == {
        "west": int(hire.nbikes[is_west].sum()), "east": int(hire.nbikes[~is_west].sum())
    }  # fmt: skip


@shared
def test_zonal_statistics(case: Case) -> None:
    import shapely

    case.add("lux.shp", "elev.tif")
    record = case.run("zonal_statistics", zones="lux", raster="elev")
    source = gdal.Open(str(REAL / "elev.tif"))
    cells, (left, width, _, top, _, height) = source.ReadAsArray(), source.GetGeoTransform()
    rows, columns = numpy.indices(cells.shape)
    x, y = left + (columns + 0.5) * width, top + (rows + 0.5) * height
    lux, has = frame("lux.shp"), cells != source.GetRasterBand(1).GetNoDataValue()
    means = [cells[shapely.contains_xy(one, x, y) & has].mean() for one in lux.geometry]
    assert record["value"] == pytest.approx(max(means), rel=1e-6)
    assert lux.NAME_2[int(numpy.argmax(means))] == "Clervaux"


@shared
def test_select_and_map(case: Case) -> None:
    case.add("world.gpkg")
    record = case.run("select_and_map", layer="world", field="continent", value="Africa")
    assert record["value"] == (frame("world.gpkg").continent == "Africa").sum() == 51
    picture = gdal.Open(record["files"][0])
    assert Path(record["files"][0]).name == "selection.png"
    assert picture.ReadAsArray().std() > 0


@shared
def test_nearest(case: Case) -> None:
    import pyproj

    case.add("cycle_hire.geojson", "cycle_hire_osm.geojson")
    record = case.run("nearest", places="cycle_hire", targets="cycle_hire_osm")
    ours, theirs = (frame(one).geometry for one in ("cycle_hire.geojson", "cycle_hire_osm.geojson"))
    count = (len(ours), len(theirs))
    x, y = (numpy.broadcast_to(numpy.asarray(one)[:, None], count) for one in (ours.x, ours.y))
    u, v = (numpy.broadcast_to(numpy.asarray(one)[None, :], count) for one in (theirs.x, theirs.y))
    metres = pyproj.Geod(ellps="WGS84").inv(x, y, u, v)[2].min(axis=1)
    assert record["value"] == pytest.approx(metres.mean(), rel=1e-4)


@shared
def test_reproject_and_export(case: Case) -> None:
    import geopandas

    case.add("lux.shp")
    record = case.run("reproject_and_export", layer="lux", crs="EPSG:2169", file="cantons.gpkg")
    written = geopandas.read_file(record["files"][0])
    assert (len(written), written.crs.to_epsg(), record["value"]) == (12, 2169, 12)
    wanted = frame("lux.shp").to_crs(2169).total_bounds
    assert numpy.allclose(written.total_bounds, wanted, atol=2)


@shared
def test_change_of_classes(case: Case, tmp_path: Path) -> None:
    source = gdal.Open(str(REAL / "lc.tif"))
    before = source.ReadAsArray()
    after = numpy.where(before == 42, 21, before)
    copy = gdal.GetDriverByName("GTiff").CreateCopy(str(tmp_path / "later.tif"), source)
    copy.GetRasterBand(1).WriteArray(after)
    copy = None
    case.add("lc.tif", opened(tmp_path / "later.tif"))
    record = case.run("change_of_classes", before="lc", after="later")
    cell = abs(source.GetGeoTransform()[1] * source.GetGeoTransform()[5]) / 10_000
    assert record["value"] == (before == 42).sum() * cell > 0
    assert record["unit"] == "ha"


@shared
def test_share_covered(case: Case) -> None:
    import geopandas

    sites = [("POINT(6.13 49.61)", "Luxembourg"), ("POINT(6.1 49.87)", "Ettelbruck")]
    case.add("lux.shp", layer("stations", "Point", "name:string", sites, "EPSG:4326"))
    record = case.run("share_covered", areas="lux", sites="stations", distance=5000)
    lux = frame("lux.shp").to_crs(2169)
    points = geopandas.GeoSeries.from_xy([6.13, 6.1], [49.61, 49.87], crs=4326)
    area = points.to_crs(2169).buffer(5000, 64).union_all()
    share = 100 * lux.intersection(area).area.sum() / lux.area.sum()
    assert record["value"] == pytest.approx(share, rel=2e-3)
    assert "within 5000 m of the sites" in record["answer"]


@shared
def test_density_grid(case: Case) -> None:
    import geopandas

    case.add("cycle_hire.geojson")
    record = case.run("density_grid", points="cycle_hire", size=1000, shape="square")
    cells = [json.loads(one.geometry().asJson()) for one in case.made("count").getFeatures()]
    shapes = geopandas.GeoDataFrame.from_features(
        [{"type": "Feature", "geometry": one, "properties": {}} for one in cells],
        crs=case.made("count").crs().authid(),
    )
    hire = frame("cycle_hire.geojson").to_crs(shapes.crs)
    inside = shapes.sjoin(hire, predicate="contains").groupby(level=0).size()
    assert record["value"] == inside.max()
    assert inside.sum() == 742


@shared
def test_points_from_a_table(case: Case) -> None:
    import geopandas

    case.add("cycle_hire_xy.csv")
    record = case.run("points_from_a_table", table="cycle_hire_xy", x="X", y="Y")
    written = geopandas.read_file(record["files"][0])
    with (REAL / "cycle_hire_xy.csv").open(encoding="utf-8") as file:
        rows = [(float(one["X"]), float(one["Y"])) for one in csv.DictReader(file)]
    assert written.crs.to_epsg() == 4326
    assert numpy.allclose(numpy.column_stack([written.geometry.x, written.geometry.y]), rows)


def test_every_template_is_run_here() -> None:
    run = {name[5:] for name, one in globals().items()
           if name.startswith("test_") and isinstance(one, Callable)}  # type: ignore[arg-type]  # fmt: skip
    assert set(NAMES) <= run
