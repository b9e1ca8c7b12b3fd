# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of values that no widget edits: one that is bound, and one that is kept as it is."""

from __future__ import annotations

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from ...plugin.workflow.value import Asked, Layer, Output, Template, Value
from ..icon import theme_icon
from ..panel import Label
from .card import said
from .document import GraphDocument
from .field import Field, as_json


def tr(text: str) -> str:
    """Translate a text of the field."""
    return QCoreApplication.translate("BoundField", text)


def words_of(document: GraphDocument, value: Value) -> str:
    """Return what a value is bound to, in words."""
    if isinstance(value, Asked):
        variable = document.graph.variable(value.variable)
        label = variable.label if variable is not None and variable.label else value.variable
        return tr("Variable {}").replace("{}", label)
    if isinstance(value, Output):
        return tr("From {}").replace("{}", said(document, value))
    if isinstance(value, Layer):
        return tr("Layer {}").replace("{}", value.name)
    return said(document, value)


def bound_field(document: GraphDocument, value: Value) -> Field:
    """Return a field that says what a value is bound to, with a button that unbinds it; a text
    with steps or variables in braces stays editable."""
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    edit = QLineEdit(words_of(document, value))
    edit.setReadOnly(not isinstance(value, Template))
    edit.setObjectName("GeoOlmBoundTo")
    edit.addAction(theme_icon("mIconConnect"), QLineEdit.ActionPosition.LeadingPosition)
    button = QToolButton()
    button.setObjectName("GeoOlmUnbind")
    button.setAutoRaise(True)
    button.setIcon(theme_icon("mActionUnlink"))
    button.setToolTip(tr("Unbind, and give a value here"))
    button.setAccessibleName(button.toolTip())
    row.addWidget(edit, 1)
    row.addWidget(button)
    field = Field(line, value, edit)
    button.clicked.connect(lambda _on=False: field.tell(None))

    def finish() -> None:
        if isinstance(field.value, Template) and edit.text() != field.value.text:
            typed = edit.text()
            template = Template(typed)
            holds = any(True for _one in template.references())
            field.tell((template if holds else typed) or None)

    edit.editingFinished.connect(finish)
    return field


def kept_field(value: Value, why: str = "") -> Field:
    """Return a field that holds a value as JSON, under a sentence that says why."""
    body = QWidget()
    lines = QVBoxLayout(body)
    lines.setContentsMargins(0, 0, 0, 0)
    lines.setSpacing(2)
    inner = as_json(value)
    note = Label(
        why or tr("This value has no field of its own. It is kept as it is."),
        scale=0.92,
        faint=True,
        wrap=True,
    )
    note.setObjectName("GeoOlmKept")
    lines.addWidget(inner.widget)
    lines.addWidget(note)
    field = Field(body, value, inner.widget)
    inner.changed.connect(field.tell)
    return field
