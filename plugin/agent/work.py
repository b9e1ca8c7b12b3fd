# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out the calls of one run: events, timing, repeated and unknown calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace

from ...tools.base import MendableError, Toolbox, ToolCancelled, ToolDefinition, ToolResult
from ..llm.base import Cancelled, ModelError
from .chat import Chat
from .event import CallFinished, CallProgress, CallStarted, Event
from .limit import Limits, LoopBreaker
from .message import ToolCall


class Looping(ModelError):
    """The model asks for the same call, or for unknown tools, again and again."""


@dataclass
class Work:
    """The calls of one run; `results` holds what they gave, in order, `unknown` is the last
    call's name when no tool is called so."""

    toolbox: Toolbox
    chat: Chat
    limits: Limits
    cancelled: Cancelled
    progress: Callable[[CallProgress], None]
    results: list[ToolResult] = field(default_factory=list)
    errors: int = 0
    unknown: str = ""
    steps: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self._tools = {tool.name: tool for tool in self.toolbox.definitions()}
        self._breaker = LoopBreaker(self.limits.repeats)
        self._done: dict[str, ToolResult] = {}

    def definition(self, name: str) -> ToolDefinition | None:
        """Return the definition of a tool, or None for an unknown one."""
        return self._tools.get(name)

    def run(self, call: ToolCall) -> Generator[Event, None, ToolResult]:
        """Run one call. Raises MendableError, LastingError, ToolCancelled and Looping."""
        times = self._breaker.count(call)
        if times >= self.limits.repeats:
            raise Looping(
                f"The model asked for the same call {times} times, so the run was stopped. "
                "Ask in other words, or choose a larger model."
            )
        self.unknown = "" if call.name in self._tools else call.name
        if self._breaker.unknown(bool(self.unknown)):
            raise Looping(
                f'The model keeps asking for tools that do not exist ("{call.name}"). '
                "Ask again, or choose another model."
            )
        key = f"{call.name} {sorted(call.arguments.items(), key=str)}"
        if times > 1 and key in self._done:
            return _again(self._done[key])
        result = yield from self._carry_out(call)
        self._done[key] = result
        return result

    def _carry_out(self, call: ToolCall) -> Generator[Event, None, ToolResult]:
        self.steps += 1
        tool = self._tools.get(call.name)
        yield CallStarted(
            call.id,
            call.name,
            tool.label if tool else call.name,
            call.layer,
            call.arguments,
            self.steps,
        )
        started = time.monotonic()
        try:
            result = self.toolbox.run(
                call.name,
                call.arguments,
                lambda percent: self.progress(CallProgress(call.id, percent)),
                self.cancelled,
            )
        except Exception as failure:
            if isinstance(failure, MendableError):
                self.errors += 1
            stopped = isinstance(failure, ToolCancelled)
            yield self._finished(call, started, str(failure) or "Stopped.", stopped=stopped)
            raise
        yield self._finished(call, started, "", result)
        self.chat.keep(result)
        self.chat.retain(self.toolbox.results())
        self.results.append(result)
        return result

    def _finished(
        self,
        call: ToolCall,
        started: float,
        error: str,
        result: ToolResult | None = None,
        stopped: bool = False,
    ) -> CallFinished:
        seconds = time.monotonic() - started
        self.seconds += seconds
        return CallFinished(
            call.id, call.name, call.arguments, not error, error, seconds, result, stopped
        )


def _again(result: ToolResult) -> ToolResult:
    note = "This call was made before; this is its result. Go on with another call."
    return replace(result, text=f"{result.text}\n{note}", notes=(*result.notes, note))
