# SPDX-License-Identifier: GPL-2.0-or-later
"""Boxes that a detector found tile by tile, and which of them are one object: suppressed by class
within and across tiles, pieces of one object joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from .tiling import BOTTOM, LEFT, RIGHT, TOP, Tile

OVERLAP = 0.5
"""Boxes of one class whose intersection is more than this share of their union are one object."""
_WITHIN = 0.6
"""A piece of which more than this share lies in a whole box of its class is that object's."""
_EDGE = 3.0
"""A box that ends this near to a tile's inner edge, in cells, may go on beyond it."""
_FACING = ((RIGHT, LEFT, 0), (BOTTOM, TOP, 1))


@dataclass
class Boxes:
    """Boxes as arrays of n rows: left, top, right and bottom in cells, score, number of the class,
    and the sides at which a tile may have cut the box."""

    corners: Any
    scores: Any
    classes: Any
    cut: Any

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, which: Any) -> Boxes:
        """Return some of the boxes, by places or by truth values."""
        return Boxes(*(one[which] for one in (self.corners, self.scores, self.classes, self.cut)))


def boxes(corners: Any, scores: Any, classes: Any) -> Boxes:
    """Return boxes that no tile has cut."""
    return Boxes(
        numpy.asarray(corners, float).reshape(-1, 4),
        numpy.asarray(scores, float).reshape(-1),
        numpy.asarray(classes, int).reshape(-1),
        numpy.zeros(len(scores), dtype=int),
    )


def gathered(parts: list[Boxes]) -> Boxes:
    """Return the boxes of several tiles as one."""
    if not parts:
        return boxes([], [], [])
    names = ("corners", "scores", "classes", "cut")
    return Boxes(*(numpy.concatenate([getattr(one, name) for one in parts]) for name in names))


def placed(found: Boxes, tile: Tile) -> Boxes:
    """Return the boxes of a tile, given in its cells, in cells of the picture: held to the tile,
    empty ones left out, and those marked that a tile's inner edge may have cut."""
    left, top, columns, rows = tile.window
    limits = numpy.array([columns, rows, columns, rows], float)
    corners = numpy.clip(found.corners, 0.0, limits)
    cut = numpy.zeros(len(found), dtype=int)
    for side, near in (
        (LEFT, corners[:, 0] < _EDGE), (TOP, corners[:, 1] < _EDGE),
        (RIGHT, corners[:, 2] > columns - _EDGE), (BOTTOM, corners[:, 3] > rows - _EDGE),
    ):  # fmt: skip
        cut |= numpy.where(near & bool(tile.inner & side), side, 0)
    kept = (corners[:, 2] > corners[:, 0]) & (corners[:, 3] > corners[:, 1])
    offset = numpy.array([left, top, left, top], float)
    return Boxes(corners + offset, found.scores, found.classes, cut).take(kept)


def suppressed(found: Boxes, overlap: float = OVERLAP) -> Boxes:
    """Return the best box of each object, best scores first, by non-maximum suppression within
    each class."""
    return found.take(_kept(found, overlap))


def objects(found: Boxes, overlap: float = OVERLAP) -> Boxes:
    """Return one box for each object of all tiles.

    Whole boxes are suppressed among themselves; a piece that lies in one of them goes; what is
    left of the pieces are objects that no tile holds whole, whose facing pieces are joined.
    """
    whole = suppressed(found.take(found.cut == 0), overlap)
    pieces = found.take(found.cut != 0)
    near = _Near(whole)
    loose = [
        place for place in range(len(pieces))
        if not any(_share(pieces, place, whole, near.of(pieces, place)) > _WITHIN)
    ]  # fmt: skip
    return gathered([whole, *_joined(pieces.take(numpy.array(loose, int)))])


