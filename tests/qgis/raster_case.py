# SPDX-License-Identifier: GPL-2.0-or-later
"""Rasters written from arrays, opened as layers and read back, apart from the code under test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal, osr
from qgis.core import QgsRasterLayer
from toolbox_case import Bench

from geo_olm.tools.base import ToolResult

LEFT, TOP = 500000.0, 5000000.0


def raster(
    folder: Path,
    name: str,
    *bands: Any,
    cell: float = 10.0,
    left: float = LEFT,
    top: float = TOP,
    crs: int = 32632,
    kind: int = gdal.GDT_Float32,
    nodata: float | None = None,
    names: tuple[str, ...] = (),
    metadata: dict[str, str] | None = None,
    height: float | None = None,
) -> QgsRasterLayer:
    """Write arrays as the bands of a GeoTIFF (north up, square cells) and open it."""
    arrays = [numpy.asarray(one) for one in bands]
    path = folder / f"{name}.tif"
    rows, columns = arrays[0].shape
    dataset = gdal.GetDriverByName("GTiff").Create(str(path), columns, rows, len(arrays), kind)
    dataset.SetGeoTransform((left, cell, 0, top, 0, -(height or cell)))
    if crs:
        system = osr.SpatialReference()
        system.ImportFromEPSG(crs)
        dataset.SetProjection(system.ExportToWkt())
    dataset.SetMetadata(metadata or {})
    for number, array in enumerate(arrays, start=1):
        band = dataset.GetRasterBand(number)
        if nodata is not None:
            band.SetNoDataValue(nodata)
        if names:
            band.SetDescription(names[number - 1])
        band.WriteArray(array)
    dataset = None
    found = QgsRasterLayer(str(path), name)
    assert found.isValid()
    return found


def read(bench: Bench, result: ToolResult, band: int = 1) -> Any:
    """Return the cells of the raster that a call made, masked where there is no data."""
    path = bench.project.mapLayer(result.layers[0].id).source()
    dataset = gdal.Open(path)
    found = dataset.GetRasterBand(band)
    cells = found.ReadAsArray().astype(float)
    nodata = found.GetNoDataValue()
    hole = numpy.isnan(cells) if nodata is None else (cells == nodata) | numpy.isnan(cells)
    return numpy.ma.masked_array(cells, hole)
