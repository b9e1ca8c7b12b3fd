# SPDX-License-Identifier: GPL-2.0-or-later
"""Small ONNX models that find bright squares of exact sizes or classify cells, scenes for them, and
a toolbox that reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from osgeo import gdal, osr
from qgis.core import QgsRasterLayer
from toolbox_case import Bench

SMALL, LARGE = 8, 12
BRIGHT, DARK = 220, 20
PAD = LARGE + 2


def saved(
    path: Path,
    nodes: list[Any],
    inputs: list[Any],
    outputs: list[Any],
    constants: dict[str, Any],
    said: dict[str, str] | None = None,
) -> Path:
    """Check a graph and write it as an ONNX file."""
    held = [numpy_helper.from_array(numpy.asarray(one), key) for key, one in constants.items()]
    graph = helper.make_graph(nodes, "test", inputs, outputs, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    helper.set_model_props(model, said or {})
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path


def floats(name: str, *shape: Any) -> Any:
    """Return the description of a tensor of numbers."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def templates(bands: int) -> Any:
    """Return kernels (2, bands, 14, 14) that give 1 where a square of 8 or 12 bright cells stands
    alone: the mean of the square less the mean of the ring around it."""
    kernels = numpy.zeros((2, bands, PAD, PAD), "float32")
    for place, side in enumerate((SMALL, LARGE)):
        low = (PAD - side) // 2
        ring = numpy.zeros((PAD, PAD), bool)
        ring[low - 1 : low + side + 1, low - 1 : low + side + 1] = True
        ring[low : low + side, low : low + side] = False
        kernels[place, :, low : low + side, low : low + side] = 1.0 / side**2 / bands
        kernels[place, :, ring] = -1.0 / ring.sum() / bands
    return kernels


def grid_boxes(side: int) -> Any:
    """Return centre and size (2, n, 4) of the square of each size at each place of a tile."""
    places = side - PAD + 1
    rows, columns = numpy.mgrid[0:places, 0:places].reshape(2, -1) + PAD / 2
    return numpy.stack(
        [numpy.stack([columns, rows, *[numpy.full(len(rows), size)] * 2], 1)
         for size in (SMALL, LARGE)]
    ).astype("float32")  # fmt: skip


def yolo(
    path: Path, side: int = 64, bands: int = 3, turned: bool = False, gain: float = 1.0, **said: str
) -> Path:
    """Write a model of tiles of `side` cells: 1 x boxes x (4 + 2), or the other way round."""
    boxes = grid_boxes(side)
    places = boxes.shape[1]
    nodes = [
        helper.make_node("Conv", ["picture", "kernels"], ["match"], kernel_shape=[PAD, PAD]),
        helper.make_node("Reshape", ["match", "flat"], ["columns"]),
        helper.make_node("Transpose", ["columns"], ["scores"], perm=[0, 2, 1]),
        helper.make_node("Mul", ["scores", "only_small"], ["small_scores"]),
        helper.make_node("Mul", ["scores", "only_large"], ["large_scores"]),
        helper.make_node("Concat", ["small_boxes", "small_scores"], ["small"], axis=2),
        helper.make_node("Concat", ["large_boxes", "large_scores"], ["large"], axis=2),
        helper.make_node("Concat", ["small", "large"], ["rows" if turned else "output"], axis=1),
    ]
    shape = [1, 2 * places, 6]
    if turned:
        nodes.append(helper.make_node("Transpose", ["rows"], ["output"], perm=[0, 2, 1]))
        shape = [1, 6, 2 * places]
    constants = {
        "kernels": (templates(bands) * gain).astype("float32"),
        "flat": numpy.array([1, 2, places], "int64"),
        "small_boxes": boxes[:1], "large_boxes": boxes[1:],
        "only_small": numpy.array([1, 0], "float32"), "only_large": numpy.array([0, 1], "float32"),
    }  # fmt: skip
    inputs = [floats("picture", 1, bands, side, side)]
    return saved(path, nodes, inputs, [floats("output", *shape)], constants, said)


