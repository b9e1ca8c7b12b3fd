# SPDX-License-Identifier: GPL-2.0-or-later
"""GeoTIFF, cloud-optimised GeoTIFF and JPEG 2000, written by GDAL block by block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal, osr

from .ground import Grid

_KINDS = {
    "uint8": gdal.GDT_Byte, "int16": gdal.GDT_Int16, "uint16": gdal.GDT_UInt16,
    "uint32": gdal.GDT_UInt32, "float32": gdal.GDT_Float32, "float64": gdal.GDT_Float64,
}  # fmt: skip
_OPTIONS = ["COMPRESS=DEFLATE", "TILED=YES", "BIGTIFF=IF_SAFER"]
_COPIES = {
    "COG": ["COMPRESS=DEFLATE", "OVERVIEWS=NONE"],
    "JP2OpenJPEG": ["QUALITY=100", "REVERSIBLE=YES"],
}


def system(crs: str) -> osr.SpatialReference:
    """Return a CRS by its code or PROJ text, x before y."""
    found = osr.SpatialReference()
    found.SetFromUserInput(crs)
    found.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return found


class RasterFile:
    """A raster of one band that takes rows from the top on."""

    def __init__(self, dataset: gdal.Dataset) -> None:
        self._band = dataset.GetRasterBand(1)

    def write(self, row: int, values: Any) -> None:
        """Write rows from `row` on."""
        self._band.WriteArray(numpy.ascontiguousarray(values), 0, row)


@contextmanager
def raster_file(
    path: Path, grid: Grid, kind: str, nodata: float | None = None, driver: str = "GTiff"
) -> Iterator[RasterFile]:
    """Open a raster to be written; COG and JP2OpenJPEG are made of a GeoTIFF beside it at the end.

    `kind` is the type as numpy calls it. Raises RuntimeError for what GDAL cannot write.
    """
    first = path if driver == "GTiff" else path.with_suffix(".part.tif")
    size = (grid.columns, grid.rows)
    tif = gdal.GetDriverByName("GTiff")
    dataset = tif.Create(str(first), *size, 1, _KINDS[kind], options=_OPTIONS)
    dataset.SetGeoTransform(grid.affine)
    dataset.SetProjection(system(grid.crs).ExportToWkt())
    if nodata is not None:
        dataset.GetRasterBand(1).SetNoDataValue(nodata)
    yield RasterFile(dataset)
    dataset.FlushCache()
    if driver != "GTiff":
        target = gdal.GetDriverByName(driver)
        if target is None:
            raise RuntimeError(f"The GDAL of this QGIS has no driver {driver}.")
        target.CreateCopy(str(path), dataset, options=_COPIES[driver])
        dataset = None
        first.unlink()