class _Near:
    """Finds the boxes of one class near a box, by a grid whose cells no box outgrows."""

    def __init__(self, held: Boxes, sides: Any = None) -> None:
        sizes = held.corners[:, 2:] - held.corners[:, :2] if sides is None else sides
        self._side = max(1.0, float(sizes.max())) if len(sizes) else 1.0
        self._cells: dict[tuple[int, int, int], list[int]] = {}
        if sides is None:
            for place in range(len(held)):
                self.add(held, place)

    def add(self, held: Boxes, place: int) -> None:
        """Put a box into the cell of its first corner."""
        self._cells.setdefault(self._cell(held, place), []).append(place)

    def of(self, held: Boxes, place: int) -> list[int]:
        """Return the boxes whose first corner lies near enough to touch a box of their class."""
        kind, left, top = self._cell(held, place)
        right = int(held.corners[place, 2] // self._side)
        bottom = int(held.corners[place, 3] // self._side)
        return [
            one
            for x in range(left - 1, right + 1)
            for y in range(top - 1, bottom + 1)
            for one in self._cells.get((kind, x, y), ())
        ]

    def _cell(self, held: Boxes, place: int) -> tuple[int, int, int]:
        left, top = held.corners[place, :2] // self._side
        return int(held.classes[place]), int(left), int(top)


def _kept(found: Boxes, overlap: float) -> Any:
    near = _Near(found, found.corners[:, 2:] - found.corners[:, :2])
    kept: list[int] = []
    for place in numpy.argsort(-found.scores, kind="stable"):
        others = near.of(found, place)
        if not others or not any(_union_share(found, place, others) > overlap):
            near.add(found, place)
            kept.append(place)
    return numpy.array(kept, int)


def _meeting(one: Any, others: Any) -> Any:
    """Return the area in which a box meets each of the others, in cells."""
    low = numpy.maximum(one[:2], others[:, :2])
    high = numpy.minimum(one[2:], others[:, 2:])
    return numpy.prod(numpy.clip(high - low, 0, None), axis=1)


def _areas(corners: Any) -> Any:
    return numpy.prod(corners[..., 2:] - corners[..., :2], axis=-1)


def _union_share(found: Boxes, place: int, others: list[int]) -> Any:
    one, rest = found.corners[place], found.corners[others]
    met = _meeting(one, rest)
    return met / (_areas(one) + _areas(rest) - met)


def _share(pieces: Boxes, place: int, whole: Boxes, others: list[int]) -> Any:
    """Return which share of a piece lies in each of the other boxes."""
    one = pieces.corners[place]
    return _meeting(one, whole.corners[others]) / _areas(one)


def _joined(pieces: Boxes) -> Iterator[Boxes]:
    """Yield the objects of pieces: those that lie on each other or face each other across an edge,
    as one box."""
    group = list(range(len(pieces)))

    def head(place: int) -> int:
        while group[place] != place:
            place = group[place]
        return place

    near = _Near(pieces)
    for place in range(len(pieces)):
        others = near.of(pieces, place)
        for other, share in zip(others, _union_share(pieces, place, others)):
            if share > OVERLAP or _faces(pieces, place, other):
                group[head(place)] = head(other)
    heads = numpy.array([head(place) for place in range(len(pieces))], int)
    for one in dict.fromkeys(heads.tolist()):
        members = pieces.take(heads == one)
        low, high = members.corners[:, :2].min(axis=0), members.corners[:, 2:].max(axis=0)
        best = [members.scores.max()]
        yield boxes([*low, *high], best, members.classes[:1])


def _faces(pieces: Boxes, place: int, other: int) -> bool:
    """Tell whether a piece goes on in another: cut at facing sides, meeting along their axis, and
    mostly level across it."""
    one, two = pieces.corners[place], pieces.corners[other]
    for side, facing, axis in _FACING:
        if not (pieces.cut[place] & side and pieces.cut[other] & facing):
            continue
        meets = one[axis] < two[axis] <= one[axis + 2] < two[axis + 2]
        cross = 1 - axis
        level = min(one[cross + 2], two[cross + 2]) - max(one[cross], two[cross])
        longest = max(one[cross + 2], two[cross + 2]) - min(one[cross], two[cross])
        if meets and level >= OVERLAP * longest:
            return True
    return False
