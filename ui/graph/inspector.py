# SPDX-License-Identifier: GPL-2.0-or-later
"""The inspector: title, objective, agent, tool and parameters of the selected step, its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import (
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ...plugin.workflow.finding import Finding
from ...plugin.workflow.graph import Graph, Vertex
from ...plugin.workflow.port import with_value
from ...plugin.workflow.value import Value
from ..panel import Label, Panel
from .card import said, title
from .document import GraphDocument
from .field import Field
from .finding_note import OBJECTIVE, FindingNote, place_of
from .parameter_field import Fields
from .parameter_form import ParameterForm
from .parameter_row import Row
from .tool_choice import ToolChoice


class Inspector(Panel):
    """Edits one step of a document; every edit has its name in the undo list. `fields` makes the
    fields of parameters."""

    def __init__(
        self, document: GraphDocument, fields: Fields | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmInspector")
        self._document = document
        self._key = ""
        self._filling = False
        self.title = QLineEdit()
        self.title.setObjectName("GeoOlmStepTitle")
        self.objective = QPlainTextEdit()
        self.objective.setObjectName("GeoOlmStepObjective")
        self.objective.setTabChangesFocus(True)
        self.wrong_objective = FindingNote(document)
        self.choice = ToolChoice(document)
        self.told = Label(scale=0.92, faint=True, wrap=True)
        self.told.setObjectName("GeoOlmSwapTold")
        self.wrong_step = FindingNote(document)
        self.parameters = ParameterForm(document, fields or Fields(document), self._put)
        self.result = QLabel()
        self.result.setObjectName("GeoOlmStepResult")
        self.result.setTextFormat(Qt.TextFormat.PlainText)
        self.result.setWordWrap(True)
        self.result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._none = QLabel(self.tr("Select a step to see its parameters."))
        self._none.setWordWrap(True)
        self._none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._build()
        self._connect()
        self.show_step()

    def _build(self) -> None:
        self._body = Panel()
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        head = QFormLayout()
        head.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        head.addRow(self.tr("Title"), self.title)
        head.addRow(self.tr("Objective"), self.objective)
        head.addRow(self.wrong_objective)
        head.addRow(self.tr("Agent"), self.choice.agent)
        head.addRow(self.tr("Tool"), self.choice.tool)
        head.addRow(self.told)
        head.addRow(self.wrong_step)
        column.addLayout(head)
        column.addWidget(self.parameters)
        column.addStretch(1)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setWidget(self._body)
        self._lines = QVBoxLayout(self)
        self._lines.addWidget(self._none, 1)
        self._lines.addWidget(self._area, 1)
        self._lines.addWidget(self.result)

    def _connect(self) -> None:
        document = self._document
        self.title.editingFinished.connect(self._retitle)
        self.objective.textChanged.connect(self._reword)
        self.choice.said = self._tell
        document.selection_changed.connect(lambda keys: self._select())
        document.changed.connect(lambda old, new: self.show_step())
        document.known_changed.connect(self.show_step)
        document.findings_changed.connect(self._show_findings)
        document.states_changed.connect(lambda keys: self._show_result())
        document.running_changed.connect(lambda on: self._lock())

    def restyle(self) -> None:
        """Set margins and heights."""
        pad = round(self.em * 0.6)
        self._lines.setContentsMargins(pad, pad, pad, pad)
        self.objective.setFixedHeight(round(self.em * 5.2))

    def edit(self, part: str) -> None:
        """Put the cursor where a part of the selected step is edited: its title, its objective,
        its parameters or one of them by name."""
        target: QWidget = self.title
        first = next(iter(self.parameters.fields.values()), None)
        if part == "objective":
            target = self.objective
        elif part == "parameters" and first is not None:
            target = first.focus
        elif part not in ("title", "parameters"):
            found = self.parameters.point_at(part)
            if found is None:
                return
            self._area.ensureWidgetVisible(found)
            return
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(target, QLineEdit):
            target.selectAll()

    def field(self, name: str) -> Field | None:
        """Return the field of a parameter."""
        return self.parameters.fields.get(name)

    def _select(self) -> None:
        self._tell("")
        self.show_step()

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
        self._show_findings()
        self._show_result()
        self._lock()

    # -- filling

    def _fill(self, vertex: Vertex) -> None:
        if self.title.text() != vertex.title:
            self.title.setText(vertex.title)
        self.title.setPlaceholderText(title(self._document, vertex))
        if self.objective.toPlainText() != vertex.objective:
            self.objective.setPlainText(vertex.objective)
        self.choice.show_step(vertex)
        self.parameters.show_step(vertex)

    def _tell(self, text: str) -> None:
        self.told.setText(text)
        self.told.setVisible(bool(text))

    def _show_findings(self) -> None:
        """Show what is wrong beside what it is about."""
        left = self.parameters.show_findings() if self._key else []
        objective = [one for one in left if _is_about_objective(one)]
        self.wrong_objective.put(objective)
        self.wrong_step.put([one for one in left if one not in objective])

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

    def _put(self, row: Row, value: Value) -> None:
        vertex = self._vertex()
        if self._filling or vertex is None:
            return
        label = row.label if row.of else row.name.replace("_", " ")
        text = self.tr("Change {0} of {1}").replace("{0}", label)
        self._change(
            text.replace("{1}", title(self._document, vertex)),
            lambda one: replace(one, parameters=with_value(one.parameters, row.port, value)),
            f"{row.port} {vertex.id}",
        )

    def spoken(self) -> str:
        """Return what the inspector shows, as a screen reader would say it."""
        vertex = self._vertex()
        if vertex is None:
            return self._none.text()
        parts = [f"{name} {said(self._document, one)}" for name, one in
                 (vertex.parameters or {}).items()]  # fmt: skip
        return ", ".join([title(self._document, vertex), *parts])


def _is_about_objective(finding: Finding) -> bool:
    return place_of(finding) == OBJECTIVE


def _has_begun(status: str) -> bool:
    return status not in ("pending", "skipped")
