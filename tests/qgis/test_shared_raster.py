# SPDX-License-Identifier: GPL-2.0-or-later
"""The raster tools on the shared real data, against numpy over GDAL's own reading and against the
values that the tasks state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from osgeo import gdal
from qgis.core import QgsRasterLayer
from raster_case import read
from toolbox_case import Bench, opened

from geo_olm.tools.base import MendableError, UnanswerableError

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"
pytestmark = [pytest.mark.shared, pytest.mark.usefixtures("qgis_processing")]


def bench(folder: Path, *names: str) -> Bench:
    return Bench(folder, *(opened(REAL / name) for name in names))


def cells(name: str, band: int = 1) -> Any:
    """Return the cells of a band, masked where GDAL says that there is no data."""
    dataset = gdal.Open(str(REAL / name) if not name.startswith("NETCDF") else name)
    found = dataset.GetRasterBand(band)
    values, nodata = found.ReadAsArray().astype(float), found.GetNoDataValue()
    return numpy.ma.masked_equal(values, nodata) if nodata is not None else numpy.ma.array(values)


@pytest.mark.parametrize(
    ("name", "band"),
    [
        ("lc.tif", 1),
        ("elev.tif", 1),
        ("olinda_dem_utm25s.tif", 1),
        ("L7_ETMs.tif", 4),
        ("meuse.tif", 1),
    ],
)
def test_statistics_are_numpys_on_every_real_raster(tmp_path: Path, name: str, band: int) -> None:
    stem = name.partition(".")[0]
    found = bench(tmp_path, name).run("statistics", layer=stem, band=band).numbers
    wanted = cells(name, band).compressed()
    assert found["count"] == len(wanted)
    assert found["mean"] == pytest.approx(wanted.mean(), rel=1e-9)
    assert found["sum"] == pytest.approx(wanted.sum(), rel=1e-9)
    assert found["stdev"] == pytest.approx(wanted.std(ddof=1), rel=1e-9)
    assert found["median"] == pytest.approx(float(numpy.median(wanted)), rel=1e-9)
    assert (found["min"], found["max"]) == (wanted.min(), wanted.max())


def test_packed_netcdf_is_unpacked(tmp_path: Path) -> None:
    source = f'NETCDF:"{REAL / "reduced.nc"}":sst'
    found = Bench(tmp_path, QgsRasterLayer(source, "sst")).run("statistics", layer="sst").numbers
    dataset = gdal.Open(source)
    band = dataset.GetRasterBand(1)
    raw = cells(source).compressed()
    wanted = raw * (band.GetScale() or 1) + (band.GetOffset() or 0)
    assert found["count"] == len(wanted)
    assert found["mean"] == pytest.approx(wanted.mean(), rel=1e-6)
    assert -5 < found["min"] < found["max"] < 40
    bench_of_it = Bench(tmp_path, QgsRasterLayer(source, "sst"))
    same = bench_of_it.run("raster_calculate", layers=["sst"], expression="A * 1").numbers
    assert same["count"] == len(wanted)
    assert same["mean"] == pytest.approx(wanted.mean(), rel=1e-5)


def test_the_warmest_month_of_a_cube_is_july(tmp_path: Path) -> None:
    source = f'NETCDF:"{REAL / "bcsd_obs_1999.nc"}":tas'
    found = Bench(tmp_path, QgsRasterLayer(source, "tas")).run("raster_series", layers=["tas"])
    means = [cells(source, band).mean() for band in range(1, 13)]
    assert found.texts["highest"].startswith("July 1999")
    assert found.numbers["highest"] == pytest.approx(max(means), rel=1e-6)
    assert found.numbers["lowest"] == pytest.approx(min(means), rel=1e-6)
    assert found.numbers["mean"] == pytest.approx(float(numpy.mean(means)), rel=1e-6)


def test_developed_land_is_measured_d16(tmp_path: Path) -> None:
    found = bench(tmp_path, "lc.tif").run(
        "class_areas", layer="lc", classes=[21, 22, 23, 24], unit="km2"
    )
    assert found.numbers["total"] == pytest.approx(1431.0)
    assert found.numbers["cells"] == 159


def test_the_vegetation_index_of_landsat_is_numpys_d17(tmp_path: Path) -> None:
    red, nir = cells("L7_ETMs.tif", 3), cells("L7_ETMs.tif", 4)
    wanted = (nir - red) / (nir + red)
    made = bench(tmp_path, "L7_ETMs.tif")
    for arguments in ({}, {"nir": 4, "red": 3}):
        found = made.run("raster_index", layer="L7_ETMs", index="NDVI", **arguments)
        assert numpy.abs(read(made, found) - wanted).max() < 1e-6
        assert found.layers[0].crs == "EPSG:31985"
    assert "red = band 3 of L7_ETMs" in " ".join(found.notes)


def test_a_band_in_a_role_that_the_sensor_gives_to_another_is_refused(tmp_path: Path) -> None:
    made = bench(tmp_path, "L7_ETMs.tif")
    with pytest.raises(MendableError, match="Band 1 of L7_ETMs is not red: red is band 3"):
        made.run("raster_index", layer="L7_ETMs", index="NDVI", red=1, nir=4)


def test_the_slope_of_olinda_keeps_the_sea_d19(tmp_path: Path) -> None:
    found = bench(tmp_path, "olinda_dem_utm25s.tif").run(
        "terrain", layer="olinda_dem_utm25s", what="slope"
    )
    assert found.numbers["mean"] == pytest.approx(2.634525, rel=0.01)


def test_the_slope_of_a_model_in_degrees_is_that_of_the_ground_d20(tmp_path: Path) -> None:
    found = bench(tmp_path, "elev.tif").run("terrain", layer="elev", what="slope")
    assert found.numbers["mean"] == pytest.approx(1.623075, rel=0.2)


def test_the_highest_district_is_found_in_one_call_d21(tmp_path: Path) -> None:
    found = bench(tmp_path, "lux.shp", "elev.tif").run(
        "zonal_statistics", layer="lux", raster="elev", statistic="mean"
    )
    assert found.texts["highest"] == "Clervaux"
    assert found.numbers["highest"] == pytest.approx(467.105169, rel=1e-3)
    assert found.layers[0].features == 12


def test_the_greenest_neighbourhood_is_found_in_two_calls_d22(tmp_path: Path) -> None:
    made = bench(tmp_path, "olinda1.shp", "L7_ETMs.tif")
    index = made.run("raster_index", layer="L7_ETMs", index="NDVI")
    found = made.run("zonal_statistics", layer="olinda1", raster=index.id, by="NM_BAIR")
    assert found.texts["highest"] == "Alto da Conquista"
    assert found.numbers["highest"] == pytest.approx(0.161675, rel=0.01)


def test_a_density_map_is_made_coloured_and_saved_d26(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    made = Bench(tmp_path, opened(REAL / "lux.shp"), output=tmp_path / "out")
    dens = made.run("calculate_field", layer="lux", name="dens", expression='"POP"/($area/1e6)')
    assert dens.numbers["sum"] == pytest.approx(2696.461, rel=1e-3)
    made.run("style_graduated", layer=dens.id, field="dens", classes=4, method="jenks")
    found = made.run("export_map", layers=[dens.id], path="density.png")
    dataset = gdal.Open(found.files[0])
    assert dataset.GetDriver().ShortName == "PNG"


def test_a_cube_without_crs_is_not_laid_over_polygons(tmp_path: Path) -> None:
    source = f'NETCDF:"{REAL / "bcsd_obs_1999.nc"}":tas'
    made = Bench(tmp_path, QgsRasterLayer(source, "tas"), opened(REAL / "nc.gpkg"))
    layer = made.project.mapLayersByName("tas")[0]
    if layer.crs().isValid():
        pytest.skip("this QGIS gives the cube a CRS")
    with pytest.raises(UnanswerableError, match="tas has no coordinate reference system"):
        made.run("zonal_statistics", layer="nc", raster="tas", band=7)


def test_no_file_appears_beside_a_raster(tmp_path: Path) -> None:
    before = sorted(path.name for path in REAL.iterdir())
    made = bench(tmp_path, "elev.tif", "lux.shp", "lc.tif", "L7_ETMs.tif")
    made.run("terrain", layer="elev", what="hillshade")
    made.run("terrain", layer="elev", what="contours", interval=100)
    made.run("clip_raster", layer="elev", polygons="lux")
    made.run("class_areas", layer="lc")
    made.run("style_raster", layer="L7_ETMs", rgb=[4, 3, 2])
    assert sorted(path.name for path in REAL.iterdir()) == before
    beside = [path.name for path in tmp_path.rglob("*.aux.xml")]
    assert beside == []
