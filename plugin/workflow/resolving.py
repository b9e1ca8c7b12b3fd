# SPDX-License-Identifier: GPL-2.0-or-later
"""The parameters of a step as arguments of its tool, with what other steps gave filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...tools.base import ToolResult
from .graph import Vertex
from .value import Asked, Layer, Output, Template, Value, mapped


class ResolvingError(Exception):
    """A value that cannot be filled in; the message names the step and what it lacks."""

    def __init__(self, vertex: str, message: str) -> None:
        super().__init__(message)
        self.vertex = vertex


def resolved(vertex: Vertex, results: Mapping[str, ToolResult]) -> dict[str, Any]:
    """Return the arguments of a step's tool. Raises ResolvingError.

    A layer goes by its key, an output by the short id of the result or the id of the layer that
    it means, and a number or text as it is.
    """

    def change(value: Value) -> Any:
        if isinstance(value, Layer):
            return value.name
        if isinstance(value, Output):
            return given(value, results, vertex.id)
        if isinstance(value, Asked):
            raise ResolvingError(vertex.id, f"The variable {value.variable} has no value.")
        if isinstance(value, Template):
            return filled(value, results, vertex.id)
        return value

    return dict(mapped(dict(vertex.parameters or {}), change))


def filled(template: Template, results: Mapping[str, ToolResult], vertex: str = "") -> str:
    """Return a template's text; numbers keep all their digits. Raises ResolvingError."""

    def fill(name: str, key: str) -> str:
        found = given(Output(name, key), results, vertex)
        return written(found) if isinstance(found, float) else str(found)

    return template.filled(fill)


def given(output: Output, results: Mapping[str, ToolResult], vertex: str = "") -> Any:
    """Return what an output means. Raises ResolvingError, which lists what the result has."""
    result = results.get(output.vertex)
    if result is None:
        raise ResolvingError(vertex, f"{output.vertex} has given nothing yet.")
    if not output.key:
        if result.layers or result.speaks:
            return result.id or result.layers[0].id
        if len(result.numbers) == 1:
            return next(iter(result.numbers.values()))
        if result.files:
            return result.files[0]
        raise ResolvingError(vertex, f"{output.vertex} made no layer{_has(result)}")
    for known in (result.numbers, result.texts, result.outputs):
        if output.key in known:
            return known[output.key]
    named = [one.id for one in result.layers if one.name == output.key]
    if named:
        return named[0]
    raise ResolvingError(vertex, f"{output.vertex} has no {output.key}{_has(result)}")


def written(number: float) -> str:
    """Return a number as an expression may hold it, whole ones without a point."""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(number)


def _has(result: ToolResult) -> str:
    names = [*result.numbers, *result.texts, *result.outputs]
    return f"; it has {', '.join(names)}." if names else "."
