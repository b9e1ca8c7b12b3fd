# SPDX-License-Identifier: GPL-2.0-or-later
"""Which steps may run now: a state machine over a graph that knows nothing of threads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from .graph import Graph, Status, Vertex
from .topology import ancestors, descendants, order

_OPEN = (Status.RUNNING, Status.WAITING)


class Schedule:
    """The run of one graph. Branches that do not need each other are ready at the same time."""

    def __init__(self, graph: Graph, target: Collection[str] = ()) -> None:
        """`target` are the steps to reach (all where empty); their ancestors run too.

        Raises TopologyError for a graph without an order, KeyError for an unknown target.
        """
        self._order = order(graph)
        wanted = set(target)
        for key in target:
            graph.vertex(key)
            wanted |= ancestors(graph, key)
        self._wanted = wanted or set(self._order)
        fresh = tuple(
            replace(one, status=Status.PENDING, history="") if one.id in self._wanted else one
            for one in graph.vertices
        )
        self.graph = replace(graph, vertices=fresh)

    @property
    def steps(self) -> tuple[str, ...]:
        """The ids of the steps that this run is about, in their order."""
        return tuple(one for one in self._order if one in self._wanted)

    def ready(self) -> tuple[Vertex, ...]:
        """Return the steps that may start now, in their order."""
        status = self._statuses()
        return tuple(
            vertex
            for vertex in (self.graph.vertex(key) for key in self.steps)
            if vertex.status is Status.PENDING
            and all(status[parent].is_done for parent in self.graph.parents(vertex))
        )

    @property
    def is_over(self) -> bool:
        """Whether nothing runs, waits or can still start."""
        return not self.ready() and not any(
            self.graph.vertex(key).status in _OPEN for key in self.steps
        )

    def start(self, identity: str, waiting: bool = False) -> None:
        """Note that a step runs, or waits for the user."""
        self._put(identity, Status.WAITING if waiting else Status.RUNNING)

    def finish(self, identity: str, text: str = "", kept: bool = False) -> None:
        """Note that a step is done, or that its last result was kept."""
        self._put(identity, Status.CACHED if kept else Status.COMPLETED, text)

    def release(self, identity: str) -> None:
        """Note that a step that ran or waited may start again."""
        self._put(identity, Status.PENDING)

    def fail(self, identity: str, text: str) -> tuple[str, ...]:
        """Note that a step failed; returns the steps that are skipped for it. The rest goes on."""
        self._put(identity, Status.FAILED, text)
        below = descendants(self.graph, identity)
        skipped = [
            key
            for key in self.steps
            if key in below and self.graph.vertex(key).status is Status.PENDING
        ]
        for key in skipped:
            self._put(key, Status.SKIPPED, f"{identity} failed.")
        return tuple(skipped)

    def again(self, graph: Graph) -> None:
        """Take a changed graph: finished steps that the change does not reach stay finished.

        `graph` carries the statuses, as change.applied gives it. Skipped and failed steps of it
        are pending again. Raises TopologyError.
        """
        places = order(graph)
        known = set(self._order)
        self._wanted |= {key for key in places if key not in known}
        self._order = places
        retried = tuple(
            replace(one, status=Status.PENDING, history="")
            if one.status in (Status.SKIPPED, Status.FAILED) and one.id in self._wanted
            else one
            for one in graph.vertices
        )
        self.graph = replace(graph, vertices=retried)
        self._wanted &= set(places)

    def failed(self) -> tuple[Vertex, ...]:
        """Return the steps that failed."""
        return tuple(one for one in self.graph.vertices if one.status is Status.FAILED)

    def _statuses(self) -> dict[str, Status]:
        return {one.id: one.status for one in self.graph.vertices}

    def _put(self, identity: str, status: Status, history: str = "") -> None:
        vertex = self.graph.vertex(identity)
        self.graph = self.graph.with_vertex(replace(vertex, status=status, history=history))
