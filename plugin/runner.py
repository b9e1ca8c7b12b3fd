# SPDX-License-Identifier: GPL-2.0-or-later
"""The one place that knows threads: the hop to the main thread, and the task a run lives in."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from qgis.core import QgsApplication, QgsTask
from qgis.PyQt.QtCore import QCoreApplication, QEventLoop, QObject, Qt, QThread, QTimer, pyqtSignal

T = TypeVar("T")
_LOG = logging.getLogger(__name__)


def on_main_thread() -> bool:
    """Tell whether the calling thread is the one that owns the application's widgets."""
    return QThread.currentThread() is QCoreApplication.instance().thread()


class _Job:
    """A function on its way to the main thread, and what came of it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._value: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._value = self._function()
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value


class MainThread(QObject):
    """Runs functions on the main thread for a worker, which waits for the result.

    Made on the main thread. Must not be called from a worker for which the main thread waits
    without an event loop.
    """

    _sent = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__()
        self.moveToThread(QCoreApplication.instance().thread())
        self._sent.connect(self._receive, Qt.ConnectionType.BlockingQueuedConnection)

    def call(self, function: Callable[[], T]) -> T:
        """Run `function` on the main thread; return its result or raise its error there."""
        if on_main_thread():
            return function()
        job = _Job(function)
        self._sent.emit(job)
        result: T = job.result()
        return result

    def _receive(self, job: _Job) -> None:
        job.run()


Work = Callable[[Callable[[object], None], Callable[[], bool]], None]
"""The work of a task: takes `emit` for its events and `cancelled`."""


class RunTask(QgsTask):
    """A run in QGIS's task manager. Events reach `told` on the main thread, in order, and
    `ended` comes after the last one, with the error of the work or None."""

    told = pyqtSignal(object)
    ended = pyqtSignal(object)

    def __init__(self, title: str, work: Work) -> None:
        flags = QgsTask.Flag.CanCancel | QgsTask.Flag.CancelWithoutPrompt
        super().__init__(title, flags)  # without the second, QGIS asks before it closes
        self._work = work
        self._error: BaseException | None = None

    def run(self) -> bool:
        """Do the work on the task's thread."""
        try:
            self._work(self.told.emit, self.isCanceled)
        except BaseException as error:
            _LOG.exception("the run stopped")
            self._error = error
        return self._error is None

    def finished(self, _result: bool) -> None:
        """Tell the end, on the main thread."""
        self.ended.emit(self._error)


def start(task: RunTask) -> RunTask:
    """Hand a task to QGIS's task manager. Main thread only; keep the returned reference."""
    QgsApplication.taskManager().addTask(task)
    return task


def wait(task: RunTask, cancelled: Callable[[], bool]) -> None:
    """Spin an event loop on the main thread until `task` has ended; raises its error.

    This is how a run lives in qgis_process, where the algorithm itself holds the main thread.
    """
    loop = QEventLoop()
    outcome: list[BaseException | None] = []

    def end(error: BaseException | None) -> None:
        outcome.append(error)
        loop.quit()

    def look() -> None:
        if cancelled() and not task.isCanceled():
            task.cancel()

    task.ended.connect(end)
    timer = QTimer()
    timer.setInterval(100)
    timer.timeout.connect(look)
    timer.start()
    start(task)
    look()
    if not outcome:
        loop.exec()
    timer.stop()
    if outcome and outcome[0] is not None:
        raise outcome[0]


def finish(task: RunTask, seconds: float) -> bool:
    """Cancel a task and let its worker reach the main thread until it has ended.

    The task must not have told its end yet: QGIS deletes it right after. Returns false when it
    did not end within `seconds`. Main thread only.
    """
    ended: list[BaseException | None] = []
    task.ended.connect(ended.append)
    task.cancel()
    until = time.monotonic() + seconds
    while not ended:
        if time.monotonic() > until:
            return False
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
        time.sleep(0.01)
    return True


class Lane(QThread):
    """A thread that does one piece of work after another; `done` gets (key, value, error) of each.

    For branches that run at the same time below a task. Make it, start it and close it on one
    thread; QGIS's tools need a thread of Qt's, which a plain thread of Python is not.
    """

    def __init__(self, done: Callable[[str, Any, BaseException | None], None]) -> None:
        super().__init__()
        self._done = done
        self._work: SimpleQueue[tuple[str, Callable[[], Any]] | None] = SimpleQueue()

    def give(self, key: str, work: Callable[[], Any]) -> None:
        """Hand work to the thread, which starts when it is first needed."""
        self._work.put((key, work))
        if not self.isRunning():
            self.start()

    def run(self) -> None:
        """Work until the lane is closed."""
        while True:
            given = self._work.get()
            if given is None:
                return
            key, work = given
            try:
                self._done(key, work(), None)
            except BaseException as error:
                self._done(key, None, error)

    def close(self) -> None:
        """End after the present work, and wait for that."""
        self._work.put(None)
        self.wait()
