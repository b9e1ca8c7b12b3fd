# SPDX-License-Identifier: GPL-2.0-or-later
"""Polygons, lines and points burnt into a raster, and the areas of equal cells as polygons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qgis.core import QgsRectangle, QgsReferencedRectangle

from . import argument, execution, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .condition import field_named
from .context import Context
from .distance import needs_crs
from .expression import SourceFields
from .grid import grid_of
from .raster import band_of, raster_of
from .raster_class import class_areas
from .raster_copy import prepared, workspace
from .raster_result import option_index, ran, told
from .registry import Unchecked
from .source import VectorSource
from .unit import metres

_RASTERIZE = "gdal:rasterize"
_POLYGONIZE = "gdal:polygonize"
_UNITS = "Georeferenced units"
_HOLE = -99999


class Rasterize:
    """A raster of features."""

    definition = ToolDefinition(
        "rasterize",
        "Burn features into a raster: a number field or 1, on the grid of another raster (like) or "
        "with a cell size in metres.",
        argument.arguments(
            {
                "layer": argument.layer(Family.VECTOR.value),
                "field": argument.field(types=["integer", "real"]),
                "like": argument.layer(Family.RASTER.value),
                "cell_size": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            },
            ["layer"],
        ),
        label="Rasterise",
    )

    def check(self, arguments: dict[str, Any]) -> None:
        """Ask for one of a raster and a cell size."""
        if ("like" in arguments) == ("cell_size" in arguments):
            raise MendableError("rasterize needs cell_size, or a raster in like.")

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Burn into cells whose centre lies inside; others have no data."""
        source = context.vector(arguments["layer"], Family.VECTOR)
        needs_crs(source, "its place is not known")
        burnt: dict[str, Any] = {"BURN": 1}
        if arguments.get("field"):
            fields = SourceFields(source, context.cancelled)
            burnt = {"FIELD": field_named(arguments["field"], fields)}
        with workspace(context) as folder:
            given, grid = _target(source, arguments, folder, context)
            parameters = {
                **burnt,
                "INPUT": given,
                "UNITS": option_index(_RASTERIZE, "UNITS", _UNITS),
                **grid,
                "NODATA": _HOLE,
                "INIT": _HOLE,
                "OUTPUT": "TEMPORARY_OUTPUT",
            }
            shown = {**parameters, "INPUT": source.id}
            reference = ran(_RASTERIZE, parameters, f"raster of {source.key}", context, shown)
        return told(reference, context, _RASTERIZE, shown)


def _target(
    source: VectorSource, arguments: dict[str, Any], folder: Path, context: Context
) -> tuple[str, dict[str, Any]]:
    """Return the features and the grid to burn them into, as parameters of the algorithm."""
    given: str = source.id
    if "like" in arguments:
        like = raster_of(arguments["like"], context)
        needs_crs(like, "features cannot be laid over it")
        grid = grid_of(like)
        box, crs = QgsRectangle(*grid.bounds()), like.crs
        width, height = grid.width, abs(grid.height)
        if source.crs != crs:
            given = str(folder / "there.gpkg")
            parameters = {"INPUT": source.id, "TARGET_CRS": crs, "OUTPUT": given}
            context.call(execution.run("native:reprojectlayer", parameters, context).layers.clear)
    else:
        if source.in_degrees():
            raise MendableError(
                f"{source.key} is in degrees: give a raster in like, or reproject it first by "
                "native:reprojectlayer."
            )
        box, crs = source.extent, source.crs
        width = height = metres(arguments["cell_size"], "cell_size")
        if width <= 0:
            raise MendableError("cell_size must be above 0.")
    where = QgsReferencedRectangle(box, crs)
    return given, {"WIDTH": width, "HEIGHT": height, "EXTENT": where}


class Vectorize(Unchecked):
    """Polygons of equal cells."""

    definition = ToolDefinition(
        "vectorize",
        "Make polygons of the areas of equal value of a raster of classes; the value is in DN.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "band": argument.band(),
            },
            ["layer"],
        ),
        label="Vectorise",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Refuse a raster that is none of whole numbers: the program would cut their digits."""
        source = raster_of(arguments["layer"], context)
        band = band_of(source, arguments.get("band")).number
        if any(value != int(value) for value in class_areas(source, band, context)):
            raise MendableError(
                f"{source.key} is no raster of whole classes: put it into classes by reclassify."
            )
        with workspace(context) as folder:
            parameters = {
                "INPUT": prepared(source, folder, context),
                "BAND": band,
                "FIELD": "DN",
                "OUTPUT": "TEMPORARY_OUTPUT",
            }
            shown = {**parameters, "INPUT": source.id}
            title = f"polygons of {source.key}"
            reference = ran(_POLYGONIZE, parameters, title, context, shown)
        return ToolResult(
            f"{wording.layer(reference)}; count = {reference.features}.",
            numbers={"count": float(reference.features)},
            layers=(reference,),
            algorithm=_POLYGONIZE,
            parameters=shown,
            outputs={"OUTPUT": reference.id},
        )
