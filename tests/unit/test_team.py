# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs as AutoGen teams: the structure that AutoGen's loader takes, and that loader itself."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geo_olm.plugin.exchange.team import ADDRESS, MODEL, TeamError, to_team
from geo_olm.plugin.workflow.graph import Answer, Graph, Group, Kind, Note, Type, Variable, Vertex
from geo_olm.plugin.workflow.role import Role, Roles
from geo_olm.plugin.workflow.topology import TopologyError
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template
from geo_olm.tools.base import ToolDefinition

ROLES = Roles([Role("vector", "Vector", "makes layers", ("buffer", "clip", "count"))])
TOOLS = {"buffer": ToolDefinition("buffer", "Widens a layer.", {"type": "object"})}
PYTHON = os.environ.get("GEO_OLM_AUTOGEN", "")
"""An interpreter that has autogen-agentchat and autogen-ext[openai]."""
LOAD = """
import json, sys
from autogen_agentchat.teams import GraphFlow
team = GraphFlow.load_component(json.load(sys.stdin))
nodes = team._graph.nodes
print(json.dumps({
    "nodes": list(nodes),
    "edges": sorted((one.name, edge.target) for one in nodes.values() for edge in one.edges),
    "starts": sorted(team._graph.get_start_nodes()),
    "ends": sorted(team._graph.get_leaf_nodes()),
    "agents": {one.name: type(one).__name__ for one in team._participants},
    "messages": {one.name: one._system_messages[0].content for one in team._participants
                 if hasattr(one, "_system_messages")},
}))
"""


def task(identity: str, tool: str, *after: str, **parameters: Any) -> Vertex:
    return Vertex(identity, "vector", tool=tool, parameters=parameters, after=after)


FORK = Graph(
    "How many towns lie near the road?",
    (
        replace(task("wide", "buffer", layer=Layer("roads"), distance=Asked("far")),
                objective="Widen the roads by {far} m"),
        task("cut", "clip", layer=Layer("towns"), other=Output("wide")),
        task("n", "count", layer=Output("cut")),
        task("m", "count", "cut", layer=Output("wide")),
    ),
    (Variable("far", Type.NUMBER, default=50),),
)  # fmt: skip
MANY = replace(
    FORK,
    vertices=(
        Vertex("ask", objective="How far?", kind=Kind.QUESTION, parameters={"default": "5"}),
        *FORK.vertices,
        Vertex("look", objective="Right?", kind=Kind.REVIEW, parameters={"layer": Output("cut")}),
        replace(task("off", "clip", layer=Output("cut"), other=Layer("b")), bypassed=True),
        task("1 té-st", "count", layer=Output("off"), where=Template("{ask} > {wide.count}")),
        task("1 te st", "count", layer=Output("look")),
        task("user", "count", layer=Layer("towns")),
        Vertex("free", "vector", 'Do "something"\nwith {braces}'),
    ),
    variables=(*FORK.variables, Variable("when", Type.DATE)),
    answer=Answer("{n.count} towns"),
    groups=(Group("Near", ("wide", "cut")),),
    notes=(Note("Look here", (0, 0, 10, 10)),),
)


def edges(team: dict[str, Any]) -> list[list[str]]:
    nodes = team["config"]["graph"]["nodes"]
    return sorted([key, link["target"]] for key, one in nodes.items() for link in one["edges"])


def test_a_team_has_the_structure_that_autogen_loads() -> None:
    team, lost = to_team(FORK, ROLES, TOOLS)
    assert {key: team[key] for key in ("provider", "component_type", "version")} == {
        "provider": "autogen_agentchat.teams.GraphFlow",
        "component_type": "team",
        "version": 1,
    }
    assert team["component_version"] == 1
    assert list(team["config"]) == ["name", "description", "participants", "graph"]
    assert team["config"]["graph"]["nodes"]["wide"] == {
        "name": "wide",
        "edges": [
            {"target": "cut", "activation_group": "cut", "activation_condition": "all"},
            {"target": "m", "activation_group": "m", "activation_condition": "all"},
        ],
        "activation": "all",
    }
    assert edges(team) == sorted(map(list, FORK.edges()))
    first = team["config"]["participants"][0]
    assert (first["provider"], first["version"], first["component_type"]) == (
        "autogen_agentchat.agents.AssistantAgent", 2, "agent",
    )  # fmt: skip
    client = first["config"]["model_client"]
    assert client["provider"] == "autogen_ext.models.openai.OpenAIChatCompletionClient"
    assert (client["version"], client["component_type"]) == (1, "model")
    assert client["config"]["base_url"] == ADDRESS == "http://127.0.0.1:11434/v1"
    assert client["config"]["model"] == MODEL
    assert client["config"]["api_key"] == "none"
    assert [one.text for one in lost] == [
        "The tools themselves are not taken over; each agent is told of its own.",
        "The variable far is not asked for; 50 stands in its place.",
    ]


