# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys of the canvas, and what each stands for."""

from __future__ import annotations

from typing import Any

from qgis.PyQt.QtGui import QKeySequence

KEYS = {
    "A": "add", "Ins": "add", "Del": "remove", "Backspace": "remove", "Ctrl+D": "duplicate",
    "Ctrl+C": "copy", "Ctrl+X": "cut", "Ctrl+V": "paste", "Ctrl+B": "bypass",
    "Return": "objective", "Enter": "objective", "F2": "title", "Ctrl+L": "arrange",
    "Ctrl+Shift+L": "arrange_selected", "Ctrl+0": "fit", "Ctrl+1": "full",
    "Ctrl++": "nearer", "Ctrl+=": "nearer", "Ctrl+-": "farther", "Ctrl+Z": "undo",
    "Ctrl+Shift+Z": "redo", "Ctrl+Y": "redo", "Ctrl+A": "select_all", "Ctrl+F": "find",
    "F5": "run", "Ctrl+F5": "rehearse", "Shift+F5": "run_to",
    "Alt+F5": "run_step", "Ctrl+R": "retry", "Ctrl+Shift+F5": "run_again", "Ctrl+.": "stop",
    "Ctrl+Shift+Del": "clear_results",
    "Right": "right", "Left": "left", "Down": "down", "Up": "up",
    "Alt+Right": "nudge_right", "Alt+Left": "nudge_left", "Alt+Down": "nudge_down",
    "Alt+Up": "nudge_up", "Ctrl+Down": "next_port", "Ctrl+Up": "last_port",
    "Ctrl+Right": "next_link", "Ctrl+Left": "last_link", "C": "connect", "I": "insert",
    "P": "preview", "Ctrl+G": "group", "Ctrl+Shift+G": "ungroup", "G": "fold", "Shift+A": "note",
    "Ctrl+Shift+Left": "align_left", "Ctrl+Shift+Right": "align_right",
    "Ctrl+Shift+Up": "align_top", "Ctrl+Shift+Down": "align_bottom",
    "Menu": "menu", "Shift+F10": "menu", "Esc": "leave",
}  # fmt: skip


def action_of(event: Any) -> str | None:
    """Return what a key event stands for, None for nothing of the canvas."""
    modifiers = event.modifiers()
    held = int(modifiers.value if hasattr(modifiers, "value") else modifiers)
    held &= ~0x20000000  # whether a key is on the number pad does not matter
    text = QKeySequence(held | int(event.key()))
    return KEYS.get(text.toString(QKeySequence.SequenceFormat.PortableText))


def key_of(name: str) -> str:
    """Return the first key of an action as the user's system writes it, "" for none."""
    for keys, action in KEYS.items():
        if action == name:
            return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    return ""
