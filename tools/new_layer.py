# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary layers built feature by feature on the thread that computes, and given to the main
thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsField,
    QgsFields,
    QgsMemoryProviderUtils,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QCoreApplication, QMetaType

from .base import LastingError
from .source import VectorSource

TYPES = {
    "integer": QMetaType.Type.LongLong,
    "real": QMetaType.Type.Double,
    "text": QMetaType.Type.QString,
    "boolean": QMetaType.Type.Bool,
    "date": QMetaType.Type.QDate,
    "datetime": QMetaType.Type.QDateTime,
}
"""Types of fields by FieldProfile's words."""
_AT_ONCE = 2_000


def new_layer(
    name: str,
    fields: QgsFields,
    wkb: Qgis.WkbType,
    crs: QgsCoordinateReferenceSystem,
    features: Iterable[QgsFeature],
) -> QgsVectorLayer:
    """Return a temporary layer of these features. Any thread. Raises LastingError."""
    layer = QgsMemoryProviderUtils.createMemoryLayer(name, fields, wkb, crs)
    rows = iter(features)
    while True:  # a few at a time, so that other threads have their turn
        some = list(islice(rows, _AT_ONCE))
        if some and not layer.dataProvider().addFeatures(some)[0]:
            raise LastingError(f"The features of {name} could not be put into a layer.")
        if len(some) < _AT_ONCE:
            break
    layer.updateExtents()
    layer.moveToThread(QCoreApplication.instance().thread())
    return layer


def fields_of(kinds: Mapping[str, str]) -> QgsFields:
    """Return fields by their names and types."""
    found = QgsFields()
    for name, kind in kinds.items():
        found.append(QgsField(name, TYPES[kind]))
    return found


def extended(source: VectorSource, added: Mapping[str, str]) -> tuple[QgsFields, list[str]]:
    """Return a layer's fields with others added by name and type, and the names that these got:
    with a number where the layer has such a field."""
    fields, names = QgsFields(source.fields), []
    for wanted, kind in added.items():
        name = free_name(wanted, fields.names())
        fields.append(QgsField(name, TYPES[kind]))
        names.append(name)
    return fields, names


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return a field's name, with a number where one is called so, in whatever case."""
    lower = {one.lower() for one in taken}
    name, number = wanted, 2
    while name.lower() in lower:
        name, number = f"{wanted}_{number}", number + 1
    return name


def row(
    fields: QgsFields, feature: QgsFeature, values: Iterable[object], geometry: bool = True
) -> QgsFeature:
    """Return a feature of a layer with values for the fields that were added."""
    made = QgsFeature(fields)
    made.setAttributes([*feature.attributes(), *values])
    if geometry and feature.hasGeometry():
        made.setGeometry(feature.geometry())
    return made
