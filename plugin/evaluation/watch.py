# SPDX-License-Identifier: GPL-2.0-or-later
"""Watches one measured run: keeps its events as JSON lines, and tells when it used too much."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from ..agent.event import CallFinished, CallProgress, Event, Status, TokensUsed
from ..record import Recorder
from .phase import Phases


def as_json(value: Any) -> Any:
    """Return a value in a form that JSON can hold; what it cannot hold comes as text."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {key: as_json(item) for key, item in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [as_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


class Watch:
    """Takes the events of one run, or of one turn of a dialogue, whose turns share a file.

    `calls` are its finished calls, `cost` its dollars; `broken` is the error that kept an event
    from being written, such as a full disk, and it ends the run.

    `note` may be called from any one thread at a time, `cancelled` from any thread. A cap of 0 is
    none.
    """

    def __init__(
        self,
        path: Path,
        question: str,
        token_cap: int = 0,
        seconds_cap: float = 0.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stream = path.open("a", encoding="utf-8")
        self._token_cap, self._seconds_cap = token_cap, seconds_cap
        self._stopped = stopped
        self._began = time.monotonic()
        self._recorder = Recorder(question)
        self._evaluated = 0
        self._seconds = {"model": 0.0, "tools": 0.0}
        self.phases = Phases()
        self.calls: list[CallFinished] = []
        self.broken: OSError | None = None
        self.cost: float | None = None

    def note(self, event: Event) -> None:
        """Write an event and count what it used."""
        if isinstance(event, CallProgress):
            return
        line = {"event": type(event).__name__, "t": round(self.elapsed(), 3), **as_json(event)}
        try:
            self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._stream.flush()
        except OSError as error:
            self.broken = self.broken or error
        self._recorder.note(event)
        self.phases.note(event, self.elapsed())
        if isinstance(event, TokensUsed):
            self._evaluated += event.usage.evaluated
            if event.cost is not None:
                self.cost = (self.cost or 0.0) + event.cost
            self._seconds["model"] += event.seconds
        elif isinstance(event, CallFinished):
            self._seconds["tools"] += event.seconds
            self.calls.append(event)

    def elapsed(self) -> float:
        """Return the seconds since the run began."""
        return time.monotonic() - self._began

    def excess(self, evaluated: float = 0) -> str:
        """Return in a sentence what the run used too much of, or "".

        `evaluated` are the tokens that its record tells, where that is more than its events told.
        """
        if self._token_cap and max(evaluated, self._evaluated) > self._token_cap:
            return f"More than {self._token_cap} evaluated tokens."
        if self._seconds_cap and self.elapsed() > self._seconds_cap:
            return f"More than {self._seconds_cap:g} seconds."
        return ""

    def cancelled(self) -> bool:
        """Tell whether the run has to end: it was stopped, used too much, or cannot be kept."""
        return self._stopped() or self.broken is not None or bool(self.excess())

    def close(self) -> None:
        """Close the file of events."""
        try:
            self._stream.close()
        except OSError as error:
            self.broken = self.broken or error

    def failure(self, reason: str) -> dict[str, Any]:
        """Make the record of a run that gave none, from its events."""
        return {
            **self._recorder.record(),
            "status": Status.FAILED.value,
            "reason": reason,
            "seconds": {**self._seconds, "total": self.elapsed()},
        }
