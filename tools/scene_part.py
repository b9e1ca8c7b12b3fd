# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of a scene: the subdatasets of an HDF or netCDF file, the bands of a GeoTIFF, the files
of a Landsat or Sentinel-2 folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from osgeo import gdal, osr

from .base import MendableError
from .scene_eos import placed

ENDINGS = (
    ".tif", ".tiff", ".jp2", ".img", ".vrt", ".hdf", ".h4", ".hdf4", ".h5", ".he5", ".hdf5", ".nc",
    ".nc4",
)  # fmt: skip
"""Files that may hold a scene."""
SAFE = ".SAFE"
MTL = "_MTL.txt"
_DRIVERS = [
    "GTiff", "JP2OpenJPEG", "JP2KAK", "JP2ECW", "JP2MrSID", "HFA", "VRT", "HDF4", "HDF4Image",
    "HDF5", "HDF5Image", "netCDF",
]  # fmt: skip
_FORMATS = {
    "HDF4": (".hdf", ".h4", ".hdf4"), "HDF5": (".h5", ".he5", ".hdf5"), "netCDF": (".nc", ".nc4"),
    "JP2": (".jp2",),
}  # fmt: skip
_HDF5 = _FORMATS["HDF5"]
_SENTINEL_FILE = re.compile(r"^T\w{5}_\d{8}T\d{6}_(\w+?)(?:_\d\dm)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """A raster of a scene: its name in capitals, what GDAL opens, and its band (0 for all)."""

    name: str
    path: str
    band: int = 0


def opened_scene(path: str, name: str = "") -> gdal.Dataset:
    """Open a raster by the drivers of scenes alone. Raises MendableError naming the file.

    An HDF5 file whose grid follows the conventions of netCDF is opened as such: GDAL's HDF5 driver
    does not read where it lies.
    """
    if Path(path).suffix.lower() in _HDF5 and gdal.GetDriverByName("netCDF") is not None:
        found = _as_netcdf(path)
        if found is not None:
            return found
    if _missing(path):
        raise MendableError(
            f"{name or Path(path).name} cannot be read: the GDAL of this QGIS has no driver for "
            f"{_missing(path)}. Convert it to GeoTIFF elsewhere."
        )
    try:
        found = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_READONLY, _known_drivers())
    except RuntimeError as error:
        raise MendableError(f"{name or Path(path).name} cannot be read: {error}") from error
    if found is None:
        reason = gdal.GetLastErrorMsg() or "no raster file that is known here"
        raise MendableError(f"{name or Path(path).name} cannot be read: {reason}")
    return placed(found, path)


def _missing(path: str) -> str:
    """Return the format of a file that this GDAL cannot read, "" where it can."""
    ending = Path(path).suffix.lower()
    for format_name, endings in _FORMATS.items():
        drivers = [one for one in _DRIVERS if one.startswith(format_name)]
        if ending in endings and not any(gdal.GetDriverByName(one) for one in drivers):
            return format_name
    return ""


def _as_netcdf(path: str) -> gdal.Dataset | None:
    """Return an HDF5 file as netCDF where that tells where its grid lies, else None."""
    try:
        found = gdal.OpenEx(f'NETCDF:"{path}"', gdal.OF_RASTER | gdal.OF_READONLY, ["netCDF"])
        first = found.GetSubDatasets()[:1] if found is not None else []
        grid = gdal.Open(first[0][0]) if first else found
    except RuntimeError:  # the HDF5 driver has its turn
        return None
    placed = grid is not None and grid.GetGeoTransform(can_return_null=True) is not None
    return found if placed else None


def _known_drivers() -> list[str]:
    """Return the drivers of scenes that this GDAL has; it warns of others."""
    return [one for one in _DRIVERS if gdal.GetDriverByName(one) is not None]


def parts_of(path: str) -> list[Part]:
    """Return the parts of a scene by its file, SAFE folder or MTL file. Raises MendableError."""
    place = Path(path)
    if place.suffix == SAFE:
        return _sentinel(place)
    if place.name.endswith(MTL):
        stem = place.name[: -len(MTL)]
        files = sorted(place.parent.glob(f"{stem}_*.[tT][iI][fF]"))
        return [Part(one.stem.upper(), str(one), 1) for one in files]
    dataset = opened_scene(path)
    subdatasets = dataset.GetSubDatasets()
    if subdatasets:
        return [Part(subdataset_name(one), one) for one, _ in subdatasets]
    return _bands(dataset, path)


def _sentinel(folder: Path) -> list[Part]:
    """Return the images of a SAFE folder, those of the finest resolution first."""
    found = []
    for file in sorted(folder.glob("GRANULE/*/IMG_DATA/**/*.jp2")):
        named = _SENTINEL_FILE.match(file.stem)
        found.append(Part((named.group(1) if named else file.stem).upper(), str(file), 1))
    return found


def subdataset_name(path: str) -> str:
    """Return the name of a subdataset in capitals: what follows the file in GDAL's name."""
    return path.rpartition(":")[2].rpartition("/")[2].strip('"').upper()


def _bands(dataset: gdal.Dataset, path: str) -> list[Part]:
    """Return the bands of a file by their names; a band alone is called after its file."""
    if dataset.RasterCount == 1:
        described = dataset.GetRasterBand(1).GetDescription()
        return [Part((described or Path(path).stem).upper(), path, 1)]
    return [
        Part((dataset.GetRasterBand(number).GetDescription() or f"band {number}").upper(), path,
             number)
        for number in range(1, dataset.RasterCount + 1)
    ]  # fmt: skip


def system_of(dataset: gdal.Dataset) -> osr.SpatialReference | None:
    """Return the CRS of a raster, x before y; WGS 84 for a netCDF grid whose axes are in degrees,
    None where nothing tells it."""
    found = dataset.GetSpatialRef()
    if found is None:
        units = {text for key, text in dataset.GetMetadata().items() if key.endswith("#units")}
        if not {"degrees_north", "degrees_east"} <= units:
            return None
        found = osr.SpatialReference()
        found.ImportFromEPSG(4326)
    found.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return found


def part_named(parts: list[Part], pattern: str, number: int = 0) -> Part | None:
    """Return the first part whose name fits, or the band of a number; None for none."""
    if number:
        return next((one for one in parts if one.band == number), None)
    return next((one for one in parts if re.search(pattern, one.name)), None)
