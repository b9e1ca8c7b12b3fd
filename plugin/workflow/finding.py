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
    """A change that mends a finding, named as a button would name it; a guess is offered to the
    user, and never made by itself."""

    label: str
    change: Change
    is_guess: bool = False


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

    @property
    def sure(self) -> tuple[Mend, ...]:
        """The mends that may be made without asking."""
        return tuple(one for one in self.mends if not one.is_guess)
