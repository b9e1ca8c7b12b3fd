# SPDX-License-Identifier: GPL-2.0-or-later
"""The field of one parameter in the inspector, made from its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from qgis.PyQt.QtCore import QObject, pyqtSignal
from qgis.PyQt.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from ...plugin.workflow import form
from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.topology import descendants
from ...plugin.workflow.value import Layer, Output, Value
from .card import said
from .document import GraphDocument
from .editing import takes_layer, takes_many


class Field(QObject):
    """A widget and the value that it holds; `changed` carries a value, None for "not given"."""

    changed = pyqtSignal(object)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.widget = widget


def field_of(
    document: GraphDocument, vertex: Vertex, name: str, schema: Mapping[str, Any], given: Value
) -> Field:
    """Return a field that shows a value: layers and steps, choices, fields, yes and no, numbers,
    text, and anything else as JSON."""
    is_reference = isinstance(given, (Layer, Output))
    if takes_layer(schema) and not takes_many(schema):
        return _sources(document, vertex, given)
    if schema.get("enum"):
        return _choice([str(one) for one in schema["enum"]], schema["enum"], given)
    if schema.get("x-field") and not is_reference and not takes_many(schema):
        return _fields(document, vertex, str(schema["x-field"]), given)
    if schema.get("type") == "boolean" and not is_reference:
        return _check(given)
    if schema.get("type") in ("number", "integer", "string") and _is_plain(given):
        return _text(schema, given)
    return _json(document, given)


def _is_plain(value: Value) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _sources(document: GraphDocument, vertex: Vertex, given: Value) -> Field:
    """Return a list of the project's layers and of the steps that do not wait for this one."""
    box = QComboBox()
    field = Field(box)
    graph = document.graph
    values: list[Value] = [None, *(Layer(one.key) for one in document.layers if not one.short)]
    after = descendants(graph, vertex.id) if graph.has(vertex.id) else frozenset()
    values += [Output(key) for key in graph.ids() if key != vertex.id and key not in after]
    if given is not None and given not in values:
        values.append(given)
    for one in values:
        box.addItem("" if one is None else said(document, one))
    box.setCurrentIndex(values.index(given))
    box.activated.connect(lambda at: field.changed.emit(values[at]))
    return field


def _choice(texts: list[str], choices: list[Any], given: Value) -> Field:
    box = QComboBox()
    field = Field(box)
    values = [None, *choices]
    shown = ["", *texts]
    if given not in values:
        values.append(given)
        shown.append(str(given))
    box.addItems(shown)
    box.setCurrentIndex(values.index(given))
    box.activated.connect(lambda at: field.changed.emit(values[at]))
    return field


def _fields(document: GraphDocument, vertex: Vertex, of: str, given: Value) -> Field:
    """Return a list of the fields of the layer in another parameter; others may be typed."""
    box = QComboBox()
    box.setEditable(True)
    field = Field(box)
    layer = (vertex.parameters or {}).get(of)
    profile = next(
        (one for one in document.layers if isinstance(layer, Layer) and one.key == layer.name), None
    )
    box.addItems([one.name for one in profile.fields] if profile else [])
    box.setCurrentText("" if given is None else str(given))
    box.activated.connect(lambda at: field.changed.emit(box.itemText(at)))
    edit = box.lineEdit()
    edit.editingFinished.connect(lambda: _told(field, edit.text(), given))
    return field


def _told(field: Field, text: str, given: Value) -> None:
    value = text.strip() or None
    if value != given:
        field.changed.emit(value)


def _check(given: Value) -> Field:
    box = QCheckBox()
    field = Field(box)
    box.setChecked(bool(given))
    box.clicked.connect(lambda on: field.changed.emit(bool(on)))
    return field


def _text(schema: Mapping[str, Any], given: Value) -> Field:
    edit = QLineEdit("" if given is None else str(given))
    field = Field(edit)
    is_number = schema.get("type") in ("number", "integer")

    def finish() -> None:
        text = edit.text().strip()
        value: Value = text or None
        if is_number and text:
            value = _number(text)
            if value is None:  # as it was: what is no number is not taken
                edit.setText("" if given is None else str(given))
                return
        if value != given:
            field.changed.emit(value)

    edit.editingFinished.connect(finish)
    return field


def _number(text: str) -> Value:
    try:
        found = float(text.replace("\u00a0", "").replace(",", "."))
    except ValueError:
        return None
    return int(found) if found.is_integer() else found


def _json(document: GraphDocument, given: Value) -> Field:
    """Return a line that holds a value as JSON; what cannot be read is not taken."""
    shown = "" if given is None else json.dumps(form.value_form(given), ensure_ascii=False)
    edit = QLineEdit(shown)
    field = Field(edit)

    def finish() -> None:
        text = edit.text().strip()
        try:
            value = form.read_value(json.loads(text), "parameter") if text else None
        except (ValueError, form.FormError):
            edit.setText(shown)
            return
        if value != given:
            field.changed.emit(value)

    edit.editingFinished.connect(finish)
    return field
