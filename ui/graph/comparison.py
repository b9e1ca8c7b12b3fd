# SPDX-License-Identifier: GPL-2.0-or-later
"""Two versions of a workflow side by side, as the canvas shows them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...plugin.workflow.change import Change, between
from ...plugin.workflow.graph import Graph


@dataclass(frozen=True)
class Comparison:
    """`before` and `after` with what each is called; `is_live` tells that the later one is the
    workflow on the canvas, so that parts can be taken back."""

    before: Graph
    after: Graph
    before_name: str
    after_name: str
    is_live: bool = False
    change: Change = field(init=False)

    def __post_init__(self) -> None:
        """Compute the difference once."""
        object.__setattr__(self, "change", between(self.before, self.after))

    @property
    def shown(self) -> Graph:
        """The later version, with the steps that only the earlier one has."""
        found = self.after
        for key in self.change.removed:
            found = found.with_vertex(self.before.vertex(key))
        return found

    def with_after(self, graph: Graph) -> Comparison:
        """Return the comparison with another workflow on the canvas; two kept versions stay."""
        return replace(self, after=graph) if self.is_live else self
