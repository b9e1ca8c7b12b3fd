# SPDX-License-Identifier: GPL-2.0-or-later
"""Edits of a workflow's variables: add, rename with all uses, change, remove, use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from .graph import Graph, Type, Variable, Vertex
from .value import Asked, Output, Template, Value, mapped
from .variable import Path, VariableError, put, value_of

ANSWER = ""
"""The step of a use that stands in the answer."""
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Use:
    """Where a variable is used: a step (ANSWER for the answer) and the path of a parameter."""

    step: str
    path: tuple[str | int, ...]

    @property
    def parameter(self) -> str:
        """The name of the parameter, "" for the answer."""
        return str(self.path[0]) if self.path else ""


def uses(graph: Graph, name: str) -> tuple[Use, ...]:
    """Return every place where a variable is used, in texts too."""
    found = [
        Use(vertex.id, path)
        for vertex in graph.vertices
        for path, value in _leaves(dict(vertex.parameters or {}), ())
        if _names(value, name)
    ]
    if _names(Template(graph.answer.text), name):
        found.append(Use(ANSWER, ()))
    return tuple(found)


def free_name(graph: Graph, wanted: str = "value") -> str:
    """Return a name made of `wanted` that no step and no variable has."""
    stem = re.sub(r"\W+", "_", wanted).strip("_").casefold() or "value"
    stem = stem if _NAME.fullmatch(stem) else f"value_{stem}"
    name, number = stem, 2
    while _is_taken(graph, name):
        name, number = f"{stem}_{number}", number + 1
    return name


def added(graph: Graph, variable: Variable) -> Graph:
    """Return a graph with one more variable. Raises VariableError for a name that cannot be."""
    _check(graph, variable.name)
    return replace(graph, variables=(*graph.variables, variable))


def changed(graph: Graph, name: str, variable: Variable) -> Graph:
    """Return a graph with a variable replaced; where it is called otherwise, all uses follow.

    Raises VariableError for a name that cannot be and for an unknown variable.
    """
    if graph.variable(name) is None:
        raise VariableError(f"There is no variable {name}.")
    found = graph
    if variable.name != name:
        _check(graph, variable.name)
        found = _followed(graph, name, variable.name)
    listed = tuple(variable if one.name == name else one for one in found.variables)
    return replace(found, variables=listed)


def of_kind(variable: Variable, kind: Type) -> Variable:
    """Return a variable as one of another kind; a value that does not fit it is let go."""
    made = Variable(variable.name, kind, variable.label, variable.default)
    if kind is Type.NUMBER:
        made = replace(made, unit=variable.unit)
    if kind is Type.LAYER:
        made = replace(made, family=variable.family)
    if kind is Type.CHOICE:
        known = variable.choices or ((str(made.default),) if made.default not in (None, "") else ())
        made = replace(made, choices=known)
    if Type.LAYER in (kind, variable.type) and kind is not variable.type:
        return replace(made, default=None)
    try:
        value = value_of(made, {})
    except VariableError:
        return replace(made, default=None)
    return made if kind is Type.LAYER else replace(made, default=value)


def removed(graph: Graph, name: str) -> Graph:
    """Return a graph without a variable. Raises VariableError that says where it is used."""
    places = uses(graph, name)
    if places:
        said = ", ".join(dict.fromkeys(_said(graph, one) for one in places))
        raise VariableError(f"{name} is used by {said}. Put another value there first.")
    return replace(graph, variables=tuple(one for one in graph.variables if one.name != name))


def used(graph: Graph, step: str, path: Path, name: str) -> Graph:
    """Return a graph in which the parameter at `path` of a step takes a variable's value.

    Raises VariableError for an unknown variable or a place that is not there.
    """
    if graph.variable(name) is None:
        raise VariableError(f"There is no variable {name}.")
    parameters = put(dict(graph.vertex(step).parameters or {}), path, Asked(name))
    return with_parameters(graph, step, parameters)


def with_parameters(graph: Graph, step: str, parameters: Mapping[str, Value]) -> Graph:
    """Return a graph with all parameters of a step set."""
    return graph.with_vertex(replace(graph.vertex(step), parameters=parameters))


def _check(graph: Graph, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise VariableError(f'"{name}" is no name: use letters, digits and underscores.')
    if _is_taken(graph, name):
        raise VariableError(f"{name} is taken by a step or a variable. Choose another name.")


def _is_taken(graph: Graph, name: str) -> bool:
    return graph.has(name) or graph.variable(name) is not None


def _followed(graph: Graph, old: str, new: str) -> Graph:
    def change(value: Value) -> Value:
        if isinstance(value, Asked) and value.variable == old:
            return Asked(new)
        if isinstance(value, Template):
            return Template(_reworded(value, old, new))
        return value

    def moved(vertex: Vertex) -> Vertex:
        if vertex.parameters is None:
            return vertex
        return replace(vertex, parameters=mapped(dict(vertex.parameters), change))

    answer = replace(graph.answer, text=_reworded(Template(graph.answer.text), old, new))
    return replace(graph, vertices=tuple(moved(one) for one in graph.vertices), answer=answer)


def _reworded(template: Template, old: str, new: str) -> str:
    return template.filled(
        lambda name, key: f"{{{Output(new if name == old and not key else name, key).text}}}"
    )


def _leaves(
    value: Value, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Value]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, (*path, key))
    elif isinstance(value, (list, tuple)):
        for place, one in enumerate(value):
            yield from _leaves(one, (*path, place))
    else:
        yield path, value


def _names(value: Value, name: str) -> bool:
    if isinstance(value, Template):
        return (name, "") in value.references()
    return isinstance(value, Asked) and value.variable == name


def _said(graph: Graph, use: Use) -> str:
    if use.step == ANSWER:
        return "the answer"
    vertex = graph.vertex(use.step)
    return f"{vertex.title or vertex.id} ({use.parameter.replace('_', ' ')})"
