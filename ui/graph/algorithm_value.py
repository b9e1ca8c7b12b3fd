# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of algorithms between a workflow's JSON and QGIS's parameter widgets.

In the JSON options stand by their text, colours as #rrggbb, matrices as rows, dates as ISO text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qgis.core import NULL, QgsCoordinateReferenceSystem, QgsProcessingParameterDefinition
from qgis.PyQt.QtCore import QDate, QDateTime, Qt, QTime
from qgis.PyQt.QtGui import QColor

from ...plugin.workflow.value import Value

Definition = QgsProcessingParameterDefinition
_OBJECTS = frozenset(("aggregates", "fields_mapping"))
_QUANTITIES = frozenset(("number", "distance", "area", "volume", "duration", "scale"))


def can_show(definition: Definition, value: Value) -> bool:
    """Tell whether a value is of the kind that QGIS's widget takes; some end with another one."""
    if value is None:
        return True
    kind = definition.type()
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    if kind == "enum":
        is_several = definition.allowMultiple() or not isinstance(value, (list, tuple))
        return is_several and all(_is_option(definition, one) for one in items)
    if kind == "matrix":
        cells = [x for one in items for x in (one if isinstance(one, (list, tuple)) else [one])]
        return all(isinstance(one, (str, int, float)) for one in cells)
    if kind in _OBJECTS:
        return all(isinstance(one, Mapping) for one in items)
    if kind in _QUANTITIES or kind == "range":
        return all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in items)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "band":
        return all(isinstance(one, int) and not isinstance(one, bool) for one in items)
    return all(isinstance(one, str) for one in items)


def _is_option(definition: Definition, value: Value) -> bool:
    is_place = isinstance(value, int) and not isinstance(value, bool)
    return value in definition.options() or (
        is_place and not definition.usesStaticStrings() and 0 <= value < len(definition.options())
    )


def for_widget(definition: Definition, value: Value) -> Any:
    """Return a value of the JSON as QGIS's widget takes it."""
    kind = definition.type()
    if value is None:
        return definition.defaultValue()
    if kind == "enum":
        return _places(definition, value)
    if kind == "matrix" and isinstance(value, (list, tuple)):
        rows = [one if isinstance(one, (list, tuple)) else [one] for one in value]
        return [cell for row in rows for cell in row]
    if kind == "range" and isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    if kind == "color" and isinstance(value, str):
        return QColor(_argb(value))
    return value


def for_graph(definition: Definition, value: Any) -> Value:
    """Return what a widget holds as the JSON has it, None for nothing."""
    if value is None or value == NULL:
        return None
    kind = definition.type()
    if kind == "enum":
        return _options(definition, value)
    if isinstance(value, QgsCoordinateReferenceSystem):
        return value.authid() or value.toWkt() or None
    if isinstance(value, QColor):
        alpha = f"{value.alpha():02x}" if value.alpha() < 255 else ""
        return f"{value.name()}{alpha}" if value.isValid() else None
    if isinstance(value, (QDateTime, QDate, QTime)):
        return str(value.toString(Qt.DateFormat.ISODate)) or None
    if kind == "matrix":
        return _rows(definition, [_plain(one) for one in value])
    if kind == "range":
        return _range(value)
    if kind == "scale" and not value:
        return None
    if kind in _QUANTITIES and isinstance(value, float) and value.is_integer():
        return int(value)
    found = _plain(value)
    return None if found in ("", [], {}) else found


def is_same(definition: Definition, one: Value, other: Value) -> bool:
    """Tell whether two values of the JSON mean the same to an algorithm."""
    if one == other:
        return True
    if definition.type() == "enum":
        return _options(definition, one) == _options(definition, other)
    if definition.type() in ("extent", "point"):
        return _place(one) == _place(other)
    if definition.type() in ("string", "expression"):
        return str(one or "").replace(" ", "") == str(other or "").replace(" ", "")
    if definition.type() == "color":
        return str(one or "").lower() == str(other or "").lower()
    return False


def _place(value: Value) -> Any:
    """Return coordinates as numbers with the CRS behind them, whatever way they are written."""
    numbers, _, crs = str(value or "").partition("[")
    try:
        return [float(one) for one in numbers.split(",")], crs.strip(" ]")
    except ValueError:
        return value


def _places(definition: Definition, value: Value) -> Any:
    """Return options as the widget takes them: by place, or by text where they are static."""
    options = definition.options()
    texts = list(value) if isinstance(value, (list, tuple)) else [value]
    if definition.usesStaticStrings():
        found: list[Any] = texts
    else:
        found = [options.index(one) if one in options else one for one in texts]
    return found if definition.allowMultiple() else next(iter(found), None)


def _options(definition: Definition, value: Any) -> Value:
    options = definition.options()
    if value is None:
        return None
    several = isinstance(value, (list, tuple))
    given = list(value) if several else [value]
    texts = [
        options[one] if isinstance(one, int) and 0 <= one < len(options) else str(one)
        for one in given
    ]
    if definition.allowMultiple():
        return texts or None
    return texts[0] if texts else None


def _rows(definition: Definition, cells: list[Value]) -> Value:
    width = len(definition.headers())
    if all(one is None for one in cells):
        return None
    if not width:
        return cells
    return [cells[at : at + width] for at in range(0, len(cells), width)]


def _range(value: Any) -> Value:
    parts = value.split(",") if isinstance(value, str) else list(value)
    try:
        return [float(one) for one in parts] or None
    except (TypeError, ValueError):
        return None


def _argb(text: str) -> str:
    """Return #rrggbbaa as Qt reads it, with the alpha first."""
    return f"#{text[7:9]}{text[1:7]}" if text.startswith("#") and len(text) == 9 else text


def _plain(value: Any) -> Value:
    if value is None or value == NULL:
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
