# SPDX-License-Identifier: GPL-2.0-or-later
"""StateFlow: one prompt for each state over a shared transcript; rules, not the model, move it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from ....tools.base import ToolDefinition
from ...agent.closing import ANSWER, REJECT
from ...agent.event import Event, StageChanged
from ...agent.message import Message, Role
from .desk import Desk, Ending, MethodEnded, observed

ROUNDS = 30
_LOOKS = ("list_layers", "layer_info", "unique_values", "search_algorithms", "describe_algorithm")
_CLOSES = (ANSWER, REJECT)
_SYSTEM = (
    "You answer a question about map layers in QGIS by calling tools, one at a time. Results have "
    "short ids (r1, r2); a layer that a tool made is used by its id. Every number comes from a "
    "result."
)
_PROMPTS = {
    "Observe": "State Observe: look at the layer that matters, its fields and values.",
    "Solve": "State Solve: call the tool that computes or makes what the question asks for.",
    "Verify": (
        "State Verify: do the results answer the question? Then call answer. If more is needed, "
        "call the next tool. If the layers cannot answer it, call reject."
    ),
    "Error": "State Error: the call failed. Read the error and call the tool again, corrected.",
}


@dataclass(frozen=True)
class StateFlow:
    """Init, Observe, Solve, Verify, End, with Error beside them: one request for each visit.

    Wu et al., StateFlow, re-implemented for GIS from its description: the transcript grows, the
    state's prompt is said last and not kept, and the last outcome decides the next state. With
    the exposure "hint" every state offers all tools, with "filter" only its own.
    """

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question."""
        transcript = [Message(Role.SYSTEM, _SYSTEM), Message(Role.USER, desk.task())]
        state, solved = "Observe", False
        for _ in range(ROUNDS):
            yield StageChanged(state)
            asked = [*transcript, Message(Role.USER, _PROMPTS[state])]
            spoken = yield from desk.act(asked, self._tools(desk, state))
            transcript.append(spoken.message)
            if not spoken.calls:
                if state == "Verify" and not spoken.malformed:
                    return desk.closed(spoken.reply.text)
                continue
            call = spoken.calls[0]
            used = yield from desk.use(call)
            transcript.append(observed(call, used.text, spoken.native))
            if desk.ending is not None:
                return desk.ending
            solved = solved or (used.result is not None and call.name not in _LOOKS)
            state = _following(state, used.result is not None, solved)
        raise MethodEnded(f"Not ended after {ROUNDS} states.")

    @staticmethod
    def _tools(desk: Desk, state: str) -> tuple[ToolDefinition, ...]:
        tools = desk.tools()
        if desk.exposure == "hint" or state in ("Verify", "Error"):
            return tools
        looking = state == "Observe"
        return tuple(one for one in tools if (one.name in _LOOKS) == looking or one.name == REJECT)


def _following(state: str, ok: bool, solved: bool) -> str:
    """Return the next state from the last outcome alone."""
    if not ok:
        return "Error"
    return "Verify" if solved else "Solve"
