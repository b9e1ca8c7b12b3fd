# SPDX-License-Identifier: GPL-2.0-or-later
"""The pill of a project layer on the canvas: name, count and CRS, with one output."""

from __future__ import annotations

from qgis.PyQt.QtCore import QPointF, QRectF, Qt
from qgis.PyQt.QtGui import QFont, QPainter, QPainterPath, QPalette, QPen
from qgis.PyQt.QtWidgets import QGraphicsItem, QStyle, QStyleOptionGraphicsItem, QWidget

from ...tools.base import LayerProfile
from ..number import number, plain_tip
from ..palette import Tone, agent_colour, ground, line, mix, muted, tone_colour
from . import measure
from .measure import elided, flags, scaled
from .port import paint_port


class LayerItem(QGraphicsItem):
    """A layer that steps take; `profile` is None where the project has no such layer."""

    def __init__(
        self,
        name: str,
        profile: LayerProfile | None,
        unit: float,
        font: QFont,
        palette: QPalette,
    ) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setZValue(2)
        self.name, self._profile = name, profile
        self.unit, self.palette, self._font = unit, palette, scaled(font, 1.0)
        self.setToolTip(plain_tip(name))

    def show(self, profile: LayerProfile | None) -> None:
        """Show what is known of the layer now."""
        if profile != self._profile:
            self._profile = profile
            self.update()

    @property
    def words(self) -> str:
        """What it says, for screen readers."""
        return ", ".join(one for one in (self.name, self._about()) if one)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in em."""
        return measure.PILL_WIDTH, measure.PILL_HEIGHT

    @property
    def family(self) -> str:
        """The kind of its data, "" where the layer is not there."""
        return self._profile.family.value if self._profile else ""

    def output(self) -> QPointF:
        """Return the place of the output port in the scene."""
        u = self.unit
        return self.mapToScene(QPointF(measure.PILL_WIDTH * u, measure.PILL_HEIGHT * u / 2))

    def is_at_output(self, point: QPointF) -> bool:
        """Tell whether a place in the scene is at the output port."""
        away = point - self.output()
        return max(abs(away.x()), abs(away.y())) <= measure.HIT * self.unit

    def boundingRect(self) -> QRectF:
        """Return the pill with its port and frame."""
        u = self.unit
        width, height = measure.PILL_WIDTH + 2, measure.PILL_HEIGHT + 1
        return QRectF(-u, -0.5 * u, width * u, height * u)

    def shape(self) -> QPainterPath:
        """Return the pill alone."""
        path = QPainterPath()
        path.addRoundedRect(self._box(), self._box().height() / 2, self._box().height() / 2)
        return path

    def _box(self) -> QRectF:
        return QRectF(0, 0, measure.PILL_WIDTH * self.unit, measure.PILL_HEIGHT * self.unit)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw the pill."""
        u, palette = self.unit, self.palette
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self._box()
        base = ground(palette, QPalette.ColorRole.Base)
        missing = self._profile is None
        edge = tone_colour(palette, Tone.FAILED) if missing else line(palette)
        if option.state & QStyle.StateFlag.State_Selected:
            edge = palette.color(QPalette.ColorRole.Highlight)
        pen = QPen(edge, 0.12 * u)
        pen.setStyle(Qt.PenStyle.DashLine if missing else Qt.PenStyle.SolidLine)
        painter.setPen(pen)
        painter.setBrush(mix(base, agent_colour(palette, "data"), 0.16))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        if zoom >= measure.SIMPLE:
            self._texts(painter, box)
        paint_port(painter, self.mapFromScene(self.output()), self.family, u, palette)

    def _texts(self, painter: QPainter, box: QRectF) -> None:
        u = self.unit
        inner = box.adjusted(1.6 * u, 0.55 * u, -1.2 * u, -0.55 * u)
        bold, small = scaled(self._font, 1.0, bold=True), scaled(self._font, 0.85)
        painter.setFont(bold)
        painter.setPen(self.palette.color(QPalette.ColorRole.Text))
        upper = QRectF(inner.left(), inner.top(), inner.width(), inner.height() / 2)
        where = flags(Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(upper, where, elided(self.name, bold, upper.width()))
        painter.setFont(small)
        painter.setPen(muted(self.palette))
        lower = upper.translated(0, inner.height() / 2)
        painter.drawText(lower, where, elided(self._about(), small, lower.width()))

    def _about(self) -> str:
        profile = self._profile
        if profile is None:
            return self.scene().tr("not in this project") if self.scene() else ""
        count = number(profile.features) if profile.features >= 0 else profile.geometry
        return " · ".join(one for one in (count, profile.crs) if one)
