# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways in which a workflow can be started, and what each runs, keeps and runs again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum

from ...tools.base import ToolResult
from .change import meaning
from .graph import Graph
from .topology import ancestors


class Way(Enum):
    """How a run is asked for."""

    RUN = "run"
    TO = "to"
    STEP = "step"
    RETRY = "retry"
    AGAIN = "again"
    REHEARSE = "rehearse"
    STOP = "stop"
    CLEAR = "clear"


@dataclass(frozen=True)
class Start:
    """What a run does: it leads to the steps in `target` (none for all), runs those in `again`
    though nothing has changed, and takes what is `held` in place of steps that run each time."""

    target: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    held: Mapping[str, ToolResult] = field(default_factory=dict)


def start(
    way: Way, graph: Graph, chosen: Collection[str], results: Mapping[str, ToolResult], last: Graph
) -> Start:
    """Return what a way does with a workflow; `results` are those of its last run, `last` the
    workflow that was run then."""
    steps = tuple(key for key in graph.ids() if key in chosen)
    if way is Way.TO:
        return Start(steps)
    if way is Way.AGAIN:
        return Start(again=graph.ids())
    held = {key: one for key, one in results.items() if is_same(last, graph, key)}
    if way is Way.STEP:
        return Start(steps, steps, {key: one for key, one in held.items() if key not in steps})
    return Start(held=held) if way is Way.RETRY else Start()


def is_same(before: Graph, after: Graph, key: str) -> bool:
    """Tell whether a step, and all that lead to it, do the same in both workflows."""
    if not (before.has(key) and after.has(key)):
        return False
    led = ancestors(after, key)
    return led == ancestors(before, key) and all(
        meaning(before.vertex(one)) == meaning(after.vertex(one)) for one in (key, *led)
    )
