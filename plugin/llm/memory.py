# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks the operating system how much memory this machine has, and how much of it is free."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ReadText = Callable[[str], str]
"""Returns the text of a file of the system; raises OSError when there is none."""

ReadNumber = Callable[[str], int]
"""Returns a number of the system by its name; raises OSError when there is none."""

_MEMINFO = "/proc/meminfo"
_GROUP = "/sys/fs/cgroup"
_RECLAIMABLE = ("free", "speculative", "purgeable", "pageable_external")
"""The pages of macOS that a program can have at once."""


@dataclass(frozen=True)
class Memory:
    """Bytes of memory in all, and those that a program can have; 0 where nobody says."""

    total: int = 0
    free: int = 0


def machine_memory() -> Memory:
    """Return the memory of this machine, or of the container that this process lives in."""
    if sys.platform == "win32":
        return from_status(_status_of_windows())
    if sys.platform == "darwin":
        return from_counters(_counter_of_macos)
    return from_files(_text)


def from_files(read: ReadText) -> Memory:
    """Return the memory that Linux tells of; a container's limit counts where it is lower."""
    try:
        lines = read(_MEMINFO).splitlines()
    except OSError:
        return Memory()
    said = dict(line.split(":", 1) for line in lines if ":" in line)
    total, free = _kibibytes(said, "MemTotal"), _kibibytes(said, "MemAvailable")
    try:
        limit = int(read(f"{_GROUP}/memory.max"))
        left = limit - int(read(f"{_GROUP}/memory.current"))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return Memory(total, free)
    return Memory(min(total, limit), max(0, min(free, left)))


def from_counters(read: ReadNumber) -> Memory:
    """Return the memory that macOS tells of by its counters."""
    try:
        page = read("hw.pagesize")
        pages = sum(read(f"vm.page_{name}_count") for name in _RECLAIMABLE)
        return Memory(read("hw.memsize"), pages * page)
    except OSError:
        return Memory()


def from_status(status: tuple[int, int] | None) -> Memory:
    """Return the memory that Windows tells of: all of it, and what is available, in bytes."""
    return Memory(*status) if status else Memory()


def _kibibytes(said: dict[str, str], name: str) -> int:
    words = said.get(name, "").split()
    return int(words[0]) * 1024 if words and words[0].isdigit() else 0


def _text(path: str) -> str:
    return Path(path).read_text(encoding="ascii", errors="replace")


def _counter_of_macos(name: str) -> int:
    import ctypes

    value, size = ctypes.c_uint64(0), ctypes.c_size_t(8)
    system = ctypes.CDLL(None)
    places = (ctypes.byref(value), ctypes.byref(size))
    if system.sysctlbyname(name.encode(), *places, None, ctypes.c_size_t(0)):
        raise OSError(f"the system has no counter {name}")
    return int(value.value)


def _status_of_windows() -> tuple[int, int] | None:
    import ctypes

    class Status(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = [
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free")),
            *((f"more{number}", ctypes.c_ulonglong) for number in range(5)),
        ]

    status = Status()
    status.length = ctypes.sizeof(Status)
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    if not kernel.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(status.total), int(status.free)
