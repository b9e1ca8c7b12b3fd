# SPDX-License-Identifier: GPL-2.0-or-later
"""What a map picture shows: its layers from top to bottom, its CRS and its extent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsMapLayer,
    QgsRectangle,
)

from .base import LastingError, MendableError
from .context import Context
from .spelling import listed

_MARGIN = 1.05
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".pdf", ".svg")


@dataclass(frozen=True)
class MapView:
    """Layers, CRS and extent of a map. Used on the main thread only."""

    layers: tuple[QgsMapLayer, ...]
    crs: QgsCoordinateReferenceSystem
    extent: QgsRectangle


def viewed(names: list[str], context: Context) -> MapView:
    """Return a view of the named layers; of none named, of those that the layer tree shows.

    Raises MendableError where there is nothing to show, and for layers without extent.
    """
    sources = [context.layer(name) for name in names]

    def view() -> MapView:
        project = context.project
        if sources:
            layers = [context.map_layer(one) for one in sources]
        else:
            order = project.layerTreeRoot().checkedLayers()
            layers = [one for one in order if one.isSpatial()]
        if not layers:
            raise MendableError("There is no layer to show: name one in layers.")
        crs = project.crs() if project.crs().isValid() else layers[0].crs()
        extent = _extent(layers, crs, context)
        if extent.isEmpty():
            raise MendableError(
                f"{listed([one.name() for one in layers])} cover no area that can be shown."
            )
        extent.scale(_MARGIN)
        return MapView(tuple(layers), crs, extent)

    return context.call(view)


def _extent(
    layers: list[QgsMapLayer], crs: QgsCoordinateReferenceSystem, context: Context
) -> QgsRectangle:
    """Return the extent of all layers; a single place gets some room. Main thread only."""
    whole = QgsRectangle()
    whole.setNull()
    for layer in layers:
        box = layer.extent()
        if box.isNull():
            continue
        if layer.crs().isValid() and crs.isValid() and layer.crs() != crs:
            way = QgsCoordinateTransform(layer.crs(), crs, context.project)
            way.setBallparkTransformsAreAppropriate(True)
            box = way.transformBoundingBox(box)
        whole.combineExtentWith(box)
    if not whole.isNull() and (whole.width() == 0 or whole.height() == 0):
        room = 0.01 if crs.isGeographic() else 500.0
        whole.grow(room)
    return whole


def output_file(file: str, context: Context, endings: tuple[str, ...] = PICTURES) -> Path:
    """Return a free path in the output folder, with the first ending where none is given.

    Raises MendableError for another ending, LastingError where no folder for files is set.
    """
    name = file if Path(file).suffix else f"{file}{endings[0]}"
    if Path(name).suffix.lower() not in endings:
        raise MendableError(f'"{file}" needs an ending that is known: {listed(list(endings))}.')
    if context.output_folder is None:
        raise LastingError(
            f"No folder for files is set, so {name} cannot be written: set one in Settings > "
            "Options > Geo-OLM."
        )
    path = context.boundary().free(name)
    if path.name != Path(name).name:
        context.note(f"{Path(name).name} is there already and was kept.")
    return path
