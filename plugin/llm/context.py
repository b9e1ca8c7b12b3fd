# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses how many tokens of context a model is loaded with: what was asked for, bounded by what
it was trained for and by the memory that is there, and larger by whole steps for a long prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .memory import Memory

LEAST = 2048
SPARE = 1 << 30
"""Bytes that are left to the rest of the machine."""

_BYTES = 2
"""Bytes of one number in the cache of keys and values (16 bits)."""


@dataclass(frozen=True)
class Room:
    """What bounds the context: the tokens of the training, and those that the memory holds.

    0 means that nobody says.
    """

    trained: int = 0
    in_memory: int = 0

    @property
    def most(self) -> int:
        """The largest context that can be had, 0 when nothing bounds it."""
        return min((bound for bound in (self.trained, self.in_memory) if bound), default=0)

    def within(self, wanted: int) -> int:
        """Return a wanted context as far as it can be had."""
        return min(wanted, self.most) if self.most else wanted

    def grown(self, present: int, needed: int) -> int:
        """Return the context for a prompt that outgrew the present one, doubled until it fits.

        0 when it cannot be had.
        """
        found = present
        while found < needed:
            found *= 2
        found = self.within(found)
        return found if found >= needed and found > present else 0


def room(info: Mapping[str, Any], weights: int, memory: Memory) -> Room:
    """Return the room of a model by its card, the bytes of its weights that are still to be
    loaded, and the machine's memory.

    Never less than 2,048 tokens: whether those can be loaded, the server has to say.
    """
    trained, per_token = trained_context(info), bytes_per_token(info)
    if not (per_token and memory.free):
        return Room(trained)
    left = memory.free - weights - SPARE
    return Room(trained, max(LEAST, left // per_token // LEAST * LEAST))


def trained_context(info: Mapping[str, Any]) -> int:
    """Return the context that a model was trained for, 0 when its card does not say."""
    return _number(info, "context_length")


def bytes_per_token(info: Mapping[str, Any]) -> int:
    """Return what one token of context takes in memory, 0 when the card does not say."""
    layers, heads = _number(info, "block_count"), _number(info, "attention.head_count")
    groups = _number(info, "attention.head_count_kv") or heads
    side = _number(info, "embedding_length") // heads if heads else 0
    key = _number(info, "attention.key_length") or side
    value = _number(info, "attention.value_length") or side
    return layers * groups * (key + value) * _BYTES


def _number(info: Mapping[str, Any], name: str) -> int:
    """Return a number of the model's architecture; of a list, its largest."""
    architecture = info.get("general.architecture", "")
    found = info.get(f"{architecture}.{name}")
    if found is None:
        ending = f".{name}"
        found = next((value for key, value in info.items() if str(key).endswith(ending)), 0)
    if isinstance(found, (list, tuple)):
        found = max((item for item in found if isinstance(item, (int, float))), default=0)
    return int(found) if isinstance(found, (int, float)) else 0
