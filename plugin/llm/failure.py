# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns what servers and clients report into one sentence for the user, with the next step."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .base import (
    ContextFull,
    FeatureRefused,
    ModelError,
    ModelMissing,
    OutOfMemory,
    ServerDown,
    StreamBroken,
)
from .exchange import NoConnection, NoProxy, NoReply

MAX_LISTED = 12

_MEMORY = re.compile(
    r"out of memory|more system memory|not enough memory|failed to allocate|"
    r"unable to allocate|cudaMalloc failed|insufficient memory",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"exceed\w* the available context|exceed_context_size|maximum context length|"
    r"context_length_exceeded|prompt is too long|input is too long|exceeds? (?:the )?context",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(r"does not support tools|tools? (?:are|is) not supported", re.IGNORECASE)
_GRAMMAR = re.compile(
    r"grammar|response_format|json_schema|json schema|invalid schema|structured output|"
    r"unsupported (?:schema|format)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(r"\btools?\b|tool_choice|stream_options|\bformat\b", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Which server was asked, for sentences: its label, host and port, and the model."""

    label: str
    address: str
    model: str = ""
    context: int = 0

    def __str__(self) -> str:
        return f"{self.label} at {self.address}"


def server_down(place: Place, detail: str = "") -> ServerDown:
    """No connection."""
    return ServerDown(
        f"{place.label} does not answer at {place.address}. Start it, or choose another model.",
        detail,
        retry=True,
    )


def silent(place: Place, detail: str = "") -> ModelError:
    """Connected, but nothing came in time."""
    return ModelError(
        f"{place} took too long to answer. Wait longer in the options, or choose a smaller model.",
        detail,
        retry=True,
    )


def model_missing(place: Place, names: Sequence[str], advice: str = "") -> ModelMissing:
    """The server does not list the model."""
    if not names:
        return ModelMissing(
            f"{place} has no model yet. {advice or 'Load one there, or choose another server.'}"
        )
    listed = ", ".join(names[:MAX_LISTED]) + (" and more" if len(names) > MAX_LISTED else "")
    advice = f" {advice}" if advice else ""
    return ModelMissing(
        f"{place.label} has no model named {place.model}. It has: {listed}. "
        f"Choose one of them.{advice}",
        names=tuple(names),
    )


def context_full(place: Place, detail: str = "") -> ContextFull:
    """The prompt does not fit."""
    size = f" ({place.context:,} tokens)" if place.context else ""
    return ContextFull(
        f"The chat fills the model's context{size}. Start a new chat, or shorten this one.", detail
    )


def broken_off(place: Place, detail: str, partial: str) -> StreamBroken:
    """The reply ended early."""
    return StreamBroken(
        f"{place} broke off its reply. Ask again, or look at the server's log.", detail, partial
    )


def from_connection(error: BaseException, place: Place, partial: str) -> ModelError:
    """Return the error for one of the exchange's, or for a reply that cannot be read."""
    if isinstance(error, ModelError):
        return error
    detail = f"{type(error).__name__}: {error}"
    if isinstance(error, NoProxy):
        return ServerDown(
            f"QGIS's proxy did not let {place} be reached. Check the proxy in QGIS's network "
            "options.",
            detail,
            retry=True,
        )
    if isinstance(error, NoConnection):
        return server_down(place, detail)
    if isinstance(error, NoReply) and not partial:
        return silent(place, detail)
    return broken_off(place, detail, partial)


def from_status(status: int | None, text: str, place: Place) -> ModelError:
    """Return the error for an HTTP status (None for an error in mid-stream) and its text."""
    said = message_of(text)
    detail = f"HTTP {status}: {said}" if status else said
    if _MEMORY.search(said):
        return OutOfMemory(
            f"{place.label} has not enough memory for {place.model or 'the model'}. Choose a "
            "smaller model, or a smaller context in the options.",
            detail,
        )
    if _CONTEXT.search(said):
        return context_full(place, detail)
    refused = _refused(status, said, place, detail)
    if refused is not None:
        return refused
    if status in (401, 403):
        return ModelError(
            f"{place} refuses the key. Choose an authentication with a valid key in the options.",
            detail,
        )
    if status is not None and 300 <= status < 400:
        return ModelError(
            f"{place} sends requests on to another address, which is not followed. Set the right "
            "address in the options.",
            detail,
        )
    if status == 404 and not place.model:
        return ModelError(f"{place} lists no models. Check the address in the options.", detail)
    if status == 404:
        return ModelMissing(
            f"{place.label} has no model named {place.model}. Choose another model.", detail
        )
    if status == 429:
        return ModelError(
            f"{place} is busy, or its quota is used up. Wait a little, then ask again.",
            detail,
            retry=True,
        )
    if status == 503 and "loading" in said.lower():
        return ModelError(
            f"{place} is still loading the model. Wait a little, then ask again.",
            detail,
            retry=True,
        )
    return ModelError(
        f"{place} could not answer. Look at its log, then ask again.",
        detail,
        retry=status is None or status >= 500,
    )


def _refused(status: int | None, said: str, place: Place, detail: str) -> FeatureRefused | None:
    """Return the error for a server that takes no tools or no schema, else None."""
    if "--jinja" in said:
        return FeatureRefused(
            f"{place} takes no tools. Start it with --jinja, or choose the text mode for tools.",
            detail,
        )
    if "--enable-auto-tool-choice" in said:
        return FeatureRefused(
            f"{place} takes no tools. Start it with --enable-auto-tool-choice and "
            "--tool-call-parser, or choose the text mode for tools.",
            detail,
        )
    if _NO_TOOLS.search(said):
        return FeatureRefused(
            f"{place.model or 'The model'} takes no tools at {place.label}. Choose another model, "
            "or the text mode for tools.",
            detail,
        )
    client_fault = status in (400, 422, 501)
    if (client_fault or status == 500) and _GRAMMAR.search(said):
        return FeatureRefused(
            f"{place} cannot hold the reply to a schema. Choose another mode for tools.", detail
        )
    if client_fault and _REFUSAL.search(said):
        return FeatureRefused(f"{place} refuses a part of the request: {said[:120]}", detail)
    return None


def message_of(text: str) -> str:
    """Return the message in a server's error body, whatever its form."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    for _ in range(3):
        if not isinstance(value, dict):
            break
        value = value.get("error") or value.get("message") or value.get("detail") or text
    return value if isinstance(value, str) else json.dumps(value)
