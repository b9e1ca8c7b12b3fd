# SPDX-License-Identifier: GPL-2.0-or-later
"""Variables of a workflow: made of literals, and filled with what is given at run time."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Union

from .graph import Graph, Type, Variable, Vertex
from .value import Asked, Layer, Output, Template, Value, mapped

Path = Sequence[Union[str, int]]
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:[ ,\u00a0\u202f]\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")


class VariableError(Exception):
    """A variable that cannot be declared or filled; the message names it and what is needed."""


def declared(graph: Graph, vertex: str, path: Path, name: str, label: str = "") -> Graph:
    """Return the graph with the literal or layer at `path` of a step's parameters as a variable.

    `path` are keys and places, outer first. Raises VariableError.
    """
    if not _NAME.fullmatch(name):
        raise VariableError(f'"{name}" is no name: use letters, digits and underscores.')
    if graph.has(name) or graph.variable(name) is not None:
        raise VariableError(f"{name} is taken by a step or a variable. Choose another name.")
    one = graph.vertex(vertex)
    found = _at(dict(one.parameters or {}), path)
    if isinstance(found, (Output, Asked, Template, Mapping, list, tuple)) or found is None:
        raise VariableError("Only a layer, a number or a text can become a variable.")
    variable = Variable(name, _type(found), label or str(path[-1]), _default(found))
    changed = replace(one, parameters=put(dict(one.parameters or {}), path, Asked(name)))
    return replace(graph.with_vertex(changed), variables=(*graph.variables, variable))


def bound(graph: Graph, values: Mapping[str, Any]) -> Graph:
    """Return the graph with its variables, and project layers by their names, filled in.

    A layer's value is the key of a layer of the project. Raises VariableError for what is not
    known, missing or of another kind.
    """
    layers = {name for vertex in graph.vertices for name in vertex.layers()}
    known = {one.name for one in graph.variables}
    strange = [name for name in values if name not in known | layers]
    if strange:
        takes = ", ".join(sorted(known | layers)) or "nothing"
        raise VariableError(f"The workflow has no variable {strange[0]}; it takes {takes}.")
    given = {one.name: value_of(one, values) for one in graph.variables}
    for one in (name for vertex in graph.vertices for name in vertex.asked()):
        if one not in given:
            raise VariableError(f"The variable {one} is used but not declared.")
    whole = replace(graph, variables=())
    return filled(whole, given, {key: str(values[key]) for key in layers if key in values})


def filled(graph: Graph, given: Mapping[str, Value], layers: Mapping[str, str]) -> Graph:
    """Return the graph with variables replaced by values, in texts and the answer too, and project
    layers by others; variables that have no value here are left as they are."""

    def change(value: Value) -> Value:
        if isinstance(value, Layer):
            return Layer(layers.get(value.name, value.name))
        return with_values(value, given)

    def whole(vertex: Vertex) -> Vertex:
        if vertex.parameters is None:
            return vertex
        return replace(vertex, parameters=mapped(dict(vertex.parameters), change))

    answer = replace(graph.answer, text=_text(Template(graph.answer.text), given))
    return replace(graph, vertices=tuple(whole(one) for one in graph.vertices), answer=answer)


def with_values(value: Value, given: Mapping[str, Value]) -> Value:
    """Return a leaf of a parameter with the variables that it names filled."""
    if isinstance(value, Asked):
        return given.get(value.variable, value)
    return _template(value, given) if isinstance(value, Template) else value


def value_of(variable: Variable, values: Mapping[str, Any]) -> Value:
    """Return the value of a variable as its type wants it: the one given, else its own. Raises
    VariableError."""
    found = values.get(variable.name, variable.default)
    if found is None or found == "":
        what = f" ({variable.label})" if variable.label else ""
        raise VariableError(f"The variable {variable.name}{what} has no value: give one.")
    if variable.type is Type.LAYER:
        return Layer(str(found))
    if variable.type is Type.NUMBER:
        return _number(variable, found)
    text = str(found).strip()
    if variable.type is Type.DATE:
        try:
            return datetime.date.fromisoformat(text[:10]).isoformat() + text[10:]
        except ValueError:
            raise VariableError(
                f'{variable.name} is a date such as 2024-05-31, not "{text}".'
            ) from None
    if variable.type is Type.CHOICE and text not in variable.choices:
        known = ", ".join(variable.choices)
        raise VariableError(f'{variable.name} is one of {known}, not "{text}".')
    return text


def _number(variable: Variable, found: Any) -> float | int:
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        return found
    text = str(found).strip()
    if variable.unit and text.endswith(variable.unit):
        text = text[: -len(variable.unit)].strip()
    if not _NUMBER.fullmatch(text):
        unit = f" in {variable.unit}" if variable.unit else ""
        raise VariableError(f'{variable.name} is a number{unit}, not "{found}".')
    number = float(re.sub(r"[ ,\u00a0\u202f]", "", text))
    return int(number) if number.is_integer() and "e" not in text.lower() else number


def _template(template: Template, given: Mapping[str, Value]) -> Value:
    """Return the text with variables filled; it stays a template while it names outputs."""
    text = _text(template, given)
    left = Template(text)
    return left if any(True for _ in left.references()) else text


def _text(template: Template, given: Mapping[str, Value]) -> str:
    def fill(name: str, key: str) -> str:
        if name not in given or key:
            return f"{{{name}.{key}}}" if key else f"{{{name}}}"
        value = given[name]
        return value.name if isinstance(value, Layer) else str(value)

    return template.filled(fill)


def _type(value: Value) -> Type:
    if isinstance(value, Layer):
        return Type.LAYER
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Type.NUMBER
    return Type.TEXT


def _default(value: Value) -> Any:
    return value.name if isinstance(value, Layer) else value


def _at(value: Value, path: Path) -> Value:
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise VariableError(f"The step has no parameter {key}.") from None
    return value


def put(value: Value, path: Path, new: Value) -> Value:
    """Return a value with another one at `path`; a key that is not there yet is added. Raises
    VariableError for a place that cannot be."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return {**value, key: put(value.get(str(key)), rest, new)}
    if not isinstance(value, (list, tuple)) or not 0 <= int(key) < len(value):
        raise VariableError(f"The step has no parameter {key}.")
    listed = list(value)
    listed[int(key)] = put(listed[int(key)], rest, new)
    return listed
