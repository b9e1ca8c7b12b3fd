# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory of a machine as each system tells it, by readers that stand for the system."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from geo_olm.plugin.llm.memory import (
    Memory,
    from_counters,
    from_files,
    from_status,
    machine_memory,
)

MEMINFO = "MemTotal:  16000 kB\nMemFree: 1000 kB\nMemAvailable:   9000 kB\nHugePages: 0\n"


def reader(files: dict[str, str]) -> Callable[[str], str]:
    def read(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    return read


def test_linux_tells_what_a_program_can_have_not_what_lies_idle() -> None:
    assert from_files(reader({"/proc/meminfo": MEMINFO})) == Memory(16_384_000, 9_216_000)


def test_a_containers_limit_counts_where_it_is_lower() -> None:
    files = {
        "/proc/meminfo": MEMINFO,
        "/sys/fs/cgroup/memory.max": "8000000\n",
        "/sys/fs/cgroup/memory.current": "3000000\n",
    }
    assert from_files(reader(files)) == Memory(8_000_000, 5_000_000)
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    assert from_files(reader(files)) == Memory(16_384_000, 9_216_000)


def test_a_system_that_says_nothing_is_unknown() -> None:
    assert from_files(reader({})) == Memory()
    assert from_files(reader({"/proc/meminfo": "MemTotal: lots\n"})) == Memory()
    assert from_status(None) == Memory()


def test_macos_counts_pages_and_windows_bytes() -> None:
    counters = {
        "hw.memsize": 16_000_000, "hw.pagesize": 16_384, "vm.page_free_count": 10,
        "vm.page_speculative_count": 2, "vm.page_purgeable_count": 3,
        "vm.page_pageable_external_count": 5,
    }  # fmt: skip
    assert from_counters(counters.__getitem__) == Memory(16_000_000, 20 * 16_384)

    def missing(name: str) -> int:
        raise OSError(name)

    assert from_counters(missing) == Memory()
    assert from_status((16, 9)) == Memory(16, 9)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_this_machine_tells_its_own() -> None:
    found = machine_memory()
    words = Path("/proc/meminfo").read_text().split()
    assert 0 < found.free <= found.total <= int(words[1]) * 1024
