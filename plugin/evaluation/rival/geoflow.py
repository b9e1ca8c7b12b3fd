# SPDX-License-Identifier: GPL-2.0-or-later
"""GeoFlow and Flow: a graph of sub-tasks first, then each sub-task's own loop over one history."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from ...agent.event import Event
from ...agent.message import Message, Role
from ...workflow import paper_form
from ...workflow.form import FormError
from ...workflow.graph import Graph
from ...workflow.topology import TopologyError, order
from .ask import Ask, json_in, named
from .desk import Desk, Ending, MethodEnded, asking
from .team import Team

TRIES = 3
_META = "You plan the work of a team that answers a question about map layers in QGIS."
_GRAPH = (
    "Write the work as a graph of sub-tasks. Each does one clear thing and says in its objective "
    "what it takes, with all layers, fields, numbers and units, and what it returns. Let sub-tasks "
    "wait for each other only where one needs what another gives. Use as few as the work "
    "needs.{agents}\nExample: {example}\nWrite only the JSON object.\n{task}"
)
_AGENTS = " Each is done by exactly one agent:\n{roster}"
_ASSIGN = (
    "Give each sub-task to the agent that can do it:\n{roster}\nSub-tasks:\n{objectives}\n"
    'Write only one JSON object such as {{"task1": "{first}"}}, with every sub-task.'
)
_MEMBER = (
    "You are {name} in a team in QGIS: {purpose}. Do the sub-task with your tools, then say in one "
    "sentence what you found, with the names and numbers. A layer that a tool made is used by its "
    "id (r1, r2). When the layers cannot answer the question, write a line that begins with "
    '"REJECTED: " and say what is missing.'
)


@dataclass(frozen=True)
class GeoFlow:
    """A graph by one request, then sum of (K + 1) requests over its sub-tasks.

    Bhattaram et al., GeoFlow, as its code runs: one history for all agents, no step for errors; a
    re-implementation. Its order is that of the links, where the code sorts by the sub-tasks'
    numbers, and the agents' tools are told as the paper has it. With `assigns` it is Flow as that
    paper ran it: the graph names no agents, and one more request gives each sub-task its own.
    """

    team: Team
    assigns: bool = False

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question; the last reply is the answer."""
        graph, owners = yield from self._planned(desk)
        if self.assigns:
            owners = yield from self._assigned(desk, graph)
        history, last = [Message(Role.USER, desk.task())], ""
        for key in order(graph):
            member = self.team.member(owners[key])
            system = _MEMBER.format(name=member.name, purpose=member.purpose)
            history.append(Message(Role.USER, f"Sub-task: {graph.vertex(key).objective}"))
            thread = [Message(Role.SYSTEM, system), *history]
            before = len(thread)
            last = yield from desk.visit(thread, self.team.tools_of(member, desk.tools()))
            history += thread[before:]
            if desk.ending is not None:
                break
        return desk.closed(last)

    def _planned(self, desk: Desk) -> Generator[Event, None, tuple[Graph, Mapping[str, str]]]:
        agents = "" if self.assigns else _AGENTS.format(roster=self._roster(desk))
        text = _GRAPH.format(agents=agents, example=self._example(), task=desk.task())
        for _ in range(TRIES):
            reply = yield from desk.ask(Message(Role.SYSTEM, _META), asking(Ask.GRAPH, text))
            found = self._read(json_in(reply))
            if found is not None:
                return found
        raise MethodEnded(f"No graph that can be read in {TRIES} replies.")

    def _read(self, form: Any) -> tuple[Graph, Mapping[str, str]] | None:
        """Return the graph of a reply and the agents of its sub-tasks, None for no such."""
        if not isinstance(form, dict) or not paper_form.is_form(form):
            return None
        tasks = form.get("tasks")
        try:
            graph = paper_form.read(form, lambda remark: None)
            order(graph)
        except (FormError, TopologyError):
            return None
        if not isinstance(tasks, dict):
            return None
        owners = {key: named(one.get("agent", ""), self.team.names) for key, one in tasks.items()}
        return (graph, owners) if self.assigns or all(owners.values()) else None

    def _assigned(self, desk: Desk, graph: Graph) -> Generator[Event, None, Mapping[str, str]]:
        objectives = "\n".join(f"- {one.id}: {one.objective}" for one in graph.vertices)
        text = _ASSIGN.format(
            roster=self._roster(desk), objectives=objectives, first=self.team.names[0]
        )
        for _ in range(TRIES):
            reply = yield from desk.ask(Message(Role.SYSTEM, _META), asking(Ask.ASSIGN, text))
            found = json_in(reply)
            given = found if isinstance(found, dict) else {}
            owners = {key: named(given.get(key, ""), self.team.names) for key in graph.ids()}
            if all(owners.values()):
                return owners
        raise MethodEnded(f"No agent for each sub-task in {TRIES} replies.")

    def _roster(self, desk: Desk) -> str:
        lines = []
        for member in self.team.members:
            names = ", ".join(one.name for one in self.team.tools_of(member, desk.tools()))
            lines.append(f"- {member.name}: {member.purpose} ({names})")
        return "\n".join(lines)

    def _example(self) -> str:
        """Return the one graph that is shown: two sub-tasks, one after the other."""
        first, second = self.team.names[0], self.team.names[-2]
        agents = ("", "") if self.assigns else (f', "agent": "{first}"', f', "agent": "{second}"')
        return (
            '{"tasks": {"task1": {"objective": "Pick the schools with more than 500 pupils from '
            f'schools; return the layer."{agents[0]}, "prev": [], "next": ["task2"]}}, "task2": '
            '{"objective": "Count the schools of task1; return the number."'
            f'{agents[1]}, "prev": ["task1"], "next": []}}}}}}'
        )
