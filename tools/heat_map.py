# SPDX-License-Identifier: GPL-2.0-or-later
"""How dense points are: heat maps with a radius in metres whatever the CRS."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsApplication

from . import argument
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import transform
from .metric_point import numeric, refuse_many, with_values
from .raster_copy import workspace
from .raster_result import ran, told
from .raster_style import without_zero
from .registry import Unchecked
from .unit import metres

_HEAT = "heatmapkerneldensityestimation"
_LENGTH = {"anyOf": [{"type": "number"}, {"type": "string"}]}


class HeatMap(Unchecked):
    """How dense points are."""

    definition = ToolDefinition(
        "heat_map",
        "Make a heat map of points with a radius in metres (any CRS), weighted by a field.",
        argument.arguments(
            {
                "layer": argument.layer(Family.POINT.value),
                "radius": _LENGTH,
                "weight": argument.field(types=["integer", "real"]),
                "cell_size": _LENGTH,
            },
            ["layer", "radius"],
        ),
        label="Heat map",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Estimate the density (quartic kernel) and leave cells of zero transparent."""
        source = context.vector(arguments["layer"], Family.POINT)
        radius = metres(arguments["radius"], "radius")
        cell = metres(arguments.get("cell_size", radius / 10), "cell_size")
        if radius <= 0 or cell <= 0:
            raise MendableError("radius and cell_size must be above 0.")
        weight = numeric(source, arguments["weight"], context) if arguments.get("weight") else ""
        algorithm = _heat_algorithm()
        with workspace(context) as folder:
            given, crs = with_values(source, weight, folder, context)
            box = transform(source.crs, crs).transformBoundingBox(source.extent)
            refuse_many(box.buffered(radius), cell)
            parameters = {
                "INPUT": given,
                "RADIUS": radius,
                "PIXEL_SIZE": cell,
                "OUTPUT": "TEMPORARY_OUTPUT",
                **({"WEIGHT_FIELD": weight} if weight else {}),
            }
            shown = {**parameters, "INPUT": source.id}
            title = f"heat map of {source.key}"
            reference = ran(algorithm, parameters, title, context, shown)
        result = told(reference, context, algorithm, shown)
        most = result.numbers.get("max", 0.0) or 1.0
        context.call(lambda: without_zero(context.project.mapLayer(reference.id), most))
        return result


def _heat_algorithm() -> str:
    """Return the id of the heat map algorithm of the live registry. Raises MendableError."""
    for one in QgsApplication.processingRegistry().algorithms():
        if one.name() == _HEAT:
            return str(one.id())
    raise MendableError("This QGIS has no heat map algorithm: turn the Processing plugin on.")
