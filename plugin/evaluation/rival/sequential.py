# SPDX-License-Identifier: GPL-2.0-or-later
"""Sequential: the agents speak once each, in a fixed order, over one history."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ...agent.event import Event
from ...agent.message import Message, Role
from .desk import Desk, Ending
from .team import Team

RESTARTS = 1
_ERROR = "ERROR"
_MEMBER = "You are {name} in a team that answers a question about map layers in QGIS."
_TURN = (
    "The work has {count} steps, one agent for each: {order}. It is the turn of {name}: {purpose}. "
    "Do only your step with your tools. If it is not needed, reply that you skip it and repeat "
    "what was found so far. Then say in one sentence what was found, with the names and numbers. "
    "A layer that a tool made is used by its id (r1, r2). When the layers cannot answer the "
    'question, write a line that begins with "REJECTED: " and say what is missing. If something '
    "went wrong that an earlier agent has to mend, let the last line be ERROR.\n{question}"
)


@dataclass(frozen=True)
class Sequential:
    """One pass over the A agents: A + sum of K requests; one restart when an agent says ERROR.

    The sequential chat of the GeoFlow paper's comparison (AutoGen), re-implemented; A is 4 there
    and here. The last reply is the answer.
    """

    team: Team

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question."""
        history, last = [Message(Role.USER, desk.task())], ""
        for _ in range(RESTARTS + 1):
            last = yield from self._pass(desk, history)
            if not _failed(last):
                break
        return desk.closed(last)

    def _pass(self, desk: Desk, history: list[Message]) -> Generator[Event, None, str]:
        order, last = " -> ".join(self.team.names), ""
        for member in self.team.members:
            turn = _TURN.format(
                count=len(self.team.members),
                order=order,
                name=member.name,
                purpose=member.purpose,
                question=f"Question: {desk.question}",
            )
            history.append(Message(Role.USER, turn))
            thread = [Message(Role.SYSTEM, _MEMBER.format(name=member.name)), *history]
            before = len(thread)
            last = yield from desk.visit(thread, self.team.tools_of(member, desk.tools()))
            history += thread[before:]
            if _failed(last):
                break
        return last


def _failed(reply: str) -> bool:
    lines = [line.strip(" \"'`*.") for line in reply.splitlines() if line.strip()]
    return bool(lines) and lines[-1] == _ERROR
