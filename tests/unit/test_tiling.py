# SPDX-License-Identifier: GPL-2.0-or-later
"""Tiles cover a picture, overlap as asked, and share it out by their cores."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_olm.tools.tiling import BOTTOM, LEFT, RIGHT, TOP, spans, tiles


@given(
    columns=st.integers(1, 300), rows=st.integers(1, 300),
    size=st.tuples(st.integers(2, 90), st.integers(2, 90)), share=st.floats(0, 0.99),
)  # fmt: skip
def test_every_cell_lies_in_the_core_of_one_tile(
    columns: int, rows: int, size: tuple[int, int], share: float
) -> None:
    overlap = (int(size[0] * share), int(size[1] * share))
    owners = numpy.zeros((rows, columns), int)
    for tile in tiles(columns, rows, size, overlap):
        column, row, width, height = tile.core
        owners[row : row + height, column : column + width] += 1
        left, top, wide, high = tile.window
        assert left <= column
        assert top <= row
        assert column + width <= left + wide <= columns
        assert row + height <= top + high <= rows
    assert (owners == 1).all()


@given(length=st.integers(1, 500), size=st.integers(2, 90), share=st.floats(0, 0.99))
def test_neighbours_overlap_at_least_as_asked(length: int, size: int, share: float) -> None:
    overlap = int(size * share)
    found = spans(length, size, overlap)
    for one, after in zip(found, found[1:]):
        assert one.start + one.size - after.start >= overlap
        assert after.start > one.start
    assert (found[0].start, found[-1].start + found[-1].size) == (0, length)


def test_the_sides_beyond_which_the_picture_goes_on_are_known() -> None:
    found = tiles(100, 64, (64, 64), (14, 14))
    assert [one.inner for one in found] == [RIGHT, LEFT]
    assert [one.inner for one in tiles(64, 100, (64, 64), (14, 14))] == [BOTTOM, TOP]
    assert [one.window for one in tiles(30, 20, (64, 64), (14, 14))] == [(0, 0, 30, 20)]


@pytest.mark.parametrize("overlap", [-1, 64, 100])
def test_an_overlap_that_leaves_no_step_is_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match="smaller than the tile"):
        spans(100, 64, overlap)
