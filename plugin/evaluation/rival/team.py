# SPDX-License-Identifier: GPL-2.0-or-later
"""The agents among whom the methods of several agents share the tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ....tools.base import ToolDefinition

_CLOSING = ("answer", "reject", "undo")
"""Tools of nobody: a team answers by a text."""


@dataclass(frozen=True)
class Member:
    """One agent: its name, what it is for, and its tools' names; `rest` takes all others' tools."""

    name: str
    purpose: str
    tools: tuple[str, ...]
    rest: bool = False


@dataclass(frozen=True)
class Team:
    """The agents in their order of work."""

    members: tuple[Member, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the agents."""
        return tuple(one.name for one in self.members)

    def member(self, name: str) -> Member:
        """Return the agent with this name. Raises KeyError."""
        return {one.name: one for one in self.members}[name]

    def owner(self, tool: str) -> str:
        """Return the name of the agent that has a tool, "" for a tool of nobody."""
        if tool in _CLOSING:
            return ""
        own = [one.name for one in self.members if tool in one.tools]
        return own[0] if own else next((one.name for one in self.members if one.rest), "")

    def tools_of(
        self, member: Member, tools: Sequence[ToolDefinition]
    ) -> tuple[ToolDefinition, ...]:
        """Return an agent's own tools out of all."""
        return tuple(tool for tool in tools if self.owner(tool.name) == member.name)

    def roster(self) -> str:
        """Describe the agents in a line each."""
        return "\n".join(f"- {one.name}: {one.purpose}" for one in self.members)


def load(path: Path) -> Team:
    """Read a team. Raises OSError, ValueError or KeyError for a broken file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Team(
        tuple(
            Member(one["name"], one["purpose"], tuple(one["tools"]), bool(one.get("rest")))
            for one in data["agents"]
        )
    )
