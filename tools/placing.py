# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers put where they belong: points from the coordinates in a table, and another CRS."""

from __future__ import annotations

from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsFeature,
    QgsGeometry,
    QgsPointXY,
    QgsRectangle,
)

from . import argument, execution, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named, number_of
from .context import Context
from .crs import DEGREES, are_degrees
from .distance import needs_crs
from .expression import SourceFields, evaluator
from .new_layer import new_layer
from .registry import Unchecked
from .selection import titled
from .source import RasterSource, VectorSource, crs_name

_CRS = {"type": "string", "description": "such as EPSG:25832"}
_VECTOR, _RASTER = "native:reprojectlayer", "gdal:warpreproject"


class PointsFromTable(Unchecked):
    """Makes points of two columns."""

    definition = ToolDefinition(
        "points_from_table",
        "Make a point layer of a table's columns x (longitude, easting) and y (latitude, "
        "northing), in a CRS; gives the lowest and highest coordinates.",
        argument.arguments(
            {
                "layer": argument.layer(Family.TABLE.value),
                "x": argument.field(),
                "y": argument.field(),
                "crs": {**_CRS, "description": "the CRS wanted, such as EPSG:25832"},
            },
            ["layer", "x", "y"],
        ),
        label="Points from a table",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Read degrees as EPSG:4326 and bring them into the CRS; else take them as given in it."""
        source = context.vector(arguments["layer"])
        known = SourceFields(source, context.cancelled)
        names = [field_named(arguments[one], known) for one in ("x", "y")]
        places, left = _read(source, names, context)
        if not places:
            raise MendableError(f"No row of {source.key} has numbers in {names[0]} and {names[1]}.")
        if left:
            many = wording.counted(left, "row")
            context.note(f"{many} of {source.key} without coordinates left out.")
        target = _system(arguments["crs"]) if arguments.get("crs") else None
        degrees = all(are_degrees(QgsRectangle(point, point)) for _, point in places)
        if not degrees and target is None:
            raise MendableError(
                f"{names[0]} and {names[1]} of {source.key} are no degrees: say their crs."
            )
        system = _system(DEGREES) if degrees or target is None else target
        context.note(f"The coordinates were taken as {crs_name(system)}.")
        target = target or system
        if target != system:
            way = context.call(lambda: QgsCoordinateTransform(system, target, context.project))
            places = [(feature, way.transform(point)) for feature, point in places]
        features = [_placed(feature, point, source) for feature, point in places]
        title = titled(f"{source.key} as points")
        layer = new_layer(title, source.fields, Qgis.WkbType.Point, target, features)
        shown = {"INPUT": source.id, "x": names[0], "y": names[1], "crs": crs_name(target)}
        reference = context.call(lambda: context.hand_over(layer, title, shown))
        numbers = _bounds([point for _, point in places])
        return ToolResult(
            f"{wording.layer(reference)}; {_told(numbers)}.",
            numbers={"count": reference.features, **numbers},
            layers=(reference,),
        )


class Reproject(Unchecked):
    """Brings a layer into another CRS."""

    definition = ToolDefinition(
        "reproject",
        "Convert a layer to another CRS, in a new layer; gives its lowest and highest coordinates.",
        argument.arguments({"layer": argument.layer(), "crs": _CRS}, ["layer", "crs"]),
        label="Reproject",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Reproject features by QGIS, cells by GDAL."""
        source = context.layer(arguments["layer"])
        if isinstance(source, VectorSource) and source.family is Family.TABLE:
            raise MendableError(
                f"{source.key} is a table: make points of it with points_from_table."
            )
        needs_crs(source, "it cannot be brought into another one")
        target = _system(arguments["crs"])
        algorithm = _RASTER if isinstance(source, RasterSource) else _VECTOR
        parameters = {"INPUT": source.id, "TARGET_CRS": target, "OUTPUT": "TEMPORARY_OUTPUT"}
        layer = execution.run(algorithm, parameters, context).layers["OUTPUT"]
        shown = {**parameters, "algorithm": algorithm, "TARGET_CRS": crs_name(target)}
        title = titled(f"{source.key} in {crs_name(target)}")
        reference = context.call(lambda: context.hand_over(layer, title, shown))
        box = context.call(layer.extent)
        numbers = _bounds([QgsPointXY(box.xMinimum(), box.yMinimum()),
                           QgsPointXY(box.xMaximum(), box.yMaximum())])  # fmt: skip
        counted = {} if reference.features < 0 else {"count": reference.features}
        return ToolResult(
            f"{wording.layer(reference)}; {_told(numbers)}.",
            numbers={**counted, **numbers},
            layers=(reference,),
            algorithm=algorithm,
            parameters={**parameters, "TARGET_CRS": crs_name(target)},
        )


def _system(text: str) -> QgsCoordinateReferenceSystem:
    found = QgsCoordinateReferenceSystem(f"EPSG:{text}" if text.strip().isdigit() else text)
    if not found.isValid():
        raise MendableError(f'There is no CRS "{text}". Write it like EPSG:25832.')
    return found


def _read(
    source: VectorSource, names: list[str], context: Context
) -> tuple[list[tuple[QgsFeature, QgsPointXY]], int]:
    """Return the rows with both coordinates, and how many have none."""
    values = [evaluator(number_of(name, source.type_of(name)), source) for name in names]
    found, left = [], 0
    for feature in source.rows(context.cancelled):
        x, y = (value(feature) for value in values)
        if isinstance(x, (int, float)) and isinstance(y, (int, float)):
            found.append((feature, QgsPointXY(x, y)))
        else:
            left += 1
    return found, left


def _placed(feature: QgsFeature, point: QgsPointXY, source: VectorSource) -> QgsFeature:
    made = QgsFeature(source.fields)
    made.setAttributes(feature.attributes())
    made.setGeometry(QgsGeometry.fromPointXY(point))
    return made


def _bounds(points: list[QgsPointXY]) -> dict[str, float]:
    xs, ys = [point.x() for point in points], [point.y() for point in points]
    return {"x_min": min(xs), "x_max": max(xs), "y_min": min(ys), "y_max": max(ys)}


def _told(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} = {wording.number(value)}" for name, value in numbers.items())
