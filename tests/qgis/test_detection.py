# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects detected by small ONNX models in generated scenes: every one once, across the borders of
tiles, at its true place, and wrong pairings refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from detection_case import (
    BRIGHT,
    DARK,
    LARGE,
    SMALL,
    Square,
    describe,
    listing,
    rows_of,
    scene,
    segments,
    two_inputs,
    yolo,
)
from pyproj import Geod, Transformer
from toolbox_case import Bench

from geo_olm.tools.base import (
    LastingError,
    MendableError,
    ToolCancelled,
    ToolResult,
    UnanswerableError,
)

pytestmark = pytest.mark.usefixtures("qgis_processing")
COLUMNS, ROWS = 200, 150
NORTH = (500_000.0, 1.0, 0.0, 5_000_000.0, 0.0, -1.0)
TURNED = (500_000.0, 0.8, 0.6, 5_000_000.0, 0.6, -0.8)


def squares() -> list[Square]:
    """Squares of both sizes on a grid that the tiles of 64 cells cut in every way."""
    found = []
    for number, (row, column) in enumerate(
        (row, column) for row in range(3, ROWS - 15, 17) for column in range(3, COLUMNS - 15, 19)
    ):
        found.append((column, row, (SMALL, LARGE)[number % 2]))
    return found


def truth(found: list[Square], affine: tuple[float, ...]) -> list[tuple[str, Any]]:
    """Return class and corners (4, 2) on the ground of each square, worked out apart."""
    matrix = numpy.array([[affine[1], affine[2]], [affine[4], affine[5]]])
    origin = numpy.array([affine[0], affine[3]])
    kept = []
    for column, row, side in found:
        cells = numpy.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * side + [column, row]
        kept.append(("small" if side == SMALL else "large", origin + cells @ matrix.T))
    return kept


def key(name: str, corners: Any) -> tuple[Any, ...]:
    return (name, *sorted((round(x, 4), round(y, 4)) for x, y in corners))


def f1(bench: Bench, result: ToolResult, right: list[tuple[str, Any]]) -> float:
    """Return the F1 score of objects of which class and every corner are right."""
    found = []
    for one in rows_of(bench, result.layers[0].id):
        ring = one["geometry"].asPolygon()[0][:-1]
        found.append(key(one["class"], [(point.x(), point.y()) for point in ring]))
    wanted = {key(name, corners) for name, corners in right}
    hits = len(wanted & set(found))
    return 2 * hits / (len(found) + len(wanted))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path


def stage(place: Path, *layers: Any) -> Bench:
    return Bench(place / "work", *layers, output=place / "out", detectors=(place / "detectors",))


@pytest.mark.parametrize("kind", ["yolo", "turned", "listing"])
@pytest.mark.parametrize("affine", [NORTH, TURNED], ids=["north", "turned"])
def test_every_object_is_found_once_across_tiles_and_at_its_place(
    place: Path, kind: str, affine: tuple[float, ...]
) -> None:
    path = place / "out" / "squares.onnx"
    made = listing(path) if kind == "listing" else yolo(path, turned=kind == "turned")
    describe(made)
    bench = stage(place, scene(place / "scene.tif", squares(), affine=affine))
    found = bench.run("detect_objects", layer="scene", detector="squares.onnx")
    right = truth(squares(), affine)
    assert f1(bench, found, right) == 1.0
    assert found.numbers["count"] == len(right)
    assert found.numbers["count_small"] == sum(name == "small" for name, _ in right)
    assert "squares on CPU, 12 tiles." in found.notes


def detect(bench: Bench, **more: Any) -> ToolResult:
    return bench.run("detect_objects", **{"layer": "scene", "detector": "squares.onnx", **more})


@pytest.fixture
def squares_model(place: Path) -> Path:
    return describe(yolo(place / "out" / "squares.onnx"))


