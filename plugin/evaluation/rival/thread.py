# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages made to fit what a model can read: tools as lines or short schemas, old results cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....tools.base import ToolDefinition
from ...agent.message import Message, Role
from ...llm.base import ContextFull, Speaker

OBSERVED = "Observation:"
"""Begins a result where calls stand in text."""

_CALL_FORM = (
    "Call a tool by one JSON object on a line of its own: "
    '{"tool": "NAME", "arguments": {"NAME": VALUE}}. The result comes back as an observation.'
)
_CONDITIONS = (
    'conditions is a list of {"field": "NAME", "op": "=", "value": VALUE}; op may be =, <>, >, <, '
    "contains, is empty, is not empty, one of, between. where takes a QGIS expression instead."
)
_CUT = 160
_ROOM = 9_000
"""Characters for the list of tools, a third of what a model with 8,192 tokens reads."""
_CHARACTERS = 3.2
_SHARE = 0.4
"""Share of the context that native tool definitions may take before they are shortened."""
_VALUES, _FEW = 12, 6
_CLAUSE = re.compile(r"[;:]\s")
_KEPT = ("type", "enum", "items", "properties", "required", "anyOf")


def listed(tools: Sequence[ToolDefinition]) -> str:
    """Write the tools in a line each, with how to call them; "" for none.

    Where they are many, only the first part of each description is written.
    """
    if not tools:
        return ""
    filters = any("conditions" in tool.parameters.get("properties", {}) for tool in tools)
    shown = [_line(tool) for tool in tools]
    if sum(map(len, shown)) > _ROOM:
        shown = [_line(replace(tool, description=_first(tool))) for tool in tools]
    lines = ["Tools:", *(f"- {line}" for line in shown), _CALL_FORM]
    return "\n".join([*lines, _CONDITIONS] if filters else lines)


def _line(tool: ToolDefinition) -> str:
    """Write a tool with its arguments, the values of those required, and its description."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    names = []
    for name, one in properties.items():
        values = one.get("enum", ())
        if name not in required:
            names.append(f"{name}?")
        elif 0 < len(values) <= _VALUES:
            names.append(f"{name}={'|'.join(map(str, values))}")
        else:
            names.append(name)
    return f"{tool.name}({', '.join(names)}): {tool.description}"


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
    """Return the tools with whole schemas, or with shorter ones where these would take too much of
    the context: first without descriptions of arguments, then without lists of objects, of which
    each tool that has them takes an expression in their place, then with the arguments' names alone
    and the first words of the tool's description."""
    offered = tuple(tools)
    for shorten in (_brief, _tiny, _bare):
        if _size(offered) <= context * _SHARE:
            break
        offered = tuple(map(shorten, tools))
    return offered


def _brief(tool: ToolDefinition) -> ToolDefinition:
    return replace(tool, parameters=_short(tool.parameters, 0))


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


def _tiny(tool: ToolDefinition) -> ToolDefinition:
    """Keep names, plain types and very short enumerations of the arguments themselves."""
    required = tool.parameters.get("required", [])
    kept = {}
    for name, one in tool.parameters.get("properties", {}).items():
        if "properties" in one.get("items", {}) and name not in required:
            continue
        values = one.get("enum", ())
        kept[name] = {"enum": list(values)} if 0 < len(values) <= _FEW else _typed(one)
    return replace(tool, parameters=_object(kept, required))


def _bare(tool: ToolDefinition) -> ToolDefinition:
    """Keep the names of the arguments, and the first part of the description."""
    required = tool.parameters.get("required", [])
    kept: dict[str, Any] = {name: {} for name in _tiny(tool).parameters["properties"]}
    return replace(tool, description=_first(tool), parameters=_object(kept, required))


def _first(tool: ToolDefinition) -> str:
    return _CLAUSE.split(tool.description, maxsplit=1)[0]


def _object(properties: dict[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _typed(schema: Mapping[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if kind == "array":
        return {"type": kind, "items": _typed(schema.get("items", {}))}
    return {"type": kind} if kind else {}


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
