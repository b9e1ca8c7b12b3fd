# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers of delimited text: points of two coordinate columns, geometries of a WKT column, or a
plain table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsFields,
    QgsGeometry,
    QgsPointXY,
    QgsVectorLayer,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QDate, QDateTime, Qt

from . import wording
from .base import MendableError
from .crs import DEGREES, are_degrees
from .delimited import Table, read_table
from .new_layer import fields_of, new_layer

_EAST = re.compile("x|lon|long|longitude|longitud|lng|east|easting|boylam|rechtswert|xcoord|pointx")
_NORTH = re.compile("y|lat|latitude|latitud|north|northing|enlem|hochwert|ycoord|pointy")
_WKT = re.compile("wkt|geom|geometry|wktgeom|thegeom|shape|geomwkt")
"""Names of columns in lower case, without marks."""
_SRID = re.compile(r"\s*SRID=(\d+);", re.IGNORECASE)
_SOME = 50
Geometries = list[QgsGeometry]


def layers_of(
    path: Path, name: str, crs: str, note: Callable[..., None], stop: Callable[[], None]
) -> list[QgsVectorLayer]:
    """Return the layers of a file: one, or one for each kind of geometry in its WKT.

    `crs` is that of the coordinates, "" to tell it from them; what was guessed goes to `note`.
    Any thread; the layers are given to the main one. Raises MendableError.
    """
    table = read_table(path, stop)
    note(*_told(table, path))
    geometries, system = _placed(table, path, crs, note)
    if geometries is None:
        return [_layer(table, name, None, list(range(len(table.rows))), system)]
    return [
        _layer(table, name if len(groups) == 1 else f"{name} {kind}", geometries, places, system)
        for groups in [_groups(geometries)]
        for kind, places in groups.items()
    ]


def _told(table: Table, path: Path) -> list[str]:
    said = []
    if table.encoding != "UTF-8":
        said.append(f"{path.name} was read as {table.encoding}.")
    if table.decimal == ",":
        said.append(f"The numbers of {path.name} have a decimal comma.")
    if table.odd:
        many = wording.counted(table.odd, "row")
        said.append(f"{many} of {path.name} have more cells than the header; the rest is left out.")
    return said


def _column(table: Table, known: re.Pattern[str], kinds: set[str]) -> int:
    for place, name in enumerate(table.names):
        plain = re.sub(r"[\W_]+", "", name).lower()
        if known.fullmatch(plain) and table.types[place] in kinds:
            return place
    return -1


def _placed(
    table: Table, path: Path, crs: str, note: Callable[..., None]
) -> tuple[Geometries | None, QgsCoordinateReferenceSystem]:
    """Return the geometries of the rows, None for a plain table, and their CRS."""
    system = QgsCoordinateReferenceSystem(crs) if crs else QgsCoordinateReferenceSystem()
    if crs and not system.isValid():
        raise MendableError(f'There is no CRS "{crs}". Write it like EPSG:4326.')
    at = _column(table, _WKT, {"text"})
    if at >= 0 and _is_wkt(table, at):
        found, system = _of_wkt(table, at, system)
    else:
        east, north = (_column(table, one, {"integer", "real"}) for one in (_EAST, _NORTH))
        if east < 0 or north < 0:
            return None, system
        found = _of_numbers(table, east, north)
        note(f"Points of the columns {table.names[east]} and {table.names[north]}.")
    without = sum(1 for one in found if one.isNull())
    if without:
        note(f"{wording.counted(without, 'row')} of {path.name} without coordinates, kept empty.")
    if not system.isValid():
        degrees = _fit_degrees(found)
        note(
            f"The CRS is taken to be {DEGREES}, since the coordinates can be degrees."
            if degrees
            else f"The coordinates of {path.name} are no degrees, and the file does not tell their "
            "CRS: open it again with crs, such as EPSG:25832."
        )
        system = QgsCoordinateReferenceSystem(DEGREES) if degrees else system
    return found, system


