# SPDX-License-Identifier: GPL-2.0-or-later
"""The head of the dock: model, context used, new chat, options, stages and status."""

from __future__ import annotations

from qgis.PyQt.QtCore import QSize, Qt
from qgis.PyQt.QtGui import QPalette, QResizeEvent
from qgis.PyQt.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout

from .icon import own_icon, theme_icon
from .model_chip import ContextGauge, ModelChip
from .outlet import Outlet
from .panel import Panel
from .stage_strip import StageStrip
from .status_line import StatusLine

NARROW, LEAST = 30, 25


class LockButton(QToolButton):
    """The offline switch: it gives its room away where the dock is narrowest."""

    def minimumSizeHint(self) -> QSize:
        """Return no width at all."""
        return QSize(0, super().minimumSizeHint().height())


class DockHeader(Panel):
    """Model chip, gauge, new chat and options; below them stages and status."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmHeader")
        self.chip = ModelChip(outlet)
        self.gauge = ContextGauge()
        self.offline = self._button("GeoOlmOffline", self.tr("Offline"), LockButton())
        policy = QSizePolicy.Policy
        self.offline.setSizePolicy(policy.Maximum, policy.Fixed)
        self.offline.setCheckable(True)
        self.offline.setToolTip(self.tr("Refuse every address but this machine"))
        self.new_chat = self._button("GeoOlmNewChat", self.tr("New chat"))
        self.options = self._button("GeoOlmOptions", self.tr("Options…"))
        self.stages = StageStrip()
        self.status = StatusLine(outlet)
        self._row = QHBoxLayout()
        self._row.addWidget(self.chip)
        self._row.addStretch(1)
        for widget in (self.offline, self.gauge, self.new_chat, self.options):
            self._row.addWidget(widget)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._row)
        self._column.addWidget(self.stages)
        self._column.addWidget(self.status)
        self.stages.set_stages(())
        self.offline.toggled.connect(lambda _on: self._show_lock())

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
        self._show_lock()
        for button in (self.offline, self.new_chat, self.options):
            icon = button.iconSize()
            icon.setWidth(round(unit * 1.5))
            icon.setHeight(round(unit * 1.5))
            button.setIconSize(icon)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow dock show the ring and the lock's icon alone, in the narrowest no lock."""
        super().resizeEvent(event)
        wide = self.width() >= NARROW * self.em
        self.gauge.set_worded(wide)
        style = Qt.ToolButtonStyle
        beside = style.ToolButtonTextBesideIcon if wide else style.ToolButtonIconOnly
        self.offline.setToolButtonStyle(beside)
        self.offline.setVisible(self.width() >= LEAST * self.em)

    def set_offline(self, offline: bool) -> None:
        """Press or release the offline button without telling it."""
        self.offline.blockSignals(True)
        self.offline.setChecked(offline)
        self.offline.blockSignals(False)
        self._show_lock()

    def _show_lock(self) -> None:
        self.offline.setIcon(theme_icon("locked" if self.offline.isChecked() else "unlocked"))

    def _button(self, name: str, text: str, made: QToolButton | None = None) -> QToolButton:
        button = made or QToolButton()
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setText(text)
        button.setToolTip(text)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button
