# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters that are lists of objects: aggregates, fields, layers with settings of their own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from qgis.core import QgsVectorLayer
from qgis.PyQt.QtCore import QMetaType

from .base import MendableError
from .condition import field_named
from .expression import SourceFields, checked
from .fitting import (
    Fitting,
    Way,
    as_number,
    as_objects,
    as_text,
    chosen,
    decoded,
    inside_project,
    wrong,
)
from .schema import is_nothing
from .source import RasterSource, VectorSource

_AGGREGATES = [
    "first_value", "last_value", "count", "count_distinct", "count_missing", "sum", "mean",
    "median", "minimum", "maximum", "range", "stdev", "minority", "majority", "q1", "q3", "iqr",
    "min_length", "max_length", "concatenate", "concatenate_unique", "array_agg", "collect",
]  # fmt: skip
_ALSO = {
    "min": "minimum", "max": "maximum", "average": "mean", "avg": "mean", "total": "sum",
    "std": "stdev", "unique": "count_distinct", "first": "first_value", "last": "last_value",
}  # fmt: skip
_COUNTS = {"count", "count_distinct", "count_missing", "min_length", "max_length"}
_REAL = {"mean", "median", "stdev", "q1", "q3", "iqr"}
_TYPES = {
    "integer": QMetaType.Type.LongLong,
    "real": QMetaType.Type.Double,
    "text": QMetaType.Type.QString,
    "date": QMetaType.Type.QDate,
    "time": QMetaType.Type.QTime,
    "datetime": QMetaType.Type.QDateTime,
    "boolean": QMetaType.Type.Bool,
}
_KNOWN = (
    *_TYPES.values(), QMetaType.Type.Int, QMetaType.Type.UInt, QMetaType.Type.ULongLong,
    QMetaType.Type.QByteArray, QMetaType.Type.QStringList, QMetaType.Type.QVariantList,
    QMetaType.Type.QVariantMap,
)  # fmt: skip
_TYPES_ALSO = {"int": "integer", "int8": "integer", "double": "real", "double precision": "real",
               "float": "real", "number": "real", "string": "text", "str": "text",
               "bool": "boolean"}  # fmt: skip
_TIN_KINDS = ["vertices", "structure lines", "break lines"]
_IDW_KINDS = ["points", "structure lines", "break lines"]
_RESAMPLINGS = ["nearest neighbour", "bilinear", "cubic", "cubic spline", "lanczos", "average",
                "mode", "maximum", "minimum", "median", "q1", "q3"]  # fmt: skip


def _source(fitting: Fitting, definition: Any) -> VectorSource | None:
    """Return the layer whose fields are meant; not all of these types say it in Python."""
    names = definition.dependsOnOtherParameters()
    found = fitting.parent(names[0]) if names else None
    return found if isinstance(found, VectorSource) else None


def _fields(fitting: Fitting, source: VectorSource) -> SourceFields:
    return SourceFields(source, fitting.context.cancelled)


def _expression(fitting: Fitting, item: dict[str, Any], source: VectorSource | None) -> str:
    """Return the expression of an object, which may name a field instead."""
    name = item.get("field")
    if name is not None and source is not None:
        return f'"{field_named(str(name), _fields(fitting, source))}"'
    text = str(item.get("input", item.get("expression", "")) or "")
    if source is None:
        return str(inside_project(fitting, text))
    if text in source.names():
        return f'"{text}"'
    return checked(text, source) if text else ""


def _type(definition: Any, item: dict[str, Any], usual: str) -> int:
    """Return the type of a field as QGIS numbers it, given so or by name."""
    given = item.get("type", usual)
    if isinstance(given, int) and not isinstance(given, bool):
        if given in map(_number, _KNOWN):
            return given
        raise wrong(definition, f"a list with types among {', '.join(_TYPES)}", given)
    text = str(given).lower()
    name = chosen(definition, _TYPES_ALSO.get(text, text), list(_TYPES), "type")
    return _number(_TYPES[name])


def _number(kind: Any) -> int:
    """Return the number of a type, which is an enumeration's member on Qt 6."""
    return int(getattr(kind, "value", kind))


def _size(definition: Any, item: dict[str, Any], key: str) -> int:
    return int(as_number(definition, item.get(key) or 0))


