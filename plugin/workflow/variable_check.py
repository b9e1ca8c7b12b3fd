# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of a workflow with its variables: values that lack, all else with the values put in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from .change import Change
from .finding import Finding, Severity
from .graph import Graph, Type, Vertex
from .value import Asked, Template, Value
from .variable import VariableError, filled, value_of, with_values
from .variable_edit import uses

CODE = "variable value"
"""The code of a variable that has no value, or one of another kind."""


def checked(graph: Graph, check: Callable[[Graph], tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """Return what `check` finds in a graph as it would run, after the variables that lack a value.

    A mend changes the graph as it is: where it leaves a value alone, the variable stays.
    """
    if not graph.variables:
        return check(graph)
    found: list[Finding] = []
    given: dict[str, Value] = {}
    for one in graph.variables:
        try:
            given[one.name] = value_of(one, {})
        except VariableError as error:
            places = uses(graph, one.name)
            if places:  # a variable that nothing uses keeps nothing from running
                at = places[0]
                found.append(Finding(CODE, Severity.ERROR, str(error), at.step, at.parameter))
            if one.type is Type.CHOICE and one.choices:
                given[one.name] = one.choices[0]
    lacking = {one.vertex for one in found}
    for finding in check(filled(graph, given, {})):
        if finding.code == "arguments" and finding.vertex in lacking:
            continue  # it speaks of a stand-in for the value that lacks
        mends = tuple(replace(x, change=_unfilled(graph, x.change, given)) for x in finding.mends)
        found.append(replace(finding, mends=mends))
    return tuple(found)


def _unfilled(graph: Graph, change: Change, given: Mapping[str, Value]) -> Change:
    edited = tuple(_vertex(graph, one, given) for one in change.edited)
    return replace(change, edited=edited)


def _vertex(graph: Graph, new: Vertex, given: Mapping[str, Value]) -> Vertex:
    if not graph.has(new.id) or new.parameters is None:
        return new
    old = dict(graph.vertex(new.id).parameters or {})
    kept = {key: _value(old.get(key), one, given) for key, one in new.parameters.items()}
    return replace(new, parameters=kept)


def _value(old: Value, new: Value, given: Mapping[str, Value]) -> Value:
    """Return the new value, with the variables of the old one where they give just that."""
    if isinstance(old, (Asked, Template)):
        return old if with_values(old, given) == new else new
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {key: _value(old.get(key), one, given) for key, one in new.items()}
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        pairs = [*old, *[None] * len(new)]
        return [_value(pairs[at], one, given) for at, one in enumerate(new)]
    return new
