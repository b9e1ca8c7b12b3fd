# SPDX-License-Identifier: GPL-2.0-or-later
"""A check box whose frame is seen on a dark page too, where Fusion draws it nearly black."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent
from qgis.PyQt.QtGui import QPalette
from qgis.PyQt.QtWidgets import QApplication, QCheckBox

from .palette import muted


class CheckBox(QCheckBox):
    """Takes its Window colour, from which the frame is drawn, anew with every palette."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.setObjectName(name)
        self.setAccessibleName(text)
        self._own = False

    def event(self, event: QEvent) -> bool:
        """Follow the application's palette when it is shown and when that changes."""
        kinds = QEvent.Type
        if event.type() in (kinds.Polish, kinds.PaletteChange) and not self._own:
            self._follow()
        return bool(super().event(event))

    def _follow(self) -> None:
        palette = QPalette(QApplication.palette())
        roles = QPalette.ColorRole
        if palette.color(roles.Window).lightness() < 128:
            palette.setColor(roles.Window, muted(palette))
        self._own = True
        self.setPalette(palette)
        self._own = False
