# SPDX-License-Identifier: GPL-2.0-or-later
"""The shape of a graph: faults that no run can pass, order, depth and reach."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .graph import Graph


class Fault(str, Enum):
    """What can be wrong with the shape of a graph."""

    CYCLE = "cycle"
    DUPLICATE = "duplicate"
    SELF = "self"
    UNKNOWN = "unknown"
    ONE_SIDED = "one-sided"


@dataclass(frozen=True)
class TopologyFault:
    """One fault, the vertices that it lies in, and a sentence."""

    fault: Fault
    vertices: tuple[str, ...]
    message: str


class TopologyError(Exception):
    """A graph whose shape cannot be run; `faults` is never empty."""

    def __init__(self, faults: Iterable[TopologyFault]) -> None:
        self.faults = tuple(faults)
        super().__init__(" ".join(one.message for one in self.faults))


def faults(graph: Graph) -> tuple[TopologyFault, ...]:
    """Return what is wrong with the shape: duplicates, self and unknown links, cycles."""
    found: list[TopologyFault] = []
    ids = graph.ids()
    for twice in dict.fromkeys(one for one in ids if ids.count(one) > 1):
        found.append(TopologyFault(Fault.DUPLICATE, (twice,), f"Two steps are called {twice}."))
    for parent, child in dict.fromkeys(graph.edges()):
        if parent == child:
            found.append(TopologyFault(Fault.SELF, (child,), f"{child} waits for itself."))
        elif parent not in ids:
            found.append(
                TopologyFault(
                    Fault.UNKNOWN, (child,), f"{child} uses {parent}, and no step is called so."
                )
            )
    if not any(one.fault is Fault.DUPLICATE for one in found):
        ring = _cycle(graph)
        if ring:
            path = " → ".join((*ring, ring[0]))
            found.append(
                TopologyFault(Fault.CYCLE, ring, f"The steps wait for each other: {path}.")
            )
    return tuple(found)


def order(graph: Graph) -> tuple[str, ...]:
    """Return the ids so that parents come first, equal ones as they stand (Kahn).

    Raises TopologyError for a graph that has none.
    """
    wrong = faults(graph)
    if wrong:
        raise TopologyError(wrong)
    return _sorted(graph)


def depths(graph: Graph) -> dict[str, int]:
    """Return the longest way to each vertex from one without parents, by id, from 0.

    Raises TopologyError.
    """
    found: dict[str, int] = {}
    for identity in order(graph):
        above = (found[parent] for parent in graph.parents(graph.vertex(identity)))
        found[identity] = max(above, default=-1) + 1
    return found


def ancestors(graph: Graph, identity: str) -> frozenset[str]:
    """Return the ids of all vertices that must be done before this one."""
    above = {one.id: graph.parents(one) for one in graph.vertices}
    return _reached(identity, above)


def descendants(graph: Graph, identity: str) -> frozenset[str]:
    """Return the ids of all vertices that wait for this one."""
    below: dict[str, list[str]] = {}
    for parent, child in graph.edges():
        below.setdefault(parent, []).append(child)
    return _reached(identity, {key: tuple(value) for key, value in below.items()})


def _reached(start: str, links: dict[str, tuple[str, ...]]) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(links.get(start, ()))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(links.get(one, ()))
    return frozenset(found)


def _sorted(graph: Graph) -> tuple[str, ...]:
    """Return the ids that can be brought into order; those in and after a cycle are missing.

    A link of a vertex to itself is left out.
    """
    known = set(graph.ids())
    open_links = {
        one.id: {parent for parent in graph.parents(one) if parent in known and parent != one.id}
        for one in graph.vertices
    }
    below: dict[str, list[str]] = {}
    for child, parents in open_links.items():
        for parent in parents:
            below.setdefault(parent, []).append(child)
    places = {identity: place for place, identity in enumerate(open_links)}
    ready = deque(identity for identity, parents in open_links.items() if not parents)
    found: list[str] = []
    while ready:
        one = ready.popleft()
        found.append(one)
        for child in sorted(below.get(one, ()), key=places.__getitem__):
            open_links[child].discard(one)
            if not open_links[child]:
                ready.append(child)
    return tuple(found)


def _cycle(graph: Graph) -> tuple[str, ...]:
    """Return the vertices of one cycle in their order, () where there is none."""
    sortable = set(_sorted(graph))
    rest = {one.id: one for one in graph.vertices if one.id not in sortable}
    if not rest:
        return ()
    path: list[str] = []
    one = next(iter(rest))
    while one not in path:
        path.append(one)
        one = next(key for key in graph.parents(rest[one]) if key in rest and key != one)
    ring = path[path.index(one) :][::-1]
    start = min(range(len(ring)), key=lambda at: list(rest).index(ring[at]))
    return (*ring[start:], *ring[:start])
