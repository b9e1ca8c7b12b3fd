# SPDX-License-Identifier: GPL-2.0-or-later
"""QGIS expressions checked before they run: a missing field or function is an error with the
closest name, not an empty result; features on which one fails are counted and told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from qgis.core import (
    QgsExpression,
    QgsExpressionContextUtils,
    QgsExpressionNode,
    QgsExpressionNodeBinaryOperator,
    QgsExpressionNodeCondition,
    QgsExpressionNodeFunction,
    QgsExpressionNodeLiteral,
    QgsFeature,
)

from . import condition, wording
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
PRIVATE = frozenset(
    {
        "project_abstract",
        "project_author",
        "project_basename",
        "project_filename",
        "project_folder",
        "project_home",
        "project_path",
    }
)
"""Variables about the user's project that an expression of a model does not read; those of the
global scope (the user's name, the machine, what the user put there) are refused too."""
_FAILED = "'geo-olm: no value'"
_Op = QgsExpressionNodeBinaryOperator.BinaryOperator
_COMPARING = {_Op.boOr, _Op.boAnd, _Op.boEQ, _Op.boNE, _Op.boLE, _Op.boGE, _Op.boLT, _Op.boGT,
              _Op.boIs, _Op.boIsNot, _Op.boLike, _Op.boILike, _Op.boConcat}  # fmt: skip
_CALCULATING = {_Op.boPlus, _Op.boMinus, _Op.boMul, _Op.boDiv}
_ELLIPSOIDAL = {"$area", "$length", "$perimeter"}
_PLANAR = {
    "area": "$area",
    "perimeter": "$perimeter",
    "length": "$length",
    "buffer": "",
    "distance": "",
}
_ROUND = re.compile(r"(?<![\w.])10{2,}(?![\w.])")
_LENGTH_OF_TEXT = re.compile(r"\blength\s*\((?!\s*[$@]?geometry\b)", re.IGNORECASE)
_UNKNOWN_FUNCTION = re.compile(r"(\w+)\s*\(")
_DOLLAR = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|\$(\w+)""")


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
    """Return the expression when it parses and names only what is there, with a field that was
    written as a variable of the geometry ($pop for "pop") set right. Raises MendableError."""
    text = _without_dollars(text, source)
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


def _without_dollars(text: str, source: VectorSource) -> str:
    names = {folded(name): name for name in source.names()}

    def named(found: re.Match[str]) -> str:
        name = names.get(folded(found.group(1) or ""))
        if name is None or QgsExpression.isFunctionName(found.group(0)):
            return found.group(0)
        return QgsExpression.quotedColumnRef(name)

    return _DOLLAR.sub(named, text) if "$" in text else text


def guard_units(text: str, source: VectorSource) -> None:
    """Refuse measures without CRS, and planar measures in degrees. Raises MendableError.

    A planar measure of a geometry that the expression itself transforms is in another CRS, so it
    is right.
    """
    expression = QgsExpression(text)
    planar = {name for name, own in _measures(expression.rootNode()) if own}
    used = planar | {name for name in _ELLIPSOIDAL if name in text.lower()}
    if _LENGTH_OF_TEXT.search(text):
        used -= {"length"}
    if used:
        needs_crs(source, "areas, lengths and distances cannot be measured")
    if not source.in_degrees():
        return
    for name in sorted(used & set(_PLANAR)):
        better = _PLANAR[name]
        hint = f"Use {better}." if better else "Reproject it to a metric CRS first."
        raise MendableError(
            f"{name}() would be in degrees: {source.key} is in {source.crs.authid()}. {hint}"
        )


def _measures(node: QgsExpressionNode | None) -> Iterator[tuple[str, bool]]:
    """Yield every planar measure within a node, and whether it is of geometries as they are."""
    for one in _nodes(node):
        if _called(one) in _PLANAR:
            inside = {_called(part) for part in _nodes(one)}
            yield _called(one), "transform" not in inside


def _called(node: QgsExpressionNode) -> str:
    """Return the name of the function that a node calls, "" for another node."""
    if not isinstance(node, QgsExpressionNodeFunction):
        return ""
    return str(QgsExpression.Functions()[node.fnIndex()].name())


_PARTS = ("opLeft", "opRight", "operand", "node", "lowerBound", "higherBound", "container", "index")
"""The methods by which nodes of all kinds give the nodes within them."""


def _nodes(node: QgsExpressionNode | None) -> Iterator[QgsExpressionNode]:
    """Yield a node and all nodes within it."""
    if node is None:
        return
    yield node
    inside = [getattr(node, name)() for name in _PARTS if hasattr(node, name)]
    for name in ("args", "list"):
        if hasattr(node, name) and getattr(node, name)() is not None:
            inside += getattr(node, name)().list()
    if isinstance(node, QgsExpressionNodeCondition):
        for one in node.conditions():
            inside += [one.whenExp(), one.thenExp()]
        inside.append(node.elseExp())
    for one in inside:
        yield from _nodes(one)


def refuse_outside(value: Any) -> None:
    """Refuse functions that reach outside the project, and variables that tell of the user, in
    every text within `value`.

    Raises MendableError.
    """
    if isinstance(value, str):
        expression = QgsExpression(value)
        _refuse_private(expression)
        used = expression.referencedFunctions()
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


def _refuse_private(expression: QgsExpression) -> None:
    named = expression.referencedVariables()
    if "" in named:
        raise MendableError("var() takes the name of a variable as it is, in single quotes.")
    told = PRIVATE | set(QgsExpressionContextUtils.globalScope().variableNames())
    private = sorted(named & told)
    if private:
        raise MendableError(
            f"@{private[0]} tells of the user or of this machine, so it is refused."
        )


def refuse_twice(text: str, question: str) -> None:
    """Refuse to multiply twice by a number that the question says, as in "a rate per 1000".

    Raises MendableError.
    """
    for number in dict.fromkeys(_ROUND.findall(question.replace(",", ""))):
        factor = rf"(?<![\w.]){number}(?:\.0+)?(?![\w.])"
        if len(re.findall(rf"{factor}\s*\*|\*\s*{factor}", text)) > 1:
            raise MendableError(
                f"The expression multiplies by {number} twice; a rate per {number} does so once."
            )


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
    failed = failures(free, source, cancelled)
    if not built.expression:
        return Filter(free, free, failed)
    both, words = f"({built.expression}) AND ({free})", f"{built.words} and {free}"
    return Filter(both, words, (*built.notes, *failed))


def failures(text: str, source: VectorSource, cancelled: Callable[[], bool]) -> tuple[str, ...]:
    """Tell in a sentence on how many features a checked expression fails, and why; none for none.

    A filter would leave these features out without a word. Raises MendableError when it fails
    on every feature, ToolCancelled.
    """
    if _cannot_fail(text, source):
        return ()
    test = f"try(({text}), {_FAILED}) = {_FAILED}"
    count, first = 0, None
    for feature in source.rows(cancelled, test, geometry=True):
        first = first or QgsFeature(feature)
        count += 1
    if first is None:
        return ()
    said = _reason(text, first, source)
    if count == source.features:
        raise MendableError(f"The expression fails on every feature of {source.key}: {said}.")
    many = wording.counted(count, "feature")
    return (
        f"{many} of {source.key} {'was' if count == 1 else 'were'} left out, since the expression "
        f"fails there: {said} (feature {first.id()}).",
    )


def _cannot_fail(text: str, source: VectorSource) -> bool:
    """Tell whether an expression calls nothing and calculates with numbers alone, so that no
    feature has to be tried."""
    expression = QgsExpression(text)
    nodes = list(_nodes(expression.rootNode()))
    if any(isinstance(one, QgsExpressionNodeFunction) for one in nodes):
        return False
    operators = {one.op() for one in nodes if isinstance(one, QgsExpressionNodeBinaryOperator)}
    names = expression.referencedColumns() & set(source.names())
    numbers = all(source.type_of(name) in ("integer", "real") for name in names)
    return operators <= _COMPARING or (numbers and operators <= _COMPARING | _CALCULATING)


def _reason(text: str, feature: QgsFeature, source: VectorSource) -> str:
    expression, context = QgsExpression(text), source.context
    context.setFields(source.fields)
    context.setFeature(feature)
    expression.evaluate(context)
    return str(expression.evalErrorString()).strip().rstrip(".")


def literals(text: str) -> set[str]:
    """Return the texts that stand in an expression as values, such as names of layers."""
    expression = QgsExpression(text)  # its nodes live as long as it does
    nodes = list(_nodes(expression.rootNode()))
    values = [one.value() for one in nodes if isinstance(one, QgsExpressionNodeLiteral)]
    return {value for value in values if isinstance(value, str)}


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
