# SPDX-License-Identifier: GPL-2.0-or-later
"""QGIS expressions checked before they run: a missing field or function is an error with the
closest name, not an empty result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from qgis.core import QgsExpression, QgsFeature

from . import condition
from .base import MendableError
from .condition import Filter
from .distance import needs_crs
from .source import VectorSource, plain
from .spelling import closest, folded

MOST_DISTINCT = 1_000
MOST_ROWS = 200_000
OUTSIDE = frozenset(
    {
        "load_layer",
        "env",
        "eval",
        "eval_template",
        "exif",
        "exif_geotag",
        "file_exists",
        "file_size",
        "is_directory",
        "is_file",
        "read_file",
        "sqlite_fetch_and_increment",
    }
)
"""Functions that reach for files or for the machine, or hide what they call, refused in every
expression; those that are no part of QGIS are refused too."""
_ELLIPSOIDAL = {"$area", "$length", "$perimeter"}
_PLANAR = {
    "area": "$area",
    "perimeter": "$perimeter",
    "length": "$length",
    "buffer": "",
    "distance": "",
}
_LENGTH_OF_TEXT = re.compile(r"\blength\s*\((?!\s*[$@]?geometry\b)", re.IGNORECASE)
_UNKNOWN_FUNCTION = re.compile(r"(\w+)\s*\(")


class SourceFields:
    """What a condition must know of a vector layer; values are read once and kept."""

    def __init__(self, source: VectorSource, cancelled: Callable[[], bool]) -> None:
        self.layer = source.key
        self._source = source
        self._cancelled = cancelled
        self._values: dict[str, list[str] | None] = {}

    def names(self) -> list[str]:
        """Return the names of the fields."""
        return self._source.names()

    def type_of(self, name: str) -> str:
        """Return the type of a field in FieldProfile's words."""
        return self._source.type_of(name)

    def values_of(self, name: str) -> list[str] | None:
        """Return the distinct texts of a field, None when there are too many."""
        if name not in self._values:
            self._values[name] = self._read(name)
        return self._values[name]

    def _read(self, name: str) -> list[str] | None:
        place, found = self._source.fields.lookupField(name), {}
        rows = self._source.rows(self._cancelled, only=[name])
        for number, feature in enumerate(rows):
            value = plain(feature[place])
            if value is not None:
                found[str(value)] = True
            if len(found) > MOST_DISTINCT or number >= MOST_ROWS:
                return None
        return list(found)


def checked(text: str, source: VectorSource) -> str:
    """Return the expression when it parses and names only what is there. Raises MendableError."""
    expression = QgsExpression(text)
    if expression.hasParserError():
        raise MendableError(_parse_hint(text, expression.parserErrorString().strip(), source))
    refuse_outside(text)
    names = source.names()
    known = {folded(name) for name in names}
    for column in sorted(expression.referencedColumns()):
        if column != "#!allattributes!#" and folded(column) not in known:
            raise MendableError(_missing(column, text, source))
    guard_units(text, source)
    return text


def guard_units(text: str, source: VectorSource) -> None:
    """Refuse measures without CRS, and planar measures in degrees. Raises MendableError."""
    used = QgsExpression(text).referencedFunctions() | {
        name for name in _ELLIPSOIDAL if name in text.lower()
    }
    if _LENGTH_OF_TEXT.search(text):
        used -= {"length"}
    if used & (_ELLIPSOIDAL | set(_PLANAR)):
        needs_crs(source, "areas, lengths and distances cannot be measured")
    if not source.in_degrees():
        return
    for name in sorted(used & set(_PLANAR)):
        better = _PLANAR[name]
        hint = f"Use {better}." if better else "Reproject it to a metric CRS first."
        raise MendableError(
            f"{name}() would be in degrees: {source.key} is in {source.crs.authid()}. {hint}"
        )


def refuse_outside(value: Any) -> None:
    """Refuse functions that reach outside the project, in every text within `value`.

    Raises MendableError.
    """
    if isinstance(value, str):
        used = QgsExpression(value).referencedFunctions()
        known = set(QgsExpression.BuiltinFunctions())
        outside = {
            name
            for name in used
            if name in OUTSIDE or (QgsExpression.isFunctionName(name) and name not in known)
        }
        if outside:
            raise MendableError(f"{min(outside)}() reaches outside the project, so it is refused.")
    elif isinstance(value, (list, tuple)):
        for item in value:
            refuse_outside(item)
    elif isinstance(value, dict):
        refuse_outside(list(value.values()))


def _missing(column: str, text: str, source: VectorSource) -> str:
    names = source.names()
    near = closest(column, names)
    said = f'{source.key} has no field "{column}".'
    if f'"{column}"' in text:
        said += f" If {column} is a value, write it in single quotes: '{column}'."
    if near:
        said += f" Closest fields: {', '.join(near)}."
    return said


def _parse_hint(text: str, error: str, source: VectorSource) -> str:
    functions = [function.name() for function in QgsExpression.Functions()]
    for name in _UNKNOWN_FUNCTION.findall(text):
        if name in error and not QgsExpression.isFunctionName(name):
            near = closest(name, functions)
            hint = f" Closest: {', '.join(near)}." if near else ""
            return f"There is no function {name} in QGIS expressions.{hint}"
    said = f"The expression does not parse: {' '.join(error.split())}."
    if "==" in text:
        return said + " Equality is a single =."
    blanks = [name for name in source.names() if re.search(r"\W", name) and name in text]
    if blanks:
        return said + f' Write the field as "{blanks[0]}", in double quotes.'
    return said + " Fields go in double quotes, texts in single quotes."


def chosen(
    arguments: dict[str, Any], source: VectorSource, cancelled: Callable[[], bool]
) -> Filter:
    """Return the filter that a call's conditions and expression mean together.

    Raises MendableError.
    """
    fields = SourceFields(source, cancelled)
    conditions: Sequence[dict[str, Any]] = arguments.get("conditions") or []
    built = condition.build(conditions, arguments.get("match", "all"), fields)
    text = arguments.get("where", "")
    if not text:
        return built
    free = checked(text, source)
    if not built.expression:
        return Filter(free, free)
    return Filter(f"({built.expression}) AND ({free})", f"{built.words} and {free}", built.notes)


def evaluator(text: str, source: VectorSource) -> Callable[[QgsFeature], Any]:
    """Return a function that evaluates a checked expression for a feature of `source`.

    It is for one thread. Raises MendableError when the expression fails on a feature.
    """
    expression = QgsExpression(checked(text, source))
    context = source.context
    context.setFields(source.fields)
    expression.setGeomCalculator(source.measurer)
    expression.setDistanceUnits(source.measurer.lengthUnits())
    expression.setAreaUnits(source.measurer.areaUnits())
    expression.prepare(context)

    def evaluate(feature: QgsFeature) -> Any:
        context.setFeature(feature)
        value = expression.evaluate(context)
        if expression.hasEvalError():
            raise MendableError(
                f"The expression fails on feature {feature.id()} of {source.key}: "
                f"{expression.evalErrorString()}."
            )
        return plain(value)

    return evaluate
