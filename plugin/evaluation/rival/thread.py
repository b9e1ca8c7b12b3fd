# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages made to fit what a model can read: tools as lines or short schemas, old results cut."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....tools.base import ToolDefinition
from ...agent.message import Message, Role
from ...agent.prompt import signature
from ...llm.base import ContextFull, Speaker

OBSERVED = "Observation:"
"""Begins a result where calls stand in text."""

_CALL_FORM = (
    "Call a tool by one JSON object on a line of its own: "
    '{"tool": "NAME", "arguments": {"NAME": VALUE}}. The result comes back as an observation.'
)
_CUT = 160
_CHARACTERS = 3.2
_SHARE = 0.4
"""Share of the context that native tool definitions may take before they are shortened."""
_VALUES = 12
_KEPT = ("type", "enum", "items", "properties", "required", "anyOf")


def listed(tools: Sequence[ToolDefinition]) -> str:
    """Write the tools in a line each, with how to call them; "" for none."""
    if not tools:
        return ""
    return "\n".join(["Tools:", *(f"- {signature(tool)}" for tool in tools), _CALL_FORM])


def without_runs(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Join user messages that follow each other, which some chat templates refuse; drop an empty
    system message."""
    joined: list[Message] = []
    for message in messages:
        if message.role is Role.SYSTEM and not message.content:
            continue
        if joined and message.role is Role.USER and joined[-1].role is Role.USER:
            joined[-1] = replace(joined[-1], content=f"{joined[-1].content}\n{message.content}")
        else:
            joined.append(message)
    return tuple(joined)


def shortened(tools: Sequence[ToolDefinition], context: int) -> tuple[ToolDefinition, ...]:
    """Return the tools with short schemas where whole ones would take too much of the context."""
    if _size(tools) <= context * _SHARE:
        return tuple(tools)
    return tuple(replace(one, parameters=_short(one.parameters, 0)) for one in tools)


def fitted(
    messages: Sequence[Message],
    speaker: Speaker,
    reply_tokens: int,
    tools: Sequence[ToolDefinition] = (),
) -> tuple[Message, ...]:
    """Cut old results, the oldest first, until a request fits the context of the model.

    Raises ContextFull where it cannot be made to fit.
    """
    room = speaker.card().context - reply_tokens - _size(tools)
    sent = list(messages)
    for at, message in enumerate(sent):
        if speaker.estimate(tuple(sent)) <= room:
            break
        result = message.role is Role.TOOL or message.content.startswith(OBSERVED)
        if result and at < len(sent) - 1 and len(message.content) > _CUT:
            sent[at] = replace(message, content=f"{message.content[:_CUT]} …")
    needed = speaker.estimate(tuple(sent))
    if needed > room:
        raise ContextFull(f"The method needs about {needed} tokens, there is room for {room}.")
    return tuple(sent)


def _size(tools: Sequence[ToolDefinition]) -> float:
    text = (f"{one.name}{one.description}{json.dumps(one.parameters)}" for one in tools)
    return sum(map(len, text)) / _CHARACTERS


def _short(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """Keep names, types and short enumerations; below a list's items no enumeration."""
    kept: dict[str, Any] = {}
    for key in _KEPT:
        if key not in schema:
            continue
        value = schema[key]
        if key == "properties":
            kept[key] = {name: _short(one, depth) for name, one in value.items()}
        elif key == "items":
            kept[key] = _short(value, depth + 1)
        elif key == "anyOf":
            kept[key] = [_short(one, depth) for one in value]
        elif key != "enum" or (depth == 0 and len(value) <= _VALUES):
            kept[key] = value
    return kept
