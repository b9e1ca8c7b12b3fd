# SPDX-License-Identifier: GPL-2.0-or-later
"""One way to a model in the first steps: a card to choose, with what it needs inside."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QRectF, Qt, pyqtSignal
from qgis.PyQt.QtGui import QIcon, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from qgis.PyQt.QtWidgets import QApplication, QHBoxLayout, QLabel, QRadioButton, QVBoxLayout

from .card import Card
from .icon import own_icon
from .palette import muted
from .panel import Label, Panel


class RadioButton(QRadioButton):
    """A radio button whose ring is seen on a dark card too."""

    def event(self, event: QEvent) -> bool:
        """Take the ring's colour anew when the palette changes."""
        if event.type() == QEvent.Type.Polish:
            palette = QPalette(QApplication.palette())
            if palette.color(QPalette.ColorRole.Window).lightness() < 128:
                palette.setColor(QPalette.ColorRole.Window, muted(palette))
                self.setPalette(palette)
        return bool(super().event(event))


class ChoiceCard(Card):
    """A click anywhere chooses it; `body`, if given, is seen only while it is chosen."""

    chosen = pyqtSignal()

    def __init__(self, name: str, icon: str, title: str, text: str, body: Panel) -> None:
        super().__init__()
        self.setObjectName(f"GeoOlmFirstChoice_{name}")
        self._icon = icon
        self.body = body
        self.radio = RadioButton()
        self.radio.setObjectName(f"GeoOlmFirstRadio_{name}")
        self.radio.setAccessibleName(f"{title}. {text}")
        self.radio.setAutoExclusive(False)
        self.radio.toggled.connect(self._toggle)
        self._picture = QLabel()
        self.text = Label(text, faint=True, scale=0.92, wrap=True)
        self._row, self._column = QHBoxLayout(self), QVBoxLayout()
        top = Qt.AlignmentFlag.AlignTop
        self._row.addWidget(self.radio, 0, top)
        self._row.addWidget(self._picture, 0, top)
        self._column.addWidget(Label(title, bold=True, wrap=True))
        self._column.addWidget(self.text)
        self._column.addWidget(body)
        body.setVisible(False)
        self._row.addLayout(self._column, 1)

    def restyle(self) -> None:
        """Set margins, and the icon in the palette's colour."""
        unit = self.em
        side = round(unit * 1.75)
        icon: QIcon = own_icon(self._icon, muted(self.palette()))
        self._picture.setPixmap(icon.pixmap(side, side))
        pad, flat = round(unit * 0.8), round(unit * 0.6)
        self._row.setContentsMargins(pad, flat, pad, flat)
        self._row.setSpacing(round(unit * 0.8))
        self._column.setSpacing(round(unit * 0.3))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card, and a ring in the selection's colour when it is chosen."""
        super().paintEvent(event)
        if not self.radio.isChecked():
            return
        painter, unit = QPainter(self), self.em
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self.palette().color(QPalette.ColorRole.Highlight)
        painter.setPen(QPen(colour, unit * 0.15))
        inset = unit * 0.08
        box = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        painter.drawRoundedRect(box, unit * 0.4, unit * 0.4)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose this card."""
        self.radio.setChecked(True)

    def _toggle(self, on: bool) -> None:
        self.body.setVisible(on and bool(self.body.layout()))
        self.update()
        if on:
            self.chosen.emit()
