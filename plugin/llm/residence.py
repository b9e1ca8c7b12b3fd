# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a loaded model lies, in the memory of a graphics card or of the processor, in words."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Remark

_GIGABYTE = 1e9


@dataclass(frozen=True)
class Residence:
    """A loaded model: its bytes, those of them on graphics cards, and its context in tokens
    (0 where the server does not say)."""

    size: int
    on_card: int
    context: int = 0

    @property
    def is_split(self) -> bool:
        """Whether a part of it did not fit the graphics card."""
        return 0 < self.on_card < self.size

    @property
    def words(self) -> str:
        """Say where it lies, as a part of a sentence."""
        if self.is_split:
            whole = self.size / _GIGABYTE
            return f"{self.on_card / _GIGABYTE:.1f} of {whole:.1f} GB on the graphics card"
        return "on the graphics card" if self.on_card else "on the processor"

    def remark(self) -> Remark | None:
        """Return what the user should know before waiting for it."""
        if self.is_split:
            return Remark(
                f"Only {self.on_card / _GIGABYTE:.1f} of {self.size / _GIGABYTE:.1f} GB of the "
                "model are on the graphics card: the rest runs on the processor and slows it down. "
                "Choose a smaller model or a smaller context.",
                warning=True,
            )
        if not self.on_card:
            return Remark("The model runs on the processor, not on a graphics card.")
        return None
