# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be told of a graph before it runs, for the planner: its shape and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tools.base import MendableError
from ..tools.registry import Registry
from .workflow.finding import Finding, Severity
from .workflow.graph import Graph, Kind, Vertex
from .workflow.topology import faults
from .workflow.value import Layer, Output, Template, Value, mapped


def checker(registry: Registry, layers: tuple[str, ...]) -> Callable[[Graph], list[Finding]]:
    """Return a check of graphs over layers of these keys."""

    def check(graph: Graph) -> list[Finding]:
        found = [
            Finding(one.fault.value, Severity.ERROR, one.message, one.vertices[0])
            for one in faults(graph)
        ]
        for vertex in graph.vertices:
            if vertex.kind is Kind.TASK and not vertex.is_abstract:
                found += _called(vertex, registry, layers)
        return found

    return check


def _called(vertex: Vertex, registry: Registry, layers: tuple[str, ...]) -> list[Finding]:
    missing = [name for name in vertex.layers() if name not in layers]
    if missing:
        text = f"There is no layer {missing[0]}. Layers: {', '.join(layers)}."
        return [Finding("layer", Severity.ERROR, text, vertex.id)]
    try:
        registry.prepare(vertex.tool, mapped(dict(vertex.parameters or {}), _stand_in))
    except MendableError as error:
        return [Finding("arguments", Severity.ERROR, error.message, vertex.id)]
    return []


def _stand_in(value: Value) -> Any:
    if isinstance(value, Layer):
        return value.name
    if isinstance(value, Output):
        return f"r1.{value.key}" if value.key else "r1"
    return value.text if isinstance(value, Template) else value
