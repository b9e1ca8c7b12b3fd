# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of steps that run an algorithm of the registry, against what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...tools.base import Family, ToolDefinition
from .change import Change
from .check_value import value_findings
from .finding import Finding, Mend, Severity
from .graph import Graph, Vertex
from .shape import Gives, Shape, shape_of
from .shelf import ALGORITHM, PARAMETERS, RUN_ALGORITHM
from .topology import ancestors
from .value import Layer, Output, Value

Closest = Callable[[str, Iterable[str]], Sequence[str]]
_LENGTHS = frozenset(("distance", "area"))


@dataclass(frozen=True)
class Algorithms:
    """What is known of the registry: all ids that may run, why others may not, what those of a
    graph take, and a metric CRS for each layer that is in degrees."""

    ids: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metric: Mapping[str, str] = field(default_factory=dict)


NO_ALGORITHMS = Algorithms()
"""Where nothing is known of the registry."""


def schema_of(vertex: Vertex, algorithms: Algorithms) -> Mapping[str, Any] | None:
    """Return what the algorithm of a step takes, None where that is not known."""
    given = vertex.parameters or {}
    known = vertex.tool == RUN_ALGORITHM and isinstance(given.get(PARAMETERS, {}), Mapping)
    return algorithms.schemas.get(str(given.get(ALGORITHM))) if known else None


def algorithm_findings(
    graph: Graph,
    vertex: Vertex,
    gives: Mapping[str, Gives],
    layers: Mapping[str, Shape],
    algorithms: Algorithms,
    closest: Closest,
) -> Iterator[Finding]:
    """Yield what is wrong with a step that runs an algorithm."""
    given = dict(vertex.parameters or {})
    unknown = _unknown(vertex, algorithms, closest)
    if unknown is not None:
        yield unknown
        return
    inner = given.get(PARAMETERS, {})
    if not isinstance(inner, Mapping):
        return
    schema = schema_of(vertex, algorithms)
    if schema is not None:
        found = tuple(_against(vertex, inner, schema, gives, layers, closest))
        yield from found
        if any(one.severity is Severity.ERROR for one in found):
            return
        yield from _degrees(graph, vertex, inner, schema, gives, layers, algorithms)
    yield from _mixed(graph, vertex, inner, gives, layers)


def _unknown(vertex: Vertex, algorithms: Algorithms, closest: Closest) -> Finding | None:
    given = dict(vertex.parameters or {})
    name = given.get(ALGORITHM)
    if not algorithms.ids or not isinstance(name, str) or name in algorithms.ids:
        return None
    if name in algorithms.refused:
        text = f"{name} is not offered here, since it {algorithms.refused[name]}: use another tool."
        return Finding("algorithm", Severity.ERROR, text, vertex.id, ALGORITHM)
    near = list(closest(name, algorithms.ids))[:1]
    text = f'This QGIS has no algorithm "{name}". The step is kept, but cannot run.'
    mends = tuple(
        _edit(f"Use {one}", replace(vertex, parameters={**given, ALGORITHM: one})) for one in near
    )
    return Finding("algorithm", Severity.ERROR, text, vertex.id, ALGORITHM, mends)


def _against(
    vertex: Vertex,
    inner: Mapping[str, Value],
    schema: Mapping[str, Any],
    gives: Mapping[str, Gives],
    layers: Mapping[str, Shape],
    closest: Closest,
) -> Iterator[Finding]:
    """Yield what an algorithm does not take: names, options, layers, fields; and what it lacks."""
    known = schema.get("properties", {})
    name = str((vertex.parameters or {})[ALGORITHM])
    for key in schema.get("required", ()):
        if inner.get(key) in (None, "", []):
            label = str(known[key].get("description", key)).partition("; ")[0]
            text = f"{name} needs {key} ({label}): give it a value."
            yield Finding("required", Severity.ERROR, text, vertex.id, key)
    for key, value in inner.items():
        if key not in known:
            kept = {one: x for one, x in inner.items() if one != key}
            mend = _edit(f"Leave {key} out", _with(vertex, kept))
            text = f"{name} has no parameter {key}. It takes {', '.join(known)}."
            yield Finding("parameter", Severity.ERROR, text, vertex.id, key, (mend,))
            continue
        options = known[key].get("enum")
        wrong = isinstance(value, str) and options and value not in options
        if wrong and not value.strip().isdigit():
            near = list(closest(str(value), options))[:1]
            mends = tuple(_edit(f"Use {x}", _with(vertex, {**inner, key: x})) for x in near)
            text = f'{key} cannot be "{value}". Allowed: {", ".join(options)}.'
            yield Finding("option", Severity.WARNING, text, vertex.id, key, mends)
    step = replace(vertex, parameters=dict(inner))
    definition = ToolDefinition(name, "", dict(schema))
    for one in value_findings(step, definition, gives, layers, closest):
        mends = tuple(replace(x, change=_outer(vertex, x.change)) for x in one.mends)
        yield replace(one, mends=mends)


