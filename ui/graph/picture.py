# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a workflow for reports: SVG, or PNG at twice the size."""

from __future__ import annotations

from pathlib import Path

from qgis.PyQt.QtCore import QRectF, QSize, Qt
from qgis.PyQt.QtGui import QImage, QPainter, QPalette
from qgis.PyQt.QtSvg import QSvgGenerator

from ..palette import ground
from .scene import GraphScene

_SCALE = 2


def save_picture(scene: GraphScene, path: Path) -> None:
    """Write all of a scene into a file, SVG or PNG by its ending. Raises OSError."""
    room = 2 * scene.unit
    box = scene.itemsBoundingRect().adjusted(-room, -room, room, room)
    chosen = list(scene.selectedItems())
    scene.clearSelection()
    try:
        is_svg = path.suffix.lower() == ".svg"
        done = _svg(scene, path, box) if is_svg else _png(scene, path, box)
    finally:
        for item in chosen:
            item.setSelected(True)
    if not done:
        raise OSError(f"{path.name} cannot be written.")


def _svg(scene: GraphScene, path: Path, box: QRectF) -> bool:
    writer = QSvgGenerator()
    writer.setFileName(str(path))
    writer.setSize(QSize(round(box.width()), round(box.height())))
    writer.setViewBox(QRectF(0, 0, box.width(), box.height()))
    painter = QPainter()
    if not painter.begin(writer):
        return False
    scene.render(painter, QRectF(0, 0, box.width(), box.height()), box)
    return bool(painter.end())


def _png(scene: GraphScene, path: Path, box: QRectF) -> bool:
    size = QSize(round(box.width() * _SCALE), round(box.height() * _SCALE))
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(ground(scene.look, QPalette.ColorRole.Base))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    scene.render(
        painter, QRectF(0, 0, size.width(), size.height()), box, Qt.AspectRatioMode.KeepAspectRatio
    )
    painter.end()
    return bool(image.save(str(path)))
