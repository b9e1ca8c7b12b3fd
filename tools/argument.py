# SPDX-License-Identifier: GPL-2.0-or-later
"""Pieces of argument schemas that several tools share."""

from __future__ import annotations

from typing import Any

from .base import Family
from .condition import OPERATORS, SYNONYMS

Schema = dict[str, Any]
FEATURES = [Family.VECTOR.value, Family.TABLE.value]


def arguments(properties: dict[str, Schema], required: list[str]) -> Schema:
    """Return the schema of a tool's arguments."""
    return {"type": "object", "properties": properties, "required": required}


def layer(*families: str, text: str = "") -> Schema:
    """Return an argument that names a layer of one of the families."""
    kinds = list(families) or [Family.ANY.value]
    found: Schema = {"type": "string", "x-layer": kinds if len(kinds) > 1 else kinds[0]}
    return {**found, "description": text} if text else found


def field(of: str = "layer", types: list[str] | None = None) -> Schema:
    """Return an argument that names a field of the layer argument `of`."""
    found: Schema = {"type": "string", "x-field": of}
    return {**found, "x-types": types} if types else found


def band(of: str = "layer") -> Schema:
    """Return an argument that names a band of the raster argument `of`, by number or by name."""
    return {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}], "x-band": of}


def choice(*values: str, synonyms: dict[str, str] | None = None) -> Schema:
    """Return an argument that is one of the values."""
    found: Schema = {"type": "string", "enum": list(values)}
    return {**found, "x-synonyms": synonyms} if synonyms else found


def conditions(of: str = "layer") -> Schema:
    """Return an argument that is a list of conditions on fields of the layer argument `of`."""
    value: Schema = {
        "anyOf": [
            {"type": "string"},
            {"type": "number"},
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
        ]
    }
    item = {
        "type": "object",
        "properties": {
            "field": field(of),
            "op": choice(*OPERATORS, synonyms=SYNONYMS),
            "value": value,
        },
        "required": ["field", "op"],
    }
    return {"type": "array", "items": item}


def filtering(of: str = "layer") -> dict[str, Schema]:
    """Return the arguments by which a tool takes only some features."""
    return {
        "conditions": conditions(of),
        "where": {
            "type": "string",
            "description": "a QGIS expression, for what conditions cannot say",
            "x-for": {of: FEATURES},
        },
        "match": {**choice("all", "any"), "x-for": {of: FEATURES}},
    }
