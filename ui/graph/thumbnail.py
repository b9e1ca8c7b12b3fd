# SPDX-License-Identifier: GPL-2.0-or-later
"""Small pictures of workflows, drawn one after the other when they are first looked at."""

from __future__ import annotations

from collections import OrderedDict

from qgis.PyQt.QtCore import QObject, QPointF, QRectF, QSize, Qt, QTimer, pyqtSignal
from qgis.PyQt.QtGui import QColor, QPainter, QPainterPath, QPalette, QPen, QPixmap

from ...plugin.workflow.graph import Graph, Kind, Vertex
from ...plugin.workflow.layout import layout
from ..palette import agent_colour, ground, line, mix
from .editing import layers_of
from .library_entry import Entry
from .link_layer import LAYER, end_of, joins
from .measure import PILL_HEIGHT, PILL_WIDTH, WIDTH

_MOST = 500
_HIGH = 8.0
"""The height of a step in em, whatever stands in it."""
_WIDEST = 0.25


class Thumbnails(QObject):
    """Pictures by the content of a workflow; `drawn` tells that another one is there.

    Only what `picture` was asked for last is drawn, so that a list of any length opens at once.
    """

    drawn = pyqtSignal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[tuple[str, int], QPixmap] = OrderedDict()
        self._wanted: OrderedDict[tuple[str, int], tuple[Graph, QSize, float]] = OrderedDict()
        self._look = QPalette()
        self._soon = QTimer(self)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._draw_next)

    @property
    def waiting(self) -> int:
        """How many pictures are still to be drawn."""
        return len(self._wanted)

    def set_palette(self, palette: QPalette) -> None:
        """Take other colours; the pictures are drawn anew."""
        self._look = palette
        self._kept.clear()

    def picture(self, entry: Entry, size: QSize, ratio: float) -> QPixmap | None:
        """Return the picture of a workflow, None while it is not drawn yet; `ratio` is the device
        pixels to one of `size`."""
        if entry.graph is None or not entry.graph.vertices:
            return None
        key = (entry.digest, size.width())
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        self._wanted[key] = (entry.graph, size, ratio)
        self._wanted.move_to_end(key)
        self._soon.start()
        return None

    def forget_wanted(self) -> None:
        """Draw nothing of what was asked for before: the list shows something else."""
        self._wanted.clear()

    def _draw_next(self) -> None:
        if not self._wanted:
            self._soon.stop()
            return
        key, (graph, size, ratio) = self._wanted.popitem(last=False)
        self._kept[key] = self._draw(graph, size, ratio)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        self.drawn.emit()

    def _draw(self, graph: Graph, size: QSize, ratio: float) -> QPixmap:
        picture = QPixmap(size * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_outline(painter, QRectF(0, 0, size.width(), size.height()), graph, self._look)
        painter.end()
        return picture


def paint_outline(painter: QPainter, box: QRectF, graph: Graph, palette: QPalette) -> None:
    """Draw a workflow into a box as blocks in the colours of its agents, with links and layers;
    as large as fits, but no step wider than a quarter of the box."""
    blocks = _blocks(graph)
    if not blocks:
        return
    bounds = QRectF()
    for one in blocks.values():
        bounds = bounds.united(one)
    room = 0.04 * box.width()
    inner = box.adjusted(room, room, -room, -room)
    scale = min(inner.width() / bounds.width(), inner.height() / bounds.height(),
                _WIDEST * box.width() / WIDTH)  # fmt: skip
    painter.save()
    painter.translate(box.center())
    painter.scale(scale, scale)
    painter.translate(-bounds.center())
    pen = QPen(mix(palette.color(QPalette.ColorRole.Text), _base(palette), 0.5), 1)
    pen.setCosmetic(True)
    for source, target, _port in joins(graph):
        start, end = blocks.get(end_of(source)), blocks.get(target)
        if start is not None and end is not None:
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_link(start, end))
    for key, block in blocks.items():
        _block(painter, block, graph.vertex(key) if graph.has(key) else None, palette)
    painter.restore()


def _blocks(graph: Graph) -> dict[str, QRectF]:
    """Return the places of steps and layers in em, as the user left them or by the layout."""
    names = {f"{LAYER}{one}": one for one in layers_of(graph)}
    heights = {**dict.fromkeys(graph.ids(), _HIGH), **dict.fromkeys(names, PILL_HEIGHT)}
    links = [(end_of(source), target) for source, target, _port in joins(graph)]
    places = layout(heights, links).places
    is_placed = all(one.position is not None for one in graph.vertices)
    found = {}
    for key, (x, y) in places.items():
        if key in names:
            if not is_placed:
                left = x + WIDTH - PILL_WIDTH
                found[key] = QRectF(left, y, PILL_WIDTH, PILL_HEIGHT)
        else:
            own = graph.vertex(key).position if is_placed else None
            found[key] = QRectF(*(own or (x, y)), WIDTH, heights[key])
    return found


def _link(start: QRectF, end: QRectF) -> QPainterPath:
    a, b = QPointF(start.right(), start.center().y()), QPointF(end.left(), end.center().y())
    bend = QPointF(max(abs(b.x() - a.x()) / 2, 2.0), 0)
    path = QPainterPath(a)
    path.cubicTo(a + bend, b - bend, b)
    return path


def _block(painter: QPainter, block: QRectF, vertex: Vertex | None, palette: QPalette) -> None:
    base, text = _base(palette), palette.color(QPalette.ColorRole.Text)
    edge = QPen(line(palette), 1)
    edge.setCosmetic(True)
    if vertex is None:
        painter.setPen(edge)
        painter.setBrush(mix(base, text, 0.08))
        painter.drawRoundedRect(block, block.height() / 2, block.height() / 2)
        return
    colour = agent_colour(palette, "you" if vertex.kind is not Kind.TASK else vertex.agent)
    painter.fillRect(block, base)
    head = QRectF(block.left(), block.top(), block.width(), 2.6)
    painter.fillRect(head, mix(base, colour, 0.4))
    painter.fillRect(QRectF(block.left(), block.top(), 1.2, block.height()), colour)
    for at, share in ((4.0, 0.72), (5.8, 0.5)):  # what stands in it, as lines
        rule = QRectF(block.left() + 2.4, block.top() + at, block.width() * share, 0.7)
        painter.fillRect(rule, mix(base, text, 0.22))
    painter.setPen(edge)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(block)


def _base(palette: QPalette) -> QColor:
    return ground(palette, QPalette.ColorRole.Base)
