# SPDX-License-Identifier: GPL-2.0-or-later
"""A graph as an AutoGen GraphFlow team: the JSON that AutoGen's own loader takes.

Tried with autogen-agentchat and autogen-ext 0.7.5: `GraphFlow.load_component` gives a team with
the steps, links and first steps of the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...tools.base import ToolDefinition
from ..workflow.bypass import contracted
from ..workflow.graph import Graph, Kind, Vertex
from ..workflow.role import Roles
from ..workflow.topology import order
from ..workflow.value import Asked, Template, Value, mapped
from ..workflow.wording import value_text
from .loss import Lost

ADDRESS, MODEL = "http://127.0.0.1:11434/v1", "MODEL"
_NO_KEY = "none"
"""AutoGen's client wants a text where a key stands; a server on this machine reads none."""
_TAKEN = frozenset({"user"})
"""By this name AutoGen gives the task to a team."""
_BARE = re.compile(r"\W+", re.ASCII)
_SAID = 60


class TeamError(Exception):
    """A graph that cannot be a team; the message is a sentence."""


def to_team(
    graph: Graph,
    roles: Roles,
    tools: Mapping[str, ToolDefinition],
    address: str = ADDRESS,
    model: str = MODEL,
) -> tuple[dict[str, Any], tuple[Lost, ...]]:
    """Return a graph as the component of a team, as JSON writes it, and what it could not hold.

    `tools` are the definitions by name; `address` and `model` are of an OpenAI-compatible server,
    and no key is written. Any thread. Raises TeamError for a graph without steps, TopologyError
    for one without an order, and BypassError for a step that cannot be passed over.
    """
    if not graph.vertices:
        raise TeamError("The workflow has no step, and a team needs one.")
    return _Writer(graph, roles, tools, _client(address, model)).team()


