# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run left behind and how it was judged, as plain data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

NOISE = 1e-9


@dataclass(frozen=True)
class Output:
    """A kept output: `kind` is layer, raster, style or file, `name` the layer's or the file's."""

    kind: str
    name: str
    path: str

    def as_json(self) -> dict[str, str]:
        """Return the form of the results file."""
        return {"kind": self.kind, "name": self.name, "path": self.path}


@dataclass(frozen=True)
class Grade:
    """Whether a run met every expectation of its task, with one sentence for each miss."""

    success: bool
    reasons: tuple[str, ...] = ()


def near(found: float, expected: float, rel_tol: float = 0.0) -> bool:
    """Tell whether two numbers agree; a tolerance of 0 still allows the noise of floats."""
    room = abs(expected) * rel_tol + NOISE * max(1.0, abs(expected))
    return math.isfinite(found) and abs(found - expected) <= room


def shown(value: Any) -> str:
    """Write a value for a sentence."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def best_misses(
    what: str, candidates: Sequence[Output], misses: Callable[[Output], Iterable[str]]
) -> list[str]:
    """Return the misses of the candidate that has the fewest; none at all is a miss too."""
    if not candidates:
        return [f"no {what} was made"]
    judged = [(list(misses(item)), item) for item in candidates]
    found, item = min(judged, key=lambda pair: len(pair[0]))
    return [f"{what} '{item.name}': {miss}" for miss in found]
