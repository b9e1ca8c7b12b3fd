# SPDX-License-Identifier: GPL-2.0-or-later
"""The marks of ports, one for each kind of data, told by shape and never by colour alone."""

from __future__ import annotations

from qgis.PyQt.QtCore import QPointF, QRectF, Qt
from qgis.PyQt.QtGui import QPainter, QPalette, QPen, QPolygonF

from ..palette import Tone, ground, mix, tone_colour
from .measure import PORT


def paint_port(
    painter: QPainter,
    middle: QPointF,
    family: str,
    unit: float,
    palette: QPalette,
    lit: bool = False,
    faded: bool = False,
    missing: bool = False,
) -> None:
    """Draw a port: points, lines, polygons, raster, table, else anything; one that needs a layer
    and has none is drawn in the colour of errors."""
    painter.save()
    painter.setOpacity(painter.opacity() * (0.42 if faded else 1.0))
    text, base = palette.color(QPalette.ColorRole.Text), ground(palette, QPalette.ColorRole.Base)
    colour = tone_colour(palette, Tone.RUNNING) if lit else mix(text, base, 0.35)
    if missing and not lit:
        colour = tone_colour(palette, Tone.FAILED)
    half = PORT * unit * (1.33 if lit else 1.0)
    painter.setPen(QPen(colour, 0.12 * unit))
    painter.setBrush(base)
    box = QRectF(middle.x() - half, middle.y() - half, 2 * half, 2 * half)
    if family.endswith("polygon") or family in ("raster", "table"):
        painter.drawRoundedRect(box, 2, 2)
        _inside(painter, box, family, colour)
    elif family in ("text", "number"):
        corners = (0, -half), (half, 0), (0, half), (-half, 0)
        painter.drawPolygon(QPolygonF([middle + QPointF(x, y) for x, y in corners]))
    else:
        painter.drawEllipse(box)
        _inside(painter, box, family, colour)
    painter.restore()


def _inside(painter: QPainter, box: QRectF, family: str, colour: object) -> None:
    middle, third = box.center(), box.width() / 3
    if family == "raster":
        painter.drawLine(QPointF(middle.x(), box.top()), QPointF(middle.x(), box.bottom()))
        painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()))
    elif family == "table":
        for at in (1, 2):
            y = box.top() + at * third
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
    elif family.endswith("line"):
        painter.drawLine(
            box.bottomLeft() + QPointF(third, -third), box.topRight() + QPointF(-third, third)
        )
    elif family not in ("", "any", "vector"):
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        dot = QRectF(0, 0, third * 1.1, third * 1.1)
        dot.moveCenter(middle)
        painter.drawRect(dot) if family.endswith("polygon") else painter.drawEllipse(dot)
