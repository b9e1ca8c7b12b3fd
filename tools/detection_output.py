# SPDX-License-Identifier: GPL-2.0-or-later
"""What a model's outputs mean: boxes of a tile, or the class of each of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .base import MendableError
from .detection_box import Boxes, boxes
from .detection_model import Tensor
from .detector import Detector

_CENTRE, _OBJECTNESS = 4, 5
"""Numbers before those of the classes: centre and size of a box, with how sure it is one."""


def boxes_of(
    outputs: Sequence[Any], tensors: Sequence[Tensor], detector: Detector, score: float
) -> Boxes:
    """Return the boxes of a tile in its cells, of this score or better.

    Understood are one output of 1 x boxes x numbers (or 1 x numbers x boxes) with centre, size
    and the score of each class, as YOLO gives it, and three of boxes (left, top, right, bottom),
    scores and labels. Raises MendableError for others.
    """
    if len(outputs) == 3:
        found = _listed(outputs, tensors, detector)
    else:
        found = _rows(outputs[0], detector)
    return found.take(found.scores >= score)


def _rows(output: Any, detector: Detector) -> Boxes:
    table = numpy.asarray(output, float)[0]
    table = table if _numbers_last(table.shape, detector) else table.T
    known, width = len(detector.classes), table.shape[1]
    first = _OBJECTNESS if known and width == _OBJECTNESS + known else _CENTRE
    if width <= first or (known and width != first + known):
        raise MendableError(
            f"{detector.name} gives {width} numbers for a box; with {known} classes they must be "
            f"{_CENTRE + known} or {_OBJECTNESS + known}. Correct its classes."
        )
    by_class = table[:, first:]
    classes = by_class.argmax(axis=1)
    scores = by_class[numpy.arange(len(table)), classes]
    if first == _OBJECTNESS:
        scores = scores * table[:, _CENTRE]
    middle, half = table[:, :2], table[:, 2:4] / 2
    return boxes(numpy.hstack([middle - half, middle + half]), scores, classes)


def _numbers_last(shape: tuple[int, int], detector: Detector) -> bool:
    """Tell whether the numbers of a box are the second dimension: by the classes, else since
    there are more boxes than numbers."""
    fitting = {_CENTRE + len(detector.classes), _OBJECTNESS + len(detector.classes)}
    if detector.classes and (shape[0] in fitting) != (shape[1] in fitting):
        return shape[1] in fitting
    return shape[0] >= shape[1]


def _listed(outputs: Sequence[Any], tensors: Sequence[Tensor], detector: Detector) -> Boxes:
    by_role: dict[str, Any] = {}
    for output, tensor in zip(outputs, tensors):
        role, array = _role(tensor), numpy.asarray(output)
        by_role[role] = array[0] if array.ndim == (3 if role == "boxes" else 2) else array
    if set(by_role) != {"boxes", "scores", "labels"}:
        names = ", ".join(one.words() for one in tensors)
        raise MendableError(
            f"{detector.name} gives {names}; which are boxes, scores and labels is not told by "
            "their names. Rename them in the model."
        )
    return boxes(by_role["boxes"], by_role["scores"], numpy.rint(by_role["labels"]))


def _role(tensor: Tensor) -> str:
    name = tensor.name.lower()
    words = {"boxes": ("box",), "scores": ("score", "conf"), "labels": ("label", "class")}
    return next((role for role, parts in words.items() if any(p in name for p in parts)), name)


def cells_of(output: Any, size: tuple[int, int], detector: Detector) -> Any:
    """Return the number of the class of each cell of a tile of (rows, columns), as int.

    Understood are 1 x classes x rows x columns (the largest wins; one alone is class 1 where it is
    above the detector's score, else 0) and 1 x rows x columns of numbers of classes, in whole
    steps of the tile's cells. Raises MendableError for another size.
    """
    array = numpy.asarray(output)
    classes = _largest(array[0], detector) if array.ndim == 4 else array[0].astype(int)
    rows, columns = classes.shape
    if not rows or not columns or size[0] % rows or size[1] % columns:
        raise MendableError(
            f"{detector.name} gives classes of {columns} x {rows} cells for a picture of "
            f"{size[1]} x {size[0]}. Choose another model."
        )
    return classes.repeat(size[0] // rows, axis=0).repeat(size[1] // columns, axis=1)


def pixels_of(outputs: Sequence[Any], count: int, detector: Detector) -> Any:
    """Return the number of the class of each pixel of a table, as int. Raises MendableError."""
    for output in outputs:
        array = numpy.asarray(output)
        if array.shape[:1] != (count,) or array.dtype.kind not in "iuf":
            continue
        if array.ndim == 1:
            return array.astype(int)
        if array.ndim == 2:
            return _largest(array.T, detector)
    raise MendableError(
        f"{detector.name} gives no number of a class for each pixel. Choose another model."
    )


def _largest(scores: Any, detector: Detector) -> Any:
    """Return the class of the largest score, along the first dimension."""
    if len(scores) > 1:
        return scores.argmax(axis=0)
    return (scores[0] > detector.score).astype(int)
