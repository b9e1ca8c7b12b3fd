# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless QGIS that runs one job after another: questions and answers are lines of JSON.

The first line is {"workflow", "settings", "profile"}, each further one {"job", "folder"}.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

IDLE_S = 600.0
_LOG = logging.getLogger(__name__)
_Line = dict[str, Any]


def main() -> int:
    """Answer until the input ends; a job in hand is then dropped where it stands."""
    try:
        code = _answer_all()
    except Exception:
        _LOG.exception("QGIS could not work")
        code = 1
    sys.stderr.flush()
    os._exit(code)  # QGIS and the thread that reads do not always survive the interpreter's end


def _answer_all() -> int:
    answers = _answers()
    lines = _Lines()
    begin = lines.next()
    if begin is None:
        return 0
    with _qgis(begin.get("profile", "")):
        from ..settings import Settings, taken
        from ..workflow.file import loads
        from .replaying import Replaying

        graph = loads(begin["workflow"]).graph
        texts = {key: str(value) for key, value in begin.get("settings", {}).items()}
        work = Replaying(graph, taken(Settings(), texts))
        while True:
            asked = lines.next()
            if asked is None:
                return 0
            try:
                found = work.run(asked["job"], Path(asked["folder"]))
            except Exception as error:
                _LOG.exception("the job failed")
                text = f"The job stopped with an unexpected error ({type(error).__name__}: {error})"
                found = {"status": "failed", "reason": text}
            answers.write(json.dumps(found) + "\n")
            answers.flush()
            lines.done()


class _Lines:
    """The lines of the input, read on a thread: when it ends in mid-job, the process ends too."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[_Line | None] = queue.SimpleQueue()
        self._busy = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def next(self) -> _Line | None:
        """Return the next line, None at the end of the input or after a long silence."""
        try:
            found = self._lines.get(timeout=IDLE_S)
        except queue.Empty:
            found = None
        return found

    def done(self) -> None:
        """Note that the line in hand is answered."""
        self._busy.clear()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            self._busy.set()
            self._lines.put(json.loads(line))
        if self._busy.is_set():
            os._exit(3)
        self._lines.put(None)


def _answers() -> Any:
    """Return the way for answers; whatever else writes to the standard output goes to the log."""
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "w", encoding="utf-8", newline="\n")


@contextmanager
def _qgis(profile: str) -> Iterator[None]:
    """Start QGIS without a display, Processing and the plugin's provider."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["GDAL_PAM_ENABLED"] = "NO"
    from qgis.core import QgsApplication

    application = QgsApplication([], False, profile)
    application.initQgis()
    sys.path.append(str(Path(QgsApplication.pkgDataPath()) / "python" / "plugins"))
    from processing.core.Processing import Processing

    Processing.initialize()
    from ..provider import GeoOlmProvider

    QgsApplication.processingRegistry().addProvider(GeoOlmProvider())
    try:
        yield
    finally:
        application.exitQgis()
