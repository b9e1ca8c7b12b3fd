# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics, arithmetic and indices of rasters against numpy, on data made as the cases say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from osgeo import gdal
from qgis.core import QgsRasterRange
from raster_case import LEFT, TOP, raster, read
from toolbox_case import Bench

from geo_olm.tools import band_statistic, product
from geo_olm.tools.base import MendableError, UnanswerableError

pytestmark = pytest.mark.usefixtures("qgis_processing")
UINT16 = gdal.GDT_UInt16


def test_zeros_of_a_band_without_declared_nodata_are_data(tmp_path: Path) -> None:
    cells = numpy.array([[0, 0, 3], [0, 5, 4]])
    found = Bench(tmp_path, raster(tmp_path, "dem", cells)).run("statistics", layer="dem").numbers
    assert (found["mean"], found["min"], found["count"]) == (2.0, 0.0, 6)
    assert found["stdev"] == pytest.approx(cells.std(ddof=1))
    assert found["median"] == pytest.approx(float(numpy.median(cells)))


def test_an_undeclared_fill_value_is_left_out_and_said(tmp_path: Path) -> None:
    cells = numpy.array([[-9999, 2.0], [4.0, -9999]])
    found = Bench(tmp_path, raster(tmp_path, "dem", cells)).run("statistics", layer="dem")
    assert (found.numbers["mean"], found.numbers["count"]) == (3.0, 2)
    assert any("2 cells of dem hold a value such as -9999" in note for note in found.notes)


def test_a_value_that_the_user_set_as_nodata_is_left_out(tmp_path: Path) -> None:
    layer = raster(tmp_path, "dem", [[7, 2], [4, 7]])
    layer.dataProvider().setUserNoDataValue(1, [QgsRasterRange(7, 7)])
    found = Bench(tmp_path, layer).run("statistics", layer="dem", statistic="mean")
    assert found.numbers == {"mean": 3.0, "count": 2.0}


def test_scale_and_offset_of_a_band_are_applied(tmp_path: Path) -> None:
    layer = raster(tmp_path, "dem", [[10, 20], [30, 40]], kind=gdal.GDT_Int16)
    dataset = gdal.Open(layer.source(), gdal.GA_Update)
    dataset.GetRasterBand(1).SetScale(0.5)
    dataset.GetRasterBand(1).SetOffset(100)
    dataset = None
    bench = Bench(tmp_path, type(layer)(layer.source(), "dem"))
    assert bench.run("statistics", layer="dem", statistic="mean").numbers["mean"] == 112.5
    doubled = bench.run("raster_calculate", layers=["dem"], expression='"dem@1" * 2')
    assert read(bench, doubled).tolist() == [[210, 220], [230, 240]]


def test_the_median_of_more_cells_than_are_held_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(band_statistic, "_HELD_CELLS", 50)
    monkeypatch.setattr(band_statistic, "_BINS", 4)
    cells = numpy.random.default_rng(7).gamma(1.0, 50.0, (40, 25)).astype("float32")
    bench = Bench(tmp_path, raster(tmp_path, "dem", cells))
    found = bench.run("statistics", layer="dem", statistic="median").numbers["median"]
    assert found == pytest.approx(float(numpy.median(cells.astype(float))), abs=1e-9)
    same = Bench(tmp_path, raster(tmp_path, "flat", numpy.full((40, 25), 6.5)))
    assert same.run("statistics", layer="flat", statistic="median").numbers["median"] == 6.5


def test_a_damaged_raster_is_told_by_name(tmp_path: Path) -> None:
    layer = raster(tmp_path, "dem", numpy.random.default_rng(1).random((200, 200)))
    bench = Bench(tmp_path, layer)
    with open(layer.source(), "r+b") as file:
        file.truncate(2000)
    with pytest.raises(MendableError, match=r"dem cannot be read"):
        bench.run("statistics", layer="dem")