def test_area_class_score_and_day_are_fields_that_other_tools_take(
    place: Path, squares_model: Path
) -> None:
    found_squares = [(10, 10, SMALL), (40, 30, LARGE), (70, 50, SMALL)]
    name = "scene_20240615"
    bench = stage(place, scene(place / f"{name}.tif", found_squares))
    found = detect(bench, layer=name)
    rows = rows_of(bench, found.layers[0].id)
    way = Transformer.from_crs(32632, 4326, always_xy=True)
    for one in rows:
        ring = one["geometry"].asPolygon()[0]
        degrees = [way.transform(point.x(), point.y()) for point in ring]
        true_area = abs(Geod(ellps="WGS84").polygon_area_perimeter(*zip(*degrees))[0])
        assert one["area_m2"] == pytest.approx(true_area, rel=1e-6)
        assert one["score"] == pytest.approx(1.0, abs=1e-5)
        assert one["date"].toString("yyyy-MM-dd") == "2024-06-15"
    layer_id = found.layers[0].id
    large = [{"field": "class", "op": "=", "value": "large"}]
    assert bench.run("count", layer=layer_id, conditions=large).numbers["count"] == 1
    above = [{"field": "area_m2", "op": ">", "value": 100}]
    assert bench.run("filter", layer=layer_id, conditions=above).numbers["count"] == 1
    sure = [{"field": "score", "op": ">=", "value": 0.5}]
    assert bench.run("count", layer=layer_id, conditions=sure).numbers["count"] == 3
    during = bench.run("filter_time", layer=layer_id, field="date", start="2024-06-01")
    assert during.numbers["count"] == 3
    drawn = bench.project.mapLayer(layer_id).renderer()
    assert [one.label() for one in drawn.categories()] == ["small", "large"]
    assert drawn.categories()[1].symbol().symbolLayer(0).strokeColor().name() == "#ff0000"


def test_classes_and_score_choose_among_the_objects(place: Path, squares_model: Path) -> None:
    bench = stage(place, scene(place / "scene.tif", squares()))
    right = truth(squares(), NORTH)
    large = detect(bench, classes=["Large"])
    assert f1(bench, large, [one for one in right if one[0] == "large"]) == 1.0
    with pytest.raises(MendableError, match=r'finds no "lorge". Did you mean large\?'):
        detect(bench, classes=["lorge"])
    with pytest.raises(MendableError, match="between 0 and 1"):
        detect(bench, score=50)


def test_a_dark_picture_gives_an_empty_layer_and_one_of_holes_is_refused(
    place: Path, squares_model: Path
) -> None:
    whole = numpy.ones((ROWS, COLUMNS), bool)
    left = whole.copy()
    left[:, 100:] = False
    bench = stage(
        place, scene(place / "scene.tif", []), scene(place / "void.tif", [], holes=whole),
        scene(place / "half.tif", squares(), holes=left),
    )  # fmt: skip
    found = detect(bench)
    assert (found.numbers["count"], rows_of(bench, found.layers[0].id)) == (0, [])
    with pytest.raises(MendableError, match="no cell with data"):
        detect(bench, layer="void")
    half = detect(bench, layer="half")
    right = [one for one in squares() if one[0] >= 103]
    assert f1(bench, half, truth(right, NORTH)) == 1.0
    assert "squares on CPU, 12 tiles, 3 of them without data." in half.notes


def test_a_picture_smaller_than_a_tile_is_filled_up(place: Path, squares_model: Path) -> None:
    few = [(5, 5, SMALL), (20, 12, LARGE)]
    bench = stage(place, scene(place / "scene.tif", few, size=(40, 30)))
    found = detect(bench)
    assert found.numbers["count"] == 2
    assert f1(bench, found, truth(few, NORTH)) == 1.0


def test_a_stop_ends_the_run_between_two_tiles(place: Path, squares_model: Path) -> None:
    bench = stage(place, scene(place / "scene.tif", squares()))
    shares: list[float] = []

    def stopped() -> bool:
        return len(shares) >= 3

    arguments = {"layer": "scene", "detector": "squares.onnx"}
    with pytest.raises(ToolCancelled):
        bench.toolbox.run("detect_objects", arguments, shares.append, stopped)
    assert len(shares) == 3
    assert shares == sorted(shares)


