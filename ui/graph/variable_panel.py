# SPDX-License-Identifier: GPL-2.0-or-later
"""The variables of a workflow: added, renamed, given a value, removed where nothing uses them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from qgis.PyQt.QtCore import QEvent, QLocale, Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ...plugin.workflow import variable_edit
from ...plugin.workflow.graph import Graph, Type, Variable
from ...plugin.workflow.variable import VariableError, value_of
from ..icon import theme_icon
from ..palette import Tone, tone_colour
from ..panel import Label, Panel
from .document import Edit, GraphDocument
from .variable_row import VariableRow

_VALUE, _NOTE = 2, 4


class VariablePanel(Panel):
    """Lists a document's variables; `step_shown` asks the canvas for a step, `counted` tells how
    many variables there are and how many lack a value."""

    step_shown = pyqtSignal(str)
    counted = pyqtSignal(int, int)

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmVariables")
        self.setAccessibleName(self.tr("Variables"))
        self._document = document
        self.rows: dict[str, VariableRow] = {}
        self._shown: tuple[Variable, ...] = ()
        self._grid = QGridLayout()
        body = QWidget()
        lines = QVBoxLayout(body)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.addLayout(self._grid)
        lines.addStretch(1)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setWidget(body)
        body.setAutoFillBackground(False)  # which setWidget turns on
        self._area.viewport().setAutoFillBackground(False)
        self._none = Label(
            self.tr("No variables. Add one, or make one of a parameter in the inspector."),
            faint=True, wrap=True,
        )  # fmt: skip
        self.add = QPushButton(theme_icon("symbologyAdd"), self.tr("Add variable"))
        self.add.setObjectName("GeoOlmVariableAdd")
        self.said = Label(wrap=True)
        self.said.setObjectName("GeoOlmVariableSaid")
        foot = QHBoxLayout()
        foot.addWidget(self.add)
        foot.addWidget(self.said, 1)
        self._lines = QVBoxLayout(self)
        self._lines.addWidget(self._none)
        self._lines.addWidget(self._area, 1)
        self._lines.addLayout(foot)
        self.add.clicked.connect(self._add)
        document.changed.connect(lambda old, new: self.fill())
        document.known_changed.connect(self._rebuild)
        document.running_changed.connect(lambda on: self.setEnabled(not on))
        document.proposal_changed.connect(self._lock)
        self._rebuild()

    def restyle(self) -> None:
        """Set margins and the widths of the columns."""
        pad = round(self.em * 0.5)
        self._lines.setContentsMargins(pad, pad, pad, pad)
        self._lines.setSpacing(pad)
        self._grid.setHorizontalSpacing(pad)
        self._grid.setVerticalSpacing(round(self.em * 0.3))
        for column, least in ((0, 7), (1, 5), (_VALUE, 9), (3, 7), (_NOTE, 9)):
            self._grid.setColumnMinimumWidth(column, least * self.em)
        self._grid.setColumnStretch(_VALUE, 2)
        self._grid.setColumnStretch(_NOTE, 3)
        self._colour()

    def fill(self) -> None:
        """Show the variables as they are now."""
        variables = self._document.graph.variables
        if variables != self._shown:
            self._rebuild()
            return
        for name, row in self.rows.items():
            row.count_uses(len(variable_edit.uses(self._document.graph, name)))

    def edit(self, name: str) -> None:
        """Put the cursor where a variable gets its value."""
        row = self.rows.get(name)
        if row is not None:
            row.value.widget.setFocus(Qt.FocusReason.OtherFocusReason)
            self._area.ensureWidgetVisible(row.value.widget)

    def edit_lacking(self) -> None:
        """Put the cursor where the first variable without a value gets one."""
        name = next((one.name for one in self._shown if not _has_value(one)), "")
        self.edit(name)

    def lacking_at(self, steps: Collection[str], parameter: str) -> str:
        """Return the first variable without a value that a parameter of some steps uses, or ""."""
        for one in self._shown:
            if not _has_value(one):
                places = variable_edit.uses(self._document.graph, one.name)
                if any(use.step in steps and use.parameter == parameter for use in places):
                    return one.name
        return ""

    # -- rows

    def _rebuild(self) -> None:
        focus = next(
            (one.objectName() for row in self.rows.values() for one in row.widgets
             if one.hasFocus()), "",
        )  # fmt: skip
        self._clear()
        graph = self._document.graph
        self._shown = graph.variables
        self._none.setVisible(not graph.variables)
        self._area.setVisible(bool(graph.variables))
        if graph.variables:
            self._head()
        for at, variable in enumerate(graph.variables):
            uses = len(variable_edit.uses(graph, variable.name))
            row = VariableRow(self._document, variable, uses, self)
            row.changed.connect(lambda wanted, one=variable: self._change(one, wanted))
            row.removed.connect(lambda one=variable: self._remove(one))
            row.shown.connect(lambda one=variable: self._show_use(one))
            for column, widget in enumerate(row.widgets):
                self._grid.addWidget(widget, at + 1, column)
                widget.show()  # only what is shown takes the cursor
                if widget.objectName() == focus:
                    widget.setFocus(Qt.FocusReason.OtherFocusReason)
            self.rows[variable.name] = row
        self._say("")
        self._count()

    def _clear(self) -> None:
        for row in self.rows.values():
            row.blockSignals(True)  # a field that loses the cursor now has nothing to say
            row.deleteLater()
        self.rows = {}
        while self._grid.count():
            widget = self._grid.takeAt(0).widget()
            widget.blockSignals(True)
            widget.hide()
            widget.setObjectName("")
            widget.deleteLater()

    def _head(self) -> None:
        texts = (self.tr("Name"), self.tr("Kind"), self.tr("Value"), self.tr("Details"),
                 self.tr("Note"))  # fmt: skip
        for column, text in enumerate(texts):
            label = Label(text, scale=0.92, faint=True)
            self._grid.addWidget(label, 0, column)
            label.restyle(self.font())

    def _count(self) -> None:
        lacking = sum(not _has_value(one) for one in self._shown)
        self.counted.emit(len(self._shown), lacking)

    def _lock(self) -> None:
        document = self._document
        self.setEnabled(document.proposal is None and document.comparison is None)

    # -- edits

    def _add(self) -> None:
        name = variable_edit.free_name(self._document.graph)
        fresh = Variable(name, Type.TEXT)
        text = self.tr("Add variable {}").replace("{}", name)
        if not self._edit(text, lambda graph: variable_edit.added(graph, fresh)):
            return
        field = self.rows[name].name
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        field.selectAll()
        self._area.ensureWidgetVisible(field)

    def _change(self, old: Variable, wanted: Variable) -> None:
        try:
            new = _fitted(old, wanted)
        except VariableError as error:
            self._rebuild()
            self._say(str(error))
            return
        if new.name != old.name:
            text = self.tr("Rename variable {0} to {1}").replace("{0}", old.name)
            text = text.replace("{1}", new.name)
        elif new.default != old.default and new.type is old.type:
            text = self.tr("Set variable {}").replace("{}", old.name)
        else:
            text = self.tr("Change variable {}").replace("{}", old.name)
        self._edit(text, lambda graph: variable_edit.changed(graph, old.name, new))

    def _remove(self, variable: Variable) -> None:
        text = self.tr("Remove variable {}").replace("{}", variable.name)
        if self._edit(text, lambda graph: variable_edit.removed(graph, variable.name)):
            self.add.setFocus(Qt.FocusReason.OtherFocusReason)

    def _edit(self, text: str, function: Edit) -> bool:
        try:
            return self._document.edit(text, function)
        except VariableError as error:
            self._rebuild()
            self._say(str(error))
            return False

    def _show_use(self, variable: Variable) -> None:
        graph: Graph = self._document.graph
        steps = [one.step for one in variable_edit.uses(graph, variable.name) if one.step]
        if steps:
            chosen = [at for at, key in enumerate(steps) if key in self._document.selection]
            self.step_shown.emit(steps[(chosen[0] + 1) % len(steps)] if chosen else steps[0])

    def _say(self, text: str) -> None:
        self.said.setText(text)
        self._colour()

    def _colour(self) -> None:
        palette = self.palette()
        palette.setColor(palette.ColorRole.WindowText, tone_colour(self.palette(), Tone.FAILED))
        self.said.setPalette(palette)

    def event(self, event: QEvent) -> bool:
        """Keep the colour of what is refused when the panel is restyled."""
        done = bool(super().event(event))
        if event.type() in (QEvent.Type.Polish, QEvent.Type.PaletteChange):
            self._colour()
        return done


def _has_value(variable: Variable) -> bool:
    try:
        value_of(variable, {})
    except VariableError:
        return False
    return True


def _fitted(old: Variable, wanted: Variable) -> Variable:
    """Return a variable whose value is of its kind. Raises VariableError for a value that is
    not."""
    if wanted.type is not old.type:
        return variable_edit.of_kind(replace(old, name=wanted.name), wanted.type)
    if wanted.default is None or wanted.type is Type.LAYER:
        return wanted
    if wanted.choices != old.choices:
        kept = wanted.default if wanted.default in wanted.choices else None
        return replace(wanted, default=kept)
    if isinstance(wanted.default, str) and wanted.type is Type.NUMBER:
        number, is_one = QLocale().toDouble(wanted.default)
        if is_one:
            return replace(wanted, default=int(number) if number.is_integer() else number)
    return replace(wanted, default=value_of(wanted, {}))
