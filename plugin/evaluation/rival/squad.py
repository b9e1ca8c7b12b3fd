# SPDX-License-Identifier: GPL-2.0-or-later
"""GeoLLM-Squad: an orchestrator that schedules specialists, who never talk to each other."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ...agent.event import Event
from ...agent.message import Message, Role
from .ask import Ask, json_in, named
from .desk import Desk, Ending, MethodEnded, Mode, asking
from .team import Member, Team

CYCLES = 3
_EXAMPLES = 1
_ORCHESTRATOR = (
    "You lead specialists who answer a question about map layers in QGIS. They work one after "
    "the other and never talk to each other; layers that one makes are there for the next.\n"
    "Specialists:\n{roster}"
)
_SCHEDULE = (
    "Write the schedule as a JSON list in the order of work, a sub-task with all its names and "
    'numbers for each specialist needed: [{"agent": "NAME", "task": "..."}]. Write only the list.'
)
_VERDICT = (
    'Is the question answered? Write one JSON object: {"complete": true, "answer": "one sentence '
    'with the names and numbers"}, or {"complete": false, "missing": "what is missing"}. When the '
    'layers cannot answer it, the answer is "REJECTED: " and what is missing.'
)
_SPECIALIST = (
    "You are {name}, one of several specialists in QGIS: {purpose}. Do your sub-task with your "
    "tools and nothing else, then reply in one sentence with the names and numbers found. Results "
    "have short ids (r1, r2); a layer that a tool made is used by its id."
)


@dataclass(frozen=True)
class Squad:
    """A schedule, each specialist's own loop, a verdict: 1 + sum of (K + 1) + 1 for each cycle.

    Lee et al., GeoLLM-Squad; its code is not public, so this is a re-implementation, with four
    specialists of GIS in place of its eight of Earth observation. Worked examples most alike stand
    before the schedule and in each specialist. A schedule is revised only after it has run whole.
    `errtrm` adds the error reflection to the specialists and the confirmed end to the orchestrator.
    """

    team: Team
    errtrm: bool = False

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question."""
        opening = Message(Role.SYSTEM, _ORCHESTRATOR.format(roster=self.team.roster()))
        asked, replies, missing = desk.task(), [], ""
        for _ in range(CYCLES):
            shown = f"Shown:\n{self._memory(desk)}\n{asked}\n{missing}"
            text = yield from desk.ask(
                opening, Message(Role.USER, shown), asking(Ask.SCHEDULE, _SCHEDULE)
            )
            for member, task in self._schedule(text):
                reply = yield from self._specialist(desk, member, task)
                replies.append(f"{member.name} ({task}): {reply}")
            said = "\n".join(["Replies:", *replies])
            text = yield from desk.ask(
                opening, Message(Role.USER, f"{asked}\n{said}"), asking(Ask.VERDICT, _VERDICT)
            )
            verdict = json_in(text)
            if isinstance(verdict, dict) and verdict.get("complete"):
                ending = desk.closed(str(verdict.get("answer", "")))
                more = ""
                if self.errtrm:
                    ending, more = yield from desk.confirm(ending)
                if not more:
                    return ending
                verdict = {"missing": more}
            missing = f"{said}\nMissing: {_missing(verdict)}"
        raise MethodEnded(f"Not complete after {CYCLES} schedules.")

    def _memory(self, desk: Desk) -> str:
        """Return the schedules of the examples most alike, as the paper's workflow memory does."""
        lines = []
        for worked in desk.bank.nearest(desk.question, _EXAMPLES):
            owners = [self.team.owner(step.tool) for step in worked.example.steps]
            order = ", ".join(dict.fromkeys(one for one in owners if one))
            lines.append(f"{worked.example.question} -> {order}")
        return "\n".join(lines)

    def _schedule(self, text: str) -> list[tuple[Member, str]]:
        found = json_in(text)
        items = found if isinstance(found, list) else []
        read = [
            (named(one.get("agent", ""), self.team.names), str(one.get("task", "")))
            for one in items
            if isinstance(one, dict)
        ]
        return [(self.team.member(name), task) for name, task in read if name]

    def _specialist(self, desk: Desk, member: Member, task: str) -> Generator[Event, None, str]:
        system = _SPECIALIST.format(name=member.name, purpose=member.purpose)
        thread = [Message(Role.SYSTEM, system)]
        own = self.team.tools_of(member, desk.tools())
        names = {tool.name for tool in own}
        for number, worked in enumerate(desk.bank.nearest(desk.question, _EXAMPLES)):
            if names.issuperset(step.tool for step in worked.example.steps[:-1]):
                in_text = desk.mode is Mode.TEXT
                thread += worked.in_text() if in_text else worked.in_chat(number)
        thread.append(Message(Role.USER, desk.task(f"Your sub-task: {task}")))
        return (yield from desk.visit(thread, own, mend=self.errtrm))


def _missing(verdict: object) -> str:
    return str(verdict.get("missing", "")) if isinstance(verdict, dict) else "an answer"
