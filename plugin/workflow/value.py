# SPDX-License-Identifier: GPL-2.0-or-later
"""What a parameter of a vertex holds: a literal, a layer, a variable, another vertex's output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_PLACE = re.compile(r"\{([A-Za-z_]\w*)(?:\.(\w+))?\}")


@dataclass(frozen=True)
class Layer:
    """A layer of the project, by the key under which tools take it."""

    name: str


@dataclass(frozen=True)
class Output:
    """What another vertex gives: with `key` "" its layer (or its only number), else the number,
    text or named layer of that key."""

    vertex: str
    key: str = ""

    @property
    def text(self) -> str:
        """The reference as it is written in a template: v1 or v1.count."""
        return f"{self.vertex}.{self.key}" if self.key else self.vertex


@dataclass(frozen=True)
class Asked:
    """A variable of the workflow, asked for at run time."""

    variable: str


@dataclass(frozen=True)
class Template:
    """A text with outputs and variables in braces: "{v1.count} / {v2.count}" or "{distance}"."""

    text: str

    def references(self) -> Iterator[tuple[str, str]]:
        """Yield the (name, key) pairs in braces; `key` is "" where none is named."""
        for found in _PLACE.finditer(self.text):
            yield found.group(1), found.group(2) or ""

    def filled(self, fill: Callable[[str, str], str]) -> str:
        """Return the text with what `fill(name, key)` gives in place of each reference."""
        return _PLACE.sub(lambda found: fill(found.group(1), found.group(2) or ""), self.text)


Value = Any
"""A JSON value in which Layer, Output, Asked and Template may stand at any depth."""


def walk(value: Value) -> Iterator[Value]:
    """Yield the value and all that it holds, outer first; keys of objects are not yielded."""
    yield value
    if isinstance(value, Mapping):
        for one in value.values():
            yield from walk(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from walk(one)


def mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return the value with `change` applied to each leaf (anything but lists and objects)."""
    if isinstance(value, Mapping):
        return {key: mapped(one, change) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [mapped(one, change) for one in value]
    return change(value)
