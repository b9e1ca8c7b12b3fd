# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs and their changes in words: for lists, for the model's next turn, for comparing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .change import Change
from .graph import Graph, Vertex
from .value import Asked, Layer, Output, Template, Value

_LONG = 80


def name(vertex: Vertex) -> str:
    """Return what a step is called: its title, else its tool with its id."""
    return vertex.title or (f"{vertex.tool} ({vertex.id})" if vertex.tool else vertex.id)


def value_text(value: Value) -> str:
    """Return a parameter's value as a reader would write it."""
    if isinstance(value, Layer):
        return value.name
    if isinstance(value, Output):
        return value.text
    if isinstance(value, Asked):
        return f"{{{value.variable}}}"
    if isinstance(value, Template):
        return value.text
    if isinstance(value, str):
        return value
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(_plain(value), ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def titled(*graphs: Graph) -> Callable[[Value], str]:
    """Return a way to write values in which steps are called by their names, not their ids; of
    two graphs with the same step the first one gives its name."""
    names = {one.id: name(one) for graph in reversed(graphs) for one in graph.vertices}

    def text(value: Value) -> str:
        if isinstance(value, Output) and value.vertex in names:
            return f"{names[value.vertex]}: {value.key}" if value.key else names[value.vertex]
        return value_text(value)

    return text


def words(old: Graph, change: Change, text: Callable[[Value], str] = value_text) -> tuple[str, ...]:
    """Return what a change does to a graph, one line for each thing; `text` writes values."""
    lines: list[str] = []
    for key in change.removed:
        one = old.vertex(key) if old.has(key) else Vertex(key)
        lines.append(f"Removed: {name(one)}")
    for one in change.inserted:
        lines.append(f"New step: {name(one)}{_place(old, change, one)}")
    for one in change.edited:
        if old.has(one.id):
            lines += [
                f"{name(one)}: {line}" for line in _differences(old.vertex(one.id), one, text)
            ]
    if change.answer is not None:
        lines.append("The answer is told otherwise")
    if change.variables is not None:
        before, after = (
            {one.name: one for one in old.variables},
            {one.name: one for one in change.variables},
        )
        lines += [f"New variable: {key}" for key in after if key not in before]
        lines += [f"Variable removed: {key}" for key in before if key not in after]
        lines += [
            f"Variable changed: {key}"
            for key in after
            if key in before and after[key] != before[key]
        ]
    return tuple(lines)


def _place(old: Graph, change: Change, vertex: Vertex) -> str:
    """Return " after Clip" for the first step that a new one uses."""
    known = {one.id: one for one in (*old.vertices, *change.edited, *change.inserted)}
    parents = [one.vertex for one in vertex.outputs() if one.vertex in known] + [
        one for one in vertex.after if one in known
    ]
    return f" after {name(known[parents[0]])}" if parents else ""


def _differences(before: Vertex, after: Vertex, text: Callable[[Value], str]) -> Iterator[str]:
    for key in ("agent", "tool", "objective"):
        one, other = getattr(before, key), getattr(after, key)
        if one != other:
            yield f"{key} {_short(one)} → {_short(other)}"
    if before.kind is not after.kind:
        yield f"kind {before.kind.value} → {after.kind.value}"
    if before.bypassed is not after.bypassed:
        yield "passed over" if after.bypassed else "no longer passed over"
    old, new = dict(before.parameters or {}), dict(after.parameters or {})
    for key in (*old, *(key for key in new if key not in old)):
        if key not in new:
            yield f"{key} is no longer given"
        elif key not in old:
            yield f"{key} = {_short(text(new[key]))}"
        elif old[key] != new[key]:
            yield f"{key} {_short(text(old[key]))} → {_short(text(new[key]))}"
    if set(before.after) != set(after.after):
        waited = ", ".join(text(Output(key)) for key in after.after)
        yield f"waits for {waited or 'nothing more'}"


def _short(text: str) -> str:
    said = text or "nothing"
    return said if len(said) <= _LONG else said[: _LONG - 1] + "…"


def _plain(value: Value) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value_text(value) if isinstance(value, (Layer, Output, Asked, Template)) else value
