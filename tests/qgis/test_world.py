# SPDX-License-Identifier: GPL-2.0-or-later
"""The generated world: the same for a seed, in the products' own formats, and its truth is what
the tools give and what other readers of the files give."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import geopandas
import h5py
import numpy
import pytest
import shapely
from osgeo import gdal
from world_case import SIZE, WorldBench, made, tasks, truth, world

from geo_olm.plugin.evaluation.harness import Harness, Plan
from geo_olm.plugin.evaluation.method import methods_named
from geo_olm.plugin.evaluation.result import ResultFile
from geo_olm.plugin.evaluation.rival import example as rival_example
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow import paper_form
from geo_olm.plugin.workflow.topology import order
from geo_olm.tools.base import MendableError, ToolResult
from geo_olm.tools.catalog import build_registry

pytestmark = pytest.mark.usefixtures("qgis_processing")
SINUSOIDAL = "+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R=6371007.181 +units=m +no_defs"
LONG = os.environ.get("GEO_OLM_LONG") == "1"
PLAYED = ("VI10", "AG09", "CL12", "UR11", "FO08", "CL13")


def file_of(pattern: str) -> Path:
    (found,) = (world() / SIZE).glob(pattern)
    return found


def values(bench: WorldBench, found: ToolResult) -> dict[tuple[str, str], float]:
    """Return the values by day and zone."""
    return {
        (one["date"].toString("yyyy-MM-dd"), one["zone"]): one["value"]
        for one in bench.rows(found)
        if isinstance(one["value"], float)
    }


def expected(measure: str, statistic: str) -> dict[tuple[str, str], float]:
    return {
        (day, zone): one[statistic]
        for day, zones in truth()["zones"][measure].items()
        for zone, one in zones.items()
    }


def cells(path: Path) -> list[bytes]:
    """Return what every subdataset of a file holds."""
    parts = gdal.Open(str(path)).GetSubDatasets()
    return [gdal.Open(name).ReadAsArray().tobytes() for name, _ in parts]


def test_the_same_seed_makes_the_same_bytes_and_another_one_other_data(tmp_path: Path) -> None:
    for name, seed in (("one", 11), ("other", 12)):
        assert made(tmp_path / name, seed).returncode == 0
    same = ("tasks.json", "truth.json", "example.json")
    files = [path for path in (world() / SIZE).rglob("*") if path.is_file()]
    assert len(files) > 40
    for path in [*files, *(world() / name for name in same)]:
        again = tmp_path / "one" / path.relative_to(world())
        if path.suffix == ".hdf":  # the library leaves bytes between its parts as they were
            assert cells(again) == cells(path), path
        elif path.suffix != ".nc":  # carries the history of the library that wrote it
            assert again.read_bytes() == path.read_bytes(), path
    assert truth(tmp_path / "other") != truth()
    whole = sum(path.stat().st_size for path in files)
    assert whole < 4_000_000


@pytest.mark.parametrize(
    ("size", "out", "said"),
    [("tiny", "w", "SIZE tiny is unknown: say small, medium"), ("small", "", "OUT is missing")],
)
def test_wrong_use_of_the_command_is_told(tmp_path: Path, size: str, out: str, said: str) -> None:
    done = made(tmp_path / out if out else "", 1, size)
    assert done.returncode == 2
    assert said in done.stderr


def test_products_are_in_their_true_formats() -> None:
    drivers: Counter[str] = Counter()
    for path in (world() / SIZE / "products").rglob("*"):
        if path.suffix in (".hdf", ".h5", ".nc", ".jp2", ".tif"):
            drivers[gdal.OpenEx(str(path)).GetDriver().ShortName] += 1
    assert {"HDF4", "HDF5", "netCDF", "JP2OpenJPEG", "GTiff"} <= set(drivers)
    month = gdal.Open(str(file_of("products/agriculture/modis/MOD13A3.A2024061.*")))
    (first, _), *_ = month.GetSubDatasets()
    assert first.startswith("HDF4_EOS:EOS_GRID:")
    assert gdal.Open(first).GetGeoTransform()[1] == pytest.approx(926.625433)
    wide = gdal.Open(str(file_of("products/urban/worldpop/*.tif")))
    assert wide.GetMetadata("IMAGE_STRUCTURE")["LAYOUT"] == "COG"


READ = [
    ("agriculture/modis", "districts", "ndvi", "ndvi", "mean"),
    ("agriculture/modis", "districts", "evi", "evi", "min"),
    ("agriculture/daily", "districts", "red", "red", "mean"),
    ("agriculture/daily", "districts", "nir", "nir", "max"),
    ("agriculture/viirs", "districts", "ndvi", "viirs ndvi", "mean"),
    ("agriculture/sentinel", "fields", "ndvi", "sentinel ndvi", "mean"),
    ("climate/modis", "districts", "temperature", "temperature", "mean"),
    ("climate/aerosol", "districts", "aerosol", "aerosol", "mean"),
    ("climate/air", "districts", "value", "air", "mean"),
    ("urban/ghsl", "districts", "built-up", "built-up", "sum"),
    ("urban/ghsl", "districts", "population", "population", "sum"),
    ("urban/worldpop", "districts", "population", "worldpop", "sum"),
]
"""Folder, zones, measure, its name in the truth, statistic."""


@pytest.mark.parametrize("application", ["agriculture", "climate", "urban"])
def test_what_the_tools_read_is_what_was_generated_b55_b56(
    tmp_path: Path, application: str
) -> None:
    bench = WorldBench(tmp_path, "districts", "fields")
    for folder, zones, measure, known, statistic in READ:
        if not folder.startswith(application):
            continue
        found = bench.run(
            "observation_series", scenes=bench.index(folder), zones=zones, measure=measure,
            statistic=statistic,
        )  # fmt: skip
        wanted, have = expected(known, statistic), values(bench, found)
        assert set(have) == set(wanted), folder
        for key, value in wanted.items():
            assert have[key] == pytest.approx(value, rel=1e-9), (folder, measure, key)


def test_tree_cover_loss_and_class_areas_are_what_was_generated(tmp_path: Path) -> None:
    bench = WorldBench(tmp_path, "forests", layers=("land/land_cover.tif",))
    scenes, numbers = bench.index("forest"), truth()["numbers"]
    for threshold in (30, 60):
        found = bench.run("forest_by_zone", scenes=scenes, zones="forests", threshold=threshold)
        for one in bench.rows(found):
            zone, year = one["zone"], one["year"]
            assert one["cover_ha"] == pytest.approx(numbers[f"cover {threshold} {zone}"], rel=1e-6)
            lost = numbers[f"loss {threshold} {zone} {year}"]
            assert one["loss_ha"] == pytest.approx(lost, rel=1e-6)
    areas = bench.run("class_areas", layer="land_cover", unit="m2")
    for key in range(1, 6):
        assert areas.numbers[f"class_{key}"] == numbers[f"land cover {key}"] * 100


# -- the files read by others: h5py, netCDF through h5py, GDAL's plain arrays; zones by shapely


def inside(name: str, zone: str, crs: str, affine: tuple[float, ...], shape: Any) -> Any:
    """Return which cells have their middle in a zone, by geopandas and shapely."""
    frame = geopandas.read_file(world() / SIZE / "zones" / f"{name}.gpkg").to_crs(crs)
    (polygon,) = frame[frame["name"] == zone].geometry
    x = affine[0] + (numpy.arange(shape[1]) + 0.5) * affine[1]
    y = affine[3] + (numpy.arange(shape[0]) + 0.5) * affine[5]
    return shapely.contains_xy(polygon, *numpy.meshgrid(x, y))


def test_ndvi_of_hdf_eos_2_is_what_plain_arrays_give() -> None:
    month = gdal.Open(str(file_of("products/agriculture/modis/MOD13A3.A2024122.*")))
    ndvi, _, reliability = (gdal.Open(one) for one, _ in month.GetSubDatasets())
    stored, rank = ndvi.ReadAsArray().astype(float), reliability.ReadAsArray().astype(int)
    good = (stored >= -2000) & (stored <= 10000) & ((rank == 0) | (rank == 1))
    for zone, one in truth()["zones"]["ndvi"]["2024-05-01"].items():
        mask = inside("districts", zone, SINUSOIDAL, ndvi.GetGeoTransform(), stored.shape) & good
        assert one["count"] == mask.sum()
        assert one["mean"] == pytest.approx(stored[mask].mean() / 10000)


def test_ndvi_of_hdf_eos_5_is_what_h5py_gives() -> None:
    grid = gdal.Open(str(file_of("products/agriculture/modis/MOD13A3.A2024122.*")))
    affine = gdal.Open(grid.GetSubDatasets()[0][0]).GetGeoTransform()
    with h5py.File(file_of("products/agriculture/viirs/VNP13A3.A2024214.*"), "r") as file:
        fields = file["HDFEOS/GRIDS/VIIRS_Grid_monthly_VI_1km/Data Fields"]
        stored = fields["1 km monthly NDVI"][:].astype(float)
        rank = fields["1 km monthly pixel reliability"][:].astype(int)
    good = (stored > -10001) & (rank >= 0) & (rank <= 3)
    for zone, one in truth()["zones"]["viirs ndvi"]["2024-08-01"].items():
        mask = inside("districts", zone, SINUSOIDAL, affine, stored.shape) & good
        assert one["count"] == mask.sum()
        assert one["mean"] == pytest.approx(stored[mask].mean() / 10000)


def test_air_temperature_of_netcdf_is_what_h5py_gives() -> None:
    with h5py.File(file_of("products/climate/air/*.nc"), "r") as file:
        stored = file["tas"][9].astype(float)
        scale, offset = (
            float(file["tas"].attrs[one][()]) for one in ("scale_factor", "add_offset")
        )
        fill, y, x = file["tas"].attrs["_FillValue"][0], file["lat"][:], file["lon"][:]
    affine = (x[0] - (x[1] - x[0]) / 2, x[1] - x[0], 0, y[0] - (y[1] - y[0]) / 2, 0, y[1] - y[0])
    for zone, one in truth()["zones"]["air"]["2024-10-01"].items():
        mask = inside("districts", zone, "EPSG:4326", affine, stored.shape) & (stored != fill)
        assert one["mean"] == pytest.approx((stored[mask] * scale + offset).mean())


def test_ndvi_of_jpeg_2000_is_what_plain_arrays_give() -> None:
    red, near, classes = (
        gdal.Open(str(file_of(f"products/agriculture/sentinel/*20240722*.SAFE/**/*_{band}_*.jp2")))
        for band in ("B04", "B08", "SCL")
    )
    r, n = (one.ReadAsArray().astype(float) for one in (red, near))
    clear = numpy.kron(numpy.isin(classes.ReadAsArray(), [4, 5]), numpy.ones((2, 2))).astype(bool)
    good = clear & (r > 0) & (n > 0)
    r, n = r / 10000 - 0.1, n / 10000 - 0.1
    for zone, one in truth()["zones"]["sentinel ndvi"]["2024-07-22"].items():
        mask = inside("fields", zone, "EPSG:32632", red.GetGeoTransform(), r.shape) & good
        assert one["mean"] == pytest.approx(((n - r) / (n + r))[mask].mean())


def test_people_of_geotiff_tiles_are_what_plain_arrays_give() -> None:
    sums: Counter[str] = Counter()
    for path in (world() / SIZE / "products" / "urban" / "ghsl").glob("GHS_POP_E2020*"):
        tile = gdal.Open(str(path))
        people = tile.ReadAsArray()
        people[people == -200] = 0
        for zone in truth()["zones"]["population"]["2020-01-01"]:
            mask = inside("districts", zone, "EPSG:4326", tile.GetGeoTransform(), people.shape)
            sums[zone] += float(people[mask].sum())
    for zone, one in truth()["zones"]["population"]["2020-01-01"].items():
        assert one["sum"] == pytest.approx(sums[zone])


# -- what cannot be answered


REFUSED = [
    ("climate/modis", "Birch", {"measure": "temperature", "start": "2024-07-27",
                                "end": "2024-07-27"}, "every cell was lost to fill values"),
    ("agriculture/daily", "Alder", {"measure": "red", "start": "2024-07-10", "end": "2024-07-10"},
     "cloud or poor quality"),
    ("agriculture/modis", "Far Isle", {"measure": "ndvi"}, "its zones lie outside"),
    ("agriculture/modis", "Elm", {"measure": "ndvi", "start": "2019-05", "end": "2019-05"},
     "They go from 2024-03-01 to 2024-09-01"),
    ("agriculture/modis", "Elm", {"measure": "ndvi", "start": "2024-06", "end": "2024-06"},
     "No scene of ndvi lies in that time"),
    ("climate/modis", "Elm", {"measure": "temperature", "start": "2024-02-30"}, "is no date"),
    ("climate/modis", "Elm", {"measure": "population"}, "Measured is temperature"),
    ("urban/ghsl", "Elm", {"measure": "population", "start": "1950", "end": "1950"},
     "They go from 2000-01-01 to 2020-01-01"),
]  # fmt: skip
"""Folder, zone, what else is asked, and what the refusal says."""


def test_what_has_no_value_is_refused_with_its_reason(tmp_path: Path) -> None:
    bench = WorldBench(tmp_path, "districts")
    for folder, zone, asked, said in REFUSED:
        taken = bench.run(
            "filter", layer="districts", conditions=[{"field": "name", "op": "=", "value": zone}]
        )
        with pytest.raises(MendableError, match=said):
            bench.run("observation_series", scenes=bench.index(folder), zones=taken.id, **asked)


def test_the_lost_month_is_told_beside_the_others(tmp_path: Path) -> None:
    bench = WorldBench(tmp_path, "districts")
    found = bench.run(
        "observation_series", scenes=bench.index("agriculture/modis"), zones="districts",
        measure="ndvi",
    )  # fmt: skip
    assert "Months without data: 2024-06." in found.notes
    assert "Outside all scenes, so without values: Far Isle." in found.notes


# -- the tasks


def test_the_tasks_cover_the_five_applications_with_graphs_and_refusals() -> None:
    raw = json.loads((world() / "tasks.json").read_text(encoding="utf-8"))["tasks"]
    assert len(raw) == len(tasks()) >= 60
    areas = Counter(one["area"] for one in raw)
    assert set(areas) == {"Vision", "Agriculture", "Climate", "Urban", "Forest"}
    assert min(areas.values()) >= 10
    assert sum("reject" in one["expect"] for one in raw) >= 10
    graphs = [one["graph"] for one in raw if "reject" not in one["expect"]]
    assert len(graphs) >= 22
    vertices = [one for graph in graphs for one in graph["tasks"].values()]
    assert all(one["agent"] and one["tool"] and one["objective"] for one in vertices)
    branched = [
        graph for graph in graphs if any(len(one["prev"]) > 1 for one in graph["tasks"].values())
    ]
    assert len(branched) >= 6
    for graph in graphs:
        remarks: list[str] = []
        assert len(order(paper_form.read(graph, remarks.append))) == len(graph["tasks"])
        assert remarks == []


def test_one_more_task_is_the_example_and_is_not_asked() -> None:
    (example,) = json.loads((world() / "example.json").read_text(encoding="utf-8"))["tasks"]
    assert example["graph"]["tasks"]
    assert example["id"] not in {one.id for one in tasks()}


def test_the_example_worked_out_is_one_that_every_method_can_be_shown(tmp_path: Path) -> None:
    (shown,) = rival_example.load(world() / "example.json").examples
    steps = shown.example.steps
    registry = build_registry()
    assert all(registry.prepare(one.tool, dict(one.arguments)) for one in steps)
    assert len(shown.thoughts) == len(steps)
    bench = WorldBench(tmp_path, "districts")
    taken = bench.run(steps[0].tool, **steps[0].arguments)
    scenes = bench.index("climate/modis")
    found = bench.run(steps[2].tool, **{**steps[2].arguments, "scenes": scenes, "zones": taken.id})
    assert f"highest = {found.numbers['mean']:.4g} (Birch" in steps[2].result


@pytest.mark.timeout(900)
def test_the_gold_method_is_right_on_the_tasks(tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in world().rglob("*") if path.is_file()}
    chosen = tuple(one for one in tasks() if LONG or one.id in PLAYED)
    plan = Plan(chosen, tuple(methods_named("gold", Settings())), world(), tmp_path)
    runs = ResultFile(Harness(plan).run()).runs
    assert len(runs) == (len(tasks()) if LONG else len(PLAYED))
    assert {one["task"]: one["reasons"] for one in runs if not one["success"]} == {}
    after = {path: path.stat().st_mtime_ns for path in world().rglob("*") if path.is_file()}
    assert after == before
