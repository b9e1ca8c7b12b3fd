# SPDX-License-Identifier: GPL-2.0-or-later
"""Grades a vector layer: geometry, count, CRS, fields, aggregates and area."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from qgis.core import (
    NULL,
    QgsCoordinateReferenceSystem,
    QgsDistanceArea,
    QgsProject,
    QgsProviderRegistry,
    QgsProviderSublayerDetails,
    QgsVectorLayer,
    QgsWkbTypes,
)

from .outcome import near, shown
from .source import ELLIPSOID
from .task_fault import is_number

AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "mean": statistics.fmean,
    "min": min,
    "max": max,
}
WGS84 = {"OGC:CRS84", "EPSG:4326"}


def listed(value: Any) -> list[Any]:
    """Return a value that may be one or a list as a list."""
    return list(value) if isinstance(value, list) else [value]


def open_vectors(path: str) -> list[QgsVectorLayer]:
    """Open every vector layer of a file; an unreadable file has none."""
    options = QgsProviderSublayerDetails.LayerOptions(QgsProject.instance().transformContext())
    details = QgsProviderRegistry.instance().querySublayers(path)
    layers = [item.toLayer(options) for item in details if item.providerKey() == "ogr"]
    return [item for item in layers if isinstance(item, QgsVectorLayer) and item.isValid()]


def same_crs(found: QgsCoordinateReferenceSystem, expected: str) -> bool:
    """Tell whether a CRS is the one named by authority and code (CRS84 stands for EPSG:4326)."""
    if not found.isValid():
        return False
    if {found.authid(), expected} <= WGS84:
        return True
    return bool(found.authid() == expected or found == QgsCoordinateReferenceSystem(expected))


def crs_misses(found: QgsCoordinateReferenceSystem, expected: Any) -> list[str]:
    """Judge a CRS against one name or a list of them; null is not judged."""
    if expected is None or any(same_crs(found, name) for name in listed(expected)):
        return []
    said = found.authid() or found.description() or "unknown"
    return [f"the CRS is {said} instead of {' or '.join(listed(expected))}"]


def field_misses(found: Iterable[str], expected: Sequence[str]) -> list[str]:
    """Judge the names of fields, exactly as they are written."""
    names = set(found)
    return [f"the field '{name}' is missing" for name in expected if name not in names]


def _family(name: str) -> str:
    return name.removeprefix("Multi")


def _geometry_misses(layer: QgsVectorLayer, expected: Any) -> list[str]:
    found = QgsWkbTypes.displayString(QgsWkbTypes.flatType(layer.wkbType()))
    if _family(found) in {_family(name) for name in listed(expected)}:
        return []
    return [f"the geometry is {found} instead of {' or '.join(listed(expected))}"]


def _count_misses(layer: QgsVectorLayer, expect: Mapping[str, Any]) -> list[str]:
    found = sum(1 for _ in layer.getFeatures())
    if abs(found - expect["feature_count"]) <= expect.get("count_tol", 0):
        return []
    return [f"it has {found} features instead of {expect['feature_count']}"]


def _aggregate_misses(layer: QgsVectorLayer, name: str, expect: Mapping[str, Any]) -> list[str]:
    index = layer.fields().indexFromName(expect["field"])
    if index < 0:
        return [f"the field '{expect['field']}' is missing, so it has no {name}"]
    values = [feature.attribute(index) for feature in layer.getFeatures()]
    numbers = [float(value) for value in values if value != NULL and is_number(value)]
    if not numbers:
        return [f"the field '{expect['field']}' holds no number"]
    found = AGGREGATES[name](numbers)
    if near(found, expect["value"], expect.get("rel_tol", 0)):
        return []
    said = f"{shown(found)} instead of {shown(expect['value'])}"
    return [f"the {name} of '{expect['field']}' is {said}"]


def total_area(layer: QgsVectorLayer) -> float | None:
    """Return the area of all features in square metres on the WGS 84 ellipsoid.

    None is returned where the CRS, and with it the unit, is not known.
    """
    if not layer.crs().isValid():
        return None
    meter = QgsDistanceArea()
    meter.setSourceCrs(layer.crs(), QgsProject.instance().transformContext())
    meter.setEllipsoid(ELLIPSOID)
    shapes = [item.geometry() for item in layer.getFeatures() if item.hasGeometry()]
    area = float(sum(meter.measureArea(shape) for shape in shapes))
    return area if math.isfinite(area) else None


def _area_misses(layer: QgsVectorLayer, expect: Mapping[str, Any]) -> list[str]:
    found = total_area(layer)
    if found is None:
        return ["it has no CRS, so its area is not known"]
    if near(found, expect["value"], expect.get("rel_tol", 0)):
        return []
    return [f"its area is {shown(found)} m² instead of {shown(expect['value'])} m²"]


def layer_misses(layer: QgsVectorLayer, expect: Mapping[str, Any]) -> list[str]:
    """Judge one vector layer; a Polygon stands for a MultiPolygon too."""
    misses: list[str] = []
    if expect.get("geometry") is not None:
        misses += _geometry_misses(layer, expect["geometry"])
    if expect.get("feature_count") is not None:
        misses += _count_misses(layer, expect)
    misses += crs_misses(layer.crs(), expect.get("crs"))
    misses += field_misses(layer.fields().names(), expect.get("fields_include", ()))
    for name in AGGREGATES:
        if name in expect:
            misses += _aggregate_misses(layer, name, expect[name])
    if "total_area_m2" in expect:
        misses += _area_misses(layer, expect["total_area_m2"])
    return misses


def vector_misses(path: str, expect: Mapping[str, Any]) -> list[str]:
    """Judge the vector layer of a file that comes nearest to what is expected."""
    layers = open_vectors(path)
    if not layers:
        return ["it cannot be opened as a vector layer"]
    return min((layer_misses(layer, expect) for layer in layers), key=len)
