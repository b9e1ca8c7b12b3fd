# SPDX-License-Identifier: GPL-2.0-or-later
"""One condition as a row that a person edits: a field, an operator in words, and a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtWidgets import QComboBox, QGridLayout, QSizePolicy, QWidget

from ...plugin.workflow.value import Value
from ...tools.base import FieldProfile
from .field import Field, is_bound, number_of, number_text

_NUMBERS = ("integer", "real")
_WITHOUT = ("is empty", "is not empty")
_SEVERAL = ("one of", "between")


def tr(text: str) -> str:
    """Translate a text of the row."""
    return QCoreApplication.translate("ConditionField", text)


def words_of(operator: str) -> str:
    """Return an operator in words."""
    known = {
        "=": tr("is"),
        "<>": tr("is not"),
        ">": tr("more than"),
        ">=": tr("at least"),
        "<": tr("less than"),
        "<=": tr("at most"),
        "contains": tr("contains"),
        "starts with": tr("starts with"),
        "is empty": tr("is empty"),
        "is not empty": tr("is not empty"),
        "one of": tr("one of"),
        "between": tr("between"),
    }
    return known.get(operator, operator)


def can_show(item: Value) -> bool:
    """Tell whether a condition can be shown as a row without loss."""
    if item is None:
        return True
    plain = (str, int, float)
    if not isinstance(item, Mapping) or not set(item) <= {"field", "op", "value"}:
        return False
    if not isinstance(item.get("field"), str):
        return False
    value = item.get("value")
    if isinstance(value, (list, tuple)):
        return all(isinstance(one, plain) and ";" not in str(one) for one in value)
    return value is None or isinstance(value, plain) or is_bound(value)


class ConditionRow:
    """The widgets of one condition. `fields` are those of the layer that it is about; `bind` makes
    the field of a value that comes from a step or a variable."""

    def __init__(
        self,
        item: Value,
        fields: Sequence[FieldProfile],
        operators: Sequence[str],
        bind: Callable[[Value], Field],
    ) -> None:
        self._fields = {one.name: one for one in fields}
        self._item = dict(item) if isinstance(item, Mapping) else {}
        body = QWidget()
        grid = QGridLayout(body)
        grid.setContentsMargins(0, 0, 0, 4)
        grid.setSpacing(2)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        self.name, self.operator, self.value = QComboBox(), QComboBox(), QComboBox()
        parts = (("Field", self.name), ("Operator", self.operator), ("Value", self.value))
        for key, box in parts:
            box.setObjectName(f"GeoOlmCondition{key}")
            box.setSizeAdjustPolicy(
                QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
            box.setMinimumContentsLength(4)
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        grid.addWidget(self.name, 0, 0)
        grid.addWidget(self.operator, 0, 1)
        grid.addWidget(self.value, 1, 0, 1, 2)
        for box in (self.name, self.value):
            box.setEditable(True)
            box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.name.setAccessibleName(tr("Field"))
        self.operator.setAccessibleName(tr("Operator"))
        self.value.setAccessibleName(tr("Value"))
        self.name.lineEdit().setPlaceholderText(tr("Field"))
        self.value.lineEdit().setPlaceholderText(tr("Value"))
        self.field = Field(body, item, self.name)
        self._fill(operators)
        self._connect()
        self._bound = is_bound(self._item.get("value"))
        if self._bound:
            self._bind(grid, bind)

    def _bind(self, grid: QGridLayout, bind: Callable[[Value], Field]) -> None:
        """Show what the value is bound to in its place, until it is unbound."""
        bound = bind(self._item["value"])
        grid.addWidget(bound.widget, 1, 0, 1, 2)
        self.value.hide()

        def unbind(_value: Value) -> None:
            self._bound = False
            bound.widget.hide()
            self._item.pop("value")
            self.value.setCurrentText("")
            self.value.show()
            self.value.setFocus()

        bound.changed.connect(unbind)

    def _fill(self, operators: Sequence[str]) -> None:
        item = self._item
        self.name.addItems(list(self._fields))
        self.name.setCurrentText(str(item.get("field", "")))
        known = [*operators] if item.get("op", "=") in operators else [*operators, str(item["op"])]
        for one in known:
            self.operator.addItem(words_of(one), one)
        self.operator.setCurrentIndex(known.index(str(item.get("op", known[0]))))
        self._offer()
        self.value.setVisible(self.operator.currentData() not in _WITHOUT)
        self.value.setCurrentText(value_text(item.get("value")))

    def _connect(self) -> None:
        self.name.activated.connect(lambda _at: self._renamed())
        self.name.lineEdit().editingFinished.connect(self._renamed)
        self.operator.activated.connect(lambda _at: self._say())
        self.value.activated.connect(lambda _at: self._say())
        self.value.lineEdit().editingFinished.connect(self._say)

    def _offer(self) -> None:
        """Offer the values of the field, and show none where the operator takes none."""
        profile = self._fields.get(self.name.currentText())
        text = self.value.currentText()
        self.value.clear()
        self.value.addItems(list((profile.values or profile.samples) if profile else ()))
        self.value.setCurrentText(text)
        operator = self.operator.currentData()
        hint = {"one of": tr("Values; with semicolons"), "between": tr("Least; most")}
        self.value.lineEdit().setPlaceholderText(hint.get(operator, tr("Value")))
        self.value.setToolTip(_range(profile))

    def _renamed(self) -> None:
        if self.name.currentText() != self._item.get("field", ""):
            self._offer()
        self._say()

    def _say(self) -> None:
        """Tell the condition when it is whole."""
        name, operator = self.name.currentText().strip(), self.operator.currentData()
        self.value.setVisible(operator not in _WITHOUT and not self._bound)
        found: dict[str, Any] = {"field": name, "op": operator}
        if operator not in _WITHOUT:
            value = self._value(operator)
            if value is None:
                return
            found["value"] = value
        if name:
            self._item = found
            self.field.tell(found)

    def _value(self, operator: str) -> Value:
        if self._bound:
            return self._item["value"]
        text = self.value.currentText()
        if text == value_text(self._item.get("value")) and operator == self._item.get("op"):
            return self._item.get("value")
        profile = self._fields.get(self.name.currentText().strip())
        if operator in _SEVERAL:
            parts = [one.strip() for one in text.split(";") if one.strip()]
            return [_typed(one, profile) for one in parts] or None
        return _typed(text.strip(), profile) if text.strip() else None


def value_text(value: Value) -> str:
    """Return the value of a condition as it is typed."""
    if isinstance(value, (list, tuple)):
        return "; ".join(number_text(one) for one in value)
    return "" if is_bound(value) else number_text(value)


def _typed(text: str, profile: FieldProfile | None) -> Value:
    """Return what was typed, as a number where the field holds numbers (or is not known)."""
    number = number_of(text)
    if profile is not None:
        return number if profile.type in _NUMBERS and number is not None else text
    return text if number is None or text != number_text(number) else number


def _range(profile: FieldProfile | None) -> str:
    if profile is None or not profile.minimum:
        return ""
    text = tr("From {0} to {1}").replace("{0}", profile.minimum)
    return text.replace("{1}", profile.maximum)


def is_conditions(schema: Mapping[str, Any]) -> bool:
    """Tell whether a parameter is a list of conditions."""
    return {"field", "op", "value"} <= set(schema.get("items", {}).get("properties", {}))


def are_rows(given: Value) -> bool:
    """Tell whether conditions can all be shown as rows."""
    return given is None or (
        isinstance(given, (list, tuple)) and all(can_show(one) for one in given)
    )
