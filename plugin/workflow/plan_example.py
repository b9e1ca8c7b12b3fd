# SPDX-License-Identifier: GPL-2.0-or-later
"""Worked examples of calls turned into worked examples of graphs, so that one set serves both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .plan_form import ANSWER
from .role import Roles

_RESULT = re.compile(r"r(\d+): ")
_USED = re.compile(r"\$?\br(\d+)\b")
FORMS = ("abstract", "ask", "review")
"""Kinds of tasks beside calls; an example has them as steps whose argument is their text."""


@dataclass(frozen=True)
class Call:
    """One call of a worked example: its tool, its arguments, and what it gave ("r1: …")."""

    tool: str
    arguments: Mapping[str, Any]
    result: str = ""


@dataclass(frozen=True)
class Worked:
    """A question over other layers, each described in a line, and the graph that answers it;
    `held` are lines that say which fields hold the names in it."""

    question: str
    layers: tuple[str, ...]
    form: Mapping[str, Any]
    held: tuple[str, ...] = ()

    @property
    def tools(self) -> frozenset[str]:
        """The tools that its tasks call."""
        return frozenset(one["tool"] for one in self.form["tasks"] if "tool" in one)

    @property
    def forms(self) -> frozenset[str]:
        """The kinds of its tasks that call no tool."""
        tasks = [one for one in self.form["tasks"] if "tool" not in one]
        return frozenset(name for one in tasks for name in FORMS if name in one) | frozenset(
            "abstract" for one in tasks if "objective" in one
        )


def form_of(calls: Iterable[Call], roles: Roles) -> dict[str, Any]:
    """Return the compact graph of a chain of calls; r1 becomes the task that gave it.

    The calls run one after the other, the graph waits only for what it uses.
    """
    tasks: list[dict[str, Any]] = []
    steps: dict[str, str] = {}
    answer = ""
    for call in calls:
        arguments = _renamed(dict(call.arguments), steps)
        if call.tool == ANSWER:
            answer = str(arguments.get("value", arguments.get("text", "")))
            continue
        key = f"v{len(tasks) + 1}"
        given = _RESULT.match(call.result)
        if given:
            steps[given.group(1)] = key
        tasks.append({"id": key, **_task(call.tool, arguments, roles)})
    return {"tasks": tasks, "answer": answer}


def _task(tool: str, arguments: dict[str, Any], roles: Roles) -> dict[str, Any]:
    if tool in FORMS:
        return dict(arguments)
    role = roles.of(tool)
    agent = {} if role is None else {"agent": role.name}
    return {**agent, "tool": tool, "arguments": arguments}


def _renamed(value: Any, steps: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _renamed(one, steps) for key, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, steps) for one in value]
    if not isinstance(value, str):
        return value
    return _USED.sub(lambda found: steps.get(found.group(1), found.group(0)), value)
