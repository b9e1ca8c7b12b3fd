# SPDX-License-Identifier: GPL-2.0-or-later
"""Rasters of classes as polygons with the names of the classes, their areas and the day."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from osgeo import gdal, ogr
from qgis.core import Qgis, QgsFeature, QgsGeometry

from .base import LastingError, LayerReference, ToolCancelled
from .context import Context
from .detection_layer import colour_polygons
from .detection_picture import Picture
from .detector import Detector
from .new_layer import fields_of, new_layer
from .observation_layer import qt_day
from .raster import opened_file
from .raster_copy import gdal_progress
from .raster_copy import made as made_of
from .selection import titled

FIELDS = {"class": "text", "area_m2": "real", "date": "date"}
_NUMBER = "number"
_FILE = "classes.gpkg"


def polygons(
    path: Path, picture: Picture, detector: Detector, shown: dict[str, Any], context: Context
) -> LayerReference:
    """Hand over the areas of equal class of a raster file as polygons; the file's folder is used.

    Raises LastingError and ToolCancelled.
    """
    store = _traced(path, context)
    traced = store.GetLayer(0)
    found: set[int] = set()
    title = f"land cover of {picture.source.key}"
    made = new_layer(
        title, fields_of(FIELDS), Qgis.WkbType.Polygon, picture.source.crs,
        _features(traced, picture, detector, found, context),
    )  # fmt: skip

    def adopt() -> LayerReference:
        colour_polygons(made, detector, found)
        return context.hand_over(made, titled(title), shown)

    return context.call(adopt)


def _traced(path: Path, context: Context) -> ogr.DataSource:
    """Return the outlines of equal cells, in a file beside the raster."""
    source = opened_file(str(path), path.name)
    band = source.GetRasterBand(1)
    place = str(path.with_name(_FILE))
    store = ogr.GetDriverByName("GPKG").CreateDataSource(place)
    if store is None:
        raise LastingError(f"The polygons could not be written: {gdal.GetLastErrorMsg()}")
    layer = store.CreateLayer("classes", source.GetSpatialRef(), ogr.wkbPolygon)
    layer.CreateField(ogr.FieldDefn(_NUMBER, ogr.OFTInteger))

    callback, hole = gdal_progress(context), band.GetMaskBand()
    made_of("The polygons", lambda: gdal.Polygonize(band, hole, layer, 0, [], callback), context)
    return store


def _features(
    traced: ogr.Layer, picture: Picture, detector: Detector, found: set[int], context: Context
) -> Iterator[QgsFeature]:
    fields, day = fields_of(FIELDS), qt_day(picture.day)
    for one in traced:
        if context.cancelled():
            raise ToolCancelled
        number = one.GetField(0)
        found.add(number)
        geometry = QgsGeometry()
        geometry.fromWkb(bytes(one.GetGeometryRef().ExportToWkb()))
        feature = QgsFeature(fields)
        feature.setGeometry(geometry)
        feature.setAttributes([detector.class_name(number), picture.area(geometry), day])
        yield feature
