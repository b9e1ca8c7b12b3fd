# SPDX-License-Identifier: GPL-2.0-or-later
"""What a node says, in words: made of the workflow and the run, before anything is painted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication

from ...plugin.workflow import fitting
from ...plugin.workflow.finding import Severity
from ...plugin.workflow.graph import Kind, Status, Vertex
from ...plugin.workflow.port import name_of
from ...plugin.workflow.shelf import ALGORITHM, RUN_ALGORITHM
from ...plugin.workflow.value import Layer, Output, Value
from ...plugin.workflow.wording import value_text
from ...tools.base import Family, ToolDefinition
from ..number import number
from ..state_shape import Shape
from .document import GraphDocument, Mark

MOST_PARAMETERS = 3
SHAPES = {
    Status.PENDING: Shape.IDLE,
    Status.RUNNING: Shape.RUNNING,
    Status.WAITING: Shape.WAITING,
    Status.COMPLETED: Shape.DONE,
    Status.CACHED: Shape.KEPT,
    Status.FAILED: Shape.FAILED,
    Status.SKIPPED: Shape.SKIPPED,
}
CHECKS = {
    Severity.ERROR: Shape.ERROR,
    Severity.WARNING: Shape.WARNING,
    Severity.NOTE: Shape.NOTE,
}


def tr(text: str) -> str:
    """Translate a text of a node."""
    return QCoreApplication.translate("GraphCard", text)


@dataclass(frozen=True)
class Row:
    """One row: a name and what stands there; `port` is the parameter that a link may end at,
    `family` the kind of layer that it takes where that is one kind alone, `takes` all of them in
    words, and `is_missing` tells that it needs one."""

    label: str
    text: str
    port: str = ""
    family: str = ""
    is_missing: bool = False
    takes: str = ""


@dataclass(frozen=True)
class Card:
    """A node's texts and marks. `family` is the kind of layer that comes out, "" for none."""

    key: str
    title: str
    agent: str
    subtitle: str
    objective: str
    rows: tuple[Row, ...]
    more: int
    foot: str
    count: str
    shape: Shape
    percent: float
    message: str
    check: Shape | None
    checks: int
    family: str
    is_abstract: bool
    is_review: bool
    is_bypassed: bool
    mark: Mark | None = None

    @property
    def spoken(self) -> str:
        """The node as a screen reader says it."""
        parts = (self.title, self.subtitle, self.foot, self.message)
        return ", ".join(one for one in parts if one)


def card(document: GraphDocument, vertex: Vertex) -> Card:
    """Return what the node of a step says."""
    definition = document.tools.get(vertex.tool)
    state = document.state(vertex.id)
    found = document.findings_of(vertex.id)
    rows = _rows(document, vertex)
    ports = tuple(one for one in rows if one.port)
    others = tuple(one for one in rows if not one.port)
    layer = state.result.layers[0] if state.result and state.result.layers else None
    bypassed = vertex.bypassed
    return Card(
        vertex.id,
        title(document, vertex),
        "you" if vertex.kind is not Kind.TASK else vertex.agent,
        _subtitle(document, vertex, definition),
        vertex.objective,
        (*ports, *others[:MOST_PARAMETERS]),
        max(len(others) - MOST_PARAMETERS, 0),
        tr("Bypassed") if bypassed else _foot(document, vertex),
        number(layer.features) if layer is not None and layer.features >= 0 else "",
        Shape.SKIPPED if bypassed else SHAPES[state.status],
        state.percent,
        state.text if state.status is Status.FAILED else "",
        CHECKS[found[0].severity] if found else None,
        len(found),
        _family(document, vertex),
        vertex.is_abstract,
        vertex.kind is Kind.REVIEW,
        bypassed,
        document.mark(vertex.id),
    )


def _family(document: GraphDocument, vertex: Vertex) -> str:
    """Return the kind of layer that a step gives or will give, "" where it is not known."""
    found = document.flow.family(Output(vertex.id))
    return "" if found in (None, Family.ANY, Family.VECTOR) else found.value


