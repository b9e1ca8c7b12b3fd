# SPDX-License-Identifier: GPL-2.0-or-later
"""The preview of what a finished step made: a small map or the first rows, with a few facts."""

from __future__ import annotations

from dataclasses import dataclass

from qgis.PyQt.QtCore import QObject, QPoint, QPointF, QRectF, QSize, Qt, QTimer, pyqtSignal
from qgis.PyQt.QtGui import QImage, QPalette, QPixmap
from qgis.PyQt.QtWidgets import QGraphicsView, QGridLayout, QLabel, QVBoxLayout, QWidget

from ...tools.base import ToolResult
from ..number import SPACE, label, number
from ..palette import muted
from .measure import elided, scaled
from .node_item import NodeItem
from .plate import Plate
from .scene import GraphScene

_REST_MS, _MOST = 500, 8
WIDTH, HEIGHT = 18.0, 10.5
"""The size of the map in a preview, in em."""


@dataclass(frozen=True)
class Seen:
    """What there is to see of a result: a picture, or rows under their headers, facts as name and
    text, and a sentence where there is nothing else."""

    image: QImage | None = None
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    message: str = ""

    @property
    def words(self) -> str:
        """All of it as one text, for screen readers."""
        told = [f"{name}: {text}" for name, text in self.facts]
        return ". ".join([*([self.message] if self.message else []), *told])


class PreviewFrame(Plate):
    """Stands on the canvas beside its step; it never takes the focus."""

    def __init__(self, parent: QWidget, unit: float) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmPreview")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._unit = unit
        self.setFont(scaled(parent.font(), 0.92))
        self.picture, self.text = QLabel(), QLabel()
        self.picture.setObjectName("GeoOlmPreviewPicture")
        self.text.setObjectName("GeoOlmPreviewText")
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self._table, self._facts = QGridLayout(), QGridLayout()
        pad = round(0.6 * unit)
        lines = QVBoxLayout(self)
        lines.setContentsMargins(pad, pad, pad, pad)
        lines.setSpacing(round(0.4 * unit))
        lines.addWidget(self.picture)
        lines.addLayout(self._table)
        lines.addLayout(self._facts)
        lines.addWidget(self.text)
        self.hide()

    def fill(self, seen: Seen) -> None:
        """Show something else."""
        self.picture.setVisible(seen.image is not None)
        if seen.image is not None:
            self.picture.setPixmap(QPixmap.fromImage(seen.image))
        _clear(self._table)
        _clear(self._facts)
        for at, name in enumerate(seen.header):
            self._cell(self._table, 0, at, name, faint=True)
        for row, cells in enumerate(seen.rows, 1):
            for at, text in enumerate(cells):
                self._cell(self._table, row, at, text)
        for row, (name, text) in enumerate(seen.facts):
            self._cell(self._facts, row, 0, name, faint=True)
            self._cell(self._facts, row, 1, text)
        self._facts.setColumnStretch(1, 1)
        self.text.setVisible(bool(seen.message))
        self.text.setText(seen.message)
        self.setAccessibleDescription(seen.words)
        self.setFixedWidth(round((WIDTH + 1.5) * self._unit))
        self.adjustSize()

    def _cell(self, grid: QGridLayout, row: int, at: int, text: str, faint: bool = False) -> None:
        share = 0.3 if grid is self._facts and at == 0 else 0.68 if grid is self._facts else 0.25
        label = QLabel(elided(text, self.font(), share * WIDTH * self._unit))
        label.setTextFormat(Qt.TextFormat.PlainText)
        if label.text() != text:
            label.setToolTip(text)
        if faint:
            palette = QPalette(self.palette())
            for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):
                palette.setColor(role, muted(self.palette()))
            label.setPalette(palette)
        grid.addWidget(label, row, at)


class Previewer(QObject):
    """Waits until the pointer rests on a finished step, asks for its preview, and shows it.

    `wanted` carries the step, its result and the size of a picture in pixels of the screen; the
    answer comes by `show`. Esc, a press or leaving the step closes it."""

    wanted = pyqtSignal(str, object, object, float)

    def __init__(self, view: QGraphicsView, scene: GraphScene) -> None:
        super().__init__(view)
        self._view, self._scene = view, scene
        self.frame = PreviewFrame(view.viewport(), scene.unit)
        self._key = ""
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._ask)
        scene.document.states_changed.connect(self._changed)

    def hover(self, place: QPointF) -> None:
        """Note where the pointer is, in the scene."""
        node = self._scene.node_at(place)
        self.aim(node.key if node is not None and self._result(node.key) is not None else "")

    def aim(self, key: str, at_once: bool = False) -> None:
        """Rest on a step, or on none ("")."""
        if key != self._key:
            self.close()
            self._key = key
        elif not at_once:
            return
        if key and at_once:
            self._ask()
        elif key:
            self._rest.start()

    def close(self) -> bool:
        """Take the preview away; tells whether there was one."""
        was_open = self.frame.isVisible()
        self._key = ""
        self._rest.stop()
        self.frame.hide()
        return was_open

    def show(self, key: str, seen: Seen) -> None:
        """Show what was asked for, if the pointer still rests there."""
        node = self._scene.nodes.get(key)
        if key != self._key or node is None:
            return
        self.frame.fill(seen)
        self.frame.move(self._beside(node))
        self.frame.show()
        self.frame.raise_()

    def _result(self, key: str) -> ToolResult | None:
        state = self._scene.document.state(key)
        return state.result if state.status.is_done else None

    def _ask(self) -> None:
        result = self._result(self._key)
        if result is None:
            return
        unit = self._scene.unit
        if not result.layers:
            self.show(self._key, numbers(result))
            return
        size = QSize(round(WIDTH * unit), round(HEIGHT * unit))
        self.wanted.emit(self._key, result, size, float(self._view.devicePixelRatioF()))

    def _changed(self, keys: object) -> None:
        if self._key and self._key in keys:  # type: ignore[operator]
            self.close()

    def _beside(self, node: NodeItem) -> QPoint:
        """Return a place right of a step, or left of it where there is no room, on the canvas."""
        u = node.unit
        box = QRectF(node.x(), node.y(), node.size[0] * u, node.size[1] * u)
        shown = self._view.mapFromScene(box).boundingRect()
        room, edge = self._view.viewport().rect(), round(0.8 * u)
        x = shown.right() + edge
        if x + self.frame.width() > room.right():
            x = shown.left() - edge - self.frame.width()
        y = min(max(shown.top(), 0), room.bottom() - self.frame.height())
        return QPoint(max(x, 0), max(y, 0))


def numbers(result: ToolResult) -> Seen:
    """Return the preview of a result without layers: its numbers and texts, else its words."""
    facts: list[tuple[str, str]] = []
    for key, value in result.numbers.items():
        unit = result.units.get(key, "")
        facts.append((label(key), f"{number(value)}{SPACE}{unit}" if unit else number(value)))
    facts += [(label(key), text) for key, text in result.texts.items()]
    return Seen(facts=tuple(facts[:_MOST]), message="" if facts else result.text)


def _clear(grid: QGridLayout) -> None:
    while grid.count():
        widget = grid.takeAt(0).widget()
        if widget is not None:
            widget.setParent(None)
