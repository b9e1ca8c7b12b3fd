# SPDX-License-Identifier: GPL-2.0-or-later
"""The arguments of a typed tool as parameters of Processing, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from qgis.core import (
    QgsMapLayer,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterField,
    QgsProcessingParameterMapLayer,
    QgsProcessingParameterMultipleLayers,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)

from ...tools.base import ToolDefinition

Schema = Mapping[str, Any]
_TYPES = {
    "any": [QgsProcessing.SourceType.TypeMapLayer],
    "vector": [QgsProcessing.SourceType.TypeVectorAnyGeometry],
    "point": [QgsProcessing.SourceType.TypeVectorPoint],
    "line": [QgsProcessing.SourceType.TypeVectorLine],
    "polygon": [QgsProcessing.SourceType.TypeVectorPolygon],
    "table": [QgsProcessing.SourceType.TypeVector],
    "raster": [QgsProcessing.SourceType.TypeRaster],
}


def parameters(definition: ToolDefinition) -> list[QgsProcessingParameterDefinition]:
    """Return a parameter for each argument, in order; what is not required is optional."""
    schema = definition.parameters
    required = schema.get("required", ())
    return [
        _parameter(name, one, name not in required)
        for name, one in schema.get("properties", {}).items()
    ]


def title(name: str) -> str:
    """Return the name of an argument as a reader sees it."""
    return name.replace("_", " ").capitalize()


def arguments(
    algorithm: QgsProcessingAlgorithm,
    definition: ToolDefinition,
    values: dict[str, Any],
    context: QgsProcessingContext,
    taken: Callable[[QgsMapLayer], str],
) -> dict[str, Any]:
    """Return the arguments that a user's values mean; `taken` gives the name of a layer.

    What is empty is not given.
    """
    found = {}
    for name, schema in definition.parameters.get("properties", {}).items():
        value = _argument(algorithm, name, schema, values, context, taken)
        if value is not None and value != "" and value != []:
            found[name] = value
    return found


def _parameter(name: str, schema: Schema, optional: bool) -> QgsProcessingParameterDefinition:
    label = schema.get("description") or title(name)
    item = schema.get("items", {})
    if "x-layer" in schema:
        found = QgsProcessingParameterMapLayer(name, label, optional=optional)
        found.setDataTypes(_types(schema["x-layer"]))
        return found
    if "x-layer" in item:
        kinds = _types(item["x-layer"])
        return QgsProcessingParameterMultipleLayers(name, label, kinds[0], optional=optional)
    if "x-field" in schema:
        return QgsProcessingParameterField(
            name, label, parentLayerParameterName=str(schema["x-field"]), optional=optional
        )
    if "enum" in schema:
        return QgsProcessingParameterEnum(
            name, label, list(schema["enum"]), optional=optional, usesStaticStrings=True
        )
    if schema.get("type") in ("number", "integer"):
        return _number(name, label, schema, optional)
    if schema.get("type") == "boolean":
        return QgsProcessingParameterBoolean(name, label, optional=optional)
    return QgsProcessingParameterString(name, label, optional=optional)


def _number(
    name: str, label: str, schema: Schema, optional: bool
) -> QgsProcessingParameterDefinition:
    types = QgsProcessingParameterNumber.Type
    kind = types.Integer if schema["type"] == "integer" else types.Double
    found = QgsProcessingParameterNumber(name, label, kind, optional=optional)
    if "minimum" in schema:
        found.setMinimum(schema["minimum"])
    if "maximum" in schema:
        found.setMaximum(schema["maximum"])
    return found


def _types(families: Any) -> list[QgsProcessing.SourceType]:
    listed = families if isinstance(families, list) else [families]
    found = [kind for family in listed for kind in _TYPES[family]]
    table = QgsProcessing.SourceType.TypeVector
    return [table] if table in found and len(found) > 1 else found


def _argument(
    algorithm: QgsProcessingAlgorithm,
    name: str,
    schema: Schema,
    values: dict[str, Any],
    context: QgsProcessingContext,
    taken: Callable[[QgsMapLayer], str],
) -> Any:
    if values.get(name) is None:
        return None
    if "x-layer" in schema:
        layer = algorithm.parameterAsLayer(values, name, context)
        return None if layer is None else taken(layer)
    if "x-layer" in schema.get("items", {}):
        return [taken(one) for one in algorithm.parameterAsLayerList(values, name, context)]
    if "enum" in schema:
        return algorithm.parameterAsEnumString(values, name, context)
    if schema.get("type") == "integer":
        return algorithm.parameterAsInt(values, name, context)
    if schema.get("type") == "number":
        return algorithm.parameterAsDouble(values, name, context)
    if schema.get("type") == "boolean":
        return algorithm.parameterAsBool(values, name, context)
    return _text(algorithm.parameterAsString(values, name, context), schema)


def _text(text: str, schema: Schema) -> Any:
    """Return a text, or what it says as JSON where the tool takes a list or an object."""
    if schema.get("type") in ("array", "object") or "anyOf" in schema:
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
