# SPDX-License-Identifier: GPL-2.0-or-later
"""The frame of a card, with or without a state's tint and side bar, and a card with a message."""

from __future__ import annotations

from qgis.PyQt.QtCore import QRectF, Qt, pyqtSignal
from qgis.PyQt.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from qgis.PyQt.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from .flow_layout import FlowLayout
from .number import plain_button
from .outlet import Outlet
from .palette import Tone, face, frame, line, tint, tone_colour
from .panel import Label, Panel
from .state_shape import Shape, StateMark


class Card(Panel):
    """A rounded frame; with a tone it has a tint, a frame and a side bar in that colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tone: Tone | None = None
        self._filled = True

    def set_tone(self, tone: Tone | None, filled: bool = True) -> None:
        """Show a state's colour, or none; `filled` tints the whole card."""
        self._tone, self._filled = tone, filled
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame, the tint and the side bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, unit, tone = self.palette(), self.em, self._tone
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        path = QPainterPath()
        path.addRoundedRect(box, unit * 0.4, unit * 0.4)
        base = face(palette)
        painter.fillPath(path, tint(palette, tone) if tone and self._filled else base)
        if tone is not None:
            painter.save()
            painter.setClipPath(path)
            left = self.layoutDirection() == Qt.LayoutDirection.LeftToRight
            start = 0.0 if left else self.width() - unit * 0.3
            bar = QRectF(start, 0, unit * 0.3, self.height())
            painter.fillRect(bar, tone_colour(palette, tone))
            painter.restore()
        painter.setPen(QPen(frame(palette, tone) if tone else line(palette), 0))
        painter.drawPath(path)


class MessageCard(Card):
    """What is wrong or worth knowing, in one sentence, with the buttons that go on from there."""

    pressed = pyqtSignal(str)

    def __init__(
        self,
        outlet: Outlet,
        shape: Shape,
        title: str,
        text: str,
        buttons: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__()
        self.setObjectName("GeoOlmMessage")
        self.setAccessibleName(f"{title}. {text}" if title else text)
        self.set_tone(shape.tone)
        self._row = QHBoxLayout(self)
        self._column = QVBoxLayout()
        self._buttons = FlowLayout()
        self.shape = StateMark(outlet.clock, shape)
        self._row.addWidget(self.shape, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addLayout(self._column, 1)
        self.text_label = Label(text, wrap=True)
        self.text_label.setObjectName("GeoOlmMessageText")
        self.text_label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        if title:
            self._column.addWidget(Label(title, bold=True, wrap=True))
        self._column.addWidget(self.text_label)
        for key, words in buttons:
            self._add_button(key, words)
        if buttons:
            self._column.addLayout(self._buttons)

    def restyle(self) -> None:
        """Set the margins."""
        unit = self.em
        self._row.setContentsMargins(
            round(unit * 0.9), round(unit * 0.55), round(unit * 0.7), round(unit * 0.55)
        )
        self._row.setSpacing(round(unit * 0.5))
        self._column.setSpacing(round(unit * 0.4))
        self._buttons.setSpacing(round(unit * 0.4))

    def _add_button(self, key: str, words: str) -> None:
        button = QPushButton(plain_button(words))
        button.setObjectName(f"GeoOlmMessage_{key}")
        button.setAccessibleName(words)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: self.pressed.emit(key))
        self._buttons.addWidget(button)
