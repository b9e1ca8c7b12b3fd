# SPDX-License-Identifier: GPL-2.0-or-later
"""The energy that the machine's processors used, where it tells (Linux with RAPL counters)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

COUNTERS = Path("/sys/class/powercap")
_PACKAGES = "intel-rapl:?"
_MICRO = 1e-6


@dataclass(frozen=True)
class _Counter:
    microjoules: int
    wraps_at: int


class EnergyMeter:
    """Measures from when it is made; a machine without readable counters measures nothing.

    The counters are the machine's: what else runs counts too.
    """

    def __init__(self, folder: Path = COUNTERS) -> None:
        self._folder = folder
        self._began = self._read()

    def joules(self) -> float | None:
        """Return the joules since then, None where the machine does not tell."""
        now = self._read()
        if not now or now.keys() != self._began.keys():
            return None
        used = 0
        for name, counter in now.items():
            before = self._began[name].microjoules
            gone = counter.microjoules - before
            used += gone if gone >= 0 else gone + counter.wraps_at
        return round(used * _MICRO, 3)

    def _read(self) -> dict[str, _Counter]:
        found = {}
        for place in sorted(self._folder.glob(_PACKAGES)):
            try:
                used = int((place / "energy_uj").read_text(encoding="ascii"))
                most = int((place / "max_energy_range_uj").read_text(encoding="ascii"))
            except (OSError, ValueError):
                return {}  # readable by root alone on most machines
            found[place.name] = _Counter(used, most)
        return found
