# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters that are one value: texts, choices, expressions, moments, colours, files, and what a
project's layouts and themes are called."""

from __future__ import annotations

import re
from typing import Any

from qgis.core import (
    Qgis,
    QgsExpression,
    QgsLayoutItemMap,
    QgsProject,
    QgsSymbolLayerUtils,
)
from qgis.PyQt.QtCore import QDate, QDateTime, Qt, QTime

from .base import MendableError
from .expression import checked, failures, refuse_outside
from .fitting import (
    Fitting,
    Way,
    as_number,
    as_text,
    chosen,
    inside_project,
    is_number,
    many,
    one,
    shown,
    wrong,
)
from .source import VectorSource
from .spelling import bare, closest, listed

_WORDS_ONLY = re.compile(r"(?!-)[\w .,:;/+%-]*|-\d[\d.]*")
"""What a program of GDAL is given as text: nothing that it could take for an option or a query."""
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_MOMENTS = {
    Qgis.ProcessingDateTimeParameterDataType.DateTime: "a moment such as 2024-05-31T12:00:00",
    Qgis.ProcessingDateTimeParameterDataType.Date: "a date such as 2024-05-31",
    Qgis.ProcessingDateTimeParameterDataType.Time: "a time such as 12:00:00",
}


def boolean(fitting: Fitting, definition: Any, value: Any) -> bool:
    """Return a truth value, also from "yes" and 0."""
    given = one(definition, value)
    text = str(given).strip().lower() if isinstance(given, (bool, int, str)) else ""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise wrong(definition, "true or false", value)


