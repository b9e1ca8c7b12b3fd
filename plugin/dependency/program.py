# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs another program on a worker thread, reads what it writes, and ends it on a stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qgis.PyQt.QtCore import QProcess, QProcessEnvironment

from ..llm.base import Cancelled, RunCancelled

_TICK_MS = 100
_START_MS = 10_000
_END_MS = 3_000


@dataclass(frozen=True)
class Done:
    """How a program ended: its code (-1: not started, crashed or too slow) and all its output."""

    code: int
    output: str


def run(
    path: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    cancelled: Cancelled,
    patience_s: float,
    on_line: Callable[[str], None] | None = None,
) -> Done:
    """Run a program to its end; `environment` is added to this process's own.

    `on_line` is told each line as it comes. Raises RunCancelled after the program was ended.
    """
    process = QProcess()
    process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
    whole = QProcessEnvironment.systemEnvironment()
    for name, value in environment.items():
        whole.insert(name, value)
    process.setProcessEnvironment(whole)
    process.start(str(path), list(arguments))
    if not process.waitForStarted(_START_MS):
        return Done(-1, process.errorString())
    process.closeWriteChannel()
    text, told, until = "", 0, time.monotonic() + patience_s
    while True:
        over = process.waitForFinished(_TICK_MS)
        over = over or process.state() == QProcess.ProcessState.NotRunning
        text += bytes(process.readAll()).decode(errors="replace")
        *lines, _rest = text[told:].split("\n")
        for line in lines:
            told += len(line) + 1
            if on_line is not None:
                on_line(line.rstrip("\r"))
        if over:
            break
        if cancelled() or time.monotonic() > until:
            process.kill()
            process.waitForFinished(_END_MS)
            if cancelled():
                raise RunCancelled
            return Done(-1, text)
    normal = process.exitStatus() == QProcess.ExitStatus.NormalExit
    return Done(process.exitCode() if normal else -1, text)
