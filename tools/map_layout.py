# SPDX-License-Identifier: GPL-2.0-or-later
"""A simple layout of a map: title, map, legend, scale bar and north arrow on a page A4."""

from __future__ import annotations

from pathlib import Path

from qgis.core import (
    Qgis,
    QgsApplication,
    QgsLayoutExporter,
    QgsLayoutItemLabel,
    QgsLayoutItemLegend,
    QgsLayoutItemMap,
    QgsLayoutItemPicture,
    QgsLayoutItemScaleBar,
    QgsLayoutPoint,
    QgsLayoutSize,
    QgsPrintLayout,
    QgsProject,
    QgsTextFormat,
)
from qgis.PyQt.QtCore import QRectF, Qt

from .base import LastingError
from .map_view import MapView

_PAGE = (297.0, 210.0)
_MARGIN, _TITLE, _LEGEND = 10.0, 14.0, 62.0
DPI = 150.0


def laid_out(project: QgsProject, view: MapView, title: str, legend: bool) -> QgsPrintLayout:
    """Return a new layout of a view; it is not in the project's list. Main thread only."""
    layout = QgsPrintLayout(project)
    layout.initializeDefaults()
    layout.setName(title or "Map")
    top = _MARGIN + (_TITLE if title else 0)
    width = _PAGE[0] - 2 * _MARGIN - (_LEGEND if legend else 0)
    page_map = QgsLayoutItemMap(layout)
    page_map.setRect(QRectF(0, 0, width, _PAGE[1] - top - _MARGIN))
    page_map.attemptMove(QgsLayoutPoint(_MARGIN, top))
    page_map.attemptResize(QgsLayoutSize(width, _PAGE[1] - top - _MARGIN))
    page_map.setCrs(view.crs)
    page_map.setLayers(list(view.layers))
    page_map.setKeepLayerSet(True)
    page_map.setFrameEnabled(True)
    page_map.setId("map")
    layout.addLayoutItem(page_map)
    page_map.zoomToExtent(view.extent)
    if title:
        _add_title(layout, title)
    if legend:
        _add_legend(layout, page_map, view, top)
        _add_scale_bar(layout, page_map, view)
        _add_arrow(layout, page_map)
    return layout


def _add_title(layout: QgsPrintLayout, title: str) -> None:
    label = QgsLayoutItemLabel(layout)
    label.setText(title)
    style = QgsTextFormat()
    style.setSize(18)
    label.setTextFormat(style)
    label.setId("title")
    label.setHAlign(Qt.AlignmentFlag.AlignLeft)
    layout.addLayoutItem(label)
    label.attemptMove(QgsLayoutPoint(_MARGIN, _MARGIN))
    label.attemptResize(QgsLayoutSize(_PAGE[0] - 2 * _MARGIN, _TITLE))


def _add_legend(
    layout: QgsPrintLayout, page_map: QgsLayoutItemMap, view: MapView, top: float
) -> None:
    legend = QgsLayoutItemLegend(layout)
    legend.setLinkedMap(page_map)
    legend.setAutoUpdateModel(False)
    group = legend.model().rootGroup()
    group.clear()
    for layer in view.layers:
        group.addLayer(layer)
    legend.setId("legend")
    layout.addLayoutItem(legend)
    legend.attemptMove(QgsLayoutPoint(_PAGE[0] - _MARGIN - _LEGEND + 4, top))
    legend.adjustBoxSize()


def _add_scale_bar(layout: QgsPrintLayout, page_map: QgsLayoutItemMap, view: MapView) -> None:
    bar = QgsLayoutItemScaleBar(layout)
    bar.setStyle("Single Box")
    bar.setLinkedMap(page_map)
    bar.applyDefaultSize(Qgis.DistanceUnit.Kilometers)
    bar.setId("scale bar")
    layout.addLayoutItem(bar)
    bar.attemptMove(QgsLayoutPoint(_PAGE[0] - _MARGIN - _LEGEND + 4, _PAGE[1] - _MARGIN - 14))


def _add_arrow(layout: QgsPrintLayout, page_map: QgsLayoutItemMap) -> None:
    arrow = QgsLayoutItemPicture(layout)
    folders = [Path(one) / "arrows" / "NorthArrow_02.svg" for one in QgsApplication.svgPaths()]
    found = [one for one in folders if one.is_file()]
    if found:
        arrow.setPicturePath(str(found[0]))
    arrow.setLinkedMap(page_map)
    arrow.setId("north arrow")
    layout.addLayoutItem(arrow)
    arrow.attemptMove(QgsLayoutPoint(_PAGE[0] - _MARGIN - 18, _PAGE[1] - _MARGIN - 34))
    arrow.attemptResize(QgsLayoutSize(15, 15))


def exported(layout: QgsPrintLayout, path: Path) -> None:
    """Write a layout into a file by its ending. Main thread only. Raises LastingError."""
    exporter = QgsLayoutExporter(layout)
    ending = path.suffix.lower()
    if ending == ".pdf":
        code = exporter.exportToPdf(str(path), QgsLayoutExporter.PdfExportSettings())
    elif ending == ".svg":
        code = exporter.exportToSvg(str(path), QgsLayoutExporter.SvgExportSettings())
    else:
        settings = QgsLayoutExporter.ImageExportSettings()
        settings.dpi = DPI
        settings.generateWorldFile = False
        code = exporter.exportToImage(str(path), settings)
    if code != QgsLayoutExporter.ExportResult.Success or not path.is_file():
        path.unlink(missing_ok=True)
        raise LastingError(f"The map could not be written to {path.name}: {_reason(code)}.")


def _reason(code: QgsLayoutExporter.ExportResult) -> str:
    reasons = {
        QgsLayoutExporter.ExportResult.MemoryError: "too little memory",
        QgsLayoutExporter.ExportResult.FileError: "the file cannot be written",
        QgsLayoutExporter.ExportResult.PrintError: "the page cannot be drawn",
    }
    return reasons.get(code, "the export failed")