def title(document: GraphDocument, vertex: Vertex) -> str:
    """Return what a step is called: its own title, else its tool's label."""
    if vertex.title:
        return vertex.title
    if vertex.kind is Kind.QUESTION:
        return tr("Question")
    if vertex.kind is Kind.REVIEW:
        return tr("Review stop")
    definition = document.tools.get(vertex.tool)
    return (definition.label if definition else "") or vertex.tool or vertex.id


def names(document: GraphDocument, vertices: Sequence[Vertex]) -> str:
    """Return what some steps are called: the name of one, else how many there are."""
    if len(vertices) == 1:
        return title(document, vertices[0])
    return tr("{} steps").replace("{}", str(len(vertices)))


def said(document: GraphDocument, value: Value) -> str:
    """Return a value as a reader would write it, steps by what they are called."""
    graph = document.shown
    if isinstance(value, Output) and graph.has(value.vertex):
        name = title(document, graph.vertex(value.vertex))
        return f"{name}: {value.key}" if value.key else name
    if isinstance(value, (list, tuple)) and all(isinstance(x, (Layer, Output)) for x in value):
        return ", ".join(said(document, one) for one in value)
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, (list, tuple)) and all(isinstance(x, Mapping) for x in value):
        return " · ".join(_condition(one) for one in value)
    return value_text(value)


def _condition(one: Mapping[str, Any]) -> str:
    if set(one) <= {"field", "op", "value"} and "field" in one:
        return " ".join(value_text(one[key]) for key in ("field", "op", "value") if key in one)
    return value_text(dict(one))


def _rows(document: GraphDocument, vertex: Vertex) -> tuple[Row, ...]:
    given = _given(vertex)
    taken = document.ports(vertex)
    rows = []
    for name, port in taken.items():
        value = given.get(name)
        if name in given or port.is_required or vertex.kind is Kind.REVIEW:
            kind = port.kinds[0].value if len(port.kinds) == 1 else ""
            kind = "" if kind == Family.TABLE.value else kind  # any layer with rows is a table
            missing = port.is_required and not value
            text = "" if value is None else said(document, value)
            takes = tr(" or ").join(fitting.PLURAL[one] for one in port.kinds)
            rows.append(Row(_label(name), text, name, kind, missing, takes))
    for name, value in given.items():
        if name not in taken:
            is_link = isinstance(value, (Layer, Output))
            rows.append(Row(_label(name), said(document, value), name if is_link else ""))
    return tuple(rows)


def _given(vertex: Vertex) -> dict[str, Value]:
    """Return the parameters by their ports; of an algorithm its own, one by one."""
    given = dict(vertex.parameters or {})
    inner = given.get(fitting.INNER)
    if vertex.tool != RUN_ALGORITHM or not isinstance(inner, Mapping):
        return given
    return {f"{fitting.INNER}.{name}": value for name, value in inner.items()}


def _label(name: str) -> str:
    return name_of(name).replace("_", " ").capitalize()


def _subtitle(document: GraphDocument, vertex: Vertex, definition: ToolDefinition | None) -> str:
    if vertex.kind is not Kind.TASK:
        return tr("Step for you")
    role = document.roles.find(vertex.agent)
    agent = role.label if role else vertex.agent
    if vertex.is_abstract:
        return f"{agent} · {tr('chosen when it runs')}"
    identity = (vertex.parameters or {}).get(ALGORITHM)
    if vertex.tool == RUN_ALGORITHM and isinstance(identity, str):
        return f"{agent} · {identity}"
    return f"{agent} · {(definition.label if definition else '') or vertex.tool}"


def _foot(document: GraphDocument, vertex: Vertex) -> str:
    state = document.state(vertex.id)
    seconds = tr("{0} s").replace("{0}", number(round(state.seconds, 1)))
    if state.status is Status.PENDING:
        above = [document.state(key).status for key in document.shown.parents(vertex)]
        waits = document.running and any(not one.is_done for one in above)
        return tr("Waits for another step") if waits else tr("Not run")
    if state.status is Status.RUNNING:
        return f"{round(state.percent)} %" if state.percent >= 0 else tr("Running")
    words = {
        Status.WAITING: tr("Waiting for you"),
        Status.COMPLETED: seconds,
        Status.CACHED: tr("Kept from last run"),
        Status.FAILED: tr("Failed after {0}").replace("{0}", seconds),
        Status.SKIPPED: tr("Skipped"),
    }
    return words[state.status]
