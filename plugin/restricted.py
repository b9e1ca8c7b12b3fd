# SPDX-License-Identifier: GPL-2.0-or-later
"""A toolbox of which an agent sees only its own tools and the layers that it is given."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..tools.base import LayerProfile, Progress, Toolbox, ToolDefinition, ToolResult
from .workflow.tracing import Traced

_ALWAYS = frozenset({"answer", "reject", "layer_info", "unique_values"})


class RestrictedToolbox:
    """Implements tools.base.Toolbox over another one, and notes the calls that worked."""

    def __init__(
        self, inner: Toolbox, tools: Collection[str], shown: Callable[[LayerProfile], bool]
    ) -> None:
        """`shown` tells which of the layers the agent may see."""
        self._inner = inner
        self._tools = frozenset(tools) | _ALWAYS
        self._shown = shown
        self.calls: list[Traced] = []
        self.made: list[ToolResult] = []

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return the agent's tools, and those by which any agent looks and ends."""
        return tuple(one for one in self._inner.definitions() if one.name in self._tools)

    def layers(self) -> tuple[LayerProfile, ...]:
        """Return the layers that the agent may see, and those that it made."""
        own = {one.id for result in self.made for one in result.layers}
        return tuple(one for one in self._inner.layers() if one.id in own or self._shown(one))

    def run(
        self,
        name: str,
        arguments: dict[str, Any],
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> ToolResult:
        """Run one call. Raises as the toolbox below."""
        result = self._inner.run(name, arguments, progress, cancelled)
        if name not in _ALWAYS:
            ids = [one.id for one in result.layers]
            names = [one.name for one in result.layers]
            self.calls.append(Traced(name, arguments, (result.id, *ids, *names)))
            self.made.append(result)
        return result

    def results(self) -> frozenset[str]:
        """Return the short ids of the results that were not taken back."""
        return self._inner.results()

    def begin_turn(self, question: str) -> None:
        """Stay in the turn of the workflow, so that one undo takes it all back."""

    def undo_turn(self) -> tuple[str, ...]:
        """Take nothing back: an agent does not undo the work of others."""
        return ()
