# SPDX-License-Identifier: GPL-2.0-or-later
"""Magentic-One: an orchestrator with a ledger of facts, a plan, and progress after each round."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from ...agent.event import Event
from ...agent.message import Message, Role
from .ask import Ask, json_in, named
from .desk import Desk, Ending, MethodEnded, asking
from .team import Team

ROUNDS, STALLS, TRIES = 20, 3, 10
_FACTS = (
    "Before the work begins, list the facts: what is given, what is to be looked up, what is to "
    "be derived, and guesses. A line each."
)
_PLAN = "Write a short plan in bullets: which agent does what. Agents:\n{roster}"
_AGAIN = "It did not go on. Update the facts: what was learned, what was wrong. A line each."
_LEDGER = (
    'Write one JSON object with these keys, each {{"reason": "...", "answer": ...}}: '
    "is_request_satisfied (true or false), is_in_loop (true or false), is_progress_being_made "
    "(true or false), next_speaker (one of {names}), instruction_or_question (text for it). "
    "Write only the object."
)
_FINAL = (
    "The work is done. Answer the question in one sentence with the names and numbers found. When "
    'the layers cannot answer it, write "REJECTED: " and what is missing.'
)
_MEMBER = (
    "You are {name} in a team in QGIS: {purpose}. Follow the last instruction with your tools, "
    "then reply in one sentence with the names and numbers found. Results have short ids (r1, "
    "r2); a layer that a tool made is used by its id."
)
_KEYS = (
    "is_request_satisfied",
    "is_in_loop",
    "is_progress_being_made",
    "next_speaker",
    "instruction_or_question",
)


@dataclass(frozen=True)
class Magentic:
    """Facts and plan, then a ledger before each agent's turn: 2 + sum of (1 + K + 1), one ledger
    that finds the request satisfied, and the final answer; 2 more for each new plan.

    AutoGen's MagenticOne group chat, re-implemented: at most 20 rounds, a new plan after three
    stalls, ten tries for a ledger that can be read; a ledger without a key or with an unknown
    speaker ends the run. Tool calls are left out of what the orchestrator reads.
    """

    team: Team

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question."""
        facts = yield from desk.ask(Message(Role.USER, desk.task()), asking(Ask.FACTS, _FACTS))
        thread = yield from self._plan(desk, facts)
        stalls = 0
        for _ in range(ROUNDS):
            ledger = yield from self._ledger(desk, thread)
            if ledger["is_request_satisfied"]:
                text = yield from desk.ask(*thread, asking(Ask.FINAL, _FINAL))
                return desk.closed(text)
            stalled = ledger["is_in_loop"] or not ledger["is_progress_being_made"]
            stalls = stalls + 1 if stalled else max(0, stalls - 1)
            if stalls >= STALLS:
                facts = yield from desk.ask(*thread, asking(Ask.FACTS, _AGAIN))
                thread = yield from self._plan(desk, facts)
                stalls = 0
                continue
            told = str(ledger["instruction_or_question"])
            thread.append(Message(Role.ASSISTANT, told))
            reply = yield from self._speak(desk, str(ledger["next_speaker"]), thread)
            thread.append(Message(Role.USER, reply))
        raise MethodEnded(f"Not satisfied after {ROUNDS} rounds.")

    def _plan(self, desk: Desk, facts: str) -> Generator[Event, None, list[Message]]:
        """Write the plan; return the thread that begins with the whole ledger of the task."""
        roster = self.team.roster()
        known = Message(Role.USER, f"{desk.task()}\nFacts:\n{facts}")
        plan = yield from desk.ask(known, asking(Ask.PLAN, _PLAN.format(roster=roster)))
        text = f"{desk.task()}\nTeam:\n{roster}\nFacts:\n{facts}\nPlan:\n{plan}"
        return [Message(Role.USER, text)]

    def _ledger(self, desk: Desk, thread: list[Message]) -> Generator[Event, None, dict[str, Any]]:
        names = ", ".join(self.team.names)
        for _ in range(TRIES):
            text = yield from desk.ask(*thread, asking(Ask.LEDGER, _LEDGER.format(names=names)))
            found = json_in(text)
            if not isinstance(found, dict):
                continue
            read = {
                key: one.get("answer") if isinstance(one, dict) else one
                for key, one in found.items()
            }
            absent = [key for key in _KEYS if key not in read]
            if absent:
                raise MethodEnded(f"The ledger lacks {', '.join(absent)}.")
            speaker = named(read["next_speaker"], self.team.names)
            if not speaker and not read["is_request_satisfied"]:
                raise MethodEnded(f'The ledger names an unknown speaker "{read["next_speaker"]}".')
            return {**read, "next_speaker": speaker}
        raise MethodEnded(f"The ledger could not be read in {TRIES} tries.")

    def _speak(self, desk: Desk, name: str, thread: list[Message]) -> Generator[Event, None, str]:
        """Let an agent work on the last instruction, on a thread of its own."""
        member = self.team.member(name)
        system = _MEMBER.format(name=member.name, purpose=member.purpose)
        own = [Message(Role.SYSTEM, system), Message(Role.USER, desk.task())]
        own += [Message(Role.USER, one.content) for one in thread[1:]]
        return (yield from desk.visit(own, self.team.tools_of(member, desk.tools())))
