# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a question, gathered from the events of its run."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from .agent.event import (
    CallFinished,
    Event,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
    TokensUsed,
)
from .llm.base import ModelCard, ModelError, RunCancelled, Usage

_VERSION = 1
_NOT_STARTED = "The run did not start."
_STOPPED = "Stopped before anything was done."


class Recorder:
    """Listens to one run and gives its record in the form that others rely on."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._stages: list[str] = []
        self._intent = ""
        self._calls: list[dict[str, Any]] = []
        self._usage = Usage()
        self._model = {"name": "", "server": "", "digest": ""}
        self._end = RunFinished(Status.FAILED, _NOT_STARTED, reason=_NOT_STARTED)
        self.has_ended = False

    def note(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, RunStarted):
            self._model.update(name=event.model, server=event.server)
        elif isinstance(event, StageChanged):
            self._stages.append(event.stage)
            self._intent = event.intent or self._intent
        elif isinstance(event, CallFinished):
            self._calls.append(
                {
                    "tool": event.tool,
                    "arguments": event.arguments,
                    "ok": event.ok,
                    "error": event.error,
                    "seconds": round(event.seconds, 3),
                }
            )
        elif isinstance(event, TokensUsed):
            self._usage += event.usage
        elif isinstance(event, RunFinished):
            self._end = event
            self.has_ended = True

    def model(self, card: ModelCard) -> None:
        """Note which model answers."""
        self._model = {"name": card.name, "server": card.server.value, "digest": card.digest}

    def record(self) -> dict[str, Any]:
        """Return the record; token and time fields are always numbers."""
        end = self._end
        seconds = {key: round(end.seconds.get(key, 0.0), 3) for key in ("model", "tools", "total")}
        return {
            "version": _VERSION,
            "question": self._question,
            "answer": end.answer,
            "value": _number(end.value),
            "unit": end.unit,
            "status": end.status.value,
            "reason": end.reason,
            "intent": self._intent,
            "stages": list(self._stages),
            "calls": list(self._calls),
            "layers": [asdict(layer) for layer in end.layers],
            "files": list(end.files),
            "tokens": asdict(self._usage),
            "seconds": seconds,
            "model": dict(self._model),
        }


def _number(value: float | None) -> float | None:
    """Return a value as JSON can hold it: null for what is no number."""
    return float(value) if value is not None and math.isfinite(value) else None


def ending(error: BaseException) -> RunFinished:
    """Return the last event of a run that an error ended."""
    if isinstance(error, ModelError):
        return RunFinished(Status.FAILED, error.message, reason=error.message)
    if isinstance(error, RunCancelled):
        return RunFinished(Status.CANCELLED, _STOPPED, reason=_STOPPED)
    text = f"The run stopped with an unexpected error ({type(error).__name__}). See the log."
    return RunFinished(Status.FAILED, text, reason=text)
