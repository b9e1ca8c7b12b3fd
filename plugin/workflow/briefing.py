# SPDX-License-Identifier: GPL-2.0-or-later
"""What a planner is told: the project in words, the agents and tools, the examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...tools.base import LayerProfile
from .plan_example import Worked


@dataclass(frozen=True)
class Understood:
    """What the model took a question for: its intent, the layers by the names that tools take,
    what no layer holds ("" for nothing), the question in English where it is not, what it needs
    with the place of each, as the model said it, and the earlier result that it speaks of, which
    is the first of the layers ("" for none). `is_part`: it is only whole with the one before."""

    intent: str
    layers: tuple[str, ...]
    missing: str = ""
    english: str = ""
    needs: str = ""
    refers: str = ""
    is_part: bool = False


@dataclass(frozen=True)
class Chosen:
    """The worked examples to show, the most alike last, and the tools of those near by."""

    shown: tuple[Worked, ...]
    tools: frozenset[str]


class Briefing(Protocol):
    """The texts and examples of a plan; any thread."""

    intents: tuple[str, ...]

    def system(self) -> str:
        """Return the first message, the same for every question."""

    def openings(self) -> Sequence[tuple[str, Mapping[str, object]]]:
        """Return the turns that show what is asked of a question first."""

    def overview(self, question: str, layers: Sequence[LayerProfile]) -> str:
        """Return the layers, a line each, and the question."""

    def refers(self, question: str) -> bool:
        """Tell whether a question begins with a word that speaks of an earlier result."""

    def mentions(self, question: str) -> bool:
        """Tell whether a question has such a word anywhere."""

    def names_any(self, question: str, layers: Sequence[LayerProfile]) -> bool:
        """Tell whether a question names one of these layers, or a field or value of theirs."""

    def names_field(
        self, question: str, layer: LayerProfile, others: Sequence[LayerProfile]
    ) -> bool:
        """Tell whether a question names a field of a layer that the others do not have."""

    def is_part(self, question: str, layers: Sequence[LayerProfile]) -> bool:
        """Tell whether a question is only whole with the one before it."""

    def counted(self, question: str, layer: LayerProfile) -> str:
        """Return what a question asks the number of, where it is not plain that the features of
        a layer are that; else ""."""

    def is_english(self, question: str) -> bool:
        """Tell whether a question need not be put into English first."""

    def missing(self, needs: str, layers: Sequence[LayerProfile]) -> str:
        """Return what the model says is needed and held nowhere, "" for nothing."""

    def examples(self, question: str, understood: Understood) -> Chosen:
        """Return the worked examples most like a question."""

    def tools(self, names: Sequence[str]) -> str:
        """Describe agents and their tools of these names."""

    def in_metres(self, text: str) -> str:
        """Return a text with its distances in metres too, where it has them in another unit, and
        with what it says in millions as a number."""

    def revision_system(self) -> str:
        """Return the first message of a change, the same for every change."""

    def revisions(self) -> Sequence[tuple[str, Mapping[str, object]]]:
        """Return the turns that show how graphs are changed."""

    def task(self, question: str, understood: Understood) -> str:
        """Return the layers in detail and the question."""
