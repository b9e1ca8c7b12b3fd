# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON schema of an algorithm's parameters, from their definitions in the live registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.core import Qgis, QgsProcessingAlgorithm, QgsUnitTypes

from . import offer
from .base import Family
from .parameter import needs_value
from .parameter_layer import OTHER
from .parameter_measure import limits

Schema = dict[str, Any]

_FAMILIES = {
    Qgis.ProcessingSourceType.VectorPoint: Family.POINT,
    Qgis.ProcessingSourceType.VectorLine: Family.LINE,
    Qgis.ProcessingSourceType.VectorPolygon: Family.POLYGON,
    Qgis.ProcessingSourceType.VectorAnyGeometry: Family.VECTOR,
    Qgis.ProcessingSourceType.Vector: Family.TABLE,
    Qgis.ProcessingSourceType.Raster: Family.RASTER,
}
_TEXT: Schema = {"type": "string"}
_QUANTITY: Schema = {"type": ["number", "string"]}
_FORMS = {
    "extent": "a layer, or xmin,xmax,ymin,ymax [EPSG:n]",
    "point": "x,y [EPSG:n], or a layer with one point",
    "crs": "a code such as EPSG:3857",
    "geometry": "WKT",
    "color": "#rrggbb, or a name",
    "scale": "25000 or 1:25000",
    "range": "two numbers, the least and the greatest",
    "distance": "in the layer's unit, or with one: 500 m, 2 km",
    "area": "in the layer's unit, or with one: 2 ha, 5 km2",
    "volume": "in the layer's unit, or with one: 10 m3",
    "expression": "a QGIS expression",
    "coordinateoperation": "a PROJ pipeline",
    "datetime": "ISO, as in 2024-05-31T12:00:00",
    "meshdatasettime": "static, or ISO as in 2024-05-31T12:00:00",
    "relief_colors": "rows of from, to, red, green, blue",
}
_OBJECTS: dict[str, dict[str, Schema]] = {
    "aggregates": {"field": _TEXT, "input": _TEXT, "aggregate": _TEXT, "name": _TEXT},
    "fields_mapping": {"field": _TEXT, "expression": _TEXT, "name": _TEXT, "type": _TEXT},
    "tininputlayers": {"layer": {**_TEXT, "x-layer": "vector"}, "field": _TEXT, "type": _TEXT},
    "idw_interpolation_data": {"layer": {**_TEXT, "x-layer": "vector"}, "field": _TEXT},
    "vectortilewriterlayers": {"layer": {**_TEXT, "x-layer": "vector"}, "filterExpression": _TEXT},
    "dxflayers": {"layer": {**_TEXT, "x-layer": "vector"}, "field": _TEXT},
    "alignrasterlayers": {"layer": {**_TEXT, "x-layer": "raster"}, "resampling": _TEXT},
}


def schema(algorithm: QgsProcessingAlgorithm) -> Schema:
    """Return the parameters of an algorithm as an object of JSON schema, required ones first.

    Beside the marks of ToolDefinition a property may carry `x-type` (the type as QGIS calls it),
    `x-advanced`, `x-destination` (where a result goes; left out, it is a temporary layer) and
    `x-unit`. Parameters that no model is given are left out.
    """
    definitions = [one for one in algorithm.parameterDefinitions() if not offer.is_hidden(one)]
    definitions.sort(key=rank)
    return {
        "type": "object",
        "properties": {one.name(): parameter(one) for one in definitions},
        "required": [one.name() for one in definitions if needs_value(one)],
        "additionalProperties": False,
    }


def rank(definition: Any) -> int:
    """Return the place among the kinds of parameters: required, optional, advanced, results."""
    if definition.isDestination():
        return 3
    flags = definition.flags()
    if flags & Qgis.ProcessingParameterFlag.Advanced:
        return 2
    return int(bool(flags & Qgis.ProcessingParameterFlag.Optional))


def parameter(definition: Any) -> Schema:
    """Return the schema of one parameter."""
    kind = definition.type()
    if definition.isDestination():
        found: Schema = {**_TEXT, "x-destination": True}
    else:
        found = _SHAPES.get(kind, _shape)(definition)
    found["x-type"] = kind
    parts = [definition.description(), _FORMS.get(kind, "")]
    found["description"] = "; ".join(part for part in parts if part)
    default = _default(definition, found)
    if default is not None and not needs_value(definition):
        found["default"] = default
    if definition.flags() & Qgis.ProcessingParameterFlag.Advanced:
        found["x-advanced"] = True
    return found


def _default(definition: Any, found: Schema) -> Any:
    """Return the default as it would be written, None where there is none to show."""
    default = definition.defaultValue()
    if definition.type() != "enum":
        return default if isinstance(default, (int, float, str, bool)) and default != "" else None
    options = definition.options()
    many = default if isinstance(default, (list, tuple)) else [default]
    texts = [
        options[int(one)] if str(one).isdigit() and int(one) < len(options) else one for one in many
    ]
    texts = [one for one in texts if one in options]
    if not texts:
        return None
    return texts if found["type"] == "array" else texts[0]


