# SPDX-License-Identifier: GPL-2.0-or-later
"""The tool that writes a raster into a file of the output folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from osgeo import gdal

from . import argument
from .base import Family, ToolDefinition, ToolResult
from .context import Context
from .map_view import output_file
from .raster import raster_of
from .raster_copy import gdal_progress, made, opened_given, prepared, workspace
from .raster_result import GEOTIFF
from .registry import Unchecked

_ENDINGS = (".tif", ".tiff")


class SaveRaster(Unchecked):
    """Writes a raster."""

    definition = ToolDefinition(
        "save_raster",
        "Write a raster to a GeoTIFF file (.tif) in the output folder.",
        argument.arguments(
            {
                "layer": argument.layer(Family.RASTER.value),
                "file": {"type": "string", "description": "a name such as slope.tif"},
            },
            ["layer", "file"],
        ),
        label="Write a raster file",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Copy all bands; what is no data is declared, scale and offset are applied."""
        source = raster_of(arguments["layer"], context)
        path = output_file(arguments["file"], context, _ENDINGS)
        try:
            with workspace(context) as folder:
                given = prepared(source, folder, context)
                dataset = opened_given(source, given)
                options = {"creationOptions": GEOTIFF, "callback": gdal_progress(context)}
                made(
                    path.name,
                    lambda: gdal.Translate(str(path), dataset, format="GTiff", **options),
                    context,
                )
        except BaseException:
            Path(path).unlink(missing_ok=True)
            raise
        return ToolResult(
            f"file {path.name}: {source.key}, {source.cells}.",
            texts={"file": path.name},
            files=(str(path),),
        )