def _row(definition: Any, item: dict[str, Any], name: str, usual: str) -> dict[str, Any]:
    """Return what aggregates and mapped fields have in common."""
    return {
        "name": name,
        "type": _type(definition, item, usual),
        "length": _size(definition, item, "length"),
        "precision": _size(definition, item, "precision"),
        "sub_type": _size(definition, item, "sub_type"),
        "type_name": str(item.get("type_name") or ""),
    }


def _type_of(source: VectorSource | None, text: str, otherwise: str) -> str:
    """Return the type of the field that an expression is, else `otherwise`."""
    name = text.strip('"')
    if source is None or name not in source.names():
        return otherwise
    found = source.type_of(name)
    return found if found in _TYPES else otherwise


def aggregates(fitting: Fitting, definition: Any, value: Any) -> list[dict[str, Any]]:
    """Return the fields of a dissolved layer, each the aggregate of an expression or a field."""
    source = _source(fitting, definition)
    found = []
    for item in as_objects(definition, value, "field"):
        text = _expression(fitting, item, source)
        if not text:
            raise MendableError(f"{definition.name()}: each object needs a field or an input.")
        said = str(item.get("aggregate", "first_value"))
        how = chosen(definition, _ALSO.get(said.lower(), said), _AGGREGATES, "aggregate")
        usual = _type_of(source, text, "text" if "concat" in how else "real")
        usual = "integer" if how in _COUNTS else "real" if how in _REAL else usual
        name = text.strip('"') if how == "first_value" else f"{text.strip(chr(34))}_{how}"
        found.append(
            {
                **_row(definition, item, str(item.get("name") or name), usual),
                "input": text,
                "aggregate": how,
                "delimiter": str(item.get("delimiter", ",")),
            }
        )
    return found


def fields_mapping(fitting: Fitting, definition: Any, value: Any) -> list[dict[str, Any]]:
    """Return the fields of a new table, each an expression with a name and a type."""
    source = _source(fitting, definition)
    found = []
    for item in as_objects(definition, value, "field"):
        text = _expression(fitting, item, source)
        name = str(item.get("name") or text.strip('"'))
        if not text or not name:
            raise MendableError(f"{definition.name()}: each object needs an expression and a name.")
        usual = _type_of(source, text, "text")
        found.append({**_row(definition, item, name, usual), "expression": text})
    return found


def _layer(fitting: Fitting, definition: Any, item: dict[str, Any], *keys: str) -> Any:
    name = next((item[key] for key in ("layer", *keys) if not is_nothing(item.get(key))), None)
    if name is None:
        raise MendableError(f'{definition.name()}: each object needs a "layer".')
    return fitting.context.layer(as_text(definition, name))


def _vector(fitting: Fitting, definition: Any, item: dict[str, Any], *keys: str) -> VectorSource:
    found = _layer(fitting, definition, item, *keys)
    if not isinstance(found, VectorSource):
        raise MendableError(f"{definition.name()} needs a vector layer; {found.key} is a raster.")
    return found


def _place(definition: Any, given: Any, names: list[str]) -> int:
    """Return the place of a kind given by name or number."""
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(names):
        return given
    return names.index(chosen(definition, given, names, "kind"))


def _attribute(fitting: Fitting, definition: Any, item: dict[str, Any], source: Any) -> int:
    """Return the place of a field, -1 for none: then the height of the geometry is meant."""
    name = item.get("field")
    index = item.get("attributeIndex", -1)
    if not is_nothing(name):
        return source.names().index(field_named(str(name), _fields(fitting, source)))
    if isinstance(index, bool) or not isinstance(index, int) or index >= len(source.names()):
        raise wrong(definition, f"a list with fields of {source.key}", index)
    return index


def tin_layers(fitting: Fitting, definition: Any, value: Any) -> list[dict[str, Any]]:
    """Return the layers of a triangulation with the field or Z value of their heights."""
    found = []
    for item in as_objects(definition, value, "layer"):
        source = _vector(fitting, definition, item, "source")
        index = _attribute(fitting, definition, item, source)
        kind = _place(definition, item.get("type", 0), _TIN_KINDS)
        found.append({"source": source.id, "type": kind, "attributeIndex": index})
    return found