def test_references_of_the_calculator_are_checked_b52(tmp_path: Path) -> None:
    name = "S2 image (2024)"
    bench = Bench(tmp_path, raster(tmp_path, name, [[1, 2]], [[10, 20]]))
    for expression in (f'"{name}@2" + "{name}@1"', "A@2 + A@1"):
        found = bench.run("raster_calculate", layers=[name], expression=expression)
        assert read(bench, found).tolist() == [[11, 22]]
    wrong = {
        f'"{name}@3" * 2': r"has no band 3; it has 2",
        f'"{name}" * 2': "has 2 bands: say which",
        '"s3@1" * 2': 'no layer "s3"',
        "2 * 3": "names no band",
        "foo(A@1)": "no function foo",
    }
    for expression, message in wrong.items():
        with pytest.raises(MendableError, match=message):
            bench.run("raster_calculate", layers=[name], expression=expression)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ('"a@1" - "b@1"', [[-5, 100]]),
        ('"a@1" == 1', [[1, 0]]),
        ("a@1 ** 2", [[1, 40000]]),
        ('if("a@1" > 100, 7, "b@1")', [[6, 7]]),
        ("sqrt(b) + log10(100)", [[6**0.5 + 2, 12]]),
        ('"b@1" / ("a@1" - 1)', [[None, 100 / 199]]),
    ],
)
def test_whole_numbers_are_calculated_as_real_ones(
    tmp_path: Path, expression: str, wanted: list[Any]
) -> None:
    bench = Bench(
        tmp_path,
        raster(tmp_path, "a", [[1, 200]], kind=gdal.GDT_Byte),
        raster(tmp_path, "b", [[6, 100]], kind=gdal.GDT_Byte),
    )
    found = read(bench, bench.run("raster_calculate", layers=["a", "b"], expression=expression))
    for cell, value in zip(found.tolist()[0], wanted[0]):
        assert cell == (None if value is None else pytest.approx(value, rel=1e-6))


def test_two_layers_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    bench = Bench(
        tmp_path, raster(tmp_path, "a", [[1, 2]]), raster(tmp_path / "x", "a", [[10, 20]])
    )
    found = bench.run("raster_calculate", layers=["a", "a (2)"], expression="A + 100 * B")
    assert read(bench, found).tolist() in ([[1001, 2002]], [[110, 220]])


def test_holes_stay_holes_whether_declared_or_not(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path,
        raster(tmp_path, "a", [[1, -1, 3]], nodata=-1),
        raster(tmp_path, "b", [[-9999, 5, 6]]),
    )
    found = bench.run("raster_calculate", layers=["a", "b"], expression='"a@1" + "b@1"')
    assert read(bench, found).tolist() == [[None, None, 9]]


def test_rasters_on_other_grids_are_brought_onto_the_first_and_said_b59(tmp_path: Path) -> None:
    coarse = numpy.arange(16).reshape(4, 4)
    fine = numpy.kron(coarse, numpy.ones((2, 2)))
    bench = Bench(
        tmp_path,
        raster(tmp_path, "coarse", coarse),
        raster(tmp_path, "fine", fine, cell=5.0, kind=gdal.GDT_Int16),
        raster(tmp_path, "shifted", coarse, left=LEFT + 6, kind=gdal.GDT_Int16),
    )
    found = bench.run("raster_calculate", layers=["coarse", "fine"], expression="A - B")
    assert read(bench, found).shape == (4, 4)
    assert read(bench, found).tolist() == numpy.zeros((4, 4)).tolist()
    assert "fine was brought onto 4 x 4 cells of 10 x 10 m (nearest cell)." in found.notes
    moved = bench.run("raster_calculate", layers=["coarse", "shifted"], expression="A*0+B")
    assert any("shifted was brought onto" in note for note in moved.notes)
    assert read(bench, moved)[0].tolist() == [None, 0, 1, 2]


def test_cells_that_are_not_square_keep_their_place(tmp_path: Path) -> None:
    cells = numpy.arange(12.0).reshape(4, 3)
    bench = Bench(tmp_path, raster(tmp_path, "a", cells, cell=10.0, height=5.0))
    found = bench.run("raster_calculate", layers=["a"], expression="A")
    assert "square cells" in " ".join(found.notes)
    assert read(bench, found).tolist() == numpy.repeat(cells, 2, axis=1).tolist()


def scene(tmp_path: Path, **metadata: str) -> Bench:
    red, nir = [[1000, 3000, 0]], [[5000, 2000, 0]]
    layer = raster(
        tmp_path, "scene", red, nir, kind=UINT16, names=("B04", "B08"), metadata=metadata
    )
    return Bench(tmp_path, layer)


def test_the_offset_of_sentinel_2_is_applied_and_said_b55(tmp_path: Path) -> None:
    bench = scene(tmp_path, RADIO_ADD_OFFSET="-1000")
    found = bench.run("raster_index", layer="scene", index="NDVI")
    assert read(bench, found).tolist() == [[pytest.approx(1.0), pytest.approx(-1 / 3), None]]
    said = " ".join(found.notes)
    assert "red = band 1 of scene, nir = band 2 of scene" in said or "nir = band 2" in said
    assert "RADIO_ADD_OFFSET -1000" in said
    assert "value = stored * 0.0001 - 0.1" in said


