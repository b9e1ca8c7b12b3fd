# SPDX-License-Identifier: GPL-2.0-or-later
"""How far a download is: bytes done and in all, what happens, and its speed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

_SPAN_S = 5.0


@dataclass(frozen=True)
class Progress:
    """Bytes done and in all (0 is unknown), and a word for what happens."""

    done: int
    total: int
    doing: str = ""

    @property
    def percent(self) -> float:
        """The share that is done, 0 to 100; -1 while the whole is unknown."""
        return min(100.0, 100.0 * self.done / self.total) if self.total else -1.0


@dataclass
class Speed:
    """Bytes a second over the last five seconds."""

    clock: Callable[[], float] = time.monotonic
    _marks: deque[tuple[float, int]] = field(default_factory=deque)

    def taken(self, done: int) -> float:
        """Take a count of bytes; return the speed, 0 until it can be told.

        A count that falls (a part that is fetched anew) starts the measuring again.
        """
        now = self.clock()
        if self._marks and done < self._marks[-1][1]:
            self._marks.clear()
        self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[0][0] > _SPAN_S:
            self._marks.popleft()
        first, bytes_then = self._marks[0]
        return (done - bytes_then) / (now - first) if now > first else 0.0
