# SPDX-License-Identifier: GPL-2.0-or-later
"""A proposed change taken or refused part by part; what needs each other goes together."""

from __future__ import annotations

from dataclasses import replace

from .change import Change, applied, between
from .difference import Part, PartKind, needed, parts, taken_back
from .graph import Graph

_OTHER = {PartKind.ADDED: PartKind.REMOVED, PartKind.REMOVED: PartKind.ADDED}


def parts_of(graph: Graph, change: Change) -> tuple[Part, ...]:
    """Return the parts of a change. Raises ChangeError where it does not fit the graph."""
    return parts(graph, applied(graph, change))


def goes_with(graph: Graph, change: Change, part: Part) -> tuple[Part, ...]:
    """Return the other parts that are taken together with one."""
    listed, after = parts_of(graph, change), applied(graph, change)
    names = {(one.kind, one.key) for one in needed(after, graph, _turned(graph, after, part))}
    found = (one for one in listed if (_OTHER.get(one.kind, one.kind), one.key) in names)
    return tuple(one for one in found if one != part)


def taken(graph: Graph, change: Change, part: Part) -> tuple[Graph, Change]:
    """Return the graph with one part made, and what is proposed still."""
    after = applied(graph, change)
    found = taken_back(after, graph, _turned(graph, after, part))
    return found, replace(between(found, after), reason=change.reason)


def refused(graph: Graph, change: Change, part: Part) -> Change:
    """Return what is proposed still without one part."""
    after = applied(graph, change)
    left = taken_back(graph, after, (part,))
    return replace(between(graph, left), reason=change.reason)


def _turned(graph: Graph, after: Graph, part: Part) -> tuple[Part, ...]:
    """Return a part as it is called in the way from the proposal back."""
    kind = _OTHER.get(part.kind, part.kind)
    return tuple(one for one in parts(after, graph) if (one.kind, one.key) == (kind, part.key))
