# SPDX-License-Identifier: GPL-2.0-or-later
"""Which kinds of layers a parameter takes, and where a step fits between two others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...tools.base import Family, ToolDefinition
from .graph import Graph, Kind, Vertex
from .port import is_bound, value_at, with_value
from .value import Layer, Output, Value, mapped

_MARK = "x-layer"
_WITHIN = {
    Family.VECTOR: {Family.POINT, Family.LINE, Family.POLYGON, Family.VECTOR},
    Family.TABLE: {Family.TABLE, Family.POINT, Family.LINE, Family.POLYGON, Family.VECTOR},
}
PLURAL = {
    Family.POINT: "points",
    Family.LINE: "lines",
    Family.POLYGON: "polygons",
    Family.RASTER: "a raster",
    Family.TABLE: "a table",
    Family.VECTOR: "a layer with features",
    Family.ANY: "a layer",
}
REVIEWED, INNER = "layer", "parameters"
"""The parameter of a review stop, which hands its layer on, and that which holds those of an
algorithm."""


class Unfitting(Exception):
    """A step cannot stand in a link; the message is a sentence for the user."""


def kinds_of(schema: Mapping[str, Any]) -> tuple[Family, ...]:
    """Return the kinds of layers that a parameter takes, () where it takes none."""
    wanted = schema.get(_MARK) or schema.get("items", {}).get(_MARK) or []
    return tuple(Family(one) for one in (wanted if isinstance(wanted, list) else [wanted]))


def fits(family: Family, kinds: Iterable[Family]) -> bool:
    """Tell whether a layer of a kind may be taken where these kinds are; what is not known may."""
    taken = tuple(kinds)
    if Family.ANY in (family, *taken):
        return True
    return any(family is one or family in _WITHIN.get(one, ()) for one in taken)


@dataclass(frozen=True)
class Port:
    """A parameter that takes a layer: which kinds, whether several, whether it needs one."""

    kinds: tuple[Family, ...]
    many: bool = False
    is_required: bool = False


def ports(
    vertex: Vertex, definition: ToolDefinition | None, inner: Mapping[str, Any] | None = None
) -> dict[str, Port]:
    """Return the parameters of a step that take a layer. `inner` is the JSON schema of the
    algorithm that a step runs, whose parameters stand in the object `parameters`."""
    if vertex.kind is Kind.REVIEW:
        return {REVIEWED: Port((Family.ANY,))}
    found = _ports(definition.parameters if definition else {}, "")
    if inner is not None:
        found.update(_ports(inner, f"{INNER}."))
    return found


def _ports(schema: Mapping[str, Any], before: str) -> dict[str, Port]:
    required = schema.get("required", ())
    return {
        f"{before}{key}": Port(kinds_of(one), one.get("type") == "array", key in required)
        for key, one in schema.get("properties", {}).items()
        if kinds_of(one)
    }


@dataclass(frozen=True)
class Gap:
    """A link to be opened: what flows and of which kind, into which step's parameter, and the
    kinds that this takes."""

    source: Layer | Output
    family: Family
    target: str
    port: str
    kinds: tuple[Family, ...]


def entry(gap: Gap, vertex: Vertex, known: Mapping[str, Port], names: tuple[str, str]) -> str:
    """Return the parameter by which a step takes what flows in a link: the first that is free and
    fits, else the first that fits, of those `known`. `names` are those of the step and of what
    flows.

    Raises Unfitting.
    """
    step, flowing = names
    if not known:
        raise Unfitting(f"{step} takes no layer, so it cannot stand in a link.")
    found = port_for(gap.family, vertex, known)
    if not found:
        takes = " or ".join(PLURAL[one] for one in next(iter(known.values())).kinds)
        verb = "is" if isinstance(gap.source, Layer) else "gives"
        raise Unfitting(f"{step} takes {takes}, and {flowing} {verb} {PLURAL[gap.family]}.")
    return found


def port_for(family: Family | None, vertex: Vertex, known: Mapping[str, Port]) -> str:
    """Return the first free parameter of a step that takes a kind of layer, else the first that
    does, "" for none."""
    if family is None:
        return ""
    fitting = [key for key, one in known.items() if fits(family, one.kinds)]
    free = [key for key in fitting if not is_bound(vertex.parameters, key)]
    return next(iter((*free, *fitting)), "")


def leaves(gap: Gap, gives: Family | None, names: tuple[str, str]) -> None:
    """Check that what a step gives can go on to where a link ends. `names` are those of the step
    and of the link's end.

    Raises Unfitting.
    """
    step, end = names
    if gives is None:
        raise Unfitting(f"{step} gives no layer, and {end} needs one.")
    if not fits(gives, gap.kinds):
        takes = " or ".join(PLURAL[one] for one in gap.kinds)
        raise Unfitting(f"{step} gives {PLURAL[gives]}, and {end} takes {takes}.")


def inserted(graph: Graph, gap: Gap, vertex: Vertex, port: str) -> Graph:
    """Return a graph in which a step, new or there already, stands in a link: it takes what flowed
    by `port`, and the link's end takes what it gives."""
    parameters = with_value(vertex.parameters, port, gap.source)
    found = graph.with_vertex(replace(vertex, parameters=parameters))
    target = found.vertex(gap.target)

    def through(value: Value) -> Value:
        return Output(vertex.id) if value == gap.source else value

    taken = mapped(value_at(target.parameters, gap.port), through)
    given = with_value(target.parameters, gap.port, taken)
    return found.with_vertex(replace(target, parameters=given))
