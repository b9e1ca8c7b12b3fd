# SPDX-License-Identifier: GPL-2.0-or-later
"""Land cover classified by small ONNX models equals what numpy gives for the whole picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from detection_case import describe, pixels, rows_of, scene, segments, yolo
from osgeo import gdal
from qgis.core import QgsRasterLayer
from raster_case import raster
from toolbox_case import Bench, opened

from geo_olm.tools.base import MendableError, ToolCancelled, ToolResult

pytestmark = pytest.mark.usefixtures("qgis_processing")
CLASSES = ["water", {"name": "forest", "color": "#00aa00"}, "town"]
TURNED = (500_000.0, 8.0, 6.0, 5_000_000.0, 6.0, -8.0)
RNG = numpy.random.default_rng(11)
WEIGHTS = RNG.normal(size=(3, 2, 3, 3)).astype("float32")
BIASES = numpy.array([0.1, -0.2, 0.3], "float32")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path


def stage(place: Path, *layers: Any) -> Bench:
    return Bench(place / "work", *layers, output=place / "out", detectors=(place / "detectors",))


def picture() -> Any:
    """Two bands of 150 x 201 cells with hills of several sizes."""
    rows, columns = numpy.mgrid[0:150, 0:201]
    smooth = numpy.sin(rows / 9.0) + numpy.cos(columns / 13.0)
    return numpy.stack([smooth + RNG.normal(0, 0.4, smooth.shape) for _ in range(2)]).astype("f4")


def by_numpy(bands: Any) -> Any:
    """Return the class of each cell: the convolution with zeros around, and the largest."""
    around = numpy.pad(bands.astype(float), ((0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(around, (3, 3), axis=(1, 2))
    scores = numpy.einsum("brcij,kbij->krc", windows, WEIGHTS.astype(float))
    return (scores + BIASES[:, None, None]).argmax(axis=0)


def cells(bench: Bench, found: ToolResult) -> Any:
    dataset = gdal.Open(bench.project.mapLayer(found.layers[0].id).source())
    return dataset.GetRasterBand(1).ReadAsArray()


def cover(place: Path, **more: Any) -> Path:
    made = segments(place / "out" / "cover.onnx", WEIGHTS, BIASES)
    known = {
        "task": "segments", "bands": ["red", "nir"], "classes": CLASSES, "size": 64, "overlap": 8,
        "resolution": [10], "normalisation": {},
    }  # fmt: skip
    return describe(made, **{**known, **more})


def classify(bench: Bench, **more: Any) -> ToolResult:
    return bench.run("classify_land_cover", **{"layer": "image", "detector": "cover.onnx", **more})


def test_the_classes_equal_numpy_over_the_whole_picture_whatever_the_tiles(place: Path) -> None:
    cover(place)
    bands = picture()
    bench = stage(place, raster(place, "image", *bands, names=("red", "nir")))
    found = classify(bench)
    right = by_numpy(bands)
    assert (cells(bench, found) == right).all()
    counts = numpy.bincount(right.ravel())
    for number, count in enumerate(counts):
        assert found.numbers[f"class_{number}"] == pytest.approx(count * 100.0, rel=1e-9)
    assert found.numbers["cells"] == right.size
    assert "cover on CPU, 12 tiles." in found.notes
    layer = bench.project.mapLayer(found.layers[0].id)
    drawn = [(one.value, one.label, one.color.name()) for one in layer.renderer().classes()]
    assert drawn[1] == (1, "forest", "#00aa00")
    assert [one[1] for one in drawn] == ["water", "forest", "town"]
    again = bench.run("class_areas", layer=found.layers[0].id)
    assert again.numbers == pytest.approx(found.numbers)
    assert 'name: "forest"' in again.text


def test_cells_without_data_have_no_class(place: Path) -> None:
    cover(place)
    bands = picture()
    bands[:, 20:40, 30:120] = -9999
    bench = stage(place, raster(place, "image", *bands, names=("red", "nir"), nodata=-9999))
    found = classify(bench)
    there = bands[0] != -9999
    right = by_numpy(numpy.where(there, bands, 0))
    assert (cells(bench, found) == numpy.where(there, right, -1)).all()
    assert found.numbers["cells"] == there.sum()


def test_polygons_have_the_classes_and_areas_of_the_raster(place: Path) -> None:
    cover(place)
    bands = picture()
    bench = stage(place, raster(place, "image 2024-03-01", *bands, names=("red", "nir")))
    found = classify(bench, layer="image 2024-03-01", result="polygons")
    right = by_numpy(bands)
    rows = rows_of(bench, found.layers[0].id)
    for number, name in enumerate(("water", "forest", "town")):
        there = [one for one in rows if one["class"] == name]
        area = sum(one["geometry"].area() for one in there)
        assert area == pytest.approx((right == number).sum() * 100.0, rel=1e-9)
        ground = sum(one["area_m2"] for one in there)
        assert ground == pytest.approx(area, rel=2e-3)  # the scale of UTM
    assert {one["date"].toString("yyyy-MM-dd") for one in rows} == {"2024-03-01"}
    assert list((place / "work").glob("**/classes.*")) == []


def turned(path: Path, bands: Any) -> QgsRasterLayer:
    made = raster(path.parent, "straight", *bands, names=("red", "nir"))
    copy = gdal.GetDriverByName("GTiff").CreateCopy(str(path), gdal.Open(made.source()))
    copy.SetGeoTransform(TURNED)
    copy = None
    return QgsRasterLayer(str(path), path.stem)


def test_a_turned_picture_stays_turned(place: Path) -> None:
    cover(place)
    bands = picture()
    bench = stage(place, turned(place / "image.tif", bands))
    found = classify(bench)
    assert (cells(bench, found) == by_numpy(bands)).all()
    dataset = gdal.Open(bench.project.mapLayer(found.layers[0].id).source())
    assert dataset.GetGeoTransform() == TURNED
    assert found.numbers["total"] == pytest.approx(bands[0].size * 100.0, rel=2e-3)


def test_a_model_of_pixels_gives_what_numpy_gives(place: Path) -> None:
    weights = numpy.array([[1.0, -0.5, 0.2], [-0.3, 0.8, 0.1]], "float32")
    describe(
        pixels(place / "out" / "cover.onnx", weights), task="pixels", bands=["red", "nir"],
        classes=CLASSES, resolution=[10], normalisation={"mean": [0.5, 0.1], "std": [2, 3]},
    )  # fmt: skip
    bands = picture()
    bands[:, :10, :10] = numpy.nan
    bench = stage(place, raster(place, "image", *bands, names=("red", "nir")))
    found = classify(bench)
    fed = (bands - numpy.array([0.5, 0.1], "f4")[:, None, None]) / numpy.array([2, 3])[
        :, None, None
    ]
    scores = numpy.einsum("brc,bk->krc", numpy.nan_to_num(fed), weights)
    right = numpy.where(numpy.isnan(bands[0]), -1, scores.argmax(axis=0))
    assert (cells(bench, found) == right).mean() > 0.9999  # ties in single precision
    assert found.numbers["cells"] == (right >= 0).sum()


def test_one_output_alone_is_a_share_of_class_one(place: Path) -> None:
    made = segments(place / "out" / "cover.onnx", WEIGHTS[:1] * 0 + 0.05, [0.2])
    describe(
        made, task="segments", bands=["red", "nir"], classes=["other", "bright"], score=0.4,
        resolution=[10], normalisation={}, size=64, overlap=8,
    )  # fmt: skip
    bands = picture()
    bench = stage(place, raster(place, "image", *bands, names=("red", "nir")))
    around = numpy.pad(bands.astype(float), ((0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(around, (3, 3), axis=(1, 2))
    right = windows.sum(axis=(0, 3, 4)) * 0.05 + 0.2 > 0.4
    assert (cells(bench, classify(bench)) == right).mean() > 0.9999


def test_a_model_of_objects_is_sent_to_its_own_tool(place: Path) -> None:
    yolo(place / "out" / "squares.onnx")
    bench = stage(place, scene(place / "image.tif", []))
    with pytest.raises(MendableError, match="squares finds objects: use it in detect_objects"):
        classify(bench, detector="squares.onnx")


def test_a_stop_leaves_no_file(place: Path) -> None:
    cover(place)
    bench = stage(place, raster(place, "image", *picture(), names=("red", "nir")))
    shares: list[float] = []
    arguments = {"layer": "image", "detector": "cover.onnx"}
    with pytest.raises(ToolCancelled):
        bench.toolbox.run(
            "classify_land_cover", arguments, shares.append, lambda: len(shares) > 4
        )  # fmt: skip
    assert list((place / "work").glob("**/*.tif")) == []


@pytest.mark.shared
def test_the_real_landsat_scene_is_classified_as_numpy_does(place: Path) -> None:
    source = Path(__file__).resolve().parents[3] / "shared" / "data" / "real" / "L7_ETMs.tif"
    bands = gdal.Open(str(source)).ReadAsArray()[[3, 2]].astype("f4") / 255
    weights = numpy.array([[[[1.0]], [[-1.0]]], [[[0.0]], [[0.0]]], [[[-1.0]], [[1.0]]]], "f4")
    describe(
        segments(place / "out" / "cover.onnx", weights, [-0.1, 0, -0.1]), task="segments",
        bands=["nir", "red"], classes=["plants", "between", "bare"], resolution=[30], size=128,
        normalisation={"divide": 255},
    )  # fmt: skip
    bench = stage(place, opened(source))
    found = classify(bench, layer="L7_ETMs")
    difference = bands[0] - bands[1]
    right = numpy.where(difference > 0.1, 0, numpy.where(difference < -0.1, 2, 1))
    edge = numpy.isclose(numpy.abs(difference), 0.1, atol=1e-6)
    assert (cells(bench, found)[~edge] == right[~edge]).all()
    assert edge.mean() < 0.01
    assert len(found.numbers) >= 4
