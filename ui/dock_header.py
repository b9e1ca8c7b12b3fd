# SPDX-License-Identifier: GPL-2.0-or-later
"""The head of the dock: model, context used, new chat, options, stages and status."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtGui import QPalette, QResizeEvent
from qgis.PyQt.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout

from .icon import own_icon, theme_icon
from .model_chip import ContextGauge, ModelChip
from .outlet import Outlet
from .panel import Panel
from .stage_strip import StageStrip
from .status_line import StatusLine

NARROW = 30


class DockHeader(Panel):
    """Model chip, gauge, new chat and options; below them stages and status."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmHeader")
        self.chip = ModelChip(outlet)
        self.gauge = ContextGauge()
        self.new_chat = self._button("GeoOlmNewChat", self.tr("New chat"))
        self.options = self._button("GeoOlmOptions", self.tr("Options…"))
        self.stages = StageStrip()
        self.status = StatusLine(outlet)
        self._row = QHBoxLayout()
        self._row.addWidget(self.chip)
        self._row.addStretch(1)
        for widget in (self.gauge, self.new_chat, self.options):
            self._row.addWidget(widget)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._row)
        self._column.addWidget(self.stages)
        self._column.addWidget(self.status)
        self.stages.set_stages(())

    def restyle(self) -> None:
        """Set margins and icons."""
        unit = self.em
        side = round(unit * 0.75)
        self._column.setContentsMargins(side, round(unit * 0.35), side, round(unit * 0.1))
        self._column.setSpacing(round(unit * 0.35))
        self._row.setSpacing(round(unit * 0.3))
        colour = self.palette().color(QPalette.ColorRole.WindowText)
        self.new_chat.setIcon(own_icon("new_chat", colour))
        self.options.setIcon(theme_icon("mActionOptions"))
        for button in (self.new_chat, self.options):
            icon = button.iconSize()
            icon.setWidth(round(unit * 1.5))
            icon.setHeight(round(unit * 1.5))
            button.setIconSize(icon)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the gauge's ring alone in a narrow dock."""
        super().resizeEvent(event)
        self.gauge.set_worded(self.width() >= NARROW * self.em)

    def _button(self, name: str, text: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setToolTip(text)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button
