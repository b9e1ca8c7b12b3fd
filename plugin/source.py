# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers from the sources that a caller names: a file with several layers gives them all."""

from __future__ import annotations

import re
from pathlib import Path

from qgis.core import (
    Qgis,
    QgsMapLayer,
    QgsProcessingContext,
    QgsProcessingUtils,
    QgsProject,
    QgsProviderRegistry,
    QgsProviderSublayerDetails,
)

from ..tools import parquet

_KINDS = (Qgis.LayerType.Vector, Qgis.LayerType.Raster)
_PROVIDERS = ("ogr", "gdal")
_LAYER_NAME = re.compile(r"\|layername=([^|]+)")


def opened(text: str, context: QgsProcessingContext) -> list[QgsMapLayer]:
    """Return the valid layers that a source means: an id or name of the project, or a file.

    Empty when it cannot be opened. Main thread only. Raises ToolError for a Parquet file that
    cannot be read.
    """
    project = context.project()
    for layer in project.mapLayers().values() if project is not None else ():
        if text in (layer.id(), layer.name(), layer.source()):
            return [layer]
    if parquet.needs_us(text) and Path(text).is_file():
        return [parquet.opened(Path(text), Path(text).stem)]
    if Path(text).is_file():
        parts = QgsProviderRegistry.instance().querySublayers(text)
        fitting = [one for one in parts if one.type() in _KINDS and one.providerKey() in _PROVIDERS]
        if len(fitting) > 1:
            options = QgsProviderSublayerDetails.LayerOptions(context.transformContext())
            made = [one.toLayer(options) for one in fitting]
            return [one for one in made if one is not None and one.isValid()]
    layer = QgsProcessingUtils.mapLayerFromString(text, context)
    if layer is None or not layer.isValid():
        return []
    named = _LAYER_NAME.search(text)
    if named:
        layer.setName(named.group(1))
    return [layer]


def opened_in(text: str, project: QgsProject) -> list[QgsMapLayer]:
    """Return the layers of `project` that a source means, opened there where they are not yet.

    Empty when it cannot be opened. Main thread only. Raises ToolError as `opened`.
    """
    context = QgsProcessingContext()
    context.setProject(project)
    context.setTransformContext(project.transformContext())
    found = []
    for layer in opened(text, context):
        if project.mapLayer(layer.id()) is None:
            layer = layer.clone()  # the context deletes its own
            project.addMapLayer(layer)
        found.append(layer)
    return found
