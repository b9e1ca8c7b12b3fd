# SPDX-License-Identifier: GPL-2.0-or-later
"""The parameters of a step as rows: where each stands in its JSON, what it takes, what it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.port import value_at
from ...plugin.workflow.shelf import ALGORITHM, PARAMETERS, RUN_ALGORITHM
from ...plugin.workflow.value import Value
from .document import GraphDocument

Schema = Mapping[str, Any]
HIDDEN = frozenset({"x-destination"})


@dataclass(frozen=True)
class Row:
    """One parameter: `path` leads to its value from the step's parameters, `of` is the algorithm
    whose parameter it is, "" for one of the tool itself."""

    path: tuple[str, ...]
    label: str
    schema: Schema
    given: Value
    of: str = ""
    is_required: bool = False
    is_advanced: bool = False

    @property
    def port(self) -> str:
        """The place of the value in the step's parameters."""
        return ".".join(self.path)

    @property
    def name(self) -> str:
        """The parameter as its tool or algorithm calls it."""
        return self.path[-1]


def algorithm_of(vertex: Vertex) -> str:
    """Return the algorithm that a step runs by its id, "" for none."""
    found = (vertex.parameters or {}).get(ALGORITHM) if vertex.tool == RUN_ALGORITHM else None
    return found if isinstance(found, str) else ""


def rows(document: GraphDocument, vertex: Vertex) -> list[Row]:
    """Return the rows of a step: those of its tool, or of the algorithm that it runs."""
    given = dict(vertex.parameters or {})
    algorithm = algorithm_of(vertex)
    schema = document.shelf.schema(algorithm) if algorithm else None
    inner = given.get(PARAMETERS, {})
    if schema is not None and isinstance(inner, Mapping):
        return _rows(schema, inner, (PARAMETERS,), algorithm)
    definition = document.tools.get(vertex.tool)
    return _rows(definition.parameters if definition else {}, given, (), "")


def _rows(
    schema: Schema, given: Mapping[str, Value], path: tuple[str, ...], algorithm: str
) -> list[Row]:
    known = dict(schema.get("properties", {}))
    for name in given:
        known.setdefault(name, {})
    required = schema.get("required", ())
    found = []
    for name, one in known.items():
        if name not in given and any(mark in one for mark in HIDDEN):
            continue
        found.append(
            Row(
                (*path, name),
                _label(name, one, algorithm),
                one,
                given.get(name),
                algorithm,
                name in required,
                bool(one.get("x-advanced")),
            )
        )
    return found


def _label(name: str, schema: Schema, algorithm: str) -> str:
    said = str(schema.get("description", "")).partition("; ")[0] if algorithm else ""
    return said or name.replace("_", " ").capitalize()


def sibling(vertex: Vertex, row: Row, name: str) -> Value:
    """Return the value of another parameter of the same tool or algorithm."""
    return value_at(vertex.parameters, ".".join((*row.path[:-1], name)))
