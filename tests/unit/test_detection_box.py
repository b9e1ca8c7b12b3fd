# SPDX-License-Identifier: GPL-2.0-or-later
"""Boxes of one object are one: within a tile, across tiles, and where no tile holds it whole."""

from __future__ import annotations

from typing import Any

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_olm.tools.detection_box import Boxes, boxes, gathered, objects, placed, suppressed
from geo_olm.tools.tiling import BOTTOM, LEFT, RIGHT, TOP, tiles


def union_share(one: Any, two: Any) -> float:
    """Intersection over union by hand."""
    wide = min(one[2], two[2]) - max(one[0], two[0])
    high = min(one[3], two[3]) - max(one[1], two[1])
    met = max(0.0, wide) * max(0.0, high)
    return met / (sum((b[2] - b[0]) * (b[3] - b[1]) for b in (one, two)) - met)


def plainly_suppressed(found: Boxes) -> list[tuple[float, ...]]:
    """Greedy suppression, each box against each kept one."""
    kept: list[int] = []
    for place in sorted(range(len(found)), key=lambda at: -found.scores[at]):
        if all(
            found.classes[place] != found.classes[other]
            or union_share(found.corners[place], found.corners[other]) <= 0.5
            for other in kept
        ):
            kept.append(place)
    return [tuple(found.corners[place]) for place in kept]


@settings(max_examples=60)
@given(st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(1, 40), st.integers(1, 40),
              st.integers(0, 2)), max_size=25,
))  # fmt: skip
def test_suppression_gives_what_comparing_all_pairs_gives(
    given_boxes: list[tuple[int, int, int, int, int]],
) -> None:
    corners = [[x, y, x + w, y + h] for x, y, w, h, _ in given_boxes]
    scores = [1 - place / 100 for place in range(len(given_boxes))]
    found = boxes(corners, scores, [one[4] for one in given_boxes])
    assert [tuple(one) for one in suppressed(found).corners] == plainly_suppressed(found)


def test_boxes_of_different_classes_stay() -> None:
    found = suppressed(boxes([[0, 0, 10, 10]] * 3, [0.9, 0.8, 0.7], [0, 1, 0]))
    assert (found.classes.tolist(), found.scores.tolist()) == ([0, 1], [0.9, 0.8])


def test_a_box_is_held_to_its_tile_and_told_where_it_may_be_cut() -> None:
    left, right = tiles(100, 64, (64, 64), (28, 28))
    found = placed(
        boxes([[50, 10, 70, 20], [0, 0, 5, 5], [80, 1, 90, 2]], [1, 1, 1], [0] * 3), left
    )
    assert found.corners.tolist() == [[50, 10, 64, 20], [0, 0, 5, 5]]
    assert found.cut.tolist() == [RIGHT, 0]
    found = placed(boxes([[0, 10, 20, 20]], [1], [0]), right)
    assert (found.corners.tolist(), found.cut.tolist()) == ([[36, 10, 56, 20]], [LEFT])


def test_the_piece_of_an_object_that_another_tile_holds_whole_goes() -> None:
    whole = boxes([[60, 10, 80, 20]], [0.8], [0])
    piece = Boxes(numpy.array([[60.0, 10, 64, 20]]), numpy.array([0.9]), numpy.array([0]),
                  numpy.array([RIGHT]))  # fmt: skip
    assert objects(gathered([piece, whole])).corners.tolist() == [[60, 10, 80, 20]]


def test_an_object_larger_than_every_tile_is_joined_from_its_pieces() -> None:
    found, wide = [], numpy.array([[10.0, 20, 290, 170]])
    for tile in tiles(300, 200, (64, 64), (16, 16)):
        left, top, columns, rows = tile.window
        here = wide - [left, top, left, top]
        inside = here[0, 2] > 0 and here[0, 3] > 0 and here[0, 0] < columns and here[0, 1] < rows
        if inside:
            found.append(placed(boxes(here, [0.7], [0]), tile))
    assert len(found) > 10
    assert objects(gathered(found)).corners.tolist() == wide.tolist()


def test_pieces_that_do_not_face_each_other_stay_apart() -> None:
    pieces = Boxes(
        numpy.array([[50.0, 10, 64, 20], [60, 40, 75, 50], [55, 12, 70, 60]]),
        numpy.array([0.9, 0.8, 0.7]), numpy.array([0, 0, 0]), numpy.array([RIGHT, LEFT, BOTTOM]),
    )  # fmt: skip
    assert len(objects(pieces)) == 3
    assert TOP == 2


def test_no_boxes_give_none() -> None:
    assert len(objects(gathered([]))) == 0
