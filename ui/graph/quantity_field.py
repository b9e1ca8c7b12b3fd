# SPDX-License-Identifier: GPL-2.0-or-later
"""The field of a length, an area or a time: a number, and the unit in which it is meant."""

from __future__ import annotations

import re

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from ...plugin.workflow.value import Value
from .field import Field, number_of, number_text

LENGTHS = ("m", "km", "ft", "mi")
AREAS = ("m2", "ha", "km2")
_QUANTITY = re.compile(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([^\d\s.,].*?)?\s*")


def tr(text: str) -> str:
    """Translate a text of the field."""
    return QCoreApplication.translate("QuantityField", text)


def parts_of(value: Value) -> tuple[str, str] | None:
    """Return number and unit of a quantity as text, None for what is none; a number alone is in
    the layer's unit."""
    if value is None:
        return "", ""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if not isinstance(value, str):
        return number_text(value), ""
    found = _QUANTITY.fullmatch(value)
    return (found.group(1), found.group(2) or "") if found else None


def quantity_field(given: Value, usual: str, units: tuple[str, ...], hint: str = "") -> Field:
    """Return a field of a number and its unit; `usual` is what a number without unit is in."""
    number, unit = parts_of(given) or ("", "")
    body = QWidget()
    line = QHBoxLayout(body)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(2)
    edit, box = QLineEdit(number), QComboBox()
    edit.setPlaceholderText(hint)
    edit.setObjectName("GeoOlmQuantity")
    box.setObjectName("GeoOlmUnit")
    box.setAccessibleName(tr("Unit"))
    known = ["", *units, *([unit] if unit and unit not in units else [])]
    for one in known:
        box.addItem(one or usual, one)
    box.setCurrentIndex(known.index(unit))
    line.addWidget(edit, 1)
    line.addWidget(box)
    field = Field(body, given, edit)
    shown = [number, unit]

    def finish() -> None:
        typed, chosen = edit.text().strip(), str(box.currentData())
        if [typed, chosen] == shown:
            return
        value = number_of(typed) if typed else None
        if typed and value is None:
            edit.setText(shown[0])
            return
        shown[:] = [typed, chosen]
        field.tell(f"{number_text(value)} {chosen}" if chosen and value is not None else value)

    edit.editingFinished.connect(finish)
    box.activated.connect(lambda _at: finish())
    return field
