# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the values of one step: layers, fields and outputs as they flow to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...tools.base import Family, ToolDefinition
from .change import Change
from .finding import Finding, Mend, Severity
from .fitting import PLURAL, fits, kinds_of
from .graph import Vertex
from .shape import Gives, Shape, shape_of
from .value import Layer, Output, Template, Value

Closest = Callable[[str, Iterable[str]], Sequence[str]]
_KINDS = {"number": ("integer", "real"), "integer": ("integer", "real"), "real": ("real",)}


def value_findings(
    vertex: Vertex,
    definition: ToolDefinition,
    gives: Mapping[str, Gives],
    layers: Mapping[str, Shape],
    closest: Closest,
) -> Iterator[Finding]:
    """Yield what is wrong with the values of a step's parameters."""
    one = _Step(vertex, definition, gives, layers, closest)
    properties = definition.parameters.get("properties", {})
    for name, value in dict(vertex.parameters or {}).items():
        yield from one.value(value, properties.get(name, {}), (name,))


@dataclass(frozen=True)
class _Step:
    vertex: Vertex
    definition: ToolDefinition
    gives: Mapping[str, Gives]
    layers: Mapping[str, Shape]
    closest: Closest

    def value(
        self, value: Value, schema: Mapping[str, Any], path: tuple[Any, ...]
    ) -> Iterator[Finding]:
        """Check a value and what it holds against its part of the tool's schema."""
        if isinstance(value, Output):
            yield from self._output(value, schema, path)
        elif isinstance(value, Template):
            for name, key in value.references():
                if name in self.gives:
                    yield from self._key(Output(name, key), path)
        elif isinstance(value, Layer) or (isinstance(value, str) and "x-layer" in schema):
            yield from self._layer(value, schema, path)
        elif isinstance(value, str) and "x-field" in schema:
            yield from self._field(value, schema, path)
        elif isinstance(value, Mapping):
            inner = schema.get("properties", {})
            for key, one in value.items():
                yield from self.value(one, inner.get(key, {}), (*path, key))
        elif isinstance(value, (list, tuple)):
            for place, one in enumerate(value):
                yield from self.value(one, schema.get("items", {}), (*path, place))

    def _layer(
        self, value: Layer | str, schema: Mapping[str, Any], path: tuple[Any, ...]
    ) -> Iterator[Finding]:
        name = value.name if isinstance(value, Layer) else value
        shape = self.layers.get(name)
        if shape is None:
            near = list(self.closest(name, self.layers))[:1]
            meant = f" Did you mean {near[0]}?" if near else ""
            text = f'There is no layer "{name}" in this project.{meant}'
            mends = tuple(self._mend(f"Use {one}", path, Layer(one)) for one in near)
            yield self._found("layer", text, path, mends)
        elif "x-layer" in schema:
            yield from self._fits(name, shape, schema, path)

    def _output(
        self, value: Output, schema: Mapping[str, Any], path: tuple[Any, ...]
    ) -> Iterator[Finding]:
        given = self.gives.get(value.vertex)
        if given is None:
            return
        wants_layer = "x-layer" in schema
        wants_number = schema.get("type") in ("number", "integer")
        if value.key and not wants_layer:
            yield from self._key(value, path)
        elif value.key and (value.key in given.numbers or value.key in given.texts):
            text = f"{value.text} is a number; {self._at(path)} takes a layer."
            mends: tuple[Mend, ...] = ()
            if given.shape is not None:
                mends = (self._mend(f"Use the layer of {value.vertex}", path,
                                    Output(value.vertex)),)  # fmt: skip
            yield self._found("number as layer", text, path, mends)
        elif wants_layer and not value.key and given.shape is None:
            text = f"{value.vertex} makes no layer, and {self._at(path)} takes one."
            others = self._source_of(value.vertex)
            used = tuple(self._mend(f"Use {one.vertex}", path, one) for one in others)
            yield self._found("no layer", text, path, used)
        elif wants_layer and given.shape is not None:
            yield from self._fits(value.vertex, given.shape, schema, path)
        elif wants_number and not value.key and given.shape is not None and not given.has_more:
            text = f"{value.vertex} is a layer; {self._at(path)} takes a number."
            known = tuple(
                self._mend(f"Use {value.vertex}.{key}", path, Output(value.vertex, key))
                for key in given.numbers[:1]
            )
            yield self._found("layer as number", text, path, known)

    def _source_of(self, vertex: str) -> Iterator[Output]:
        """Yield other steps that make a layer, for one that does not."""
        for key, given in self.gives.items():
            if key not in (vertex, self.vertex.id) and given.shape is not None:
                yield Output(key)
                return

    def _key(self, value: Output, path: tuple[Any, ...]) -> Iterator[Finding]:
        given = self.gives.get(value.vertex)
        if given is None or not value.key or given.has(value.key):
            return
        known = [*given.numbers, *given.texts]
        text = f"{value.vertex} has no {value.key}; it has {', '.join(known) or 'no number'}."
        near = list(self.closest(value.key, known))[:1] or known[:1]
        mends = tuple(
            self._mend(f"Use {value.vertex}.{one}", path, Output(value.vertex, one)) for one in near
        )
        yield self._found("key", text, path, mends)

    def _fits(
        self, name: str, shape: Shape, schema: Mapping[str, Any], path: tuple[Any, ...]
    ) -> Iterator[Finding]:
        kinds = kinds_of(schema)
        if fits(shape.family, kinds):
            return
        takes = " or ".join(PLURAL[one] for one in kinds)
        text = f"{name} is {PLURAL[shape.family]}; {self._at(path)} takes {takes}."
        mends = tuple(self._guess(label, path, one) for label, one in self._fitting(kinds))
        yield self._found("geometry", text, path, mends)

    def _fitting(self, kinds: tuple[Family, ...]) -> Iterator[tuple[str, Value]]:
        """Yield the first layer and the first earlier step of a kind, named as a button is."""
        known = {Family.ANY, Family.VECTOR}
        for key, shape in self.layers.items():
            if shape.family not in known and fits(shape.family, kinds):
                yield f"Use {key}", Layer(key)
                break
        for key, given in self.gives.items():
            if key == self.vertex.id:
                return
            family = given.shape.family if given.shape is not None else Family.ANY
            if family not in known and fits(family, kinds):
                yield f"Use {key}", Output(key)
                return

    def _field(
        self, name: str, schema: Mapping[str, Any], path: tuple[Any, ...]
    ) -> Iterator[Finding]:
        of = str(schema["x-field"])
        shape = shape_of((self.vertex.parameters or {}).get(of), self.gives, self.layers)
        if shape is None or shape.family is Family.RASTER:
            return
        fields = dict(shape.fields or {})
        if not shape.has(name):
            near = list(self.closest(name, fields))[:1]
            meant = f" Did you mean {near[0]}?" if near else f" Fields: {', '.join(fields)}."
            text = f'There is no field "{name}" here.{meant}'
            mends = tuple(self._mend(f"Use {one}", path, one) for one in near)
            yield self._found("field", text, path, mends)
        elif name in fields and schema.get("x-types"):
            allowed = {kind for one in schema["x-types"] for kind in _KINDS.get(one, (one,))}
            if fields[name] not in allowed and fields[name] != "other":
                text = f"{name} holds {fields[name]}; {self._at(path)} takes numbers."
                fitting = [key for key, kind in fields.items() if kind in allowed][:2]
                mends = tuple(self._guess(f"Use {one}", path, one) for one in fitting)
                yield self._found("type", text, path, mends)

    def _at(self, path: tuple[Any, ...]) -> str:
        return f"{path[0]} of {self.vertex.tool}"

    def _found(
        self, code: str, text: str, path: tuple[Any, ...], mends: tuple[Mend, ...] = ()
    ) -> Finding:
        return Finding(code, Severity.ERROR, text, self.vertex.id, str(path[0]), mends)

    def _guess(self, label: str, path: tuple[Any, ...], value: Value) -> Mend:
        return replace(self._mend(label, path, value), is_guess=True)

    def _mend(self, label: str, path: tuple[Any, ...], value: Value) -> Mend:
        parameters = _put(dict(self.vertex.parameters or {}), path, value)
        return Mend(
            label, Change(edited=(replace(self.vertex, parameters=parameters),), reason=label)
        )


def _put(value: Any, path: tuple[Any, ...], new: Value) -> Any:
    if not path:
        return new
    if isinstance(value, Mapping):
        return {**value, path[0]: _put(value[path[0]], path[1:], new)}
    listed = list(value)
    listed[path[0]] = _put(listed[path[0]], path[1:], new)
    return listed
