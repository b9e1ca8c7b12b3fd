# SPDX-License-Identifier: GPL-2.0-or-later
"""An agent over the plugin's own workflow, with a scripted speaker and a plain toolbox."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from plain_toolbox import PlainToolbox
from scripted_speaker import Asked, ScriptedSpeaker, ScriptStep

import geo_olm
from geo_olm.plugin.agent import example, prompt, state
from geo_olm.plugin.agent.chat import Chat
from geo_olm.plugin.agent.engine import Agent
from geo_olm.plugin.agent.event import CallProgress, Event, RunFinished, StageChanged
from geo_olm.plugin.agent.limit import Limits

RESOURCES = Path(geo_olm.__file__).parent / "resources"
E = TypeVar("E")


def plain(value: float) -> str:
    """Write a number with German marks, so that a rewritten number can be told."""
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return text.translate(str.maketrans(",.", ".,"))


@dataclass
class Case:
    """One chat: `ask` plays a script to its end and gives the events."""

    toolbox: PlainToolbox = field(default_factory=PlainToolbox)
    limits: Limits = field(default_factory=Limits)
    exposure: str = "filter"
    context: int = 8192
    chat: Chat = field(default_factory=Chat)
    events: list[Event] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    progress: list[CallProgress] = field(default_factory=list)

    def agent(self, speaker: ScriptedSpeaker) -> Agent:
        """Return an agent over the workflow, prompts and examples of the plugin."""
        prompts = prompt.load(RESOURCES / "prompts")
        return Agent(
            workflow=state.load(RESOURCES / "workflows" / "analysis.json"),
            bank=example.load(RESOURCES / "workflows" / "examples.json", prompts.ignored),
            prompts=prompts,
            toolbox=self.toolbox,
            speaker=speaker,
            limits=self.limits,
            write=plain,
            exposure=self.exposure,
        )

    def ask(
        self,
        question: str,
        *steps: ScriptStep,
        stop_at: Callable[[Event], bool] = lambda event: False,
        **speaker_options: Any,
    ) -> RunFinished:
        """Ask one question; the run is cancelled at the first event that `stop_at` picks."""
        cancelled = threading.Event()
        options = {"context": self.context, **speaker_options}
        with ScriptedSpeaker(list(steps), **options) as speaker:
            self.events = []
            run = self.agent(speaker).run(
                self.chat, question, cancelled.is_set, self.progress.append
            )
            for event in run:
                self.events.append(event)
                if stop_at(event):
                    cancelled.set()
            self.asked = speaker.asked
        end = self.events[-1]
        assert isinstance(end, RunFinished)
        return end

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of one kind of the last run."""
        return [event for event in self.events if isinstance(event, kind)]

    def stages(self) -> list[str]:
        """Return the stages entered in the last run."""
        return [event.stage for event in self.of(StageChanged)]

    def choices(self) -> list[Asked]:
        """Return the requests of the last run that asked for a call or for said values."""
        return [item for item in self.asked if item.choice is not None]
