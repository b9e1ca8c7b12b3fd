# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms of Ollama's native API: messages, tools and names as it takes them, and the errors
that its refusals stand for."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from ..agent.message import Message, Role
from .base import ModelError, ToolSpec
from .failure import Place, broken_off, from_connection, from_status, model_missing
from .ollama_client import refusal_of

NO_PICTURES = "{} cannot look at pictures. Choose a model that can, such as one with vision."


def message_body(message: Message) -> dict[str, Any]:
    """Return a message as the native endpoint takes it: arguments as objects, results as text,
    pictures in base 64."""
    body: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.role is Role.TOOL:
        body["tool_name"] = message.name
    if message.calls:
        body["tool_calls"] = [
            {"function": {"name": call.name, "arguments": call.arguments}} for call in message.calls
        ]
    if message.images:
        body["images"] = [base64.b64encode(image).decode("ascii") for image in message.images]
    return body


def tool_body(tool: ToolSpec) -> dict[str, Any]:
    """Return a tool as the native endpoint takes it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def position(name: str, names: Sequence[str]) -> int | None:
    """Return where a model stands in the list; "" is the first, no tag also means latest."""
    if not name:
        return 0 if names else None
    for wanted in (name, f"{name}:latest"):
        for at, listed in enumerate(names):
            if listed.lower() == wanted.lower():
                return at
    return None


def duration(text: str) -> float | str:
    """Return a keep_alive as Ollama takes it: plain seconds as a number, else as written."""
    try:
        return float(text)
    except ValueError:
        return text


def missing(place: Place, names: list[str], wanted: str) -> ModelError:
    """Return the error for a model that Ollama does not have."""
    found = model_missing(place, names, f"Or run: ollama pull {wanted or 'NAME'}")
    found.can_pull = True
    return found


def error_of(error: Exception, place: Place, partial: str) -> Exception | None:
    """Return the error for one of the client's or the connection's; None for a model that is
    not there any more."""
    told = refusal_of(error)
    if told is None:
        return from_connection(error, place, partial)
    if told.status == 404 and "model" in told.text.lower():
        return None
    if told.status == 404:
        return ModelError(
            f"{place} does not know this request. Bring {place.label} up to date.", told.text
        )
    if told.status == 400 and "duration" in told.text:
        return ModelError(
            f"{place.label} cannot read how long the model shall stay loaded. Write it as 5m or 1h "
            "in the options.",
            told.text,
        )
    found = from_status(told.status, told.text, place)
    if told.status is None and type(found) is ModelError:
        return broken_off(place, found.detail, partial)
    return found
