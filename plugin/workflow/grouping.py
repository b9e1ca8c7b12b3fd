# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups and notes of a workflow as functions of graphs; a step is in one group at most."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from .graph import Graph, Group, Note

Area = tuple[float, float, float, float]


def group_of(graph: Graph, key: str) -> int:
    """Return the place of the group that a step is in, -1 for none."""
    return next((at for at, one in enumerate(graph.groups) if key in one.vertices), -1)


def grouped(graph: Graph, keys: Collection[str], title: str) -> Graph:
    """Return a graph in which some steps are a new group; they leave the groups that they were
    in, and a group that is left empty goes."""
    members = tuple(one for one in graph.ids() if one in keys)
    found = ungrouped(graph, members)
    return replace(found, groups=(*found.groups, Group(title, members)))


def ungrouped(graph: Graph, keys: Collection[str]) -> Graph:
    """Return a graph in which some steps are in no group."""
    groups = (
        replace(one, vertices=tuple(key for key in one.vertices if key not in keys))
        for one in graph.groups
    )
    return replace(graph, groups=tuple(one for one in groups if one.vertices))


def joined(graph: Graph, keys: Collection[str], at: int) -> Graph:
    """Return a graph in which some steps are in the group at a place."""
    members = {*graph.groups[at].vertices, *keys}
    groups = (
        replace(
            one,
            vertices=tuple(key for key in graph.ids() if key in members)
            if place == at
            else tuple(key for key in one.vertices if key not in keys),
        )
        for place, one in enumerate(graph.groups)
    )
    return replace(graph, groups=tuple(one for one in groups if one.vertices))


def with_group(graph: Graph, at: int, **changes: Any) -> Graph:
    """Return a graph with a group changed: its title, color, or whether it is collapsed."""
    groups = list(graph.groups)
    groups[at] = replace(groups[at], **changes)
    return replace(graph, groups=tuple(groups))


def noted(graph: Graph, note: Note) -> Graph:
    """Return a graph with one more note."""
    return replace(graph, notes=(*graph.notes, note))


def with_note(graph: Graph, at: int, **changes: Any) -> Graph:
    """Return a graph with a note changed: its text, area or color."""
    notes = list(graph.notes)
    notes[at] = replace(notes[at], **changes)
    return replace(graph, notes=tuple(notes))


def without_notes(graph: Graph, places: Collection[int]) -> Graph:
    """Return a graph without some notes."""
    kept = tuple(one for at, one in enumerate(graph.notes) if at not in places)
    return replace(graph, notes=kept)


def pasted_groups(groups: Iterable[Group], names: dict[str, str]) -> tuple[Group, ...]:
    """Return groups over the steps that copies are called; a group that was not copied whole is
    left out."""
    return tuple(
        replace(one, vertices=tuple(names[key] for key in one.vertices))
        for one in groups
        if one.vertices and all(key in names for key in one.vertices)
    )


def shifted(note: Note, by: float) -> Note:
    """Return a note that stands lower and more to the right, in em."""
    x, y, width, height = note.area
    return replace(note, area=(x + by, y + by, width, height))
