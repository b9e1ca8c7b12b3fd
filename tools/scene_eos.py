# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the grids of HDF-EOS 5 files lie (VIIRS), for a GDAL before 3.7, whose HDF5 driver does not
read it: told by the text StructMetadata.0 in the file."""

from __future__ import annotations

import math
import re

from osgeo import gdal, osr

_SUBDATASET = re.compile(r'HDF5:"?(?P<file>.+?)"?:/+HDFEOS/GRIDS/(?P<grid>[^/]+)/')
_BLOCK = re.compile(r"\bGROUP=(GRID_\d+)\b(.*?)\bEND_GROUP=\1\b", re.DOTALL)
_NUMBER = r"([-+\d.eE]+)"
_SINUSOIDAL, _DEGREES = "GCTP_SNSOID", "GCTP_GEO"


def placed(dataset: gdal.Dataset, path: str) -> gdal.Dataset:
    """Return a subdataset with its CRS and transform where its file tells them as HDF-EOS 5 does,
    else as it is."""
    named = _SUBDATASET.match(path)
    if named is None or dataset.GetGeoTransform(can_return_null=True) is not None:
        return dataset
    block = _block(_struct_metadata(named["file"]), named["grid"])
    system = _system(block)
    corners = [_pair(block, name) for name in ("UpperLeftPointMtrs", "LowerRightMtrs")]
    if system is None or None in corners:
        return dataset
    (left, top), (right, bottom) = (one for one in corners if one is not None)
    if "GCTP_GEO" in block:
        left, top, right, bottom = (_degrees(one) for one in (left, top, right, bottom))
    width = (right - left) / dataset.RasterXSize
    height = (bottom - top) / dataset.RasterYSize
    found = gdal.GetDriverByName("VRT").CreateCopy("", dataset)
    found.SetGeoTransform((left, width, 0.0, top, 0.0, height))
    found.SetProjection(system.ExportToWkt())
    return found


def _struct_metadata(file: str) -> str:
    """Return the text of a file, "" where there is none."""
    try:
        opened = gdal.OpenEx(file, gdal.OF_MULTIDIM_RASTER, ["HDF5"])
        group = opened.GetRootGroup().OpenGroup("HDFEOS INFORMATION") if opened else None
        array = group.OpenMDArray("StructMetadata.0") if group else None
        found = array.Read() if array else ""
    except RuntimeError:  # GDAL's word for what is not there
        return ""
    return str(found[0] if isinstance(found, (list, tuple)) and found else found or "")


def _block(text: str, grid: str) -> str:
    """Return what is told of a grid; GDAL writes a blank of its name as an underscore."""
    for _, block in _BLOCK.findall(text):
        named = re.search(r'GridName="([^"]+)"', block)
        if named and named.group(1).replace(" ", "_") == grid:
            return str(block)
    return ""


def _pair(block: str, name: str) -> tuple[float, float] | None:
    found = re.search(rf"{name}=\({_NUMBER},{_NUMBER}\)", block)
    return (float(found.group(1)), float(found.group(2))) if found else None


def _system(block: str) -> osr.SpatialReference | None:
    """Return the CRS of a sinusoidal grid or of one in degrees, None for others."""
    found = osr.SpatialReference()
    radius = re.search(rf"ProjParams=\({_NUMBER}", block)
    if _SINUSOIDAL in block and radius:
        text = f"+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R={float(radius.group(1))} +units=m +no_defs"
        found.ImportFromProj4(text)
        return found
    if _DEGREES in block:
        found.ImportFromEPSG(4326)
        return found
    return None


def _degrees(packed: float) -> float:
    """Return degrees of an angle as HDF-EOS packs it: DDDMMMSSS.SS."""
    size = abs(packed)
    whole, rest = divmod(size, 1_000_000)
    minutes, seconds = divmod(rest, 1000)
    return math.copysign(whole + minutes / 60 + seconds / 3600, packed)
