# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools on the shared real data, against values computed elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from qgis.core import QgsRasterLayer
from toolbox_case import Bench, opened

from geo_olm.tools.base import MendableError, UnanswerableError

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"
pytestmark = [pytest.mark.shared, pytest.mark.usefixtures("qgis_processing")]


def bench(folder: Path, *names: str) -> Bench:
    return Bench(folder, *(opened(REAL / name) for name in names))


def is_wake() -> list[dict[str, str]]:
    return [{"field": "NAME", "op": "=", "value": "wake"}]


def test_countries_without_gdp_are_counted_d01(tmp_path: Path) -> None:
    condition = [{"field": "gdpPercap", "op": "is empty"}]
    made = bench(tmp_path, "world.gpkg")
    assert made.run("count", layer="world", conditions=condition).numbers["count"] == 17
    found = made.run("filter", layer="world", conditions=condition)
    assert found.numbers["count"] == 17
    assert found.text == (
        'r2: layer "world where gdpPercap is empty", 17 features (polygon, EPSG:4326); count = 17.'
    )


def test_the_highest_rate_is_found_by_an_expression_d02(tmp_path: Path) -> None:
    found = bench(tmp_path, "nc.gpkg").run(
        "top_n", layer="nc", expression='1000.0 * "SID74" / "BIR74"'
    )
    assert found.texts["name"] == "Anson"
    assert found.numbers["value"] == pytest.approx(9.55414, rel=1e-5)


def test_a_month_of_a_time_series_is_found_by_name_d03(tmp_path: Path) -> None:
    source = f'NETCDF:"{REAL / "bcsd_obs_1999.nc"}":tas'
    made = Bench(tmp_path, QgsRasterLayer(source, "tas"))
    found = made.run("statistics", layer="tas", band="July 1999", statistic="mean")
    assert found.numbers["mean"] == pytest.approx(25.890262, rel=1e-6)
    with pytest.raises(MendableError, match="12 bands: say which"):
        made.run("statistics", layer="tas", statistic="mean")


def test_an_area_is_in_square_kilometres_d04(tmp_path: Path) -> None:
    found = bench(tmp_path, "nc.gpkg").run(
        "measure", layer="nc", what="area", unit="km²", conditions=is_wake()
    )
    assert found.numbers["sum"] == pytest.approx(2194.618637, rel=1e-3)
    assert found.units["sum"] == "km2"


def test_heights_are_reached_by_an_expression_d05(tmp_path: Path) -> None:
    found = bench(tmp_path, "storms_xyz.shp").run(
        "count", layer="storms_xyz", where="z_min($geometry) < 950"
    )
    assert found.numbers["count"] == 10


def test_buildings_near_the_pump_are_counted_d08(tmp_path: Path) -> None:
    found = bench(tmp_path, "buildings.gpkg", "b_pump.gpkg").run(
        "select_by_location",
        layer="buildings",
        predicate="within_distance",
        other="b_pump",
        distance="100 m",
    )
    assert found.numbers["count"] == 15


def test_counties_within_45_km_are_counted_without_the_county_itself_d14(tmp_path: Path) -> None:
    found = bench(tmp_path, "nc.gpkg").run(
        "select_by_location",
        layer="nc",
        predicate="within_distance",
        other="nc",
        distance=45000,
        other_conditions=is_wake(),
    )
    assert found.numbers["count"] == 21


def test_stale_statistics_of_a_raster_are_not_used_d15(tmp_path: Path) -> None:
    found = bench(tmp_path, "meuse.tif").run("statistics", layer="meuse", statistic="mean")
    assert found.numbers == {"mean": pytest.approx(425.104154, rel=1e-6), "count": 3178}


def test_capacities_in_texts_are_summed_d23(tmp_path: Path) -> None:
    found = bench(tmp_path, "cycle_hire_osm.geojson").run(
        "statistics", layer="cycle_hire_osm", field="capacity", statistic="sum"
    )
    assert found.numbers["sum"] == 10120


def test_classes_are_five_quantiles_d25(tmp_path: Path) -> None:
    made = bench(tmp_path, "nc.gpkg")
    made.run("style_graduated", layer="nc", field="BIR74", classes=5)
    renderer = made.project.mapLayersByName("nc")[0].renderer()
    assert (renderer.type(), renderer.classAttribute()) == ("graduatedSymbol", "BIR74")
    assert len(renderer.ranges()) == 5


def test_a_layer_without_crs_has_no_area_d29(tmp_path: Path) -> None:
    made = bench(tmp_path, "columbus.shp")
    assert "no CRS" in made.run("layer_info", layer="columbus").text
    with pytest.raises(UnanswerableError, match="columbus has no coordinate reference system"):
        made.run("measure", layer="columbus", what="area", unit="km2")


def test_every_band_is_listed_and_no_other_d30(tmp_path: Path) -> None:
    found = bench(tmp_path, "L7_ETMs.tif").run("layer_info", layer="L7_ETMs")
    assert "band 6:" in found.text
    assert "band 7:" not in found.text


def test_no_file_appears_beside_an_input(tmp_path: Path) -> None:
    before = sorted(path.name for path in REAL.iterdir())
    made = bench(tmp_path, "meuse.tif", "nc.gpkg", "lux.shp", "elev.tif")
    made.toolbox.layers()
    made.run("statistics", layer="meuse")
    made.run("filter", layer="nc", conditions=is_wake())
    parameters = {
        "INPUT": "lux",
        "INPUT_RASTER": "elev",
        "RASTER_BAND": 1,
        "STATISTICS": ["Mean"],
    }
    made.run("run_algorithm", algorithm="native:zonalstatisticsfb", parameters=parameters)
    assert sorted(path.name for path in REAL.iterdir()) == before
