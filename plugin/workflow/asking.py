# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a model for one JSON object that is held to a schema, and counts what that costs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..agent.message import Message, Role
from ..llm.base import (
    Cancelled,
    Choice,
    Finish,
    ModelError,
    Reply,
    RunCancelled,
    Speaker,
    Spoken,
    Usage,
)

Tell = Callable[[Any], None]
_CUT = "The reply was too long and was cut. Write fewer tasks."
_FULL = 0.625
"""Share of the context that earlier questions may fill; one takes up to 3,000 tokens of 8,192."""
_NO_OBJECT = "Reply with one JSON object."


class ReplyError(Exception):
    """A reply that holds no whole JSON object; the message says so to the model."""


class TokensSpent(ModelError):
    """The cap of tokens for one question is reached."""


def user(text: str) -> Message:
    """Return a turn of the user."""
    return Message(Role.USER, text)


def replied(form: Mapping[str, Any]) -> Message:
    """Return a turn of the model that wrote an object."""
    return Message(Role.ASSISTANT, json.dumps(form, ensure_ascii=False))


@dataclass
class Conversation:
    """The requests of one plan; `usage` and `seconds` are their sums, `messages` only ever grow,
    so that a server's prefix cache holds. `tell` gets what streams in before a reply, and each
    Reply."""

    speaker: Speaker
    cancelled: Cancelled
    tell: Tell
    messages: list[Message] = field(default_factory=list)
    token_cap: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    def ask(
        self, schemas: Mapping[str, dict[str, Any]], speaker: Speaker | None = None
    ) -> dict[str, Any]:
        """Return the object that the model writes; another speaker may stand in for one request.

        Raises ReplyError, ModelError, RunCancelled.
        """
        if self.cancelled():
            raise RunCancelled
        spent = self.usage.evaluated + self.usage.generated
        if self.token_cap and spent >= self.token_cap:
            raise TokensSpent(
                f"The plan used {spent} tokens, the cap is {self.token_cap}. "
                "Ask a smaller question, or raise the cap in the options."
            )
        reply = self._reply(Choice(said=dict(schemas)), speaker or self.speaker)
        found = first_object(reply.text)
        if found is None:
            raise ReplyError(_CUT if reply.finish is Finish.LENGTH else _NO_OBJECT)
        return found

    def leaves_room(self) -> bool:
        """Tell whether the messages leave enough of the context for another question."""
        context = self.speaker.card().context
        return self.speaker.estimate(tuple(self.messages)) < context * _FULL

    def _reply(self, choice: Choice, speaker: Speaker) -> Reply:
        began = time.monotonic()
        for chunk in speaker.choose(tuple(self.messages), choice, self.cancelled):
            if isinstance(chunk, Spoken):
                self.usage += chunk.reply.usage
                self.seconds += time.monotonic() - began
                self.tell(chunk.reply)
                return chunk.reply
            self.tell(chunk)
        raise ModelError("The model ended without a reply. Try again.")


def first_object(text: str) -> dict[str, Any] | None:
    """Return the first whole JSON object in a text, None where there is none."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            found, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        return found if isinstance(found, dict) else None
    return None
