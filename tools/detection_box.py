# SPDX-License-Identifier: GPL-2.0-or-later
"""Boxes that a detector found tile by tile, and which of them are one object: suppressed by class
within and across tiles, pieces of one object joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
_AT_ONCE = 1_000_000
"""Pairs of boxes that are compared at a time."""


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
    best = found.take(numpy.argsort(-found.scores, kind="stable"))
    alive = numpy.ones(len(best), dtype=bool)

    def beats(one: Any, two: Any) -> Any:
        hit = one < two
        hit[hit] = _alike(best, one[hit], two[hit], overlap)
        return hit

    better, worse = _hits(best, best, beats)
    order = numpy.argsort(better, kind="stable")
    firsts, starts = numpy.unique(better[order], return_index=True)
    for one, others in zip(firsts.tolist(), numpy.split(worse[order], starts[1:])):
        if alive[one]:
            alive[others] = False
    return best.take(alive)


def objects(found: Boxes, overlap: float = OVERLAP) -> Boxes:
    """Return one box for each object of all tiles.

    Whole boxes are suppressed among themselves; a piece that lies in one of them goes; what is
    left of the pieces are objects that no tile holds whole, whose facing pieces are joined.
    """
    whole = suppressed(found.take(found.cut == 0), overlap)
    pieces = found.take(found.cut != 0)
    sizes = _areas(pieces.corners)
    held, _ = _hits(
        pieces, whole,
        lambda one, two: _meeting(pieces.corners[one], whole.corners[two]) > _WITHIN * sizes[one],
    )  # fmt: skip
    loose = numpy.ones(len(pieces), dtype=bool)
    loose[held] = False
    return gathered([whole, *_joined(pieces.take(loose))])


def _hits(ones: Boxes, others: Boxes, wanted: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Return the pairs of places, in two lists of boxes of one class that may touch, of which
    `wanted` is true; it takes the places as arrays."""
    found = [(one[kept], two[kept]) for one, two in _pairs(ones, others)
             for kept in (wanted(one, two),)]  # fmt: skip
    if not found:
        return numpy.zeros(0, int), numpy.zeros(0, int)
    firsts, seconds = zip(*found)
    return numpy.concatenate(firsts), numpy.concatenate(seconds)


def _pairs(ones: Boxes, others: Boxes) -> Iterator[tuple[Any, Any]]:
    """Yield places of boxes of one class whose first corners lie in the same cell of a grid that
    no box outgrows or in neighbouring ones, some at a time."""
    if not len(ones) or not len(others):
        return
    both = numpy.concatenate([ones.corners, others.corners])
    side = max(1.0, float((both[:, 2:] - both[:, :2]).max()))
    high = int(both[:, 1].max() // side) + 3
    wide = int(both[:, 0].max() // side) + 3

    def keys(held: Boxes, right: int = 0, down: int = 0) -> Any:
        across, below = (held.corners[:, :2] // side).astype(int).T
        return (held.classes * wide + across + right + 1) * high + below + down + 1

    own = keys(others)
    order = numpy.argsort(own, kind="stable")
    ranked = own[order]
    for right in (-1, 0, 1):
        for down in (-1, 0, 1):
            asked = keys(ones, right, down)
            first = numpy.searchsorted(ranked, asked, "left")
            counts = numpy.searchsorted(ranked, asked, "right") - first
            for part in _parts(counts):
                some = counts[part]
                one = numpy.repeat(numpy.arange(part.start, part.stop), some)
                within = numpy.arange(len(one)) - numpy.repeat(some.cumsum() - some, some)
                yield one, order[numpy.repeat(first[part], some) + within]


def _parts(counts: Any) -> Iterator[slice]:
    """Yield ranges of boxes that have about as many neighbours as are compared at a time."""
    ends = counts.cumsum()
    start = 0
    while start < len(counts):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(numpy.searchsorted(ends, before + _AT_ONCE, "right")))
        yield slice(start, stop)
        start = stop


def _meeting(ones: Any, others: Any) -> Any:
    """Return the areas in which boxes meet, pair by pair, in cells."""
    across = numpy.minimum(ones[:, 2], others[:, 2]) - numpy.maximum(ones[:, 0], others[:, 0])
    down = numpy.minimum(ones[:, 3], others[:, 3]) - numpy.maximum(ones[:, 1], others[:, 1])
    return numpy.maximum(across, 0) * numpy.maximum(down, 0)


def _areas(corners: Any) -> Any:
    return (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])


def _alike(found: Boxes, ones: Any, others: Any, overlap: float) -> Any:
    """Tell of pairs whether they share more than `overlap` of their union."""
    one, two = found.corners[ones], found.corners[others]
    met = _meeting(one, two)
    return met > overlap * (_areas(one) + _areas(two) - met)


def _joined(pieces: Boxes) -> Iterator[Boxes]:
    """Yield the objects of pieces: those that lie on each other or face each other across an edge,
    as one box."""
    group = list(range(len(pieces)))

    def head(place: int) -> int:
        while group[place] != place:
            place = group[place]
        return place

    linked = _hits(
        pieces, pieces,
        lambda one, two: _alike(pieces, one, two, OVERLAP) | _faces(pieces, one, two),
    )  # fmt: skip
    for one, two in zip(*(places.tolist() for places in linked)):
        group[head(one)] = head(two)
    members: dict[int, list[int]] = {}
    for place in range(len(pieces)):
        members.setdefault(head(place), []).append(place)
    for places in members.values():
        some = pieces.take(places)
        low, high = some.corners[:, :2].min(axis=0), some.corners[:, 2:].max(axis=0)
        yield boxes([*low, *high], [some.scores.max()], some.classes[:1])


def _faces(pieces: Boxes, ones: Any, others: Any) -> Any:
    """Tell of pairs whether the first goes on in the second: cut at facing sides, meeting along
    their axis, and mostly level across it."""
    one, two = pieces.corners[ones], pieces.corners[others]
    found = numpy.zeros(len(ones), dtype=bool)
    for side, facing, axis in _FACING:
        cut = (pieces.cut[ones] & side).astype(bool) & (pieces.cut[others] & facing).astype(bool)
        meets = (
            (one[:, axis] < two[:, axis])
            & (two[:, axis] <= one[:, axis + 2])
            & (one[:, axis + 2] < two[:, axis + 2])
        )
        cross = 1 - axis
        level = numpy.minimum(one[:, cross + 2], two[:, cross + 2])
        level = level - numpy.maximum(one[:, cross], two[:, cross])
        longest = numpy.maximum(one[:, cross + 2], two[:, cross + 2])
        longest = longest - numpy.minimum(one[:, cross], two[:, cross])
        found |= cut & meets & (level >= OVERLAP * longest)
    return found
