# SPDX-License-Identifier: GPL-2.0-or-later
"""What is remembered of a model that the doctor has examined, and when it still holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from .base import ModelCard
from .doctor_report import Check, Report

Recall = Callable[[ModelCard], "ModelNote | None"]
"""Returns what is remembered of a model, if anything."""

_KINDS: dict[str, Any] = {"str": str, "int": int, "float": (int, float)}
_MODES, _EXPOSURES = ("schema", "native", "text"), ("filter", "hint")


@dataclass(frozen=True)
class ModelNote:
    """The settings that fit a model, with the date of the check and the digest of its weights.

    `reading` and `writing` are in tokens a second, 0 when they were not measured.
    """

    model: str
    digest: str
    date: str
    verdict: str
    mode: str
    context: int
    exposure: str
    right: int = 0
    asked: int = 0
    reading: float = 0.0
    writing: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the note as what JSON holds."""
        return asdict(self)


def nothing_noted(_card: ModelCard) -> ModelNote | None:
    """Return nothing: no model was examined."""
    return None


def key_of(card: ModelCard) -> str:
    """Return the name under which a model's note is kept."""
    return f"{card.server.value} {card.address} {card.name}"


def note_of(report: Report) -> ModelNote | None:
    """Return what to remember of a report: nothing of one that is not complete or found no way
    to call a tool."""
    if not report.complete or not report.settings.mode:
        return None
    numbers = {one.check: one.numbers for one in report.findings}
    speeds, choices = numbers.get(Check.SPEED, {}), numbers.get(Check.CHOICES, {})
    chosen = report.settings
    return ModelNote(
        report.model,
        report.digest,
        report.date,
        report.verdict,
        chosen.mode,
        chosen.context,
        chosen.exposure,
        int(choices.get("right", 0)),
        int(choices.get("asked", 0)),
        speeds.get("reading", 0.0),
        speeds.get("writing", 0.0),
    )


def read_note(told: Mapping[str, Any]) -> ModelNote | None:
    """Return a note from what JSON held, None when a member is missing or of another kind."""
    values: dict[str, Any] = {}
    for item in fields(ModelNote):
        value = told.get(item.name)
        if isinstance(value, bool) or not isinstance(value, _KINDS[str(item.type)]):
            return None
        values[item.name] = value
    note = ModelNote(**values)
    return note if note.mode in _MODES and note.exposure in _EXPOSURES else None


def is_same(note: ModelNote, card: ModelCard) -> bool:
    """Tell whether a note is of the very weights that the card describes."""
    return note.model == card.name and note.digest == card.digest


def exposure_for(wanted: str, note: ModelNote | None) -> str:
    """Return the exposure to use: what was set, else what was measured, else filter."""
    measured = note.exposure if note else "filter"
    return measured if wanted == "auto" else wanted
