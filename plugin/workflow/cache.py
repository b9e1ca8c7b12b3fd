# SPDX-License-Identifier: GPL-2.0-or-later
"""Results kept by content: tool, parameters and inputs, so that only what changed runs again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
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


class Anew(Cache):
    """A cache for one run: some steps run again though nothing has changed, and what others gave
    last that run each time otherwise (an answer of the user, a file written) is held."""

    def __init__(
        self, cache: Cache, again: Collection[str], held: Mapping[str, ToolResult]
    ) -> None:
        super().__init__(cache._fingerprints)
        self._cache, self._again = cache, frozenset(again)
        self._held = dict(held)
        self._given: dict[str, ToolResult] = {}
        self._fresh: set[str] = set()

    def key(
        self, graph: Graph, vertex: Vertex, keys: Mapping[str, str], tool: ToolDefinition | None
    ) -> str:
        """Return the key of the cache, or for a step whose result is held one that stands for it;
        `find` is to follow."""
        found = self._cache.key(graph, vertex, keys, tool)
        held = None if vertex.id in self._again else self._held.get(vertex.id)
        if not found and held is not None:
            said = [vertex.id, held.id, held.text, sorted(held.texts.items())]
            found = f"held {json.dumps(said, ensure_ascii=False)}"
            self._given[found] = held
        elif vertex.id in self._again:
            self._fresh.add(found)
        return found

    def find(self, key: str) -> ToolResult | None:
        """Return what is kept or held, None for a step that is to run again."""
        if key in self._fresh:
            self._fresh.discard(key)  # a step with the same content may keep its result
            return None
        held = self._given.get(key)
        if held is None:
            return self._cache.find(key)
        is_there = all(self._fingerprints.fingerprint(one.id) for one in held.layers)
        return held if is_there and all(Path(one).exists() for one in held.files) else None

    def keep(self, key: str, result: ToolResult) -> None:
        """Keep the result for later runs."""
        if key not in self._given:
            self._cache.keep(key, result)
