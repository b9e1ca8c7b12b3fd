# SPDX-License-Identifier: GPL-2.0-or-later
"""The real Landsat scene, land cover and climate cubes of the shared data, held against numpy."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import geopandas
import numpy
import pytest
from osgeo import gdal
from raster_case import read
from scene_case import SceneBench
from shapely import points, prepare
from toolbox_case import opened

from geo_olm.tools.base import MendableError

pytestmark = [pytest.mark.usefixtures("qgis_processing"), pytest.mark.shared]
REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"


def scenes_of(folder: Path, *names: str, layers: tuple[str, ...] = ()) -> SceneBench:
    bench = SceneBench(folder, *(opened(REAL / one) for one in layers))
    for name in names:
        shutil.copy(REAL / name, bench.scenes / name)
    return bench


def inside(shape: Any, dataset: gdal.Dataset) -> Any:
    """Return which cells have their middle in a shape, by shapely alone."""
    left, width, _, top, _, height = dataset.GetGeoTransform()
    x = left + (numpy.arange(dataset.RasterXSize) + 0.5) * width
    y = top + (numpy.arange(dataset.RasterYSize) + 0.5) * height
    across, down = numpy.meshgrid(x, y)
    prepare(shape)
    found: Any = shape.contains(points(across, down))
    return found


def test_ndvi_of_the_landsat_scene_by_tract_is_that_of_numpy(tmp_path: Path) -> None:
    bench = scenes_of(tmp_path, "L7_ETMs.tif", layers=("olinda1.shp",))
    indexed = bench.index()
    (row,) = bench.rows(indexed)
    assert (row["product"], row["sensor"], row["date"]) == (
        "Landsat 7 as stored",
        "ETM+",
        None,
    ) or (row["product"] == "Landsat 7 as stored" and not row["date"])
    found = bench.run("observation_series", scenes=indexed.id, zones="olinda1", measure="ndvi")
    dataset = gdal.Open(str(REAL / "L7_ETMs.tif"))
    cells = dataset.ReadAsArray().astype(float)
    red, near = cells[2], cells[3]
    ndvi = (near - red) / (near + red)
    frame = geopandas.read_file(REAL / "olinda1.shp").to_crs(dataset.GetProjection())
    rows = bench.rows(found)
    assert len(rows) == len(frame)
    checked = 0
    for place in range(0, len(frame), 9):
        mask = inside(frame.geometry[place], dataset)
        if mask.any():
            assert rows[place]["value"] == pytest.approx(ndvi[mask].mean(), abs=1e-9)
            assert rows[place]["cells"] == mask.sum()
            checked += 1
    assert checked > 40


def test_the_land_cover_raster_is_loaded_cell_by_cell(tmp_path: Path) -> None:
    bench = scenes_of(tmp_path, "lc.tif")
    found = bench.run("load_scene", scenes=bench.index().id, measure="value")
    dataset = gdal.Open(str(REAL / "lc.tif"))
    band = dataset.GetRasterBand(1)
    raw = band.ReadAsArray()
    cells = read(bench, found)
    there = raw != band.GetNoDataValue()
    assert (cells.mask != there).all()
    assert (cells[there] == raw[there]).all()
    areas = bench.run("class_areas", layer=found.id, unit="km2")
    width = dataset.GetGeoTransform()[1]
    codes, counts = numpy.unique(raw[there], return_counts=True)
    wanted = dict(zip(codes.tolist(), (counts * width * width / 1e6).tolist()))
    for code, area in wanted.items():
        assert areas.numbers[f"class_{code}"] == pytest.approx(area, rel=0.006)


def test_the_months_of_a_real_cube_are_a_series(tmp_path: Path) -> None:
    bench = scenes_of(tmp_path, "bcsd_obs_1999.nc", layers=("nc.gpkg",))
    indexed = bench.index()
    rows = bench.rows(indexed)
    assert {Path(one["path"]).name for one in rows} == {"bcsd_obs_1999.nc"}
    with pytest.raises(MendableError, match="several variables: PR, TAS"):
        bench.run("observation_series", scenes=indexed.id, zones="nc", measure="value")
    warm = bench.run("find_scenes", scenes=indexed.id, product="tas")
    (row,) = bench.rows(warm)
    assert row["date"].toString("yyyy-MM-dd") == "1999-01-31"
    assert row["until"].toString("yyyy-MM-dd") == "1999-12-31"
    found = bench.run(
        "observation_series", scenes=warm.id, zones="nc", measure="value", start="1999-07",
        end="1999-07",
    )  # fmt: skip
    dataset = gdal.Open(f'NETCDF:"{REAL / "bcsd_obs_1999.nc"}":tas')
    july = dataset.GetRasterBand(7)
    cells = july.ReadAsArray().astype(float)
    cells[cells == july.GetNoDataValue()] = numpy.nan
    frame = geopandas.read_file(REAL / "nc.gpkg").to_crs(4326)
    values = {one["NAME"]: one["value"] for one in bench.rows(found)}
    for place in (3, 36, 77):
        mask = inside(frame.geometry[place], dataset)
        wanted = numpy.nanmean(cells[mask])
        assert values[frame["NAME"][place]] == pytest.approx(wanted, abs=1e-6)
