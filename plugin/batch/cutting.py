# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of a layer that lies in a tile: points each in one tile, all else cut at its edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qgis.core import (
    Qgis,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCsException,
    QgsFeature,
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

    A tile of another CRS cuts lines, areas and rasters by its bounding box in the layer's; points
    are judged in the tile's own. Main thread. Raises EmptyTile, BatchError.
    """
    crs = QgsCoordinateReferenceSystem(str(tile["crs"]))
    if not crs.isValid():
        raise BatchError(f"There is no CRS {tile['crs']}: write one such as EPSG:32632.")
    own = layer.crs() if layer.crs().isValid() else crs
    way = QgsCoordinateTransform(crs, own, QgsProject())
    inner = QgsRectangle(*(float(one) for one in tile["extent"]))
    try:
        box = way.transformBoundingBox(inner)
        if not box.intersects(layer.extent()):
            raise EmptyTile(f"Nothing of {layer.name()} lies in the tile.")
        if isinstance(layer, QgsRasterLayer):
            return _cut_raster(layer, box)
        if isinstance(layer, QgsVectorLayer):
            if layer.geometryType() != Qgis.GeometryType.Point:
                return _cut_features(layer, box)
            return _points(layer, box, inner, way, tile["closed"])
    except QgsCsException as error:
        raise BatchError(f"The tile cannot be brought into the CRS of {layer.name()}.") from error
    raise BatchError(f"{layer.name()} is neither a vector nor a raster layer: it cannot be cut.")


def _points(
    layer: QgsVectorLayer,
    box: QgsRectangle,
    inner: QgsRectangle,
    way: QgsCoordinateTransform,
    closed: Sequence[bool],
) -> QgsVectorLayer:
    """Return the points of the box that lie in the tile; an edge that is not closed belongs to
    the next one."""

    def is_inside(feature: QgsFeature) -> bool:
        geometry = feature.geometry()
        geometry.transform(way, Qgis.TransformDirection.Reverse)
        found = geometry.boundingBox()
        x, y = found.xMinimum(), found.yMinimum()
        right = x <= inner.xMaximum() if closed[0] else x < inner.xMaximum()
        top = y <= inner.yMaximum() if closed[1] else y < inner.yMaximum()
        return bool(x >= inner.xMinimum() and y >= inner.yMinimum() and right and top)

    near = QgsFeatureRequest().setFilterRect(box)
    ids = [one.id() for one in layer.getFeatures(near) if is_inside(one)]
    if not ids:
        raise EmptyTile(f"Nothing of {layer.name()} lies in the tile.")
    request = QgsFeatureRequest().setFilterFids(ids)
    request.addOrderBy("$id")
    return layer.materialize(request)


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
