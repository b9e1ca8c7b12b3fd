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
