# SPDX-License-Identifier: GPL-2.0-or-later
"""A change of a graph as data: what a mend, a refinement, a user or a model does to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .graph import Answer, Graph, Status, Variable, Vertex
from .topology import descendants


@dataclass(frozen=True)
class Change:
    """Vertices edited (by their ids), inserted (in order) and removed; an answer or variables
    other than None take the place of the old ones. `reason` is one sentence."""

    edited: tuple[Vertex, ...] = ()
    inserted: tuple[Vertex, ...] = ()
    removed: tuple[str, ...] = ()
    answer: Answer | None = None
    variables: tuple[Variable, ...] | None = None
    reason: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not (self.edited or self.inserted or self.removed) and (
            self.answer is None and self.variables is None
        )


class ChangeError(Exception):
    """A change that does not fit its graph: an unknown vertex edited, a known one inserted."""


def between(old: Graph, new: Graph) -> Change:
    """Return what makes `new` of `old`; status, history and place on the canvas do not count."""
    known = {one.id: one for one in old.vertices}
    kept = {one.id: one for one in new.vertices}
    return Change(
        edited=tuple(
            one
            for one in new.vertices
            if one.id in known and meaning(one) != meaning(known[one.id])
        ),
        inserted=tuple(one for one in new.vertices if one.id not in known),
        removed=tuple(key for key in known if key not in kept),
        answer=None if new.answer == old.answer else new.answer,
        variables=None if new.variables == old.variables else new.variables,
    )


def applied(graph: Graph, change: Change) -> Graph:
    """Return the graph after a change; what it touches, and what waits for that, is pending again.

    Finished vertices that it does not reach keep their status (Flow's merge). Raises ChangeError.
    """
    for one in change.edited:
        if not graph.has(one.id):
            raise ChangeError(f"There is no step {one.id} to edit.")
    for key in change.removed:
        if not graph.has(key):
            raise ChangeError(f"There is no step {key} to remove.")
    found = graph.without(change.removed)
    for one in change.inserted:
        if found.has(one.id):
            raise ChangeError(f"A step {one.id} is there already.")
        found = found.with_vertex(one)
    for one in change.edited:
        if found.has(one.id):
            found = found.with_vertex(one)
    found = replace(
        found,
        answer=found.answer if change.answer is None else change.answer,
        variables=found.variables if change.variables is None else change.variables,
    )
    touched = {one.id for one in (*change.edited, *change.inserted)}
    return reset(found, touched)


def reset(graph: Graph, identities: Iterable[str]) -> Graph:
    """Return the graph with some vertices, and all that wait for them, pending again."""
    stale = set(identities)
    for key in tuple(stale):
        stale |= descendants(graph, key)
    fresh = tuple(
        replace(one, status=Status.PENDING, history="") if one.id in stale else one
        for one in graph.vertices
    )
    return replace(graph, vertices=fresh)


def meaning(vertex: Vertex) -> Vertex:
    """Return a vertex without what does not change its work."""
    return replace(vertex, status=Status.PENDING, history="", position=None, comment="", title="")
