# SPDX-License-Identifier: GPL-2.0-or-later
"""What products measure by zone and point, held against numbers computed by hand and by numpy."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from product_maker import DEGREES, LEFT, TOP, geotiff, landsat, netcdf, sentinel
from qgis.core import QgsMapLayer
from raster_case import read
from scene_case import LANDSAT, SAFE, SceneBench, aerosol, forest, people, temperature, vegetation
from toolbox_case import box, layer

from geo_olm.tools.base import MendableError, ToolResult
from geo_olm.tools.observation_product import families
from geo_olm.tools.observation_table import Block, observation_frame
from geo_olm.tools.product import products
from geo_olm.tools.scene_choice import Occasion
from geo_olm.tools.scene_part import Part, part_named, subdataset_name

pytestmark = pytest.mark.usefixtures("qgis_processing")
RADIUS = 6371007.181
GOOD = numpy.zeros((2, 4))


def place(x: float, y: float) -> str:
    """Return a place of the sinusoidal projection as longitude and latitude."""
    latitude = y / RADIUS
    return f"{math.degrees(x / (RADIUS * math.cos(latitude)))} {math.degrees(latitude)}"


def sinusoidal_box(left: float, bottom: float, right: float, top: float) -> str:
    corners = [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)]
    return f"POLYGON(({','.join(place(*one) for one in corners)}))"


def modis_zones() -> QgsMapLayer:
    """Return two zones of 2 x 2 cells each over the tiny MODIS tiles, and one far away."""
    rows = [
        (sinusoidal_box(0, 998_000, 2000, 1_000_000), "west"),
        (sinusoidal_box(2000, 998_000, 4000, 1_000_000), "east"),
        ("POLYGON((50 50,51 50,51 51,50 51,50 50))", "far"),
    ]
    return layer("zones", "Polygon", "name:string", rows, "EPSG:4326")


def series(bench: SceneBench, found: ToolResult) -> dict[tuple[str, str], Any]:
    return {
        (one["zone"], one["date"].toString("yyyy-MM-dd") if one["date"] else ""): one["value"]
        for one in bench.rows(found)
    }


@pytest.mark.parametrize("ending", ["nc", "h5"])
def test_ndvi_by_zone_leaves_out_fill_range_and_poor_cells_b56(tmp_path: Path, ending: str) -> None:
    bench = SceneBench(tmp_path, modis_zones())
    vegetation(bench.scenes, "2024061", [[5000, 6000, 7000, 8000], [-3000, 1000, 20000, 3000]],
               [[0, 1, 0, 3], [0, 0, 0, 2]], ending)  # fmt: skip
    vegetation(bench.scenes, "2024092", [[4000] * 4] * 2, GOOD, ending)
    found = bench.run(
        "observation_series", scenes=bench.index().id, zones="zones", measure="ndvi", anomaly=True
    )
    values = series(bench, found)
    assert values["west", "2024-03-01"] == pytest.approx((0.5 + 0.6 + 0.1) / 3)
    assert values["east", "2024-03-01"] == pytest.approx(0.7)
    assert values["west", "2024-04-01"] == pytest.approx(0.4)
    assert values["far", "2024-03-01"] is None or not values["far", "2024-03-01"]
    assert "Outside all scenes, so without values: far." in found.notes
    assert "Left out of 16 cells read: 1 fill, 2 cloud or poor quality, 1 out of range." in (
        found.notes
    )
    made = bench.rows(found)
    anomaly = {(one["zone"], one["date"].month()): one["anomaly"] for one in made}
    assert anomaly["east", 3] == pytest.approx((0.7 - 0.4) / 2)
    assert found.numbers["zones"] == 2
    assert found.texts == {"highest": "east 2024-03-01", "lowest": "west 2024-03-01"} or (
        found.texts["lowest"].endswith("2024-04-01")
    )


def test_the_usual_value_is_that_of_the_same_month_where_years_repeat(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, modis_zones())
    for day, value in (("2023060", 2000), ("2024061", 4000), ("2023091", 7000), ("2024092", 8000)):
        vegetation(bench.scenes, day, [[value] * 4] * 2, GOOD)
    found = bench.run(
        "observation_series", scenes=bench.index().id, zones="zones", measure="ndvi", anomaly=True
    )
    anomaly = {
        one["date"].toString("yyyy-MM"): one["anomaly"]
        for one in bench.rows(found)
        if one["zone"] == "west"
    }
    assert anomaly == {
        "2023-03": pytest.approx(-0.1),
        "2024-03": pytest.approx(0.1),
        "2023-04": pytest.approx(-0.05),
        "2024-04": pytest.approx(0.05),
    }


def test_temperature_is_in_degrees_celsius_and_cloud_is_left_out(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, modis_zones())
    temperature(bench.scenes, "2024089", [[15000, 15100, 0, 7000], [14000, 9999, 15200, 15300]],
                [[0, 1, 0, 0], [0, 2, 3, 65]])  # fmt: skip
    found = bench.run(
        "observation_series", scenes=bench.index().id, zones="zones", measure="temperature"
    )
    values = series(bench, found)
    west = numpy.mean([15000, 15100, 14000]) * 0.02 - 273.15
    assert values["west", "2024-03-29"] == pytest.approx(west)
    assert values["east", "2024-03-29"] == pytest.approx(15300 * 0.02 - 273.15)
    assert found.units["highest"] == "°C"
    raster = bench.run("load_scene", scenes="scenes", measure="temperature", date="2024-04-02")
    assert raster.layers[0].name == "temperature 2024-03-29"
    cells = read(bench, raster)
    assert cells[0, 0] == pytest.approx(26.85, abs=1e-4)
    assert cells.mask.tolist() == [[False, False, True, True], [False, True, True, False]]
    span = bench.project.mapLayer(raster.layers[0].id).temporalProperties().fixedTemporalRange()
    assert span.begin().toString("yyyy-MM-dd") == "2024-03-29"
    assert span.end().toString("yyyy-MM-dd") == "2024-04-05"


def test_the_orbits_of_a_day_are_averaged_where_each_is_clear(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, modis_zones())
    aerosol(
        bench.scenes, "2024061",
        [[[100, 200, -28672, 400]] * 2, [[300, 400, 500, 5001]] * 2],
        [[[1, 1, 1, 2]] * 2, [[1, 2, 1, 1]] * 2],
    )  # fmt: skip
    found = bench.run("load_scene", scenes=bench.index().id, measure="aerosol")
    cells = read(bench, found)
    assert cells[0].tolist() == [pytest.approx(0.2), pytest.approx(0.2), pytest.approx(0.5), None]


def test_landsat_reflectance_temperature_and_ndvi_follow_the_guide(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    bands = {
        "SR_B4": [[8000, 9000, 10000, 0]],
        "SR_B5": [[16000, 18000, 20000, 20000]],
        "ST_B10": [[44000, 100, 45000, 46000]],
        "QA_PIXEL": [[21824, 21824, 22280, 1]],
    }
    landsat(bench.scenes, LANDSAT, bands, "2024-06-15", 12.5)
    scenes = bench.index().id
    red = read(bench, bench.run("load_scene", scenes=scenes, measure="red"))
    assert red[0, :2].tolist() == [pytest.approx(0.02), pytest.approx(0.0475)]
    assert red.mask.tolist() == [[False, False, True, True]]  # cloud shadow and cloud, fill
    heat = read(bench, bench.run("load_scene", scenes=scenes, measure="temperature"))
    assert heat[0, 0] == pytest.approx(44000 * 0.00341802 + 149.0 - 273.15, abs=1e-4)
    assert heat.mask.tolist() == [[False, True, True, True]]
    green = read(bench, bench.run("load_scene", scenes=scenes, measure="ndvi"))
    r, n = (numpy.array(bands[one][0][:2]) * 0.0000275 - 0.2 for one in ("SR_B4", "SR_B5"))
    assert green[0, :2].tolist() == pytest.approx(((n - r) / (n + r)).tolist(), abs=1e-6)


def test_sentinel_is_read_from_jpeg_2000_with_its_offset_and_coarser_classes_b55(
    tmp_path: Path,
) -> None:
    rng = numpy.random.default_rng(5)
    red, near = rng.integers(1100, 4000, (2, 40, 40))
    classes = rng.choice([4, 5, 9, 3], (20, 20))
    zone = [(box(LEFT, TOP - 400, LEFT + 400, TOP), "all")]
    bench = SceneBench(tmp_path, layer("zones", "Polygon", "name:string", zone))
    sentinel(bench.scenes, SAFE, {"B04": red, "B08": near, "SCL": classes}, 30.5)
    found = bench.run("observation_series", scenes=bench.index().id, zones="zones", measure="ndvi")
    clear = numpy.kron(numpy.isin(classes, [4, 5]), numpy.ones((2, 2))).astype(bool)
    r, n = red * 0.0001 - 0.1, near * 0.0001 - 0.1
    wanted = ((n - r) / (n + r))[clear].mean()
    assert series(bench, found) == {("all", "2024-03-15"): pytest.approx(wanted)}


def test_ndvi_of_daily_modis_is_made_of_its_reflectances(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, modis_zones())
    red = numpy.array([[1000, 2000, -28672, 17000], [1000, 500, 700, 800]], "int16")
    near = numpy.array([[3000, 3000, 4000, 5000], [4000, 1500, 2100, 2400]], "int16")
    state = numpy.array([[0, 1, 0, 0], [4, 3, 0, 2]], "uint16")
    netcdf(bench.scenes / "MOD09GA.A2024061.h29v12.061.2024200000000.nc",
           {"sur_refl_b01_1": red, "sur_refl_b02_1": near, "state_1km_1": state})  # fmt: skip
    scenes = bench.index().id
    cells = read(bench, bench.run("load_scene", scenes=scenes, measure="ndvi"))
    assert cells.filled(9).tolist() == [
        [pytest.approx(0.5), 9, 9, 9],
        [9, pytest.approx(0.5), pytest.approx(0.5), 9],
    ]
    near_infrared = bench.run("load_scene", scenes=scenes, measure="nir")
    assert near_infrared.numbers["max"] == pytest.approx(0.5)


TOWNS = [
    (box(9.0, 45.98, 9.02, 46.0), "west"),
    (box(9.02, 45.98, 9.04, 46.0), "east"),
]


def test_people_are_summed_over_tiles_by_zone_and_epoch(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, layer("towns", "Polygon", "name:string", TOWNS, "EPSG:4326"))
    for epoch, factor in ((2010, 1), (2020, 2)):
        people(bench.scenes, epoch, numpy.array([[1, 2], [3, -200 / factor]]) * factor)
        people(bench.scenes, epoch, numpy.array([[10, 20], [30, 40]]) * factor, left=9.02)
    found = bench.run(
        "observation_series", scenes=bench.index().id, zones="towns", measure="population"
    )
    assert series(bench, found) == {
        ("west", "2010-01-01"): 6, ("east", "2010-01-01"): 100,
        ("west", "2020-01-01"): 12, ("east", "2020-01-01"): 200,
    }  # fmt: skip
    assert found.units["highest"] == "people"
    one = bench.run(
        "observation_series", scenes="scenes", zones="towns", measure="population", start="2020"
    )
    assert one.numbers["total"] == 212


def test_built_up_surface_is_square_metres(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, layer("towns", "Polygon", "name:string", TOWNS, "EPSG:4326"))
    cells = numpy.array([[100, 65535, 7, 8], [300, 400, 9, 10]], "uint16")
    name = "GHS_BUILT_S_E2020_GLOBE_R2023A_4326_3ss_V1_0_R5_C19.tif"
    geotiff(bench.scenes / name, cells, crs=DEGREES, left=9.0, top=46.0, cell=0.01)
    found = bench.run(
        "observation_series", scenes=bench.index().id, zones="towns", measure="built-up"
    )
    assert series(bench, found) == {("west", "2020-01-01"): 800, ("east", "2020-01-01"): 34}
    assert found.units["total"] == "m2"


def test_tree_loss_is_the_area_of_cells_under_trees_by_year(tmp_path: Path) -> None:
    from pyproj import Geod

    bench = SceneBench(tmp_path, layer("towns", "Polygon", "name:string", TOWNS, "EPSG:4326"))
    forest(
        bench.scenes,
        [[80, 10, 50, 30], [90, 100, 29, 60]],
        [[1, 1, 0, 5], [5, 0, 5, 23]],
    )
    found = bench.run("forest_by_zone", scenes=bench.index().id, zones="towns", chart="loss.png")
    geod = Geod(ellps="WGS84")

    def hectares(row: int) -> float:
        top = 46.0 - row * 0.01
        x, y = [9.0, 9.01, 9.01, 9.0], [top - 0.01, top - 0.01, top, top]
        return abs(geod.polygon_area_perimeter(x, y)[0]) / 10_000

    upper, lower = hectares(0), hectares(1)
    rows = {(one["zone"], one["year"]): one["loss_ha"] for one in bench.rows(found)}
    assert rows["west", 2001] == pytest.approx(upper, rel=1e-4)
    assert rows["west", 2005] == pytest.approx(lower, rel=1e-4)
    assert rows["east", 2005] == pytest.approx(upper, rel=1e-4)
    assert rows["east", 2023] == pytest.approx(lower, rel=1e-4)
    assert sum(rows.values()) == pytest.approx(2 * (upper + lower), rel=1e-4)
    assert found.numbers["cover"] == pytest.approx(3 * upper + 3 * lower, rel=1e-4)
    assert Path(found.files[0]).read_bytes().startswith(b"\x89PNG")
    later = bench.run("forest_by_zone", scenes="scenes", zones="towns", start=2010, threshold=0)
    assert later.numbers["loss"] == pytest.approx(lower, rel=1e-4)
    with pytest.raises(MendableError, match="losses of 2001 to 2023, not of 2030"):
        bench.run("forest_by_zone", scenes="scenes", zones="towns", end=2030)


def test_points_get_the_cell_under_them_and_a_chart_is_saved(tmp_path: Path) -> None:
    points = [(f"POINT({place(500, 999_500)})", "a"), (f"POINT({place(3500, 998_500)})", "b")]
    bench = SceneBench(tmp_path, layer("wells", "Point", "name:string", points, "EPSG:4326"))
    vegetation(bench.scenes, "2024061", [[5000, 0, 0, 0], [0, 0, 0, 2500]], GOOD)
    vegetation(bench.scenes, "2024092", [[5500, 0, 0, 0], [0, 0, 0, 3500]], GOOD)
    found = bench.run(
        "observation_series", scenes=bench.index().id, zones="wells", measure="ndvi",
        chart="wells.png",
    )  # fmt: skip
    assert series(bench, found) == {
        ("a", "2024-03-01"): pytest.approx(0.5), ("b", "2024-03-01"): pytest.approx(0.25),
        ("a", "2024-04-01"): pytest.approx(0.55), ("b", "2024-04-01"): pytest.approx(0.35),
    }  # fmt: skip
    assert [Path(one).name for one in found.files] == ["wells.png"]
    assert Path(found.files[0]).read_bytes().startswith(b"\x89PNG")


def test_cells_become_rows_with_coordinates_date_band_value_and_unit(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, modis_zones())
    temperature(bench.scenes, "2024089", [[15000, 0, 15100, 15200]] * 2, GOOD)
    found = bench.run("observation_rows", scenes=bench.index().id, measure="temperature")
    rows = bench.rows(found)
    assert len(rows) == 6
    longitude, latitude = (float(one) for one in place(500, 999_500).split())
    first = rows[0]
    assert (first["x"], first["y"]) == (pytest.approx(longitude), pytest.approx(latitude))
    assert first["date"].toString("yyyy-MM-dd") == "2024-03-29"
    assert (first["band"], first["unit"]) == ("temperature", "°C")
    assert first["value"] == pytest.approx(26.85)
    inside = bench.run("observation_rows", scenes="scenes", measure="temperature", zones="zones")
    assert inside.numbers["count"] == 6


def test_mixed_tiles_and_mixed_products_are_refused(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, layer("towns", "Polygon", "name:string", TOWNS, "EPSG:4326"))
    people(bench.scenes, 2020, [[1, 2]])
    name = "GHS_POP_E2020_GLOBE_R2023A_54009_100_V1_0_R5_C19.tif"
    geotiff(bench.scenes / name, numpy.ones((2, 2)), cell=100.0)
    scenes = bench.index().id
    with pytest.raises(MendableError, match=r"tiles of 2020-01-01 are mixed: .* different CRS"):
        bench.run("observation_series", scenes=scenes, zones="towns", measure="population")
    (bench.scenes / name).unlink()
    geotiff(bench.scenes / "ita_ppp_2020.tif", numpy.ones((2, 2), "float32"), crs=DEGREES,
            left=9.0, top=46.0, cell=0.01)  # fmt: skip
    scenes = bench.index().id
    with pytest.raises(MendableError, match="several products: GHS-POP, WorldPop"):
        bench.run("observation_series", scenes=scenes, zones="towns", measure="population")


def test_zones_outside_and_days_without_scenes_are_told(tmp_path: Path) -> None:
    far = layer("far", "Polygon", "name:string", [(box(50, 50, 51, 51), "x")], "EPSG:4326")
    bench = SceneBench(tmp_path, far, modis_zones())
    for day in ("2024061", "2024153"):
        vegetation(bench.scenes, day, [[5000] * 4] * 2, GOOD)
    scenes = bench.index().id
    with pytest.raises(MendableError, match="covers far: its zones lie outside"):
        bench.run("observation_series", scenes=scenes, zones="far", measure="ndvi")
    with pytest.raises(MendableError, match=r"in that time\. They go from 2024-03-01 to 2024-06"):
        bench.run("observation_series", scenes=scenes, zones="zones", measure="ndvi", start="2030")
    with pytest.raises(MendableError, match="start 2024-06 is after end 2024-03: swap them"):
        bench.run("observation_series", scenes=scenes, zones="zones", measure="ndvi",
                  start="2024-06", end="2024-03")  # fmt: skip
    with pytest.raises(MendableError, match=r"No scene measures aerosol\. Measured is ndvi"):
        bench.run("observation_series", scenes=scenes, zones="zones", measure="aerosol")
    found = bench.run("observation_series", scenes=scenes, zones="zones", measure="ndvi")
    assert "Months without data: 2024-04, 2024-05." in found.notes


@pytest.mark.parametrize(
    ("ndvi", "reliability", "reason"),
    [
        ([[-3000] * 4] * 2, GOOD, "fill values"),
        ([[5000] * 4] * 2, GOOD + 3, "cloud or poor quality"),
        ([[25000] * 4] * 2, GOOD, "values out of range"),
    ],
)
def test_a_scene_of_nothing_but_fill_or_cloud_gives_no_number(
    tmp_path: Path, ndvi: Any, reliability: Any, reason: str
) -> None:
    bench = SceneBench(tmp_path, modis_zones())
    vegetation(bench.scenes, "2024061", ndvi, reliability)
    scenes = bench.index().id
    with pytest.raises(MendableError, match=f"every cell was lost to {reason}"):
        bench.run("observation_series", scenes=scenes, zones="zones", measure="ndvi")
    with pytest.raises(MendableError, match=f"mostly to {reason}"):
        bench.run("load_scene", scenes=scenes, measure="ndvi")
    assert len(bench.project.mapLayers()) == 2


def test_a_file_damaged_after_its_header_is_told(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, layer("towns", "Polygon", "name:string", TOWNS, "EPSG:4326"))
    path = people(bench.scenes, 2020, numpy.ones((400, 400)))
    scenes = bench.index().id
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(MendableError, match="GHS_POP_E2020"):
        bench.run("load_scene", scenes=scenes, measure="population")


def test_a_cube_of_days_is_a_series(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, modis_zones())
    cells = numpy.stack([numpy.full((2, 4), 1.5), numpy.full((2, 4), 2.5)]).astype("float32")
    netcdf(bench.scenes / "tas.nc", {"tas": cells}, days=(0, 31))
    found = bench.run("observation_series", scenes=bench.index().id, zones="zones", measure="value")
    values = series(bench, found)
    assert values["west", "2020-01-01"] == 1.5
    assert values["east", "2020-02-01"] == 2.5


def test_a_frame_has_a_row_for_each_cell_with_a_value(tmp_path: Path) -> None:
    days = (datetime.date(2024, 3, 1), datetime.date(2024, 4, 1))
    blocks = [
        Block(Occasion(day, day, ()), "°C", numpy.array([9.0, 9.5]), numpy.array([46.0, 46.0]),
              numpy.array([1.5, place + 0.5]))
        for place, day in enumerate(days)
    ]  # fmt: skip
    frame = observation_frame(blocks, "temperature")
    assert list(frame.columns) == ["x", "y", "date", "band", "value", "unit"]
    assert frame["value"].tolist() == [1.5, 0.5, 1.5, 1.5]
    assert frame["date"].dt.month.tolist() == [3, 3, 4, 4]
    assert set(frame["band"]) | set(frame["unit"]) == {"temperature", "°C"}
    assert list(observation_frame([], "ndvi").columns) == list(frame.columns)


def test_tiles_of_one_day_are_laid_side_by_side_with_their_flags(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path)
    vegetation(bench.scenes, "2024061", [[1000, 2000, 3000, 4000]] * 2, GOOD)
    vegetation(bench.scenes, "2024061", [[5000, 6000, -3000, 8000]] * 2,
               [[0, 3, 0, 0]] * 2, column=30)  # fmt: skip
    found = bench.run("load_scene", scenes=bench.index().id, measure="ndvi")
    cells = read(bench, found)
    assert cells[0].filled(9).tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 9, 9, 0.8])


REAL_NAMES = {
    "MOD13A3": ('MOD_Grid_monthly_1km_VI:"1 km monthly NDVI"',
                'MOD_Grid_monthly_1km_VI:"1 km monthly pixel reliability"', "ndvi"),
    "MOD09GA": ("MODIS_Grid_500m_2D:sur_refl_b02_1", "MODIS_Grid_1km_2D:state_1km_1", "nir"),
    "MYD11A2": ("MODIS_Grid_8Day_1km_LST:LST_Day_1km", "MODIS_Grid_8Day_1km_LST:QC_Day",
                "temperature"),
    "MCD19A2": ("grid1km:Optical_Depth_055", "grid1km:AOD_QA", "aerosol"),
}  # fmt: skip


@pytest.mark.parametrize("product", REAL_NAMES)
def test_the_grids_of_hdf_eos_files_are_known_by_their_published_names(product: str) -> None:
    """GDAL cannot write HDF-EOS2, so the names that it gives to such grids stand here."""
    value, flags, measure = REAL_NAMES[product]
    parts = [
        Part(subdataset_name(f'HDF4_EOS:EOS_GRID:"/a b/{product}.hdf":{one}'), one)
        for one in (flags, value)
    ]
    family = families()[product]
    wanted = family.measure(measure)
    assert wanted is not None
    assert part_named(parts, wanted.band) == parts[1]
    assert family.quality is not None
    assert part_named(parts, family.quality.band) == parts[0]


def test_both_tables_of_products_scale_alike() -> None:
    pairs = {
        "sentinel-2": ("Sentinel-2 L2A", "red"),
        "sentinel-2 before 04.00": ("Sentinel-2 L2A before 04.00", "red"),
        "landsat 8-9": ("Landsat 8-9 L2", "red"),
        "landsat 4-7": ("Landsat 4-7 L2", "red"),
        "landsat temperature": ("Landsat 8-9 L2", "temperature"),
        "modis reflectance": ("MOD09GA", "red"),
        "modis vegetation index": ("MOD13A3", "ndvi"),
        "modis temperature": ("MYD11A2", "temperature"),
    }
    for known, (family, name) in pairs.items():
        one, other = products()[known], families()[family].measure(name)
        assert other is not None
        assert (one.scale, one.offset) == (other.scale, other.offset)
        assert one.nodata in other.fill


def test_people_of_worldpop_leave_out_its_undeclared_fill(tmp_path: Path) -> None:
    bench = SceneBench(tmp_path, layer("towns", "Polygon", "name:string", TOWNS, "EPSG:4326"))
    cells = numpy.array([[1.5, -99999, 4, 8], [2.5, 3, -1, 16]], "float32")
    geotiff(bench.scenes / "ita_ppp_2020_1km_Aggregated.tif", cells, crs=DEGREES, left=9.0,
            top=46.0, cell=0.01)  # fmt: skip
    found = bench.run(
        "observation_series", scenes=bench.index().id, zones="towns", measure="population"
    )
    assert series(bench, found) == {("west", "2020-01-01"): 7, ("east", "2020-01-01"): 28}
