# SPDX-License-Identifier: GPL-2.0-or-later
"""What a chat remembers: the messages that the model has seen, the results, the turns."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from ...tools.base import ToolResult
from ..workflow.graph import Graph
from .message import Memory, Message


@dataclass(frozen=True)
class Turn:
    """One question with its answer and the results that were made for it."""

    question: str
    answer: str
    results: tuple[str, ...]


@dataclass
class Chat:
    """The memory of one chat. `messages` only ever grow within a turn, so that each request is
    an extension of the one before and the server's prefix cache holds. `shown` names the tools
    and examples that stand in them already. `planning` is the same of the plans, `made` gives the
    graph and the step that a result is of, by its short id."""

    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    results: dict[str, ToolResult] = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)
    planning: Memory = field(default_factory=Memory)
    made: dict[str, tuple[Graph, str]] = field(default_factory=dict)

    def keep(self, result: ToolResult) -> None:
        """Remember a result by its short id."""
        if result.id:
            self.results[result.id] = result

    def numbers(self) -> dict[str, float]:
        """Return every number by its reference ("r2.count"), the newest result first."""
        return {
            f"{item.id}.{key}": value
            for item in reversed(list(self.results.values()))
            for key, value in item.numbers.items()
        }

    def texts(self) -> dict[str, str]:
        """Return every text value by its reference, the newest result first."""
        return {
            f"{item.id}.{key}": value
            for item in reversed(list(self.results.values()))
            for key, value in item.texts.items()
        }

    def unit(self, reference: str) -> str:
        """Return the unit of a number, or ""."""
        short, _, key = reference.partition(".")
        return self.results[short].units.get(key, "") if short in self.results else ""

    def references(self) -> dict[str, tuple[str, ...]]:
        """Return references by kind, as grounding takes them, the newest first."""
        layers = tuple(item.id for item in reversed(list(self.results.values())) if item.layers)
        return {
            "number": tuple(self.numbers()),
            "text": tuple(self.texts()),
            "layer": layers,
        }

    def retain(self, alive: Container[str]) -> None:
        """Drop the results that were taken back."""
        self.results = {short: item for short, item in self.results.items() if short in alive}
