# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds out by asking whether a model calls tools natively, in its text, or held to a schema."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..agent.message import Message, Role, ToolCall
from .base import Cancelled, ChatRequest, FeatureRefused, ToolSpec
from .doctor_ask import Asked, Patient, ask
from .doctor_report import Check, Finding, Grade
from .speaker import Mode
from .textcall import find_calls

REPLY = 256
_TOOL = ToolSpec(
    "set_colour",
    "Gives a layer one colour.",
    {
        "type": "object",
        "properties": {"layer": {"type": "string"}, "colour": {"type": "string"}},
        "required": ["layer", "colour"],
    },
)
_ASKED = "Give the layer roads the colour red."
_IN_TEXT = (
    "You call tools. There is one: set_colour(layer, colour) gives a layer one colour.\n"
    'Reply with the call alone, as JSON: {"name": …, "arguments": {…}}'
)
_HELD = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": ["juniper", "kestrel"]}},
    "required": ["word"],
    "additionalProperties": False,
}
_FREE = "Say good morning to the people of a small village in one sentence."
_MEANINGS = {
    Mode.SCHEMA: "Uses the schema",
    Mode.NATIVE: "Uses the model's own calls",
    Mode.TEXT: "Reads the calls from the text",
}


@dataclass(frozen=True)
class CallsFound:
    """Which ways of calling a tool have worked; `thought` tells that thinking came with them."""

    schema: bool
    native: bool
    text: bool
    thought: bool = False

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways that work, the closest hold first."""
        works = ((Mode.SCHEMA, self.schema), (Mode.NATIVE, self.native), (Mode.TEXT, self.text))
        return tuple(mode for mode, good in works if good)


def probe(model: Patient, cancelled: Cancelled) -> CallsFound:
    """Ask in all three ways. Raises ModelError and RunCancelled."""
    schema = _ask(model, ChatRequest(_messages("", _FREE), (), _HELD, REPLY), cancelled)
    native = _ask(model, ChatRequest(_messages("", _ASKED), (_TOOL,), None, REPLY), cancelled)
    text = _ask(model, ChatRequest(_messages(_IN_TEXT, _ASKED), max_tokens=REPLY), cancelled)
    replies = [one.reply for one in (schema, native, text) if one]
    return CallsFound(
        schema is not None and is_held(schema.reply.text),
        native is not None and _is_right(native.reply.calls),
        text is not None and _is_right(find_calls(text.reply.text, (_TOOL.name,)).calls),
        any(reply.thinking for reply in replies),
    )


def finding(found: CallsFound) -> Finding:
    """Say in words which ways work."""
    words = [
        f"{name}: {'yes' if good else 'no'}"
        for name, good in (
            ("As text", found.text),
            ("Native", found.native),
            ("Schema", found.schema),
        )
    ]
    said = ". ".join(words)
    numbers = {
        "schema": float(found.schema), "native": float(found.native), "text": float(found.text),
    }  # fmt: skip
    if not found.modes:
        return Finding(Check.CALLS, Grade.ERROR, said, "No call was understood", numbers)
    grade = Grade.FINE if found.schema and found.native else Grade.NOTE
    return Finding(Check.CALLS, grade, said, _MEANINGS[found.modes[0]], numbers)


def is_held(text: str) -> bool:
    """Tell whether a reply is one that the schema allows, and the question does not ask for."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return value in ({"word": "juniper"}, {"word": "kestrel"})


def _ask(model: Patient, request: ChatRequest, cancelled: Cancelled) -> Asked | None:
    try:
        return ask(model, request, cancelled)
    except FeatureRefused:
        return None


def _messages(system: str, text: str) -> tuple[Message, ...]:
    head = (Message(Role.SYSTEM, system),) if system else ()
    return (*head, Message(Role.USER, text))


def _is_right(calls: tuple[ToolCall, ...]) -> bool:
    return any(call.name == _TOOL.name and call.arguments.get("layer") == "roads" for call in calls)
