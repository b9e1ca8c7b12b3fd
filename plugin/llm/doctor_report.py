# SPDX-License-Identifier: GPL-2.0-or-later
"""What the model doctor tells: one finding for each check, and a report with its verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any, Union


class Check(str, Enum):
    """What is examined, in the order in which it is told."""

    SERVER = "Server"
    CONTEXT = "Context in force"
    CALLS = "Tool calls"
    THINKING = "Thinking"
    SPEED = "Speed"
    LOADING = "Loading"
    MEMORY = "Memory"
    CHOICES = "Right choices"


class Grade(str, Enum):
    """How good a finding is; a note is neither good nor bad."""

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Began:
    """A check has begun; `detail` says what it does now, where it takes long."""

    check: Check
    detail: str = ""


@dataclass(frozen=True)
class Finding:
    """What a check found, what it means, and the numbers behind it."""

    check: Check
    grade: Grade
    found: str
    meaning: str = ""
    numbers: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Fitting:
    """The settings that fit a model, and why these.

    `mode` is schema, native or text ("" where none was understood), `exposure` filter or hint;
    `context` is in tokens, 0 where it could not be told.
    """

    mode: str = ""
    context: int = 0
    exposure: str = "filter"
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """All that was found. `complete` is false when the check was stopped or broke off.

    `key` is the name under which the model is remembered, "" when none was found; `date` is UTC
    in ISO form; `seconds` is what the check took.
    """

    key: str
    model: str
    server: str
    address: str
    digest: str
    date: str
    seconds: float
    complete: bool
    grade: Grade
    verdict: str
    paragraph: str
    findings: tuple[Finding, ...] = ()
    settings: Fitting = field(default_factory=Fitting)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as what JSON holds."""
        return {"version": 1, **asdict(self)}

    def text(self) -> str:
        """Return the report as lines for people."""
        lines = [f"{self.model}: {self.verdict}", self.paragraph, ""]
        for one in self.findings:
            mark = "" if one.grade in (Grade.FINE, Grade.NOTE) else f"[{one.grade.value}] "
            meaning = f" ({one.meaning})" if one.meaning else ""
            lines.append(f"{mark}{one.check.value}: {one.found}{meaning}")
        if self.settings.mode:
            chosen = self.settings
            lines += [
                "",
                f"Settings: tool calls {chosen.mode}, context {chosen.context:,} tokens, "
                f"tools shown {chosen.exposure}.",
            ]
        lines += ["", f"Checked {self.date} in {self.seconds:.0f} s."]
        return "\n".join(lines)


Step = Union[Began, Finding, Report]
