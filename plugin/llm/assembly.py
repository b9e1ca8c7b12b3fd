# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts a streamed reply together: visible text, thinking and calls, whatever the server's form."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Union

from ..agent.message import ToolCall
from .base import Finish, Reply, TextDelta, ThinkingDelta, Timing, Usage
from .literal import MalformedError
from .textcall import new_id, read_arguments
from .thinking import ThinkingStream, split_thinking

LONGEST = 1 << 20
"""Characters of one reply; no server that keeps to its bound of tokens comes near."""

Delta = Union[TextDelta, ThinkingDelta]


@dataclass
class _Draft:
    """A native call as it comes in, piece by piece."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    whole: dict[str, Any] | None = None


class Assembly:
    """Gathers one reply; every piece taken gives back what can be shown at once.

    `longest` bounds its characters; 0 is the bound that holds for all.
    """

    def __init__(self, longest: int = 0) -> None:
        self.started = time.monotonic()
        self._longest = longest or LONGEST
        self._taken = 0
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._drafts: dict[Any, _Draft] = {}
        self._stream = ThinkingStream()

    @property
    def text(self) -> str:
        """The visible text so far."""
        return "".join(self._text)

    @property
    def is_endless(self) -> bool:
        """True when more has come than any reply holds: the caller ends it as cut."""
        return self._taken > self._longest

    def think(self, piece: str | None) -> Iterator[Delta]:
        """Take a piece of thinking that the server sends apart."""
        if piece:
            self._taken += len(piece)
            self._thoughts.append(piece)
            yield ThinkingDelta(piece)

    def write(self, piece: str | None) -> Iterator[Delta]:
        """Take a piece of content; thinking tags in it are told apart, even when cut in two."""
        if piece:
            self._taken += len(piece)
            yield from self._given(self._stream.feed(piece))

    def call_piece(
        self, key: Any, call_id: str | None, name: str | None, arguments: str | None
    ) -> None:
        """Take a piece of a native call; pieces with one key belong together."""
        draft = self._drafts.setdefault(key, _Draft())
        draft.id = draft.id or call_id or ""
        draft.name += name or ""
        draft.arguments.append(arguments or "")
        self._taken += len(name or "") + len(arguments or "")

    def call(self, call_id: str | None, name: str, arguments: dict[str, Any] | None) -> None:
        """Take a whole native call."""
        key = ("whole", len(self._drafts))
        self._drafts[key] = _Draft(call_id or "", name, whole=dict(arguments or {}))

    def flush(self) -> Iterator[Delta]:
        """Give out what was held back as the possible start of a tag."""
        yield from self._given(self._stream.flush())

    def reply(self, finish: Finish, usage: Usage, timing: Timing | None = None) -> Reply:
        """Return the whole reply, cut when it is endless; call `flush` first.

        A call whose arguments cannot be read is kept as text in a tag, so that the caller can
        tell the model what was wrong with it.
        """
        calls: list[ToolCall] = []
        text, missed = split_thinking(self.text)
        taken: set[str] = set()
        for draft in self._drafts.values():
            arguments = "".join(draft.arguments)
            try:
                given = draft.whole if draft.whole is not None else read_arguments(arguments)
            except MalformedError:
                text += f'\n<tool_call>{{"name": {json.dumps(draft.name)}, "arguments": '
                text += f"{arguments}}}"
                continue
            identity = draft.id if draft.id and draft.id not in taken else new_id()
            taken.add(identity)
            calls.append(ToolCall(identity, draft.name, given))
        if self.is_endless:
            finish = Finish.LENGTH
        elif calls and finish is Finish.STOP:
            finish = Finish.CALLS
        thinking = "\n".join(part for part in ("".join(self._thoughts), missed) if part)
        seconds = time.monotonic() - self.started
        return Reply(text, thinking, tuple(calls), finish, usage, seconds, timing or Timing())

    def _given(self, parts: Iterator[tuple[bool, str]]) -> Iterator[Delta]:
        for is_thought, piece in parts:
            if is_thought:
                self._thoughts.append(piece)
                yield ThinkingDelta(piece)
            else:
                self._text.append(piece)
                yield TextDelta(piece)
