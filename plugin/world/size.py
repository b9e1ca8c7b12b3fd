# SPDX-License-Identifier: GPL-2.0-or-later
"""How large a generated world is, from about a megabyte to many gigabytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Cells along a side and numbers of things; `arcseconds` is the cell of GHSL and WorldPop."""

    name: str
    modis: int
    sentinel: int
    forest: int
    arcseconds: int
    images: int
    labels: int


SIZES = {
    one.name: one
    for one in (
        Size("small", 48, 120, 240, 30, 60, 6),
        Size("medium", 160, 600, 1200, 30, 400, 8),
        Size("large", 600, 4000, 8000, 3, 4000, 12),
        Size("huge", 1200, 10980, 36000, 3, 40000, 20),
    )
}
"""Written they take about 2 MB, 10 MB, 0.8 GB and 8 GB."""
