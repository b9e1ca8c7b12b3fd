# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds in a request which of the known names and values it holds, by their exact text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

MOST = 50
"""Names or values of a kind that are kept of one request; what is more is counted."""

LOOKED_FOR = 5000
SHORTEST_VALUE = 2
LONGEST = 200


@dataclass(frozen=True)
class Known:
    """What a request may hold: names of layers and fields, and values of the data as text."""

    layers: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


AskKnown = Callable[[], Known]
"""Gives what is known at the moment of a request, on the thread that asks."""


@dataclass(frozen=True)
class Held:
    """What a request held; `more` counts what was found beyond the first of each kind."""

    layers: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    more: int = 0


def nothing_known() -> Known:
    """No names are known."""
    return Known()


def holding(body: bytes, known: Known) -> Held:
    """Return which of the known texts stand in a request's body as whole words.

    A body in JSON is searched in its texts, however they are escaped, also where one holds JSON
    itself. Values of one character are not looked for.
    """
    text = _texts_of(body)
    layers = _found(text, known.layers)
    names = _found(text, known.fields)
    values = _found(text, (item for item in known.values if len(item) >= SHORTEST_VALUE))
    kinds = (layers, names, values)
    more = sum(max(0, len(kind) - MOST) for kind in kinds)
    cut = [tuple(kind[:MOST]) for kind in kinds]
    return Held(cut[0], cut[1], cut[2], more)


def _found(text: str, sought: Iterable[str]) -> list[str]:
    found = []
    for at, item in enumerate(dict.fromkeys(sought)):
        if at >= LOOKED_FOR:
            break
        short = item.strip()[:LONGEST]
        if short and any(_stands(text, form) for form in _forms(short)):
            found.append(short)
    return found


def _forms(item: str) -> set[str]:
    """Return a text as it is, and as it stands inside JSON that is itself a text."""
    return {item, json.dumps(item)[1:-1], json.dumps(item, ensure_ascii=False)[1:-1]}


def _stands(text: str, item: str) -> bool:
    """Tell whether an item stands in a text, not within a longer word or number."""
    at = text.find(item)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(item) : at + len(item) + 1]
        inside = (before.isalnum() and item[0].isalnum()) or (
            after.isalnum() and item[-1].isalnum()
        )
        if not inside:
            return True
        at = text.find(item, at + 1)
    return False


def _texts_of(body: bytes) -> str:
    plain = body.decode("utf-8", errors="replace")
    try:
        return "\n".join(_leaves(json.loads(plain)))
    except (ValueError, RecursionError):
        return plain


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield json.dumps(value)
