# SPDX-License-Identifier: GPL-2.0-or-later
"""A picture cut into tiles that overlap, each with a core that no other tile has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEFT, TOP, RIGHT, BOTTOM = 1, 2, 4, 8


@dataclass(frozen=True)
class Span:
    """One tile along one axis, in cells: where it begins, its size, and its core's bounds."""

    start: int
    size: int
    core_start: int
    core_end: int


@dataclass(frozen=True)
class Tile:
    """A tile by its spans across and down a picture of `columns` by `rows` cells."""

    across: Span
    down: Span
    columns: int
    rows: int

    @property
    def window(self) -> tuple[int, int, int, int]:
        """First column, first row, columns and rows."""
        return self.across.start, self.down.start, self.across.size, self.down.size

    @property
    def core(self) -> tuple[int, int, int, int]:
        """First column, first row, columns and rows of the core."""
        across, down = self.across, self.down
        size = across.core_end - across.core_start, down.core_end - down.core_start
        return (across.core_start, down.core_start, *size)

    @property
    def inner(self) -> int:
        """The sides (LEFT, TOP, RIGHT, BOTTOM) beyond which the picture goes on."""
        ends = self.across.start + self.across.size, self.down.start + self.down.size
        return (
            LEFT * (self.across.start > 0)
            | TOP * (self.down.start > 0)
            | RIGHT * (ends[0] < self.columns)
            | BOTTOM * (ends[1] < self.rows)
        )


def spans(length: int, size: int, overlap: int) -> list[Span]:
    """Return tiles of one size along an axis, evenly spread, that overlap by `overlap` cells or
    more; one shorter tile where the axis is shorter. Raises ValueError for no room between."""
    if not 0 <= overlap < size:
        raise ValueError("the overlap must be smaller than the tile")
    if length <= size:
        return [Span(0, length, 0, length)]
    gaps = math.ceil((length - size) / (size - overlap))
    starts = [place * (length - size) // gaps for place in range(gaps + 1)]
    borders = [0, *((one + size + after) // 2 for one, after in zip(starts, starts[1:])), length]
    return [
        Span(start, size, borders[place], borders[place + 1]) for place, start in enumerate(starts)
    ]


def tiles(
    columns: int, rows: int, size: tuple[int, int], overlap: tuple[int, int]
) -> Sequence[Tile]:
    """Return the tiles of a picture row by row; size and overlap are given across and down."""
    across = spans(columns, size[0], overlap[0])
    down = spans(rows, size[1], overlap[1])
    return [Tile(one, other, columns, rows) for other in down for one in across]
