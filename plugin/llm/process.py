# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks the operating system about processes by their number, and ends them."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

_QUERY, _TERMINATE, _STILL_ACTIVE = 0x1000, 0x0001, 259


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that ended but was not yet collected does not count."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _stat(pid)[:1] != ["Z"]


def command_line(pid: int) -> tuple[str, ...] | None:
    """Return the words of a process's command line, or None where the system does not tell."""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    return tuple(word.decode(errors="replace") for word in raw.split(b"\0") if word)


def birth(pid: int) -> str:
    """Return a mark of when a process began, to tell it from a later one of the same number.

    "" where the system does not tell.
    """
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def end(pid: int, patience_s: float = 3.0) -> bool:
    """Ask a process to end, and kill it after `patience_s`. Returns whether it is gone."""
    for hard in (False, True):
        if not _signal(pid, hard):
            return not alive(pid)
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            if not alive(pid):
                return True
            time.sleep(0.05)
    return not alive(pid)


def _signal(pid: int, hard: bool) -> bool:
    """Send the signal; returns whether there was anyone to send it to."""
    if sys.platform == "win32":
        return _terminate_on_windows(pid)
    try:
        os.kill(pid, signal.SIGKILL if hard else signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _stat(pid: int) -> list[str]:
    """Return what Linux tells of a process, from its state letter on; [] elsewhere."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _alive_on_windows(pid: int) -> bool:
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(_QUERY, False, pid)
    if not handle:
        return False
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == _STILL_ACTIVE


def _terminate_on_windows(pid: int) -> bool:
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(_TERMINATE, False, pid)
    if not handle:
        return False
    done = bool(kernel.TerminateProcess(handle, 1))
    kernel.CloseHandle(handle)
    return done
