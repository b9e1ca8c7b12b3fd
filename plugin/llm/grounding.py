# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the JSON schema of one reply from tools, layers and results, so that a model can only
name what is there: this state's tools, layers that fit, fields of these layers."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...tools.base import Family, LayerProfile, ToolDefinition

MAX_VALUES = 200
MAX_BRANCHES = 60
MAX_BYTES = 30_000
MAX_ITEMS = 16

_WITH_GEOMETRY = {Family.VECTOR, Family.POINT, Family.LINE, Family.POLYGON}
_NUMBER_TYPES = ("integer", "real")

Schema = dict[str, Any]
Binding = Mapping[str, Sequence[LayerProfile]]


class Level(str, Enum):
    """How closely a schema holds the model, from the closest to the loosest.

    FIELDS binds fields to their own layer, MERGED allows any fitting field of any fitting
    layer, LAYERS leaves fields open, PLAIN holds only tool names and argument types.
    """

    FIELDS = "fields"
    MERGED = "merged"
    LAYERS = "layers"
    PLAIN = "plain"


@dataclass(frozen=True)
class Grounded:
    """The schema to send, how close it holds, and the tools that it offers."""

    schema: Schema
    level: Level
    tools: tuple[str, ...]


def ground(
    definitions: Sequence[ToolDefinition],
    layers: Sequence[LayerProfile],
    results: Mapping[str, Sequence[str]] | None = None,
    extra_properties: Mapping[str, Schema] | None = None,
    open_layers: Collection[str] = (),
) -> Grounded:
    """Return the schema of one reply object: the extra properties, then `tool` and `arguments`.

    Keys are written in that order and all are required. `results` lists references by kind
    ("number", "text", "layer"). Layers and references keep the order given; an enumeration
    stops at 200 values, but more fields than that are left open, and so are those of the layers
    called in `open_layers`, which are not made yet. A tool that no layer or result fits is left
    out. Raises ValueError when no tool is left.
    """
    extra = dict(extra_properties or {})
    for level in Level:
        shaper = _Shaper(level, layers, results or {}, open_layers)
        try:
            branches = [item for tool in definitions for item in shaper.tool(tool)]
        except _TooLarge:
            continue
        schema = _any_of([_reply(extra, name, arguments) for name, arguments in branches])
        if level is not Level.PLAIN and len(json.dumps(schema)) > MAX_BYTES:
            continue
        if not branches:
            raise ValueError("no tool fits these layers and results")
        return Grounded(schema, level, tuple(name for name, _ in branches))
    raise ValueError("the tools do not fit any schema")


def fits(wanted: Any, family: Family) -> bool:
    """Tell whether a layer of `family` fits an `x-layer` mark (one value or a list of them)."""
    for value in wanted if isinstance(wanted, (list, tuple)) else (wanted,):
        asked = Family(value)
        if asked is Family.ANY or asked is family:
            return True
        if asked is Family.VECTOR and family in _WITH_GEOMETRY:
            return True
        if family is Family.VECTOR and asked in _WITH_GEOMETRY:
            return True
    return False


def fitting_fields(layer: LayerProfile, types: Sequence[str]) -> list[str]:
    """Return the names of the layer's fields whose type is in `types` (all when it is empty)."""
    wanted = set(types)
    if "number" in wanted:
        wanted.update(_NUMBER_TYPES)
    return [field.name for field in layer.fields if not wanted or field.type in wanted]


class _TooLarge(Exception):
    """The schema would have more branches than a server should be asked to compile."""


