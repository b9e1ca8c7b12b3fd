# SPDX-License-Identifier: GPL-2.0-or-later
"""Swarm: one agent is active at a time and hands over to another by calling a tool."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ....tools.base import ToolDefinition
from ...agent.event import Event
from ...agent.message import Message, Role, ToolCall
from .desk import Desk, Ending, MethodEnded, observed
from .team import Member, Team

TURNS = 20
HANDOFF = "transfer_to_"
_MEMBER = (
    "You are {name} in a team in QGIS: {purpose}. Do with your tools what the question needs of "
    "you; for anything else hand over to the agent that can do it. When the question is answered, "
    "reply in one sentence with the names and numbers. A layer that a tool made is used by its id "
    '(r1, r2). When the layers cannot answer the question, write "REJECTED: " and what is missing.'
)


@dataclass(frozen=True)
class Swarm:
    """One history and one active agent; a reply without a call ends: K + handoffs + 1 requests.

    OpenAI's Swarm, re-implemented as its library runs: the active agent's instructions are the
    system message, an unknown tool is told as an error, and every agent may hand over to every
    other. The variant measured in the GeoFlow paper has no instructions and no way to the data
    agent, so this one is kinder.
    """

    team: Team

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question; the first agent of the team begins."""
        active = self.team.members[0]
        history = [Message(Role.USER, desk.task())]
        for _ in range(TURNS):
            system = _MEMBER.format(name=active.name, purpose=active.purpose)
            spoken = yield from desk.act(
                [Message(Role.SYSTEM, system), *history], self._tools(desk, active)
            )
            history.append(spoken.message)
            if not spoken.calls:
                return desk.closed(spoken.reply.text)
            following = active
            for call in spoken.calls:
                target = self._target(call)
                if target is None:
                    text = (yield from desk.use(call)).text
                else:
                    following, text = target, f"You are {target.name} now. Go on."
                history.append(observed(call, text, spoken.native))
            active = following
        raise MethodEnded(f"No answer after {TURNS} turns.")

    def _tools(self, desk: Desk, active: Member) -> tuple[ToolDefinition, ...]:
        handoffs = tuple(
            ToolDefinition(
                f"{HANDOFF}{one.name}",
                f"Hand over to {one.name}, which {one.purpose}.",
                {"type": "object", "properties": {}, "required": []},
            )
            for one in self.team.members
            if one is not active
        )
        return (*self.team.tools_of(active, desk.tools()), *handoffs)

    def _target(self, call: ToolCall) -> Member | None:
        name = call.name[len(HANDOFF) :] if call.name.startswith(HANDOFF) else ""
        return self.team.member(name) if name in self.team.names else None
