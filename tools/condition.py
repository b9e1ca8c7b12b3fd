# SPDX-License-Identifier: GPL-2.0-or-later
"""Structured conditions turned into a QGIS expression, with names and values quoted exactly.

Nothing of QGIS is imported: what a field is, and which values it has, comes as a protocol.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .base import MendableError
from .place_name import alike
from .spelling import closest, folded, listed

OPERATORS = (
    "=",
    "<>",
    ">",
    ">=",
    "<",
    "<=",
    "contains",
    "starts with",
    "is empty",
    "is not empty",
    "one of",
    "between",
)
SYNONYMS = {
    "==": "=",
    "equals": "=",
    "is": "=",
    "eq": "=",
    "!=": "<>",
    "not equal": "<>",
    "is not": "<>",
    "not": "<>",
    "greater than": ">",
    "less than": "<",
    "at least": ">=",
    "at most": "<=",
    "like": "contains",
    "is null": "is empty",
    "null": "is empty",
    "isnull": "is empty",
    "empty": "is empty",
    "is not null": "is not empty",
    "not null": "is not empty",
    "not empty": "is not empty",
    "in": "one of",
}
_NUMBERS = {"integer", "real"}
_DATES = {"date", "datetime", "time"}
_DAY, _HOUR = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d(:\d\d(\.\d+)?)?"
_MOMENTS = {
    "date": rf"\d{{4}}|{_DAY}",
    "datetime": rf"\d{{4}}|{_DAY}([T ]{_HOUR}(Z|[+-]\d\d:?\d\d)?)?",
    "time": _HOUR,
}
_MOMENT_SHOWN = {"date": "2020-01-31", "datetime": "2020-01-31T12:00:00", "time": "12:00:00"}


class Fields(Protocol):
    """What a condition must know of the layer that it is about."""

    layer: str

    def names(self) -> list[str]:
        """Return the names of the fields."""

    def type_of(self, name: str) -> str:
        """Return the type of a field in FieldProfile's words."""

    def values_of(self, name: str) -> list[str] | None:
        """Return the distinct texts of a field, None when there are too many."""


@dataclass(frozen=True)
class Filter:
    """A QGIS expression ("" takes everything), its meaning in words, and what to tell of it."""

    expression: str = ""
    words: str = ""
    notes: tuple[str, ...] = ()


def quoted_name(name: str) -> str:
    """Return a field's name as an expression writes it."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Return a text as an expression writes it; the same escapes as QgsExpression's own."""
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return "'" + escaped.replace("\n", "\\n").replace("\t", "\\t") + "'"


def number_of(name: str, kind: str) -> str:
    """Return an expression for a field's number; texts that hold none give NULL."""
    column = quoted_name(name)
    return column if kind in _NUMBERS else f"try(to_real({column}))"


def field_named(name: str, fields: Fields) -> str:
    """Return the field that `name` means. Raises MendableError with the closest names."""
    names = fields.names()
    if name in names:
        return name
    equal = [item for item in names if folded(item) == folded(name)]
    if len(equal) == 1:
        return equal[0]
    near = closest(name, names)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Its fields are {listed(names, 20)}."
    raise MendableError(f'{fields.layer} has no field "{name}". {hint}')


def build(conditions: Sequence[dict[str, Any]], match: str, fields: Fields) -> Filter:
    """Turn conditions, joined by `match` ("all" or "any"), into a filter. Raises MendableError."""
    parts = [_one(item, fields) for item in conditions]
    joint, word = (" OR ", " or ") if match == "any" else (" AND ", " and ")
    expressions = [part.expression for part in parts]
    if len(expressions) > 1:
        expressions = [f"({item})" for item in expressions]
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Filter(joint.join(expressions), word.join(part.words for part in parts), tuple(notes))


