# SPDX-License-Identifier: GPL-2.0-or-later
"""What llama.cpp's server tells of graphics cards: those that it can use, and how many layers of
a model it put on them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .gguf import ModelFile

_DEVICE = re.compile(r"^\s+(\w+): (.+) \((\d+) MiB, (\d+) MiB free\)\s*$", re.MULTILINE)
_OFFLOADED = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_CHOOSES = re.compile(r"--n-gpu-layers\b[^-]*?'auto'", re.DOTALL)
_MIB = 1 << 20
_SPARE = 512 * _MIB
"""Bytes of a card that are left for the cache and the sums of a model."""

_BESIDE = 1
"""The output counts as a layer beside those of the model."""


@dataclass(frozen=True)
class Device:
    """A graphics card that the server can use; memory in bytes."""

    id: str
    name: str
    total: int
    free: int


@dataclass(frozen=True)
class Placement:
    """How many of a model's layers lie on graphics cards, and on which."""

    on_card: int
    layers: int
    cards: str = ""

    @property
    def words(self) -> str:
        """Say where the model lies, as a part of a sentence."""
        if not self.on_card:
            return "on the processor"
        cards = self.cards or "the graphics card"
        if self.on_card >= self.layers:
            return f"all {self.layers} layers on {cards}"
        return f"{self.on_card} of {self.layers} layers on {cards}"


def devices(listed: str) -> tuple[Device, ...]:
    """Return the cards that `llama-server --list-devices` printed."""
    return tuple(
        Device(identity, name.strip(), int(total) * _MIB, int(free) * _MIB)
        for identity, name, total, free in _DEVICE.findall(listed)
    )


def chooses_layers(help_text: str) -> bool:
    """Tell from its help whether a server finds out itself how many layers fit."""
    return _CHOOSES.search(help_text) is not None


def layers_that_fit(model: ModelFile, cards: tuple[Device, ...], cache: int) -> int:
    """Return how many layers fit the cards, for a server that does not find out itself.

    `cache` is what the context takes in bytes; all layers count as equally large.
    """
    layers = model.layers + _BESIDE
    free = sum(max(0, card.free - _SPARE) for card in cards) - cache
    return max(0, min(layers, free * layers // max(1, model.bytes)))


def placement(log: str, cards: tuple[Device, ...]) -> Placement | None:
    """Return what a server's log tells of its layers, None when it tells nothing."""
    told = _OFFLOADED.findall(log)
    if not told:
        return None
    on_card, layers = (int(number) for number in told[-1])
    return Placement(on_card, layers, names_of(cards))


def names_of(cards: tuple[Device, ...]) -> str:
    """Return the names of cards, each once."""
    return " and ".join(dict.fromkeys(card.name for card in cards))
