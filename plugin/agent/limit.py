# SPDX-License-Identifier: GPL-2.0-or-later
"""Caps of one run, and the breaker of loops."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from .message import ToolCall


@dataclass(frozen=True)
class Limits:
    """Caps of one question; 0 means no cap for `tokens`.

    steps counts tool calls, errors failed calls, retries corrections of one call, tokens the
    evaluated and generated ones together, context the tokens that the model holds.
    """

    steps: int = 12
    errors: int = 5
    retries: int = 2
    repeats: int = 3
    tokens: int = 0
    reply_tokens: int = 512


class LoopBreaker:
    """Counts equal calls, and unknown tools in a row."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seen: Counter[str] = Counter()
        self._unknown = 0

    def count(self, call: ToolCall) -> int:
        """Return how often this very call has been asked for, this time included."""
        key = f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=str)}"
        self._seen[key] += 1
        return self._seen[key]

    def unknown(self, is_unknown: bool) -> bool:
        """Note whether a call named an unknown tool; true when that happened too often in a row."""
        self._unknown = self._unknown + 1 if is_unknown else 0
        return self._unknown >= self._limit