def _is_wkt(table: Table, at: int) -> bool:
    texts = [row[at] for row in table.rows if row[at].strip()][:_SOME]
    return bool(texts) and all(not _read_wkt(text).isNull() for text in texts)


def _read_wkt(text: str) -> QgsGeometry:
    return QgsGeometry.fromWkt(_SRID.sub("", text))


def _of_wkt(
    table: Table, at: int, system: QgsCoordinateReferenceSystem
) -> tuple[Geometries, QgsCoordinateReferenceSystem]:
    named = next((one for one in (_SRID.match(row[at]) for row in table.rows) if one), None)
    if named and not system.isValid():
        system = QgsCoordinateReferenceSystem(f"EPSG:{named.group(1)}")
    return [_read_wkt(row[at]) if row[at].strip() else QgsGeometry() for row in table.rows], system


def _of_numbers(table: Table, east: int, north: int) -> Geometries:
    found = []
    for row in table.rows:
        x, y = table.value(row, east), table.value(row, north)
        if isinstance(x, (int, float)) and isinstance(y, (int, float)):
            found.append(QgsGeometry.fromPointXY(QgsPointXY(float(x), float(y))))
        else:
            found.append(QgsGeometry())
    return found


def _fit_degrees(found: Geometries) -> bool:
    boxes = [one.boundingBox() for one in found if not one.isNull()]
    return bool(boxes) and all(map(are_degrees, boxes))


def _groups(found: Geometries) -> dict[str, list[int]]:
    """Return the places of the rows by kind of geometry; empty ones go with the first kind."""
    words = {
        Qgis.GeometryType.Point: "points",
        Qgis.GeometryType.Line: "lines",
        Qgis.GeometryType.Polygon: "polygons",
    }
    kinds = [words.get(one.type(), "geometries") if not one.isNull() else "" for one in found]
    first = next((kind for kind in kinds if kind), "points")
    groups: dict[str, list[int]] = {}
    for place, kind in enumerate(kinds):
        groups.setdefault(kind or first, []).append(place)
    return groups or {first: []}


def _layer(
    table: Table,
    name: str,
    geometries: Geometries | None,
    places: list[int],
    system: QgsCoordinateReferenceSystem,
) -> QgsVectorLayer:
    fields = fields_of(dict(zip(table.names, table.types)))
    wkb = Qgis.WkbType.NoGeometry if geometries is None else _wkb(geometries, places)
    features = _features(table, fields, geometries, places, QgsWkbTypes.isMultiType(wkb))
    return new_layer(name, fields, wkb, system, features)


def _features(
    table: Table,
    fields: QgsFields,
    geometries: Geometries | None,
    places: list[int],
    multi: bool,
) -> Iterator[QgsFeature]:
    for place in places:
        feature = QgsFeature(fields)
        feature.setAttributes(_values(table, table.rows[place]))
        if geometries is not None and not geometries[place].isNull():
            one = QgsGeometry(geometries[place])
            if multi:
                one.convertToMultiType()
            feature.setGeometry(one)
        yield feature


def _wkb(geometries: Geometries, places: list[int]) -> Qgis.WkbType:
    kinds = {geometries[place].wkbType() for place in places if not geometries[place].isNull()}
    if len(kinds) == 1:
        return kinds.pop()
    several = {QgsWkbTypes.multiType(kind) for kind in kinds}
    return several.pop() if len(several) == 1 else Qgis.WkbType.Point if not kinds else _flat(kinds)


def _flat(kinds: set[Qgis.WkbType]) -> Qgis.WkbType:
    return QgsWkbTypes.multiType(QgsWkbTypes.flatType(next(iter(kinds))))


def _values(table: Table, row: list[str]) -> list[object]:
    found: list[object] = []
    for place, kind in enumerate(table.types):
        value = table.value(row, place)
        if isinstance(value, str) and kind == "date":
            value = QDate.fromString(value, Qt.DateFormat.ISODate)
        elif isinstance(value, str) and kind == "datetime":
            value = QDateTime.fromString(value.replace(" ", "T"), Qt.DateFormat.ISODateWithMs)
        found.append(value)
    return found