def _degrees(
    graph: Graph,
    vertex: Vertex,
    inner: Mapping[str, Value],
    schema: Mapping[str, Any],
    gives: Mapping[str, Gives],
    layers: Mapping[str, Shape],
    algorithms: Algorithms,
) -> Iterator[Finding]:
    """Yield the lengths and areas that would be in degrees."""
    for key, one in schema.get("properties", {}).items():
        value = inner.get(key)
        if one.get("x-type") not in _LENGTHS or isinstance(value, bool) or value in (None, 0, ""):
            continue
        parent = str(one.get("x-unit", "")).rpartition(" ")[2]
        source = inner.get(parent)
        shape = shape_of(source, gives, layers)
        metric = _metric(graph, source, shape, layers, algorithms)
        if shape is None or source is None or not metric:
            continue
        if not isinstance(value, (int, float, str)):
            continue
        name = source.name if isinstance(source, Layer) else source.vertex
        text = f"The {one['x-type']} {value} would be in degrees: {name} is in {shape.crs}."
        mend = _reprojected(graph, vertex, parent, source, metric)
        yield Finding("degrees", Severity.ERROR, text, vertex.id, key, (mend,))


def _metric(
    graph: Graph,
    source: Value,
    shape: Shape | None,
    layers: Mapping[str, Shape],
    algorithms: Algorithms,
) -> str:
    """Return a metric CRS for a layer in degrees, "" for one that is not."""
    if isinstance(source, Layer):
        return algorithms.metric.get(source.name, "")
    if not isinstance(source, Output) or shape is None:
        return ""
    above = [source.vertex, *ancestors(graph, source.vertex)]
    for key in (name for one in above for name in graph.vertex(one).layers()):
        if key in algorithms.metric and layers[key].crs == shape.crs:
            return algorithms.metric[key]
    return ""


def _mixed(
    graph: Graph,
    vertex: Vertex,
    inner: Mapping[str, Value],
    gives: Mapping[str, Gives],
    layers: Mapping[str, Shape],
) -> Iterator[Finding]:
    """Find what only a Processing algorithm does not settle itself: CRS that differ."""
    named = []
    for key, value in inner.items():
        shape = shape_of(value, gives, layers)
        if shape is not None and shape.crs:
            named.append((key, value, shape))
    different = [one for one in named[1:] if one[2].crs != named[0][2].crs]
    for key, value, shape in different:
        wanted = str(named[0][2].crs)
        text = f"{key} is in {shape.crs} and {named[0][0]} in {wanted}: bring them to one CRS."
        mends: tuple[Mend, ...] = ()
        if shape.family is not Family.RASTER:
            mends = (_reprojected(graph, vertex, key, value, wanted),)
        yield Finding("mixed crs", Severity.WARNING, text, vertex.id, key, mends)


def _reprojected(graph: Graph, vertex: Vertex, key: str, value: Value, crs: str) -> Mend:
    """Return the mend that puts a reprojection before an input of an algorithm."""
    new = Vertex(
        graph.free_id(), "vector", tool="reproject", parameters={"layer": value, "crs": crs},
        objective=f"Reproject to {crs}.",
    )  # fmt: skip
    inner = {**(vertex.parameters or {})[PARAMETERS], key: Output(new.id)}
    return Mend(
        f"Reproject to {crs} first",
        Change(edited=(_with(vertex, inner),), inserted=(new,), reason=f"Reproject to {crs} first"),
    )


def _with(vertex: Vertex, inner: Mapping[str, Value]) -> Vertex:
    given = dict(vertex.parameters or {})
    return replace(vertex, parameters={**given, PARAMETERS: dict(inner)})


def _outer(vertex: Vertex, change: Change) -> Change:
    """Return a change of a step's inner parameters as one of the step."""
    edited = tuple(_with(vertex, dict(one.parameters or {})) for one in change.edited)
    return replace(change, edited=edited)


def _edit(label: str, vertex: Vertex) -> Mend:
    return Mend(label, Change(edited=(vertex,), reason=label))
