# SPDX-License-Identifier: GPL-2.0-or-later
"""Surfaces from points, in metres whatever the CRS: heat maps of their density, and values between
them by inverse distance."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from osgeo import gdal
from qgis.core import QgsApplication, QgsCoordinateReferenceSystem, QgsRectangle

from . import argument, execution, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named, number_of
from .context import Context
from .distance import transform
from .expression import SourceFields
from .grid import made, metric_crs, workspace
from .grid import told as callback
from .raster_result import adopted, ran, told, written
from .raster_style import without_zero
from .registry import Unchecked
from .source import VectorSource
from .unit import metres

_HEAT = "heatmapkerneldensityestimation"
_STRETCH = 0.002
_MOST_CELLS = 25_000_000
_LENGTH = {"anyOf": [{"type": "number"}, {"type": "string"}]}


def _with_values(
    source: VectorSource, name: str, folder: Path, context: Context
) -> tuple[str, QgsCoordinateReferenceSystem]:
    """Write the points that have a number in a field ("" for all) in metres; return the file and
    its CRS."""
    what = "distances between its points are not known"
    crs = metric_crs(source, what, _STRETCH, metres_only=True)
    given: str = source.id
    if name:
        given = str(folder / "valued.gpkg")
        text = number_of(name, source.type_of(name))
        parameters = {"INPUT": source.id, "EXPRESSION": f"{text} IS NOT NULL", "OUTPUT": given}
        left = source.features - _ran("native:extractbyexpression", parameters, context)
        if left:
            context.note(f"{wording.counted(left, 'point')} without {name} were left out.")
    if crs is None:
        return given, source.crs
    path = str(folder / "metric.gpkg")
    parameters = {"INPUT": given, "TARGET_CRS": crs, "OUTPUT": path}
    _ran("native:reprojectlayer", parameters, context)
    context.note(f"{source.key} was reprojected to {crs.authid() or 'metres around its middle'}.")
    return path, crs


def _ran(algorithm: str, parameters: dict[str, Any], context: Context) -> int:
    """Run an algorithm for the file that it writes; return how many features that has."""
    layers = execution.run(algorithm, parameters, context).layers

    def counted() -> int:
        count = int(layers["OUTPUT"].featureCount())
        layers.clear()
        return count

    return context.call(counted)


def _numeric(source: VectorSource, wanted: str, context: Context) -> str:
    name = field_named(wanted, SourceFields(source, context.cancelled))
    if source.type_of(name) not in ("integer", "real"):
        raise MendableError(f"{name} of {source.key} is no field of numbers.")
    return name


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
        weight = _numeric(source, arguments["weight"], context) if arguments.get("weight") else ""
        algorithm = _heat_algorithm()
        with workspace(context) as folder:
            given, crs = _with_values(source, weight, folder, context)
            box = transform(source.crs, crs).transformBoundingBox(source.extent)
            _refuse_many(box.buffered(radius), cell)
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


def _refuse_many(box: QgsRectangle, cell: float) -> None:
    if (box.width() / cell) * (box.height() / cell) > _MOST_CELLS:
        raise MendableError(f"A cell size of {cell:g} m gives too many cells: take a larger one.")


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
        name = _numeric(source, arguments["field"], context)
        power = float(arguments.get("power", 2))
        with workspace(context) as folder, written(context) as path:
            given, crs = _with_values(source, name, folder, context)
            box = transform(source.crs, crs).transformBoundingBox(source.extent)
            if box.width() <= 0 or box.height() <= 0:
                raise MendableError(f"The points of {source.key} lie on one line or place.")
            cell = math.sqrt(box.width() * box.height() / 10_000)
            if "cell_size" in arguments:
                cell = metres(arguments["cell_size"], "cell_size")
            if cell <= 0:
                raise MendableError("cell_size must be above 0.")
            _refuse_many(box, cell)
            given_file = given
            if given == source.id:
                given_file = str(folder / "points.gpkg")
                _ran("native:savefeatures", {"INPUT": given, "OUTPUT": given_file}, context)
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
        "callback": callback(context),
    }
    made("The surface", lambda: gdal.Grid(str(path), points, **options), context)
