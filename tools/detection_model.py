# SPDX-License-Identifier: GPL-2.0-or-later
"""An ONNX model opened by onnxruntime, on a graphics card where there is one, and what its input
and outputs say of it."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy

from .base import MendableError
from .detector import Detector, DetectorClass, Task
from .package import package

_PROVIDERS = {
    "CUDAExecutionProvider": "GPU (CUDA)",
    "ROCMExecutionProvider": "GPU (ROCm)",
    "DmlExecutionProvider": "GPU (DirectML)",
    "CoreMLExecutionProvider": "GPU (Core ML)",
    "CPUExecutionProvider": "CPU",
}
"""What may run a model, the fastest first; onnxruntime has others, one of which asks a server."""
_TYPES = {
    "tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64",
    "tensor(uint8)": "uint8",
}  # fmt: skip
_WHENCE = (
    "tick ONNX Runtime in Settings > Options > Geo-OLM > Privacy and packages and press Install"
)
_QUIET = 3
_TILE = 512
_MOST_BANDS = 32
_STEP = 32


@dataclass(frozen=True)
class Tensor:
    """An input or output: its name, type and dimensions, None for those that are free."""

    name: str
    type: str
    shape: tuple[int | None, ...]

    def words(self) -> str:
        """Describe it in a part of a sentence."""
        dimensions = " x ".join("any" if one is None else str(one) for one in self.shape)
        return f"{self.name} ({dimensions})"


class DetectionModel:
    """A model that takes one picture and gives boxes, classes by cell, or classes by pixel.

    Used on one thread. Raises MendableError for a file that is no such model, LastingError
    without onnxruntime.
    """

    def __init__(self, path: Path) -> None:
        runtime = package("onnxruntime", "Detection", _WHENCE)
        self._name = path.name
        options = runtime.SessionOptions()
        options.log_severity_level = _QUIET
        there = runtime.get_available_providers()
        providers = [one for one in _PROVIDERS if one in there]
        try:
            self._session = runtime.InferenceSession(str(path), options, providers=providers)
        except Exception as error:  # the runtime's errors have no common class of their own
            raise MendableError(
                f"{path.name} is no ONNX model that can be run here: {_reason(error)}"
            ) from error
        self.device = _PROVIDERS.get(self._session.get_providers()[0], "CPU")
        inputs = [_tensor(one) for one in self._session.get_inputs()]
        self.outputs = [_tensor(one) for one in self._session.get_outputs()]
        if len(inputs) != 1:
            raise self.refused(f"takes {len(inputs)} inputs, and a detector takes one picture")
        self.input = inputs[0]
        self._check()

    def refused(self, why: str) -> MendableError:
        """Return the error of a model that is no detector."""
        return MendableError(f"{self._name} {why}. Choose another model.")

    def _check(self) -> None:
        if self.input.type not in _TYPES:
            raise self.refused(f"takes {self.input.type}, and pictures are numbers")
        if len(self.input.shape) not in (2, 4):
            raise self.refused(
                f"takes {self.input.words()}, and a detector takes 1 x bands x rows x columns, or "
                "rows of band values"
            )
        if self.input.shape[0] not in (None, 1) and self._is_picture:
            raise self.refused(f"takes {self.input.shape[0]} pictures at once, not one")

    def run(self, values: Any) -> list[Any]:
        """Return the outputs for an input of (bands, rows, columns), or of (pixels, bands) for a
        model of pixels. Raises MendableError."""
        if self._is_picture:
            values = (numpy.moveaxis(values, 0, -1) if self._bands_last else values)[None]
        fed = numpy.ascontiguousarray(values, _TYPES[self.input.type])
        try:
            return list(self._session.run(None, {self.input.name: fed}))
        except MemoryError:
            raise
        except Exception as error:  # as above
            raise MendableError(f"{self._name} could not be run: {_reason(error)}") from error

    @property
    def _is_picture(self) -> bool:
        return len(self.input.shape) == 4

    @property
    def _bands_last(self) -> bool:
        """Whether the input is rows x columns x bands, not bands x rows x columns."""
        first, last = self.input.shape[1], self.input.shape[-1]
        return last is not None and last <= _MOST_BANDS and (first is None or first > last)

    def described(self, known: Detector | None, path: Path) -> Detector:
        """Return the description of the model: what is known, else what the model says itself."""
        said = self._session.get_modelmeta().custom_metadata_map
        found = known or Detector(path.stem, path.name, self.task(), folder=path.parent)
        if not found.classes:
            found = replace(found, classes=_classes(said.get("names") or said.get("class_names")))
        if not any(found.resolution):
            cell = _number(said.get("resolution")) / 100.0  # by custom in centimetres
            found = replace(found, resolution=(cell, cell))
        if found.task is not self.task():
            raise self.refused(f"finds {self.task().value}, not {found.task.value}")
        return found

    def task(self) -> Task:
        """Return what the model finds, by its input and outputs. Raises MendableError."""
        if not self._is_picture:
            return Task.PIXELS
        ranks = [len(one.shape) for one in self.outputs]
        if len(self.outputs) == 1 and (ranks[0] == 4 or _is_labels(self.outputs[0])):
            return Task.SEGMENTS
        if (len(self.outputs) == 1 and ranks[0] == 3) or len(self.outputs) == 3:
            return Task.OBJECTS
        listed = ", ".join(one.words() for one in self.outputs)
        raise self.refused(
            f"gives {listed}, which are neither boxes (boxes, scores and labels, or 1 x boxes x "
            "numbers) nor classes of cells (1 x classes x rows x columns)"
        )

    def channels(self) -> int | None:
        """Return how many bands the model takes, None where it takes any number."""
        return self.input.shape[-1 if self._bands_last or not self._is_picture else 1]

    def tile(self, wanted: int) -> tuple[int, int]:
        """Return columns and rows of a tile: the model's own, else as wanted, else 512."""
        columns, rows = self._fixed()
        return columns or wanted or _TILE, rows or wanted or _TILE

    def fed(self, columns: int, rows: int) -> tuple[int, int]:
        """Return the columns and rows with which a tile must be fed: the model's own, else whole
        steps of 32, in which most networks halve a picture."""
        wide, high = self._fixed()
        return wide or -(-columns // _STEP) * _STEP, high or -(-rows // _STEP) * _STEP

    def _fixed(self) -> tuple[int | None, int | None]:
        """Return the columns and rows that a picture must have, None where they are free."""
        if not self._is_picture:
            return None, None
        rows, columns = self.input.shape[1:3] if self._bands_last else self.input.shape[2:]
        return columns, rows


def _tensor(one: Any) -> Tensor:
    shape = tuple(size if isinstance(size, int) and size > 0 else None for size in one.shape)
    return Tensor(one.name, one.type, shape)


def _is_labels(one: Tensor) -> bool:
    return "int" in one.type and len(one.shape) == 3


def _reason(error: Exception) -> str:
    """Return what onnxruntime says, without its codes."""
    text = str(error).rpartition(" : ")[2] or str(error)
    return text.strip().splitlines()[0][:200] if text.strip() else type(error).__name__


def _classes(text: str | None) -> tuple[DetectorClass, ...]:
    """Return the classes that a model's own metadata name, as JSON or as a Python literal."""
    try:
        data = json.loads(text or "[]")
    except ValueError:
        try:
            data = ast.literal_eval(text or "")
        except (ValueError, SyntaxError):
            return ()
    if isinstance(data, dict):
        numbered = {int(key): str(name) for key, name in data.items() if str(key).isdigit()}
        data = [numbered.get(at, f"class {at}") for at in range(max(numbered, default=-1) + 1)]
    return tuple(DetectorClass(str(one)) for one in data) if isinstance(data, list) else ()


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0
