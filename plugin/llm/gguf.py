# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the head of a GGUF file and tells whether the whole file is there."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .base import BrokenModelFile
from .context import bytes_per_token

_MAGIC = b"GGUF"
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?",
    10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_TEXT, _ARRAY = 8, 9
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    15: (256, 292), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 30: (1, 2),
}  # fmt: skip
"""Weights in a block and bytes of a block, for each tensor type of GGML."""

_MAX_COUNT = 10_000_000
_MAX_TEXT = 100_000_000


@dataclass(frozen=True)
class ModelFile:
    """What the head of a model file tells.

    `context` is what the model was trained for, `token_bytes` what one token of context takes in
    memory (0 is unknown), `layers` counts without the output.
    """

    path: Path
    bytes: int
    architecture: str = ""
    name: str = ""
    context: int = 0
    layers: int = 0
    token_bytes: int = 0


def read_model_file(path: Path) -> ModelFile:
    """Read and check a GGUF file: its mark, its head, and that every tensor is in it.

    Raises BrokenModelFile with one sentence when it is missing, cut short or no model.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as source:
            head = _Head(source, size)
            head.check()
    except OSError as error:
        raise broken(path, str(error)) from error
    except (struct.error, ValueError, OverflowError) as error:
        raise broken(path, str(error)) from error
    architecture = str(head.values.get("general.architecture", ""))
    context = head.values.get(f"{architecture}.context_length", 0)
    layers = head.values.get(f"{architecture}.block_count", 0)
    return ModelFile(
        path,
        size,
        architecture,
        str(head.values.get("general.name", "")),
        context if isinstance(context, int) else 0,
        layers if isinstance(layers, int) else 0,
        bytes_per_token(head.values),
    )


def broken(path: Path, detail: str) -> BrokenModelFile:
    """Return the error for a file that is no whole model."""
    return BrokenModelFile(
        f"{path.name} is not a complete model file. Download it again or choose another.", detail
    )


class _Head:
    """The head of a GGUF file, read from its start."""

    def __init__(self, source: BinaryIO, size: int) -> None:
        self._source = source
        self._size = size
        self.values: dict[str, Any] = {}

    def check(self) -> None:
        """Read the head. Raises ValueError or struct.error when the file is not whole."""
        if self._source.read(4) != _MAGIC:
            raise ValueError("the file does not begin with GGUF")
        if self._number("<I") not in (2, 3):
            raise ValueError("this version of GGUF is not known")
        tensors, pairs = self._count(), self._count()
        for _ in range(pairs):
            key = self._text()
            value = self._value(self._number("<I"))
            if not isinstance(value, list):
                self.values[key] = value
        ends = [self._tensor_end() for _ in range(tensors)]
        alignment = self.values.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment <= 0:
            raise ValueError("the alignment is no positive number")
        start = -(-self._source.tell() // alignment) * alignment
        if not ends or start + max(ends) > self._size:
            needed = start + max(ends, default=0)
            raise ValueError(f"{needed} bytes are needed, {self._size} are there")

    def _tensor_end(self) -> int:
        """Return where a tensor's data end, from the start of all data."""
        self._text()
        weights = 1
        for _ in range(self._number("<I")):
            weights *= self._count(limit=1 << 48)
        kind, offset = self._number("<I"), self._count(limit=1 << 48)
        block, length = _BLOCKS.get(kind, (1, 0))
        return offset + weights // block * length

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _ARRAY:
            inner, count = self._number("<I"), self._count()
            if inner in _SCALARS:
                self._skip(struct.calcsize(_SCALARS[inner]) * count)
                return []
            for _ in range(count):
                self._value(inner)
            return []
        if kind not in _SCALARS:
            raise ValueError(f"a value of unknown type {kind}")
        return self._number(_SCALARS[kind])

    def _text(self) -> str:
        length = self._count(limit=_MAX_TEXT)
        raw = self._source.read(length)
        if len(raw) < length:
            raise ValueError("the file ends within its head")
        return raw.decode("utf-8", errors="replace")

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._source.read(struct.calcsize(form)))[0]

    def _count(self, limit: int = _MAX_COUNT) -> int:
        found = int(self._number("<Q"))
        if found > limit:
            raise ValueError(f"the count {found} is too large")
        return found

    def _skip(self, length: int) -> None:
        self._source.seek(length, 1)
        if self._source.tell() > self._size:
            raise ValueError("the file ends within its head")
