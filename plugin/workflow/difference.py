# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts in which two versions of a workflow differ, and taking some of them back."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from .change import Change, between
from .graph import Answer, Graph, Variable, Vertex
from .value import Output
from .variable_edit import ANSWER, uses
from .wording import name, titled, words


class PartKind(Enum):
    """What happened from the earlier version to the later one."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    VARIABLE = "variable"
    ANSWER = "answer"


@dataclass(frozen=True)
class Part:
    """One part of a difference: of the step or variable `key`, told in `lines`."""

    kind: PartKind
    key: str = ""
    title: str = ""
    lines: tuple[str, ...] = ()


def parts(before: Graph, after: Graph) -> tuple[Part, ...]:
    """Return the parts in which `after` differs from `before`, steps in their order first."""
    change = between(before, after)
    wholes = [
        *((PartKind.ADDED, one, Change(inserted=(one,))) for one in change.inserted),
        *((PartKind.CHANGED, one, Change(edited=(one,))) for one in change.edited),
        *((PartKind.REMOVED, before.vertex(key), Change(removed=(key,)))
          for key in change.removed),
    ]  # fmt: skip
    text = titled(after, before)
    named = replace(before, vertices=(*after.vertices, *before.vertices))  # to place new steps
    found = [
        Part(kind, one.id, name(one),
             words(named if kind is PartKind.ADDED else before, part, text))
        for kind, one, part in wholes
    ]  # fmt: skip
    for key in _variables(before, after):
        old, new = before.variable(key), after.variable(key)
        said = "New variable" if old is None else "Variable removed" if new is None else (
            "Variable changed")  # fmt: skip
        values = f"{_value(old)} → {_value(new)}" if old and new else _value(old or new)
        found.append(Part(PartKind.VARIABLE, key, key, (f"{said}: {key} ({values})",)))
    if change.answer is not None:
        found.append(Part(PartKind.ANSWER, "", "", words(before, Change(answer=after.answer))))
    return tuple(found)


def needed(before: Graph, after: Graph, wanted: Collection[Part]) -> tuple[Part, ...]:
    """Return the parts that must be taken back together with some, those included: a step that
    comes back needs what it takes, and none may take what goes."""
    listed = parts(before, after)
    chosen = {(one.kind, one.key) for one in wanted}
    while True:
        more = {key for one in listed if (one.kind, one.key) in chosen
                for key in _with(before, after, one)} - chosen  # fmt: skip
        more &= {(one.kind, one.key) for one in listed}
        if not more:
            return tuple(one for one in listed if (one.kind, one.key) in chosen)
        chosen |= more


def taken_back(before: Graph, after: Graph, wanted: Collection[Part]) -> Graph:
    """Return the later version with some parts, and those that go with them, as they were."""
    found = after
    for part in needed(before, after, wanted):
        if part.kind is PartKind.ADDED:
            found = found.without((part.key,))
        elif part.kind in (PartKind.REMOVED, PartKind.CHANGED):
            found = found.with_vertex(before.vertex(part.key))
        elif part.kind is PartKind.VARIABLE:
            found = replace(found, variables=_with_variable(found, before.variable(part.key), part))
        else:
            found = replace(found, answer=before.answer)
    order = {key: at for at, key in enumerate(before.ids())}
    back = [one for one in found.vertices if one.id in order and not after.has(one.id)]
    if back:
        found = replace(found, vertices=_ordered(found, order))
    return found


def _variables(before: Graph, after: Graph) -> list[str]:
    names = dict.fromkeys(one.name for one in (*before.variables, *after.variables))
    return [one for one in names if before.variable(one) != after.variable(one)]


def _value(variable: Variable | None) -> str:
    if variable is None or variable.default is None:
        return "no value"
    return f"{variable.default} {variable.unit}".strip()


def _with(before: Graph, after: Graph, part: Part) -> Iterator[tuple[PartKind, str]]:
    """Yield what directly goes with a part; what is no part of the difference does not count."""
    if part.kind is PartKind.ADDED:
        for one in after.children(part.key):
            yield (PartKind.CHANGED, one)
            yield (PartKind.ADDED, one)
        if _tells(after.answer, part.key):
            yield (PartKind.ANSWER, "")
    elif part.kind in (PartKind.REMOVED, PartKind.CHANGED):
        vertex = before.vertex(part.key)
        for key in before.parents(vertex):
            yield (PartKind.REMOVED, key)
        for one in _variables(before, after):
            if after.variable(one) is None and any(x.step == vertex.id for x in uses(before, one)):
                yield (PartKind.VARIABLE, one)
    elif part.kind is PartKind.VARIABLE and before.variable(part.key) is None:
        for use in uses(after, part.key):
            if use.step == ANSWER:
                yield (PartKind.ANSWER, "")
            else:
                yield (PartKind.CHANGED, use.step)
                yield (PartKind.ADDED, use.step)
    elif part.kind is PartKind.ANSWER:
        for key in before.ids():
            if _tells(before.answer, key):
                yield (PartKind.REMOVED, key)


def _tells(answer: Answer, key: str) -> bool:
    """Tell whether an answer names a step."""
    in_value = isinstance(answer.value, Output) and answer.value.vertex == key
    return in_value or f"{{{key}}}" in answer.text or f"{{{key}." in answer.text


def _with_variable(graph: Graph, old: Variable | None, part: Part) -> tuple[Variable, ...]:
    if old is None:
        return tuple(one for one in graph.variables if one.name != part.key)
    if graph.variable(part.key) is None:
        return (*graph.variables, old)
    return tuple(old if one.name == part.key else one for one in graph.variables)


def _ordered(graph: Graph, order: dict[str, int]) -> tuple[Vertex, ...]:
    """Return the steps with those that came back where they stood, as far as that is known."""
    place = {one.id: at for at, one in enumerate(graph.vertices)}
    return tuple(
        sorted(graph.vertices, key=lambda one: order.get(one.id, len(order) + place[one.id]))
    )
