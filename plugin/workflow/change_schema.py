# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON schema of the operations that may change a graph, held to its steps, tools, layers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from .graph import Graph, Kind
from .plan_change import CONDITIONS, OPERATIONS
from .plan_schema import Ground, Offer, Schema, calls, enumeration, record, references

MOST = 4
"""Operations in one reply."""


def said(
    graph: Graph,
    offer: Offer,
    ground: Ground,
    only: Iterable[str] = (),
    kinds: Collection[str] = OPERATIONS,
) -> dict[str, Schema]:
    """Return the schema of `changes` by its name. `only` are the steps that may be edited
    or removed (all where none is named), `kinds` the operations allowed.

    Raises ValueError where no tool fits the layers.
    """
    steps = tuple(only) or graph.ids()
    branches: list[Schema] = []
    for key in steps:
        edits = _edits(graph, key, offer, ground)
        branches += edits if "edit" in kinds else []
        branches += _narrowings(key, edits) if "narrow" in kinds else []
    named = [kind for kind in ("replace", "insert", "add") if kind in kinds]
    if named:
        before = {"change": enumeration(named), "step": enumeration(graph.ids())}
        branches += _tools(offer, ground, before)
    if "remove" in kinds:
        branches.append(record({"change": _one("remove"), "step": enumeration(steps)}))
    if "answer" in kinds:
        value = enumeration(references(offer))
        branches.append(record({"change": _one("answer"), "value": value}))
    return {
        "changes": {
            "type": "array",
            "items": {"anyOf": branches},
            "minItems": 1,
            "maxItems": MOST,
        }
    }


def _edits(graph: Graph, key: str, offer: Offer, ground: Ground) -> list[Schema]:
    """Return the forms of an edit: any of the arguments of the step's own tool."""
    vertex = graph.vertex(key)
    known = next((one for one in offer.all if one.name == vertex.tool), None)
    if vertex.kind is not Kind.TASK or known is None:
        return []
    loose = replace(known, parameters={**known.parameters, "required": []})
    own = replace(offer, tools=(loose,))
    before = {"change": _one("edit"), "step": enumeration([key])}
    return [_without(one, "tool") for one in _tools(own, ground, before)]


def _narrowings(key: str, edits: Iterable[Schema]) -> list[Schema]:
    """Return the forms of conditions that are added to a step, from those of its edits."""
    found: list[Schema] = []
    before = {"change": _one("narrow"), "step": enumeration([key])}
    for one in edits:
        arguments = one["properties"]["arguments"]
        for option in arguments.get("anyOf", [arguments]):
            conditions = option.get("properties", {}).get(CONDITIONS)
            form = record({**before, CONDITIONS: conditions})
            if conditions is not None and form not in found:
                found.append(form)
    return found


def _tools(offer: Offer, ground: Ground, before: dict[str, Schema]) -> list[Schema]:
    return [_without(one, "agent") for one in calls(offer, ground, before)]


def _without(branch: Schema, name: str) -> Schema:
    properties = {key: one for key, one in branch["properties"].items() if key != name}
    return record(properties)


def _one(name: str) -> dict[str, Any]:
    return enumeration([name])
