# SPDX-License-Identifier: GPL-2.0-or-later
"""What a check found, as data that the canvas and the model can both show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .change import Change


class Severity(str, Enum):
    """Whether the graph must not run, should be looked at, or is only commented."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Mend:
    """A change that mends a finding, named as a button would name it."""

    label: str
    change: Change


@dataclass(frozen=True)
class Finding:
    """One finding: its code, the vertex ("" for the graph) and parameter, and one sentence that
    says what is wrong, where, and the next step."""

    code: str
    severity: Severity
    message: str
    vertex: str = ""
    parameter: str = ""
    mends: tuple[Mend, ...] = ()
