# SPDX-License-Identifier: GPL-2.0-or-later
"""What a parameter's menu offers beside variables: numbers and texts of other steps, and the
variables of values inside conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtWidgets import QMenu

from ...plugin.workflow.graph import Graph
from ...plugin.workflow.port import value_at, with_value
from ...plugin.workflow.topology import descendants
from ...plugin.workflow.value import Output
from ..icon import theme_icon
from .card import said, title
from .condition_field import are_rows, is_conditions, words_of
from .document import GraphDocument
from .parameter_row import Row
from .variable_menu import fill_menu

_PLAIN = frozenset(("number", "integer", "string"))


def tr(text: str) -> str:
    """Translate a text of the menu."""
    return QCoreApplication.translate("BindingMenu", text)


def takes_output(schema: Mapping[str, Any]) -> bool:
    """Tell whether a parameter takes a number or a text that a step may give."""
    if any(mark in schema for mark in ("enum", "x-layer", "x-field", "x-band")):
        return False
    kinds = [one.get("type") for one in schema.get("anyOf", ())] or schema.get("type")
    return bool(_PLAIN & set(kinds if isinstance(kinds, list) else [kinds]))


def outputs_for(document: GraphDocument, step: str, row: Row) -> Iterator[Output]:
    """Yield what the steps that do not wait for this one give of what a parameter takes."""
    graph = document.graph
    if not takes_output(row.schema) or not graph.has(step):
        return
    after = descendants(graph, step)
    is_text = row.schema.get("type") == "string"
    for key, gives in document.flow.gives().items():
        if key != step and key not in after:
            names = (*gives.numbers, *(gives.texts if is_text else ()))
            yield from (Output(key, name) for name in dict.fromkeys(names))


def add_bindings(menu: QMenu, document: GraphDocument, step: str, row: Row) -> None:
    """Add an entry for each number or text that a parameter may take from a step."""
    found = list(outputs_for(document, step, row))
    if not found:
        return
    menu.addSeparator()
    inner = menu.addMenu(theme_icon("mIconConnect"), tr("Take from a step"))
    inner.setObjectName("GeoOlmTakeFrom")
    for one in found:
        action = inner.addAction(said(document, one))
        action.setCheckable(True)
        action.setChecked(value_at(document.graph.vertex(step).parameters, row.port) == one)
        action.triggered.connect(lambda _on=False, output=one: bind(document, step, row, output))


def add_conditions(menu: QMenu, document: GraphDocument, step: str, row: Row) -> None:
    """Add the menu of variables of each condition's value."""
    if not is_conditions(row.schema) or not are_rows(row.given):
        return
    for at, item in enumerate(row.given or ()):
        if "value" in item:
            inner = menu.addMenu(f"{item['field']} {words_of(str(item['op']))} …")
            inner.setObjectName(f"GeoOlmConditionMenu_{at}")
            path = (*row.path, at, "value")
            inner.aboutToShow.connect(
                lambda one=inner, place=path: fill_menu(one, document, step, place)
            )


def bind(document: GraphDocument, step: str, row: Row, output: Output) -> None:
    """Let a parameter take what a step gives."""

    def bound(graph: Graph) -> Graph:
        vertex = graph.vertex(step)
        return graph.with_vertex(
            replace(vertex, parameters=with_value(vertex.parameters, row.port, output))
        )

    text = tr("Connect {0} to {1}: {2}").replace("{0}", said(document, output))
    text = text.replace("{1}", title(document, document.graph.vertex(step)))
    document.edit(text.replace("{2}", row.label), bound)
