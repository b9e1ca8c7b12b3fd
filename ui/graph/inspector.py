# SPDX-License-Identifier: GPL-2.0-or-later
"""The inspector: title, objective, tool and parameters of the selected step, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import (
    QComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ...plugin.workflow.graph import Graph, Kind, Vertex
from ...tools.base import ToolDefinition
from ..panel import Panel
from . import editing
from .card import said, title
from .document import GraphDocument
from .parameter_field import Field, field_of


class Inspector(Panel):
    """Edits one step of a document; every edit has its name in the undo list."""

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmInspector")
        self._document = document
        self._key = ""
        self._fields: dict[str, Field] = {}
        self._filling = False
        self.title = QLineEdit()
        self.title.setObjectName("GeoOlmStepTitle")
        self.objective = QPlainTextEdit()
        self.objective.setObjectName("GeoOlmStepObjective")
        self.objective.setTabChangesFocus(True)
        self.tool = QComboBox()
        self.tool.setObjectName("GeoOlmStepTool")
        self.result = QLabel()
        self.result.setObjectName("GeoOlmStepResult")
        self.result.setTextFormat(Qt.TextFormat.PlainText)
        self.result.setWordWrap(True)
        self.result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._none = QLabel(self.tr("Select a step to see its parameters."))
        self._none.setWordWrap(True)
        self._none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._body = QWidget()
        self._form = QFormLayout()
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._form)
        column.addStretch(1)
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._form.addRow(self.tr("Title"), self.title)
        self._form.addRow(self.tr("Objective"), self.objective)
        self._form.addRow(self.tr("Tool"), self.tool)
        self._fixed = self._form.rowCount()
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setWidget(self._body)
        self._lines = QVBoxLayout(self)
        self._lines.addWidget(self._none, 1)
        self._lines.addWidget(self._area, 1)
        self._lines.addWidget(self.result)
        self.title.editingFinished.connect(self._retitle)
        self.objective.textChanged.connect(self._reword)
        self.tool.activated.connect(self._swap)
        document.selection_changed.connect(lambda keys: self.show_step())
        document.changed.connect(lambda old, new: self.show_step())
        document.known_changed.connect(self.show_step)
        document.states_changed.connect(lambda keys: self._show_result())
        document.running_changed.connect(lambda on: self._lock())
        self.show_step()

    def restyle(self) -> None:
        """Set margins and heights."""
        pad = round(self.em * 0.6)
        self._lines.setContentsMargins(pad, pad, pad, pad)
        self.objective.setFixedHeight(round(self.em * 5.2))

    def edit(self, part: str) -> None:
        """Put the cursor where a part of the selected step is edited."""
        target: QWidget = self.title
        if part == "objective":
            target = self.objective
        elif part == "parameters" and self._fields:
            target = next(iter(self._fields.values())).widget
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(target, QLineEdit):
            target.selectAll()

    def field(self, name: str) -> Field | None:
        """Return the field of a parameter."""
        return self._fields.get(name)

    def show_step(self) -> None:
        """Show the selected step, if it is one."""
        graph, chosen = self._document.graph, self._document.selection
        key = next(iter(chosen)) if len(chosen) == 1 else ""
        vertex = graph.vertex(key) if key and graph.has(key) else None
        self._none.setVisible(vertex is None)
        self._area.setVisible(vertex is not None)
        self._filling = True
        self._key = vertex.id if vertex is not None else ""
        if vertex is not None:
            self._fill(vertex)
        self._filling = False
        self._show_result()
        self._lock()

    # -- filling

    def _fill(self, vertex: Vertex) -> None:
        if self.title.text() != vertex.title:
            self.title.setText(vertex.title)
        self.title.setPlaceholderText(title(self._document, vertex))
        if self.objective.toPlainText() != vertex.objective:
            self.objective.setPlainText(vertex.objective)
        self._fill_tools(vertex)
        definition = self._document.tools.get(vertex.tool)
        focus = next((name for name, one in self._fields.items() if one.widget.hasFocus()), "")
        while self._form.rowCount() > self._fixed:
            self._form.removeRow(self._fixed)
        self._fields = {}
        for name, schema in self._properties(vertex, definition).items():
            given = (vertex.parameters or {}).get(name)
            made = field_of(self._document, vertex, name, schema, given)
            made.widget.setObjectName(f"GeoOlmParameter_{name}")
            made.widget.setToolTip(schema.get("description", ""))
            label = QLabel(name.replace("_", " ").capitalize())
            label.setBuddy(made.widget)
            made.changed.connect(self._setter(name))
            self._fields[name] = made
            self._form.addRow(label, made.widget)
        if focus in self._fields:
            self._fields[focus].widget.setFocus()

    def _properties(
        self, vertex: Vertex, definition: ToolDefinition | None
    ) -> dict[str, dict[str, Any]]:
        known = dict(definition.parameters.get("properties", {})) if definition else {}
        for name in vertex.parameters or {}:
            known.setdefault(name, {})
        return known

    def _fill_tools(self, vertex: Vertex) -> None:
        self.tool.clear()
        is_task = vertex.kind is Kind.TASK
        self.tool.setEnabled(is_task)
        if not is_task:
            self.tool.addItem(title(self._document, vertex), "")
            return
        self.tool.addItem(self.tr("Chosen when it runs"), "")
        role = self._document.roles.find(vertex.agent)
        names = list(role.tools) if role else []
        if vertex.tool and vertex.tool not in names:
            names.insert(0, vertex.tool)
        for name in names:
            tool = self._document.tools.get(name)
            self.tool.addItem(tool.label if tool and tool.label else name, name)
        self.tool.setCurrentIndex(max(self.tool.findData(vertex.tool), 0))

    def _show_result(self) -> None:
        state = self._document.state(self._key) if self._key else None
        text = state.text if state is not None else ""
        self.result.setText(text)
        self.result.setVisible(bool(text))

    def _lock(self) -> None:
        """While a run goes on, only steps that have not begun can be edited."""
        running = self._document.running
        state = self._document.state(self._key).status if self._key else None
        self._body.setEnabled(not running or (state is not None and not _has_begun(state.value)))

    # -- editing

    def _vertex(self) -> Vertex | None:
        graph = self._document.graph
        return graph.vertex(self._key) if self._key and graph.has(self._key) else None

    def _change(self, text: str, change: Callable[[Vertex], Vertex], merge: str = "") -> None:
        key = self._key

        def function(graph: Graph) -> Graph:
            return graph.with_vertex(change(graph.vertex(key)))

        self._document.edit(text, function, merge)

    def _retitle(self) -> None:
        vertex = self._vertex()
        if self._filling or vertex is None or self.title.text() == vertex.title:
            return
        old, new = title(self._document, vertex), self.title.text().strip()
        text = self.tr("Rename {0} to {1}").replace("{0}", old).replace("{1}", new)
        self._change(text, lambda one: replace(one, title=new))

    def _reword(self) -> None:
        vertex = self._vertex()
        said_now = self.objective.toPlainText()
        if self._filling or vertex is None or said_now == vertex.objective:
            return
        name = title(self._document, vertex)
        text = self.tr("Edit the objective of {}").replace("{}", name)
        merge = f"objective {vertex.id}"
        self._change(text, lambda one: replace(one, objective=said_now), merge)

    def _swap(self, _index: int) -> None:
        vertex, name = self._vertex(), self.tool.currentData()
        if vertex is None or name == vertex.tool:
            return
        old = title(self._document, vertex)
        if not name:
            text = self.tr("Let the tool of {} be chosen when it runs").replace("{}", old)
            self._change(text, lambda one: replace(one, tool="", parameters=None))
            return
        definition = self._document.tools[name]
        role = self._document.roles.of(name)
        agent = role.name if role else vertex.agent
        text = self.tr("Change the tool of {0} to {1}").replace("{0}", old)
        key = self._key
        self._document.edit(
            text.replace("{1}", definition.label or name),
            lambda graph: editing.swapped(graph, key, definition, agent)[0],
        )

    def _setter(self, name: str) -> Callable[[object], None]:
        def put(value: object) -> None:
            vertex = self._vertex()
            if self._filling or vertex is None:
                return
            text = self.tr("Change {0} of {1}").replace("{0}", name.replace("_", " "))
            key = self._key
            self._document.edit(
                text.replace("{1}", title(self._document, vertex)),
                lambda graph: editing.with_parameter(graph, key, name, value),
                f"{name} {key}",
            )

        return put

    def spoken(self) -> str:
        """Return what the inspector shows, as a screen reader would say it."""
        vertex = self._vertex()
        if vertex is None:
            return self._none.text()
        parts = [f"{name} {said(self._document, one)}" for name, one in
                 (vertex.parameters or {}).items()]  # fmt: skip
        return ", ".join([title(self._document, vertex), *parts])


def _has_begun(status: str) -> bool:
    return status not in ("pending", "skipped")