def _several(item: Schema, several: bool) -> Schema:
    return {"type": "array", "items": item} if several else dict(item)


def _shape(definition: Any) -> Schema:
    """Return the shape of a type that is a text, or a list of objects."""
    keys = _OBJECTS.get(definition.type())
    if keys is None:
        return dict(_TEXT)
    item = {"type": "object", "properties": {key: dict(value) for key, value in keys.items()}}
    return {"type": "array", "items": item, "minItems": 1}


def _layer(definition: Any) -> Schema:
    kinds = list(definition.dataTypes()) if hasattr(definition, "dataTypes") else []
    if definition.type() == "raster":
        kinds = [Qgis.ProcessingSourceType.Raster]
    elif definition.type() in ("source", "vector") and not kinds:
        kinds = [Qgis.ProcessingSourceType.Vector]
    return {**_TEXT, "x-layer": _families(kinds)}


def _layers(definition: Any) -> Schema:
    kind = definition.layerType()
    item = dict(_TEXT) if kind == Qgis.ProcessingSourceType.File else {
        **_TEXT, "x-layer": _families([kind])
    }  # fmt: skip
    return {"type": "array", "items": item, "minItems": max(1, definition.minimumNumberInputs())}


def _families(kinds: list[Any]) -> str | list[str]:
    found = list(dict.fromkeys(_FAMILIES.get(kind, Family.ANY).value for kind in kinds))
    if not found or Family.ANY.value in found:
        return Family.ANY.value
    return found[0] if len(found) == 1 else found


def _other_layer(definition: Any) -> Schema:
    return {**_TEXT, "x-kind": OTHER[definition.type()][1]}


def _field(definition: Any) -> Schema:
    item = {**_TEXT, "x-field": definition.parentLayerParameterName()}
    if definition.dataType() == Qgis.ProcessingFieldParameterDataType.Numeric:
        item["x-types"] = ["integer", "real"]
    return _several(item, definition.allowMultiple())


def _band(definition: Any) -> Schema:
    item = {"type": "integer", "minimum": 1, "x-band": definition.parentLayerParameterName()}
    return _several(item, definition.allowMultiple())


def _enum(definition: Any) -> Schema:
    return _several({**_TEXT, "enum": definition.options()}, definition.allowMultiple())


def _number(definition: Any) -> Schema:
    whole = definition.dataType() == Qgis.ProcessingNumberParameterType.Integer
    found = {key: int(value) if whole else value for key, value in _range(definition).items()}
    return {"type": "integer" if whole else "number", **found}


def _range(definition: Any) -> dict[str, float]:
    least, most = limits(definition)
    found = {"minimum": least, "maximum": most}
    return {key: value for key, value in found.items() if value is not None}


def _quantity(definition: Any) -> Schema:
    found = {**_QUANTITY, **_range(definition)}
    if definition.type() == "duration":
        unit = QgsUnitTypes.toString(definition.defaultUnit())
        return {**found, "x-unit": unit}
    parent = definition.parentParameterName() if hasattr(definition, "parentParameterName") else ""
    return {**found, "x-unit": f"as {parent}"} if parent else found


def _boolean(definition: Any) -> Schema:
    return {"type": "boolean"}


def _string(definition: Any) -> Schema:
    hints = definition.metadata().get("widget_wrapper")
    values = hints.get("value_hints") if isinstance(hints, dict) else None
    return {**_TEXT, "examples": list(values)} if values else dict(_TEXT)


def _numbers(definition: Any) -> Schema:
    return {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}


def _matrix(definition: Any) -> Schema:
    width = len(definition.headers())
    cell: Schema = {"type": ["number", "string"]}
    row: Schema = {"type": "array", "items": cell}
    if width:
        row = {**row, "minItems": width, "maxItems": width, "x-columns": definition.headers()}
    return {"type": "array", "items": row}


def _groups(definition: Any) -> Schema:
    return {"type": "array", "items": {"type": ["integer", "string"]}}


def _attribute(definition: Any) -> Schema:
    return _several(_TEXT, definition.allowMultiple())


_SHAPES: dict[str, Callable[[Any], Schema]] = {
    "source": _layer,
    "vector": _layer,
    "raster": _layer,
    "layer": _layer,
    "multilayer": _layers,
    **dict.fromkeys(OTHER, _other_layer),
    "field": _field,
    "band": _band,
    "attribute": _attribute,
    "enum": _enum,
    "number": _number,
    **dict.fromkeys(("distance", "area", "volume", "duration", "scale"), _quantity),
    "boolean": _boolean,
    "string": _string,
    "range": _numbers,
    "matrix": _matrix,
    "meshdatasetgroups": _groups,
}
