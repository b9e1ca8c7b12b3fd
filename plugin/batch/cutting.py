# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of a layer that lies in a tile: points each in one tile, all else cut at its edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCsException,
    QgsFeatureRequest,
    QgsMapLayer,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsVectorLayer,
)

from .job import BatchError


class EmptyTile(Exception):
    """Nothing of the layer lies in the tile; the message says so."""


def cut(layer: QgsMapLayer, tile: Mapping[str, Any]) -> QgsMapLayer:
    """Return the part of a layer in a tile {"extent", "crs", "closed"}, in the layer's own CRS.

    A tile of another CRS cuts by its bounding box in the layer's. Main thread. Raises EmptyTile,
    BatchError.
    """
    box = _box(layer, tile)
    if not box.intersects(layer.extent()):
        raise EmptyTile(f"Nothing of {layer.name()} lies in the tile.")
    if isinstance(layer, QgsRasterLayer):
        return _cut_raster(layer, box)
    if isinstance(layer, QgsVectorLayer):
        is_point = layer.geometryType() == Qgis.GeometryType.Point
        return _points(layer, box, tile["closed"]) if is_point else _cut_features(layer, box)
    raise BatchError(f"{layer.name()} is neither a vector nor a raster layer: it cannot be cut.")


def _box(layer: QgsMapLayer, tile: Mapping[str, Any]) -> QgsRectangle:
    crs = QgsCoordinateReferenceSystem(str(tile["crs"]))
    if not crs.isValid():
        raise BatchError(f"There is no CRS {tile['crs']}: write one such as EPSG:32632.")
    box = QgsRectangle(*(float(one) for one in tile["extent"]))
    if not layer.crs().isValid() or layer.crs() == crs:
        return box
    try:
        return QgsCoordinateTransform(crs, layer.crs(), QgsProject()).transformBoundingBox(box)
    except QgsCsException as error:
        raise BatchError(f"The tile cannot be brought into the CRS of {layer.name()}.") from error


def _points(layer: QgsVectorLayer, box: QgsRectangle, closed: list[bool]) -> QgsVectorLayer:
    """Return the points in the box, whose right and top edge belong to the next tile."""

    def is_inside(feature: Any) -> bool:
        found = feature.geometry().boundingBox()
        x, y = found.xMinimum(), found.yMinimum()
        right = x <= box.xMaximum() if closed[0] else x < box.xMaximum()
        top = y <= box.yMaximum() if closed[1] else y < box.yMaximum()
        return bool(x >= box.xMinimum() and y >= box.yMinimum() and right and top)

    request = QgsFeatureRequest().setFilterRect(box)
    ids = [one.id() for one in layer.getFeatures(request) if is_inside(one)]
    if not ids:
        raise EmptyTile(f"Nothing of {layer.name()} lies in the tile.")
    return layer.materialize(QgsFeatureRequest().setFilterFids(ids))


def _cut_features(layer: QgsVectorLayer, box: QgsRectangle) -> QgsVectorLayer:
    found = _run("native:extractbyextent", {"INPUT": layer, "EXTENT": _text(box, layer),
                                            "CLIP": True})  # fmt: skip
    if found.featureCount() == 0:
        raise EmptyTile(f"Nothing of {layer.name()} lies in the tile.")
    return found


def _cut_raster(layer: QgsRasterLayer, box: QgsRectangle) -> QgsRasterLayer:
    inside = box.intersect(layer.extent())
    if inside.width() < layer.rasterUnitsPerPixelX() / 2:
        raise EmptyTile(f"Nothing of {layer.name()} lies in the tile.")
    path = _run("gdal:cliprasterbyextent", {"INPUT": layer, "PROJWIN": _text(inside, layer)})
    found = QgsRasterLayer(str(path), layer.name())
    if not found.isValid():
        raise EmptyTile(f"Nothing of {layer.name()} lies in the tile.")
    return found


def _text(box: QgsRectangle, layer: QgsMapLayer) -> str:
    edges = (box.xMinimum(), box.xMaximum(), box.yMinimum(), box.yMaximum())
    crs = f" [{layer.crs().authid()}]" if layer.crs().authid() else ""
    return ",".join(repr(one) for one in edges) + crs


def _run(algorithm: str, parameters: dict[str, Any]) -> Any:
    import processing
    from qgis.core import QgsProcessingException

    try:
        return processing.run(algorithm, {**parameters, "OUTPUT": "TEMPORARY_OUTPUT"})["OUTPUT"]
    except QgsProcessingException as error:
        raise BatchError(f"The layer cannot be cut: {error}") from error
