# SPDX-License-Identifier: GPL-2.0-or-later
"""Places for the steps of a graph, in em: columns from left to right, few crossings, and lanes
through which long links run between the steps (Sugiyama's layered drawing)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

COLUMN, GAP, LANE = 19.5, 2.0, 1.2
"""The distance of columns, the least distance of rows, and the height that a lane takes, in em."""
_SWEEPS = 6

Link = tuple[str, str]
Place = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """The left upper corner of each node, in em, and the points that a long link runs through, from
    left to right, by (parent, child)."""

    places: Mapping[str, Place]
    lanes: Mapping[Link, tuple[Place, ...]] = field(default_factory=dict)


def layout(heights: Mapping[str, float], links: Sequence[Link]) -> Layout:
    """Return a layout of nodes with these heights in em; the same input gives the same layout.

    Links that would close a ring are left out of the ranking, so that any graph can be drawn.
    """
    known = [(a, b) for a, b in dict.fromkeys(links) if a in heights and b in heights and a != b]
    ranks = _ranks(list(heights), known)
    columns, chains = _columns(heights, known, ranks)
    sizes = {**heights, **{one: LANE for chain in chains.values() for one in chain}}
    near = _neighbours(known, ranks, chains)
    _sort(columns, near)
    middles = _middles(columns, near, sizes)
    places = {
        one: (ranks[one] * COLUMN, round(middles[one] - heights[one] / 2, 3)) for one in heights
    }
    lanes = {
        link: tuple(
            (round((ranks[link[0]] + step) * COLUMN, 3), round(middles[one], 3))
            for step, one in enumerate(chain, 1)
        )
        for link, chain in chains.items()
        if chain
    }
    return Layout(places, lanes)


def _ranks(nodes: list[str], links: list[Link]) -> dict[str, int]:
    """Return the column of each node: the longest way to it; what has no parent stands just
    before its first child."""
    parents, children = defaultdict(list), defaultdict(list)
    for a, b in links:
        parents[b].append(a)
        children[a].append(b)
    waits = {one: len(parents[one]) for one in nodes}
    ranks: dict[str, int] = {}
    left = list(nodes)
    while left:
        ready = [one for one in left if waits[one] == 0] or left[:1]  # a ring is cut
        for one in ready:
            ranks[one] = max((ranks[a] + 1 for a in parents[one] if a in ranks), default=0)
            for b in children[one]:
                waits[b] -= 1
        done = set(ready)
        left = [one for one in left if one not in done]
    for one in nodes:
        after = [ranks[b] for b in children[one] if ranks[b] > ranks[one]]
        if not parents[one] and after:
            ranks[one] = min(after) - 1
    return ranks


def _columns(
    heights: Mapping[str, float], links: list[Link], ranks: Mapping[str, int]
) -> tuple[list[list[str]], dict[Link, tuple[str, ...]]]:
    """Return the nodes and lanes of each column, and the lanes of each long link."""
    columns: list[list[str]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    for one in heights:
        columns[ranks[one]].append(one)
    chains: dict[Link, tuple[str, ...]] = {}
    for a, b in links:
        chain = tuple(f"{a}\0{b}\0{rank}" for rank in range(ranks[a] + 1, ranks[b]))
        chains[a, b] = chain
        for rank, one in enumerate(chain, ranks[a] + 1):
            columns[rank].append(one)
    return columns, chains


def _neighbours(
    links: list[Link], ranks: Mapping[str, int], chains: Mapping[Link, tuple[str, ...]]
) -> dict[str, tuple[list[str], list[str]]]:
    """Return what stands left and right of each node or lane and is linked to it."""
    near: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for a, b in links:
        if ranks[b] <= ranks[a]:
            continue
        way = (a, *chains[a, b], b)
        for one, other in zip(way, way[1:]):
            near[one][1].append(other)
            near[other][0].append(one)
    return near


def _sort(columns: list[list[str]], near: Mapping[str, tuple[list[str], list[str]]]) -> None:
    """Order each column by the mean place of what it is linked to, to and fro."""
    for sweep in range(_SWEEPS):
        to_right = sweep % 2 == 0
        for column in columns if to_right else reversed(columns):
            place = {one: at for other in columns for at, one in enumerate(other)}
            sides = {one: near[one][0 if to_right else 1] if one in near else [] for one in column}
            keys = {
                one: sum(place[x] for x in sides[one]) / len(sides[one])
                if sides[one]
                else float(place[one])
                for one in column
            }
            column.sort(key=lambda one: (keys[one], place[one]))


def _middles(
    columns: list[list[str]],
    near: Mapping[str, tuple[list[str], list[str]]],
    sizes: Mapping[str, float],
) -> dict[str, float]:
    """Return the height of each node's middle: near what it is linked to, none over another."""
    middles: dict[str, float] = {}
    for column in columns:
        top = 0.0
        for one in column:
            middles[one] = top + sizes[one] / 2
            top += sizes[one] + GAP
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            _settle(column, near, sizes, middles)
    least = min((middles[one] - sizes[one] / 2 for one in middles), default=0.0)
    return {one: value - least for one, value in middles.items()}


def _settle(
    column: list[str],
    near: Mapping[str, tuple[list[str], list[str]]],
    sizes: Mapping[str, float],
    middles: dict[str, float],
) -> None:
    wanted = []
    for one in column:
        linked = [middles[x] for side in near[one] for x in side] if one in near else []
        wanted.append(sum(linked) / len(linked) if linked else middles[one])
    placed: list[float] = []
    for at, one in enumerate(column):
        least = -float("inf")
        if at:
            before = column[at - 1]
            least = placed[-1] + sizes[before] / 2 + GAP + sizes[one] / 2
        placed.append(max(wanted[at], least))
    drift = sum(a - b for a, b in zip(placed, wanted)) / max(len(column), 1)
    for one, value in zip(column, placed):
        middles[one] = value - drift
