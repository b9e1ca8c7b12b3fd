# SPDX-License-Identifier: GPL-2.0-or-later
"""GeoPackages of zones, images and labels, the same bytes for the same features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from osgeo import gdal, ogr

from .ground import Ring, Zone
from .raster_file import system

_KINDS = {"text": ogr.OFTString, "integer": ogr.OFTInteger, "real": ogr.OFTReal,
          "date": ogr.OFTDate}  # fmt: skip
_WRITTEN = "2024-01-01T00:00:00.000Z"
_BATCH = 50_000

Row = tuple[str, Sequence[Any]]
"""Geometry as WKT, and the attributes in the order of the fields."""


def write_layer(
    path: Path, kind: int, crs: str, fields: Mapping[str, str], rows: Iterable[Row]
) -> int:
    """Write a layer named as its file; `kind` is a geometry type of OGR. Returns the rows."""
    gdal.SetConfigOption("OGR_CURRENT_DATE", _WRITTEN)
    try:
        file = ogr.GetDriverByName("GPKG").CreateDataSource(str(path))
        layer = file.CreateLayer(path.stem, system(crs), kind)
        for name, of in fields.items():
            layer.CreateField(ogr.FieldDefn(name, _KINDS[of]))
        count = 0
        layer.StartTransaction()
        for shape, values in rows:
            feature = ogr.Feature(layer.GetLayerDefn())
            feature.SetGeometryDirectly(ogr.CreateGeometryFromWkt(shape))
            for place, value in enumerate(values):
                feature.SetField(place, value)
            layer.CreateFeature(feature)
            count += 1
            if count % _BATCH == 0:
                layer.CommitTransaction()
                layer.StartTransaction()
        layer.CommitTransaction()
        layer = file = None
    finally:
        gdal.SetConfigOption("OGR_CURRENT_DATE", None)
    return count


def polygon(ring: Ring) -> str:
    """Return a polygon as WKT."""
    corners = ", ".join(f"{x:.17g} {y:.17g}" for x, y in [*ring, ring[0]])
    return f"POLYGON (({corners}))"


def write_zones(path: Path, zones: Sequence[Zone], crs: str) -> None:
    """Write zones with their names."""
    rows = [(polygon(one.ring), [one.name]) for one in zones]
    write_layer(path, ogr.wkbPolygon, crs, {"name": "text"}, rows)