class _Writer:
    def __init__(
        self,
        graph: Graph,
        roles: Roles,
        tools: Mapping[str, ToolDefinition],
        client: dict[str, Any],
    ) -> None:
        self._whole = graph
        self._graph = contracted(graph)
        self._roles, self._tools, self._client = roles, tools, client
        self._names = _names(order(self._graph))

    def team(self) -> tuple[dict[str, Any], tuple[Lost, ...]]:
        """Write one participant for each step, and the links."""
        steps = [self._graph.vertex(key) for key in order(self._graph)]
        if not steps:
            raise TeamError("Every step of the workflow is off, and a team needs one.")
        config = {
            "name": "GeoFlow",
            "description": self._whole.title or self._whole.question or "Workflow",
            "participants": [self._participant(one) for one in steps],
            "graph": {"nodes": {self._names[one.id]: self._node(one) for one in steps}},
        }
        team = _component("autogen_agentchat.teams.GraphFlow", "team", 1, config)
        return team, tuple(self._lost())

    def _node(self, vertex: Vertex) -> dict[str, Any]:
        links = [
            {"target": self._names[key], "activation_group": self._names[key],
             "activation_condition": "all"}
            for key in self._graph.children(vertex.id)
        ]  # fmt: skip
        return {"name": self._names[vertex.id], "edges": links, "activation": "all"}

    def _participant(self, vertex: Vertex) -> dict[str, Any]:
        name = self._names[vertex.id]
        if vertex.kind is not Kind.TASK:
            asked = vertex.objective or vertex.title or vertex.id
            config = {"name": name, "description": asked}
            return _component("autogen_agentchat.agents.UserProxyAgent", "agent", 1, config)
        config = {
            "name": name,
            "model_client": self._client,
            "description": vertex.objective or vertex.title or vertex.tool or vertex.id,
            "system_message": "\n".join(self._message(vertex)),
            "model_client_stream": False,
            "reflect_on_tool_use": False,
            "tool_call_summary_format": "{result}",
        }
        return _component("autogen_agentchat.agents.AssistantAgent", "agent", 2, config)

    def _message(self, vertex: Vertex) -> Iterator[str]:
        """Yield the lines of a step's system message: scope, objective, tool, parameters."""
        role = self._roles.find(vertex.agent) or self._roles.of(vertex.tool)
        if role is not None:
            yield f"You are the {role.label} agent of a workflow; your scope: {role.scope}."
        if self._graph.question:
            yield f"The workflow answers: {self._graph.question}"
        yield f"Your step is {self._names[vertex.id]}."
        if vertex.objective:
            yield f"Objective: {vertex.objective}"
        if vertex.tool:
            known = self._tools.get(vertex.tool)
            yield f"Tool: {vertex.tool}" + (f" ({known.description})" if known else "")
        for key, value in (vertex.parameters or {}).items():
            yield f"{key}: {value_text(mapped(value, self._shown))}"
        parents = [self._names[key] for key in self._graph.parents(vertex)]
        if parents:
            yield f"Results that you get: {', '.join(parents)}."
        yield "Answer with the result of this step alone."

    def _shown(self, value: Value) -> Value:
        """Return a leaf with its variables' defaults in place."""
        if isinstance(value, Asked):
            return self._default(value.variable, "", value)
        if isinstance(value, Template):
            return Template(value.filled(lambda name, key: str(self._default(name, key, None))))
        return value

    def _default(self, name: str, key: str, other: Value) -> Value:
        variable = self._graph.variable(name)
        if not key and variable is not None and variable.default is not None:
            return variable.default
        return other if other is not None else f"{{{name}.{key}}}" if key else f"{{{name}}}"

    def _lost(self) -> Iterator[Lost]:
        graph = self._whole
        yield Lost("", "The tools themselves are not taken over; each agent is told of its own.")
        for one in graph.variables:
            shown = f"{{{one.name}}}" if one.default is None else str(one.default)
            yield Lost(
                "", f"The variable {one.name} is not asked for; {shown} stands in its place."
            )
        if graph.answer.text or graph.answer.value is not None:
            yield Lost("", "The answer is not taken over; the last agents say their results.")
        for note in graph.notes:
            yield Lost("", f'The note "{note.text[:_SAID]}" is not taken over.')
        for group in graph.groups:
            yield Lost("", f'The group "{group.title[:_SAID]}" is not taken over.')
        for one in graph.vertices:
            if one.bypassed:
                yield Lost(one.id, f"{one.id} is off, so it is left out.")
            elif one.kind is Kind.REVIEW:
                yield Lost(one.id, f"The review stop {one.id} is a turn of the user; it stops "
                                   "nothing.")  # fmt: skip
            elif one.kind is Kind.QUESTION and one.parameters:
                kept = ", ".join(one.parameters)
                yield Lost(one.id, f"The {kept} of the question {one.id} is not taken over.")


def _names(ids: tuple[str, ...]) -> dict[str, str]:
    """Return a name that Python takes for each id, each once."""
    found: dict[str, str] = {}
    taken = set(_TAKEN)
    for key in ids:
        bare = _BARE.sub("_", key) or "step"
        bare = f"step_{bare}" if bare[0].isdigit() else bare
        name, number = bare, 2
        while name in taken:
            name, number = f"{bare}_{number}", number + 1
        taken.add(name)
        found[key] = name
    return found


def _client(address: str, model: str) -> dict[str, Any]:
    """Return a model client for a server at `address`."""
    config = {
        "model": model,
        "base_url": address,
        "api_key": _NO_KEY,
        "model_info": {
            "vision": False,
            "function_calling": True,
            "json_output": True,
            "family": "unknown",
            "structured_output": True,
        },
    }
    provider = "autogen_ext.models.openai.OpenAIChatCompletionClient"
    return _component(provider, "model", 1, config)


def _component(provider: str, kind: str, version: int, config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "provider": provider,
        "component_type": kind,
        "version": version,
        "component_version": version,
        "label": provider.rpartition(".")[2],
        "config": dict(config),
    }
