# SPDX-License-Identifier: GPL-2.0-or-later
"""A link on the canvas: a curve from an output to an input, in lanes where steps stand between,
with what flows through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qgis.PyQt.QtCore import QPointF, QRectF, Qt
from qgis.PyQt.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPalette,
    QPen,
)
from qgis.PyQt.QtWidgets import (
    QGraphicsItem,
    QGraphicsSceneHoverEvent,
    QStyle,
    QStyleOptionGraphicsItem,
    QWidget,
)

from ...plugin.workflow.value import Layer, Output
from ..icon import FAMILIES, theme_icon
from ..number import plain_tip
from ..palette import Tone, ground, line, mix, on_colour, tone_colour
from . import measure
from .measure import flags, scaled

_WIDTH, _NEAR, _PLUS, _ICON, _BULGE = 0.13, 0.9, 0.8, 0.95, 3.3
Lane = tuple[float, float, float]
"""Where a straight stretch begins and ends, and its height, in pixels."""


@dataclass(frozen=True)
class LinkKey:
    """What a link joins: a layer or a step's output, and the port of a step; without `port` the
    step only waits."""

    source: Layer | Output
    target: str
    port: str = ""


@dataclass(frozen=True)
class Flowing:
    """What a link says: the kind of what flows and how many, whether it flows now, and all of it in
    words."""

    family: str = ""
    count: str = ""
    flows: bool = False
    words: str = ""


class LinkItem(QGraphicsItem):
    """A link; it never changes the graph. `lit` is set while a step is held over it."""

    def __init__(self, key: LinkKey, unit: float, font: QFont, palette: QPalette) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setAcceptHoverEvents(True)
        self.setZValue(1)
        self.key, self._unit, self.palette = key, unit, palette
        self._font = scaled(font, 0.8)
        self._path, self._says = QPainterPath(), Flowing()
        self._middle, self._room = QPointF(), 0.0
        self._band: QPainterPath | None = None
        self.ends: tuple[QPointF, QPointF] | None = None
        """Where it begins and ends, in the scene."""
        self._bounds, self._plate = QRectF(), QRectF()
        self.lit = self._is_hovered = False

    @property
    def label(self) -> str:
        """What stands on the link."""
        return self._says.count

    @property
    def words(self) -> str:
        """All that it says, for tool tips and screen readers."""
        return self._says.words

    def lay(self, start: QPointF, end: QPointF, lanes: Sequence[Lane] = ()) -> None:
        """Draw from a place to another, through lanes."""
        self.prepareGeometryChange()
        path, here = QPainterPath(start), start
        for left, right, y in lanes:
            _curve(path, here, QPointF(left, y), self._unit, right < left)
            here = QPointF(right, y)
            path.lineTo(here)
        _curve(path, here, end, self._unit, bool(lanes) and lanes[-1][1] < lanes[-1][0])
        self._path, self._band = path, None
        self._room = max(abs(end.x() - start.x()), (end - start).manhattanLength() / 2)
        self._middle = path.pointAtPercent(0.5)
        if lanes:
            left, right, y = max(lanes, key=lambda one: abs(one[1] - one[0]))
            self._middle = QPointF((left + right) / 2, y)
        self.ends = (start, end)
        self._measure()
        self.update()

    def tell(self, says: Flowing) -> None:
        """Say what flows."""
        if says != self._says:
            self.prepareGeometryChange()
            self._says = says
            self._measure()
            self.setToolTip(plain_tip(says.words))
            self.update()

    def light(self, lit: bool) -> None:
        """Show that what is held would be put in here."""
        if lit != self.lit:
            self.lit = lit
            self.update()

    def middle(self) -> QPointF:
        """Return the place of the label and of the plus, in the scene."""
        return QPointF(self._middle)

    def is_at_plus(self, point: QPointF) -> bool:
        """Tell whether a place is at the plus, which is there while the pointer is on the link."""
        away = point - self._middle
        shown = self._is_hovered and bool(self.key.port)
        return shown and max(abs(away.x()), abs(away.y())) <= _PLUS * self._unit

    def boundingRect(self) -> QRectF:
        """Return the curve with its label."""
        return self._bounds

    def shape(self) -> QPainterPath:
        """Return a band around the curve, to click on, with the label."""
        if self._band is None:
            stroker = QPainterPathStroker()
            stroker.setWidth(_NEAR * self._unit)
            self._band = stroker.createStroke(self._path)
            self._band.addRect(self._plus())
        return self._band

    def hoverEnterEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        """Come to the front."""
        self._hover(True)

    def hoverLeaveEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        """Go back."""
        self._hover(False)

    def _hover(self, on: bool) -> None:
        self._is_hovered = on
        self.rise()
        self.update()

    def rise(self) -> None:
        """Come to the front while it is selected or under the pointer."""
        self.setZValue(1.5 if self._is_hovered or self.isSelected() else 1)

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
        if self._says.flows or self._is_hovered:
            colour = tone_colour(palette, Tone.RUNNING)
        if option.state & QStyle.StateFlag.State_Selected:
            colour, width = palette.color(QPalette.ColorRole.Highlight), 0.2 * u
        if self.lit:
            colour, width = tone_colour(palette, Tone.RUNNING), 0.35 * u
        pen = QPen(colour, width)
        if not self.key.port:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path)
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        if self.lit or (self._is_hovered and self.key.port):
            self._paint_plus(painter)
        elif zoom >= measure.FULL and self._plate.width() + 2 * measure.PORT * u <= self._room:
            self._paint_plate(painter)

    def _paint_plate(self, painter: QPainter) -> None:
        palette, u = self.palette, self._unit
        plate = self._plate
        if plate.isEmpty():
            return
        painter.setPen(QPen(line(palette), 1))
        painter.setBrush(ground(palette, QPalette.ColorRole.Base))
        painter.drawRoundedRect(plate, plate.height() / 2, plate.height() / 2)
        inner = plate.adjusted(0.4 * u, 0, -0.4 * u, 0)
        if self._says.family:
            side = _ICON * u
            spot = QRectF(inner.left(), inner.center().y() - side / 2, side, side)
            icon = theme_icon(FAMILIES.get(self._says.family, "mIconVector"))
            icon.paint(painter, spot.toAlignedRect())
            inner.setLeft(spot.right() + 0.2 * u)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        painter.setFont(self._font)
        painter.drawText(inner, flags(Qt.AlignmentFlag.AlignCenter), self._says.count)

    def _paint_plus(self, painter: QPainter) -> None:
        palette, u = self.palette, self._unit
        disc = self._plus()
        colour = tone_colour(palette, Tone.RUNNING)
        painter.setPen(QPen(colour, 0.12 * u))
        painter.setBrush(colour if self.lit else ground(palette, QPalette.ColorRole.Base))
        painter.drawEllipse(disc)
        painter.setPen(QPen(on_colour(palette) if self.lit else colour, 0.15 * u))
        reach, middle = 0.4 * u, disc.center()
        painter.drawLine(middle - QPointF(reach, 0), middle + QPointF(reach, 0))
        painter.drawLine(middle - QPointF(0, reach), middle + QPointF(0, reach))

    def _plus(self) -> QRectF:
        disc = QRectF(0, 0, 2 * _PLUS * self._unit, 2 * _PLUS * self._unit)
        disc.moveCenter(self._middle)
        return disc

    def _measure(self) -> None:
        """Find out how large the label and all of the link are."""
        u = self._unit
        self._plate = self._label_box()
        box = self._path.boundingRect().united(self._plate)
        self._bounds = box.united(self._plus()).adjusted(-u, -u, u, u)

    def _label_box(self) -> QRectF:
        says, u = self._says, self._unit
        if not (says.count or says.family):
            return QRectF(self._middle, self._middle)
        metrics = QFontMetricsF(self._font)
        width = 0.8 * u + (metrics.horizontalAdvance(says.count) if says.count else 0)
        if says.family:
            width += (_ICON + (0.2 if says.count else 0)) * u
        plate = QRectF(0, 0, width, max(metrics.height(), _ICON * u) + 0.2 * u)
        plate.moveCenter(self._middle)
        return plate


def _curve(path: QPainterPath, start: QPointF, end: QPointF, unit: float, turns: bool) -> None:
    """Draw to a place; a link that turns to run the other way bulges out."""
    if turns:
        leaves = path.elementCount() == 1
        reach = QPointF(_BULGE * unit if leaves else -_BULGE * unit, 0)
        path.cubicTo(start + reach, end + reach, end)
        return
    reach = max(abs(end.x() - start.x()) / 2, 2.5 * unit)
    path.cubicTo(QPointF(start.x() + reach, start.y()), QPointF(end.x() - reach, end.y()), end)
