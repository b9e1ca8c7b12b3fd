# SPDX-License-Identifier: GPL-2.0-or-later
"""What the model doctor's page shows: plain data, filled by whoever examines the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class CheckGrade(Enum):
    """How good a check came out."""

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class CheckRow:
    """One check: its name, how it came out, what was found and what it means."""

    name: str
    grade: CheckGrade
    found: str
    meaning: str = ""


@dataclass(frozen=True)
class DoctorSettings:
    """The settings for one model: mode (schema, native, text), context in tokens, exposure
    (filter, hint). `measured` says beside each, by its name, how it was found."""

    mode: str
    context: int
    exposure: str
    measured: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DoctorResult:
    """The verdict and what it stands on; `when` and `report` are texts to show and to copy.

    `settings` is None where none can be used: no way to call a tool, or a check that was stopped.
    """

    grade: CheckGrade
    title: str
    paragraph: str
    when: str
    report: str
    settings: DoctorSettings | None = None