def test_sentinel_2_without_a_known_baseline_is_asked_for_b55(tmp_path: Path) -> None:
    bench = scene(tmp_path)
    with pytest.raises(MendableError, match=r'baseline is not known.*"sentinel-2 before 04.00"'):
        bench.run("raster_index", layer="scene", index="NDVI")
    old = bench.run("raster_index", layer="scene", index="NDVI", product="sentinel-2 before 04.00")
    assert read(bench, old).tolist() == [[pytest.approx(2 / 3), pytest.approx(-0.2), None]]


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [("PROCESSING_BASELINE", "05.09", 1.0), ("PROCESSING_BASELINE", "03.01", 2 / 3)],
)
def test_the_baseline_is_read_from_the_metadata(
    tmp_path: Path, key: str, value: str, wanted: float
) -> None:
    bench = scene(tmp_path, **{key: value})
    found = read(bench, bench.run("raster_index", layer="scene", index="NDVI"))
    assert found[0, 0] == pytest.approx(wanted)


def test_modis_values_are_scaled_and_fills_are_holes_b56(tmp_path: Path) -> None:
    int16 = gdal.GDT_Int16
    bench = Bench(
        tmp_path,
        raster(tmp_path, "MOD13Q1.A2023060", [[6500, -3000]], kind=int16),
        raster(tmp_path, "MOD11A2.A2023060", [[15000, 0]], kind=UINT16),
    )
    green = bench.run("scale_raster", layer="MOD13Q1.A2023060")
    assert read(bench, green).tolist() == [[pytest.approx(0.65), None]]
    warm = bench.run("scale_raster", layer="MOD11A2.A2023060")
    assert read(bench, warm).tolist() == [[pytest.approx(26.85, abs=1e-4), None]]
    assert "value = stored * 0.02 - 273.15" in " ".join(warm.notes)


def test_the_product_table_and_its_names_agree() -> None:
    assert tuple(product.products()) == product.IDS


@pytest.mark.parametrize(
    ("index", "wanted"),
    [
        ("NDVI", (0.4 - 0.1) / 0.5),
        ("NDWI", (0.15 - 0.4) / 0.55),
        ("NDBI", (0.3 - 0.4) / 0.7),
        ("MNDWI", (0.15 - 0.3) / 0.45),
        ("NDMI", (0.4 - 0.3) / 0.7),
        ("NBR", (0.4 - 0.2) / 0.6),
        ("GNDVI", (0.4 - 0.15) / 0.55),
        ("SAVI", 1.5 * 0.3 / (0.5 + 0.5)),
        ("EVI", 2.5 * 0.3 / (0.4 + 0.6 - 7.5 * 0.05 + 1)),
    ],
)
def test_every_index_is_its_formula(tmp_path: Path, index: str, wanted: float) -> None:
    bands = {"blue": 0.05, "green": 0.15, "red": 0.1, "nir": 0.4, "swir1": 0.3, "swir2": 0.2}
    arrays = [[[value]] for value in bands.values()]
    bench = Bench(tmp_path, raster(tmp_path, "image", *arrays, names=tuple(bands)))
    found = bench.run("raster_index", layer="image", index=index)
    assert found.numbers["mean"] == pytest.approx(wanted, rel=1e-5)


def test_bands_without_names_are_asked_for_and_taken_by_number(tmp_path: Path) -> None:
    bench = Bench(tmp_path, raster(tmp_path, "image", [[100]], [[180]], kind=gdal.GDT_Byte))
    with pytest.raises(MendableError, match=r"do not tell which is nir. Say nir"):
        bench.run("raster_index", layer="image", index="NDVI")
    found = bench.run("raster_index", layer="image", index="NDVI", red=1, nir=2)
    assert found.numbers["mean"] == pytest.approx(80 / 280)
    assert "as stored, without scale or offset" in " ".join(found.notes)
    with pytest.raises(MendableError, match=r"SAVI needs reflectances from 0 to 1"):
        bench.run("raster_index", layer="image", index="SAVI", red=1, nir=2)


def test_bands_in_files_of_their_own_are_found_by_name_c22(tmp_path: Path) -> None:
    shape = (4, 8)
    nir = numpy.full(shape, 3000)
    nir[:, :4] = 5000
    folder = "S2A_MSIL2A_20230601_N0509_T32TNS"
    bench = Bench(
        tmp_path,
        raster(tmp_path, f"{folder}_B04", numpy.full(shape, 2000), kind=UINT16),
        raster(tmp_path, f"{folder}_B08", nir, kind=UINT16),
    )
    found = bench.run("raster_index", layer=f"{folder}_B04", index="NDVI", others=[f"{folder}_B08"])
    cells = read(bench, found)
    assert cells[0, 0] == pytest.approx(0.6)
    assert cells[0, 7] == pytest.approx(1 / 3)
    assert "baseline 05.09" in " ".join(found.notes)


