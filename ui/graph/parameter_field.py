# SPDX-License-Identifier: GPL-2.0-or-later
"""The field of one parameter in the inspector, made from its schema with Qt's own widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtWidgets import QComboBox

from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.shape import shape_of
from ...plugin.workflow.shelf import ALGORITHM, RUN_ALGORITHM
from ...plugin.workflow.value import Asked, Layer, Template, Value
from ...tools.base import FieldProfile
from . import field as plain
from .bound_field import bound_field, kept_field
from .condition_field import ConditionRow, are_rows, is_conditions
from .document import GraphDocument
from .editing import takes_layer, takes_many
from .field import Field, hint_of, holds_reference, is_bound
from .parameter_row import Row, Schema, sibling
from .quantity_field import LENGTHS, parts_of, quantity_field
from .rows_field import RowsField, pairs_field
from .source_field import source_field

_NUMBERS = ("number", "integer")
_QUANTITIES = frozenset(("distance", "max_distance", "radius", "size", "cell_size"))


def tr(text: str) -> str:
    """Translate a text of a field."""
    return QCoreApplication.translate("ParameterField", text)


class Fields:
    """Makes fields; what QGIS has a widget for is left to a class that knows QGIS."""

    def __init__(self, document: GraphDocument) -> None:
        self.document = document

    def begin(self, vertex: Vertex, rows: list[Row]) -> None:
        """Hear of all rows of a step, before their fields are made."""

    def end(self) -> list[str]:
        """Hear that all fields of a step are made; return the names of those that cannot show
        their values."""
        return []

    def field(self, vertex: Vertex, row: Row) -> Field:
        """Return the field of a row; what no widget can show without loss is kept as JSON."""
        schema, given = row.schema, row.given
        if takes_layer(schema) and not takes_many(schema) and not holds_variable(given):
            return source_field(self.document, vertex, schema, given)
        if is_bound(given):
            return bound_field(self.document, given)
        made = self.special(vertex, row) or self.plain(vertex, row) or kept_field(given)
        made.value = given  # an empty list is one
        return made

    def special(self, vertex: Vertex, row: Row) -> Field | None:
        """Return a field that needs more than Qt, None where there is none."""
        return None

    def plain(self, vertex: Vertex, row: Row) -> Field | None:
        """Return a field made of Qt's widgets, None for a value that they cannot show."""
        row = narrowed(row)
        schema, given = row.schema, row.given
        if takes_many(schema):
            return self._many(vertex, row)
        if isinstance(given, (Layer, Mapping, list, tuple)) or schema.get("type") == "object":
            return self._object(row)
        if vertex.tool == RUN_ALGORITHM and row.name == ALGORITHM:
            every = [one for one in self.document.shelf.algorithms() if not one.refused]
            return plain.choice([one.label for one in every], [one.id for one in every], given)
        if schema.get("enum"):
            known = [*schema["enum"]]
            return plain.choice([str(one) for one in known], known, given, hint_of(schema))
        if "x-field" in schema:
            return self._fields(vertex, row)
        if schema.get("type") == "boolean" and (given is None or isinstance(given, bool)):
            return plain.check(given, bool(schema.get("default")))
        if self.is_quantity(row) and parts_of(given) is not None:
            return quantity_field(given, tr("layer's unit"), LENGTHS, hint_of(schema))
        if isinstance(given, bool):
            return None
        is_number = schema.get("type") in _NUMBERS and not isinstance(given, str)
        return plain.text(given, is_number, hint_of(schema))

    def is_quantity(self, row: Row) -> bool:
        """Tell whether a parameter is a length, given as a number or with its unit."""
        wide = "anyOf" in row.schema or isinstance(row.schema.get("type"), list)
        is_length = row.name in _QUANTITIES or row.schema.get("x-type") == "distance"
        return wide and is_length

    # -- lists and objects

    def _many(self, vertex: Vertex, row: Row) -> Field | None:
        schema, given = row.schema, row.given
        if given is not None and not isinstance(given, (list, tuple)):
            return None
        items = list(given or ())
        inner = schema.get("items", {})
        if takes_layer(schema):
            return RowsField(
                items,
                lambda one: source_field(self.document, vertex, inner, one),
                tr("Add a layer"),
            )
        if is_conditions(schema):
            return self._conditions(vertex, row) if are_rows(given) else None
        if holds_reference(items):
            return None
        if inner.get("type") in _NUMBERS and all(is_number(one) for one in items):
            return plain.numbers(given, str(schema.get("description", "")))
        if inner.get("type") == "string" and all(isinstance(one, str) for one in items):
            return RowsField(items, lambda one: self.item(vertex, row, one), tr("Add a row"))
        return self._table(items, inner)

    def _table(self, items: list[Value], inner: Mapping[str, Any]) -> Field | None:
        """Return a field of rows of numbers, such as from, to and class."""
        of_numbers = inner.get("type") == "array" and inner.get("items", {}).get("type") == "number"
        listed = (isinstance(one, (list, tuple)) for one in items)
        if not of_numbers or not all(listed) or not all(is_number(x) for one in items for x in one):
            return None
        return RowsField(items, lambda one: plain.numbers(one, "0, 10, 1"), tr("Add a row"))

    def item(self, vertex: Vertex, row: Row, given: Value) -> Field:
        """Return the field of one text in a list."""
        inner = row.schema.get("items", {})
        if "x-field" in inner:
            return self._fields(vertex, row, inner, given)
        if inner.get("enum"):
            return plain.choice(list(inner["enum"]), list(inner["enum"]), given)
        return plain.text(given)

    def _object(self, row: Row) -> Field | None:
        """Return the field of an object of texts or numbers."""
        given, schema = row.given, row.schema
        is_object = schema.get("type") == "object" and "properties" not in schema
        if not is_object or (given is not None and not isinstance(given, Mapping)):
            return None
        if not all(isinstance(one, (str, int, float)) for one in (given or {}).values()):
            return None
        if row.name not in _PAIRS:
            return None
        return pairs_field(given or {}, _PAIRS[row.name])

    # -- what depends on a layer

    def _conditions(self, vertex: Vertex, row: Row) -> Field:
        properties = row.schema["items"]["properties"]
        fields = self.fields_of(vertex, row, str(properties["field"].get("x-field", "layer")))
        operators = [str(one) for one in properties["op"].get("enum", ("=",))]

        def editor(item: Value) -> Field:
            return ConditionRow(
                item, fields, operators, lambda one: bound_field(self.document, one)
            ).field

        return RowsField(list(row.given or ()), editor, tr("Add a condition"))

    def _fields(
        self, vertex: Vertex, row: Row, schema: Schema | None = None, given: Value = None
    ) -> Field:
        """Return a list of the fields of the layer in another parameter; others may be typed."""
        of = schema or row.schema
        value = row.given if schema is None else given
        box = QComboBox()
        box.setEditable(True)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        field = Field(box, value)
        names = [one.name for one in self.fields_of(vertex, row, str(of["x-field"]))]
        box.addItems(names)
        box.setCurrentText("" if value is None else str(value))
        box.activated.connect(lambda at: field.tell(box.itemText(at) or None))
        edit = box.lineEdit()
        edit.editingFinished.connect(lambda: field.tell(edit.text().strip() or None))
        return field

    def fields_of(self, vertex: Vertex, row: Row, name: str) -> tuple[FieldProfile, ...]:
        """Return the fields of the layer in another parameter: of a project's layer with samples,
        of a step as far as they are known."""
        value = sibling(vertex, row, name)
        known = {one.key: one for one in self.document.layers}
        if isinstance(value, Layer):
            return known[value.name].fields if value.name in known else ()
        shape = shape_of(value, self.document.flow.gives(), {})
        fields = dict(shape.fields or {}) if shape is not None else {}
        samples = {one.name: one for profile in known.values() for one in profile.fields}
        return tuple(_profile(key, kind, samples.get(key)) for key, kind in fields.items())


def narrowed(row: Row) -> Row:
    """Return a row that takes a list or an object as one that takes what it has."""
    kinds = {one.get("type"): one for one in row.schema.get("anyOf", ())}
    if not kinds.keys() & {"array", "object"}:
        return row
    wanted = "object" if isinstance(row.given, Mapping) else "array"
    found = kinds.get(wanted) or next(iter(kinds.values()))
    return replace(row, schema={**found, "description": row.schema.get("description", "")})


_PAIRS = {
    "types": ("Field", "Type"),
    "members": ("Name", "Value"),
    "fields": ("New name", "Field"),
}
"""Arguments that are objects of short texts, with what stands in an empty row."""


def _profile(name: str, kind: str, like: FieldProfile | None) -> FieldProfile:
    """Return a field that a step hands on, with the values of the project's field of that name."""
    if like is not None and like.type == kind:
        return like
    return FieldProfile(name, kind)


def is_number(value: Value) -> bool:
    """Tell whether a value is a number and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def holds_variable(value: Value) -> bool:
    """Tell whether a value is a variable or a text with some."""
    return isinstance(value, (Asked, Template))
