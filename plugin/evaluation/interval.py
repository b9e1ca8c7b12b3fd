# SPDX-License-Identifier: GPL-2.0-or-later
"""The interval in which a share lies, from the number of tries."""

from __future__ import annotations

import math

Z95 = 1.959963984540054
"""The quantile of the normal distribution for 95 %."""


def wilson(right: int, tries: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a share, from 0 to 1; (0, 1) without a try."""
    if tries <= 0:
        return 0.0, 1.0
    share, square = right / tries, z * z
    middle = share + square / (2 * tries)
    room = z * math.sqrt(share * (1 - share) / tries + square / (4 * tries * tries))
    whole = 1 + square / tries
    return max(0.0, (middle - room) / whole), min(1.0, (middle + room) / whole)
