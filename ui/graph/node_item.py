# SPDX-License-Identifier: GPL-2.0-or-later
"""The node of a step on the canvas, painted from its card; what cannot be read is left out."""

from __future__ import annotations

from typing import Any

from qgis.PyQt.QtCore import QCoreApplication, QPointF, QRectF, Qt
from qgis.PyQt.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPalette, QPen
from qgis.PyQt.QtWidgets import (
    QGraphicsItem,
    QGraphicsSceneHoverEvent,
    QStyle,
    QStyleOptionGraphicsItem,
    QWidget,
)

from ..number import plain_tip
from ..palette import (
    Tone,
    agent_colour,
    ground,
    is_dark,
    line,
    mix,
    muted,
    on_colour,
    tint,
    tone_colour,
)
from ..state_shape import Shape, paint_shape
from . import measure
from .card import Card
from .document import Mark
from .measure import elided, flags, lines, scaled
from .port import paint_port

MARKS = {Mark.ADDED: Tone.DONE, Mark.REMOVED: Tone.FAILED, Mark.CHANGED: Tone.RUNNING}
_FRAMED = (Shape.RUNNING, Shape.FAILED, Shape.WAITING)
Port = tuple[str, QPointF]


class NodeItem(QGraphicsItem):
    """A node; its position is the left upper corner of its body. It never changes the graph."""

    def __init__(self, card: Card, unit: float, font: QFont, palette: QPalette) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsMovable)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsFocusable)
        self.setAcceptHoverEvents(True)
        self.setZValue(2)
        self.unit, self.palette = unit, palette
        self._font = scaled(font, 1.0)
        self.lit: frozenset[str] | None = None
        self.card = card
        self._measure()

    @property
    def key(self) -> str:
        """The step's id."""
        return self.card.key

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the body in em."""
        return measure.WIDTH, self._height

    def show(self, card: Card) -> None:
        """Show another state of the same step."""
        if card != self.card:
            self.prepareGeometryChange()
            self.card = card
            self._measure()
            self.update()

    def set_palette(self, palette: QPalette) -> None:
        """Take other colours."""
        self.palette = palette
        self.update()

    def inputs(self) -> list[Port]:
        """Return the input ports by parameter, with their places in the scene."""
        u = self.unit
        rows = enumerate(self.card.rows)
        return [
            (row.port, self.mapToScene(QPointF(0, (self._first + (at + 0.5) * measure.ROW) * u)))
            for at, row in rows
            if row.port
        ]

    def output(self) -> QPointF:
        """Return the place of the output port in the scene."""
        u = self.unit
        return self.mapToScene(QPointF(measure.WIDTH * u, (self._height - measure.FOOT / 2) * u))

    def input_at(self, point: QPointF) -> str:
        """Return the parameter of the row at a place in the scene, "" for none."""
        spot = self.mapFromScene(point)
        row = int((spot.y() / self.unit - self._first) // measure.ROW)
        inside = -measure.HIT * self.unit <= spot.x() <= measure.WIDTH * self.unit / 2
        if inside and 0 <= row < len(self.card.rows):
            return self.card.rows[row].port
        return ""

    def hoverMoveEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        """Tell of the port under the pointer, else of the step."""
        tip = plain_tip(self.tip_at(event.scenePos()))
        if tip != self.toolTip():
            self.setToolTip(tip)

    def tip_at(self, point: QPointF) -> str:
        """Return what there is to tell of a place in the scene: what a port takes or gives."""
        port = self.input_at(point)
        at_edge = self.mapFromScene(point).x() <= measure.HIT * self.unit
        row = next((one for one in self.card.rows if port and one.port == port), None)
        if row is not None and at_edge:
            text = QCoreApplication.translate("NodeItem", "{0} takes {1}")
            return text.replace("{0}", row.label).replace("{1}", row.takes)
        if self.is_at_output(point):
            text = QCoreApplication.translate("NodeItem", "Drag from here to the step that uses it")
            return f"{self.card.title}\n{text}"
        return self._tip()

    def is_at_output(self, point: QPointF) -> bool:
        """Tell whether a place in the scene is at the output port."""
        away = point - self.output()
        return max(abs(away.x()), abs(away.y())) <= measure.HIT * self.unit

    # -- Qt

    def boundingRect(self) -> QRectF:
        """Return the body with ports, tab and frame."""
        u = self.unit
        return QRectF(
            -u, -(measure.TAB + 0.5) * u, (measure.WIDTH + 2) * u,
            (self._height + measure.TAB + 1.2) * u,
        )  # fmt: skip

    def shape(self) -> QPainterPath:
        """Return the body with its ports."""
        path = QPainterPath()
        u = self.unit
        path.addRect(QRectF(-0.6 * u, 0, (measure.WIDTH + 1.2) * u, self._height * u))
        return path

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw as much as the zoom lets one read."""
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.card.is_bypassed:
            painter.setOpacity(0.62)
        self._body(painter, bool(option.state & QStyle.StateFlag.State_Selected))
        if zoom >= measure.FULL:
            self._texts(painter)
        elif zoom >= measure.SIMPLE:
            self._title_only(painter, zoom)
        else:
            side = min(self._height, measure.WIDTH) * 0.6 * self.unit
            middle = QPointF(measure.WIDTH * self.unit / 2, self._height * self.unit / 2)
            box = QRectF(0, 0, side, side)
            box.moveCenter(middle)
            paint_shape(painter, box, self.card.shape, self.palette)
            return
        self._marks(painter)

    def part_at(self, place: QPointF) -> str:
        """Return what stands at a place of the scene: "title", "objective" or "parameters"."""
        if self.objective_box().contains(place):
            return "objective"
        in_header = self.mapFromScene(place).y() < measure.HEADER * self.unit
        return "title" if in_header else "parameters"

    def objective_box(self) -> QRectF:
        """Return where the objective stands in the scene."""
        u = self.unit
        top = (measure.HEADER + 0.35 + measure.LINE) * u
        left = (measure.BAND + measure.PAD) * u
        width = measure.WIDTH * u - left - measure.PAD * u
        height = len(self._objective) * measure.LINE * u
        return self.mapRectToScene(QRectF(left, top, width, height))

    # -- parts

    def _measure(self) -> None:
        card = self.card
        width = (measure.WIDTH - measure.BAND - 2 * measure.PAD) * self.unit
        self._objective = lines(card.objective, self._objective_font(), width, 2)
        message = lines(card.message, scaled(self._font, 0.85), width, 2) if card.message else []
        self._message = message
        top = measure.HEADER + 0.35 + measure.LINE * (1 + len(self._objective)) + 0.5
        self._first = top
        rows = len(card.rows) + (1 if card.more else 0)
        below = (len(message) * measure.LINE + 0.5) if message else 0.3
        self._height = top + rows * measure.ROW + below + measure.FOOT
        self.setToolTip(plain_tip(self._tip()))

    def _objective_font(self) -> QFont:
        return scaled(self._font, 0.92, italic=self.card.is_abstract)

    def _tip(self) -> str:
        return "\n".join(one for one in (self.card.title, self.card.objective) if one)

    def _colour(self) -> QColor:
        return agent_colour(self.palette, self.card.agent)

    def _body(self, painter: QPainter, selected: bool) -> None:
        u, palette = self.unit, self.palette
        body = QRectF(0, 0, measure.WIDTH * u, self._height * u)
        base = ground(palette, QPalette.ColorRole.Base)
        framed = self.card.shape in _FRAMED
        colour = tone_colour(palette, self.card.shape.tone) if framed else line(palette)
        pen = QPen(colour, 0.12 * u if framed else 1)
        if self.card.is_abstract or self.card.is_bypassed:
            pen.setStyle(Qt.PenStyle.DashLine)
        if selected:
            highlight = palette.color(QPalette.ColorRole.Highlight)
            painter.setPen(QPen(highlight, 0.15 * u))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(-0.25 * u, -0.25 * u, 0.25 * u, 0.25 * u), 4, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(base)
        painter.drawRoundedRect(body, 3, 3)
        share = 0.24 if is_dark(palette) else 0.14
        head = QRectF(0, 0, measure.WIDTH * u, measure.HEADER * u)
        painter.fillRect(head, mix(base, self._colour(), share))
        foot = QRectF(0, (self._height - measure.FOOT) * u, measure.WIDTH * u, measure.FOOT * u)
        painter.fillRect(foot, mix(base, palette.color(QPalette.ColorRole.Text), 0.05))
        painter.fillRect(QRectF(0, 0, measure.BAND * u, self._height * u), self._colour())
        if 0 <= self.card.percent < 100 and self.card.shape is Shape.RUNNING:
            done = measure.WIDTH * u * self.card.percent / 100
            bar = QRectF(0, (self._height - 0.3) * u, done, 0.3 * u)
            painter.fillRect(bar, tone_colour(palette, Tone.RUNNING))
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(body, 3, 3)

    def _texts(self, painter: QPainter) -> None:
        u, card = self.unit, self.card
        left = (measure.BAND + measure.PAD) * u
        width = measure.WIDTH * u - left - measure.PAD * u
        text = self.palette.color(QPalette.ColorRole.Text)
        faint = muted(self.palette)
        bold, small = scaled(self._font, 1.0, bold=True), scaled(self._font, 0.85)
        header = QRectF(left, 0, width - 1.6 * u, measure.HEADER * u)
        self._say(painter, header, card.title, bold, text)
        y = (measure.HEADER + 0.35) * u
        self._say(painter, QRectF(left, y, width, measure.LINE * u), card.subtitle, small, faint)
        for one in self._objective:
            y += measure.LINE * u
            box = QRectF(left, y, width, measure.LINE * u)
            self._say(painter, box, one, self._objective_font(), text)
        y = (self._first - 0.25) * u
        painter.setPen(QPen(line(self.palette), 1))
        painter.drawLine(QPointF(left, y), QPointF(left + width, y))
        y = self._first * u
        for row in card.rows:
            box = QRectF(left, y, width, measure.ROW * u)
            self._say(painter, QRectF(left, y, width * 0.45, box.height()), row.label, small, faint)
            right = QRectF(left + width * 0.45, y, width * 0.55, box.height())
            self._say(painter, right, row.text, small, text, Qt.AlignmentFlag.AlignRight)
            y += measure.ROW * u
        if card.more:
            more = f"+{card.more}"
            self._say(painter, QRectF(left, y, width, measure.ROW * u), more, small, faint)
            y += measure.ROW * u
        if self._message:
            box = QRectF(left, y, width, (len(self._message) * measure.LINE + 0.3) * u)
            painter.fillRect(box, tint(self.palette, Tone.FAILED))
            for one in self._message:
                row_box = QRectF(left + 0.3 * u, y, width, measure.LINE * u)
                self._say(painter, row_box, one, small, tone_colour(self.palette, Tone.FAILED))
                y += measure.LINE * u
        self._foot(painter, left, width, small)

    def _foot(self, painter: QPainter, left: float, width: float, font: QFont) -> None:
        u, card = self.unit, self.card
        top = (self._height - measure.FOOT) * u
        box = QRectF(left, top, width, measure.FOOT * u)
        tone = card.shape.tone
        colour = muted(self.palette) if tone is Tone.NEUTRAL else tone_colour(self.palette, tone)
        self._say(painter, box, card.foot, font, colour)
        text = self.palette.color(QPalette.ColorRole.Text)
        right = box.adjusted(0, 0, -0.6 * u, 0)
        self._say(painter, right, card.count, font, text, Qt.AlignmentFlag.AlignRight)

    def _title_only(self, painter: QPainter, zoom: float) -> None:
        """Draw the title in two lines that can be read at a small zoom."""
        u = self.unit
        font = scaled(self._font, min(0.95 / zoom, 2.0), bold=True)
        left = (measure.BAND + measure.PAD) * u
        width = (measure.WIDTH - measure.BAND - 2 * measure.PAD) * u
        said = lines(self.card.title, font, width, 2)
        height = QFontMetricsF(font).height()
        y = measure.HEADER * u + (self._height - measure.HEADER - measure.FOOT) * u / 2
        y -= height * len(said) / 2
        colour = self.palette.color(QPalette.ColorRole.Text)
        for one in said:
            self._say(painter, QRectF(left, y, width, height), one, font, colour)
            y += height

    def _marks(self, painter: QPainter) -> None:
        """Draw the state, the tab of the checks, the review mark and the ports."""
        u, card, palette = self.unit, self.card, self.palette
        side = measure.MARK * u
        right = measure.WIDTH * u - 0.45 * u - side
        box = QRectF(right, (measure.HEADER * u - side) / 2, side, side)
        paint_shape(painter, box, card.shape, palette)
        if card.check is not None:
            self._tab(painter, card.check, card.checks)
        if card.mark is not None:
            self._proposal(painter, card.mark)
        if card.is_review:
            mark = QRectF(0, 0, 1.25 * u, 1.25 * u)
            mark.moveCenter(QPointF(measure.WIDTH * u, 0))
            paint_shape(painter, mark, Shape.WAITING, palette)
        rows = {row.port: row for row in card.rows}
        for name, place in self.inputs():
            faded = self.lit is not None and name not in self.lit
            lit = self.lit is not None and name in self.lit
            spot, row = self.mapFromScene(place), rows[name]
            paint_port(painter, spot, row.family, u, palette, lit, faded, row.is_missing)
        spot = self.mapFromScene(self.output())
        paint_port(painter, spot, card.family, u, palette, False, self.lit is not None)

    def _proposal(self, painter: QPainter, mark: Mark) -> None:
        """Draw the sign of a proposed change over the left upper corner: plus, minus or a wave."""
        u, palette = self.unit, self.palette
        tone = MARKS[mark]
        colour = tone_colour(palette, tone)
        box = QRectF(0, -measure.TAB * u, measure.TAB * u, measure.TAB * u)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(box, 3, 3)
        on = QPen(on_colour(palette), 0.18 * u)
        on.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(on)
        middle, reach = box.center(), 0.4 * u
        if mark is Mark.CHANGED:
            wave = QPainterPath(middle + QPointF(-reach, 0))
            wave.cubicTo(middle + QPointF(-reach / 3, -reach * 1.4),
                         middle + QPointF(reach / 3, reach * 1.4),
                         middle + QPointF(reach, 0))  # fmt: skip
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(wave)
        else:
            painter.drawLine(middle - QPointF(reach, 0), middle + QPointF(reach, 0))
        if mark is Mark.ADDED:
            painter.drawLine(middle - QPointF(0, reach), middle + QPointF(0, reach))
        frame_pen = QPen(colour, 0.15 * u)
        if mark is Mark.REMOVED:
            frame_pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(frame_pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(0, 0, measure.WIDTH * u, self._height * u), 3, 3)

    def _tab(self, painter: QPainter, shape: Shape, count: int) -> None:
        u, palette = self.unit, self.palette
        width = 2.8 * u
        box = QRectF(measure.WIDTH * u - width - 0.8 * u, -measure.TAB * u, width, measure.TAB * u)
        tone = shape.tone
        painter.setPen(QPen(tone_colour(palette, tone), 1))
        painter.setBrush(tint(palette, tone))
        path = QPainterPath()
        path.addRoundedRect(box.adjusted(0, 0, 0, 3), 3, 3)
        painter.save()
        painter.setClipRect(box)
        painter.drawPath(path)
        painter.restore()
        side = u * 0.95
        mark = QRectF(box.left() + 0.35 * u, box.center().y() - side / 2, side, side)
        paint_shape(painter, mark, shape, palette)
        text = QRectF(mark.right() + 0.25 * u, box.top(), u * 1.1, box.height())
        colour = palette.color(QPalette.ColorRole.Text)
        self._say(painter, text, str(count), scaled(self._font, 0.85), colour)

    def _say(
        self,
        painter: QPainter,
        box: QRectF,
        text: str,
        font: QFont,
        colour: QColor,
        side: Any = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        if not text:
            return
        painter.setFont(font)
        painter.setPen(colour)
        painter.drawText(
            box, flags(side, Qt.AlignmentFlag.AlignVCenter), elided(text, font, box.width())
        )
