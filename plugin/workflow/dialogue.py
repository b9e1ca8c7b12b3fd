# SPDX-License-Identifier: GPL-2.0-or-later
"""A workflow changed in words: what a request, and what was edited by hand, means as a change."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...tools.base import ToolDefinition
from .briefing import Understood
from .change import Change, between
from .graph import Graph
from .revision import Reviser, Wanted, tools_of
from .wording import words

_WORD = re.compile(r"[^\W\d_]{3,}")
_STEM = 5
_EDITS = 8


class Dialogue:
    """The turns over one graph. `seen` is the graph as the model knew it last."""

    def __init__(self, reviser: Reviser, seen: Graph) -> None:
        self._reviser = reviser
        self.seen = seen

    def changed(self, graph: Graph, request: str) -> Change:
        """Return what a request changes of the graph as it stands; steps that it does not touch
        stay identical. What the user changed since the last turn is told to the model.

        Raises PlanError where the model finds no change, ModelError, RunCancelled.
        """
        edits = words(self.seen, between(self.seen, graph))[:_EDITS]
        change = self._reviser.change(graph, self._wanted(graph, request, edits))
        self.seen = graph
        return change

    def _wanted(self, graph: Graph, request: str, edits: Sequence[str]) -> Wanted:
        means = self._reviser.means
        chosen = means.briefing.examples(request, Understood("", ()))
        names = (
            tools_of(graph, means.definitions)
            | {tool for one in chosen.shown for tool in one.tools}
            | {one.name for one in named(request, means.definitions)}
        )
        tools = tuple(one for one in means.definitions if one.name in names)
        told = [f"The user changed: {one}" for one in edits]
        asked = f"Request: {means.briefing.in_metres(request.strip())}"
        text = "\n".join([*told, asked])
        return Wanted(text, tools, request=request)


def named(request: str, definitions: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Return the tools whose name, or label, a request says."""
    said = {word[:_STEM] for word in _WORD.findall(request.casefold())}
    return tuple(one for one in definitions if _stems(one.name) <= said)


def _stems(name: str) -> set[str]:
    parts = [part for part in name.split("_") if len(part) > 2] or [name]
    return {part[:_STEM] for part in parts}