def _one(item: dict[str, Any], fields: Fields) -> Filter:
    name = field_named(item["field"], fields)
    kind = fields.type_of(name)
    operator, value = item["op"], item.get("value")
    if operator in ("is empty", "is not empty"):
        return _empty(name, kind, operator)
    if value is None or value == []:
        raise MendableError(
            f'The condition on {name} has no value. Give one, or use the op "is empty".'
        )
    if operator in ("contains", "starts with"):
        return _part_of_text(name, operator, str(_single(value)))
    if operator == "between":
        low, high = _pair(value, name)
        first = _compared(name, kind, ">=", low, fields)
        second = _compared(name, kind, "<=", high, fields)
        return Filter(
            f"{first.expression} AND {second.expression}",
            f"{name} is between {low} and {high}",
            first.notes,
        )
    if operator in ("=", "<>", "one of"):
        values = _several(value, name, fields) if operator == "one of" else [_single(value)]
        holder = _holder(name, kind, values, fields)
        if holder == name:
            return _equal(name, kind, operator, values, fields)
        found = _equal(holder, "text", operator, values, fields)
        told = " or ".join(str(item) for item in values)
        note = f'The condition is on {holder}: {name} cannot be "{told}", {holder} can.'
        return Filter(found.expression, found.words, (*found.notes, note))
    return _compared(name, kind, operator, _single(value), fields)


def _holder(name: str, kind: str, values: list[Any], fields: Fields) -> str:
    """Return the field that holds these values: `name`, or the only text field with all of them
    when `name` cannot hold any."""
    if kind in _NUMBERS and any(_number(value) is not None for value in values):
        return name
    if kind not in _NUMBERS and (kind != "text" or _holds_any(name, values, fields)):
        return name
    texts = [item for item in fields.names() if item != name and fields.type_of(item) == "text"]
    found = [
        item
        for item in texts
        if fields.values_of(item) and all(_holds_any(item, [value], fields) for value in values)
    ]
    return found[0] if len(found) == 1 else name


def _holds_any(name: str, values: list[Any], fields: Fields) -> bool:
    """Tell whether a text field has one of the values; unknown values count as held."""
    known = fields.values_of(name)
    if known is None:
        return True
    wanted = {folded(str(value)) for value in values}
    if any(folded(text) in wanted for text in known):
        return True
    return any(alike(str(value), known) for value in values)


def _empty(name: str, kind: str, operator: str) -> Filter:
    column = quoted_name(name)
    if operator == "is empty":
        blank = f"{column} IS NULL OR trim({column}) = ''"
        return Filter(blank if kind == "text" else f"{column} IS NULL", f"{name} is empty")
    filled = f"{column} IS NOT NULL AND trim({column}) <> ''"
    return Filter(filled if kind == "text" else f"{column} IS NOT NULL", f"{name} is not empty")


def _part_of_text(name: str, operator: str, value: str) -> Filter:
    text = f"lower(to_string({quoted_name(name)}))"
    position = f"strpos({text}, lower({quoted_text(value)}))"
    test = f"{position} > 0" if operator == "contains" else f"{position} = 1"
    return Filter(test, f"{name} {operator} {value}")


def _equal(name: str, kind: str, operator: str, values: list[Any], fields: Fields) -> Filter:
    notes: tuple[str, ...] = ()
    column = quoted_name(name)
    if kind == "text":
        texts = [text for value in values for text in _real_texts(name, value, fields)]
        literals = [quoted_text(text) for text in dict.fromkeys(texts)]
    elif kind in _NUMBERS:
        literals = [_number_text(value, name, fields.layer) for value in values]
    elif kind in _DATES:
        column, literals = _dated(name, kind, values)
    elif kind == "boolean":
        literals = [_boolean_text(value, name) for value in values]
    else:
        column = f"to_string({column})"
        literals = [quoted_text(str(value)) for value in values]
    words = " or ".join(str(value) for value in values)
    negative = operator == "<>"
    if negative:
        notes = (f"Features whose {name} is empty are not included.",)
    if len(literals) == 1:
        test = f"{column} {'<>' if negative else '='} {literals[0]}"
    else:
        test = f"{column} {'NOT IN' if negative else 'IN'} ({', '.join(literals)})"
    return Filter(test, f"{name} {'is not' if negative else 'is'} {words}", notes)