def string(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return a text; for programs of GDAL one of plain words only."""
    text = as_text(definition, value)
    if fitting.algorithm.provider().id() == "gdal" and not _WORDS_ONLY.fullmatch(text):
        raise MendableError(f"{definition.name()} takes letters, digits and , . : / only.")
    return text


def enum(fitting: Fitting, definition: Any, value: Any) -> Any:
    """Return the place of an option given by text, or several; the text of a static one."""
    options = definition.options()
    if not definition.allowMultiple():
        one(definition, value)
    found: list[Any] = [_option(definition, options, item) for item in many(value)]
    if definition.usesStaticStrings():
        found = [options[place] for place in found]
    return found if definition.allowMultiple() else found[0]


def _option(definition: Any, options: list[str], value: Any) -> int:
    text = str(value).strip()
    if isinstance(value, (bool, dict, list)):
        raise wrong(definition, f"one of {listed(options, 20)}", value)
    if text.isdigit() and text not in options and int(text) < len(options):
        return int(text)
    equal = [place for place, option in enumerate(options) if bare(option) == bare(text)]
    if len(equal) == 1:
        return equal[0]
    inside = [place for place, option in enumerate(options) if bare(text) in bare(option)]
    if len(inside) == 1 and bare(text):
        return inside[0]
    near = closest(text, options)
    hint = f" Closest: {listed(near)}." if near and len(options) > 12 else ""
    raise MendableError(
        f'{definition.name()} cannot be "{text}". Allowed: {listed(options, 20)}.{hint}'
    )


def expression(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return an expression that parses, and whose fields and functions exist."""
    text = as_text(definition, value)
    source = fitting.parent(definition.parentLayerParameterName())
    if isinstance(source, VectorSource):
        found = checked(text, source)
        fitting.context.note(*failures(found, source, fitting.context.cancelled))
        return found
    refuse_outside(text)
    parsed = QgsExpression(text)
    if definition.expressionType() == Qgis.ExpressionType.Qgis and parsed.hasParserError():
        error = " ".join(parsed.parserErrorString().split())
        raise MendableError(f"{definition.name()} does not parse: {error}.")
    return text


def moment(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return a date, a time or both as ISO text."""
    given = one(definition, value)
    kind, iso = definition.dataType(), Qt.DateFormat.ISODate
    text = given.strip() if isinstance(given, str) else ""
    if kind == Qgis.ProcessingDateTimeParameterDataType.Time:
        found: Any = QTime.fromString(text, iso)
    elif kind == Qgis.ProcessingDateTimeParameterDataType.Date:
        found = QDate.fromString(text[:10], iso)
    else:
        found = QDateTime.fromString(text, iso)
    if not found.isValid():
        raise wrong(definition, _MOMENTS[kind], value)
    least, most = definition.minimum(), definition.maximum()
    if isinstance(found, QDateTime) and (
        (least.isValid() and found < least) or (most.isValid() and found > most)
    ):
        raise MendableError(
            f"{definition.name()} must be from {least.toString(iso)} to {most.toString(iso)}."
        )
    return str(found.toString(iso))


def color(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return a colour as #rrggbb, or #rrggbbaa; given so, by name or as numbers from 0 to 255."""
    given = many(value)
    if len(given) == 1 and isinstance(given[0], str):
        found, has_alpha = QgsSymbolLayerUtils.parseColorWithAlpha(given[0])
    elif len(given) in (3, 4) and all(type(part) is int and 0 <= part <= 255 for part in given):
        text = f"rgba({','.join(map(str, given[:3]))},{given[3] / 255 if given[3:] else 1})"
        found, has_alpha = QgsSymbolLayerUtils.parseColorWithAlpha(text)
    else:
        raise wrong(definition, "a colour such as #ff8000 or red", value)
    if not found.isValid():
        raise wrong(definition, "a colour such as #ff8000 or red", value)
    if has_alpha and found.alpha() < 255 and definition.opacityEnabled():
        return f"{found.name()}{found.alpha():02x}"
    return str(found.name())


def matrix(fitting: Fitting, definition: Any, value: Any) -> list[Any]:
    """Return a table as a flat list; given as rows, or flat, or as numbers with commas."""
    rows: list[Any] = many(value)
    if len(rows) == 1 and isinstance(rows[0], str):
        rows = [part.strip() for part in rows[0].split(",")]
    if len(rows) == 1 and isinstance(rows[0], dict):
        raise wrong(definition, "a list of rows", value)
    if not rows:
        raise MendableError(f"{definition.name()} needs at least one row.")
    headers = definition.headers()
    flat: list[Any] = []
    for row in rows:
        if isinstance(row, dict):
            row = [row.get(header) for header in headers]
        cells = row if isinstance(row, (list, tuple)) else [row]
        if isinstance(row, (list, tuple)) and headers and len(row) != len(headers):
            raise MendableError(
                f"{definition.name()} needs {len(headers)} values in each row "
                f"({', '.join(headers)}), not {shown(row)}."
            )
        flat.extend(cells)
    if any(not isinstance(cell, (int, float, str)) or isinstance(cell, bool) for cell in flat):
        raise wrong(definition, "a list of rows of numbers or texts", value)
    if headers and len(flat) % len(headers):
        raise MendableError(
            f"{definition.name()} has {len(flat)} values; its rows are {', '.join(headers)}."
        )
    if definition.hasFixedNumberRows() and len(flat) != len(headers) * definition.numberRows():
        raise MendableError(f"{definition.name()} needs {definition.numberRows()} rows.")
    return [as_number(definition, cell) if _reads_number(cell) else cell for cell in flat]


def _reads_number(value: Any) -> bool:
    if is_number(value):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return True


def file(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return the path of a file or a folder that may be read."""
    text = as_text(definition, one(definition, value))
    path = fitting.context.boundary().readable(text, definition.name())
    folder = definition.behavior() == Qgis.ProcessingFileParameterBehavior.Folder
    if not (path.is_dir() if folder else path.is_file()):
        raise MendableError(
            f"{definition.name()}: there is no {'folder' if folder else 'file'} {text}."
        )
    return str(path)


def layout(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return the name of a print layout of the project."""
    project = fitting.context.project
    names = fitting.context.call(
        lambda: [item.name() for item in project.layoutManager().printLayouts()]
    )
    return chosen(definition, one(definition, value), names, "print layout")


def layout_item(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return the id of a map of a print layout, given by its id or its name."""
    parent = str(fitting.found.get(definition.parentLayoutParameterName(), ""))
    items = fitting.context.call(lambda: _maps(fitting.context.project, parent))
    if value in items.values():
        return str(value)
    return items[chosen(definition, one(definition, value), list(items), "map of the layout")]


def _maps(project: QgsProject, name: str) -> dict[str, str]:
    layout_named = project.layoutManager().layoutByName(name)
    items = layout_named.items() if layout_named is not None else []
    maps = [item for item in items if isinstance(item, QgsLayoutItemMap)]
    return {item.displayName(): item.uuid() for item in maps}


def map_theme(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return the name of a map theme of the project."""
    project = fitting.context.project
    names = fitting.context.call(lambda: project.mapThemeCollection().mapThemes())
    return chosen(definition, one(definition, value), names, "map theme")


def operation(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return a coordinate operation as PROJ writes it."""
    text = as_text(definition, one(definition, value)).strip()
    if not text.startswith("+proj="):
        raise wrong(definition, "a PROJ string that begins with +proj=", value)
    return str(inside_project(definition, text))


def never(fitting: Fitting, definition: Any, value: Any) -> str:
    """Refuse a parameter that holds a key or opens a database."""
    raise MendableError(f"{definition.name()} opens a connection, so it stays empty.")


WAYS: dict[str, Way] = {
    "boolean": boolean,
    "string": string,
    "enum": enum,
    "expression": expression,
    "datetime": moment,
    "color": color,
    "matrix": matrix,
    "file": file,
    "layout": layout,
    "layoutitem": layout_item,
    "maptheme": map_theme,
    "coordinateoperation": operation,
    "authcfg": never,
    "providerconnection": never,
    "databaseschema": never,
    "databasetable": never,
}
"""How a value of each type of parameter is fitted."""
