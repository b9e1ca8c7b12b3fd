# SPDX-License-Identifier: GPL-2.0-or-later
"""Hulls, boxes and centres: of all features together, of groups, or of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsFields,
    QgsGeometry,
    QgsPointXY,
)

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .distance import metric_for, moved, transform
from .expression import SourceFields
from .new_layer import TYPES, fields_of, new_layer
from .registry import Unchecked
from .selection import titled
from .source import VectorSource, plain
from .summary import kind_of

_HULL, _BOX, _CENTROID, _MEAN = "convex hull", "bounding box", "centroid", "mean centre"
_SYNONYMS = {"hull": _HULL, "box": _BOX, "extent": _BOX, "centre": _MEAN, "center": _MEAN,
             "mean center": _MEAN, "centroids": _CENTROID}  # fmt: skip
_HECTARE = 1e4
Weighted = list[tuple[QgsGeometry, float]]


class HullOrCentre(Unchecked):
    """Draws one shape around features, or marks their middle."""

    definition = ToolDefinition(
        "hull_or_centre",
        "Draw the convex hull or bounding box, or mark the centroid or (weighted) mean centre, of "
        "all features together, of each group, or of each feature; gives area or coordinates.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "shape": argument.choice(_HULL, _BOX, _CENTROID, _MEAN, synonyms=_SYNONYMS),
                "of": argument.choice("all", "each"),
                "by": argument.field(),
                "weight": argument.field(types=["integer", "real"]),
            },
            ["layer", "shape"],
        ),
        label="Hull or centre",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Gather the geometries by group and make one shape of each group."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        shape, each = arguments["shape"], arguments.get("of", "all") == "each"
        known = SourceFields(source, context.cancelled)
        by = field_named(arguments["by"], known) if arguments.get("by") else ""
        weight = field_named(arguments["weight"], known) if arguments.get("weight") else ""
        if weight and shape != _MEAN:
            raise MendableError(f"A weight belongs to the {_MEAN}.")
        if weight:
            kind_of("mean", source.type_of(weight))
        groups, left = _groups(source, by, weight, each, context)
        if not groups:
            raise MendableError(f"{source.key} has no feature with a geometry.")
        if left:
            context.note(f"{wording.counted(left, 'feature')} without geometry or weight left out.")
        draw = _drawing(shape, source, context)
        fields = source.fields if each else _fields(source, by)
        features = [_feature(fields, key, members, draw) for key, members in groups]
        area = shape in (_HULL, _BOX)
        wkb = Qgis.WkbType.Polygon if area else Qgis.WkbType.Point
        if area:
            features = [
                one for one in features if one.geometry().type() == Qgis.GeometryType.Polygon
            ]
            _tell_flat(len(groups) - len(features), source, context)
        layer = new_layer(source.key, fields, wkb, source.crs, features)
        title = titled(f"{shape} of {source.key}")
        reference = context.call(lambda: context.hand_over(layer, title, arguments))
        numbers, units = _numbers(features, area, source)
        shown = ", ".join(f"{key} = {wording.number(one)}" for key, one in numbers.items())
        return ToolResult(
            f"{wording.layer(reference)}; {shown}.",
            numbers=numbers,
            units=units,
            layers=(reference,),
        )


def _groups(
    source: VectorSource, by: str, weight: str, each: bool, context: Context
) -> tuple[list[tuple[list[Any], Weighted]], int]:
    """Return the attributes and the weighted geometries of each group, and how many were left."""
    found: dict[Any, tuple[list[Any], Weighted]] = {}
    left = 0
    for feature in source.rows(context.cancelled, geometry=True):
        heavy = plain(feature[weight]) if weight else 1.0
        if not feature.hasGeometry() or feature.geometry().isEmpty() or heavy is None:
            left += 1
            continue
        if each:
            key, values = feature.id(), feature.attributes()
        else:
            key = plain(feature[by]) if by else None
            values = [feature[by]] if by else []
        found.setdefault(key, (values, []))[1].append((feature.geometry(), float(heavy)))
    return list(found.values()), left


def _fields(source: VectorSource, by: str) -> QgsFields:
    kind = source.type_of(by) if by else ""
    named = {by: kind if kind in TYPES else "text"} if by else {}
    return fields_of({**named, "features": "integer"})


def _feature(
    fields: QgsFields,
    values: list[Any],
    members: Weighted,
    draw: Callable[[Weighted], QgsGeometry],
) -> QgsFeature:
    made = QgsFeature(fields)
    added = [len(members)] if len(values) < fields.count() else []
    made.setAttributes([*values, *added])
    made.setGeometry(draw(members))
    return made


def _drawing(
    shape: str, source: VectorSource, context: Context
) -> Callable[[Weighted], QgsGeometry]:
    def together(members: Weighted) -> QgsGeometry:
        return QgsGeometry.collectGeometry([one for one, _ in members])

    if shape == _HULL:
        return lambda members: together(members).convexHull()
    if shape == _BOX:
        return lambda members: QgsGeometry.fromRect(together(members).boundingBox())
    system = metric_for(source, context.call) if source.crs.isValid() else source.crs
    measured = _centroid if shape == _CENTROID else _mean
    return lambda members: _in_metres(members, measured, source, system or source.crs)


def _in_metres(
    members: Weighted,
    measured: Callable[[Weighted], QgsGeometry],
    source: VectorSource,
    system: QgsCoordinateReferenceSystem,
) -> QgsGeometry:
    """Find a middle in a metric CRS where there is one, and bring it back."""
    if system == source.crs:
        return measured(members)
    there, back = transform(source.crs, system), transform(system, source.crs)
    return moved(measured([(moved(one, there), heavy) for one, heavy in members]), back)


def _centroid(members: Weighted) -> QgsGeometry:
    return QgsGeometry.collectGeometry([one for one, _ in members]).centroid()


def _mean(members: Weighted) -> QgsGeometry:
    """Return the mean of the features' centroids, weighted."""
    total = sum(heavy for _, heavy in members)
    if not total:
        raise MendableError("The weights add up to 0, so there is no weighted centre.")
    centres = [(one.centroid().asPoint(), heavy) for one, heavy in members]
    x = sum(point.x() * heavy for point, heavy in centres) / total
    y = sum(point.y() * heavy for point, heavy in centres) / total
    return QgsGeometry.fromPointXY(QgsPointXY(x, y))


def _tell_flat(count: int, source: VectorSource, context: Context) -> None:
    if count:
        many = wording.counted(count, "group")
        context.note(f"{many} of {source.key} lie on one point or line and enclose nothing.")


def _numbers(
    features: list[QgsFeature], area: bool, source: VectorSource
) -> tuple[dict[str, float], dict[str, str]]:
    numbers: dict[str, float] = {"count": float(len(features))}
    units: dict[str, str] = {}
    if area and source.crs.isValid():
        shapes = (one.geometry() for one in features)
        numbers["area_ha"] = sum(map(source.measurer.measureArea, shapes)) / _HECTARE
        units["area_ha"] = "ha"
    elif not area and len(features) == 1:
        point = features[0].geometry().asPoint()
        numbers.update(x=point.x(), y=point.y())
    return numbers, units