def test_an_agent_is_told_scope_objective_tool_and_parameters() -> None:
    team, _ = to_team(FORK, ROLES, TOOLS)
    said = {one["config"]["name"]: one["config"] for one in team["config"]["participants"]}
    assert said["wide"]["system_message"].splitlines() == [
        "You are the Vector agent of a workflow; your scope: makes layers.",
        "The workflow answers: How many towns lie near the road?",
        "Your step is wide.",
        "Objective: Widen the roads by {far} m",
        "Tool: buffer (Widens a layer.)",
        "layer: roads",
        "distance: 50",
        "Answer with the result of this step alone.",
    ]
    assert "Results that you get: wide, cut." in said["m"]["system_message"]


def test_what_a_team_cannot_hold_is_listed() -> None:
    team, lost = to_team(MANY, ROLES, TOOLS)
    assert [(one.vertex, one.text) for one in lost[2:]] == [
        ("", "The variable when is not asked for; {when} stands in its place."),
        ("", "The answer is not taken over; the last agents say their results."),
        ("", 'The note "Look here" is not taken over.'),
        ("", 'The group "Near" is not taken over.'),
        ("ask", "The default of the question ask is not taken over."),
        ("look", "The review stop look is a turn of the user; it stops nothing."),
        ("off", "off is off, so it is left out."),
    ]
    names = list(team["config"]["graph"]["nodes"])
    assert sorted(names) == sorted(
        ["ask", "wide", "cut", "n", "m", "look", "step_1_t_st", "step_1_te_st", "user_2", "free"]
    )
    assert ["cut", "step_1_t_st"] in edges(team)
    kinds = {one["config"]["name"]: one["label"] for one in team["config"]["participants"]}
    assert {key for key, kind in kinds.items() if kind == "UserProxyAgent"} == {"ask", "look"}


def test_a_graph_without_steps_or_order_is_no_team() -> None:
    with pytest.raises(TeamError, match="no step"):
        to_team(Graph(), ROLES, TOOLS)
    off = replace(task("a", "count", layer=Layer("x")), bypassed=True)
    with pytest.raises(TeamError, match="is off"):
        to_team(Graph("", (off,)), ROLES, TOOLS)
    with pytest.raises(TopologyError):
        to_team(Graph("", (task("a", "count", "b"), task("b", "count", "a"))), ROLES, TOOLS)


@pytest.mark.long
@pytest.mark.skipif(not Path(PYTHON).is_file(), reason="GEO_OLM_AUTOGEN names no interpreter")
@pytest.mark.parametrize("graph", [FORK, MANY])
def test_autogen_s_own_loader_gives_the_same_graph(graph: Graph) -> None:
    team, _ = to_team(graph, ROLES, TOOLS)
    environ = {key: one for key, one in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [PYTHON, "-c", LOAD], input=json.dumps(team), capture_output=True, text=True,
        env=environ, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    loaded = json.loads(done.stdout)
    nodes = team["config"]["graph"]["nodes"]
    assert loaded["nodes"] == list(nodes)
    assert loaded["edges"] == edges(team)
    targets = {target for _, target in edges(team)}
    assert loaded["starts"] == sorted(key for key in nodes if key not in targets)
    assert loaded["ends"] == sorted(key for key, one in nodes.items() if not one["edges"])
    for one in team["config"]["participants"]:
        assert loaded["agents"][one["config"]["name"]] == one["label"]
        said = one["config"].get("system_message")
        assert loaded["messages"].get(one["config"]["name"]) == said
