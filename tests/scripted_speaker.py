# SPDX-License-Identifier: GPL-2.0-or-later
"""A strict stand-in for a Speaker: it plays a script, and fails on a request that no step awaits,
on a step that no request took, and on a call of a tool that was not offered."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Union

from geo_olm.plugin.agent.message import Message, Role, ToolCall
from geo_olm.plugin.llm.base import (
    Cancelled,
    Choice,
    Chunk,
    Finish,
    ModelCard,
    Reply,
    RunCancelled,
    Server,
    Spoken,
    TextDelta,
    Usage,
    Waiting,
)

SILENT_S = 9.0
USAGE = Usage(prompt=100, cached=60, evaluated=40, generated=10)


class ScriptBroken(AssertionError):
    """The engine asked for something else than the script foresees."""


@dataclass(frozen=True)
class Says:
    """Values without a call, as in Init or for the next stage."""

    said: Mapping[str, Any]


@dataclass(frozen=True)
class Calls:
    """One call, or several native ones, of tools that must be on offer unless `unoffered`."""

    calls: tuple[ToolCall, ...]
    stage: str = ""
    native: bool = False
    unoffered: bool = False


@dataclass(frozen=True)
class Mumbles:
    """A reply in which no call was found."""

    text: str = "The answer is obvious."
    malformed: str = ""


@dataclass(frozen=True)
class Writes:
    """Free text, in pieces; `cut` where the model came to its limit."""

    pieces: tuple[str, ...]
    cut: bool = False


@dataclass(frozen=True)
class Fails:
    """An error in place of a reply, to either kind of request."""

    error: Exception


@dataclass(frozen=True)
class Waits:
    """Silence until the run is cancelled, to either kind of request."""


ScriptStep = Union[Says, Calls, Mumbles, Writes, Fails, Waits]


@dataclass(frozen=True)
class Asked:
    """One request: its messages, and the choice, or None for free text."""

    messages: tuple[Message, ...]
    choice: Choice | None

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool.name for tool in self.choice.tools] if self.choice else []


def init(intent: str, *layers: str) -> Says:
    """Return the reply to Init."""
    return Says({"CURRENT_STAGE": "Init", "USER_INTENT": intent, "layers": list(layers)})


def call(stage_name: str, tool: str, *, unoffered: bool = False, **arguments: Any) -> Calls:
    """Return a reply with one call in a stage."""
    one = ToolCall(f"c{abs(hash((stage_name, tool, str(arguments)))) % 10**8:08d}", tool, arguments)
    return Calls((one,), stage_name, unoffered=unoffered)


def wrote(*pieces: str) -> Writes:
    """Return a free text."""
    return Writes(pieces)


def cut(*pieces: str) -> Writes:
    """Return a free text that came to its limit."""
    return Writes(pieces, cut=True)


@dataclass
class ScriptedSpeaker:
    """Plays the steps in order; `asked` keeps the requests. Use it in a with statement."""

    steps: list[ScriptStep]
    context: int = 8192
    usage: Usage = USAGE
    asked: list[Asked] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __enter__(self) -> ScriptedSpeaker:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raise ScriptBroken when the script was not played exactly."""
        if self.faults or self.steps:
            left = [type(step).__name__ for step in self.steps]
            raise ScriptBroken(f"faults: {self.faults}; steps not asked for: {left}")

    def card(self) -> ModelCard:
        return ModelCard("scripted", Server.OPENAI, "http://127.0.0.1", self.context)

    def choose(
        self, messages: tuple[Message, ...], choice: Choice, cancelled: Cancelled
    ) -> Iterator[Chunk | Spoken]:
        step = self._next(Asked(messages, choice), (Says, Calls, Mumbles))
        yield Waiting(0.1)
        if isinstance(step, Waits):
            yield from _silence(cancelled)
        yield self._spoken(step, choice)

    def write(
        self, messages: tuple[Message, ...], max_tokens: int, cancelled: Cancelled
    ) -> Iterator[Chunk]:
        step = self._next(Asked(messages, None), (Writes,))
        if isinstance(step, Waits):
            yield from _silence(cancelled)
        assert isinstance(step, Writes)
        for piece in step.pieces:
            yield TextDelta(piece)
        finish = Finish.LENGTH if step.cut else Finish.STOP
        yield Reply("".join(step.pieces), finish=finish, usage=self.usage)

    def estimate(self, messages: tuple[Message, ...]) -> int:
        return sum(len(item.content) for item in messages) // 4

    def chosen(self) -> list[Asked]:
        """Return the requests for a choice."""
        return [item for item in self.asked if item.choice is not None]

    def _next(self, asked: Asked, fitting: tuple[type, ...]) -> ScriptStep:
        self.asked.append(asked)
        if not self.steps:
            self._break(f"an unexpected request: {asked.messages[-1].content[-300:]!r}")
        step = self.steps.pop(0)
        if isinstance(step, Fails):
            raise step.error
        if not isinstance(step, (*fitting, Waits)):
            self._break(f"{type(step).__name__} awaited, but asked: {asked.messages[-1].content!r}")
        return step

    def _spoken(self, step: ScriptStep, choice: Choice) -> Spoken:
        if isinstance(step, Mumbles):
            reply = Reply(step.text, usage=self.usage)
            message = Message(Role.ASSISTANT, step.text)
            return Spoken(reply, {}, (), message, malformed=step.malformed)
        if isinstance(step, Says):
            if choice.tools:
                self._break(f"only {dict(step.said)} was scripted, but tools are on offer")
            text = json.dumps(dict(step.said))
            reply = Reply(text, usage=self.usage)
            return Spoken(reply, dict(step.said), (), Message(Role.ASSISTANT, text))
        assert isinstance(step, Calls)
        return self._called(step, choice)

    def _called(self, step: Calls, choice: Choice) -> Spoken:
        names = {tool.name for tool in choice.tools}
        for one in step.calls:
            if one.name not in names and not step.unoffered:
                self._break(f"{one.name} is not on offer: {sorted(names)}")
        said = {"CURRENT_STAGE": step.stage} if step.stage else {}
        text = json.dumps([[one.name, one.arguments] for one in step.calls])
        reply = Reply(text, finish=Finish.CALLS, usage=self.usage)
        message = Message(Role.ASSISTANT, text, step.calls if step.native else ())
        return Spoken(reply, said, step.calls, message, native=step.native)

    def _break(self, fault: str) -> None:
        self.faults.append(fault)
        raise ScriptBroken(fault)


def _silence(cancelled: Cancelled) -> Iterator[Chunk]:
    until = time.monotonic() + 5
    while not cancelled():
        if time.monotonic() > until:
            raise ScriptBroken("nobody cancelled the wait")
        yield Waiting(SILENT_S)
    raise RunCancelled
