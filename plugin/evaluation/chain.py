# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference chains: the calls of our tools that answer a task, with earlier results by name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..agent.closing import ANSWER, REJECT

_REFERENCE = re.compile(r"\$([A-Za-z_]\w*)")


@dataclass(frozen=True)
class ChainStep:
    """One call; `name` is what later steps call its result."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True)
class Chain:
    """The calls that answer a question, the last of them answer or reject.

    `$name` in an argument stands for the id of the result that a step called so. `intent` is the
    kind of question, as our workflow names it. `known` are the names that the chains of earlier
    turns of a dialogue gave.
    """

    steps: tuple[ChainStep, ...]
    intent: str = "Transform"
    known: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The names that steps give to their results, and those that are known from before."""
        return self.known | {step.name for step in self.steps if step.name}

    @property
    def work(self) -> tuple[ChainStep, ...]:
        """The steps before the answer."""
        return tuple(step for step in self.steps if step.tool not in (ANSWER, REJECT))


def filled(value: Any, names: frozenset[str], ids: Mapping[str, str]) -> Any:
    """Return arguments with `$name` as the id in `ids`; a name without one stands as it is."""
    if isinstance(value, Mapping):
        return {key: filled(item, names, ids) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [filled(item, names, ids) for item in value]
    if not isinstance(value, str):
        return value

    def put(found: re.Match[str]) -> str:
        name = found.group(1)
        return ids.get(name, name) if name in names else found.group(0)

    return _REFERENCE.sub(put, value)


def chain(raw: Mapping[str, Any]) -> Chain:
    """Read a chain. Raises KeyError or TypeError for one that lacks a part."""
    steps = tuple(
        ChainStep(one["tool"], one.get("arguments", {}), one.get("as", "")) for one in raw["steps"]
    )
    return Chain(steps, raw.get("intent", "Transform"))


def joined(chains: Iterable[Chain]) -> Chain:
    """Return chains in a row as one."""
    return Chain(tuple(step for one in chains for step in one.steps))


def shipped(path: Path, tasks: str) -> dict[str, tuple[Chain, ...]]:
    """Read the chains of a task file by its name; empty where there are none for it.

    `path` holds {"NAME of the task file": {"task id": [chain, ...]}}. Raises OSError, ValueError,
    KeyError for a broken file.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    return {
        task: tuple(chain(one) for one in chains)
        for task, chains in data["chains"].get(tasks, {}).items()
    }
