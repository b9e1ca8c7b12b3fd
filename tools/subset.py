# SPDX-License-Identifier: GPL-2.0-or-later
"""Features that a result spoke of and that are no layer yet, so that a later call can mean them."""

from __future__ import annotations

from dataclasses import dataclass

from .condition import Filter
from .source import VectorSource


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


def described(source: VectorSource, taken: Filter) -> str:
    """Name the features of a layer that meet a filter, in one line of a layer's name."""
    joint = "and" if " where " in source.key else "where"
    return f"{source.key} {joint} {taken.words}"
