# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of the canvas in em, and pens and fonts made of them."""

from __future__ import annotations

from typing import Any

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtGui import QFont, QFontMetricsF

WIDTH, PILL_WIDTH, PILL_HEIGHT = 14.5, 11.3, 3.9
HEADER, LINE, ROW, FOOT, TAB = 2.1, 1.25, 1.4, 1.7, 1.5
BAND, PAD, ICON, MARK, PORT = 0.4, 0.6, 1.25, 1.15, 0.45
HIT, ATTRACT = 0.85, 2.5
FULL, SIMPLE = 0.6, 0.35
"""The zoom from which all of a node is drawn, and that below which it is a block."""
LEAST_TEXT = 7.0


def scaled(font: QFont, share: float, bold: bool = False, italic: bool = False) -> QFont:
    """Return a font of another size and weight."""
    other = QFont(font)
    size = font.pixelSize() if font.pixelSize() > 0 else QFontMetricsF(font).height() * 0.75
    other.setPixelSize(max(1, round(size * share)))
    other.setBold(bold)
    other.setItalic(italic)
    return other


def lines(text: str, font: QFont, width: float, most: int) -> list[str]:
    """Return a text in at most so many lines of a width in pixels, the last one elided."""
    metrics = QFontMetricsF(font)
    found: list[str] = []
    left = text.split()
    while left and len(found) < most:
        line = left.pop(0)
        while left and metrics.horizontalAdvance(f"{line} {left[0]}") <= width:
            line = f"{line} {left.pop(0)}"
        found.append(line)
    if left:
        found[-1] = f"{found[-1]} {' '.join(left)}"
    return [elided(one, font, width) for one in found]


def flags(*parts: Any) -> int:
    """Return flags of Qt as the number that drawText takes in Qt 5 and in Qt 6."""
    return sum(int(getattr(one, "value", one)) for one in parts)


def elided(text: str, font: QFont, width: float) -> str:
    """Return a text cut at the right to a width in pixels."""
    return QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
