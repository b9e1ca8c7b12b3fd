# SPDX-License-Identifier: GPL-2.0-or-later
"""The dictionary forms in which the Flow and GeoFlow papers keep their graphs, read and written.

Both link steps by `next` and `prev` on either side; links that stand on one side only are
repaired, and each repair is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .form import FormError, Reading, reading
from .graph import Graph, Status, Vertex
from .topology import order

Remark = Callable[[str], None]
_AGENTS = {
    "database_agent": "database",
    "detector_agent": "vision",
    "data_agent": "table",
    "map_agent": "map",
}
_WORDS = {
    "database": r"database|load|quer|catalog|retriev|file",
    "vision": r"detect|vision|classif|land ?cover|imag",
    "raster": r"raster|ndvi|terrain|elevation|band",
    "map": r"map|plot|visuali|chart|zoom|cartograph",
    "table": r"count|statistic|table|number|data analy",
    "vector": r"vector|buffer|overlay|spatial|geometr",
}
_STATUS = {"completed": Status.COMPLETED, "failed": Status.FAILED}


def is_form(form: Mapping[str, Any]) -> bool:
    """Tell whether a JSON object is one of the papers' forms."""
    return _steps(form) is not None


def read(form: Mapping[str, Any], remark: Remark) -> Graph:
    """Return the graph of a paper's form; its steps are abstract. Raises FormError."""
    steps = _steps(form)
    if steps is None:
        raise FormError("", "tasks, workflow or subtasks is missing.")
    roles = _roles(form, remark)
    found = {name: reading(one, f"{place}.{name}", remark) for place, name, one in _listed(steps)}
    links = _links(form, found, remark)
    question = form.get("query", form.get("task", form.get("final_goal", "")))
    vertices = tuple(
        Vertex(
            id=name,
            agent=_agent(one, roles, remark),
            objective=_objective(one),
            after=tuple(parent for parent, child in links if child == name),
            status=_STATUS.get(one.text("status"), Status.PENDING),
            history=_history(one),
        )
        for name, one in found.items()
    )
    return Graph(question=str(question), vertices=vertices)


def written(graph: Graph) -> dict[str, Any]:
    """Return a graph in the GeoFlow form: `query` and `tasks` by id. Raises TopologyError."""
    order(graph)
    names = {ours: theirs for theirs, ours in _AGENTS.items()}
    agents = list(_AGENTS)
    tasks: dict[str, Any] = {}
    for one in graph.vertices:
        agent = names.get(one.agent, f"{one.agent}_agent")
        if agent not in agents:
            agents.append(agent)
        parents = list(graph.parents(one))
        tasks[one.id] = {
            "id": one.id,
            "objective": one.objective,
            "agent_id": agents.index(agent),
            "next": list(graph.children(one.id)),
            "prev": parents,
            "status": one.status.value if one.status.value in _STATUS else "pending",
            "history": one.history,
            "remaining_dependencies": len(parents),
            "agent": agent,
        }
    return {"query": graph.question, "tasks": tasks}


def _steps(form: Mapping[str, Any]) -> Any:
    """Return what holds the steps: GeoFlow's tasks, Flow's workflow or its older subtasks."""
    for key in ("tasks", "workflow", "subtasks"):
        found = form.get(key)
        if isinstance(found, dict) and found and all(isinstance(x, dict) for x in found.values()):
            return found
        if isinstance(found, list) and key == "subtasks":
            return found
    return None


def _listed(steps: Any) -> list[tuple[str, str, Any]]:
    """Return (place, id, form) of each step."""
    if isinstance(steps, dict):
        return [("tasks", str(name), one) for name, one in steps.items()]
    listed = []
    for at, one in enumerate(steps):
        if not isinstance(one, dict) or "id" not in one:
            raise FormError(f"subtasks[{at}]", "an object with an id is needed.")
        listed.append(("subtasks", str(one["id"]), one))
    return listed


def _links(form: Mapping[str, Any], found: Mapping[str, Reading], remark: Remark) -> list[Any]:
    """Return the (parent, child) links, each once, those of one side repaired."""
    links: list[tuple[str, str]] = []
    said: dict[tuple[str, str], set[str]] = {}
    for name, one in found.items():
        for other in _names(one, "prev"):
            said.setdefault((other, name), set()).add("prev")
        for other in _names(one, "next"):
            said.setdefault((name, other), set()).add("next")
    for pair in form.get("subtask_dependencies", []):
        if not isinstance(pair, dict) or not {"parent", "child"} <= set(pair):
            raise FormError("subtask_dependencies", "parent and child are needed.")
        said[str(pair["parent"]), str(pair["child"])] = {"prev", "next"}
    for (parent, child), sides in said.items():
        if parent not in found or child not in found:
            missing = parent if parent not in found else child
            remark(f"The link {parent} → {child} was left out: there is no step {missing}.")
            continue
        if len(sides) == 1:
            remark(f"The link {parent} → {child} stood on one side only and was repaired.")
        links.append((parent, child))
    return links


def _names(one: Reading, key: str) -> list[str]:
    return [str(name) for name in one.items(key)]


def _objective(one: Reading) -> str:
    wanted = one.text("output_format")
    said = one.text("objective", needed=True)
    return f"{said} Return: {wanted}" if wanted else said


def _history(one: Reading) -> str:
    found = one.form.get("history", "")
    return found if isinstance(found, str) else str(found)


def _roles(form: Mapping[str, Any], remark: Remark) -> dict[str, str]:
    """Return Flow's role texts by the agent's id, its place and the steps that it is given."""
    found: dict[str, str] = {}
    for at, one in enumerate(form.get("agents", [])):
        entry = reading(one, f"agents[{at}]", remark)
        role = entry.text("role")
        found[str(at)] = role
        found[entry.text("id")] = role
        for step in entry.items("subtasks"):
            found[f"step {step}"] = role
    return found


def _agent(one: Reading, roles: Mapping[str, str], remark: Remark) -> str:
    """Return our agent for a step's, by its name, else by the words of its role or objective."""
    said = one.text("agent")
    if said in _AGENTS:
        return _AGENTS[said]
    step = str(one.form.get("id", one.place.rpartition(".")[2]))
    number = str(one.form.get("agent_id", ""))
    role = said or roles.get(f"step {step}") or roles.get(number, "")
    text = f"{role} {one.text('objective')}".lower()
    for words in (role.lower(), text):
        for ours, pattern in _WORDS.items():
            if words and re.search(rf"\b(?:{pattern})", words):
                return ours
    remark(f'{step}: the agent "{role}" is not known; Data takes the step.')
    return "database"
