# SPDX-License-Identifier: GPL-2.0-or-later
"""The methods by the names of the papers, with the way in which each is asked by default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .chameleon import Chameleon
from .desk import Mode
from .geoflow import GeoFlow
from .geollm_qa import GeoLlmQa
from .group_chat import GroupChat
from .magentic import Magentic
from .play import Rival
from .react import React
from .sequential import Sequential
from .squad import Squad
from .stateflow import StateFlow
from .swarm import Swarm
from .team import Team

EXPOSURES = ("filter", "hint")
MODES = tuple(mode.value for mode in Mode)


@dataclass(frozen=True)
class Entry:
    """How a method is made from a team, in which mode it runs, and what may be chosen of it."""

    make: Callable[[Team], Rival]
    mode: Mode = Mode.CHAT
    variants: tuple[str, ...] = ()


RIVALS: dict[str, Entry] = {
    "geoflow": Entry(GeoFlow),
    "flow": Entry(lambda team: GeoFlow(team, assigns=True)),
    "geollm-qa": Entry(lambda team: GeoLlmQa()),
    "react": Entry(lambda team: React(), Mode.TEXT, MODES),
    "react-errtrm": Entry(lambda team: React(errtrm=True), Mode.CHAT, MODES),
    "squad": Entry(Squad, Mode.TEXT, MODES),
    "squad-errtrm": Entry(lambda team: Squad(team, errtrm=True), Mode.CHAT, MODES),
    "chameleon": Entry(lambda team: Chameleon()),
    "magentic": Entry(Magentic),
    "group-chat": Entry(GroupChat),
    "sequential": Entry(Sequential),
    "swarm": Entry(Swarm),
    "stateflow": Entry(lambda team: StateFlow(), Mode.CHAT, EXPOSURES),
}
"""As in the tables of the Geo-OLM paper, plain react and squad have their tools in the prompt's
text, and +ERR/TRM and all others go through the chat API; a name such as "react+chat" chooses."""