def listing(path: Path, side: int = 64, bands: int = 3) -> Path:
    """Write a model that gives boxes, scores and labels of the matches alone."""
    boxes = grid_boxes(side).reshape(-1, 4)
    half = boxes[:, 2:] / 2
    corners = numpy.hstack([boxes[:, :2] - half, boxes[:, :2] + half])
    labels = numpy.repeat([0, 1], len(boxes) // 2).astype("int64")
    nodes = [
        helper.make_node("Conv", ["picture", "kernels"], ["match"], kernel_shape=[PAD, PAD]),
        helper.make_node("Reshape", ["match", "flat"], ["all"]),
        helper.make_node("Greater", ["all", "least"], ["is_one"]),
        helper.make_node("NonZero", ["is_one"], ["places"]),
        helper.make_node("Squeeze", ["places", "first"], ["which"]),
        helper.make_node("Gather", ["corners", "which"], ["boxes"]),
        helper.make_node("Gather", ["all", "which"], ["scores"]),
        helper.make_node("Gather", ["numbers", "which"], ["labels"]),
    ]
    constants = {
        "kernels": templates(bands), "flat": numpy.array([-1], "int64"), "corners": corners,
        "least": numpy.array(0.9, "float32"), "first": numpy.array([0], "int64"),
        "numbers": labels,
    }  # fmt: skip
    outputs = [
        floats("boxes", "n", 4), floats("scores", "n"),
        helper.make_tensor_value_info("labels", TensorProto.INT64, ["n"]),
    ]  # fmt: skip
    return saved(path, nodes, [floats("picture", 1, bands, side, side)], outputs, constants)


def segments(path: Path, weights: Any, biases: Any, free: bool = True) -> Path:
    """Write a convolution (classes, bands, k, k) with zeros around, for tiles of any size."""
    weights = numpy.asarray(weights, "float32")
    side, edge = weights.shape[2], weights.shape[2] // 2
    nodes = [
        helper.make_node("Conv", ["picture", "weights", "biases"], ["output"],
                         kernel_shape=[side, side], pads=[edge] * 4),
    ]  # fmt: skip
    size = ["rows", "columns"] if free else [64, 64]
    return saved(
        path, nodes, [floats("picture", 1, weights.shape[1], *size)],
        [floats("output", 1, weights.shape[0], *size)],
        {"weights": weights, "biases": numpy.asarray(biases, "float32")},
    )  # fmt: skip


def pixels(path: Path, weights: Any) -> Path:
    """Write a model of pixels: rows of bands times (bands, classes)."""
    weights = numpy.asarray(weights, "float32")
    nodes = [helper.make_node("MatMul", ["pixels", "weights"], ["shares"])]
    return saved(
        path, nodes, [floats("pixels", "n", weights.shape[0])],
        [floats("shares", "n", weights.shape[1])], {"weights": weights},
    )  # fmt: skip


def two_inputs(path: Path) -> Path:
    """Write a model that takes two pictures."""
    pictures = [floats(name, 1, 3, 64, 64) for name in ("before", "after")]
    nodes = [helper.make_node("Sub", ["after", "before"], ["change"])]
    return saved(path, nodes, pictures, [floats("change", 1, 3, 64, 64)], {})


def describe(model: Path, **more: Any) -> Path:
    """Write the JSON file beside a model of squares, with other keys in place of its own."""
    data = {
        "format": 1, "name": model.stem, "file": model.name, "task": "objects",
        "sensor": "optical", "bands": ["red", "green", "blue"], "resolution": [0.5, 2],
        "classes": ["small", {"name": "large", "color": "#ff0000"}],
        "normalisation": {"divide": BRIGHT - DARK, "mean": [DARK / (BRIGHT - DARK)]},
        "score": 0.9, "overlap": PAD, "licence": "CC0-1.0", **more,
    }  # fmt: skip
    model.with_suffix(".json").write_text(json.dumps(data), encoding="utf-8")
    return model


Square = tuple[int, int, int]
"""First column, first row and side of a bright square, in cells."""


def scene(
    path: Path,
    squares: list[Square],
    size: tuple[int, int] = (200, 150),
    affine: tuple[float, ...] = (500_000.0, 1.0, 0.0, 5_000_000.0, 0.0, -1.0),
    crs: int = 32632,
    bands: int = 3,
    names: tuple[str, ...] = ("red", "green", "blue"),
    holes: Any = None,
) -> QgsRasterLayer:
    """Write a dark picture of columns and rows with bright squares, and open it."""
    cells = numpy.full((size[1], size[0]), DARK, "uint8")
    for column, row, side in squares:
        cells[row : row + side, column : column + side] = BRIGHT
    dataset = gdal.GetDriverByName("GTiff").Create(str(path), *size, bands, gdal.GDT_Byte)
    dataset.SetGeoTransform(affine)
    if crs:
        system = osr.SpatialReference()
        system.ImportFromEPSG(crs)
        dataset.SetProjection(system.ExportToWkt())
    for number in range(1, bands + 1):
        band = dataset.GetRasterBand(number)
        if holes is not None:
            band.SetNoDataValue(0)
            cells[holes] = 0
        if names:
            band.SetDescription(names[number - 1])
        band.WriteArray(cells)
    dataset = None
    found = QgsRasterLayer(str(path), path.stem)
    assert found.isValid()
    return found


def rows_of(bench: Bench, layer_id: str) -> list[dict[str, Any]]:
    """Return the features of a layer as dictionaries, with their geometry as a box."""
    layer = bench.project.mapLayer(layer_id)
    names = layer.fields().names()
    return [
        {**dict(zip(names, one.attributes())), "geometry": one.geometry()}
        for one in layer.getFeatures()
    ]
