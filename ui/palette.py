# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures in em and colours by state, computed at run time from the widget's font and palette."""

from __future__ import annotations

from enum import Enum

from qgis.PyQt.QtGui import QColor, QFontInfo, QGuiApplication, QPalette
from qgis.PyQt.QtWidgets import QWidget


class Tone(Enum):
    """What a colour says; light and dark palettes give each tone its own colour."""

    NEUTRAL = ("#666a6e", "#a9adb1")
    RUNNING = ("#1d69a8", "#84bdee")
    DONE = ("#065c40", "#2ddcad")
    FAILED = ("#8e1509", "#ff8d7e")
    WARNING = ("#866000", "#fad07c")
    WAITING = ("#7d35c4", "#d297fe")


AGENTS = {
    "data": ("#5d7288", "#93a9c0"),
    "vector": ("#2f7f8f", "#5cb6c6"),
    "raster": ("#7d6c2c", "#c0aa57"),
    "table": ("#6a5fa8", "#a59be0"),
    "map": ("#ad4f86", "#e48fc0"),
    "vision": ("#a65a2a", "#e2935f"),
    "agriculture": ("#5f7f2a", "#a3c860"),
    "climate": ("#3f74b8", "#82b2ee"),
    "forest": ("#35704c", "#76bd93"),
    "urban": ("#8a6152", "#cb9f8e"),
    "you": ("#7d35c4", "#d297fe"),
}

READABLE = 4.5


def em(widget: QWidget) -> int:
    """Return 1 em of the widget's own font, in logical pixels."""
    return max(1, QFontInfo(widget.font()).pixelSize())


def is_dark(palette: QPalette) -> bool:
    """Tell whether the palette is a dark one."""
    return ground(palette, QPalette.ColorRole.Window).lightness() < 128


def ground(palette: QPalette, role: QPalette.ColorRole) -> QColor:
    """Return the colour of a background; QGIS's dark themes make widgets transparent, and then
    the application's palette holds what is seen."""
    colour = palette.color(role)
    return colour if colour.alpha() else QGuiApplication.palette().color(role)


def face(palette: QPalette, held: bool = False) -> QColor:
    """Return the fill of a card or chip, another one while it is held or under the mouse."""
    base, text = ground(palette, QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
    if not held:
        return base
    other = ground(palette, QPalette.ColorRole.AlternateBase)
    return other if contrast(other, text) >= READABLE else mix(base, text, 0.1)


def mix(colour: QColor, other: QColor, share: float) -> QColor:
    """Return `colour` with `share` (0 to 1) of `other` in it."""
    parts = [round(a + (b - a) * share) for a, b in zip(colour.getRgb()[:3], other.getRgb()[:3])]
    return QColor(*parts)


def luminance(colour: QColor) -> float:
    """Return the relative luminance by WCAG 2, 0 to 1."""
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.redF(), colour.greenF(), colour.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(colour: QColor, other: QColor) -> float:
    """Return the contrast ratio by WCAG 2, 1 to 21."""
    high, low = sorted((luminance(colour), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def tone_colour(palette: QPalette, tone: Tone) -> QColor:
    """Return the full colour of a tone."""
    return QColor(tone.value[1 if is_dark(palette) else 0])


def agent_colour(palette: QPalette, agent: str) -> QColor:
    """Return an agent's colour; an agent that is not in the list takes Data's."""
    return QColor(AGENTS.get(agent.lower(), AGENTS["data"])[1 if is_dark(palette) else 0])


def on_colour(palette: QPalette) -> QColor:
    """Return the colour of a mark inside a filled shape."""
    return QColor("#16181a" if is_dark(palette) else "#ffffff")


def muted(palette: QPalette) -> QColor:
    """Return the colour of secondary text: at least 4.5:1 on Window where Text allows it."""
    text = palette.color(QPalette.ColorRole.Text)
    base = ground(palette, QPalette.ColorRole.Base)
    window = ground(palette, QPalette.ColorRole.Window)
    for share in (0.30, 0.25, 0.20, 0.15, 0.10, 0.05):
        colour = mix(text, base, share)
        if contrast(colour, window) >= READABLE and contrast(colour, base) >= READABLE:
            return colour
    return text


def line(palette: QPalette) -> QColor:
    """Return the colour of lines and frames."""
    text = palette.color(QPalette.ColorRole.Text)
    return mix(text, ground(palette, QPalette.ColorRole.Base), 0.78)


def tint(palette: QPalette, tone: Tone) -> QColor:
    """Return the fill of a card in a tone."""
    base = ground(palette, QPalette.ColorRole.Base)
    return mix(base, tone_colour(palette, tone), 0.10 if is_dark(palette) else 0.06)


def frame(palette: QPalette, tone: Tone) -> QColor:
    """Return the frame of a card in a tone."""
    base = ground(palette, QPalette.ColorRole.Base)
    return mix(base, tone_colour(palette, tone), 0.45)


def bubble(palette: QPalette) -> QColor:
    """Return the fill of the user's bubble."""
    base = ground(palette, QPalette.ColorRole.Base)
    return mix(base, tone_colour(palette, Tone.RUNNING), 0.24 if is_dark(palette) else 0.13)
