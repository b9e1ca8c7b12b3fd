# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts tokens where a server says them, and estimates them where it does not."""

from __future__ import annotations

import json
from typing import Any

from .base import ChatRequest, Usage

CHARACTERS = 4.0
"""Characters a token for the estimate; high, so that a prompt is never refused wrongly."""


def estimate(request: ChatRequest) -> int:
    """Estimate the tokens of a request's prompt, on the low side."""
    length = sum(
        len(item.content) + sum(len(json.dumps(call.arguments)) for call in item.calls)
        for item in request.messages
    )
    length += sum(
        len(json.dumps(tool.parameters)) + len(tool.description) for tool in request.tools
    )
    return int(length / CHARACTERS) + 4 * len(request.messages)


def counted(prompt: int | None, cached: int | None, generated: int | None) -> Usage | None:
    """Return the usage of what a server said, or None when it did not count the prompt."""
    if prompt is None:
        return None
    known = min(max(cached or 0, 0), prompt)
    return Usage(prompt, known, prompt - known, generated or 0, estimated=cached is None)


def guessed(request: ChatRequest, text: str) -> Usage:
    """Return an estimated usage for a server that counts nothing."""
    prompt = estimate(request)
    return Usage(prompt, 0, prompt, int(len(text) / CHARACTERS), estimated=True)


def number(source: Any, *path: str) -> int | None:
    """Return a whole number at a path of attributes or keys, or None."""
    for key in path:
        source = source.get(key) if isinstance(source, dict) else getattr(source, key, None)
    return int(source) if isinstance(source, (int, float)) else None
