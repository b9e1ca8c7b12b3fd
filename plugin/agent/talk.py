# SPDX-License-Identifier: GPL-2.0-or-later
"""Talks to the speaker for one run: turns its stream into events and counts what it costs."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field

from ..llm.base import (
    Cancelled,
    Choice,
    ModelError,
    Remark,
    Reply,
    RunCancelled,
    Speaker,
    Spoken,
    TextDelta,
    Usage,
    Waiting,
)
from .event import AnswerDelta, Event, ModelState, Notice, TokensUsed
from .message import Message

_WRAPPING = "{`"
"""What a text begins with that is no sentence yet: JSON, or a code fence."""


class TokensSpent(ModelError):
    """The cap of tokens for one question is reached."""


@dataclass
class Talk:
    """One run's conversation with the speaker; `usage` and `seconds` are its sums."""

    speaker: Speaker
    cancelled: Cancelled
    token_cap: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    def choose(
        self, messages: tuple[Message, ...], choice: Choice
    ) -> Generator[Event, None, Spoken]:
        """Ask for one reply within `choice`. Raises ModelError and RunCancelled."""
        started = self._begin()
        writing = False
        for chunk in self.speaker.choose(messages, choice, self.cancelled):
            if isinstance(chunk, Spoken):
                yield self._count(chunk.reply, started)
                return chunk
            if isinstance(chunk, (Waiting, Remark)):
                yield _told(chunk)
            elif not writing:
                writing = True
                yield ModelState("writing")
        raise ModelError("The model ended without a reply. Try again.")

    def write(
        self, messages: tuple[Message, ...], max_tokens: int, stream: bool
    ) -> Generator[Event, None, Reply]:
        """Ask for free text, streamed as the answer when `stream` is set and it is no JSON."""
        started = self._begin()
        writing = False
        text = ""
        yield ModelState("reading")
        for chunk in self.speaker.write(messages, max_tokens, self.cancelled):
            if isinstance(chunk, Reply):
                yield self._count(chunk, started)
                return chunk
            if isinstance(chunk, (Waiting, Remark)):
                yield _told(chunk)
                continue
            if not writing:
                writing = True
                yield ModelState("writing")
            if isinstance(chunk, TextDelta) and stream:
                text = (text + chunk.text).lstrip()
                if text and text[0] not in _WRAPPING:
                    yield AnswerDelta(chunk.text)
        raise ModelError("The model ended without a reply. Try again.")

    def _begin(self) -> float:
        if self.cancelled():
            raise RunCancelled
        spent = self.usage.evaluated + self.usage.generated
        if self.token_cap and spent >= self.token_cap:
            raise TokensSpent(
                f"The question used {spent} tokens, its cap is {self.token_cap}. "
                "Ask a smaller question, or raise the cap in the options."
            )
        return time.monotonic()

    def _count(self, reply: Reply, started: float) -> TokensUsed:
        seconds = time.monotonic() - started
        self.usage += reply.usage
        self.seconds += seconds
        return TokensUsed(reply.usage, self.speaker.card().context, seconds)


def _told(chunk: Waiting | Remark) -> Event:
    """Return what a run tells while no reply is written."""
    if isinstance(chunk, Remark):
        return Notice(chunk.text, chunk.warning)
    return ModelState("loading" if chunk.loading else "reading", chunk.seconds)
