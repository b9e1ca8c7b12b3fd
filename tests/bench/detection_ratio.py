# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects detected in a picture of 2000 x 2000 cells, tile by tile, beside the bare session over
the same tiles, which are in memory there: no reading, no boxes, no layer."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from osgeo import gdal, osr
from qgis.core import QgsProject, QgsRasterLayer

from geo_olm.tools.catalog import build_registry
from geo_olm.tools.tiling import tiles
from geo_olm.tools.toolbox import ProjectToolbox

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
AIM = 1.2
_SIDE, _TILE, _OVERLAP = 2000, 512, 64
_WIDTHS = (3, 32, 64, 128, 128, 6)
_KEPT = 0.95


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give ours and theirs. Main thread."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project, cells = QgsProject(), _cells()
        model = _model(folder / "net.onnx", cells)
        project.addMapLayer(_raster(folder / "image.tif", cells))
        toolbox = ProjectToolbox(
            project, build_registry(), lambda work: work(), folder, allowed_folders=(folder,)
        )
        toolbox.begin_turn("bench")
        size, overlap = (_TILE, _TILE), (_OVERLAP, _OVERLAP)
        windows = [one.window for one in tiles(_SIDE, _SIDE, size, overlap)]
        parts = [
            numpy.ascontiguousarray(cells[None, :, y : y + h, x : x + w].astype("float32") / 255)
            for x, y, w, h in windows
        ]
        arguments = {"layer": "image", "detector": str(model)}

        def ours() -> None:
            toolbox.run("detect_objects", arguments, lambda share: None, lambda: False)

        def theirs() -> None:
            session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
            for part in parts:
                session.run(None, {"picture": part})

        try:
            yield [(f"detection: {len(windows)} tiles of {_TILE} cells", ours, theirs)]
        finally:
            toolbox.close()
            project.clear()


def _model(path: Path, cells: Any) -> Path:
    """Write five convolutions that give 1024 boxes a tile, and a score that some fifty reach."""
    rng = numpy.random.default_rng(2)
    nodes, held, before = [], [], "picture"
    for at, (wide, after) in enumerate(zip(_WIDTHS, _WIDTHS[1:])):
        weights = rng.normal(0, 0.2, (after, wide, 3, 3)).astype("float32")
        held.append(numpy_helper.from_array(weights, f"w{at}"))
        strides = [2, 2] if at else [1, 1]
        nodes.append(
            helper.make_node("Conv", [before, f"w{at}"], [f"c{at}"], strides=strides, pads=[1] * 4)
        )
        nodes.append(helper.make_node("Sigmoid", [f"c{at}"], [f"s{at}"]))
        before = f"s{at}"
    held.append(numpy_helper.from_array(numpy.array([1, 6, -1], "int64"), "flat"))
    scale = numpy.array([_TILE, _TILE, 24, 24, 1, 1], "float32").reshape(1, 6, 1)
    held.append(numpy_helper.from_array(scale, "scale"))
    nodes.append(helper.make_node("Reshape", [before, "flat"], ["rows"]))
    nodes.append(helper.make_node("Mul", ["rows", "scale"], ["boxes"]))
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "bench", [tensor("picture", TensorProto.FLOAT, [1, 3, _TILE, _TILE])],
        [tensor("boxes", TensorProto.FLOAT, [1, 6, None])], held,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(path))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    tile = cells[None, :, :_TILE, :_TILE].astype("float32") / 255
    (found,) = session.run(None, {"picture": tile})
    known = {
        "format": 1, "name": "net", "file": path.name, "task": "objects", "sensor": "optical",
        "bands": ["red", "green", "blue"], "resolution": [0.5], "classes": ["a", "b"],
        "normalisation": {"divide": 255}, "overlap": _OVERLAP,
        "score": float(numpy.quantile(found[0, 4:].max(axis=0), _KEPT)),
    }  # fmt: skip
    path.with_suffix(".json").write_text(json.dumps(known), encoding="utf-8")
    return path


def _cells() -> Any:
    return numpy.random.default_rng(1).integers(0, 256, (3, _SIDE, _SIDE), dtype="uint8")


def _raster(path: Path, cells: Any) -> QgsRasterLayer:
    driver = gdal.GetDriverByName("GTiff")
    dataset = driver.Create(str(path), _SIDE, _SIDE, 3, gdal.GDT_Byte, ["TILED=YES"])
    dataset.SetGeoTransform((500_000.0, 0.5, 0, 5_000_000.0, 0, -0.5))
    system = osr.SpatialReference()
    system.ImportFromEPSG(32632)
    dataset.SetProjection(system.ExportToWkt())
    for number, name in enumerate(("red", "green", "blue"), start=1):
        dataset.GetRasterBand(number).SetDescription(name)
        dataset.GetRasterBand(number).WriteArray(cells[number - 1])
    dataset = None
    return QgsRasterLayer(str(path), path.stem)
