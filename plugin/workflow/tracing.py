# SPDX-License-Identifier: GPL-2.0-or-later
"""A graph from calls that were made one after the other: of a chat, an example, a sub-agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...tools.base import ToolDefinition
from .graph import Answer, Graph, Vertex
from .role import Roles
from .value import Layer, Output, Template, Value

_REFERENCE = re.compile(r"\b([a-z]\d+)\.(\w+)\b")
_LOOKING = frozenset(
    {
        "list_layers", "layer_info", "search_algorithms", "describe_algorithm", "undo", "answer",
        "reject",
    }
)  # fmt: skip
"""Tools by which a model only looks, or that end a chat: no step of a workflow."""


@dataclass(frozen=True)
class Traced:
    """One call that worked. `names` are all by which later calls may mean its layer: the short id
    of its result first, then ids and names of its layers."""

    tool: str
    arguments: Mapping[str, Any]
    names: tuple[str, ...] = ()


class Tracer:
    """Makes the steps of a graph of calls; `layers` are the keys of the project's own layers."""

    def __init__(
        self, tools: Mapping[str, ToolDefinition], roles: Roles, layers: Sequence[str]
    ) -> None:
        self._tools = tools
        self._roles = roles
        self._layers = frozenset(layers)
        self._meant: dict[str, str] = {}

    def graph(self, question: str, calls: Sequence[Traced], answer: Mapping[str, Any]) -> Graph:
        """Return the graph of the calls; `answer` are the arguments of the call that ended it."""
        vertices = self.steps(calls, lambda number: f"v{number}")
        value = self._value(answer.get("value", ""), {})
        said = Answer(
            value=value if isinstance(value, Output) else None,
            unit=str(answer.get("unit", "")),
        )
        return Graph(question, vertices, answer=said)

    def steps(self, calls: Sequence[Traced], name: Callable[[int], str]) -> tuple[Vertex, ...]:
        """Return a step for each call that is work, called by `name` of its number from 1."""
        found: list[Vertex] = []
        for call in calls:
            if call.tool in _LOOKING:
                continue
            tool = self._tools.get(call.tool)
            properties = {} if tool is None else tool.parameters.get("properties", {})
            role = self._roles.of(call.tool)
            vertex = Vertex(
                id=name(len(found) + 1),
                agent="" if role is None else role.name,
                tool=call.tool,
                parameters={
                    key: self._value(value, properties.get(key, {}))
                    for key, value in call.arguments.items()
                },
            )
            found.append(_in_order(vertex, found))
            self._meant.update(dict.fromkeys(call.names, vertex.id))
        return tuple(found)

    def know(self, names: Sequence[str], vertex: str) -> None:
        """Let texts mean what a step that is there already gave."""
        self._meant.update({one: vertex for one in names if one})

    def _value(self, value: Any, schema: Mapping[str, Any]) -> Value:
        if isinstance(value, Mapping):
            inner = schema.get("properties", {})
            return {key: self._value(one, inner.get(key, {})) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(one, schema.get("items", {})) for one in value]
        if not isinstance(value, str):
            return value
        if value in self._meant and _may_be_layer(schema):
            return Output(self._meant[value])
        if ("x-layer" in schema or not schema) and value in self._layers:
            return Layer(value)
        if "x-layer" in schema:
            return Layer(value)
        whole = _REFERENCE.fullmatch(value)
        if whole and whole.group(1) in self._meant:
            return Output(self._meant[whole.group(1)], whole.group(2))
        return self._template(value)

    def _template(self, text: str) -> Value:
        def braced(found: re.Match[str]) -> str:
            meant = self._meant.get(found.group(1))
            return f"{{{meant}.{found.group(2)}}}" if meant else found.group(0)

        filled = _REFERENCE.sub(braced, text)
        return text if filled == text else Template(filled)


def _may_be_layer(schema: Mapping[str, Any]) -> bool:
    """Tell whether a text may name a layer: marked so, or of an algorithm's own parameters."""
    return "x-layer" in schema or "x-result" in schema or not schema


def _in_order(vertex: Vertex, earlier: Sequence[Vertex]) -> Vertex:
    """Let a step that changes a layer in place, and uses no output, wait for the one before it."""
    if vertex.tool.startswith(("style_", "label_", "export_", "zoom_")) and earlier:
        used = {one.vertex for one in vertex.outputs()}
        before = [one.id for one in earlier if one.tool.startswith(("style_", "label_"))]
        return replace(vertex, after=tuple(key for key in before if key not in used))
    return vertex
