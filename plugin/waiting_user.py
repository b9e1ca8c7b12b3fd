# SPDX-License-Identifier: GPL-2.0-or-later
"""The user of a run that waits on a worker thread until something is clicked on the main thread."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

from ..tools.base import ToolCancelled
from .workflow.event import GraphChanged, QuestionAsked, ReviewReached

_LOOK_S = 0.1
Cancelled = Callable[[], bool]


class WaitingUser:
    """Implements flow_means.User; several steps may wait at the same time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._replies: dict[str, SimpleQueue[Any]] = {}

    def reply(self, step: str, value: Any) -> None:
        """Give what a step waits for: a text for a question, True or False for a review stop. Any
        thread."""
        self._queue(step).put(value)

    def begin(self) -> None:
        """Forget replies that nothing waits for, before a run. Any thread."""
        with self._lock:
            self._replies.clear()

    def answer(self, question: QuestionAsked, cancelled: Cancelled) -> str:
        """Return the text that the user gave. Raises ToolCancelled."""
        found = self._wait(question.step, cancelled)
        if found is False:
            raise ToolCancelled()
        return str(found)

    def goes_on(self, stop: ReviewReached, cancelled: Cancelled) -> bool:
        """Tell whether the user lets the run go on. Raises ToolCancelled."""
        return bool(self._wait(stop.step, cancelled))

    def accepts(self, change: GraphChanged, cancelled: Cancelled) -> bool:
        """Take changes that a run proposes; the editor can undo them."""
        return True

    def _queue(self, step: str) -> SimpleQueue[Any]:
        with self._lock:
            return self._replies.setdefault(step, SimpleQueue())

    def _wait(self, step: str, cancelled: Cancelled) -> Any:
        replies = self._queue(step)
        while not cancelled():
            try:
                return replies.get(timeout=_LOOK_S)
            except Empty:
                continue
        raise ToolCancelled()
