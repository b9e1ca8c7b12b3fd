# SPDX-License-Identifier: GPL-2.0-or-later
"""One variable in the variables panel: name, kind, value, details, note and a way to remove it."""

from __future__ import annotations

from dataclasses import replace

from qgis.PyQt.QtCore import QObject, pyqtSignal
from qgis.PyQt.QtWidgets import QComboBox, QLineEdit, QToolButton, QWidget

from ...plugin.workflow.graph import Type, Variable
from ...tools.base import Family
from ..icon import theme_icon
from ..panel import LinkButton
from .document import GraphDocument
from .variable_value import value_field

_COMMA = ","


class VariableRow(QObject):
    """The widgets of a variable, left to right in `widgets`.

    `changed` carries the variable as it is wanted, `removed` asks to take it away, `shown` for
    the steps that use it.
    """

    changed = pyqtSignal(object)
    removed = pyqtSignal()
    shown = pyqtSignal()

    def __init__(
        self, document: GraphDocument, variable: Variable, uses: int, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._document, self.variable = document, variable
        self.name = QLineEdit(variable.name)
        self.kind = self._kinds()
        self.value = value_field(document, variable)
        self.details = self._details()
        self.note = QLineEdit(variable.label)
        self.note.setCursorPosition(0)
        self.note.setToolTip(variable.label)
        self.note.setPlaceholderText(self.tr("What it is for"))
        self.uses = LinkButton(f"GeoOlmVariableUses_{variable.name}", "")
        self.remove = QToolButton()
        self.remove.setIcon(theme_icon("mActionDeleteSelected"))
        self.remove.setAutoRaise(True)
        self.remove.setToolTip(self.tr("Remove the variable"))
        self.count_uses(uses)
        self._name_widgets()
        self.name.editingFinished.connect(self._rename)
        self.note.editingFinished.connect(self._annotate)
        self.value.changed.connect(self._set)
        self.kind.activated.connect(self._turn)
        self.remove.clicked.connect(self.removed)
        self.uses.clicked.connect(self.shown)

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        """The widgets from left to right."""
        return (self.name, self.kind, self.value.widget, self.details, self.note, self.uses,
                self.remove)  # fmt: skip

    def count_uses(self, uses: int) -> None:
        """Show how often the variable is used."""
        text = self.tr("1 use") if uses == 1 else self.tr("{} uses").replace("{}", str(uses))
        text = text if uses else self.tr("Not used")
        self.uses.setText(text)
        self.uses.setEnabled(bool(uses))
        said = self.tr("{0}: {1}, show the step").replace("{0}", self.variable.name)
        self.uses.setAccessibleName(said.replace("{1}", text))

    # -- building

    def _kinds(self) -> QComboBox:
        box = QComboBox()
        for kind, text in (
            (Type.LAYER, self.tr("Layer")),
            (Type.NUMBER, self.tr("Number")),
            (Type.TEXT, self.tr("Text")),
            (Type.DATE, self.tr("Date")),
            (Type.CHOICE, self.tr("Choice")),
        ):
            box.addItem(text, kind.value)
        box.setCurrentIndex(box.findData(self.variable.type.value))
        return box

    def _details(self) -> QWidget:
        """Return what else there is to a kind: the unit, the choices, the kind of layer."""
        if self.variable.type is Type.LAYER:
            return self._families()
        edit = QLineEdit()
        if self.variable.type is Type.NUMBER:
            edit.setText(self.variable.unit)
            edit.setPlaceholderText(self.tr("Unit"))
            edit.editingFinished.connect(lambda: self._detail(unit=edit.text().strip()))
        elif self.variable.type is Type.CHOICE:
            edit.setText(f"{_COMMA} ".join(self.variable.choices))
            edit.setPlaceholderText(self.tr("Choices, with commas"))
            edit.editingFinished.connect(lambda: self._detail(choices=_listed(edit.text())))
        else:
            edit.setEnabled(False)
        return edit

    def _families(self) -> QComboBox:
        box = QComboBox()
        for family, text in (
            (Family.ANY, self.tr("Any layer")),
            (Family.VECTOR, self.tr("With features")),
            (Family.POINT, self.tr("Points")),
            (Family.LINE, self.tr("Lines")),
            (Family.POLYGON, self.tr("Polygons")),
            (Family.RASTER, self.tr("Raster")),
            (Family.TABLE, self.tr("Table")),
        ):
            box.addItem(text, family.value)
        box.setCurrentIndex(max(box.findData(self.variable.family), 0))
        box.activated.connect(lambda at: self._detail(family=box.itemData(at)))
        return box

    def _name_widgets(self) -> None:
        parts = (
            (self.name, "Name", self.tr("name")),
            (self.kind, "Kind", self.tr("kind")),
            (self.value.widget, "Value", self.tr("value")),
            (self.details, "Details", self.tr("details")),
            (self.note, "Note", self.tr("note")),
            (self.remove, "Remove", self.tr("remove")),
        )
        for widget, part, said in parts:
            widget.setObjectName(f"GeoOlmVariable{part}_{self.variable.name}")
            widget.setAccessibleName(f"{self.variable.name}: {said}")

    # -- what hands want

    def _rename(self) -> None:
        text = self.name.text().strip()
        if text != self.variable.name:
            self.changed.emit(replace(self.variable, name=text))

    def _annotate(self) -> None:
        text = self.note.text().strip()
        if text != self.variable.label:
            self.changed.emit(replace(self.variable, label=text))

    def _set(self, value: object) -> None:
        if value != self.variable.default:
            self.changed.emit(replace(self.variable, default=value))

    def _turn(self, at: int) -> None:
        kind = Type(self.kind.itemData(at))
        if kind is not self.variable.type:
            self.changed.emit(replace(self.variable, type=kind))

    def _detail(self, **change: object) -> None:
        wanted = replace(self.variable, **change)  # type: ignore[arg-type]
        if wanted != self.variable:
            self.changed.emit(wanted)


def _listed(text: str) -> tuple[str, ...]:
    found = (one.strip() for one in text.split(_COMMA))
    return tuple(dict.fromkeys(one for one in found if one))
