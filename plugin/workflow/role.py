# SPDX-License-Identifier: GPL-2.0-or-later
"""The agents A of a graph, as data: each with its scope, its tools, an icon and a colour."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...tools.base import ToolDefinition


@dataclass(frozen=True)
class Role:
    """An agent: its name in a graph, what a user reads, its scope in one sentence, its tools.

    `icon` is an icon of QGIS's theme, else a file of resources/icons; `color` is the hexadecimal
    colour on light palettes, `dark` that on dark ones.
    """

    name: str
    label: str
    scope: str
    tools: tuple[str, ...]
    icon: str = ""
    color: str = ""
    dark: str = ""


class RoleError(Exception):
    """Agents that cannot be read; the message names the file and the place."""


class Roles:
    """All agents, in order; a later one of the same name takes the place of an earlier one."""

    def __init__(self, roles: Iterable[Role]) -> None:
        self._roles = {one.name: one for one in roles}

    def all(self) -> tuple[Role, ...]:
        """Return the agents, in order."""
        return tuple(self._roles.values())

    def find(self, name: str) -> Role | None:
        """Return the agent called `name`, None for no such."""
        return self._roles.get(name)

    def of(self, tool: str) -> Role | None:
        """Return the first agent that has a tool."""
        return next((one for one in self._roles.values() if tool in one.tools), None)

    def definitions(self, name: str, tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
        """Return those of `tools` that an agent has, in their order."""
        role = self._roles.get(name)
        return tuple(one for one in tools if role is not None and one.name in role.tools)


def load(*paths: Path) -> Roles:
    """Return the agents of JSON files, a user's after the product's own. Raises RoleError."""
    found: list[Role] = []
    for path in paths:
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))["agents"]
            found += [_role(one) for one in entries]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RoleError(f"The agents in {path} cannot be read: {error}.") from error
    return Roles(found)


def _role(entry: dict[str, Any]) -> Role:
    return Role(
        name=str(entry["name"]),
        label=str(entry["label"]),
        scope=str(entry["scope"]),
        tools=tuple(str(one) for one in entry["tools"]),
        icon=str(entry.get("icon", "")),
        color=str(entry.get("color", "")),
        dark=str(entry.get("dark", "")),
    )
