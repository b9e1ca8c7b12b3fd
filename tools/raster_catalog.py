# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools over rasters, in the order in which they are listed to a model."""

from __future__ import annotations

from .class_change import ClassChange
from .heat_map import HeatMap
from .interpolation import Interpolate
from .raster_calculation import RasterCalculate
from .raster_class import ClassAreas, Reclassify
from .raster_conversion import Rasterize, Vectorize
from .raster_extent import ClipRaster, MergeRasters
from .raster_index import RasterIndex, ScaleRaster
from .raster_saving import SaveRaster
from .raster_series import CellStatistics, RasterSeries
from .registry import Tool
from .sampling import SampleRaster
from .terrain import Terrain
from .viewshed import Viewshed
from .zonal import ZonalStatistics


def raster_tools() -> list[Tool]:
    """Return the tools that read or make rasters."""
    return [
        RasterIndex(),
        ScaleRaster(),
        RasterCalculate(),
        Terrain(),
        Viewshed(),
        ZonalStatistics(),
        SampleRaster(),
        Reclassify(),
        ClassAreas(),
        ClassChange(),
        RasterSeries(),
        CellStatistics(),
        ClipRaster(),
        MergeRasters(),
        HeatMap(),
        Interpolate(),
        Rasterize(),
        Vectorize(),
        SaveRaster(),
    ]
