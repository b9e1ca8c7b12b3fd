# SPDX-License-Identifier: GPL-2.0-or-later
"""GeoLLM-Engine's agent: thought, action, observation, with worked examples alike the question."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ...agent.event import Event
from ...agent.message import Message, Role
from .desk import Desk, Ending, Mode

EXAMPLES = 2
_AGAIN = 2
_SYSTEM = (
    "You answer questions about map layers in QGIS. Work in turns: Thought (what is known and "
    "what is needed next), Action (one tool call), then wait for the Observation.\n"
    "- Results have short ids (r1, r2); a layer that a tool made is used by its id.\n"
    "- Every number comes from an observation; use only layers and fields that are listed.\n"
    "- When the question is answered, call answer; its value refers to a result, as in r1.count.\n"
    "- When the layers cannot answer the question, call reject and say what is missing."
)
_ACTION = 'Write "Thought: ..." and then "Action: " with the call.'


@dataclass(frozen=True)
class React:
    """ReAct with few-shot examples: K + 1 requests, and one for each call that cannot be read.

    Singh et al., GeoLLM-Engine; its code is not public, so this is a re-implementation. `errtrm`
    is the +ERR/TRM of the Geo-OLM paper: a failed call is reflected on in a request of its own,
    and the end is confirmed by one more: K + 1 + errors + 1.
    """

    errtrm: bool = False

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question."""
        thread = [*self._opening(desk), Message(Role.USER, desk.task())]
        for _ in range(_AGAIN + 1):
            text = yield from desk.visit(thread, desk.tools(), mend=self.errtrm, single=True)
            ending = desk.closed(text)
            if not self.errtrm:
                return ending
            ending, missing = yield from desk.confirm(ending)
            if not missing:
                return ending
            desk.ending = None
            thread.append(Message(Role.USER, f"Not done yet: {missing}. Go on."))
        return ending

    @staticmethod
    def _opening(desk: Desk) -> list[Message]:
        in_text = desk.mode is Mode.TEXT
        opening = [Message(Role.SYSTEM, f"{_SYSTEM}\n{_ACTION}" if in_text else _SYSTEM)]
        for number, worked in enumerate(desk.bank.nearest(desk.question, EXAMPLES)):
            opening += worked.in_text() if in_text else worked.in_chat(number)
        return opening
