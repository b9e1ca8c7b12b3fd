# SPDX-License-Identifier: GPL-2.0-or-later
"""What a model of QGIS has no place for, kept as a text in a variable of the model.

The model itself is the truth: what it holds goes before what is kept, and what is kept of a step
that is gone is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from ..workflow.form import FORMAT, VERSION, FormError, read, written
from ..workflow.graph import Answer, Graph, Group, Source, Variable, Vertex
from ..workflow.value import Template
from .loss import Lost

VARIABLE = "geo_olm"
_STEP = ("id", "kind", "agent", "objective", "tool", "comment")


def name_of(graph: Graph) -> str:
    """Return the name of a graph's model, which must have one."""
    return graph.title or graph.question or "Workflow"


def kept(graph: Graph) -> str:
    """Return as a text what an exported model would lose of a graph."""
    form = written(graph)
    form["vertices"] = [{key: one[key] for key in _STEP if key in one} for one in form["vertices"]]
    form.pop("notes", None)
    return json.dumps(form, ensure_ascii=False)


def known(text: str) -> Graph:
    """Return what a text keeps, an empty graph for one that cannot be read."""
    try:
        return read({"format": FORMAT, "version": VERSION, **json.loads(text)}, lambda remark: None)
    except (FormError, ValueError, TypeError, RecursionError):
        return Graph()


def restored(graph: Graph, past: Graph) -> tuple[Graph, tuple[Lost, ...]]:
    """Return the graph read from a model with what was kept of it, and what is lost of that."""
    lost: list[Lost] = []
    answer = past.answer
    gone = [key for key in _named(answer) if not graph.has(key) and graph.variable(key) is None]
    if gone:
        said = f"The answer names {gone[0]}, which the model has not any more; it is left out."
        lost.append(Lost("", said))
        answer = Answer()
    sources = {one.name: one for one in past.sources}
    places = {
        key: at for at, key in enumerate([*(one.name for one in past.variables), *past.ids()])
    }
    vertices = sorted(graph.vertices, key=lambda one: places.get(one.id, len(places)))
    variables = sorted(graph.variables, key=lambda one: places.get(one.name, len(places)))
    return replace(
        graph,
        description=past.description,
        title=past.title if graph.title == name_of(past) else graph.title,
        vertices=tuple(_step(one, past) for one in vertices),
        variables=tuple(_variable(one, past.variable(one.name)) for one in variables),
        sources=tuple(_source(one, sources.get(one.name)) for one in graph.sources),
        groups=tuple(_group(one, past) for one in graph.groups),
        answer=answer,
    ), tuple(lost)


def _named(answer: Answer) -> Iterator[str]:
    """Yield the steps and variables that an answer names."""
    yield from (name for name, _ in Template(answer.text).references())
    if answer.value is not None:
        yield answer.value.vertex


def _step(vertex: Vertex, past: Graph) -> Vertex:
    """Return a step with its agent and objective, where it is still the same tool."""
    if not past.has(vertex.id):
        return vertex
    before = past.vertex(vertex.id)
    shown = before.comment or before.objective
    return replace(
        vertex,
        agent=before.agent if before.tool == vertex.tool else vertex.agent,
        objective=before.objective,
        comment=before.comment if vertex.comment == shown else vertex.comment,
    )


def _variable(variable: Variable, before: Variable | None) -> Variable:
    """Return a variable with its type, unit and family; the default is the model's."""
    if before is None:
        return variable
    same = variable.label == (before.label or before.name)
    return replace(
        before,
        label=before.label if same else variable.label,
        default=variable.default,
        choices=variable.choices or before.choices,
    )


def _source(source: Source, before: Source | None) -> Source:
    if before is None or before.source != source.source:
        return source
    return before


def _group(group: Group, past: Graph) -> Group:
    """Return a group with its own steps alone, where a box of that title still holds them all."""
    for one in past.groups:
        if one.title == group.title and set(one.vertices) <= set(group.vertices):
            return replace(one, color=group.color if one.color.startswith("#") else one.color)
    return group
