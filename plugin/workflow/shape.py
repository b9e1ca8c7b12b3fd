# SPDX-License-Identifier: GPL-2.0-or-later
"""What flows through a graph: the kind, CRS and fields of each step's layer, and its numbers.

What a tool gives is a table of data (resources/workflows/shapes.json), which a test holds against
the tools themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...tools.base import Family, LayerProfile
from .graph import Graph, Kind, Vertex
from .topology import order
from .value import Layer, Output, Value, walk

_EVERY, _MORE = "*", "..."


@dataclass(frozen=True)
class Shape:
    """A layer before it is there. `fields` None or `is_open` tell that others may be there too;
    `crs` is "" for none and None for unknown; `features` -1 for unknown and `at_most` tells that
    there may be fewer."""

    family: Family = Family.ANY
    fields: Mapping[str, str] | None = None
    is_open: bool = True
    crs: str | None = None
    features: int = -1
    at_most: bool = False

    def has(self, field: str) -> bool:
        """Tell whether a field may be there."""
        return self.is_open or self.fields is None or field in self.fields


@dataclass(frozen=True)
class Gives:
    """What a step gives: the shape of its layer (None for none), and the keys of its numbers and
    texts; `may` are numbers that are there for some parameters, `has_more` tells that there may be
    others too, `writes` is the parameter of a file."""

    shape: Shape | None = None
    numbers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    has_more: bool = True
    writes: str = ""
    may: tuple[str, ...] = ()

    def has(self, key: str) -> bool:
        """Tell whether a number or text of this key may be there."""
        return self.has_more or key in self.numbers or key in self.texts


UNKNOWN = Gives(Shape())


class Shapes:
    """The rules by which shapes follow from tools and parameters."""

    def __init__(self, rules: Mapping[str, Mapping[str, Any]]) -> None:
        self._rules = rules

    def tools(self) -> frozenset[str]:
        """Return the tools that have a rule."""
        return frozenset(self._rules)

    def follow(self, graph: Graph, layers: Mapping[str, Shape]) -> dict[str, Gives]:
        """Return what each step gives, over project layers of these shapes by their keys.

        Raises TopologyError for a graph without an order.
        """
        found: dict[str, Gives] = {}
        for key in order(graph):
            found[key] = self.of(graph.vertex(key), found, layers)
        return found

    def of(self, vertex: Vertex, before: Mapping[str, Gives], layers: Mapping[str, Shape]) -> Gives:
        """Return what a step gives after those before it."""
        if vertex.kind is Kind.QUESTION:
            return Gives(None, ("answer",), ("answer",), False)
        if vertex.kind is Kind.REVIEW or vertex.bypassed:
            shape = next(_shapes(vertex.parameters, before, layers), None)
            return Gives(shape or Shape())
        rule = self._rules.get(vertex.tool)
        if vertex.is_abstract or rule is None:
            return UNKNOWN
        parameters = dict(vertex.parameters or {})
        numbers = tuple(rule.get("numbers", ()))
        texts = tuple(rule.get("texts", ()))
        more, writes = bool(rule.get("more_numbers")), str(rule.get("writes", ""))
        may = tuple(rule.get("may", ()))
        return Gives(
            self._layer(rule, parameters, before, layers), numbers, texts, more, writes, may
        )

    def _layer(
        self,
        rule: Mapping[str, Any],
        parameters: Mapping[str, Value],
        before: Mapping[str, Gives],
        layers: Mapping[str, Shape],
    ) -> Shape | None:
        kind = rule["geometry"]
        of = str(rule.get("of", "layer"))
        base = next(_shapes({of: parameters.get(of)}, before, layers), Shape())
        if kind == "none":
            speaks = rule.get("speaks") == "conditions" and (
                parameters.get("conditions") or parameters.get("where")
            )
            return replace(base, at_most=True) if speaks else None
        crs = base.crs
        named = str(rule.get("crs", "same"))
        if named.startswith("{"):
            given = parameters.get(named[1:-1])
            crs = given if isinstance(given, str) else None
        elif named != "same":
            crs = "" if named == "none" else None
        family = base.family if kind == "same" else _family(kind)
        fields, is_open = _fields(rule.get("fields"), base, parameters)
        counted = rule.get("features")
        return Shape(
            family,
            fields,
            is_open,
            crs,
            base.features if counted in ("same", "fewer") else -1,
            base.at_most or counted == "fewer",
        )


def load(path: Path) -> Shapes:
    """Return the rules of a file. Raises OSError and ValueError."""
    return Shapes(json.loads(path.read_text(encoding="utf-8"))["tools"])


def of_layer(profile: LayerProfile) -> Shape:
    """Return the shape of a layer that is there."""
    if profile.family is Family.RASTER:
        return Shape(Family.RASTER, {}, False, profile.crs)
    fields = {one.name: one.type for one in profile.fields}
    return Shape(profile.family, fields, False, profile.crs, profile.features)


def shape_of(
    value: Value, before: Mapping[str, Gives], layers: Mapping[str, Shape]
) -> Shape | None:
    """Return the shape of the layer that a value means, None where it means none or is unknown."""
    if isinstance(value, Layer):
        return layers.get(value.name)
    if isinstance(value, Output) and value.vertex in before:
        given = before[value.vertex]
        if not value.key:
            return given.shape
        return Shape() if not (given.numbers or given.texts) else None
    return None


def _shapes(value: Any, before: Mapping[str, Gives], layers: Mapping[str, Shape]) -> Any:
    """Yield the shapes of the layers in a value, at any depth."""
    for one in walk(value):
        found = shape_of(one, before, layers)
        if found is not None:
            yield found


def _family(kind: str) -> Family:
    return Family.ANY if kind == "unknown" else Family(kind)


def _fields(
    rule: Any, base: Shape, parameters: Mapping[str, Value]
) -> tuple[Mapping[str, str] | None, bool]:
    if rule == "none":
        return {}, False
    if rule == "same":
        return base.fields, base.is_open
    if not isinstance(rule, list):
        return None, True
    found: dict[str, str] = {}
    is_open = _MORE in rule
    for name in rule:
        if name == _EVERY:
            found.update(base.fields or {})
            is_open = is_open or base.is_open
        elif name.startswith("{"):
            given = parameters.get(name[1:-1])
            is_open = is_open or not isinstance(given, str)
            found[str(given)] = "other"
        elif name != _MORE:
            found[name] = "real"
    return found, is_open
