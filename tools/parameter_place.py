# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters that say where: a CRS, an extent, a point, a geometry."""

from __future__ import annotations

import re
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
    QgsWkbTypes,
)

from .base import Family, MendableError
from .fitting import Fitting, Way, as_number, as_text, decoded, is_number, one, shown, wrong
from .source import VectorSource

_NUMBERS = re.compile(r"\s*([-+\d.eE]+(?:\s*,\s*[-+\d.eE]+)+)\s*(?:\[\s*(.*?)\s*\])?\s*")
_POINT = re.compile(r"\s*(multi)?point\s*(z|m|zm)?\s*\(", re.IGNORECASE)
_WITH_CRS = re.compile(r"(.*?)\s*\[\s*([^\[\]]+?)\s*\]\s*")
_PROJECT = "ProjectCrs"
"""By this word Processing means the CRS of the project."""
_SIDES = ("xmin", "xmax", "ymin", "ymax")


def crs(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return a CRS by its code, as WKT or PROJ text, or that of a layer."""
    given = one(definition, value)
    is_code = not is_number(given) or as_number(definition, given) == int(given)
    if isinstance(given, (bool, dict, list)) or not is_code:
        raise wrong(definition, "a code such as EPSG:3857", value)
    text = str(int(given)) if is_number(given) else str(given).strip()
    if text.isdigit():
        text = f"EPSG:{text}"
    if text == _PROJECT:
        text = fitting.context.call(lambda: fitting.context.project.crs().authid())
    if QgsCoordinateReferenceSystem(text).isValid():
        return text
    for source in fitting.context.sources():
        if source.key == text and source.crs.isValid():
            return source.crs.authid() or source.crs.toWkt()
    raise MendableError(f'{definition.name()} cannot be "{given}". Write a code such as EPSG:3857.')


def extent(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return "xmin,xmax,ymin,ymax [crs]", or the id of the layer whose extent it is."""
    given = decoded(value)
    if isinstance(given, dict) and set(given) >= set(_SIDES):
        suffix = f" [{given['crs']}]" if given.get("crs") else ""
        given = ",".join(str(given[side]) for side in _SIDES) + suffix
    if isinstance(given, list) and len(given) == 4 and all(map(is_number, given)):
        given = ",".join(map(str, given))
    if not isinstance(given, str):
        if isinstance(given, list) and len(given) == 1 and isinstance(given[0], str):
            given = given[0]
        else:
            raise wrong(definition, "a layer or xmin,xmax,ymin,ymax [CRS]", value)
    match = _NUMBERS.fullmatch(given)
    if match is None:
        source = fitting.context.layer(given)
        fitting.sources.setdefault(definition.name(), source)
        return source.id
    sides = [as_number(definition, part) for part in match.group(1).split(",")]
    if len(sides) != 4:
        raise wrong(definition, "four numbers, xmin,xmax,ymin,ymax", value)
    if sides[0] > sides[1] or sides[2] > sides[3]:
        raise MendableError(
            f"{definition.name()} has its sides in the wrong order: write xmin,xmax,ymin,ymax, "
            f"not {shown(value)}."
        )
    return match.group(1) + _checked_crs(definition, match.group(2))


def _checked_crs(definition: Any, text: str | None) -> str:
    """Return the CRS behind coordinates as Processing reads it, "" for none."""
    if not text:
        return ""
    found = QgsCoordinateReferenceSystem(f"EPSG:{text}" if text.isdigit() else text)
    if not found.isValid():
        raise MendableError(
            f'{definition.name()} has the unknown CRS "{text}". Write it as [EPSG:3857].'
        )
    return f" [{found.authid() or text}]"


def point(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return "x,y [crs]", also from a list, {"x": 1, "y": 2}, WKT, or a layer with one point."""
    given = decoded(value)
    if isinstance(given, dict) and {"x", "y"} <= set(given):
        suffix = f" [{given['crs']}]" if given.get("crs") else ""
        given = f"{given['x']},{given['y']}{suffix}"
    if isinstance(given, list) and len(given) == 2 and all(map(is_number, given)):
        given = f"{given[0]},{given[1]}"
    if not isinstance(given, str):
        raise wrong(definition, "x,y [CRS] or a layer with one point", value)
    match = _NUMBERS.fullmatch(given)
    if match is not None:
        parts = [as_number(definition, part) for part in match.group(1).split(",")]
        if len(parts) != 2:
            raise wrong(definition, "two numbers, x,y", value)
        return match.group(1) + _checked_crs(definition, match.group(2))
    if _POINT.match(given):
        geometry_ = _parsed(definition, given)
        where = geometry_.asPoint() if not geometry_.isMultipart() else None
        if where is None:
            raise wrong(definition, "one point", value)
        return f"{where.x()!r},{where.y()!r}"
    return _only_point(fitting, definition, given)


def _only_point(fitting: Fitting, definition: Any, text: str) -> str:
    source = fitting.context.layer(text)
    if not isinstance(source, VectorSource) or source.family is not Family.POINT:
        raise wrong(definition, "x,y [CRS] or a layer with one point", text)
    rows = source.rows(fitting.context.cancelled, geometry=True, only=[])
    places = [_place(feature) for feature in rows]
    if len(places) != 1 or places[0] is None:
        raise MendableError(
            f"{definition.name()} needs one point, and {source.key} has {len(places)}: write "
            "x,y [CRS], or filter the layer to one."
        )
    name = f" [{source.crs.authid()}]" if source.crs.authid() else ""
    return f"{places[0].x()!r},{places[0].y()!r}{name}"


def _place(feature: QgsFeature) -> QgsPointXY | None:
    found = feature.geometry()
    if found.isNull():
        return None
    points = list(found.vertices())
    return QgsPointXY(points[0]) if len(points) == 1 else None


def geometry(fitting: Fitting, definition: Any, value: Any) -> str:
    """Return a geometry as WKT, with its CRS in brackets when one was given."""
    text = as_text(definition, one(definition, value)).strip()
    if text.upper().startswith("CRS=") and ";" in text:
        name, _, text = text[4:].partition(";")
        text = f"{text} [{name}]"
    match = _WITH_CRS.fullmatch(text)
    if match:
        _checked_crs(definition, match.group(2))
    found = _parsed(definition, match.group(1) if match else text)
    wanted = [int(kind) for kind in definition.geometryTypes()]
    if wanted and int(found.type()) not in wanted and int(Qgis.GeometryType.Unknown) not in wanted:
        names = [
            QgsWkbTypes.geometryDisplayString(Qgis.GeometryType(kind)).lower() for kind in wanted
        ]
        raise wrong(definition, f"a {' or '.join(names)} as WKT", value)
    if found.isMultipart() and not definition.allowMultipart():
        raise wrong(definition, "a geometry of one part", value)
    return f"CRS={match.group(2)};{found.asWkt()}" if match else text


def _parsed(definition: Any, text: str) -> QgsGeometry:
    found = QgsGeometry.fromWkt(text)
    if found.isNull():
        raise wrong(definition, "a geometry as WKT, such as POINT(1 2)", text)
    return found


WAYS: dict[str, Way] = {"crs": crs, "extent": extent, "point": point, "geometry": geometry}
"""How a value of each type of parameter is fitted."""
