# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects detected by small ONNX models in generated scenes: every one once, across the borders of
tiles, at its true place, and wrong pairings refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from detection_case import LARGE, SMALL, Square, describe, listing, rows_of, scene, yolo
from toolbox_case import Bench

from geo_olm.tools.base import ToolResult

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
