# SPDX-License-Identifier: GPL-2.0-or-later
"""Tiny satellite products in their true file formats, made of arrays through GDAL alone.

HDF4 is written by GDAL as one data set of several bands; the grids of HDF-EOS2 it cannot write.
HDF5 is written as netCDF-4, which is HDF5.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
from osgeo import gdal, osr

SINUSOIDAL = "+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R=6371007.181 +units=m +no_defs"
UTM = "EPSG:32632"
DEGREES = "EPSG:4326"
LEFT, TOP = 500_000.0, 5_000_000.0
_TYPES = {
    "int16": gdal.GDT_Int16, "uint16": gdal.GDT_UInt16, "uint8": gdal.GDT_Byte,
    "float32": gdal.GDT_Float32, "float64": gdal.GDT_Float64, "int32": gdal.GDT_Int32,
    "uint32": gdal.GDT_UInt32,
}  # fmt: skip


def system(crs: str) -> osr.SpatialReference:
    """Return a CRS by its code or PROJ text, x before y."""
    found = osr.SpatialReference()
    found.SetFromUserInput(crs)
    found.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return found


def geotiff(
    path: Path,
    *bands: Any,
    crs: str = UTM,
    left: float = LEFT,
    top: float = TOP,
    cell: float = 10.0,
    names: tuple[str, ...] = (),
    driver: str = "GTiff",
    nodata: float | None = None,
) -> Path:
    """Write arrays of one type as bands; `driver` COG, JP2OpenJPEG or HDF4Image too."""
    arrays = [numpy.asarray(one) for one in bands]
    rows, columns = arrays[0].shape
    direct = driver in ("GTiff", "HDF4Image")
    start = gdal.GetDriverByName(driver if direct else "MEM")
    kind = _TYPES[arrays[0].dtype.name]
    dataset = start.Create(str(path) if direct else "", columns, rows, len(arrays), kind)
    if crs:
        dataset.SetGeoTransform((left, cell, 0, top, 0, -cell))
        dataset.SetProjection(system(crs).ExportToWkt())
    for number, array in enumerate(arrays, start=1):
        band = dataset.GetRasterBand(number)
        band.WriteArray(array)
        if names:
            band.SetDescription(names[number - 1])
        if nodata is not None:
            band.SetNoDataValue(nodata)
    if not direct:
        options = ["QUALITY=100", "REVERSIBLE=YES"] if driver == "JP2OpenJPEG" else []
        gdal.GetDriverByName(driver).CreateCopy(str(path), dataset, options=options)
    dataset.FlushCache()
    return path


def netcdf(
    path: Path,
    variables: dict[str, Any],
    crs: str = SINUSOIDAL,
    left: float = 0.0,
    top: float = 1_000_000.0,
    cell: float = 1000.0,
    days: tuple[int, ...] = (),
) -> Path:
    """Write variables on one grid as netCDF-4, which is HDF5 whatever the ending; with `days`
    since 2020-01-01 each variable has a time axis before its rows."""
    driver = gdal.GetDriverByName("netCDF")
    file = driver.CreateMultiDimensional(str(path), [], ["FORMAT=NC4"])
    root = file.GetRootGroup()
    rows, columns = next(iter(variables.values())).shape[-2:]
    real = gdal.ExtendedDataType.Create(gdal.GDT_Float64)
    y = root.CreateDimension("y", "HORIZONTAL_Y", "SOUTH", rows)
    x = root.CreateDimension("x", "HORIZONTAL_X", "EAST", columns)
    axes = [y, x]
    held: list[Any] = [file, root]
    for name, dimension, values in (
        ("y", y, top - cell * (numpy.arange(rows) + 0.5)),
        ("x", x, left + cell * (numpy.arange(columns) + 0.5)),
    ):
        held.append(root.CreateMDArray(name, [dimension], real))
        held[-1].Write(values)
    if days:
        time = root.CreateDimension("time", "TEMPORAL", "", len(days))
        held.append(root.CreateMDArray("time", [time], real))
        held[-1].Write(numpy.asarray(days, dtype=float))
        unit = gdal.ExtendedDataType.CreateString()
        for key, text in (("units", "days since 2020-01-01"), ("calendar", "standard")):
            attribute = held[-1].CreateAttribute(key, [], unit)
            attribute.Write(text)
        axes = [time, *axes]
    for name, values in variables.items():
        kind = gdal.ExtendedDataType.Create(_TYPES[values.dtype.name])
        array = root.CreateMDArray(name, axes, kind)
        array.SetSpatialRef(system(crs))
        array.Write(numpy.ascontiguousarray(values))
        held.append(array)
    while held:
        held.pop()
    return path


def landsat(folder: Path, name: str, bands: dict[str, Any], date: str, cloud: float) -> Path:
    """Write a Landsat Collection 2 Level 2 scene: a GeoTIFF for each band and the MTL file."""
    for band, values in bands.items():
        geotiff(folder / f"{name}_{band}.TIF", numpy.asarray(values, "uint16"), cell=30.0)
    text = f"""GROUP = LANDSAT_METADATA_FILE
  GROUP = IMAGE_ATTRIBUTES
    DATE_ACQUIRED = {date}
    CLOUD_COVER = {cloud}
  END_GROUP = IMAGE_ATTRIBUTES
END_GROUP = LANDSAT_METADATA_FILE
END
"""
    path = folder / f"{name}_MTL.txt"
    path.write_text(text, encoding="utf-8")
    return path


def sentinel(folder: Path, name: str, bands: dict[str, Any], cloud: float) -> Path:
    """Write a Sentinel-2 SAFE folder: a JPEG 2000 for each band and the product's metadata."""
    safe = folder / f"{name}.SAFE"
    images = safe / "GRANULE" / "L2A_T32TQM_A000001_20240315T101021" / "IMG_DATA"
    for band, values in bands.items():
        size = 20 if band == "SCL" else 10
        place = images / f"R{size}m"
        place.mkdir(parents=True, exist_ok=True)
        array = numpy.asarray(values, "uint8" if band == "SCL" else "uint16")
        file = place / f"T32TQM_20240315T101021_{band}_{size}m.jp2"
        geotiff(file, array, cell=float(size), driver="JP2OpenJPEG")
    text = f"<root><Cloud_Coverage_Assessment>{cloud}</Cloud_Coverage_Assessment></root>"
    (safe / "MTD_MSIL2A.xml").write_text(text, encoding="utf-8")
    return safe
