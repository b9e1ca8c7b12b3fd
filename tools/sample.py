# SPDX-License-Identifier: GPL-2.0-or-later
"""Small samples of layers, near each other, so that a workflow can be tried in a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from osgeo import gdal
from qgis.core import (
    Qgis,
    QgsCoordinateTransform,
    QgsFeature,
    QgsFeatureRequest,
    QgsMapLayer,
    QgsMemoryProviderUtils,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsVectorLayer,
)

MOST_FEATURES = 100
MOST_CELLS = 256
"""Features of a layer, and cells along each side of a raster, that a sample has at most."""
_AROUND = 0.1


def samples(
    project: QgsProject,
    names: Sequence[str],
    wanted: Mapping[str, Sequence[str]],
    folder: Path,
) -> list[QgsMapLayer]:
    """Return samples of the project's layers of these names, under the same names and CRS.

    The layer with the fewest features is taken first; of the others those features that lie near
    it. `wanted` gives expressions by layer that later steps filter by: features that meet them
    come first. Rasters are cut to the place and made coarser, into `folder`. Main thread only;
    the layers of the project stay as they are.
    """
    layers = [one for name in names for one in project.mapLayersByName(name)[:1]]
    vectors = sorted(
        (one for one in layers if isinstance(one, QgsVectorLayer)),
        key=lambda one: one.featureCount(),
    )
    place: tuple[QgsRectangle, QgsVectorLayer] | None = None
    found: list[QgsMapLayer] = []
    for one in vectors:
        taken = _features(one, wanted.get(one.name(), ()), _in_crs(place, one, project))
        copy = QgsMemoryProviderUtils.createMemoryLayer(
            one.name(), one.fields(), one.wkbType(), one.crs()
        )
        copy.dataProvider().addFeatures(taken)
        copy.updateExtents()
        found.append(copy)
        if place is None and one.isSpatial() and taken:
            place = (copy.extent(), copy)
    rasters = [one for one in layers if isinstance(one, QgsRasterLayer)]
    return found + [_raster(one, _in_crs(place, one, project), folder) for one in rasters]


def _features(
    layer: QgsVectorLayer, wanted: Sequence[str], near: QgsRectangle | None
) -> list[QgsFeature]:
    """Return features that meet what is wanted, then near ones, then any, up to the most."""
    found: dict[int, QgsFeature] = {}
    requests = [QgsFeatureRequest().setFilterExpression(one) for one in wanted]
    if near is not None and layer.isSpatial():
        requests = [
            *(QgsFeatureRequest(one).setFilterRect(near) for one in requests),
            *requests,
            QgsFeatureRequest().setFilterRect(near),
        ]
    for place, request in enumerate([*requests, QgsFeatureRequest()], 1):
        room = MOST_FEATURES - len(found)
        if place <= len(requests):
            room = (room + 1) // 2
        if room > 0:
            taken = layer.getFeatures(request.setLimit(room + len(found)))
            for feature in taken:
                found.setdefault(feature.id(), feature)
    return list(found.values())[:MOST_FEATURES]


def _in_crs(
    place: tuple[QgsRectangle, QgsVectorLayer] | None, layer: QgsMapLayer, project: QgsProject
) -> QgsRectangle | None:
    """Return a place, widened, in the CRS of a layer; None without one."""
    if place is None:
        return None
    extent, of = place
    margin = _AROUND * max(extent.width(), extent.height(), 1e-9)
    transform = QgsCoordinateTransform(of.crs(), layer.crs(), project.transformContext())
    return transform.transformBoundingBox(extent.buffered(margin))


def _raster(layer: QgsRasterLayer, near: QgsRectangle | None, folder: Path) -> QgsRasterLayer:
    """Return a raster cut to a place, where it lies there, with fewer cells and the same bands."""
    extent = layer.extent() if near is None else near.intersect(layer.extent())
    if extent.isEmpty():
        extent = layer.extent()
    columns = round(extent.width() / layer.rasterUnitsPerPixelX())
    rows = round(extent.height() / layer.rasterUnitsPerPixelY())
    path = folder / f"{len(list(folder.glob('*.tif')))}.tif"
    gdal.Translate(
        str(path),
        layer.source(),
        projWin=[extent.xMinimum(), extent.yMaximum(), extent.xMaximum(), extent.yMinimum()],
        width=max(1, min(columns, MOST_CELLS)),
        height=max(1, min(rows, MOST_CELLS)),
        resampleAlg="nearest",
    )
    found = QgsRasterLayer(str(path), layer.name())
    if layer.crs().isValid():
        found.setCrs(layer.crs())
    return found


def is_sampled(layer: QgsMapLayer) -> bool:
    """Tell whether a layer is larger than a sample may be."""
    if isinstance(layer, QgsVectorLayer):
        return layer.featureCount() > MOST_FEATURES
    return layer.type() == Qgis.LayerType.Raster and layer.width() > MOST_CELLS