WRONG = {
    "sensor": ({"sensor": "SAR"}, "squares is for SAR pictures, and scene is optical"),
    "cells": ({"resolution": [3, 10]}, "cells of 3 to 10 m, and those of scene are 1 m"),
    "bands": (
        {"bands": ["red", "green", "nir"]},
        "squares needs nir, which no band of scene is told to be",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_pairing_is_refused_with_the_detectors_that_fit(place: Path, kind: str) -> None:
    changed, words = WRONG[kind]
    describe(yolo(place / "out" / "squares.onnx"), **changed)
    bench = stage(place, scene(place / "scene.tif", squares()))
    with pytest.raises(MendableError, match=f"{words}.* No detector that is here fits"):
        detect(bench)
    describe(yolo(place / "out" / "other.onnx"))
    bench.run("add_detector", file="other.onnx", name="Other squares")
    with pytest.raises(MendableError, match=f"{words}.* that fit: Other squares .optical, bands"):
        detect(bench)
    assert f1(bench, bench.run("detect_objects", layer="scene"), truth(squares(), NORTH)) == 1.0


def test_cells_up_to_twice_off_are_taken(place: Path) -> None:
    describe(yolo(place / "out" / "squares.onnx"), resolution=[2, 4])
    bench = stage(place, scene(place / "scene.tif", squares()))
    assert detect(bench).numbers["count"] == len(squares())


def test_a_radar_picture_is_told_by_its_bands(place: Path, squares_model: Path) -> None:
    radar = scene(place / "S1A_IW_GRDH.tif", [], bands=2, names=("VV", "VH"))
    bench = stage(place, radar)
    with pytest.raises(MendableError, match="for optical pictures, and S1A_IW_GRDH is SAR"):
        detect(bench, layer="S1A_IW_GRDH")


def test_bands_without_names_are_said_or_taken_in_order(place: Path, squares_model: Path) -> None:
    four = scene(place / "four.tif", squares(), bands=4, names=())
    grey = scene(place / "grey.tif", squares(), bands=1, names=())
    bench = stage(place, scene(place / "scene.tif", squares(), names=()), four, grey)
    assert detect(bench).numbers["count"] == len(squares())
    assert detect(bench, layer="four", bands=[1, 2, 4]).numbers["count"] == len(squares())
    assert detect(bench, layer="grey", bands=[1, 1, 1]).numbers["count"] == len(squares())
    with pytest.raises(MendableError, match="grey has no band 3; it has 1"):
        detect(bench, layer="grey", bands=[1, 1, 3])


def test_a_file_that_is_no_model_of_this_kind_is_refused_in_one_sentence(place: Path) -> None:
    out = place / "out"
    (out / "text.onnx").write_text("no model")
    (out / "empty.onnx").write_bytes(b"")
    image = yolo(out / "cut.onnx").read_bytes()
    (out / "cut.onnx").write_bytes(image[: len(image) // 2])
    two_inputs(out / "two.onnx")
    segments(out / "cover.onnx", numpy.ones((2, 3, 1, 1)), [0, 0])
    bench = stage(place, scene(place / "scene.tif", squares()))
    for name, words in (
        ("text.onnx", r"text\.onnx is no ONNX model that can be run here: [^.]+"),
        ("empty.onnx", r"empty\.onnx is no ONNX model"),
        ("cut.onnx", r"cut\.onnx is no ONNX model"),
        ("two.onnx", r"two\.onnx takes 2 inputs, and a detector takes one picture"),
        ("cover.onnx", "cover finds segments: use it in classify_land_cover"),
        ("gone.onnx", r"no file gone\.onnx"),
        ("/etc/hostname.onnx", "outside the folders that may be read"),
    ):
        with pytest.raises(MendableError, match=words):
            detect(bench, detector=name)


def test_a_model_that_says_nothing_is_run_as_it_is(place: Path) -> None:
    names = "{0: 'small', 1: 'large'}"
    yolo(place / "out" / "bare.onnx", gain=1 / (BRIGHT - DARK), names=names)
    few = [one for one in squares() if one[2] == SMALL]
    bench = stage(place, scene(place / "scene.tif", few))
    found = detect(bench, detector="bare.onnx", score=0.9)
    assert f1(bench, found, truth(few, NORTH)) == 1.0
    assert "bare does not say for which size of cells it was made." in found.notes


def test_a_picture_without_crs_is_refused(place: Path, squares_model: Path) -> None:
    bench = stage(place, scene(place / "scene.tif", squares(), crs=0))
    with pytest.raises(UnanswerableError, match="no coordinate reference system"):
        detect(bench)


def test_an_added_detector_is_kept_found_by_name_and_refused_once_changed(place: Path) -> None:
    yolo(place / "out" / "squares.onnx")
    bench = stage(place, scene(place / "scene.tif", squares()))
    with pytest.raises(MendableError, match="There is no detector for scene yet"):
        bench.run("detect_objects", layer="scene")
    added = bench.run(
        "add_detector", file="squares.onnx", name="Bright squares", sensor="optical",
        bands=["red", "green", "blue"], resolution=[1], classes=["small", "large"],
        divide=BRIGHT - DARK, mean=[DARK / (BRIGHT - DARK)], score=0.9, licence="CC0-1.0",
    )  # fmt: skip
    assert added.texts == {"detector": "Bright squares"}
    folder = place / "detectors"
    assert sorted(one.name for one in folder.iterdir()) == [
        "Bright_squares.json", "Bright_squares.onnx", "detectors.sha256",
    ]  # fmt: skip
    found = detect(bench, detector="bright squares")
    kept = truth(squares(), NORTH)
    assert f1(bench, found, kept) > 0.9  # at the overlap of a fifth of a tile
    with pytest.raises(MendableError, match=r'no detector "brigt squares". Did you mean Bright'):
        detect(bench, detector="brigt squares")
    model = folder / "Bright_squares.onnx"
    model.write_bytes(model.read_bytes() + b"\0")
    with pytest.raises(LastingError, match="has been changed since it was added"):
        detect(bench, detector="Bright squares")


def test_a_detector_that_contradicts_its_model_is_not_kept(place: Path) -> None:
    yolo(place / "out" / "squares.onnx")
    bench = stage(place)
    with pytest.raises(MendableError, match="takes 3 bands, and 2 are named: VV, VH"):
        bench.run("add_detector", file="squares.onnx", bands=["VV", "VH"])
    with pytest.raises(MendableError, match=r'"score" .* between 0 and 1'):
        bench.run("add_detector", file="squares.onnx", score=3)
    assert not (place / "detectors").exists()


def test_a_model_that_needs_other_files_is_not_kept(place: Path) -> None:
    model = onnx.load(str(yolo(place / "out" / "squares.onnx")))
    onnx.save(
        model, str(place / "out" / "apart.onnx"), save_as_external_data=True, location="apart"
    )
    bench = stage(place)
    with pytest.raises(MendableError, match=r"apart\.onnx is no ONNX model that can be run here"):
        bench.run("add_detector", file="apart.onnx")
    assert not (place / "detectors").exists()


def test_classes_that_do_not_match_the_numbers_of_a_box_are_told(place: Path) -> None:
    describe(yolo(place / "out" / "squares.onnx"), classes=["a", "b", "c", "d"])
    bench = stage(place, scene(place / "scene.tif", squares()))
    with pytest.raises(MendableError, match="gives 6 numbers for a box; with 4 classes"):
        detect(bench)


def test_without_the_runtime_one_sentence_says_what_is_missing(
    place: Path, squares_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    bench = stage(place, scene(place / "scene.tif", squares()))
    with pytest.raises(LastingError, match="Detection needs the Python package onnxruntime"):
        detect(bench)
