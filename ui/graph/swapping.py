# SPDX-License-Identifier: GPL-2.0-or-later
"""Another tool for a step: which parameters it takes over, and which are lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...plugin.workflow.fitting import fits, kinds_of
from ...plugin.workflow.graph import Graph, Vertex
from ...plugin.workflow.shelf import ALGORITHM, PARAMETERS, RUN_ALGORITHM
from ...plugin.workflow.value import Value
from ...tools.base import Family, ToolDefinition
from .editing import takes_layer, takes_many
from .field import holds_reference, is_bound

FamilyOf = Callable[[Value], Family]
Schemas = Mapping[str, Mapping[str, Any]]
_ALIKE = (
    frozenset(("distance", "radius", "maxdistance", "size", "cellsize")),
    frozenset(("crs", "targetcrs")),
    frozenset(("by", "field", "fields", "rows")),
    frozenset(("where", "expression")),
    frozenset(("dissolve", "dissolveresult")),
)
"""Parameters that mean much the same under other names."""


@dataclass(frozen=True)
class Swap:
    """A step with another tool; `lost` names parameters of the old one that have no place."""

    step: Vertex
    carried: tuple[str, ...]
    lost: tuple[str, ...]

    def applied(self, graph: Graph) -> Graph:
        """Return a graph with the step as it is now."""
        return graph.with_vertex(self.step)


def swap(vertex: Vertex, new: ToolDefinition, agent: str, family_of: FamilyOf) -> Swap:
    """Return a step with another tool of ours."""
    given = _given(vertex)
    found, lost = _carried(given, new.parameters, family_of)
    step = replace(vertex, tool=new.name, agent=agent, parameters=found)
    return Swap(step, tuple(one for one in given if one not in lost), lost)


def swap_algorithm(
    vertex: Vertex, algorithm: str, schema: Mapping[str, Any], agent: str, family_of: FamilyOf
) -> Swap:
    """Return a step that runs an algorithm."""
    given = _given(vertex)
    found, lost = _carried(given, schema, family_of)
    parameters: dict[str, Value] = {ALGORITHM: algorithm, PARAMETERS: found}
    step = replace(vertex, tool=RUN_ALGORITHM, agent=agent, parameters=parameters)
    return Swap(step, tuple(one for one in given if one not in lost), lost)


def _given(vertex: Vertex) -> dict[str, Value]:
    given = dict(vertex.parameters or {})
    inner = given.get(PARAMETERS)
    if vertex.tool == RUN_ALGORITHM and isinstance(inner, Mapping):
        return dict(inner)
    return given


def _carried(
    given: Mapping[str, Value], schema: Mapping[str, Any], family_of: FamilyOf
) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Return what fits by name, then by the meaning of the name, then layers by their kind."""
    known: Schemas = schema.get("properties", {})
    found: dict[str, Value] = {}
    left = dict(given)
    for is_same in (_is_same_name, _is_alike):
        for old in tuple(left):
            for name, one in known.items():
                if name not in found and is_same(old, name) and fits_in(left[old], one, family_of):
                    found[name] = _shaped(left.pop(old), one)
                    break
    for old in tuple(left):
        for name, one in known.items():
            is_layer = takes_layer(one) and _is_source(left[old])
            if name not in found and is_layer and fits_in(left[old], one, family_of):
                found[name] = _shaped(left.pop(old), one)
                break
    return found, tuple(left)


def _bare(name: str) -> str:
    return name.replace("_", "").casefold()


def _is_same_name(old: str, new: str) -> bool:
    return _bare(old) == _bare(new)


def _is_alike(old: str, new: str) -> bool:
    return any(_bare(old) in some and _bare(new) in some for some in _ALIKE)


def _is_source(value: Value) -> bool:
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return holds_reference(first) and not isinstance(first, Mapping)


def fits_in(value: Value, schema: Mapping[str, Any], family_of: FamilyOf) -> bool:
    """Tell whether a parameter of this schema takes a value."""
    if takes_layer(schema):
        many = value if isinstance(value, (list, tuple)) else [value]
        if len(many) != 1 and not takes_many(schema):
            return False
        kinds = kinds_of(schema)
        return all(holds_reference(one) and fits(family_of(one), kinds) for one in many)
    if is_bound(value):
        return schema.get("type") != "object"
    if takes_many(schema):
        return isinstance(value, (list, tuple)) or schema["items"].get("type") == _type(value)
    if "enum" in schema:
        return value in schema["enum"]
    wanted = [one.get("type") for one in schema.get("anyOf", ())] or schema.get("type")
    allowed = wanted if isinstance(wanted, list) else [wanted]
    return _type(value) in allowed or (_type(value) == "integer" and "number" in allowed)


def _shaped(value: Value, schema: Mapping[str, Any]) -> Value:
    """Return a value as a list where one is taken, alone where it is the only one."""
    listed = isinstance(value, (list, tuple))
    if takes_many(schema):
        return list(value) if listed else [value]
    return value[0] if listed and takes_layer(schema) and len(value) == 1 else value


def _type(value: Value) -> str:
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"
