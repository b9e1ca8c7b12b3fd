# SPDX-License-Identifier: GPL-2.0-or-later
"""A rival at a desk over the plain toolbox, asked through the scripted model of faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plain_toolbox import PlainToolbox, made

import geo_olm
from geo_olm.plugin.agent import prompt
from geo_olm.plugin.agent.event import CallFinished, Event, RunFinished
from geo_olm.plugin.agent.limit import Limits
from geo_olm.plugin.evaluation.chain import Chain, chain
from geo_olm.plugin.evaluation.fault_model import FaultModel
from geo_olm.plugin.evaluation.fault_rate import rates
from geo_olm.plugin.evaluation.rival import example, team
from geo_olm.plugin.evaluation.rival.catalog import RIVALS
from geo_olm.plugin.evaluation.rival.desk import Desk, Mode
from geo_olm.plugin.evaluation.rival.play import played
from geo_olm.plugin.llm.base import ChatRequest, Chunk, Reply
from geo_olm.plugin.llm.speaker import ModelSpeaker

RESOURCES = Path(geo_olm.__file__).parent / "resources"
TEAM = team.load(RESOURCES / "evaluation" / "team.json")
TWO = chain(
    {
        "steps": [
            {
                "tool": "filter",
                "arguments": {"layer": "countries", "where": "POP > 1"},
                "as": "big",
            },
            {"tool": "count", "arguments": {"layer": "$big"}, "as": "n"},
            {"tool": "answer", "arguments": {"value": "$n.count"}},
        ]
    }
)
"""Two calls, by two agents of the team, and an answer."""

REFUSED = chain({"steps": [{"tool": "reject", "arguments": {"reason": "there are no roads"}}]})


def toolbox(**outcomes: Any) -> PlainToolbox:
    """Return the plain toolbox with tools that work."""
    usual = {
        "list_layers": [made("countries, rivers")],
        "filter": [made("layer countries where POP > 1, 5 features.", layer="five", count=5)],
        "count": [made("count = 5 features of r1.", count=5)],
        "statistics": [made("mean = 2.5 for POP in countries.", mean=2.5)],
    }
    return PlainToolbox({**usual, **outcomes})


@dataclass
class Heard:
    """The model of faults, with the requests that it got kept and some replies put in its place.

    `instead` maps the number of a request, from 0, to a text that is replied to it.
    """

    model: FaultModel
    instead: dict[int, str] = field(default_factory=dict)
    requests: list[ChatRequest] = field(default_factory=list)

    def card(self) -> Any:
        return self.model.card()

    def chat(self, request: ChatRequest, cancelled: Any) -> Any:
        number = len(self.requests)
        self.requests.append(request)
        if number in self.instead:
            chunk: Chunk = Reply(self.instead[number])
            yield chunk
            return
        yield from self.model.chat(request, cancelled)

    def close(self) -> None:
        pass


@dataclass
class Played:
    """One finished run: the method's end, its events, and the requests to the model."""

    end: RunFinished
    events: list[Event]
    requests: list[ChatRequest]

    @property
    def calls(self) -> list[str]:
        return [one.tool for one in self.events if isinstance(one, CallFinished)]

    def prompts(self) -> list[str]:
        return [one.messages[-1].content for one in self.requests]


def play(
    name: str,
    steps: Chain = TWO,
    *,
    tools: PlainToolbox | None = None,
    fault: str = "",
    seed: int = 1,
    mode: Mode | None = None,
    instead: dict[int, str] | None = None,
    limits: Limits | None = None,
    exposure: str = "filter",
    cancelled: Callable[[], bool] = lambda: False,
) -> Played:
    """Play a method once over a chain."""
    entry = RIVALS[name]
    way = mode or entry.mode
    heard = Heard(FaultModel(steps, TEAM, rates(fault), seed, "T"), instead or {})
    native = "native" if way is Mode.CHAT else "text"
    desk = Desk(
        "How many countries are big?",
        tools or toolbox(),
        ModelSpeaker(heard, native, 256, 0.0, seed),
        limits or Limits(),
        prompt.load(RESOURCES / "prompts"),
        example.load(RESOURCES / "evaluation" / "examples.json"),
        cancelled,
        mode=way,
        exposure=exposure,
    )
    events = []
    for event in played(entry.make(TEAM), desk):
        heard.model.note(event)
        events.append(event)
    end = events[-1]
    assert isinstance(end, RunFinished)
    return Played(end, events, heard.requests)
