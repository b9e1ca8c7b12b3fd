# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a run's events as JSON lines, and makes a record from them where the method gives none."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from ..agent.event import CallFinished, Event, RunFinished, RunStarted, TokensUsed
from ..llm.base import Usage

TOKENS = ("prompt", "cached", "evaluated", "generated")
SECONDS = ("model", "tools", "total")


class CapReached(Exception):
    """A run used more tokens or seconds than it may; the message says which."""


class RunStopped(Exception):
    """The user stopped the evaluation."""


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


class Recorder:
    """Takes the events of one run and ends it when it is stopped or over its caps.

    `note` may be called from any one thread at a time. It raises CapReached and RunStopped.
    """

    def __init__(
        self,
        path: Path,
        token_cap: int,
        seconds_cap: float,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stream = path.open("w", encoding="utf-8")
        self._token_cap, self._seconds_cap = token_cap, seconds_cap
        self._cancelled = cancelled
        self._began = time.monotonic()
        self._usage = Usage()
        self._calls: list[dict[str, Any]] = []
        self._seconds = {"model": 0.0, "tools": 0.0}
        self._model = {"name": "", "server": "", "digest": ""}
        self._answer = ""

    def note(self, event: Event) -> None:
        """Write an event and count what it used."""
        line = {"event": type(event).__name__, "t": round(self.elapsed(), 3), **as_json(event)}
        self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._stream.flush()
        if isinstance(event, RunStarted):
            self._model.update(name=event.model, server=event.server)
        elif isinstance(event, TokensUsed):
            self._usage += event.usage
            self._seconds["model"] += event.seconds
        elif isinstance(event, CallFinished):
            self._seconds["tools"] += event.seconds
            call = {name: getattr(event, name) for name in ("tool", "arguments", "ok", "error")}
            self._calls.append({**as_json(call), "seconds": event.seconds})
        elif isinstance(event, RunFinished):
            self._answer = event.answer
        if self._cancelled():
            raise RunStopped
        if not isinstance(event, RunFinished):
            self.check(self._usage.evaluated, self.elapsed())

    def check(self, evaluated: float, seconds: float) -> None:
        """Raise CapReached when a run used too much."""
        if self._token_cap and evaluated > self._token_cap:
            raise CapReached(f"More than {self._token_cap} evaluated tokens.")
        if self._seconds_cap and seconds > self._seconds_cap:
            raise CapReached(f"More than {self._seconds_cap:g} seconds.")

    def elapsed(self) -> float:
        """Return the seconds since the run began."""
        return time.monotonic() - self._began

    def close(self) -> None:
        """Close the file of events."""
        self._stream.close()

    def record(self, question: str, reason: str) -> dict[str, Any]:
        """Make the record of a run that failed without giving one."""
        usage = self._usage
        return {
            "question": question,
            "answer": self._answer,
            "value": None,
            "unit": "",
            "status": "failed",
            "reason": reason,
            "calls": self._calls,
            "layers": [],
            "files": [],
            "tokens": {**{name: getattr(usage, name) for name in TOKENS}, "estimated": True},
            "seconds": {**self._seconds, "total": self.elapsed()},
            "model": self._model,
        }


def numbers(found: Any, names: tuple[str, ...]) -> dict[str, float]:
    """Return the named numbers of a record's part; what is missing or no number is 0."""
    part = found if isinstance(found, Mapping) else {}
    values = {name: part.get(name) for name in names}
    return {
        name: value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
        for name, value in values.items()
    }
