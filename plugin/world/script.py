# SPDX-License-Identifier: GPL-2.0-or-later
"""The calls that solve a task, with an objective each, and the graph that they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

_AGENTS = Path(__file__).resolve().parents[2] / "resources" / "workflows" / "agents.json"
_REFERENCE = re.compile(r"\$([A-Za-z_]\w*)")
_ORACLES = {"run_detector": "vision", "run_land_coverage_classifier": "vision"}
_CLOSING = ("answer", "reject")


@lru_cache(maxsize=1)
def _owners() -> dict[str, str]:
    """Return by tool the agent that has it, the first where several do."""
    found: dict[str, str] = dict(_ORACLES)
    for agent in json.loads(_AGENTS.read_text(encoding="utf-8"))["agents"]:
        for tool in agent["tools"]:
            found.setdefault(tool, agent["name"])
    return found


@dataclass
class Script:
    """Steps in their order; `$name` in an argument stands for what an earlier step gave."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    objectives: list[str] = field(default_factory=list)

    def add(self, name: str, objective: str, tool: str, **arguments: Any) -> Script:
        """Add a step whose result goes by a name."""
        self.steps.append({"tool": tool, "arguments": arguments, "as": name})
        self.objectives.append(objective)
        return self

    def answer(self, **arguments: Any) -> Script:
        """End with an answer."""
        self.steps.append({"tool": "answer", "arguments": arguments})
        return self

    def reject(self, reason: str) -> Script:
        """End with a refusal."""
        self.steps.append({"tool": "reject", "arguments": {"reason": reason}})
        return self

    def chain(self, intent: str) -> dict[str, Any]:
        """Return it as a chain of the task format."""
        return {"intent": intent, "steps": self.steps}

    def graph(self) -> dict[str, Any]:
        """Return the steps but the last as sub-tasks in GeoFlow's form, with the tool of each."""
        work = [one for one in self.steps if one["tool"] not in _CLOSING]
        known = {one["as"]: f"task{number}" for number, one in enumerate(work, start=1)}
        before = {known[one["as"]]: _parents(one["arguments"], known) for one in work}
        tasks = {}
        for one, objective in zip(work, self.objectives):
            key = known[one["as"]]
            tasks[key] = {
                "id": key,
                "objective": objective,
                "agent": _owners().get(one["tool"], "vector"),
                "tool": one["tool"],
                "prev": before[key],
                "next": [other for other, its in before.items() if key in its],
            }
        return {"tasks": tasks}


def _parents(arguments: Mapping[str, Any], known: Mapping[str, str]) -> list[str]:
    names = _REFERENCE.findall(json.dumps(arguments))
    return list(dict.fromkeys(known[name] for name in names if name in known))


def is_branched(graph: Mapping[str, Any]) -> bool:
    """Tell whether a sub-task of a graph waits for two others, or two wait for one."""
    return any(len(one["prev"]) > 1 or len(one["next"]) > 1 for one in graph["tasks"].values())
