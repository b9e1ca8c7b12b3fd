# SPDX-License-Identifier: GPL-2.0-or-later
"""Which calls count as the same: a typed tool and the algorithms that it wraps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Wrapping:
    """A typed tool, the algorithms that do the same, and its arguments' names in them."""

    tool: str
    algorithms: tuple[str, ...]
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """One call as it is compared.

    `views` are its names with the arguments under that name: the tool as called, and the
    algorithm that it ran. A layer that an earlier call made is a `Made`.
    """

    views: tuple[tuple[str, Mapping[str, Any]], ...]

    @property
    def names(self) -> frozenset[str]:
        """All names that the call goes by."""
        return frozenset(name for name, _ in self.views)


@dataclass(frozen=True)
class Made:
    """A layer or a number that an earlier call gave, known by that call's names."""

    names: frozenset[str]


class SameCalls:
    """The table of typed tools and algorithms."""

    def __init__(self, wrappings: Iterable[Wrapping] = ()) -> None:
        self._by_tool = {one.tool: one for one in wrappings}

    def classes(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names, and the typed tools that wrap any of them."""
        found = set(names)
        for one in self._by_tool.values():
            if found.intersection(one.algorithms):
                found.add(one.tool)
        return frozenset(found)

    def same(self, one: Iterable[str], other: Iterable[str]) -> bool:
        """Tell whether two calls, by their names, are the same."""
        return not self.classes(one).isdisjoint(self.classes(other))

    def arguments(self, call: Call, name: str) -> Mapping[str, Any]:
        """Return a call's arguments as they are called under another name of the same call.

        Those that have no counterpart there are left out.
        """
        for own, given in call.views:
            if own == name:
                return given
        found: dict[str, Any] = {}
        for own, given in call.views:
            wrapped = self._by_tool.get(own)
            wanted = self._by_tool.get(name)
            if wrapped is not None and name in wrapped.algorithms:
                found |= {
                    wrapped.arguments[k]: v for k, v in given.items() if k in wrapped.arguments
                }
            elif wanted is not None and own in wanted.algorithms:
                back = {value: key for key, value in wanted.arguments.items()}
                found |= {back[key]: value for key, value in given.items() if key in back}
        return found

    def shared(self, one: str, other: str) -> frozenset[str] | None:
        """Return the arguments of `one` that `other` has too, under its name; None for all."""
        if one == other:
            return None
        wrapped, wanted = self._by_tool.get(other), self._by_tool.get(one)
        if wrapped is not None and one in wrapped.algorithms:
            return frozenset(wrapped.arguments.values())
        if wanted is not None and other in wanted.algorithms:
            return frozenset(wanted.arguments)
        return frozenset()


def load(path: Path) -> SameCalls:
    """Read the table. Raises OSError, ValueError or KeyError for a broken file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return SameCalls(
        Wrapping(tool, tuple(one["algorithms"]), one.get("arguments", {}))
        for tool, one in data["tools"].items()
    )
