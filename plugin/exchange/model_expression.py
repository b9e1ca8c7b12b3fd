# SPDX-License-Identifier: GPL-2.0-or-later
"""Expressions in models of QGIS as values of a graph: texts put together, constants, arithmetic."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qgis.core import (
    NULL,
    QgsExpression,
    QgsExpressionNode,
    QgsExpressionNodeBinaryOperator,
    QgsExpressionNodeFunction,
    QgsExpressionNodeLiteral,
)

from ..workflow.form import FormError, read_value, value_form
from ..workflow.value import Asked, Output, Template, Value

_VARIABLE = re.compile(r"@(\w+)")
_COUNTED = "feature_count"


@dataclass(frozen=True)
class Formula:
    """Arithmetic over numbers of steps and variables, which takes a step of its own."""

    text: Template


class _Json(str):
    """A part of a JSON text that stands for an output or a variable."""


class _Unread(Exception):
    """A part of an expression that no text of a graph can hold."""


def meant(text: str, variables: Mapping[str, Value], numbers: frozenset[str]) -> Value | Formula:
    """Return the value that an expression of a model means, None where a graph has none.

    `variables` are the values of the model's variables by their names, `numbers` the names of
    those that hold numbers.
    """
    expression = QgsExpression(text)
    if expression.hasParserError() or expression.referencedColumns():
        return None
    used = set(expression.referencedVariables())
    if not used and not expression.referencedFunctions():
        value = expression.evaluate()
        return None if expression.hasEvalError() or value == NULL else value
    try:
        return _joined(list(_parts(expression.rootNode(), variables)))
    except _Unread:
        if used <= numbers and "'" not in text and '"' not in text:
            return Formula(
                Template(_VARIABLE.sub(lambda one: _braced(variables[one.group(1)]), text))
            )
        return None


def _joined(parts: list[str | Output | Asked]) -> Value:
    if len(parts) == 1 and not isinstance(parts[0], str):
        return parts[0]
    if any(isinstance(one, _Json) for one in parts):
        try:
            return read_value(json.loads("".join(map(str, parts))), "")
        except (ValueError, FormError) as error:
            raise _Unread from error
    return Template("".join(one if isinstance(one, str) else _braced(one) for one in parts))


def _parts(
    node: QgsExpressionNode, variables: Mapping[str, Value]
) -> Iterator[str | Output | Asked]:
    """Yield what an expression puts together; a number made a text is in braces already."""
    operators = QgsExpressionNodeBinaryOperator.BinaryOperator
    if isinstance(node, QgsExpressionNodeBinaryOperator) and node.op() == operators.boConcat:
        yield from _parts(node.opLeft(), variables)
        yield from _parts(node.opRight(), variables)
    elif isinstance(node, QgsExpressionNodeLiteral) and isinstance(node.value(), str):
        if any(True for _ in Template(node.value()).references()):
            raise _Unread
        yield node.value()
    elif isinstance(node, QgsExpressionNodeFunction):
        name, given = _called(node)
        if name == "to_string" and len(given) == 1:
            yield "".join(
                one if isinstance(one, str) else _braced(one) for one in _parts(given[0], variables)
            )
        elif name == "substr":
            inner = _joined(list(_parts(_listed(given[0]), variables)))
            yield _Json(json.dumps(value_form(inner), ensure_ascii=False))
        else:
            yield _variable(name, given, variables)
    else:
        raise _Unread


def _listed(node: QgsExpressionNode) -> QgsExpressionNode:
    """Return what stands alone in a list that is written as JSON."""
    for wanted in ("to_json", "array"):
        name, given = _called(node) if isinstance(node, QgsExpressionNodeFunction) else ("", [])
        if name != wanted or len(given) != 1:
            raise _Unread
        node = given[0]
    return node


def _called(node: QgsExpressionNodeFunction) -> tuple[str, list[QgsExpressionNode]]:
    given = node.args()
    return QgsExpression.Functions()[node.fnIndex()].name(), [] if given is None else given.list()


def _variable(
    name: str, given: list[QgsExpressionNode], variables: Mapping[str, Value]
) -> Output | Asked:
    """Return what a variable, or the count of features of a layer in one, means."""
    if name == "var" and isinstance(given[0], QgsExpressionNodeLiteral):
        found = variables.get(str(given[0].value()))
        if isinstance(found, (Output, Asked)):
            return found
    if name == "layer_property" and isinstance(given[0], QgsExpressionNodeFunction):
        inner, of = _called(given[0])
        what = given[1]
        counted = isinstance(what, QgsExpressionNodeLiteral) and what.value() == _COUNTED
        layer = _variable(inner, of, variables) if counted else None
        if isinstance(layer, Output) and not layer.key:
            return Output(layer.vertex, "count")
    raise _Unread


def _braced(value: Value) -> str:
    return f"{{{value.text if isinstance(value, Output) else value.variable}}}"
