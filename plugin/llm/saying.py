# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the values that stand beside a call, such as CURRENT_STAGE, from JSON and from lines.

Only what the schema of a value allows is taken; whatever else a model writes counts as not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_GAP = r"[\s*_`\"']*[=:]"
_MARKS = r"[\s*_`\"'\[]*"


def said_in_object(
    whole: Mapping[str, Any], schemas: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return the values of a JSON object that fit their schemas, by name."""
    found = {
        name: _fitting(whole[name], schema) for name, schema in schemas.items() if name in whole
    }
    return {name: value for name, value in found.items() if value is not None}


def said_in_text(text: str, schemas: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the values of `NAME = value` lines, as the paper asks for CURRENT_STAGE.

    Takes `=` or `:`, any case, bold and quotes; the last known value of a name counts.
    """
    found = {name: _read(text, name, schema) for name, schema in schemas.items()}
    return {name: value for name, value in found.items() if value is not None}


def _fitting(value: Any, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "array":
        items = value if isinstance(value, list) else [value]
        fitting = [_fitting(item, schema["items"]) for item in items]
        return [item for item in fitting if item is not None]
    if not isinstance(value, str):
        return None
    if "enum" not in schema:
        return value.strip()[: schema.get("maxLength")] or None
    known = {str(item).lower(): item for item in schema["enum"]}
    return known.get(value.strip().lower())


def _read(text: str, name: str, schema: Mapping[str, Any]) -> Any:
    start = rf"\b{re.escape(name)}\b{_GAP}"
    if schema.get("type") == "array":
        if "enum" not in schema["items"]:
            return None
        lines = re.findall(rf"{start}([^\n}}]*)", text, re.IGNORECASE)
        known = _one_of(schema["items"]["enum"])
        named = re.findall(known, lines[-1], re.IGNORECASE) if lines else []
        return _fitting(named, schema) if lines else None
    one = _one_of(schema["enum"]) if "enum" in schema else r"([^\n*`\"]+)"
    values = re.findall(f"{start}{_MARKS}{one}", text, re.IGNORECASE)
    return _fitting(values[-1], schema) if values else None


def _one_of(values: Iterable[Any]) -> str:
    """Return a pattern of these values as whole words, the longest first."""
    ordered = sorted((re.escape(str(value)) for value in values), key=len, reverse=True)
    return rf"(?<!\w)({'|'.join(ordered)})(?!\w)"
