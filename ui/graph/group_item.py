# SPDX-License-Identifier: GPL-2.0-or-later
"""The frame of a group on the canvas: a title over its steps, or alone where it is collapsed."""

from __future__ import annotations

from dataclasses import dataclass

from qgis.PyQt.QtCore import QPointF, QRectF, Qt
from qgis.PyQt.QtGui import QFont, QPainter, QPainterPath, QPalette, QPen, QPolygonF
from qgis.PyQt.QtWidgets import QGraphicsItem, QStyle, QStyleOptionGraphicsItem, QWidget

from ...plugin.workflow.graph import Group
from ..number import plain_tip
from ..palette import muted
from ..state_shape import Shape, paint_shape
from . import measure
from .measure import elided, flags, scaled
from .tone import edge_colour, fill_colour, full_colour

TITLE, ROOM, HEIGHT = 1.9, 1.0, 4.0
"""The height of the title, the room about the steps, and the height of a collapsed group, in em."""
MARGINS = (ROOM, TITLE + ROOM * 0.6 + measure.TAB, ROOM, ROOM)
"""What a frame takes more than its steps: left, top, right and bottom, in em."""
_MARK = 1.7


@dataclass(frozen=True)
class GroupCard:
    """What a frame says: how many steps there are and how far they are."""

    group: Group
    about: str
    shape: Shape


class GroupItem(QGraphicsItem):
    """A frame; its position is its left upper corner. Only its title can be taken hold of."""

    def __init__(self, at: int, card: GroupCard, unit: float, font: QFont, look: QPalette) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.at, self.card, self.unit, self.palette = at, card, unit, look
        self._font = scaled(font, 1.0)
        self._area = (measure.WIDTH, HEIGHT)
        self.is_target = False
        self.settle()

    @property
    def is_collapsed(self) -> bool:
        """Whether only the title is seen."""
        return self.card.group.collapsed

    @property
    def words(self) -> str:
        """What it says, for screen readers."""
        return f"{self.card.group.title}, {self.card.about}"

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in em."""
        return self._area

    def show(self, card: GroupCard) -> None:
        """Show another state of the group."""
        if card != self.card:
            self.prepareGeometryChange()
            self.card = card
            self.settle()
            self.update()

    def settle(self) -> None:
        """Stand before links where collapsed, else behind everything."""
        self.setZValue(2 if self.is_collapsed else 0)
        self.setToolTip(plain_tip(f"{self.card.group.title}\n{self.card.about}"))
        if self.is_collapsed:
            self._area = (measure.WIDTH, HEIGHT)

    def frame(self, boxes: list[QRectF]) -> None:
        """Fit about the boxes of its steps, in the scene; if collapsed, stand at their corner."""
        whole = QRectF()
        for box in boxes:
            whole = whole.united(box)
        u = self.unit
        self.prepareGeometryChange()
        if self.is_collapsed:
            self.setPos(whole.topLeft())
            return
        left, top, right, bottom = MARGINS
        self.setPos(whole.left() - left * u, whole.top() - top * u)
        self._area = (whole.width() / u + left + right, whole.height() / u + top + bottom)

    def body(self) -> QRectF:
        """Return the frame in the scene."""
        u = self.unit
        return QRectF(self.x(), self.y(), self._area[0] * u, self._area[1] * u)

    def input(self) -> QPointF:
        """Return where links end that lead to a step inside, in the scene."""
        return self.mapToScene(QPointF(0, self._area[1] * self.unit / 2))

    def output(self) -> QPointF:
        """Return where links begin that come from a step inside, in the scene."""
        return self.mapToScene(QPointF(self._area[0] * self.unit, self._area[1] * self.unit / 2))

    def is_at_mark(self, point: QPointF) -> bool:
        """Tell whether a place in the scene is at the mark that folds the group."""
        spot = self.mapFromScene(point) / self.unit
        return 0 <= spot.x() <= _MARK and 0 <= spot.y() <= TITLE

    def title_box(self) -> QRectF:
        """Return where the title stands, in the scene."""
        u = self.unit
        return QRectF(self.x() + _MARK * u, self.y(), (self._area[0] - _MARK) * u, TITLE * u)

    # -- Qt

    def boundingRect(self) -> QRectF:
        """Return the frame with its ring."""
        u = self.unit
        return QRectF(-u, -u, (self._area[0] + 2) * u, (self._area[1] + 2) * u)

    def shape(self) -> QPainterPath:
        """Return the title, and all of a collapsed group, to take hold of."""
        path = QPainterPath()
        u = self.unit
        height = self._area[1] if self.is_collapsed else TITLE
        path.addRect(QRectF(0, 0, self._area[0] * u, height * u))
        return path

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw the frame, its title and its fold mark."""
        u, look, group = self.unit, self.palette, self.card.group
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        body = QRectF(0, 0, self._area[0] * u, self._area[1] * u)
        radius = 0.45 * u
        share = 0.14 if self.is_collapsed else 0.07
        edge = edge_colour(look, group.color)
        width = 0.12 * u if self.is_collapsed else 1.0
        if option.state & QStyle.StateFlag.State_Selected:
            edge, width = look.color(QPalette.ColorRole.Highlight), 0.15 * u
        if self.is_target:
            edge, width = full_colour(look, "running"), 0.2 * u
        painter.setPen(QPen(edge, width))
        painter.setBrush(fill_colour(look, group.color, share))
        painter.drawRoundedRect(body, radius, radius)
        title = QRectF(0, 0, body.width(), TITLE * u)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill_colour(look, group.color, 0.2))
        inner = title.adjusted(width / 2, width / 2, -width / 2, 0)
        painter.drawRoundedRect(inner, radius, radius)
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        self._mark(painter, title)
        if zoom >= measure.SIMPLE:
            self._texts(painter, title, zoom)

    def _mark(self, painter: QPainter, title: QRectF) -> None:
        u = self.unit
        middle, reach = QPointF(_MARK * u / 2, title.center().y()), 0.35 * u
        points = [(-reach, -reach / 2), (reach, -reach / 2), (0, reach * 0.7)]
        if self.is_collapsed:
            points = [(-reach / 2, -reach), (-reach / 2, reach), (reach * 0.7, 0)]
        painter.setBrush(self.palette.color(QPalette.ColorRole.Text))
        painter.drawPolygon(QPolygonF([middle + QPointF(x, y) for x, y in points]))

    def _texts(self, painter: QPainter, title: QRectF, zoom: float) -> None:
        u, look, card = self.unit, self.palette, self.card
        size = 1.0 if zoom >= measure.FULL else min(0.95 / zoom, 1.5)
        bold, small = scaled(self._font, size, bold=True), scaled(self._font, 0.85)
        where = flags(Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignVCenter)
        box = title.adjusted(_MARK * u, 0, -0.6 * u, 0)
        painter.setFont(bold)
        painter.setPen(look.color(QPalette.ColorRole.Text))
        painter.drawText(box, where, elided(card.group.title, bold, box.width()))
        if not self.is_collapsed or zoom < measure.FULL:
            return
        below = QRectF(_MARK * u, TITLE * u, title.width() - 3.6 * u, (HEIGHT - TITLE) * u)
        painter.setFont(small)
        painter.setPen(muted(look))
        painter.drawText(below, where, elided(card.about, small, below.width()))
        side = measure.MARK * u
        spot = QRectF(title.right() - 0.6 * u - side, below.center().y() - side / 2, side, side)
        paint_shape(painter, spot, card.shape, look)
