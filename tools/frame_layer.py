# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers made of pandas and geopandas frames."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsField,
    QgsFields,
    QgsGeometry,
    QgsVectorLayer,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QDate, QDateTime, QMetaType, Qt, QTime

from .frame import is_spatial
from .new_layer import new_layer

_NAMES = {"Point": Qgis.WkbType.Point, "LineString": Qgis.WkbType.LineString,
          "Polygon": Qgis.WkbType.Polygon, "MultiPoint": Qgis.WkbType.MultiPoint,
          "MultiLineString": Qgis.WkbType.MultiLineString,
          "MultiPolygon": Qgis.WkbType.MultiPolygon}  # fmt: skip


def layer_of(found: Any, name: str) -> QgsVectorLayer:
    """Return a temporary layer of a frame's rows in order; a plain frame gives a table.

    An index with a name becomes a column, lists and records JSON text. Any thread; the layer is
    given to the main one. Raises LastingError.
    """
    rows = found.reset_index() if found.index.names != [None] else found
    spatial = is_spatial(rows)
    hidden = rows.geometry.name if spatial else None
    columns = [_Column(rows[one], str(one)) for one in rows.columns if one != hidden]
    fields = QgsFields()
    for column in columns:
        fields.append(QgsField(column.name, column.type))
    wkb = _wkb(rows) if spatial else Qgis.WkbType.NoGeometry
    system = _system(rows) if spatial else QgsCoordinateReferenceSystem()
    shapes = list(rows.geometry.to_wkb()) if spatial else [None] * len(rows)
    features = _features(columns, fields, shapes, QgsWkbTypes.isMultiType(wkb))
    return new_layer(name, fields, wkb, system, features)


def _features(
    columns: list[_Column], fields: QgsFields, shapes: list[Any], multi: bool
) -> Iterator[QgsFeature]:
    values = [column.values() for column in columns]
    for place, shape in enumerate(shapes):
        feature = QgsFeature(fields)
        feature.setAttributes([one[place] for one in values])
        if shape is not None:
            geometry = QgsGeometry()
            geometry.fromWkb(shape)
            if multi:
                geometry.convertToMultiType()
            feature.setGeometry(geometry)
        yield feature


def _wkb(rows: Any) -> Qgis.WkbType:
    """Return the type that holds all shapes of a frame: several parts where some have them."""
    kinds = {one for one in rows.geometry.geom_type if isinstance(one, str)}
    single = {one.replace("Multi", "") for one in kinds}
    if not kinds or len(single) > 1 or not kinds <= set(_NAMES):
        found = Qgis.WkbType.Point if not kinds else Qgis.WkbType.Unknown
    else:
        found = _NAMES[kinds.pop() if len(kinds) == 1 else f"Multi{single.pop()}"]
    high = bool(rows.geometry.has_z.any())
    return QgsWkbTypes.addZ(found) if high and found != Qgis.WkbType.Unknown else found


def _system(rows: Any) -> QgsCoordinateReferenceSystem:
    if rows.crs is None:
        return QgsCoordinateReferenceSystem()
    authority = rows.crs.to_authority()
    if authority:
        found = QgsCoordinateReferenceSystem(":".join(authority))
        if found.isValid():
            return found
    return QgsCoordinateReferenceSystem.fromWkt(rows.crs.to_wkt())


class _Column:
    """A column on its way into a field."""

    def __init__(self, series: Any, name: str) -> None:
        self.name = name
        kind = str(series.dtype)
        if kind == "category":
            series = series.astype(series.cat.categories.dtype)
            kind = str(series.dtype)
        self._filled = series.notna().tolist()
        self._items = series.tolist()
        self.type = self._type(kind)

    def _type(self, kind: str) -> QMetaType.Type:
        lower = kind.lower()
        if lower.startswith(("int", "uint")):
            large = [one for one, there in zip(self._items, self._filled) if there]
            return _whole(max(large, default=0))
        if lower.startswith("float"):
            return QMetaType.Type.Double
        if lower.startswith("bool"):
            return QMetaType.Type.Bool
        if lower.startswith("datetime"):
            return QMetaType.Type.QDateTime
        kinds = {type(one) for one, there in zip(self._items, self._filled) if there}
        if kinds == {datetime.date}:
            return QMetaType.Type.QDate
        if kinds and all(issubclass(one, datetime.datetime) for one in kinds):
            return QMetaType.Type.QDateTime
        if kinds == {bool}:
            return QMetaType.Type.Bool
        return QMetaType.Type.QString

    def values(self) -> list[Any]:
        """Return the values as QGIS takes them, None for missing ones."""
        way = {
            QMetaType.Type.QDate: _day,
            QMetaType.Type.QDateTime: _moment,
            QMetaType.Type.QString: _text,
        }.get(self.type)
        items = zip(self._items, self._filled)
        if way is None:
            return [one if there else None for one, there in items]
        return [way(one) if there else None for one, there in items]


def _whole(largest: int) -> QMetaType.Type:
    return QMetaType.Type.LongLong if largest < 2**63 else QMetaType.Type.QString


def _day(value: datetime.date) -> QDate:
    return QDate(value.year, value.month, value.day)


def _moment(value: datetime.datetime) -> QDateTime:
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc)
    time = QTime(value.hour, value.minute, value.second, value.microsecond // 1000)
    if value.tzinfo is None:
        return QDateTime(_day(value), time)
    return QDateTime(_day(value), time, Qt.TimeSpec.UTC)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