class _Shaper:
    """Turns marked schemas into plain ones, at one level of closeness."""

    def __init__(
        self,
        level: Level,
        layers: Sequence[LayerProfile],
        results: Mapping[str, Sequence[str]],
        open_layers: Collection[str],
    ) -> None:
        self._level = level
        self._layers = layers
        self._results = results
        self._open = open_layers
        self._branches = 0

    def tool(self, definition: ToolDefinition) -> Iterator[tuple[str, Schema]]:
        """Yield the tool's name with its arguments' schema, or nothing where nothing fits.

        Raises _TooLarge when all tools so far need more branches than allowed.
        """
        options: list[Schema] = []
        for binding in self._bindings(definition.parameters):
            shaped = self._arguments(definition.parameters, binding)
            if shaped is not None:
                options.append(shaped)
                self._branches += 1
                if self._branches > MAX_BRANCHES and self._level is Level.FIELDS:
                    raise _TooLarge
        if options:
            yield definition.name, _any_of(options)

    def _bindings(self, parameters: Schema) -> Iterator[Binding]:
        """Yield each way to give layers to the arguments whose fields are asked for."""
        properties = parameters.get("properties", {})
        sources = sorted(
            {
                name
                for mark in ("x-field", "x-band")
                for name in _marks(parameters, mark)
                if "x-layer" in properties.get(name, {})
            }
        )
        required = parameters.get("required", ())
        groups: list[list[Sequence[LayerProfile]]] = []
        for name in sources:
            fitting = self._fitting(properties[name]["x-layer"])
            found = self._by_fields(fitting) if self._level is Level.FIELDS else [fitting]
            found = [group for group in found if group]
            groups.append(found or ([] if name in required else [()]))
        for combination in itertools.product(*groups):
            yield dict(zip(sources, combination))

    def _by_fields(self, layers: Sequence[LayerProfile]) -> list[Sequence[LayerProfile]]:
        """Group layers that have the same fields and bands, in the order of their first member."""
        groups: dict[tuple[object, ...], list[LayerProfile]] = {}
        for layer in layers:
            fields = tuple((field.name, field.type) for field in layer.fields)
            kind = (layer.family is Family.RASTER, layer.name in self._open)
            groups.setdefault((*kind, fields, tuple(_bands(layer))), []).append(layer)
        return list(groups.values())

    def _arguments(self, parameters: Schema, binding: Binding) -> Schema | None:
        bound: Schema = {}
        for name, prop in parameters.get("properties", {}).items():
            if not self._applies(prop, binding):
                continue
            if name in binding and self._level is not Level.PLAIN:
                bound[name] = _enumeration(layer.name for layer in binding[name]) or {"enum": []}
            else:
                bound[name] = prop
        shaped = self._shape({**parameters, "properties": bound}, binding)
        if shaped is None or "properties" in shaped:
            return shaped
        return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    def _applies(self, prop: Schema, binding: Binding) -> bool:
        """Tell whether an argument has a meaning for the layers bound (mark `x-for`)."""
        return all(
            any(fits(families, layer.family) for layer in binding[source])
            for source, families in prop.get("x-for", {}).items()
            if binding.get(source)
        )

    def _shape(self, schema: Schema, binding: Binding) -> Schema | None:
        """Return the schema without marks, or None when no value can fit it."""
        if self._level is not Level.PLAIN:
            if "x-layer" in schema:
                return _enumeration(layer.name for layer in self._fitting(schema["x-layer"]))
            if "x-result" in schema:
                return _enumeration(self._references(schema["x-result"]))
            if "x-field" in schema and self._level is not Level.LAYERS:
                return self._fields(schema, binding)
            if "x-band" in schema and binding.get(schema["x-band"]):
                bound = binding[schema["x-band"]]
                return _enumeration(value for layer in bound for value in _bands(layer))
        if "const" in schema:
            return _enumeration([schema["const"]])
        if "enum" in schema:
            return _enumeration(schema["enum"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self._options(schema[key], binding)
        kinds = schema.get("type", "string")
        if isinstance(kinds, (list, tuple)):
            named = [kind for kind in kinds if kind != "null"]
            return self._options([{**schema, "type": kind} for kind in named], binding)
        if kinds == "array":
            return self._array(schema, binding)
        if kinds == "object":
            return self._object(schema, binding)
        return {"type": kinds}

    def _options(self, options: Iterable[Schema], binding: Binding) -> Schema | None:
        shaped = [self._shape(option, binding) for option in options]
        possible = [option for option in shaped if option is not None]
        return _any_of(possible) if possible else None

    def _array(self, schema: Schema, binding: Binding) -> Schema | None:
        item = self._shape(schema.get("items", {}), binding)
        if item is None:
            return None
        shaped: Schema = {"type": "array", "items": item}
        if schema.get("minItems"):
            shaped["minItems"] = min(int(schema["minItems"]), MAX_ITEMS)
        shaped["maxItems"] = min(int(schema.get("maxItems", MAX_ITEMS)), MAX_ITEMS)
        return shaped

    def _object(self, schema: Schema, binding: Binding) -> Schema | None:
        if not schema.get("properties"):
            return {"type": "object"}
        required = [name for name in schema.get("required", ()) if name in schema["properties"]]
        properties: Schema = {}
        for name, prop in schema["properties"].items():
            shaped = self._shape(prop, binding)
            if shaped is not None:
                properties[name] = shaped
            elif name in required:
                return None
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def _fields(self, schema: Schema, binding: Binding) -> Schema | None:
        source = schema["x-field"]
        if source not in binding or any(one.name in self._open for one in binding[source]):
            return {"type": "string"}
        types = schema.get("x-types", ())
        names = [name for layer in binding[source] for name in fitting_fields(layer, types)]
        if len(set(names)) > MAX_VALUES:
            return {"type": "string"}
        return _enumeration(names)

    def _fitting(self, wanted: Any) -> Sequence[LayerProfile]:
        return [layer for layer in self._layers if fits(wanted, layer.family)]

    def _references(self, kinds: Any) -> Iterator[str]:
        for kind in kinds if isinstance(kinds, (list, tuple)) else (kinds,):
            yield from self._results.get(kind, ())


def _reply(extra: Mapping[str, Schema], name: str, arguments: Schema) -> Schema:
    properties = {**extra, "tool": {"type": "string", "enum": [name]}, "arguments": arguments}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _any_of(options: list[Schema]) -> Schema:
    """Return the options as one schema; equal ones count once."""
    unique = [item for at, item in enumerate(options) if item not in options[:at]]
    return unique[0] if len(unique) == 1 else {"anyOf": unique}


def _enumeration(values: Iterable[Any]) -> Schema | None:
    """Return an enumeration of at most 200 distinct values, or None when there is none."""
    found: list[Any] = []
    for value in values:
        if len(found) == MAX_VALUES:
            break
        if value not in found:
            found.append(value)
    if not found:
        return None
    if all(isinstance(value, str) for value in found):
        return {"type": "string", "enum": found}
    return {"enum": found}


def _bands(layer: LayerProfile) -> list[Any]:
    """Return the names of a raster's bands where each has its own, which says more to a model
    than its number does; else the numbers."""
    names = [band.name for band in layer.bands]
    if len(names) > 1 and all(names) and len(set(names)) == len(names):
        return list(names)
    return [band.number for band in layer.bands]


def _marks(schema: Any, mark: str) -> Iterator[str]:
    """Yield every value of a mark in a schema, nested ones too."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get(mark), str):
            yield schema[mark]
        for value in schema.values():
            yield from _marks(value, mark)
    elif isinstance(schema, (list, tuple)):
        for value in schema:
            yield from _marks(value, mark)
