# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells whether the process that wrote a transcript still runs, on any system."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

from qgis.PyQt.QtCore import QLockFile

_WEEK_MS = 7 * 24 * 3600 * 1000
_NAME = re.compile(r"[0-9a-f]{32}")


class Owner:
    """Holds a lock for this process; Qt sees by it whether the process is there."""

    def __init__(self, folder: Path) -> None:
        """Take a lock of one's own; where the folder cannot be written, none is held."""
        self._folder = folder
        self.name = uuid.uuid4().hex
        self._lock = _lock(folder, self.name)
        self.holds = self._lock.tryLock(0)

    def is_gone(self, name: str) -> bool:
        """Tell whether the process that called itself so has ended."""
        if name == self.name:
            return False
        if not _NAME.fullmatch(name):
            return True
        lock = _lock(self._folder, name)
        gone = bool(lock.tryLock(0))
        if gone:
            lock.unlock()
        return gone

    def close(self) -> None:
        """Let go of the lock."""
        self._lock.unlock()


def _lock(folder: Path, name: str) -> QLockFile:
    lock = QLockFile(str(folder / f"{name}.lock"))
    lock.setStaleLockTime(_WEEK_MS)
    return lock
