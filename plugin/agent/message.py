# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between the agent and a chat model, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Role(str, Enum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True)
class ToolCall:
    """A call that the model asked for; `id` is unique within the chat."""

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def layer(self) -> str:
        """The main layer that the call names, "" for none."""
        named = self.arguments.get("layer") or self.arguments.get("layers") or ""
        if isinstance(named, (list, tuple)):
            return ", ".join(map(str, named))
        return named if isinstance(named, str) else ""


@dataclass(frozen=True)
class Message:
    """One turn of the conversation.

    A tool message carries the id and the name of the call that it answers; an assistant
    message may carry calls beside its text. `images` are whole files (PNG or JPEG) that a
    message of the user shows to a model that can look at them.
    """

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""
    images: tuple[bytes, ...] = ()


@dataclass
class Memory:
    """The messages of a conversation that goes on from question to question.

    They only grow within a question, so that a server's prefix cache holds. `shown` names the
    tools and worked examples that stand in them; the last question begins at `last`.
    """

    messages: list[Message] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    last: int = 0
    questions: int = 0

    def begin_question(self) -> None:
        """Note that a question begins; `questions` are those that were asked and are kept."""
        self.last = len(self.messages)
        self.questions += 1

    def restart(self, opening: list[Message], keeps_last: bool) -> None:
        """Forget all but an opening and, if wanted, the last question."""
        kept = self.messages[self.last :] if keeps_last else []
        self.questions = int(bool(kept))
        self.messages[:] = [*opening, *kept]
        self.last = len(opening)
        self.shown.clear()

    def forget_question(self) -> None:
        """Drop the last question."""
        del self.messages[self.last :]
        self.questions = max(self.questions - 1, 0)

    def add_plain(self, question: str, answer: str) -> None:
        """Add a question with its answer in plain words, where the conversation has begun."""
        if self.messages:
            self.begin_question()
            self.messages += [
                Message(Role.USER, f"Question: {question}"),
                Message(Role.ASSISTANT, answer),
            ]
