# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens a chat, and lets it remember a turn that was answered by a plan as if by the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...tools.base import LayerProfile
from . import prompt
from .chat import Chat, Turn
from .example import NOTHING, Step
from .menu import Menu
from .message import Message, Role

if TYPE_CHECKING:
    from .engine import Agent

_HEAD = 0.45
"""Share of the context that the beginning of a chat may fill with all tools described."""


@dataclass(frozen=True)
class Past:
    """A question that was answered: what was understood, the calls with what they gave, the
    answer, and the short ids of the results. `layers` are those that it is about."""

    question: str
    intent: str
    needs: str
    layers: tuple[LayerProfile, ...]
    calls: tuple[Step, ...]
    answer: str
    results: tuple[str, ...]


def opening(agent: Agent, menu: Menu) -> list[Message]:
    """Return what every chat begins with, the same each time so that servers keep it."""
    return [
        prompt.system(agent.prompts, agent.workflow),
        *menu.head(),
        *prompt.initial(agent.bank.initial(), agent.workflow),
    ]


def is_too_long(agent: Agent, menu: Menu) -> bool:
    """Tell whether all tools described leave too little of the context, which may load the
    model."""
    if menu.exposure != "hint":
        return False
    context = agent.speaker.card().context
    return agent.speaker.estimate(tuple(opening(agent, menu))) > context * _HEAD


def remember(agent: Agent, chat: Chat, past: Past) -> None:
    """Add a turn to a chat in the very form in which the states have theirs."""
    menu = Menu(agent.workflow, agent.bank, agent.toolbox, chat, agent.exposure, past.question)
    if is_too_long(agent, menu):
        menu.exposure = "filter"
    if not chat.messages:
        chat.messages = opening(agent, menu)
        menu.begin_chat()
    chat.messages += _turn(agent, past)
    chat.turns.append(Turn(past.question, past.answer, past.results))


def _turn(agent: Agent, past: Past) -> Sequence[Message]:
    said = {
        "CURRENT_STAGE": agent.workflow.initial,
        "REFERS_TO": NOTHING,
        "NEEDS": past.needs,
        "USER_INTENT": past.intent,
        "layers": [one.name for one in past.layers],
    }
    turns = [
        prompt.question(past.question, past.layers),
        Message(Role.ASSISTANT, prompt.as_json(said)),
    ]
    asked = f"Question: {past.question}"
    for step in past.calls:
        turns += [Message(Role.USER, asked), Message(Role.ASSISTANT, step.text())]
        asked = step.result
    return [*turns, Message(Role.USER, asked), Message(Role.ASSISTANT, past.answer)]
