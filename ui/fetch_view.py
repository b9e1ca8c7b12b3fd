# SPDX-License-Identifier: GPL-2.0-or-later
"""What is shown of models that can be brought, and of one that is being brought: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from qgis.PyQt.QtCore import QLocale

from .number import SPACE, tr

_MEGABYTE, _GIGABYTE = 1e6, 1e9


@dataclass(frozen=True)
class Offer:
    """A model that can be downloaded; `bytes` is its size, `present` tells that it is there."""

    name: str
    bytes: int
    licence: str
    present: bool = False

    @property
    def words(self) -> str:
        """Return name, size and licence in a line."""
        return f"{self.name} · {size(self.bytes)} · {self.licence}"


@dataclass(frozen=True)
class FetchView:
    """The models on offer, and the download or pull that runs.

    `name` is the model that is brought now, or was last; `done` and `total` are bytes (`total` 0
    is unknown), `speed` bytes a second (0 is unknown). `error` is one sentence when the last one
    failed, or was stopped (`stopped`), `ended` one when it went well. `can_pull` tells that an
    Ollama answers.
    """

    offers: tuple[Offer, ...] = ()
    busy: bool = False
    name: str = ""
    doing: str = ""
    done: int = 0
    total: int = 0
    speed: float = 0.0
    error: str = ""
    stopped: bool = False
    ended: str = ""
    can_pull: bool = False

    @property
    def percent(self) -> float:
        """The share that is done, 0 to 100; -1 while the whole is unknown."""
        return min(100.0, 100.0 * self.done / self.total) if self.total else -1.0

    @property
    def line(self) -> str:
        """Return what happens, how far it is and how fast."""
        parts = [self.doing]
        if self.total:
            of = tr("{0} of {1}").format(size(self.done), size(self.total))
            parts.append(of)
        elif self.done:
            parts.append(size(self.done))
        if self.speed > 0:
            parts.append(f"{size(self.speed)}/s")
            if self.total > self.done:
                seconds = (self.total - self.done) / self.speed
                parts.append(tr("{0} left").format(_left(seconds)))
        return " · ".join(part for part in parts if part)


def size(number: float) -> str:
    """Return bytes as a user reads them: "412 MB", "1.1 GB"."""
    if number >= _GIGABYTE:
        return f"{QLocale().toString(number / _GIGABYTE, 'f', 1)}{SPACE}GB"
    digits = 0 if number >= 10 * _MEGABYTE or not number else 1
    return f"{QLocale().toString(number / _MEGABYTE, 'f', digits)}{SPACE}MB"


def _left(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes >= 1:
        return f"{minutes}{SPACE}min"
    return f"{max(1, round(seconds))}{SPACE}s"
