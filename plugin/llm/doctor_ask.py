# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a model one thing for the doctor, and takes the time of its reply."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ..agent.message import Message, Role
from .base import (
    Cancelled,
    ChatModel,
    ChatRequest,
    Chunk,
    ModelError,
    Reply,
    Spoken,
    TextDelta,
    ThinkingDelta,
    Waiting,
)
from .usage import estimate

LEAST_WRITTEN = 12
"""Tokens from which on the speed of writing is measured; fewer say little."""

LEAST_READ = 200
"""Tokens from which on the speed of reading is measured."""


class Patient(ChatModel, Protocol):
    """A chat model that also shows the pages that its server has beside the chat."""

    def page(self, path: str) -> tuple[int, bytes]:
        """Return status and body of a page of the server ("/api/ps"). Raises ModelError."""

    def log_text(self) -> str:
        """Return the log of a server of the plugin's own, else ""."""


@dataclass(frozen=True)
class Asked:
    """A reply and its times in seconds: to the first piece, from there to the last, loading.

    `counted` tells that the server counted the prompt, instead of the plugin's estimate.
    """

    reply: Reply
    first_s: float
    writing_s: float
    loading_s: float
    counted: bool

    @property
    def reading(self) -> float:
        """Tokens read a second, by the server's word, else by the clock; 0 is not measured."""
        usage, seconds = self.reply.usage, self.reply.timing.reading_s or self.first_s
        return usage.evaluated / seconds if usage.evaluated >= LEAST_READ and seconds else 0.0

    @property
    def writing(self) -> float:
        """Tokens written a second, by the server's word, else by the clock; 0 is not measured."""
        written, timing = self.reply.usage.generated, self.reply.timing
        if written < LEAST_WRITTEN:
            return 0.0
        if timing.writing_s and timing.reading_s:
            return written / timing.writing_s
        return (written - 1) / self.writing_s if self.writing_s else 0.0


class Clock:
    """Takes the times of one stream."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._first = self._last = self._loaded = 0.0

    def take(self, chunk: Chunk | Spoken) -> None:
        """Note when a piece came."""
        now = time.monotonic()
        if isinstance(chunk, Waiting) and chunk.loading:
            self._loaded = now - self._begun
        elif isinstance(chunk, (TextDelta, ThinkingDelta)):
            self._first = self._first or now
            self._last = now

    def asked(self, reply: Reply, counted: bool) -> Asked:
        """Return the reply with its times."""
        first = (self._first or time.monotonic()) - self._begun - self._loaded
        return Asked(reply, first, self._last - self._first, self._loaded, counted)


def ask(model: ChatModel, request: ChatRequest, cancelled: Cancelled) -> Asked:
    """Ask once. Raises as ChatModel.chat, and ModelError when no reply ends the stream."""
    clock = Clock()
    for chunk in model.chat(request, cancelled):
        clock.take(chunk)
        if isinstance(chunk, Reply):
            return clock.asked(chunk, chunk.usage.prompt != estimate(request))
    raise ModelError("The model ended without a reply. Try again.")


def choose(stream: Iterator[Chunk | Spoken]) -> tuple[Spoken, Asked]:
    """Read a speaker's reply. Raises as Speaker.choose, and ModelError without a reply."""
    clock = Clock()
    for chunk in stream:
        clock.take(chunk)
        if isinstance(chunk, Spoken):
            return chunk, clock.asked(chunk.reply, not chunk.reply.usage.estimated)
    raise ModelError("The model ended without a reply. Try again.")


def user(text: str) -> tuple[Message, ...]:
    """Return a conversation of one message."""
    return (Message(Role.USER, text),)


Tell = Callable[[str], None]
"""Takes what a long check does now."""
