# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes as layers: polygons and rasters that are drawn in the colours of a detector's classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qgis.core import (
    QgsCategorizedSymbolRenderer,
    QgsFillSymbol,
    QgsPalettedRasterRenderer,
    QgsRasterLayer,
    QgsRendererCategory,
    QgsVectorLayer,
)
from qgis.PyQt.QtGui import QColor

from .detector import Detector

FIELDS = {"class": "text", "score": "real", "area_m2": "real", "date": "date"}
"""Of the polygons of objects, by name and type."""
_OPACITY = 0.5


def colour_polygons(layer: QgsVectorLayer, detector: Detector, classes: Iterable[int]) -> None:
    """Draw polygons by their class, so that the picture shows through. Main thread only."""
    categories = []
    for number in sorted(set(classes)):
        name = detector.class_name(number)
        symbol = QgsFillSymbol.createSimple({"outline_width": "0.4"})
        colour = QColor(detector.colour(number))
        symbol.symbolLayer(0).setStrokeColor(colour)
        colour.setAlphaF(_OPACITY)
        symbol.symbolLayer(0).setFillColor(colour)
        categories.append(QgsRendererCategory(name, symbol, name))
    layer.setRenderer(QgsCategorizedSymbolRenderer("class", categories))


def colour_raster(layer: QgsRasterLayer, detector: Detector, classes: Iterable[int]) -> None:
    """Draw a raster of classes with their names. Main thread only."""
    entries: list[Any] = [
        QgsPalettedRasterRenderer.Class(
            number, QColor(detector.colour(number)), detector.class_name(number)
        )
        for number in sorted(set(classes))
    ]
    layer.setRenderer(QgsPalettedRasterRenderer(layer.dataProvider(), 1, entries))
