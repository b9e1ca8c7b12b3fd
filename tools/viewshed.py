# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be seen from a place: the visible cells of an elevation model, and the points of another
layer that lie on them."""

from __future__ import annotations

import math
from typing import Any

import numpy
from qgis.core import QgsCoordinateReferenceSystem, QgsPointXY

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import needs_crs, transform
from .feature_name import named, naming_field
from .grid import grid_of
from .raster import Reader, raster_of
from .raster_copy import workspace
from .raster_result import ran
from .registry import Unchecked
from .source import RasterSource, VectorSource
from .terrain import in_metres
from .unit import metres

_ALGORITHM = "gdal:viewshed"
_VISIBLE = 255


class Viewshed(Unchecked):
    """The cells that can be seen from one point."""

    definition = ToolDefinition(
        "viewshed",
        "Find what can be seen from one point over an elevation raster: the visible cells, and "
        "which points of another layer (targets) are visible.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "observer": argument.layer(Family.POINT.value),
                "targets": argument.layer(Family.POINT.value),
                "eye_height": {"type": "number", "minimum": 0},
                "target_height": {"type": "number", "minimum": 0},
                "radius": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            },
            ["layer", "observer"],
        ),
        label="Viewshed",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Look as far as the raster reaches unless a radius is given."""
        source = raster_of(arguments["layer"], context)
        observer = context.vector(arguments["observer"], Family.POINT)
        targets = None
        if arguments.get("targets"):
            targets = context.vector(arguments["targets"], Family.POINT)
        with workspace(context) as folder:
            given, crs = in_metres(source, folder, context, "nothing can be seen over it")
            place = _place(observer, crs, context)
            far = _farthest(source, crs, place)
            far = metres(arguments["radius"], "radius") if "radius" in arguments else far
            parameters = {
                "BAND": 1,
                "OBSERVER": f"{place.x()},{place.y()}",
                "OBSERVER_HEIGHT": arguments.get("eye_height", 1.6),
                "TARGET_HEIGHT": arguments.get("target_height", 0),
                "MAX_DISTANCE": far,
                "OUTPUT": "TEMPORARY_OUTPUT",
            }
            shown = {**parameters, "INPUT": source.id}
            title = f"visible from {observer.key}"
            reference = ran(_ALGORITHM, {**parameters, "INPUT": given}, title, context, shown)
        numbers, texts, said = _seen(raster_of(reference.id, context), targets, context)
        return ToolResult(
            f"{wording.layer(reference)}: {_VISIBLE} is visible, 0 is not; {said}",
            numbers=numbers,
            texts=texts,
            units={"area": "m2"},
            layers=(reference,),
            algorithm=_ALGORITHM,
            parameters=shown,
            outputs={"OUTPUT": reference.id},
        )


def _place(
    observer: VectorSource, crs: QgsCoordinateReferenceSystem, context: Context
) -> QgsPointXY:
    """Return the one observer in the raster's CRS. Raises MendableError for none or several."""
    needs_crs(observer, "its place on the raster is not known")
    rows = [one for one in observer.rows(context.cancelled, geometry=True) if one.hasGeometry()]
    if len(rows) != 1:
        raise MendableError(
            f"viewshed looks from one point, and {observer.key} has {len(rows)}: filter one."
        )
    return transform(observer.crs, crs).transform(rows[0].geometry().centroid().asPoint())


def _farthest(source: RasterSource, crs: QgsCoordinateReferenceSystem, place: QgsPointXY) -> float:
    """Return the distance to the farthest corner, in units of the CRS."""
    box = transform(source.crs, crs).transformBoundingBox(source.extent)
    if not box.contains(place):
        raise MendableError(f"The observer lies outside {source.key}.")
    return max(
        math.hypot(x - place.x(), y - place.y())
        for x in (box.xMinimum(), box.xMaximum())
        for y in (box.yMinimum(), box.yMaximum())
    )


def _seen(
    made: RasterSource, targets: VectorSource | None, context: Context
) -> tuple[dict[str, float], dict[str, str], str]:
    """Count the visible cells and name the visible targets."""
    grid = grid_of(made)
    areas = grid.row_areas(context)
    visible, area, strips = 0, 0.0, []
    for row, (values,) in Reader(made, [1], context).strips():
        strips.append(values == _VISIBLE)
        counts = strips[-1].sum(axis=1)
        visible += int(counts.sum())
        area += float((counts * areas[row : row + len(counts)]).sum())
    numbers = {"cells": float(visible), "area": area}
    said = f"cells = {visible}, area = {wording.number(area)} m2."
    if targets is None:
        return numbers, {}, said
    names = _visible(numpy.vstack(strips), made, targets, context)
    numbers["targets"] = float(len(names))
    listed = ", ".join(wording.value(name) for name in names[:20]) or "none"
    said += f" targets = {len(names)} visible of {targets.features} {targets.key}: {listed}."
    return numbers, {"visible": ", ".join(names)}, said


def _visible(seen: Any, made: RasterSource, targets: VectorSource, context: Context) -> list[str]:
    """Return the names of the targets that lie on a visible cell."""
    needs_crs(targets, "their places on the raster are not known")
    grid, way = grid_of(made), transform(targets.crs, made.crs)
    field, names, outside = naming_field(targets, context), [], 0
    for feature in targets.rows(context.cancelled, geometry=True):
        if not feature.hasGeometry():
            continue
        place = way.transform(feature.geometry().centroid().asPoint())
        column = math.floor((place.x() - grid.left) / grid.width)
        row = math.floor((place.y() - grid.top) / grid.height)
        if not (0 <= row < grid.rows and 0 <= column < grid.columns):
            outside += 1
        elif seen[row, column]:
            names.append(named(feature, field))
    if outside:
        context.note(f"{outside} of {targets.key} lie outside what was looked at.")
    return names
