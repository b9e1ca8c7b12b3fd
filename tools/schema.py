# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments against a JSON schema: what is safe is mended, the rest is refused with the fix.

Knows the subset that our tools use: type, enum, const, properties, required, items, anyOf,
minimum, maximum, minItems, maxItems, and `x-synonyms` (other spellings of an enum's values).
"""

from __future__ import annotations

import json
import math
from typing import Any

from .base import MendableError
from .spelling import bare, closest, listed

Schema = dict[str, Any]

_NOTHING = {"", "none", "null", "undefined"}
_TRUE = {"true", "yes", "1", "on"}
_FALSE = {"false", "no", "0", "off"}


def coerce(schema: Schema, value: Any, path: str = "", outer: bool = True) -> Any:
    """Return `value` as the schema wants it.

    `path` names the argument in messages; `outer` is true for the arguments of the tool itself,
    where texts such as "None" count as not given. Raises MendableError.
    """
    if "anyOf" in schema:
        return _any_of(schema["anyOf"], value, path)
    kind = schema.get("type")
    if isinstance(kind, list):
        return _any_of([{**schema, "type": one} for one in kind], value, path)
    if kind in ("object", "array") and isinstance(value, str):
        value = _decoded(value, value)
    if kind == "object":
        return _object(schema, value, path, outer)
    if kind == "array":
        return _array(schema, value, path)
    if kind == "integer" or kind == "number":
        value = _number(value, path, whole=kind == "integer")
        _check_range(schema, value, path)
    elif kind == "boolean":
        value = _boolean(value, path)
    elif kind == "string":
        value = _text(value, path)
    return _chosen(schema, value, path)


def is_nothing(value: Any) -> bool:
    """Tell whether a value means "not given": null, or a text that says so."""
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


def _decoded(text: str, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return otherwise


def _named(path: str) -> str:
    return f'"{path}"' if path else "The arguments"


def _any_of(choices: list[Schema], value: Any, path: str) -> Any:
    native = [choice for choice in choices if _is_of(choice, value)]
    problem: MendableError | None = None
    for choice in native or choices:
        try:
            return coerce(choice, value, path, outer=False)
        except MendableError as error:
            problem = problem or error
    raise problem or MendableError(f"{_named(path)} has a value of no allowed type.")


def _is_of(schema: Schema, value: Any) -> bool:
    kind = schema.get("type")
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "array":
        return isinstance(value, list)
    return kind == "object" and isinstance(value, dict)


def _object(schema: Schema, value: Any, path: str, outer: bool) -> dict[str, Any]:
    if is_nothing(value):
        value = {}
    if not isinstance(value, dict):
        raise MendableError(f"{_named(path)} must be an object with named values.")
    properties: dict[str, Schema] = schema.get("properties", {})
    if not properties:
        return dict(value)
    required = schema.get("required", [])
    found: dict[str, Any] = {}
    for given, item in value.items():
        name = _argument(str(given), properties, path)
        named = "x-layer" in properties[name] and name in required and item != ""
        if item is None or (outer and is_nothing(item) and not named):
            if name in required:
                raise MendableError(f'"{name}" is required, but no value was given.')
            continue
        where = f"{path}.{name}" if path else name
        found[name] = coerce(properties[name], item, where, outer=False)
    missing = [name for name in required if name not in found]
    if missing:
        raise MendableError(
            f"{_named(path)} lack{'s' if path else ''} {listed(missing)}. "
            f"Allowed: {listed(list(properties), 30)}."
        )
    return found


def _argument(given: str, properties: dict[str, Schema], path: str) -> str:
    if given in properties:
        return given
    equal = [name for name in properties if bare(name) == bare(given)]
    if len(equal) == 1:
        return equal[0]
    place = f" of {path}" if path else ""
    raise MendableError(
        f'There is no argument "{given}"{place}. Allowed: {listed(list(properties), 30)}.'
    )


def _array(schema: Schema, value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        value = [value]
    items = schema.get("items", {})
    found = [
        coerce(items, item, f"{path}[{place}]", outer=False) for place, item in enumerate(value)
    ]
    if len(found) < schema.get("minItems", 0):
        raise MendableError(f"{_named(path)} needs at least {schema['minItems']} values.")
    if len(found) > schema.get("maxItems", len(found)):
        raise MendableError(f"{_named(path)} takes at most {schema['maxItems']} values.")
    return found


def _number(value: Any, path: str, whole: bool) -> int | float:
    wanted = "a whole number" if whole else "a number"
    found = value
    if isinstance(value, str):
        try:
            found = int(value.strip())
        except ValueError:
            try:
                found = float(value.strip())
            except ValueError:
                found = None
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not math.isfinite(found):
        raise MendableError(f"{_named(path)} must be {wanted}, not {json.dumps(value)}.")
    if whole and found != int(found):
        raise MendableError(f"{_named(path)} must be {wanted}, not {json.dumps(value)}.")
    return int(found) if whole else found


def _check_range(schema: Schema, value: float, path: str) -> None:
    if "minimum" in schema and value < schema["minimum"]:
        raise MendableError(f"{_named(path)} must be at least {schema['minimum']}, not {value}.")
    if "maximum" in schema and value > schema["maximum"]:
        raise MendableError(f"{_named(path)} must be at most {schema['maximum']}, not {value}.")


def _boolean(value: Any, path: str) -> bool:
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise MendableError(f"{_named(path)} must be true or false, not {json.dumps(value)}.")


def _text(value: Any, path: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    raise MendableError(f"{_named(path)} must be one text.")


def _chosen(schema: Schema, value: Any, path: str) -> Any:
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is None or value in allowed:
        return value
    synonyms = {bare(key): name for key, name in schema.get("x-synonyms", {}).items()}
    text = bare(str(value))
    if text in synonyms:
        return synonyms[text]
    equal = [item for item in allowed if bare(str(item)) == text]
    if len(equal) == 1:
        return equal[0]
    names = [str(item) for item in allowed]
    near = closest(str(value), names)
    hint = f" Closest: {listed(near)}." if near and len(names) > 12 else ""
    raise MendableError(f'{_named(path)} cannot be "{value}". Allowed: {listed(names, 20)}.{hint}')
