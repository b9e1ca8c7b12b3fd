# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields with QGIS's widgets: for algorithms as Processing has them, for our tools by the kind of
the argument: fields, CRS, expressions, bands, colour ramps, files."""

from __future__ import annotations

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsFieldProxyModel,
    QgsRasterLayer,
    QgsStyle,
    QgsUnitTypes,
    QgsVectorLayer,
)
from qgis.gui import (
    QgsCheckableComboBox,
    QgsFieldComboBox,
    QgsFieldExpressionWidget,
    QgsFileWidget,
    QgsProjectionSelectionWidget,
    QgsRasterBandComboBox,
)
from qgis.PyQt.QtCore import Qt

from ...plugin.workflow.graph import Vertex
from ...plugin.workflow.value import Value
from . import field as plain
from .algorithm_field import AlgorithmForm
from .bound_field import kept_field
from .document import GraphDocument
from .editing import takes_layer, takes_many
from .field import Field, holds_reference
from .parameter_field import Fields, narrowed, tr
from .parameter_row import Row, sibling
from .quantity_field import AREAS, LENGTHS, parts_of, quantity_field
from .stand_in import StandIns

_EXPRESSIONS = frozenset(("where", "expression"))
_OWN_LANGUAGE = frozenset(("calculate", "raster_calculate"))
"""Tools whose expression is none of QGIS's."""


