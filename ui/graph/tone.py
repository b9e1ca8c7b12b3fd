# SPDX-License-Identifier: GPL-2.0-or-later
"""The colours that groups and notes may have: tones of the palette by name, or those of a file."""

from __future__ import annotations

from qgis.PyQt.QtCore import QCoreApplication
from qgis.PyQt.QtGui import QColor, QPalette

from ..palette import Tone, ground, is_dark, mix, tone_colour

TONES = ("neutral", "running", "done", "warning", "failed", "waiting")


def tone_names() -> dict[str, str]:
    """Return what the tones are called, by name."""
    words = {
        "neutral": QCoreApplication.translate("GraphTone", "Grey"),
        "running": QCoreApplication.translate("GraphTone", "Blue"),
        "done": QCoreApplication.translate("GraphTone", "Green"),
        "warning": QCoreApplication.translate("GraphTone", "Amber"),
        "failed": QCoreApplication.translate("GraphTone", "Red"),
        "waiting": QCoreApplication.translate("GraphTone", "Purple"),
    }
    return {name: words[name] for name in TONES}


def full_colour(palette: QPalette, name: str) -> QColor:
    """Return the full colour of a tone, or that of #rrggbb; grey for what is none."""
    if name in TONES:
        return tone_colour(palette, Tone[name.upper()])
    given = QColor(name) if name.startswith("#") else QColor()
    return given if given.isValid() else tone_colour(palette, Tone.NEUTRAL)


def fill_colour(palette: QPalette, name: str, share: float = 0.1) -> QColor:
    """Return the fill in which text of the palette can be read."""
    more = share * 1.6 if is_dark(palette) else share
    return mix(ground(palette, QPalette.ColorRole.Base), full_colour(palette, name), more)


def edge_colour(palette: QPalette, name: str) -> QColor:
    """Return the colour of a frame."""
    return mix(ground(palette, QPalette.ColorRole.Base), full_colour(palette, name), 0.5)
