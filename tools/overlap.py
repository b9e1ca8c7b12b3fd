# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a layer and a raster lie over each other."""

from __future__ import annotations

from .base import MendableError
from .distance import needs_crs, transform
from .source import RasterSource, VectorSource


def refuse_apart(layer: VectorSource, raster: RasterSource) -> None:
    """Refuse a layer and a raster that do not overlap. Raises MendableError, and
    UnanswerableError where one has no CRS."""
    for one in (layer, raster):
        needs_crs(one, f"{layer.key} and {raster.key} cannot be laid over each other")
    way = transform(layer.crs, raster.crs)
    if not way.transformBoundingBox(layer.extent).intersects(raster.extent):
        raise MendableError(
            f"{layer.key} and {raster.key} do not overlap. Check that their CRS are set rightly."
        )