class QgisFields(Fields):
    """Makes fields with QGIS's widgets where it has one that fits. Main thread only."""

    def __init__(self, document: GraphDocument) -> None:
        super().__init__(document)
        self.layers = StandIns(document)
        self._form: AlgorithmForm | None = None

    def begin(self, vertex: Vertex, rows: list[Row]) -> None:
        """Take up an algorithm with the layers that its parameters have."""
        algorithm = next((row.of for row in rows if row.of), "")
        self._form = AlgorithmForm(algorithm) if algorithm else None
        if self._form is not None:
            for row in rows:
                if takes_layer(row.schema):
                    first = row.given[0] if isinstance(row.given, list) and row.given else row.given
                    self._form.parent(row.name, self.layers.layer(first))

    def end(self) -> list[str]:
        """Let the widgets of an algorithm follow each other; return what could not be shown."""
        return self._form.join() if self._form is not None else []

    def special(self, vertex: Vertex, row: Row) -> Field | None:
        """Return a field with a widget of QGIS."""
        if row.of:
            return self._of_algorithm(vertex, row)
        row = narrowed(row)
        given = row.given
        if takes_many(row.schema) and "x-field" in row.schema.get("items", {}):
            return self._several_fields(vertex, row)
        if given is not None and not isinstance(given, (str, int)):
            return None
        if "x-field" in row.schema:
            return self._field(vertex, row)
        if "x-band" in row.schema:
            return self._band(vertex, row)
        if row.name == "crs":
            return _crs(given)
        if row.name in _EXPRESSIONS and vertex.tool not in _OWN_LANGUAGE:
            return self._expression(vertex, row)
        if row.name == "ramp":
            return _ramp(given)
        if row.schema.get("x-source"):
            return _file(given)
        return None

    # -- algorithms

    def _of_algorithm(self, vertex: Vertex, row: Row) -> Field | None:
        kind = row.schema.get("x-type")
        if kind in ("distance", "area") and self._wants_unit(vertex, row):
            units = LENGTHS if kind == "distance" else AREAS
            usual = self._unit(vertex, row)
            return quantity_field(row.given, usual, units, plain.hint_of(row.schema))
        if self._form is None or holds_reference(row.given):
            return None
        return self._form.field(row)

    def _wants_unit(self, vertex: Vertex, row: Row) -> bool:
        """Tell whether a distance is given with its unit, or cannot do without one."""
        if parts_of(row.given) is None:
            return False
        if isinstance(row.given, str):
            return True
        crs = self._parent_crs(vertex, row)
        return not crs.isValid() or crs.isGeographic()

    def _unit(self, vertex: Vertex, row: Row) -> str:
        """Return the unit that a number without one is in, in words."""
        crs = self._parent_crs(vertex, row)
        if not crs.isValid():
            return tr("layer's unit")
        is_area = row.schema.get("x-type") == "area"
        unit = QgsUnitTypes.distanceToAreaUnit(crs.mapUnits()) if is_area else crs.mapUnits()
        return str(QgsUnitTypes.toString(unit))

    def _parent_crs(self, vertex: Vertex, row: Row) -> QgsCoordinateReferenceSystem:
        of = str(row.schema.get("x-unit", "")).rpartition(" ")[2]
        layer = self.layers.layer(sibling(vertex, row, of))
        return layer.crs() if layer is not None else QgsCoordinateReferenceSystem()

    # -- arguments of our tools

    def _vector(self, vertex: Vertex, row: Row, name: str) -> QgsVectorLayer | None:
        found = self.layers.layer(sibling(vertex, row, name))
        return found if isinstance(found, QgsVectorLayer) else None

    def _field(self, vertex: Vertex, row: Row) -> Field | None:
        layer = self._vector(vertex, row, str(row.schema["x-field"]))
        if layer is None:
            return None
        box = QgsFieldComboBox()
        box.setAllowEmptyFieldName(True)
        box.setEditable(True)
        if set(row.schema.get("x-types", ())) & {"integer", "real"}:
            box.setFilters(QgsFieldProxyModel.Filter.Numeric)
        box.setLayer(layer)
        box.setField(str(row.given or ""))
        if box.currentField() != (row.given or ""):
            box.setCurrentText(str(row.given))
        field = Field(box, row.given)
        box.activated.connect(lambda _at: field.tell(box.currentField() or None))
        edit = box.lineEdit()
        edit.editingFinished.connect(lambda: field.tell(box.currentText().strip() or None))
        return field

    def _several_fields(self, vertex: Vertex, row: Row) -> Field | None:
        of = str(row.schema["items"]["x-field"])
        names = [one.name for one in self.fields_of(vertex, row, of)]
        given = row.given if row.given is not None else []
        if not names or not isinstance(given, (list, tuple)) or holds_reference(given):
            return None
        if not all(isinstance(one, str) for one in given):
            return None
        box = QgsCheckableComboBox()
        box.setDefaultText(plain.hint_of(row.schema))
        for one in [*given, *(name for name in names if name not in given)]:
            state = Qt.CheckState.Checked if one in given else Qt.CheckState.Unchecked
            box.addItemWithCheckState(one, state)
        field = Field(box, row.given)
        box.checkedItemsChanged.connect(lambda texts: field.tell(list(texts) or None))
        return field

    def _band(self, vertex: Vertex, row: Row) -> Field | None:
        layer = self.layers.layer(sibling(vertex, row, str(row.schema["x-band"])))
        if not isinstance(layer, QgsRasterLayer) or isinstance(row.given, str):
            return None
        box = QgsRasterBandComboBox()
        box.setShowNotSetOption(True, tr("Not set"))
        box.setLayer(layer)
        box.setBand(row.given if row.given is not None else -1)
        if row.given is not None and box.currentBand() != row.given:
            return None
        field = Field(box, row.given)
        box.bandChanged.connect(lambda band: field.tell(band if band > 0 else None))
        return field

    def _expression(self, vertex: Vertex, row: Row) -> Field:
        of = next(iter(row.schema.get("x-for", {})), "layer")
        widget = QgsFieldExpressionWidget()
        widget.setLayer(self._vector(vertex, row, of))
        widget.setExpression(str(row.given or ""))
        field = Field(widget, row.given)
        widget.fieldChanged.connect(lambda *_: field.tell(widget.expression() or None))
        return field


def _crs(given: Value) -> Field | None:
    widget = QgsProjectionSelectionWidget()
    widget.setOptionVisible(QgsProjectionSelectionWidget.CrsOption.CrsNotSet, True)
    wanted = QgsCoordinateReferenceSystem(str(given)) if given else QgsCoordinateReferenceSystem()
    if given and wanted.authid() != given:
        return kept_field(given, tr("This is no CRS that QGIS knows. It is kept as it is."))
    widget.setCrs(wanted)
    field = Field(widget, given)
    widget.crsChanged.connect(lambda crs: field.tell(crs.authid() or crs.toWkt() or None))
    return field


def _ramp(given: Value) -> Field:
    names = QgsStyle.defaultStyle().colorRampNames()
    return plain.choice(names, names, given)


def _file(given: Value) -> Field:
    widget = QgsFileWidget()
    widget.setFilePath(str(given or ""))
    field = Field(widget, given)
    widget.fileChanged.connect(lambda path: field.tell(path or None))
    return field
