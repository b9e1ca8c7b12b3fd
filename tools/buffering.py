# SPDX-License-Identifier: GPL-2.0-or-later
"""Buffers in metres whatever the CRS of the layer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsGeometry,
    QgsMapLayer,
    QgsPointXY,
)

from . import argument, dateline, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .chain import Chain
from .context import Context
from .crs import DEGREES
from .distance import CELL_DEGREES, around, cell_of, metric_for, moved, needs_crs, transform
from .new_layer import new_layer
from .selection import titled
from .source import VectorSource, crs_name
from .unit import metres

_SEGMENTS = 32
_NEAR_POLE = 89.999
_EARTH_RADIUS_M = 6_371_000.0
_FAR_M = 690_000.0


class Buffer:
    """Widens features."""

    definition = ToolDefinition(
        "buffer",
        "Make polygons of everything within a distance in metres of each feature, in any CRS; "
        "dissolve merges them into one.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "distance": {"anyOf": [{"type": "number"}, {"type": "string"}]},
                "dissolve": {"type": "boolean"},
                "segments": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 200,
                    "description": "of a quarter circle",
                },
            },
            ["layer", "distance"],
        ),
        label="Buffer",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse a distance of nothing."""
        if metres(arguments["distance"]) == 0:
            raise MendableError("The distance is 0 m, which changes nothing: give one in metres.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Buffer in the layer's CRS where it is in true metres, else in one around the layer, and
        around each feature of a layer as wide as a continent."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        length = metres(arguments["distance"])
        needs_crs(source, "a buffer in metres cannot be drawn")
        if length < 0 and source.family in (Family.POINT, Family.LINE):
            raise MendableError(f"A negative distance leaves nothing of {source.geometry}s.")
        plan = {
            "DISTANCE": length,
            "SEGMENTS": arguments.get("segments", _SEGMENTS),
            "END_CAP_STYLE": 0,
            "JOIN_STYLE": 0,
            "MITER_LIMIT": 2,
            "DISSOLVE": arguments.get("dissolve", False),
        }
        system = metric_for(source, context.call)
        if system is None:
            layer = _each_around_itself(source, plan, context)
        else:
            layer = _in(system, source, plan, context)
        shown = f"{length / 1000:g} km" if abs(length) >= 1000 else f"{length:g} m"
        title = titled(f"{source.key} buffered by {shown}")
        parameters = {"INPUT": source.id, **plan}
        reference = context.call(lambda: context.hand_over(layer, title, parameters))
        return ToolResult(
            f"{wording.layer(reference)}; count = {reference.features}.",
            numbers={"count": reference.features},
            layers=(reference,),
            algorithm="native:buffer",
            parameters=parameters,
        )


def _in(
    system: QgsCoordinateReferenceSystem,
    source: VectorSource,
    plan: dict[str, Any],
    context: Context,
) -> QgsMapLayer:
    """Buffer in a metric CRS and bring the result back to the layer's."""
    with Chain(context) as chain:
        if system == source.crs:
            return chain.take(chain.step("native:buffer", {"INPUT": source.id, **plan}))
        context.note(
            "Measured in metres on the ground around the layer; the result is in "
            f"{crs_name(source.crs)} again."
        )
        there = {"INPUT": source.id, "TARGET_CRS": system}
        metric = chain.step("native:reprojectlayer", there)
        widened = chain.step("native:buffer", {"INPUT": metric, **plan})
        back = {"INPUT": widened, "TARGET_CRS": source.crs}
        return chain.take(chain.step("native:reprojectlayer", back))


def _each_around_itself(
    source: VectorSource, plan: dict[str, Any], context: Context
) -> QgsMapLayer:
    multi, features = Qgis.WkbType.MultiPolygon, _widened(source, plan, context)
    with Chain(context) as chain:
        made = chain.add(new_layer(source.key, source.fields, multi, source.crs, features))
        if plan["DISSOLVE"]:
            made = chain.step("native:dissolve", {"INPUT": made})
        return chain.take(made)


def _widened(source: VectorSource, plan: dict[str, Any], context: Context) -> Iterator[QgsFeature]:
    """Yield the features buffered in a CRS around the place of each, cut at the date line."""
    degrees = QgsCoordinateReferenceSystem(DEGREES)
    to_degrees = transform(source.crs, degrees)
    from_degrees = transform(degrees, source.crs)
    local, total = _Local(plan, source), max(1, source.features)
    for number, feature in enumerate(source.rows(context.cancelled, geometry=True)):
        context.progress(100.0 * number / total)
        copy = QgsFeature(feature)
        if feature.hasGeometry():
            whole, _ = dateline.whole(feature.geometry(), source)
            copy.setGeometry(moved(local.buffer(moved(whole, to_degrees)), from_degrees))
        yield copy
    context.note(local.told())


class _Local:
    """Buffers of geometries in degrees, each in an equidistant CRS around its place.

    Small geometries of one cell of two degrees share a CRS, which stretches by 0.01 % there.
    """

    def __init__(self, plan: dict[str, Any], source: VectorSource) -> None:
        self._plan = plan
        self._key = source.key
        self._ways: dict[tuple[float, float], tuple[Any, Any]] = {}
        self._widest = 0.0

    def buffer(self, geometry: QgsGeometry) -> QgsGeometry:
        """Return the buffer in degrees. Raises MendableError where it holds a pole."""
        there, back = self._around(geometry)
        widened = moved(geometry, there).buffer(self._plan["DISTANCE"], self._plan["SEGMENTS"])
        box = widened.boundingBox()
        ends = (box.xMinimum(), box.xMaximum(), box.yMinimum(), box.yMaximum())
        self._widest = max(self._widest, *map(abs, ends))
        north = geometry.boundingBox().center().y() > 0
        pole = QgsGeometry.fromPointXY(QgsPointXY(0, _NEAR_POLE if north else -_NEAR_POLE))
        if widened.contains(moved(pole, there)):
            raise MendableError(
                f"The buffer of a feature of {self._key} reaches a pole, which degrees cannot "
                "show. Leave that feature out by filter, or use a polar CRS."
            )
        found = moved(widened, back)
        if dateline.crosses(found):
            found = dateline.cut(found)
        found.convertToMultiType()
        return found

    def _around(self, geometry: QgsGeometry) -> tuple[Any, Any]:
        """Return the ways to the CRS around a geometry and back."""
        box = geometry.boundingBox()
        centre = box.center() if box.width() <= 180 else geometry.pointOnSurface().asPoint()
        place = centre.x(), centre.y()
        if max(box.width(), box.height()) <= CELL_DEGREES:
            place = cell_of(centre)
        if place not in self._ways:
            system, degrees = around(*place), QgsCoordinateReferenceSystem(DEGREES)
            self._ways[place] = transform(degrees, system), transform(system, degrees)
        return self._ways[place]

    def told(self) -> str:
        """Say by how much the distance may be off around very large geometries, "" for none."""
        if self._widest <= _FAR_M:
            return ""
        stretch = self._widest / _EARTH_RADIUS_M
        percent = 100 * (stretch / math.sin(min(stretch, 1.5)) - 1)
        return (
            f"Some features of {self._key} are so large that the distance is off by up to "
            f"{percent:.2g} % at their ends."
        )
