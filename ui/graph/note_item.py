# SPDX-License-Identifier: GPL-2.0-or-later
"""A note on the canvas: words of the user, in a colour, as large as the user made it."""

from __future__ import annotations

from qgis.PyQt.QtCore import QCoreApplication, QPointF, QRectF, Qt
from qgis.PyQt.QtGui import QFont, QPainter, QPainterPath, QPalette, QPen
from qgis.PyQt.QtWidgets import QGraphicsItem, QStyle, QStyleOptionGraphicsItem, QWidget

from ...plugin.workflow.graph import Note
from ..number import plain_tip
from ..palette import muted
from . import measure
from .measure import flags, scaled
from .tone import edge_colour, fill_colour, full_colour

WIDTH, HEIGHT, LEAST = 14.0, 5.0, 3.0
"""The size of a new note, and the least side of any, in em."""
_CORNER, _PAD = 1.2, 0.7


class NoteItem(QGraphicsItem):
    """A note; its position is its left upper corner. It never changes the graph."""

    def __init__(self, at: int, note: Note, unit: float, font: QFont, look: QPalette) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setZValue(0.5)
        self.at, self.note, self.unit, self.palette = at, note, unit, look
        self._font = scaled(font, 1.0)
        self.size = note.area[2:]
        self.show(note)

    @property
    def words(self) -> str:
        """What it says, for screen readers."""
        return self.note.text

    def show(self, note: Note) -> None:
        """Show another text, place, size or colour."""
        self.prepareGeometryChange()
        self.note = note
        x, y, width, height = note.area
        self.size = (max(width, LEAST), max(height, LEAST))
        self.setPos(x * self.unit, y * self.unit)
        self.setToolTip(plain_tip(note.text))
        self.update()

    def stretch(self, width: float, height: float) -> None:
        """Be of another size while a corner is dragged, in em."""
        self.prepareGeometryChange()
        self.size = (max(width, LEAST), max(height, LEAST))
        self.update()

    def body(self) -> QRectF:
        """Return the note in the scene."""
        u = self.unit
        return QRectF(self.x(), self.y(), self.size[0] * u, self.size[1] * u)

    def is_at_corner(self, point: QPointF) -> bool:
        """Tell whether a place in the scene is at the corner by which it is made larger."""
        away = self.body().bottomRight() - point
        reach = _CORNER * self.unit
        return 0 <= away.x() <= reach and 0 <= away.y() <= reach

    # -- Qt

    def boundingRect(self) -> QRectF:
        """Return the note with its ring."""
        u = self.unit
        return QRectF(0, 0, self.size[0] * u, self.size[1] * u).adjusted(-u, -u, u, u)

    def shape(self) -> QPainterPath:
        """Return the note alone."""
        path = QPainterPath()
        path.addRect(QRectF(0, 0, self.size[0] * self.unit, self.size[1] * self.unit))
        return path

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw the note."""
        u, look, colour = self.unit, self.palette, self.note.color or "warning"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        body = QRectF(0, 0, self.size[0] * u, self.size[1] * u)
        edge, width = edge_colour(look, colour), 1.0
        if option.state & QStyle.StateFlag.State_Selected:
            edge, width = look.color(QPalette.ColorRole.Highlight), 0.15 * u
        painter.setPen(QPen(edge, width))
        painter.setBrush(fill_colour(look, colour, 0.13))
        painter.drawRoundedRect(body, 3, 3)
        band = QRectF(0, 0, measure.BAND * u, body.height())
        painter.fillRect(band, full_colour(look, colour))
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        if zoom < measure.SIMPLE:
            return
        text = body.adjusted((measure.BAND + _PAD) * u, _PAD * u / 2, -_PAD * u, -_PAD * u / 2)
        painter.setFont(self._font)
        empty = not self.note.text.strip()
        painter.setPen(muted(look) if empty else look.color(QPalette.ColorRole.Text))
        said = QCoreApplication.translate("NoteItem", "Empty note") if empty else self.note.text
        painter.drawText(text, flags(Qt.AlignmentFlag.AlignTop, Qt.TextFlag.TextWordWrap), said)
        painter.setPen(QPen(edge_colour(look, colour), 0.1 * u))
        for reach in (0.35, 0.75):
            corner = body.bottomRight() - QPointF(0.25 * u, 0.25 * u)
            painter.drawLine(corner - QPointF(reach * u, 0), corner - QPointF(0, reach * u))
