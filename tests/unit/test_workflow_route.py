# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways of links around boxes: lanes that are free, short, and only where they are needed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_olm.plugin.workflow.route import ROOM, Box, Lane, apart, route

START, END = (0.0, 10.0), (60.0, 10.0)


def hits(lanes: tuple[Lane, ...], boxes: list[Box]) -> list[tuple[Lane, Box]]:
    """Return the lanes that run through a box."""
    return [
        (lane, box)
        for lane in lanes
        for box in boxes
        if box[1] < lane[2] < box[3] and min(lane[:2]) < box[2] and box[0] < max(lane[:2])
    ]


def test_a_link_with_nothing_between_is_a_plain_curve() -> None:
    assert route(START, END, []) == ()
    assert route(START, END, [(20.0, 20.0, 35.0, 30.0), (70.0, 5.0, 85.0, 15.0)]) == ()


def test_a_link_goes_over_or_under_a_box_by_the_shorter_way() -> None:
    assert route(START, END, [(20.0, 8.0, 35.0, 30.0)]) == ((20.0, 35.0, 8.0 - ROOM),)
    assert route(START, END, [(20.0, -9.0, 35.0, 12.0)]) == ((20.0, 35.0, 12.0 + ROOM),)


def test_a_link_goes_through_the_gap_between_two_boxes() -> None:
    boxes = [(20.0, -20.0, 35.0, 10.5), (22.0, 14.0, 37.0, 40.0)]
    ((left, right, y),) = route(START, END, boxes)
    assert (left, right) == (20.0, 35.0)
    assert 10.5 < y < 14.0


def test_two_columns_are_passed_one_after_the_other() -> None:
    boxes = [(10.0, 5.0, 20.0, 30.0), (35.0, -30.0, 45.0, 12.0)]
    first, second = route(START, END, boxes)
    assert (first[2], second[2]) == (4.0, 13.0)


def test_a_link_that_runs_back_goes_round() -> None:
    boxes = [(-14.5, 4.0, 0.0, 11.0), (-40.0, 5.0, -25.5, 12.0)]
    ((right, left, y),) = route((0.0, 10.0), (-40.0, 8.0), boxes, forward=False)
    assert (right, left) == (0.0, -40.0)
    assert not 4.0 < y < 12.0


BOX = st.tuples(
    st.integers(5, 50), st.integers(-30, 30), st.integers(2, 15), st.integers(2, 15)
).map(lambda one: (float(one[0]), float(one[1]), float(one[0] + one[2]), float(one[1] + one[3])))


@settings(max_examples=80)
@given(st.lists(BOX, max_size=8), st.integers(-30, 30))
def test_no_lane_ever_runs_through_a_box(boxes: list[Box], y: int) -> None:
    inner = [one for one in boxes if one[0] > 3 and one[2] < 57]
    lanes = route((0.0, float(y)), END, inner)
    assert hits(lanes, inner) == []
    assert list(lanes) == sorted(lanes)


@pytest.mark.parametrize("y", [0.0, 10.0])
def test_a_lane_lies_between_its_ends(y: float) -> None:
    lanes = route((0.0, y), END, [(20.0, -5.0, 30.0, 15.0)])
    assert lanes
    assert all(0.0 <= left < right <= 60.0 for left, right, _ in lanes)


def test_a_box_that_is_far_from_the_way_has_no_say() -> None:
    # a long bar above would else make one band of everything, without room to bend
    boxes = [(20.0, 8.0, 35.0, 30.0), (0.0, -20.0, 70.0, -18.0)]
    assert route(START, END, boxes) == ((20.0, 35.0, 8.0 - ROOM),)


def test_what_the_new_way_hits_is_passed_too() -> None:
    boxes = [(20.0, 8.0, 35.0, 30.0), (20.0, 0.0, 35.0, 7.5)]
    ((_, _, y),) = route(START, END, boxes)
    assert y == 0.0 - ROOM


def test_lanes_of_two_links_run_side_by_side_and_never_into_a_box() -> None:
    lane, box = (0.0, 40.0, 10.0), (10.0, 10.5, 20.0, 15.0)
    assert apart([lane], [], [box]) == (lane,)
    ((_, _, y),) = apart([lane], [(30.0, -10.0, 10.0)], [box])
    assert y == pytest.approx(8.7)
    ((_, _, lower),) = apart([lane], [(30.0, 60.0, 10.0)], [])
    assert lower == pytest.approx(11.3)
    assert apart([lane], [(50.0, 60.0, 10.0)], []) == (lane,)