def interpolation(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return the layers of an interpolation as its algorithm reads them."""
    rows = []
    given = decoded(value)
    if isinstance(given, str) and "::~::" in given:
        given = [dict(zip(("layer", "z", "attributeIndex", "type"), row.split("::~::")))
                 for row in given.split("::|::")]  # fmt: skip
        for item in given:
            numbers = {key: item.get(key, "0") for key in ("attributeIndex", "type")}
            if any(not text.lstrip("-").isdigit() for text in numbers.values()):
                raise wrong(definition, 'a list of objects with "layer" and "field"', value)
            item.update({key: int(text) for key, text in numbers.items()})
    for item in as_objects(definition, given, "layer"):
        source = _vector(fitting, definition, item)
        index = _attribute(fitting, definition, item, source)
        if index < 0 and not source.has_z():
            raise MendableError(
                f'{definition.name()}: {source.key} has no heights of its own, so say its "field".'
            )
        kind = _place(definition, item.get("type", 0), _IDW_KINDS)
        rows.append(f"{source.id}::~::{0 if index >= 0 else 1}::~::{index}::~::{kind}")
    return "::|::".join(rows)


def tile_layers(fitting: Fitting, definition: Any, value: Any) -> list[dict[str, Any]]:
    """Return the layers of vector tiles with their filters and zoom levels."""
    found = []
    for item in as_objects(definition, value, "layer"):
        source = _vector(fitting, definition, item)
        row: dict[str, Any] = {"layer": source.id}
        if not is_nothing(item.get("filterExpression")):
            row["filterExpression"] = checked(str(item["filterExpression"]), source)
        if not is_nothing(item.get("layerName")):
            row["layerName"] = str(item["layerName"])
        for key in ("minZoom", "maxZoom"):
            if not is_nothing(item.get(key)):
                row[key] = int(as_number(definition, item[key]))
        found.append(row)
    return found


def drawing_layers(fitting: Fitting, definition: Any, value: Any) -> list[dict[str, Any]]:
    """Return the layers of a drawing, each perhaps parted by a field."""
    found = []
    for item in as_objects(definition, value, "layer"):
        source = _vector(fitting, definition, item)
        index = _attribute(fitting, definition, item, source)
        live: Any = fitting.context.call(lambda one=source: fitting.context.map_layer(one))
        if not isinstance(live, QgsVectorLayer) or not live.isSpatial():
            raise MendableError(f"{definition.name()} needs layers on the map, not {source.key}.")
        found.append({"layer": source.id, "attributeIndex": index})
    return found


def aligned_layers(fitting: Fitting, definition: Any, value: Any) -> list[dict[str, Any]]:
    """Return rasters with a new file for each in the temporary folder."""
    found = []
    fitting.context.temporary_folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=fitting.context.temporary_folder))
    for number, item in enumerate(as_objects(definition, value, "layer")):
        source = _layer(fitting, definition, item, "inputFile")
        if not isinstance(source, RasterSource):
            raise MendableError(f"{definition.name()} needs rasters; {source.key} is none.")
        how = item.get("resampling", item.get("resampleMethod", 0))
        found.append(
            {
                "inputFile": source.source,
                "outputFile": str(folder / f"{number + 1}.tif"),
                "resampleMethod": _place(definition, how, _RESAMPLINGS),
                "rescale": item.get("rescale") is True,
            }
        )
    return found


def relief_colors(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return elevation classes as "from, to, r, g, b; …"; given so or as rows of five numbers."""
    given = decoded(value)
    rows = given.split(";") if isinstance(given, str) else given
    if not isinstance(rows, list) or not rows:
        raise wrong(definition, "rows of from, to, red, green, blue", value)
    found = []
    for row in rows:
        cells = row.split(",") if isinstance(row, str) else row
        if not isinstance(cells, list) or len(cells) != 5:
            raise wrong(definition, "rows of from, to, red, green, blue", value)
        numbers = [as_number(definition, cell) for cell in cells]
        if any(part != int(part) or not 0 <= part <= 255 for part in numbers[2:]):
            raise wrong(definition, "rows with colours from 0 to 255", value)
        found.append(", ".join([*map(str, numbers[:2]), *(str(int(one)) for one in numbers[2:])]))
    return ";".join(found)


WAYS: dict[str, Way] = {
    "aggregates": aggregates,
    "fields_mapping": fields_mapping,
    "tininputlayers": tin_layers,
    "idw_interpolation_data": interpolation,
    "vectortilewriterlayers": tile_layers,
    "dxflayers": drawing_layers,
    "alignrasterlayers": aligned_layers,
    "relief_colors": relief_colors,
}
"""How a value of each type of parameter is fitted."""
