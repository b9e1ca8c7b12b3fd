# SPDX-License-Identifier: GPL-2.0-or-later
"""Group chat: before each turn a manager names the agent that speaks next, over one history."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ...agent.event import Event
from ...agent.message import Message, Role
from .ask import Ask, json_in, named
from .desk import Desk, Ending, asking
from .team import Team

ROUNDS = 11
END = "end_agent"
_MANAGER = "You manage a team that answers a question about map layers in QGIS."
_NEXT = (
    "The work is a state machine whose states are the agents:\n{roster}\n- end_agent: ends the "
    "work when the question is answered, cannot be answered, or the same is done again and again.\n"
    "Choose the next state by what is done already. Example: after database_agent found the "
    'features whose number is asked for, write {{"next": "data_agent"}}. Write only the JSON '
    "object with the one key.\n{question}"
)
_TURN = (
    "Sub-task for {name}: {purpose}. Do only your part of the question with your tools, then say "
    "in one sentence what you found, with the names and numbers. A layer that a tool made is used "
    "by its id (r1, r2). When the layers cannot answer the question, write a line that begins "
    'with "REJECTED: " and say what is missing.\n{question}'
)
_MEMBER = "You are {name} in a team that answers a question about map layers in QGIS."


@dataclass(frozen=True)
class GroupChat:
    """R rounds of a manager's choice and an agent's loop, and the choice to end:
    R (1 + K + 1) + 1 requests.

    The group chat of the GeoFlow paper's comparison, in the manner of AutoGen's selector; a
    re-implementation. The manager's instructions are said anew in each round. A reply that names
    no agent is a round lost; there are 11 at most.
    """

    team: Team

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question."""
        history, last = [Message(Role.USER, desk.task())], ""
        question = f"Question: {desk.question}"
        manager = Message(Role.SYSTEM, _MANAGER)
        chosen = _NEXT.format(roster=self.team.roster(), question=question)
        for _ in range(ROUNDS):
            history.append(asking(Ask.NEXT, chosen))
            text = yield from desk.ask(manager, *history)
            history.append(Message(Role.ASSISTANT, text))
            name = self._next(text)
            if name == END:
                break
            if not name:
                continue
            member = self.team.member(name)
            turn = _TURN.format(name=name, purpose=member.purpose, question=question)
            history.append(Message(Role.USER, turn))
            thread = [Message(Role.SYSTEM, _MEMBER.format(name=name)), *history]
            before = len(thread)
            last = yield from desk.visit(thread, self.team.tools_of(member, desk.tools()))
            history += thread[before:]
        return desk.closed(last)

    def _next(self, text: str) -> str:
        found = json_in(text)
        if not isinstance(found, dict) or len(found) != 1:
            return ""
        return named(next(iter(found.values())), (*self.team.names, END))
