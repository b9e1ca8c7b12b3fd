# SPDX-License-Identifier: GPL-2.0-or-later
"""Layouts: nothing overlaps, links go to the right, long ones have lanes of their own."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_olm.plugin.workflow.layout import COLUMN, GAP, layout


def test_a_chain_stands_in_one_row_and_a_branch_beside_it() -> None:
    found = layout({"a": 8, "b": 8, "c": 10, "d": 8}, [("a", "b"), ("a", "c"), ("b", "d")])
    x = {one: place[0] for one, place in found.places.items()}
    assert x == {"a": 0, "b": COLUMN, "c": COLUMN, "d": 2 * COLUMN}
    middle = {one: found.places[one][1] + size / 2 for one, size in zip("abcd", (8, 8, 10, 8))}
    assert middle["b"] < middle["c"]
    assert middle["d"] == pytest.approx(middle["b"], abs=1.5)


def test_what_has_no_parent_stands_just_before_its_child() -> None:
    found = layout(dict.fromkeys("abcd", 8.0), [("a", "b"), ("b", "c"), ("d", "c")])
    assert found.places["d"][0] == COLUMN


def test_a_long_link_runs_through_a_lane_that_no_node_covers() -> None:
    heights = dict.fromkeys("abcd", 8.0)
    found = layout(heights, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    lane = found.lanes["a", "d"]
    assert [x for x, _ in lane] == [COLUMN, 2 * COLUMN]
    for (x, y), node in zip(lane, "bc"):
        left, top = found.places[node]
        assert left == x
        assert not top <= y <= top + 8


def test_a_ring_can_be_drawn() -> None:
    found = layout({"a": 8, "b": 8}, [("a", "b"), ("b", "a"), ("a", "a"), ("a", "gone")])
    assert set(found.places) == {"a", "b"}


graphs = st.integers(1, 14).flatmap(
    lambda size: st.tuples(
        st.lists(st.floats(3, 14), min_size=size, max_size=size),
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=24),
    )
)


@given(graphs)
@settings(max_examples=60, deadline=None)
def test_no_node_covers_another_and_the_same_graph_is_drawn_the_same(
    drawn: tuple[list[float], list[tuple[int, int]]],
) -> None:
    sizes, pairs = drawn
    heights = {f"v{at}": size for at, size in enumerate(sizes)}
    links = [(f"v{min(a, b)}", f"v{max(a, b)}") for a, b in pairs if a != b]
    found = layout(heights, links)
    assert layout(heights, links) == found
    for a, b in links:
        assert found.places[a][0] < found.places[b][0]
    for one, (x, y) in found.places.items():
        for other, (left, top) in found.places.items():
            if one < other and x == left:
                low, high = sorted(((y, one), (top, other)))
                assert high[0] - low[0] >= heights[low[1]] + GAP - 1e-3
    assert min(y for _, y in found.places.values()) >= -1e-6


def test_five_hundred_steps_are_placed_in_a_moment() -> None:
    heights = {f"v{at}": 9.0 for at in range(500)}
    links = [(f"v{at // 2}", f"v{at}") for at in range(1, 500)]
    links += [(f"v{at}", f"v{at + 40}") for at in range(0, 400, 7)]
    began = time.monotonic()
    found = layout(heights, links)
    assert len(found.places) == 500
    assert time.monotonic() - began < 5  # a stall would take minutes; the benchmark measures
