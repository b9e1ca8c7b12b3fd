# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps what the model doctor found of each model in QGIS's settings."""

from __future__ import annotations

import json
from typing import Any

from qgis.core import QgsSettings

from .llm.base import ModelCard
from .llm.doctor_note import ModelNote, is_same, key_of, read_note
from .settings import PREFIX

KEY = PREFIX + "model_notes"
MOST_NOTES = 50


class NoteStore:
    """Reads and writes notes; any thread may use it."""

    def recall(self, card: ModelCard) -> ModelNote | None:
        """Return the note of a model, None without one or when its weights are others now."""
        note = read_note(_kept().get(key_of(card), {}))
        return note if note is not None and is_same(note, card) else None

    def keep(self, key: str, note: ModelNote) -> None:
        """Remember a note in place of an earlier one; the oldest beyond fifty are forgotten.

        `key` is that of the model's card or report.
        """
        kept = _kept()
        kept.pop(key, None)
        kept[key] = note.as_dict()
        names = list(kept)[-MOST_NOTES:]
        QgsSettings().setValue(KEY, json.dumps({name: kept[name] for name in names}))


def _kept() -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(str(QgsSettings().value(KEY) or "{}"))
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: note for name, note in found.items() if isinstance(note, dict)}
