# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's question, at the right, with the layers that it names set apart."""

from __future__ import annotations

import re
from html import escape

from qgis.PyQt.QtCore import QEvent, QRectF, QSize, Qt
from qgis.PyQt.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from qgis.PyQt.QtWidgets import QHBoxLayout

from .number import soften
from .palette import Tone, bubble, frame, tone_colour
from .panel import Label, Panel

SHARE = 0.88


def marked(text: str, names: tuple[str, ...], colour: str) -> str:
    """Return `text` as HTML in which only "@" with a known name is set apart."""
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(f"@(?:{known})" if known else r"(?!)")
    parts, at = [], 0
    for found in pattern.finditer(text):
        parts.append(escape(soften(text[at : found.start()])))
        parts.append(f'<b style="color:{colour}">{escape(soften(found.group()))}</b>')
        at = found.end()
    parts.append(escape(soften(text[at:])))
    return "".join(parts).replace("\n", "<br>").replace("  ", "&nbsp; ")


class UserBubble(Panel):
    """A bubble at most 88 % wide that shows the question literally."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        super().__init__()
        self.setObjectName("GeoOlmUserTurn")
        self.setAccessibleName(self.tr("You asked: {0}").format(text))
        self._text, self._names = text, names
        self.label = Label(wrap=True, rich=True)
        self.label.setObjectName("GeoOlmUserText")
        self.label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._row = QHBoxLayout(self)
        self._row.addStretch(1)
        self._row.addWidget(self.label)

    def restyle(self) -> None:
        """Set margins, width and the colour of mentions."""
        unit = self.em
        self.label.setText(
            marked(self._text, self._names, tone_colour(self.palette(), Tone.RUNNING).name())
        )
        side, top = round(unit * 0.85), round(unit * 0.55)
        self._row.setContentsMargins(side, top, side, top)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Draw the whole bubble anew when the text in it has moved."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.update()
        return done

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the bubble within its share of the width."""
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bubble behind the text."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        unit, palette = self.em, self.palette()
        side, top = unit * 0.85, unit * 0.55
        box = QRectF(self.label.geometry()).adjusted(-side, -top, side, top)
        painter.setBrush(bubble(palette))
        painter.setPen(QPen(frame(palette, Tone.RUNNING), 0))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), unit * 0.6, unit * 0.6)

    def _fit(self) -> None:
        metrics = QFontMetrics(self.label.font())
        bold = round(len(self._text) * metrics.averageCharWidth() * 0.08) + 4
        lines = self._text.split("\n")
        natural = max(metrics.horizontalAdvance(line) for line in lines) + bold
        room = round(self.width() * SHARE - self.em * 1.7)
        self.label.setFixedWidth(max(self.em * 3, min(natural, room)))

    def minimumSizeHint(self) -> QSize:
        """Return a narrow width: the bubble gets higher instead of wider."""
        return QSize(self.em * 10, super().minimumSizeHint().height())