def _real_texts(name: str, value: Any, fields: Fields) -> list[str]:
    """Return the texts of the data that `value` means; itself when they are not known."""
    wanted = str(value)
    known = fields.values_of(name)
    if known is None or wanted in known:
        return [wanted]
    equal = [text for text in known if folded(text) == folded(wanted)]
    equal = equal or alike(wanted, known)
    if equal:
        return equal
    near = closest(wanted, known)
    hint = f"Closest: {listed(near)}." if near else f"Its values are {listed(known, 12)}."
    raise MendableError(f'{fields.layer} has no {name} "{wanted}". {hint}')


def _compared(name: str, kind: str, operator: str, value: Any, fields: Fields) -> Filter:
    words = f"{name} {operator} {value}"
    if kind in _DATES:
        column, literals = _dated(name, kind, [value])
        return Filter(f"{column} {operator} {literals[0]}", words)
    number = _number(value)
    if kind in _NUMBERS:
        literal = _number_text(value, name, fields.layer)
        return Filter(f"{quoted_name(name)} {operator} {literal}", words)
    if kind == "text" and number is not None:
        note = f"{name} is text: values that are not numbers were left out."
        return Filter(f"{number_of(name, kind)} {operator} {number!r}", words, (note,))
    return Filter(f"{quoted_name(name)} {operator} {quoted_text(str(value))}", words)


def _dated(name: str, kind: str, values: list[Any]) -> tuple[str, list[str]]:
    """Return the column and the literals for a comparison of dates; four digits mean a year."""
    texts = [str(value).strip() for value in values]
    column = quoted_name(name)
    for text in texts:
        if not re.fullmatch(_MOMENTS[kind], text):
            raise MendableError(
                f'{name} holds {kind} values, so it cannot be "{text}". '
                f"Write it as {_MOMENT_SHOWN[kind]}."
            )
    if kind != "time" and all(re.fullmatch(r"\d{4}", text) for text in texts):
        return f"year({column})", texts
    if kind == "datetime" and all(re.fullmatch(r"\d{4}-\d\d-\d\d", text) for text in texts):
        return f"to_date({column})", [f"to_date({quoted_text(text)})" for text in texts]
    return column, [f"to_{kind}({quoted_text(text)})" for text in texts]


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    text = str(value).strip()
    try:
        return int(text)
    except ValueError:
        pass
    try:
        found = float(text)
    except ValueError:
        return None
    return found if found == found and abs(found) != float("inf") else None


def _number_text(value: Any, name: str, layer: str) -> str:
    number = _number(value)
    if number is None:
        raise MendableError(f'{name} of {layer} holds numbers, so it cannot be "{value}".')
    return repr(number)


def _boolean_text(value: Any, name: str) -> str:
    text = str(value).strip().lower()
    if text in ("true", "1", "yes"):
        return "true"
    if text in ("false", "0", "no"):
        return "false"
    raise MendableError(f'{name} is true or false, so it cannot be "{value}".')


def _single(value: Any) -> Any:
    if isinstance(value, list):
        if len(value) != 1:
            raise MendableError('Several values need the op "one of" or "between".')
        return value[0]
    return value


def _several(value: Any, name: str, fields: Fields) -> list[Any]:
    """Return the values of a list; a text that the field holds as it is stays whole."""
    if isinstance(value, list):
        return value
    if isinstance(value, str) and fields.type_of(name) == "text" and "," in value:
        known = fields.values_of(name) or []
        if folded(value) in {folded(text) for text in known}:
            return [value]
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else [value]


def _pair(value: Any, name: str) -> tuple[Any, Any]:
    parts = value
    if isinstance(value, str):
        parts = re.split(r"\s*(?:,|;|\band\b|\bto\b)\s*", value.strip())
    if not isinstance(parts, list) or len(parts) != 2:
        raise MendableError(f'"between" on {name} needs two values, as in [10, 20].')
    return parts[0], parts[1]
