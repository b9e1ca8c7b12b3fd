# SPDX-License-Identifier: GPL-2.0-or-later
"""The button that says what is asked before it is done, with a menu of the three modes."""

from __future__ import annotations

from qgis.PyQt.QtCore import QSize, pyqtSignal
from qgis.PyQt.QtGui import QPalette
from qgis.PyQt.QtWidgets import QMenu, QToolButton

from .icon import theme_icon
from .palette import Tone, em, tone_colour

EACH, LASTING, FREE = "each", "lasting", "free"


class ModeButton(QToolButton):
    """Emits the mode that was chosen; "Run freely" is written in the colour of a warning."""

    chosen = pyqtSignal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmMode")
        self.setAutoRaise(True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._words = {
            EACH: self.tr("Ask before each change"),
            LASTING: self.tr("Ask before lasting changes"),
            FREE: self.tr("Run freely"),
        }
        menu = QMenu(self)
        menu.setObjectName("GeoOlmModeMenu")
        self._actions = {}
        for key, words in self._words.items():
            action = menu.addAction(words)
            action.setObjectName(f"GeoOlmMode_{key}")
            action.setCheckable(True)
            action.triggered.connect(lambda _on, key=key: self._choose(key))
            self._actions[key] = action
        self.setMenu(menu)
        self.setMinimumWidth(0)
        self.mode = LASTING
        self.set_mode(LASTING)

    def set_mode(self, mode: str) -> None:
        """Show a mode without telling it."""
        self.mode = mode if mode in self._words else LASTING
        for key, action in self._actions.items():
            action.setChecked(key == self.mode)
        words = self._words[self.mode]
        self.setText(self.tr("Run freely") if self.mode == FREE else self.tr("Ask"))
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.recolour()

    def recolour(self) -> None:
        """Take icon and colour from the palette."""
        side = round(em(self) * 1.25)
        self.setIconSize(QSize(side, side))
        self.setIcon(theme_icon("mActionStart" if self.mode == FREE else "mActionLockItems"))
        palette = QPalette(self.parentWidget().palette() if self.parentWidget() else QPalette())
        if self.mode == FREE:
            for role in (QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
                palette.setColor(role, tone_colour(palette, Tone.WARNING))
        self.setPalette(palette)

    def _choose(self, mode: str) -> None:
        self.set_mode(mode)
        self.chosen.emit(mode)
