# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan that the scripted model writes where a graph is asked for, right or with a fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..agent.closing import ANSWER
from .chain import Chain, ChainStep, filled
from .fault_rate import Fault


def plan(
    chain: Chain, properties: Mapping[str, Any], fault: Fault | None, earlier: Mapping[str, str]
) -> dict[str, Any]:
    """Return the tasks of a chain, and its answer, within the schema of a planned graph.

    `earlier` are the ids of results of earlier turns, by their names. A step whose tool the schema
    does not offer is left out, as a reply held to it must.
    """
    items = properties["tasks"]["items"]
    agents: dict[str, str] = {}
    for branch in items.get("anyOf", [items]):
        held = branch["properties"]
        if "tool" in held:
            agents.setdefault(held["tool"]["enum"][0], held.get("agent", {}).get("enum", [""])[0])
    steps = [one for one in chain.steps if one.tool in agents] or [
        ChainStep(tool) for tool in list(agents)[:1]
    ]
    if fault is Fault.EARLY_END:
        steps = steps[: max(len(steps) // 2, 1)]
    if fault is Fault.WRONG_ORDER:
        steps.reverse()
    if fault is Fault.LOOP:
        steps = [steps[0], *steps]
    own = {one.name: f"v{place}" for place, one in enumerate(steps, 1) if one.name}
    names = {**earlier, **own}
    tasks = [
        {
            "id": f"v{place}",
            **({"agent": agents[one.tool]} if agents[one.tool] else {}),
            "tool": one.tool,
            "arguments": filled(one.arguments, chain.names, names),
        }
        for place, one in enumerate(steps, 1)
    ]
    end = chain.steps[-1]
    said = end.arguments.get("value", "") if end.tool == ANSWER else ""
    answer = str(filled(said, chain.names, names))
    return {"tasks": tasks, "answer": answer if answer in properties["answer"]["enum"] else ""}
