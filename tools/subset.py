# SPDX-License-Identifier: GPL-2.0-or-later
"""Features that a result spoke of and that are no layer yet, so that a later call can mean them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Subset:
    """The `features` features of the layer `layer_id` that meet `expression`.

    A count, a statistic, a measure or a ranking speaks of them under its short id; they become a
    layer of that id when a call names it. `turn` counts the questions of the chat from 1.
    """

    short: str
    layer_id: str
    expression: str
    title: str
    features: int
    turn: int


def texts(value: Any) -> Iterator[str]:
    """Yield every text within the arguments of a call."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts(item)
