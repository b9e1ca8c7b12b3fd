# SPDX-License-Identifier: GPL-2.0-or-later
"""Worked examples of calls, as data, and the choice of those most like a question."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORD = re.compile(r"[^\W\d_]+|\d+")
_SAME_INTENT = 0.12
_SAME_KINDS, _SAME_FAMILIES = 0.1, 0.15
_SAME_PICKS, _BOTH_PICK = 0.2, 0.1
_SAME_DISTANCE, _SAME_NUMBER = 0.2, 0.2
_KIND = re.compile(r"\((?:\d+ )?(point|line|polygon|raster|table)")
_RESULT = re.compile(r"r\d+")
_VECTOR = {"point": "vector", "line": "vector", "polygon": "vector"}
_DISTANCES = frozenset(("distance", "max_distance", "radius"))
_CONDITIONS = {"conditions": "layer", "other_conditions": "other"}
NOTHING = "nothing"
"""What a question refers to that can be understood by itself."""


@dataclass(frozen=True)
class Step:
    """One call of an example, in the state where it is made, and what it gave."""

    stage: str
    tool: str
    arguments: Mapping[str, Any]
    result: str = ""

    def text(self) -> str:
        """Write the step as the reply that a model would give."""
        reply = {
            "CURRENT_STAGE": self.stage,
            "tool": self.tool,
            "arguments": self.arguments,
        }
        return json.dumps(reply, ensure_ascii=False)


@dataclass(frozen=True)
class Example:
    """A question over other layers: what it needs, and the calls that answer it.

    `initial` marks those that every chat begins with, for the state Init; `english` is the
    question in English where it is asked in another language, `also` are other intents that its
    question may well be taken for.
    """

    question: str
    layers: tuple[str, ...]
    intent: str
    needs: str
    steps: tuple[Step, ...]
    initial: bool = False
    english: str = ""
    also: tuple[str, ...] = ()

    def fits(self, intent: str) -> bool:
        """Tell whether its question has this intent, or may be taken to have it."""
        return intent == self.intent or intent in self.also

    @property
    def keys(self) -> list[str]:
        """The names of the layers that its calls name, of all where they name none."""
        names = [_named(line) for line in self.layers]
        said = " ".join(step.text() for step in self.steps)
        return [name for name in names if f'"{name}"' in said] or names

    @property
    def kinds(self) -> tuple[str, ...]:
        """The geometries of the layers that its calls name, sorted."""
        return tuple(sorted(found.group(1) for found in map(_KIND.search, self.used) if found))

    @property
    def picked(self) -> dict[str, tuple[str, str]]:
        """The values of the question by which its calls pick features, each with its field and
        the layer of that."""
        found = {}
        for step in self.steps:
            for key, about in _CONDITIONS.items():
                for one in step.arguments.get(key, ()):
                    value = one.get("value")
                    if one["op"] == "=" and isinstance(value, str) and value in self.question:
                        found[value] = (one["field"], str(step.arguments[about]))
        return found

    @property
    def is_far(self) -> bool:
        """Whether a call takes a distance."""
        return any(not _DISTANCES.isdisjoint(step.arguments) for step in self.steps)

    @property
    def compares(self) -> bool:
        """Whether a call picks features by a number."""
        return any(
            isinstance(one.get("value"), (int, float))
            for step in self.steps
            for one in step.arguments.get("conditions", ())
        )

    @property
    def used(self) -> tuple[str, ...]:
        """The lines of the layers that its calls name."""
        return tuple(line for line in self.layers if _named(line) in self.keys)

    @property
    def refers(self) -> str:
        """The earlier result that the question speaks of."""
        return next((key for key in self.keys if _RESULT.fullmatch(key)), NOTHING)


def _named(line: str) -> str:
    """Return what a model calls the layer of a line: its name, or the id of its result."""
    return line.partition(" (")[0].partition(" = ")[0]


def _picked_alike(one: int, other: int | None) -> float:
    if other is None:
        return 0.0
    return _SAME_PICKS if one == other else _BOTH_PICK * bool(one and other)


def _families(kinds: tuple[str, ...]) -> list[str]:
    """Return the kinds of layers without telling vector geometries apart, sorted."""
    return sorted(_VECTOR.get(kind, kind) for kind in kinds)


def _stems(text: str, ignored: frozenset[str]) -> Counter[str]:
    words = _WORD.findall(text.lower())
    return Counter(word[:5] for word in words if word not in ignored)


class ExampleBank:
    """Holds the worked examples and ranks them by likeness to a question.

    Likeness is the cosine of the rarity-weighted word stems of question and layers, higher for
    the same intent and for the same kinds of layers, which count in any language.
    """

    def __init__(
        self, examples: tuple[Example, ...], ignored: frozenset[str] = frozenset()
    ) -> None:
        self.examples = examples
        self._ignored = ignored
        self._bags = [
            _stems(f"{item.english or item.question} {' '.join(item.layers)}", ignored)
            for item in examples
        ]
        seen = Counter(stem for bag in self._bags for stem in bag)
        self._rarity = {stem: math.log(1 + len(examples) / n) for stem, n in seen.items()}

    def tools(self, intent: str) -> frozenset[str]:
        """Return the tools that examples of an intent use; none for an unknown intent."""
        return frozenset(
            step.tool for item in self.examples if item.intent == intent for step in item.steps
        )

    def initial(self) -> tuple[Example, ...]:
        """Return the examples that every chat begins with."""
        return tuple(item for item in self.examples if item.initial)

    def nearest(
        self,
        question: str,
        intent: str,
        count: int,
        kinds: tuple[str, ...] = (),
        picks: int | None = None,
        is_far: bool = False,
        compares: bool = False,
    ) -> tuple[Example, ...]:
        """Return the `count` most alike, the most alike last (nearest to the question).

        `kinds` are the geometries of the layers that the question is about, in any order; `picks`
        is how many of their values it names, None where that is not known; `is_far` tells that it
        says a distance, `compares` that it says another number.
        """
        bag = _stems(question, self._ignored)
        kinds = tuple(sorted(kinds))
        scores = [
            self._likeness(bag, own)
            + _SAME_INTENT * item.fits(intent)
            + _SAME_KINDS * (item.kinds == kinds)
            + _SAME_FAMILIES * (_families(item.kinds) == _families(kinds))
            + _picked_alike(len(item.picked), picks)
            + _SAME_DISTANCE * (is_far and item.is_far)
            + _SAME_NUMBER * (compares and item.compares)
            for item, own in zip(self.examples, self._bags)
        ]
        ranked = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        return tuple(self.examples[place] for place in reversed(ranked[:count]))

    def _likeness(self, one: Counter[str], other: Counter[str]) -> float:
        shared = sum(self._rarity.get(stem, 0.0) ** 2 for stem in one if stem in other)
        return shared / (self._length(one) * self._length(other) or 1.0)

    def _length(self, bag: Counter[str]) -> float:
        return math.sqrt(sum(self._rarity.get(stem, 0.0) ** 2 for stem in bag))


def load(path: Path, ignored: frozenset[str] = frozenset()) -> ExampleBank:
    """Read the examples from a file; `ignored` are words that tell nothing of a question.

    Raises OSError, ValueError or KeyError when the file is broken.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    return ExampleBank(
        tuple(
            Example(
                item["question"],
                tuple(item["layers"]),
                item["intent"],
                item["needs"],
                tuple(
                    Step(s["stage"], s["tool"], s["arguments"], s.get("result", ""))
                    for s in item["steps"]
                ),
                bool(item.get("init")),
                item.get("english", ""),
                tuple(item.get("also", ())),
            )
            for item in data["examples"]
        ),
        ignored,
    )
