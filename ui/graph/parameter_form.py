# SPDX-License-Identifier: GPL-2.0-or-later
"""The parameters of the selected step as a form: label, field, variables, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.PyQt.QtCore import QEvent, QObject, Qt, QTimer
from qgis.PyQt.QtGui import QPalette, QWheelEvent
from qgis.PyQt.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ...plugin.workflow.finding import Finding
from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.value import Value
from ..panel import Label, Panel
from .binding_menu import add_bindings, add_conditions
from .bound_field import kept_field
from .document import GraphDocument
from .editing import takes_layer
from .field import Field, is_bound
from .finding_note import FindingNote
from .parameter_field import Fields
from .parameter_row import Row, rows
from .variable_menu import variable_button

_FLASH_MS = 600
Put = Callable[[Row, Value], None]


class ParameterForm(Panel):
    """Shows the rows of a step. An edit made here keeps its widget; any other change of the step
    makes the fields anew."""

    def __init__(self, document: GraphDocument, fields: Fields, put: Put) -> None:
        super().__init__()
        self.setObjectName("GeoOlmParameters")
        self._document, self._make, self._put = document, fields, put
        self.fields: dict[str, Field] = {}
        self._rows: dict[str, Row] = {}
        self._notes: dict[str, FindingNote] = {}
        self._labels: dict[str, Label] = {}
        self._signature: tuple[Any, ...] = ()
        self._open = False
        self._lit: tuple[Label, QPalette] | None = None
        self._flash = QTimer(self)
        self._flash.setSingleShot(True)
        self._flash.setInterval(_FLASH_MS)
        self._flash.timeout.connect(self._calm)
        self._body = QWidget()
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.addWidget(self._body)

    def show_step(self, vertex: Vertex | None) -> None:
        """Show the parameters of a step, None for no step."""
        found = rows(self._document, vertex) if vertex is not None else []
        signature = self._signed(vertex, found)
        same = signature == self._signature and all(
            self.fields[row.name].value == row.given for row in found
        )
        self._rows = {row.name: row for row in found}
        if not same:
            self._signature = signature
            self._build(vertex, found)
        self.show_findings()

    def _signed(self, vertex: Vertex | None, found: list[Row]) -> tuple[Any, ...]:
        """Return what makes new fields necessary when it changes."""
        if vertex is None:
            return ()
        document = self._document
        layers = tuple(
            row.given if takes_layer(row.schema) else is_bound(row.given) for row in found
        )
        known = (document.layers, document.tools, id(document.shelf))
        names = tuple(row.name for row in found)
        graph = document.graph
        others = tuple((one.id, one.title, one.tool) for one in graph.vertices)
        return (vertex.id, vertex.tool, names, layers, known, others)

    def _build(self, vertex: Vertex | None, found: list[Row]) -> None:
        focus = self._focused()
        old, self._lit = self._body, None
        self.fields, self._notes, self._labels = {}, {}, {}
        self._body = QWidget()
        if vertex is not None:
            self._make.begin(vertex, found)
            for row in found:
                self.fields[row.name] = self._make.field(vertex, row)
            for name in self._make.end():
                self.fields[name] = kept_field(self._rows[name].given)
            self._lay(vertex, found)
        self._lines.replaceWidget(old, self._body)
        old.hide()
        old.deleteLater()
        self.restyle_all()
        if focus in self.fields:
            self.fields[focus].focus.setFocus()

    def _lay(self, vertex: Vertex, found: list[Row]) -> None:
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        usual = [row for row in found if not row.is_advanced]
        column.addLayout(self._column(vertex, usual))
        advanced = [row for row in found if row.is_advanced]
        if not advanced:
            return
        more = QToolButton()
        more.setObjectName("GeoOlmAdvanced")
        more.setText(self.tr("Advanced parameters"))
        more.setCheckable(True)
        more.setAutoRaise(True)
        more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        inner = QWidget()
        inner.setLayout(self._column(vertex, advanced))

        def fold(on: bool) -> None:
            self._open = on
            inner.setVisible(on)
            more.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)

        more.toggled.connect(fold)
        column.addWidget(more)
        column.addWidget(inner)
        is_open = self._open or any(row.given is not None for row in advanced)
        more.setChecked(is_open)
        fold(is_open)

    def _column(self, vertex: Vertex, found: list[Row]) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for row in found:
            self._add(column, vertex, row)
            column.addSpacing(round(self.em * 0.35))
        return column

    def _add(self, column: QVBoxLayout, vertex: Vertex, row: Row) -> None:
        field = self.fields[row.name]
        widget = field.widget
        text = f"{row.label} *" if row.is_required else row.label
        widget.setObjectName(f"GeoOlmParameter_{row.name}")
        widget.setToolTip(str(row.schema.get("description", "")))
        field.focus.setAccessibleName(row.label)
        widget.setSizePolicy(QSizePolicy.Policy.Ignored, widget.sizePolicy().verticalPolicy())
        guard(widget)
        label = Label(text, wrap=True)
        label.setBuddy(field.focus)
        if isinstance(widget, QCheckBox):
            widget.setText(text)
        else:
            column.addWidget(label)
        line = QHBoxLayout()
        line.setSpacing(2)
        line.addWidget(widget, 1)
        button = variable_button(self._document, vertex.id, row.path, self._body)
        menu = button.menu()
        menu.aboutToShow.connect(lambda: self._fill_menu(menu, vertex.id, row.name))
        line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        note = FindingNote(self._document)
        column.addLayout(line)
        if row.is_required and row.given is None and field.proposed is not None:
            column.addWidget(self._taker(row.name, field))
        column.addWidget(note)
        self._labels[row.name], self._notes[row.name] = label, note
        field.changed.connect(lambda value, name=row.name: self._put(self._rows[name], value))

    def _fill_menu(self, menu: QMenu, step: str, name: str) -> None:
        """Add to the menu of variables what else the parameter may take."""
        add_bindings(menu, self._document, step, self._rows[name])
        add_conditions(menu, self._document, step, self._rows[name])

    def _taker(self, name: str, field: Field) -> QPushButton:
        """Return a button that gives a required parameter what its widget proposes."""
        button = QPushButton(self.tr("Use what is shown"))
        button.setObjectName(f"GeoOlmTake_{name}")
        button.clicked.connect(lambda _on=False: field.tell(field.proposed))
        field.changed.connect(lambda _value: button.hide())
        return button

    def _focused(self) -> str:
        focus = QApplication.focusWidget()
        for name, one in self.fields.items():
            if focus is not None and (one.widget is focus or one.widget.isAncestorOf(focus)):
                return name
        return ""

    # -- what is wrong

    def show_findings(self) -> list[Finding]:
        """Show the findings beside their parameters; return those that belong to none."""
        key = self._signature[0] if self._signature else ""
        found = self._document.findings_of(key) if key else ()
        of_row = {name: [x for x in found if self._is_about(x, name)] for name in self._notes}
        for name, note in self._notes.items():
            note.put(of_row[name])
        shown = [one for some in of_row.values() for one in some]
        return [one for one in found if one not in shown]

    def _is_about(self, finding: Finding, name: str) -> bool:
        return bool(finding.parameter) and finding.parameter == name

    def point_at(self, name: str) -> QWidget | None:
        """Put the cursor into the field of a parameter and light its label once; return it."""
        field = self.fields.get(name)
        if field is None:
            return None
        more = self._body.findChild(QToolButton, "GeoOlmAdvanced")
        if more is not None and self._rows[name].is_advanced:
            more.setChecked(True)
        field.focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self._light(self._labels[name])
        return field.widget

    def _light(self, label: Label) -> None:
        """Show a label as selected for a moment."""
        self._calm()
        roles = QPalette.ColorRole
        self._lit = (label, QPalette(label.palette()))
        palette = QPalette(label.palette())
        palette.setColor(roles.Window, palette.color(roles.Highlight))
        palette.setColor(roles.WindowText, palette.color(roles.HighlightedText))
        label.setAutoFillBackground(True)
        label.setPalette(palette)
        self._flash.start()

    def _calm(self) -> None:
        if self._lit is not None:
            label, palette = self._lit
            label.setAutoFillBackground(False)
            label.setPalette(palette)
            self._lit = None


class _Guard(QObject):
    """Leaves the wheel to the scroll area, so that scrolling changes no value."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ignore the wheel over a field that has no focus."""
        if isinstance(event, QWheelEvent) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def guard(widget: QWidget) -> None:
    """Keep lists and numbers in a widget from turning with the wheel."""
    held = _Guard(widget)
    inner: list[QWidget] = [*widget.findChildren(QComboBox), *widget.findChildren(QAbstractSpinBox)]
    for one in (widget, *inner):
        if isinstance(one, (QComboBox, QAbstractSpinBox)):
            one.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            one.installEventFilter(held)
