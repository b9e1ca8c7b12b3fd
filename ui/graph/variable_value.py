# SPDX-License-Identifier: GPL-2.0-or-later
"""The field in which the value of a variable is set, by what the variable holds."""

from __future__ import annotations

import datetime
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication, QDate, QLocale, Qt
from qgis.PyQt.QtWidgets import QComboBox, QDateEdit, QLineEdit

from ...plugin.workflow.fitting import fits
from ...plugin.workflow.graph import Type, Variable
from ...tools.base import Family
from ..icon import FAMILIES, theme_icon
from .document import GraphDocument
from .parameter_field import Field

_FIRST = (1, 1, 1)
"""The day that stands for none."""


def tr(text: str) -> str:
    """Translate a text of a field."""
    return QCoreApplication.translate("VariableValue", text)


def value_field(document: GraphDocument, variable: Variable) -> Field:
    """Return a field with the variable's value; its `changed` carries what was set, None for no
    value. What is typed is not checked here."""
    if variable.type is Type.LAYER:
        return _layer(document, variable)
    if variable.type is Type.CHOICE:
        return _choice(variable)
    if variable.type is Type.DATE and (variable.default is None or _is_day(variable.default)):
        return _date(variable)
    return _text(variable)


def value_text(value: Any) -> str:
    """Return a value as it stands in its field."""
    if value is None:
        return ""
    if isinstance(value, float):
        locale = QLocale()
        return locale.toString(value, "g", 12) if abs(value) < 1e15 else str(value)
    return str(value)


def _layer(document: GraphDocument, variable: Variable) -> Field:
    """Return a list of the project's layers of the kind; one that is gone stays and is told."""
    box = QComboBox()
    field = Field(box)
    kinds = (Family(variable.family),)
    names = [one for one in document.layers if not one.short and fits(one.family, kinds)]
    box.addItem(tr("No layer"), None)
    for one in names:
        icon = theme_icon(FAMILIES.get(one.family.value, "mIconVector"))
        box.addItem(icon, one.key, one.key)
    value = variable.default
    if value is not None and box.findData(value) < 0:
        box.addItem(tr("{} (not fitting or not here)").replace("{}", str(value)), value)
    box.setCurrentIndex(max(box.findData(value), 0))
    box.activated.connect(lambda at: field.changed.emit(box.itemData(at)))
    return field


def _choice(variable: Variable) -> Field:
    box = QComboBox()
    field = Field(box)
    box.addItem(tr("No value"), None)
    for one in variable.choices:
        box.addItem(one, one)
    value = variable.default
    if value is not None and box.findData(value) < 0:
        box.addItem(str(value), value)
    box.setCurrentIndex(max(box.findData(value), 0))
    box.activated.connect(lambda at: field.changed.emit(box.itemData(at)))
    return field


def _date(variable: Variable) -> Field:
    edit = QDateEdit()
    field = Field(edit)
    edit.setCalendarPopup(True)
    edit.setDisplayFormat("yyyy-MM-dd")
    none = QDate(*_FIRST)
    edit.setMinimumDate(none)
    edit.setSpecialValueText(tr("No date"))
    day = QDate.fromString(str(variable.default or ""), Qt.DateFormat.ISODate)
    edit.setDate(day if day.isValid() else none)

    def told(chosen: QDate) -> None:
        text = chosen.toString(Qt.DateFormat.ISODate)
        field.changed.emit(None if chosen == none else text)

    edit.dateChanged.connect(told)
    return field


def _text(variable: Variable) -> Field:
    shown = value_text(variable.default)
    edit = QLineEdit(shown)
    edit.setPlaceholderText(tr("No value"))
    field = Field(edit)

    def finish() -> None:
        text = edit.text().strip()
        if text != shown:
            field.changed.emit(text or None)

    edit.editingFinished.connect(finish)
    return field


def _is_day(value: Any) -> bool:
    try:
        datetime.date.fromisoformat(str(value))
    except ValueError:
        return False
    return True
