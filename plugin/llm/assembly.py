# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts a streamed reply together: visible text, thinking and calls, whatever the server's form."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Union

from ..agent.message import ToolCall
from .base import Finish, Reply, TextDelta, ThinkingDelta, Usage
from .literal import MalformedError
from .textcall import new_id, read_arguments

_OPEN = ("<think>", "<thinking>")
_CLOSE = ("</think>", "</thinking>")

Delta = Union[TextDelta, ThinkingDelta]


@dataclass
class _Draft:
    """A native call as it comes in, piece by piece."""

    id: str = ""
    name: str = ""
    arguments: str = ""
    whole: dict[str, Any] | None = None


@dataclass
class Assembly:
    """Gathers one reply; every piece taken gives back what can be shown at once."""

    text: str = ""
    thinking: str = ""
    started: float = field(default_factory=time.monotonic)
    _drafts: dict[Any, _Draft] = field(default_factory=dict)
    _pending: str = ""
    _inside: bool = False

    @property
    def is_empty(self) -> bool:
        """True when neither text nor a call has come."""
        return not self.text.strip() and not self._pending.strip() and not self._drafts

    def think(self, piece: str | None) -> Iterator[Delta]:
        """Take a piece of thinking that the server sends apart."""
        if piece:
            self.thinking += piece
            yield ThinkingDelta(piece)

    def write(self, piece: str | None) -> Iterator[Delta]:
        """Take a piece of content; thinking tags in it are told apart, even when cut in two."""
        self._pending += piece or ""
        while self._pending:
            marks = _CLOSE if self._inside else _OPEN
            at, mark = _first(self._pending, marks)
            if mark:
                yield from self._emit(self._pending[:at])
                self._pending = self._pending[at + len(mark) :]
                self._inside = not self._inside
                continue
            keep = _partial(self._pending, marks)
            ready = self._pending[: len(self._pending) - keep]
            self._pending = self._pending[len(ready) :]
            yield from self._emit(ready)
            return

    def call_piece(
        self, key: Any, call_id: str | None, name: str | None, arguments: str | None
    ) -> None:
        """Take a piece of a native call; pieces with one key belong together."""
        draft = self._drafts.setdefault(key, _Draft())
        draft.id = draft.id or call_id or ""
        draft.name += name or ""
        draft.arguments += arguments or ""

    def call(self, call_id: str | None, name: str, arguments: dict[str, Any] | None) -> None:
        """Take a whole native call."""
        key = ("whole", len(self._drafts))
        self._drafts[key] = _Draft(call_id or "", name, whole=dict(arguments or {}))

    def flush(self) -> Iterator[Delta]:
        """Give out what was held back as the possible start of a tag."""
        piece, self._pending = self._pending, ""
        yield from self._emit(piece)

    def reply(self, finish: Finish, usage: Usage) -> Reply:
        """Return the whole reply; call `flush` first.

        A call whose arguments cannot be read is kept as text in a tag, so that the caller can
        tell the model what was wrong with it.
        """
        calls: list[ToolCall] = []
        text, taken = self.text, set()
        for draft in self._drafts.values():
            try:
                given = draft.whole if draft.whole is not None else read_arguments(draft.arguments)
            except MalformedError:
                text += f'\n<tool_call>{{"name": {json.dumps(draft.name)}, "arguments": '
                text += f"{draft.arguments}}}"
                continue
            identity = draft.id if draft.id and draft.id not in taken else new_id()
            taken.add(identity)
            calls.append(ToolCall(identity, draft.name, given))
        if calls and finish is Finish.STOP:
            finish = Finish.CALLS
        seconds = time.monotonic() - self.started
        return Reply(text, self.thinking, tuple(calls), finish, usage, seconds)

    def _emit(self, piece: str) -> Iterator[Delta]:
        if not piece:
            return
        if self._inside:
            self.thinking += piece
            yield ThinkingDelta(piece)
        else:
            self.text += piece
            yield TextDelta(piece)


def _first(text: str, marks: tuple[str, ...]) -> tuple[int, str]:
    """Return place and form of the first mark in a text, or -1 and ""."""
    found = [(text.find(mark), mark) for mark in marks if mark in text]
    return min(found) if found else (-1, "")


def _partial(text: str, marks: tuple[str, ...]) -> int:
    """Return how many characters at the end may be the start of a mark."""
    longest = max(len(mark) for mark in marks) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(mark.startswith(text[-size:]) for mark in marks):
            return size
    return 0
