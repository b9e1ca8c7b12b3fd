# SPDX-License-Identifier: GPL-2.0-or-later
"""What a check of the model found, on the options page: a state and a sentence."""

from __future__ import annotations

from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import QHBoxLayout, QPushButton

from .outlet import Outlet
from .panel import Label, Panel
from .state_shape import Shape, StateMark


class CheckLine(Panel):
    """The result of a check: a state, one sentence, and a button where consent is missing."""

    allowed = pyqtSignal(str)

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmCheckLine")
        self.mark = StateMark(outlet.clock, Shape.IDLE)
        self.text = Label(wrap=True)
        self.text.setObjectName("GeoOlmCheckText")
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.mark)
        self._row.addWidget(self.text, 1)
        self.allow = QPushButton(self.tr("Allow"))
        self.allow.setObjectName("GeoOlmCheckAllow")
        self.allow.setVisible(False)
        self.allow.clicked.connect(lambda: self.allowed.emit(self._host))
        self._row.addWidget(self.allow)
        self._host = ""
        self.setVisible(False)

    def restyle(self) -> None:
        """Set the margins."""
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(round(self.em * 0.5))

    def show_state(self, shape: Shape, text: str, host: str = "") -> None:
        """Show a state and its sentence; with a host, offer to let questions go there."""
        self._host = host
        self.allow.setVisible(bool(host))
        self.allow.setAccessibleName(self.tr("Send data to {0}?").format(host))
        self.mark.set_shape(shape)
        self.text.setText(text)
        self.setAccessibleName(text)
        self.setVisible(True)
