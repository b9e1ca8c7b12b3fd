# SPDX-License-Identifier: GPL-2.0-or-later
"""Results kept by content: tool, parameters and inputs, so that only what changed runs again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...tools.base import ToolDefinition, ToolResult
from .graph import Graph, Kind, Vertex
from .value import Layer, Output, Template, Value, mapped

_VERSION = 1


class Fingerprints(Protocol):
    """Tells what the data of a layer are now."""

    def fingerprint(self, layer: str) -> str:
        """Return a text that changes with the data, "" for a layer that is not there."""


@dataclass(frozen=True)
class _Kept:
    result: ToolResult
    layers: tuple[tuple[str, str], ...]


class Cache:
    """The results of earlier runs, as long as what they made is there and unchanged."""

    def __init__(self, fingerprints: Fingerprints) -> None:
        self._fingerprints = fingerprints
        self._kept: dict[str, _Kept] = {}

    def key(
        self, graph: Graph, vertex: Vertex, keys: Mapping[str, str], tool: ToolDefinition | None
    ) -> str:
        """Return the content key of a step, "" for one that always runs.

        `keys` are those of its parents. Steps that write something lasting, ask, stop for a look,
        or whose parents have no key, run each time.
        """
        parents = graph.parents(vertex)
        if vertex.kind is not Kind.TASK or (tool is not None and tool.lasting):
            return ""
        if not all(keys.get(parent) for parent in parents):
            return ""

        def content(value: Value) -> Any:
            if isinstance(value, Layer):
                return ["layer", self._fingerprints.fingerprint(value.name)]
            if isinstance(value, Output):
                return ["output", keys[value.vertex], value.key]
            if isinstance(value, Template):
                return ["template", value.filled(lambda name, key: f"{keys.get(name)}.{key}")]
            return value

        parts = [
            _VERSION,
            vertex.tool,
            None if vertex.parameters is None else mapped(dict(vertex.parameters), content),
            [keys[parent] for parent in parents],
        ]
        if vertex.is_abstract:
            parts += [vertex.agent, vertex.objective]
        text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    def find(self, key: str) -> ToolResult | None:
        """Return the result of a key, None where there is none or something of it has changed."""
        kept = self._kept.get(key) if key else None
        if kept is None:
            return None
        same = all(self._fingerprints.fingerprint(layer) == before for layer, before in kept.layers)
        if not same or not all(Path(one).exists() for one in kept.result.files):
            del self._kept[key]
            return None
        return kept.result

    def keep(self, key: str, result: ToolResult) -> None:
        """Keep the result of a key."""
        if key and result.id:
            layers = tuple(
                (one.id, self._fingerprints.fingerprint(one.id)) for one in result.layers
            )
            self._kept[key] = _Kept(result, layers)

    def clear(self) -> None:
        """Forget all results."""
        self._kept.clear()
