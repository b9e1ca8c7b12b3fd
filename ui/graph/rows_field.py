# SPDX-License-Identifier: GPL-2.0-or-later
"""The field of a parameter that is a list: a row for each item, with buttons to add and remove."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication, Qt
from qgis.PyQt.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from ...plugin.workflow.value import Value
from ..icon import theme_icon
from .field import Field, text

Editor = Callable[[Value], Field]


def tr(text: str) -> str:
    """Translate a text of the field."""
    return QCoreApplication.translate("RowsField", text)


class RowsField(Field):
    """Edits a list; an item that is not complete yet stands here, but not in the value."""

    def __init__(self, given: Sequence[Value], editor: Editor, words: str) -> None:
        body = QWidget()
        super().__init__(body, list(given) or None)
        self._editor = editor
        self._items: list[Value] = []
        self._lines = QVBoxLayout(body)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(2)
        self.adder = QToolButton()
        self.adder.setObjectName("GeoOlmAddRow")
        self.adder.setText(words)
        self.adder.setIcon(theme_icon("symbologyAdd"))
        self.adder.setAutoRaise(True)
        self.adder.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.adder.clicked.connect(lambda _on=False: self.add(None).setFocus())
        self._lines.addWidget(self.adder)
        self.focus = self.adder
        self._rows: list[QWidget] = []
        for one in given:
            self.add(one)

    def add(self, item: Value) -> QWidget:
        """Add a row for an item, None for one that is to be given; return its editor."""
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(2)
        inner = self._editor(item)
        remover = QToolButton()
        remover.setObjectName("GeoOlmRemoveRow")
        remover.setIcon(theme_icon("symbologyRemove"))
        remover.setAutoRaise(True)
        remover.setToolTip(tr("Remove this row"))
        remover.setAccessibleName(remover.toolTip())
        line.addWidget(inner.widget, 1)
        line.addWidget(remover, 0, Qt.AlignmentFlag.AlignTop)
        self._items.append(item)
        self._rows.append(row)
        self._lines.insertWidget(len(self._rows) - 1, row)
        inner.changed.connect(lambda value, one=row: self._change(one, value))
        remover.clicked.connect(lambda _on=False, one=row: self._remove(one))
        return inner.focus

    def _change(self, row: QWidget, value: Value) -> None:
        self._items[self._rows.index(row)] = value
        self._say()

    def _remove(self, row: QWidget) -> None:
        at = self._rows.index(row)
        del self._rows[at], self._items[at]
        row.hide()
        row.deleteLater()
        self._say()

    def _say(self) -> None:
        self.tell([one for one in self._items if one is not None] or None)


def pairs_field(given: Mapping[str, Value], names: tuple[str, str]) -> Field:
    """Return the field of an object of texts or numbers: rows of a name and a value."""

    def editor(item: Value) -> Field:
        return _pair(item, names)

    items = [list(one) for one in given.items()]
    inner = RowsField(items, editor, tr("Add a row"))
    field = Field(inner.widget, dict(given) or None, inner.focus)
    inner.changed.connect(lambda rows: field.tell(dict(rows or ()) or None))
    return field


def _pair(item: Value, names: tuple[str, str]) -> Field:
    body = QWidget()
    line = QHBoxLayout(body)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(2)
    parts = [text(one, hint=hint) for one, hint in zip(item or (None, None), names)]
    for part in parts:
        part.widget.setObjectName("GeoOlmPair")
        line.addWidget(part.widget, 1)
    line.insertWidget(1, QLabel(":"))
    field = Field(body, item, parts[0].widget)

    def say(_value: Any) -> None:
        key, value = parts[0].value, parts[1].value
        field.tell([key, value] if key is not None and value is not None else None)

    for part in parts:
        part.changed.connect(say)
    return field
