# SPDX-License-Identifier: GPL-2.0-or-later
"""What a question costs: a hosted model by its price list, with cached tokens; a local one by the
hour, shared by the copies that fit the memory (Geo-OLM paper, section 4)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .base import ModelCard, ModelError, Usage
from .memory import Memory, machine_memory

_MILLION = 1e6
_HOUR_S = 3600.0
_GIGABYTE = 1e9
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens read, read from the cache, and written, at a date."""

    model: str
    input: float
    cached: float
    output: float
    date: str = ""
    source: str = ""

    def of(self, usage: Usage) -> float:
        """Return the dollars of some tokens."""
        parts = (
            (usage.evaluated, self.input),
            (usage.cached, self.cached),
            (usage.generated, self.output),
        )
        return sum(tokens * dollars for tokens, dollars in parts) / _MILLION


@dataclass(frozen=True)
class Hour:
    """Dollars for an hour of a machine, and the bytes whose copies of a model share them.

    `example` tells that it is no fact about the user's own machine.
    """

    dollars: float
    memory: int
    example: bool = False
    date: str = ""
    source: str = ""

    def copies(self, size: int) -> int:
        """Return how many copies of a model fit, one at least."""
        return max(1, self.memory // size) if size > 0 else 1

    def of(self, seconds: float, size: int) -> float:
        """Return the dollars of the seconds of one of the copies."""
        return seconds / _HOUR_S * self.dollars / self.copies(size)


@dataclass(frozen=True)
class Cost:
    """Dollars, and what they rest on, as a part of a sentence."""

    dollars: float
    basis: str


@dataclass(frozen=True)
class PriceTable:
    """The prices of hosted models, and an example of an hour."""

    hosted: tuple[Price, ...] = ()
    hour: Hour | None = None

    def price(self, model: str) -> Price | None:
        """Return the price of a hosted model; one with a date in its name counts as the one
        without."""
        wanted = model.lower().rpartition("/")[2]
        names = (wanted, _DATED.sub("", wanted))
        return next((one for one in self.hosted if one.model.lower() in names), None)


def load(path: Path) -> PriceTable:
    """Read a table of prices. Raises ModelError with one sentence when it cannot be read."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        hosted = tuple(_price(item) for item in told.get("hosted", ()))
        local = told.get("local")
        return PriceTable(hosted, _hour(local) if local else None)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(
            f"The price table {path.name} cannot be read. Mend it, or clear it in the options.",
            f"{type(error).__name__}: {error}",
        ) from error


@dataclass(frozen=True)
class Costing:
    """Counts the cost of a model's calls.

    `hourly` are the dollars of an hour of this machine, 0 to count none; `memory_gb` the memory
    that the copies share, 0 for that of this machine.
    """

    table: PriceTable
    hourly: float = 0.0
    memory_gb: float = 0.0
    memory: Callable[[], Memory] = machine_memory

    def of(self, card: ModelCard, usage: Usage, seconds: float) -> Cost | None:
        """Return what a call cost, None where nothing is known of it."""
        if not card.local:
            price = self.table.price(card.name)
            if price is None:
                return None
            return Cost(price.of(usage), f"list price of {price.date}, {price.source}")
        if not self.hourly:
            return None
        memory = int(self.memory_gb * _GIGABYTE) or self.memory().total
        hour = Hour(self.hourly, memory)
        copies = hour.copies(card.size)
        shared = f", shared by the {copies} copies that fit" if copies > 1 else ""
        return Cost(hour.of(seconds, card.size), f"${self.hourly:g} an hour{shared}")


def _price(item: dict[str, Any]) -> Price:
    read, cached, written = (float(item[name]) for name in ("input", "cached", "output"))
    if min(read, cached, written) < 0:
        raise ValueError(f"a price of {item['model']} is negative")
    date, source = str(item.get("date", "")), str(item.get("source", ""))
    return Price(str(item["model"]), read, cached, written, date, source)


def _hour(item: dict[str, Any]) -> Hour:
    return Hour(
        float(item["hourly"]),
        int(float(item["memory_gb"]) * _GIGABYTE),
        bool(item.get("example", False)),
        str(item.get("date", "")),
        str(item.get("source", "")),
    )
