# SPDX-License-Identifier: GPL-2.0-or-later
"""GeoLLM-QA: one agent with every tool that thinks step by step, without examples."""

from __future__ import annotations

from collections.abc import Generator

from ...agent.event import Event
from ...agent.message import Message, Role
from .desk import Desk, Ending

_SYSTEM = (
    "You answer questions about map layers in QGIS by calling tools. Think step by step: say "
    "what you need, call the tools that give it, and use their results. Results have short ids "
    "(r1, r2); a layer that a tool made is used by its id. Every number comes from a result. "
    "When the question is answered, call answer; when the layers cannot answer it, call reject "
    "and say what is missing."
)


class GeoLlmQa:
    """System and question, then a reply with all tools until one has no call: K + 1 requests.

    Singh et al., GeoLLM-QA; its code is not public, so this is a re-implementation of the flat
    chain-of-thought agent. The call of the answer tool counts as the last reply.
    """

    def run(self, desk: Desk) -> Generator[Event, None, Ending]:
        """Answer the desk's question."""
        thread = [Message(Role.SYSTEM, _SYSTEM), Message(Role.USER, desk.task())]
        text = yield from desk.visit(thread, desk.tools())
        return desk.closed(text)
