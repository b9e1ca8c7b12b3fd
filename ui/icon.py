# SPDX-License-Identifier: GPL-2.0-or-later
"""Icons: QGIS's theme by name, our own drawings in a palette colour, and one for each tool."""

from __future__ import annotations

from pathlib import Path

from qgis.core import QgsApplication
from qgis.PyQt.QtCore import QByteArray, QRectF, Qt
from qgis.PyQt.QtGui import QColor, QIcon, QPainter, QPixmap
from qgis.PyQt.QtSvg import QSvgRenderer

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "icons"
SIZES = (16, 24, 32, 48, 96)

FAMILIES = {
    "point": "mIconPointLayer",
    "line": "mIconLineLayer",
    "polygon": "mIconPolygonLayer",
    "raster": "mIconRaster",
    "table": "mIconTableLayer",
}

# The first word that is part of the tool's name decides.
TOOLS = (
    ("list", "mIconLayerTree"),
    ("info", "mActionIdentify"),
    ("describe", "mActionIdentify"),
    ("search", "search"),
    ("unique", "algorithms/mAlgorithmUniqueValues"),
    ("stat", "algorithms/mAlgorithmBasicStatistics"),
    ("location", "algorithms/mAlgorithmSelectLocation"),
    ("filter", "mActionFilter2"),
    ("count", "mActionSum"),
    ("largest", "mActionSum"),
    ("top", "mActionSum"),
    ("calc", "mActionCalculateField"),
    ("field", "mActionCalculateField"),
    ("zoom", "mActionZoomToLayer"),
    ("style", "propertyicons/symbology"),
    ("colour", "propertyicons/symbology"),
    ("answer", "mActionTextAnnotation"),
)


def theme_icon(name: str) -> QIcon:
    """Return an icon of QGIS's theme by its name without folder and ending."""
    return QgsApplication.getThemeIcon(f"/{name}.svg")


def own_icon(name: str, colour: QColor) -> QIcon:
    """Return a drawing of resources/icons in the given colour."""
    text = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    renderer = QSvgRenderer(QByteArray(text.replace("currentColor", colour.name()).encode()))
    icon = QIcon()
    for size in SIZES:
        pixmap = QPixmap(size, size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(0, 0, size, size))
        painter.end()
        icon.addPixmap(pixmap)
    return icon


def mark() -> QIcon:
    """Return the plugin's own mark."""
    return QIcon(str(FOLDER / "geo_olm.svg"))


def layer_icon(geometry: str) -> QIcon:
    """Return the icon for a geometry name such as "point", "MultiPolygon" or "raster"."""
    lower = geometry.lower().replace("linestring", "line")
    for word, name in FAMILIES.items():
        if word in lower:
            return theme_icon(name)
    return theme_icon("mIconVector" if lower else "mIconTableLayer")


def tool_icon(tool: str, algorithm: str = "") -> QIcon:
    """Return the algorithm's own icon where one was run, else one that fits the tool's name."""
    found = QgsApplication.processingRegistry().algorithmById(algorithm) if algorithm else None
    if found is not None:
        return found.icon()
    for word, name in TOOLS:
        if word in tool.lower():
            return theme_icon(name)
    return theme_icon("processingAlgorithm")
