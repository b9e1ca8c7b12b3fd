# SPDX-License-Identifier: GPL-2.0-or-later
"""Values between points by inverse distance, in metres whatever the CRS."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from osgeo import gdal
from qgis.core import QgsCoordinateReferenceSystem, QgsRectangle

from . import argument
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import transform
from .metric_point import numeric, ran_to_file, refuse_many, with_values
from .raster_copy import gdal_progress, made, workspace
from .raster_result import adopted, told, written
from .registry import Unchecked
from .unit import metres

_LENGTH = {"anyOf": [{"type": "number"}, {"type": "string"}]}


class Interpolate(Unchecked):
    """Values between points."""

    definition = ToolDefinition(
        "interpolate",
        "Make a raster of values between points (inverse distance weighting) from a number field; "
        "gives its mean.",
        argument.arguments(
            {
                "layer": argument.layer(Family.POINT.value),
                "field": argument.field(types=["integer", "real"]),
                "cell_size": _LENGTH,
                "power": {"type": "number", "minimum": 0.5, "maximum": 10},
            },
            ["layer", "field"],
        ),
        label="Interpolate",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Weight all points by distance in metres; points without a value are left out."""
        source = context.vector(arguments["layer"], Family.POINT)
        name = numeric(source, arguments["field"], context)
        power = float(arguments.get("power", 2))
        with workspace(context) as folder, written(context) as path:
            given, crs = with_values(source, name, folder, context)
            box = transform(source.crs, crs).transformBoundingBox(source.extent)
            if box.width() <= 0 or box.height() <= 0:
                raise MendableError(f"The points of {source.key} lie on one line or place.")
            cell = math.sqrt(box.width() * box.height() / 10_000)
            if "cell_size" in arguments:
                cell = metres(arguments["cell_size"], "cell_size")
            if cell <= 0:
                raise MendableError("cell_size must be above 0.")
            refuse_many(box, cell)
            given_file = given
            if given == source.id:
                given_file = str(folder / "points.gpkg")
                ran_to_file("native:savefeatures", {"INPUT": given, "OUTPUT": given_file}, context)
            _grid(given_file, path, name, power, box, cell, crs, context)
            title = f"{name} of {source.key} interpolated"
            shown = {"INPUT": source.id, "FIELD": name, "POWER": power, "CELL_SIZE": cell}
            reference = adopted(path, title, shown, context)
        context.note(f"Inverse distance weighting with power {power:g}, cells of {cell:g} m.")
        return told(reference, context)


def _grid(
    points: str,
    path: Path,
    name: str,
    power: float,
    box: QgsRectangle,
    cell: float,
    crs: QgsCoordinateReferenceSystem,
    context: Context,
) -> None:
    columns = max(1, math.ceil(box.width() / cell - 1e-9))
    rows = max(1, math.ceil(box.height() / cell - 1e-9))
    options = {
        "format": "GTiff",
        "outputType": gdal.GDT_Float32,
        "width": columns,
        "height": rows,
        "outputBounds": [
            box.xMinimum(),
            box.yMaximum(),
            box.xMinimum() + columns * cell,
            box.yMaximum() - rows * cell,
        ],
        "outputSRS": crs.toWkt(),
        "zfield": name,
        "algorithm": f"invdist:power={power}:smoothing=0:nodata=-99999",
        "callback": gdal_progress(context),
    }
    made("The surface", lambda: gdal.Grid(str(path), points, **options), context)
