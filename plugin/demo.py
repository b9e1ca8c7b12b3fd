# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo: a question over the world map that every QGIS carries."""

from __future__ import annotations

from qgis.core import QgsCoordinateReferenceSystem, QgsProject, QgsVectorLayer

from .place import world_map

DEMO_QUESTION = "How many provinces have the admin Brazil? Show them."
_LAYERS = ("disputed_borders", "states_provinces", "countries")


class DemoMissing(Exception):
    """The world map that a QGIS carries is not there."""


def add_demo_layers(project: QgsProject) -> list[QgsVectorLayer]:
    """Add the world map's layers to `project`, the countries on top. Main thread only.

    Raises DemoMissing when the file is not there; the project is left as it was.
    """
    source = world_map()
    layers = [QgsVectorLayer(f"{source}|layername={name}", name, "ogr") for name in _LAYERS]
    if not all(layer.isValid() for layer in layers):
        raise DemoMissing("This QGIS does not carry its world map, so there is no demo project.")
    for layer in layers:
        layer.setReadOnly(True)
        project.addMapLayer(layer, False)
        node = project.layerTreeRoot().insertLayer(0, layer)
        node.setItemVisibilityChecked(layer.name() == "countries")
        node.setExpanded(False)
    project.setCrs(QgsCoordinateReferenceSystem("EPSG:4326"))
    project.setEllipsoid("EPSG:7030")
    return layers
