# SPDX-License-Identifier: GPL-2.0-or-later
"""The user of a run that waits on a worker thread until something is clicked on the main thread."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from ..tools.base import ToolCancelled
from .workflow.event import GraphChanged, QuestionAsked, ReviewReached

_LOOK_S = 0.1
Cancelled = Callable[[], bool]


class WaitingUser:
    """Implements flow_means.User; `reply` may be called on any thread."""

    def __init__(self) -> None:
        self._replies: SimpleQueue[Any] = SimpleQueue()

    def reply(self, value: Any) -> None:
        """Give what is waited for: a text for a question, True or False for a review stop."""
        self._replies.put(value)

    def answer(self, question: QuestionAsked, cancelled: Cancelled) -> str:
        """Return the text that the user gave. Raises ToolCancelled."""
        found = self._wait(cancelled)
        if found is False:
            raise ToolCancelled()
        return str(found)

    def goes_on(self, stop: ReviewReached, cancelled: Cancelled) -> bool:
        """Tell whether the user lets the run go on. Raises ToolCancelled."""
        return bool(self._wait(cancelled))

    def accepts(self, change: GraphChanged, cancelled: Cancelled) -> bool:
        """Take changes that a run proposes; the editor can undo them."""
        return True

    def _wait(self, cancelled: Cancelled) -> Any:
        while not cancelled():
            try:
                return self._replies.get(timeout=_LOOK_S)
            except Empty:
                continue
        raise ToolCancelled()