def test_a_raster_without_crs_is_not_laid_over_another(tmp_path: Path) -> None:
    bench = Bench(tmp_path, raster(tmp_path, "a", [[1, 2]]), raster(tmp_path, "b", [[1, 2]], crs=0))
    with pytest.raises(UnanswerableError, match="b has no coordinate reference system"):
        bench.run("raster_calculate", layers=["a", "b"], expression="A + B")


def test_nothing_is_left_of_the_copies_that_a_call_needs(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "work").mkdir()
    layer = raster(tmp_path / "data", "b", [[-9999, 5]], top=TOP)
    bench = Bench(tmp_path / "work", layer)
    bench.run("raster_calculate", layers=["b"], expression="A * 2")
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["b.tif"]
    assert list((tmp_path / "work").rglob("*.vrt")) == []


def test_a_raster_in_another_crs_is_brought_over(tmp_path: Path) -> None:
    flat = numpy.full((30, 30), 7.0)
    other = raster(tmp_path, "b", flat, cell=20, left=26000, top=5005200, crs=32633)
    bench = Bench(tmp_path, raster(tmp_path, "a", numpy.ones((4, 4))), other)
    found = bench.run("raster_calculate", layers=["a", "b"], expression="A * B")
    if found.numbers["count"]:
        assert found.numbers["mean"] == pytest.approx(7.0)
    assert "b was brought onto 4 x 4 cells of 10 x 10 m (bilinear)." in found.notes


def test_a_turned_raster_is_refused_with_the_fix(tmp_path: Path) -> None:
    layer = raster(tmp_path, "a", [[1, 2], [3, 4]])
    dataset = gdal.Open(layer.source(), gdal.GA_Update)
    dataset.SetGeoTransform((LEFT, 8, 6, TOP, 6, -8))
    dataset = None
    bench = Bench(tmp_path, type(layer)(layer.source(), "a"))
    with pytest.raises(MendableError, match=r"do not point north. Run gdal:warpreproject"):
        bench.run("class_areas", layer="a", band=1)


def test_a_raster_is_written_with_its_holes_and_scale(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    made = Bench(tmp_path, raster(tmp_path, "a", [[1, -9999]]), output=tmp_path / "out")
    found = made.run("save_raster", layer="a", file="copy.tif")
    dataset = gdal.Open(found.files[0])
    band = dataset.GetRasterBand(1)
    assert band.GetNoDataValue() == -9999
    assert band.ReadAsArray().tolist() == [[1, -9999]]
    again = made.run("save_raster", layer="a", file="copy")
    assert Path(again.files[0]).name == "copy_2.tif"
    with pytest.raises(MendableError, match=r"needs an ending that is known: \.tif"):
        made.run("save_raster", layer="a", file="copy.gpkg")


def test_bands_of_20_m_are_brought_onto_those_of_10_m_with_their_holes(tmp_path: Path) -> None:
    product, kind = "S2B_MSIL2A_20240601_N0510_T32TNS", UINT16
    nir = raster(tmp_path, f"{product}_B08", numpy.full((4, 4), 5000), kind=kind)
    swir = raster(tmp_path, f"{product}_B12", [[3000, 0], [3000, 3000]], cell=20, kind=kind)
    bench = Bench(tmp_path, nir, swir)
    found = bench.run(
        "raster_index", layer=f"{product}_B08", index="NBR", others=[f"{product}_B12"]
    )
    cells = read(bench, found)
    assert cells.shape == (4, 4)
    assert cells.count() == 12
    assert cells.min() == cells.max() == pytest.approx((0.4 - 0.2) / 0.6)


@pytest.mark.parametrize(
    ("name", "bands", "stored", "wanted"),
    [
        ("LC08_L2SP_193026_20230601", ("SR_B4", "SR_B5"), (10000, 20000), (0.35 - 0.075) / 0.425),
        ("LT05_L2SP_193026_19990601", ("SR_B3", "SR_B4"), (10000, 20000), (0.35 - 0.075) / 0.425),
        ("MOD09GA_A2023060", ("sur_refl_b01", "sur_refl_b02"), (1000, 3000), 0.5),
        ("image", ("Red", "Near Infrared"), (0.1, 0.3), 0.5),
        ("S2A_N0400_20m", ("B04", "B8A"), (2000, 5000), 0.6),
    ],
)
def test_the_bands_and_the_scale_of_a_product_are_known_by_names(
    tmp_path: Path, name: str, bands: tuple[str, ...], stored: tuple[float, ...], wanted: float
) -> None:
    bench = Bench(tmp_path, raster(tmp_path, name, *([[one]] for one in stored), names=bands))
    found = bench.run("raster_index", layer=name, index="NDVI")
    assert found.numbers["mean"] == pytest.approx(wanted, rel=1e-5)
