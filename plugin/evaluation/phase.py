# SPDX-License-Identifier: GPL-2.0-or-later
"""Splits the seconds of a run into reading, writing, tools and waiting, from its events."""

from __future__ import annotations

from dataclasses import dataclass

from ..agent.event import CallFinished, Event, ModelState, TokensUsed

PHASES = ("reading", "writing", "tools", "waiting")


@dataclass
class Phases:
    """The sums so far, in seconds; `waiting` is what is none of the others, such as loading."""

    reading: float = 0.0
    writing: float = 0.0
    tools: float = 0.0
    loading: float = 0.0
    _wrote_at: float = -1.0
    _loaded: float = 0.0

    def note(self, event: Event, now: float) -> None:
        """Take an event at `now` seconds since the run began."""
        if isinstance(event, ModelState):
            if event.state == "writing" and self._wrote_at < 0:
                self._wrote_at = now
            elif event.state == "loading":
                self._loaded = max(self._loaded, event.seconds)
        elif isinstance(event, TokensUsed):
            whole = event.seconds
            wrote = min(whole, max(now - self._wrote_at, 0.0)) if self._wrote_at >= 0 else 0.0
            loaded = min(self._loaded, whole - wrote)
            self.writing += wrote
            self.loading += loaded
            self.reading += whole - wrote - loaded
            self._wrote_at, self._loaded = -1.0, 0.0
        elif isinstance(event, CallFinished):
            self.tools += event.seconds

    def split(self, total: float) -> dict[str, float]:
        """Return the seconds of each phase of a run that took `total`."""
        known = self.reading + self.writing + self.tools
        split = (self.reading, self.writing, self.tools, max(total - known, 0.0))
        return {name: round(value, 3) for name, value in zip(PHASES, split)}
