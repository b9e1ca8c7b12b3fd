# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks on the rows of an output file: an aggregate of an expression over chosen rows."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from qgis.core import (
    NULL,
    QgsExpression,
    QgsExpressionContext,
    QgsExpressionContextUtils,
    QgsFeatureRequest,
    QgsGeometry,
    QgsVectorLayer,
)

from .json_path import PathMissing, aggregated, value_at
from .outcome import NOISE, shown
from .task_fault import is_number


class CheckError(Exception):
    """A check could not be computed on the file, such as a field that is not there."""


def _evaluated(expression: QgsExpression, context: QgsExpressionContext) -> Any:
    value = expression.evaluate(context)
    if expression.hasEvalError():
        raise CheckError(expression.evalErrorString())
    return None if value == NULL else value


def _prepared(text: str, context: QgsExpressionContext) -> QgsExpression:
    expression = QgsExpression(text)
    if not expression.prepare(context):
        raise CheckError(expression.parserErrorString() or expression.evalErrorString())
    known = set(context.fields().names())
    absent = sorted(expression.referencedColumns() - known - {QgsFeatureRequest.ALL_ATTRIBUTES})
    if absent:
        raise CheckError(f"the field '{absent[0]}' is missing")
    return expression


def column(layer: QgsVectorLayer, expression: str, where: str) -> list[Any]:
    """Evaluate an expression on each feature for which `where` holds, in the layer's order.

    An empty expression gives 1 for each row; NULL comes as None. Raises CheckError.
    """
    context = QgsExpressionContext(QgsExpressionContextUtils.globalProjectLayerScopes(layer))
    context.setFields(layer.fields())
    value = _prepared(expression, context) if expression else None
    condition = _prepared(where, context) if where else None
    values = []
    for feature in layer.getFeatures():
        context.setFeature(feature)
        if condition is None or _evaluated(condition, context):
            values.append(_evaluated(value, context) if value else 1)
    return values


def _number(value: Any) -> float:
    try:
        return value if is_number(value) else float(value)
    except (TypeError, ValueError) as error:
        raise CheckError(f"'{value}' is no number") from error


def _text(value: Any) -> str:
    return "" if value is None else shown(value)


def reduced(values: list[Any], aggregate: str) -> Any:
    """Reduce the values of a column; NULL is left out. Raises CheckError when nothing is left."""
    if aggregate == "join_in_order":
        return ",".join(_text(value) for value in values)
    present = [value for value in values if value is not None]
    if aggregate == "count":
        return len(present)
    if aggregate == "count_distinct":
        return len(set(present))
    if aggregate == "sum":
        return sum(_number(value) for value in present)
    if not present:
        raise CheckError("there is no value")
    if aggregate == "mean":
        return statistics.fmean(_number(value) for value in present)
    if aggregate == "union_area":
        if not all(isinstance(value, QgsGeometry) for value in present):
            raise CheckError("the expression gives no geometry")
        return QgsGeometry.unaryUnion(present).area()
    try:
        return min(present) if aggregate == "min" else max(present)
    except TypeError as error:
        raise CheckError("the values cannot be compared") from error


def _agrees(found: Any, check: Mapping[str, Any]) -> bool:
    expected = check["value"]
    if not is_number(expected) or not is_number(found):
        return type(found) is type(expected) and bool(found == expected)
    room = float(check.get("tolerance", 0)) + NOISE * max(1.0, abs(expected))
    return bool(abs(found - expected) <= room)


def _misses(found: Any, check: Mapping[str, Any]) -> list[str]:
    if _agrees(found, check):
        return []
    return [f"{check.get('what', 'a check')}: {shown(found)} instead of {shown(check['value'])}"]


def table_check_misses(layer: QgsVectorLayer, check: Mapping[str, Any]) -> list[str]:
    """Judge one check on the rows of a layer."""
    try:
        values = column(layer, check.get("expression", ""), check.get("where", ""))
        return _misses(reduced(values, check["agg"]), check)
    except CheckError as error:
        return [f"{check.get('what', 'a check')}: {error}"]


def json_check_misses(document: Any, check: Mapping[str, Any]) -> list[str]:
    """Judge one check on a JSON document."""
    try:
        found = aggregated(value_at(document, check["json"]), check.get("agg"))
    except PathMissing as error:
        return [f"{check.get('what', 'a check')}: {error}"]
    return _misses(found, check)
