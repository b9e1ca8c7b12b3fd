# SPDX-License-Identifier: GPL-2.0-or-later
"""A link on the canvas: a curve from an output to an input, in lanes where it is long, with what
flows through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qgis.PyQt.QtCore import QPointF, QRectF, Qt
from qgis.PyQt.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPalette, QPen
from qgis.PyQt.QtWidgets import (
    QGraphicsItem,
    QStyle,
    QStyleOptionGraphicsItem,
    QWidget,
)

from ...plugin.workflow.value import Layer, Output
from ..palette import Tone, ground, line, mix, tone_colour
from . import measure
from .measure import flags, scaled

_WIDTH, _NEAR = 0.13, 0.6


@dataclass(frozen=True)
class LinkKey:
    """What a link joins: a layer or a step's output, and the port of a step; without `port` the
    step only waits."""

    source: Layer | Output
    target: str
    port: str = ""


class LinkItem(QGraphicsItem):
    """A link; it never changes the graph."""

    def __init__(self, key: LinkKey, unit: float, font: QFont, palette: QPalette) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setZValue(1)
        self.key, self._unit, self.palette = key, unit, palette
        self._font = scaled(font, 0.8)
        self._path, self._label, self._flows = QPainterPath(), "", False
        self._middle = QPointF()

    def lay(self, start: QPointF, end: QPointF, lane: Sequence[QPointF] = ()) -> None:
        """Draw from a place to another, through the points of a lane."""
        self.prepareGeometryChange()
        path = QPainterPath(start)
        here = start
        for through in lane:
            _curve(path, here, through, self._unit)
            width = measure.WIDTH * self._unit
            here = QPointF(through.x() + width, through.y())
            path.lineTo(here)
        _curve(path, here, end, self._unit)
        self._path = path
        self._middle = path.pointAtPercent(0.5) if not lane else lane[len(lane) // 2]
        self.update()

    def tell(self, label: str, flows: bool) -> None:
        """Say what flows, and whether it does now."""
        if (label, flows) != (self._label, self._flows):
            self.prepareGeometryChange()
            self._label, self._flows = label, flows
            self.update()

    def boundingRect(self) -> QRectF:
        """Return the curve with its label."""
        u = self._unit
        return self._path.boundingRect().united(self._plate()).adjusted(-u, -u, u, u)

    def shape(self) -> QPainterPath:
        """Return a band around the curve, to click on."""
        from qgis.PyQt.QtGui import QPainterPathStroker

        stroker = QPainterPathStroker()
        stroker.setWidth(_NEAR * self._unit)
        return stroker.createStroke(self._path)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw the curve, and the label where the zoom lets one read it."""
        palette, u = self.palette, self._unit
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        text, base = (
            palette.color(QPalette.ColorRole.Text),
            ground(palette, QPalette.ColorRole.Base),
        )
        colour, width = mix(text, base, 0.5), _WIDTH * u
        if self._flows:
            colour = tone_colour(palette, Tone.RUNNING)
        if option.state & QStyle.StateFlag.State_Selected:
            colour, width = palette.color(QPalette.ColorRole.Highlight), 0.2 * u
        pen = QPen(colour, width)
        if not self.key.port:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path)
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        if self._label and zoom >= measure.FULL:
            plate = self._plate()
            painter.setPen(QPen(line(palette), 1))
            painter.setBrush(base)
            painter.drawRoundedRect(plate, plate.height() / 2, plate.height() / 2)
            painter.setPen(text)
            painter.setFont(self._font)
            painter.drawText(plate, flags(Qt.AlignmentFlag.AlignCenter), self._label)

    def _plate(self) -> QRectF:
        if not self._label:
            return QRectF(self._middle, self._middle)
        metrics = QFontMetricsF(self._font)
        width = metrics.horizontalAdvance(self._label) + self._unit
        plate = QRectF(0, 0, width, metrics.height() + 0.2 * self._unit)
        plate.moveCenter(self._middle)
        return plate


def _curve(path: QPainterPath, start: QPointF, end: QPointF, unit: float) -> None:
    reach = max(abs(end.x() - start.x()) / 2, 2.5 * unit)
    path.cubicTo(QPointF(start.x() + reach, start.y()), QPointF(end.x() - reach, end.y()), end)
