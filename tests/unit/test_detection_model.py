# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs a model and what its input and outputs say, by a stand-in for the runtime."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from geo_olm.tools.base import MendableError
from geo_olm.tools.detection_model import DetectionModel
from geo_olm.tools.detector import Task

CPU, CUDA, AZURE = "CPUExecutionProvider", "CUDAExecutionProvider", "AzureExecutionProvider"
Shape = list[Any]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that opens a model of these shapes; it notes what the runtime was told."""

    def made(
        given: Shape, *results: Shape, there: tuple[str, ...] = (AZURE, CPU), kind: str = "float",
        said: dict[str, str] | None = None,
    ) -> DetectionModel:  # fmt: skip
        def session(path: str, options: Any, providers: list[str]) -> Any:
            found.providers = providers
            return SimpleNamespace(
                get_providers=lambda: providers,
                get_inputs=lambda: [tensor("picture", given, kind)],
                get_outputs=lambda: [tensor(f"o{n}", one) for n, one in enumerate(results)],
                get_modelmeta=lambda: SimpleNamespace(custom_metadata_map=said or {}),
                run=lambda names, fed: found.__dict__.update(fed) or [numpy.zeros(1)],
            )

        found.SessionOptions = SimpleNamespace
        found.get_available_providers = lambda: list(there)
        found.InferenceSession = session
        monkeypatch.setitem(sys.modules, "onnxruntime", found)
        opened = DetectionModel(Path("net.onnx"))
        opened.told = found
        return opened

    found = SimpleNamespace()
    return made


def tensor(name: str, shape: Shape, kind: str = "float") -> Any:
    return SimpleNamespace(name=name, shape=shape, type=f"tensor({kind})")


YOLO = ([1, 3, 640, 640], [1, 84, 8400])


def test_a_graphics_card_is_taken_where_there_is_one_and_no_server_ever(model: Any) -> None:
    found = model(*YOLO, there=(AZURE, CUDA, CPU))
    assert (found.told.providers, found.device) == ([CUDA, CPU], "GPU (CUDA)")
    found = model(*YOLO)
    assert (found.told.providers, found.device) == ([CPU], "CPU")


@pytest.mark.parametrize(
    ("shape", "channels", "tile", "fed"),
    [
        ([1, 3, 640, 640], 3, (640, 640), (640, 640)),
        (["n", 3, "rows", "columns"], 3, (512, 512), (128, 96)),
        ([1, "bands", "rows", "columns"], None, (512, 512), (128, 96)),
        ([1, 320, 640, 4], 4, (640, 320), (640, 320)),
        ([1, "rows", "columns", 3], 3, (512, 512), (128, 96)),
        ([1, 13, 64, 64], 13, (64, 64), (64, 64)),
    ],
)
def test_bands_and_size_are_read_from_the_input(
    model: Any, shape: Shape, channels: int | None, tile: tuple[int, int], fed: tuple[int, int]
) -> None:
    found = model(shape, [1, 84, 8400])
    assert (found.channels(), found.tile(0), found.fed(100, 70)) == (channels, tile, fed)


@pytest.mark.parametrize(
    ("shape", "kind"), [([1, 64, 64, 3], "uint8"), ([1, 3, 64, 64], "float16")]
)
def test_a_picture_is_fed_in_the_models_own_order_and_type(
    model: Any, shape: Shape, kind: str
) -> None:
    found = model(shape, [1, 84, 8400], kind=kind)
    found.run(numpy.ones((3, 64, 64), "float32"))
    assert list(found.told.picture.shape) == shape
    assert found.told.picture.dtype == numpy.dtype(kind)


@pytest.mark.parametrize(
    ("shapes", "task"),
    [
        (([1, 3, 640, 640], [1, 84, 8400]), Task.OBJECTS),
        (([1, 3, "h", "w"], ["n", 4], ["n"], ["n"]), Task.OBJECTS),
        (([1, 3, "h", "w"], [1, 5, "h", "w"]), Task.SEGMENTS),
        ((["n", 6], ["n"]), Task.PIXELS),
    ],
)
def test_what_a_model_finds_is_told_by_its_shapes(
    model: Any, shapes: tuple[Shape, ...], task: Task
) -> None:
    assert model(*shapes).task() is task


@pytest.mark.parametrize(
    ("shapes", "kind", "words"),
    [
        (([1, 77], [1, 77]), "int64", r"takes tensor\(int64\), and pictures are numbers"),
        (([8, 3, 64, 64], [8, 84, 99]), "float", "takes 8 pictures at once, not one"),
        (([1, 16, 3, 64, 64], [1, 5]), "float", r"takes picture \(1 x 16 x 3 x 64 x 64\)"),
        (([1, 3, 224, 224], [1, 1000]), "float", r"gives o0 \(1 x 1000\), which are neither boxes"),
    ],
)
def test_a_model_of_something_else_is_refused_in_one_sentence(
    model: Any, shapes: tuple[Shape, ...], kind: str, words: str
) -> None:
    with pytest.raises(MendableError, match=rf"^net\.onnx {words}.*\. Choose another model\.$"):
        model(*shapes, kind=kind).task()


@pytest.mark.parametrize("names", ["{0: 'ship', 1: 'oil rig'}", '["ship", "oil rig"]'])
def test_classes_and_cells_are_taken_from_the_models_own_words(model: Any, names: str) -> None:
    found = model(*YOLO, said={"names": names, "resolution": "30"}).described(
        None, Path("net.onnx")
    )
    assert [one.name for one in found.classes] == ["ship", "oil rig"]
    assert found.resolution == (0.3, 0.3)


@pytest.mark.parametrize("names", ["__import__('os')", "{", "7", ""])
def test_words_that_name_no_classes_are_let_be(model: Any, names: str) -> None:
    assert model(*YOLO, said={"names": names}).described(None, Path("net.onnx")).classes == ()
