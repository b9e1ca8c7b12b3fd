# SPDX-License-Identifier: GPL-2.0-or-later
"""What the run of a graph tells beside the events of its calls; the chat and the canvas read it."""

from __future__ import annotations

from dataclasses import dataclass

from ...tools.base import LayerReference, ToolResult
from .change import Change
from .graph import Graph, Status


@dataclass(frozen=True)
class GraphStarted:
    """A graph begins to run: `steps` are the ids that will, in their order."""

    graph: Graph
    steps: tuple[str, ...]


@dataclass(frozen=True)
class StepChanged:
    """A step has another status; `text` is its result or error, `call_id` that of its call."""

    step: str
    status: Status
    text: str = ""
    seconds: float = 0.0
    result: ToolResult | None = None
    call_id: str = ""


@dataclass(frozen=True)
class StepProgress:
    """A running step reports its share done, 0 to 100."""

    step: str
    percent: float


@dataclass(frozen=True)
class StepLog:
    """One line of a step's log."""

    step: str
    text: str


@dataclass(frozen=True)
class ReviewReached:
    """A review stop waits: these layers are to be looked at."""

    step: str
    text: str
    layers: tuple[LayerReference, ...]


@dataclass(frozen=True)
class QuestionAsked:
    """A question to the user waits; `default` is what is taken without an answer, if any."""

    step: str
    text: str
    choices: tuple[str, ...] = ()
    default: str = ""


@dataclass(frozen=True)
class GraphChanged:
    """The graph was changed in its run: a failed step mended, an abstract one made concrete."""

    graph: Graph
    change: Change
    reason: str
