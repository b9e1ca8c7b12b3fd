# SPDX-License-Identifier: GPL-2.0-or-later
"""Grades a raster from its cells, never from statistics that a file carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from osgeo import gdal
from qgis.core import QgsRasterLayer

from .layer_grade import crs_misses
from .outcome import near, shown


def statistics(path: str, band: int = 1) -> dict[str, float]:
    """Return min, max and mean of a band's valid cells; empty when there is none.

    Cells equal to the nodata value and cells that are not finite are left out. The file is opened
    read-only. Raises RuntimeError when GDAL cannot read it.
    """
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_READONLY)
    if dataset is None:
        raise RuntimeError(f"GDAL cannot open {path}")
    source = dataset.GetRasterBand(band)
    nodata, total, count = source.GetNoDataValue(), 0.0, 0
    low, high = np.inf, -np.inf
    rows = max(1, 4_000_000 // max(1, source.XSize))
    for top in range(0, source.YSize, rows):
        cells = source.ReadAsArray(0, top, source.XSize, min(rows, source.YSize - top))
        valid = np.isfinite(cells)
        if nodata is not None:
            valid &= cells != np.asarray(nodata).astype(cells.dtype)
        values = cells[valid].astype(np.float64)
        if values.size:
            low, high = min(low, float(values.min())), max(high, float(values.max()))
            total, count = total + float(values.sum()), count + values.size
    return {"min": low, "max": high, "mean": total / count} if count else {}


def raster_misses(path: str, expect: Mapping[str, Any]) -> list[str]:
    """Judge a raster; min, max and mean are those of its first band, `rel_tol` holds for each."""
    layer = QgsRasterLayer(path, "raster", "gdal")
    if not layer.isValid():
        return ["it cannot be opened as a raster"]
    misses = []
    if "band_count" in expect and layer.bandCount() != expect["band_count"]:
        misses.append(f"it has {layer.bandCount()} bands instead of {expect['band_count']}")
    misses += crs_misses(layer.crs(), expect.get("crs"))
    wanted = [name for name in ("min", "max", "mean") if name in expect]
    found = statistics(path) if wanted else {}
    if wanted and not found:
        return [*misses, "it has no valid cell"]
    for name in wanted:
        if not near(found[name], expect[name], expect.get("rel_tol", 0)):
            said = f"{shown(found[name])} instead of {shown(expect[name])}"
            misses.append(f"its {name} is {said}")
    return misses
