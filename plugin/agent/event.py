# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run tells: the dock, the log, the record and the tests all read this one stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Union

from ...tools.base import LayerReference, ToolResult
from ..llm.base import Usage


class Status(str, Enum):
    """How a run ended."""

    OK = "ok"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class RunStarted:
    """A question was taken up."""

    question: str
    model: str
    server: str
    stages: tuple[str, ...]
    max_steps: int


@dataclass(frozen=True)
class StageChanged:
    """The work entered a state; `intent` is the model's USER_INTENT."""

    stage: str
    intent: str = ""


@dataclass(frozen=True)
class ModelState:
    """The model is loading, reading the prompt or writing."""

    state: str  # "loading", "reading", "writing", "idle"
    seconds: float = 0.0


@dataclass(frozen=True)
class CallStarted:
    """A tool call begins; `layer` is the main layer's name or ""."""

    call_id: str
    tool: str
    label: str
    layer: str
    arguments: dict[str, Any]
    step: int


class Reach(str, Enum):
    """How far a call reaches: the first two end with the session, the others last."""

    READ = "read"
    MAKE = "make"
    REMOVE = "remove"
    PROJECT = "project"
    EDIT = "edit"
    FILE = "file"
    NETWORK = "network"

    @property
    def lasts(self) -> bool:
        """Whether something is left that closing QGIS does not take away."""
        return self not in (Reach.READ, Reach.MAKE)


@dataclass(frozen=True)
class Deed:
    """What a call would do: `target` is the layer, file or host that it would change, `tool` the
    tool or the id of the algorithm, `where` the folder or source of the target, `details` its
    arguments as texts. `open`: some arguments are known only when the steps before have run."""

    reach: Reach
    tool: str
    label: str = ""
    target: str = ""
    where: str = ""
    undoable: bool = False
    details: tuple[tuple[str, str], ...] = ()
    open: bool = False

    def covers(self, other: Deed) -> bool:
        """Tell whether a word on this deed is one on the other: it does the very same."""
        same = (self.reach, self.tool) == (other.reach, other.tool)
        if self.open:
            return same and set(self.details) <= set(other.details)
        return same and self.details == other.details


@dataclass(frozen=True)
class ApprovalAsked:
    """The run waits for the user's word on these deeds; a plan's come together."""

    identity: str
    deeds: tuple[Deed, ...]


@dataclass(frozen=True)
class ApprovalGiven:
    """The user allowed or refused what was asked; `ever` holds for the tool in this chat."""

    identity: str
    allowed: bool
    ever: bool = False


@dataclass(frozen=True)
class CallProgress:
    """A running call reports its share done, 0 to 100."""

    call_id: str
    percent: float


@dataclass(frozen=True)
class CallFinished:
    """A tool call ended; `error` is "" when it worked, `stopped` tells that the user ended it."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    ok: bool
    error: str
    seconds: float
    result: ToolResult | None = None
    stopped: bool = False


@dataclass(frozen=True)
class Reflected:
    """The reflection step corrected a failed call (or found nothing to correct)."""

    call_id: str
    text: str


@dataclass(frozen=True)
class AnswerDelta:
    """A piece of the answer, as Markdown."""

    text: str


@dataclass(frozen=True)
class AnswerReset:
    """What was streamed of the answer is withdrawn: a better one follows."""


@dataclass(frozen=True)
class Notice:
    """One sentence for the user beside the answer: a summary was made, a guard mended something."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class TokensUsed:
    """Tokens of one model call, and the context in force.

    `cost` are its dollars where they are known, `basis` what they rest on.
    """

    usage: Usage
    context: int
    seconds: float
    cost: float | None = None
    basis: str = ""


@dataclass(frozen=True)
class RunFinished:
    """The run ended; `answer` is the final text, or the reason in one sentence."""

    status: Status
    answer: str
    value: float | None = None
    unit: str = ""
    reason: str = ""
    layers: tuple[LayerReference, ...] = ()
    files: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: dict[str, float] = field(default_factory=dict)


Event = Union[
    RunStarted,
    StageChanged,
    ModelState,
    CallStarted,
    ApprovalAsked,
    ApprovalGiven,
    CallProgress,
    CallFinished,
    Reflected,
    AnswerDelta,
    AnswerReset,
    Notice,
    TokensUsed,
    RunFinished,
]
