# SPDX-License-Identifier: GPL-2.0-or-later
"""Rasters cut by polygons, and rasters put together; what has no data keeps none."""

from __future__ import annotations

from typing import Any

from osgeo import gdal

from . import argument
from .base import Family, MendableError, ToolDefinition, ToolResult
from .context import Context
from .distance import needs_crs, transform
from .grid import grid_of
from .overlap import refuse_apart
from .raster import raster_of
from .raster_copy import gdal_progress, made, opened_given, prepared, workspace
from .raster_result import GEOTIFF, adopted, option_index, ran, told, written
from .registry import Unchecked

_CLIP = "gdal:cliprasterbymasklayer"
_WIDER = {
    "Byte": "Int16",
    "Int8": "Int16",
    "UInt16": "Int32",
    "Int16": "Int32",
    "Float32": "Float32",
}
"""The type that has a number to spare for "no data" beside all that the first one holds."""


class ClipRaster(Unchecked):
    """The part of a raster within polygons."""

    definition = ToolDefinition(
        "clip_raster",
        "Cut a raster to the polygons of a layer; cells outside have no data.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "polygons": argument.layer(Family.POLYGON.value),
            },
            ["layer", "polygons"],
        ),
        label="Clip a raster",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Cut along the cells of the raster's own grid, in its own CRS."""
        source = raster_of(arguments["layer"], context)
        polygons = context.vector(arguments["polygons"], Family.POLYGON)
        refuse_apart(polygons, source)
        with workspace(context) as folder:
            given = prepared(source, folder, context)
            hole, kind = _hole([opened_given(source, given)])
            parameters = {
                "INPUT": given,
                "MASK": polygons.id,
                "NODATA": hole,
                "DATA_TYPE": option_index(_CLIP, "DATA_TYPE", kind),
                "TARGET_EXTENT": grid_of(source).around(
                    transform(polygons.crs, source.crs).transformBoundingBox(polygons.extent)
                ),
                "CROP_TO_CUTLINE": False,  # would leave out cells that lie half inside
                "KEEP_RESOLUTION": True,
                "OUTPUT": "TEMPORARY_OUTPUT",
            }
            shown = {**parameters, "INPUT": source.id}
            title = f"{source.key} within {polygons.key}"
            reference = ran(_CLIP, parameters, title, context, shown)
        return told(reference, context, _CLIP, shown)


def _hole(datasets: list[gdal.Dataset]) -> tuple[float, str]:
    """Return a number that marks no data and no cell holds, and the type that can hold it.

    That is the nodata value that all declare, else one of a wider type.
    """
    bands = [one.GetRasterBand(1) for one in datasets]
    declared = {one.GetNoDataValue() for one in bands}
    types = {gdal.GetDataTypeName(one.DataType) for one in bands}
    only = declared.pop()
    if not declared and len(types) == 1 and only is not None:
        return float(only), types.pop()
    wider = _WIDER.get(types.pop(), "Float64") if len(types) == 1 else "Float64"
    return (-32768.0 if wider == "Int16" else -99999.0), wider


class MergeRasters(Unchecked):
    """One raster of several beside each other."""

    definition = ToolDefinition(
        "merge_rasters",
        "Put several rasters together into one mosaic; later ones lie on top, cells without data "
        "never cover others.",
        argument.arguments(
            {
                "layers": {
                    "type": "array",
                    "items": argument.layer(Family.RASTER.value),
                    "minItems": 2,
                }
            },
            ["layers"],
        ),
        label="Merge rasters",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Warp all into the first one's CRS and cell size; other CRS are said."""
        sources = [raster_of(name, context) for name in arguments["layers"]]
        first = sources[0]
        for one in sources:
            needs_crs(one, "it cannot be laid beside another raster")
            if len(one.bands) != len(first.bands):
                raise MendableError(
                    f"{one.key} has {len(one.bands)} bands and {first.key} {len(first.bands)}."
                )
            if one.crs != first.crs:
                context.note(f"{one.key} was reprojected to {first.crs.authid()} (nearest cell).")
        with workspace(context) as folder, written(context) as path:
            given = [prepared(one, folder, context) for one in sources]
            parts = [opened_given(one, path_) for one, path_ in zip(sources, given)]
            hole, kind = _hole(parts)
            _, width, _, _, _, height = parts[0].GetGeoTransform()
            options = {
                "format": "GTiff",
                "dstSRS": first.crs.toWkt(),
                "xRes": width,
                "yRes": abs(height),
                "dstNodata": hole,
                "outputType": gdal.GetDataTypeByName(kind),
                "resampleAlg": "nearest",
                "creationOptions": GEOTIFF,
                "callback": gdal_progress(context),
            }
            made("The mosaic", lambda: gdal.Warp(str(path), parts, **options), context)
            title = f"mosaic of {len(sources)} rasters"
            reference = adopted(path, title, {"INPUT": first.id}, context)
        return told(reference, context)
