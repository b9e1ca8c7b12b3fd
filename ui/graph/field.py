# SPDX-License-Identifier: GPL-2.0-or-later
"""What all fields of the inspector share: a widget, its value, and how values are put as text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from qgis.PyQt.QtCore import QObject, pyqtSignal
from qgis.PyQt.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from ...plugin.workflow import form
from ...plugin.workflow.value import Asked, Layer, Output, Template, Value, walk

REFERENCES = (Layer, Output, Asked, Template)


class Field(QObject):
    """A widget and the value that it holds; `changed` carries a value, None for "not given"."""

    changed = pyqtSignal(object)

    def __init__(self, widget: QWidget, value: Value = None, focus: QWidget | None = None) -> None:
        super().__init__(widget)
        self.widget, self.value = widget, value
        self.focus = focus or widget

    @property
    def proposed(self) -> Value:
        """What the widget shows although nothing was given, None for nothing."""
        return None

    def tell(self, value: Value) -> None:
        """Take a value that the user has given."""
        if value != self.value or isinstance(value, bool) is not isinstance(self.value, bool):
            self.value = value
            self.changed.emit(value)


def is_bound(value: Value) -> bool:
    """Tell whether a value comes from a step or a variable."""
    return isinstance(value, (Output, Asked, Template))


def holds_reference(value: Value) -> bool:
    """Tell whether a layer, a step's output or a variable stands anywhere in a value."""
    return any(isinstance(one, REFERENCES) for one in walk(value))


def number_of(text: str) -> Value:
    """Return a number that was typed, None for what is none."""
    try:
        found = float(text.replace("\u00a0", "").replace(" ", "").replace(",", "."))
    except ValueError:
        return None
    if not math.isfinite(found):
        return None
    return int(found) if found.is_integer() and abs(found) < 1e15 else found


def number_text(value: Any) -> str:
    """Return a number as it is typed."""
    return "" if value is None else str(value)


def hint_of(schema: Mapping[str, Any]) -> str:
    """Return what stands in an empty field: the default, else the range."""
    if "default" in schema:
        return str(schema["default"])
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f"{least} – {most}"
    if least is not None:
        return f"≥ {least}"
    return "" if most is None else f"≤ {most}"


def check(given: Value, is_on: bool = False) -> Field:
    """Return a check box; what is not given stands as its default."""
    box = QCheckBox()
    field = Field(box, given)
    box.setChecked(is_on if given is None else bool(given))
    box.clicked.connect(lambda on: field.tell(bool(on)))
    return field


def choice(texts: list[str], choices: list[Any], given: Value, hint: str = "") -> Field:
    """Return a list to choose from; its first entry is "not given", shown as the default."""
    box = QComboBox()
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(8)
    field = Field(box, given)
    values = [None, *choices]
    shown = [hint, *texts]
    if given not in values:
        values.append(given)
        shown.append(str(given))
    box.addItems(shown)
    box.setCurrentIndex(values.index(given))
    box.activated.connect(lambda at: field.tell(values[at]))
    return field


def text(given: Value, is_number: bool = False, hint: str = "") -> Field:
    """Return a line of text; of what should be a number only numbers are taken."""
    edit = QLineEdit(number_text(given))
    edit.setPlaceholderText(hint)
    field = Field(edit, given)

    def finish() -> None:
        typed = edit.text() if not is_number else edit.text().strip()
        value: Value = typed or None
        if typed == number_text(field.value):
            return
        if is_number and typed:
            value = number_of(typed)
            if value is None:  # as it was: what is no number is not taken
                edit.setText(number_text(field.value))
                return
        field.tell(value)

    edit.editingFinished.connect(finish)
    return field


def numbers(given: Value, hint: str = "") -> Field:
    """Return a line for numbers with semicolons or commas between them."""

    def said(value: Value) -> str:
        return ", ".join(number_text(one) for one in value or ())

    edit = QLineEdit(said(given))
    edit.setPlaceholderText(hint or "1, 2, 3")
    field = Field(edit, given)

    def finish() -> None:
        if edit.text() == said(field.value):
            return
        parts = [one for one in edit.text().replace(";", ",").split(",") if one.strip()]
        found = [number_of(one) for one in parts]
        if None in found:
            edit.setText(said(field.value))
            return
        field.tell(found or None)

    edit.editingFinished.connect(finish)
    return field


def as_json(given: Value) -> Field:
    """Return a line that holds a value as JSON; what cannot be read is not taken."""

    def said(value: Value) -> str:
        return "" if value is None else json.dumps(form.value_form(value), ensure_ascii=False)

    edit = QLineEdit(said(given))
    field = Field(edit, given)

    def finish() -> None:
        typed = edit.text().strip()
        if typed == said(field.value):
            return
        try:
            value = form.read_value(json.loads(typed), "parameter") if typed else None
        except (ValueError, form.FormError):
            edit.setText(said(field.value))
            return
        field.tell(value)

    edit.editingFinished.connect(finish)
    return field
