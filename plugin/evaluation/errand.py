# SPDX-License-Identifier: GPL-2.0-or-later
"""Work on the main thread that waits for tasks in the background without holding the thread up."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from qgis.core import QgsApplication
from qgis.PyQt.QtCore import QCoreApplication, QEventLoop, QObject, QTimer

from ..llm.base import Cancelled

T = TypeVar("T")
_LOOK_MS = 100
_PAUSE_S = 0.01

Done = Callable[[Any, "BaseException | None"], None]
"""Takes what an errand returned, and None or the error that ended it."""


def _never() -> bool:
    return False


class Pending(Protocol):
    """A task of QGIS that tells its end, with an error or None, by a signal."""

    ended: Any

    def cancel(self) -> None:
        """Ask it to end."""

    def isCanceled(self) -> bool:
        """Tell whether it was asked to end."""


@dataclass(frozen=True)
class Wait:
    """What an errand waits for: a task, which is cancelled soon after `cancelled` turns true."""

    task: Pending
    cancelled: Cancelled = _never


Errand = Generator[Wait, None, T]
"""Steps on the main thread, parted by the tasks that they wait for; an error of a task is raised
where the errand waits for it."""


class Errands(QObject):
    """Drives errands: while one waits, the others and the window go on. Main thread only."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[Pending, Wait] = {}
        self._open = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._look)

    def begin(self, errand: Errand[Any], done: Done) -> None:
        """Take up an errand; `done` may be called before this returns."""
        self._open += 1
        self._go_on(errand, done, None)

    def close(self, seconds: float) -> bool:
        """Cancel what is waited for until all errands have ended; false when they did not within
        `seconds`."""
        until = time.monotonic() + seconds
        while self._open:
            for task in list(self._waiting):
                task.cancel()
            if time.monotonic() > until:
                return False
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
            time.sleep(_PAUSE_S)
        return True

    def _go_on(self, errand: Errand[Any], done: Done, error: BaseException | None) -> None:
        try:
            wait = next(errand) if error is None else errand.throw(error)
        except StopIteration as end:
            self._end(done, end.value, None)
            return
        except Exception as failure:
            self._end(done, None, failure)
            return
        task = wait.task
        self._waiting[task] = wait
        task.ended.connect(lambda fault: self._ended(task, errand, done, fault))
        self._timer.start()
        QgsApplication.taskManager().addTask(task)
        self._look()

    def _ended(
        self, task: Pending, errand: Errand[Any], done: Done, error: BaseException | None
    ) -> None:
        """Go on once QGIS has put the task away."""
        del self._waiting[task]
        if not self._waiting:
            self._timer.stop()
        QTimer.singleShot(0, lambda: self._go_on(errand, done, error))

    def _end(self, done: Done, value: Any, error: BaseException | None) -> None:
        self._open -= 1
        done(value, error)

    def _look(self) -> None:
        for task, wait in list(self._waiting.items()):
            if wait.cancelled() and not task.isCanceled():
                task.cancel()


def spun(errand: Errand[T]) -> T:
    """Drive one errand while an event loop spins; return what it returns, or raise its error."""
    ended: list[tuple[Any, BaseException | None]] = []
    loop, errands = QEventLoop(), Errands()

    def done(value: Any, error: BaseException | None) -> None:
        ended.append((value, error))
        loop.quit()

    errands.begin(errand, done)
    if not ended:
        loop.exec()
    value, error = ended[0]
    if error is not None:
        raise error
    result: T = value
    return result
