# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics of a raster band, computed from its cells strip by strip and never taken from what a
file says of itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy

from .base import LayerReference, MendableError
from .context import Context
from .raster import Reader, raster_of
from .source import RasterSource

_HELD_CELLS = 20_000_000
_BINS = 65_536
_MOST_DISTINCT = 1_000_000
BASIC = ("mean", "sum", "min", "max", "stdev")


@dataclass
class Tally:
    """What is gathered of the cells: count, mean, sum of squared differences, extremes."""

    count: int = 0
    cells: int = 0
    mean: float = 0.0
    squares: float = 0.0
    total: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def add(self, values: Any) -> None:
        """Take an array in; NaN is no data. Merges by Chan, Golub and LeVeque (1979)."""
        self.cells += values.size
        valid = values[~numpy.isnan(values)]
        if not valid.size:
            return
        count, mean = valid.size, float(valid.mean())
        apart, whole = mean - self.mean, self.count + count
        self.squares += float(((valid - mean) ** 2).sum())
        self.squares += apart * apart * self.count * count / whole
        self.mean += apart * count / whole
        self.total += float(valid.sum())
        self.least, self.most = min(self.least, valid.min()), max(self.most, valid.max())
        self.count = whole

    def numbers(self) -> dict[str, float]:
        """Return mean, sum, min, max and stdev (of a sample) with the count."""
        spread = math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0
        found = (self.mean, self.total, float(self.least), float(self.most), spread)
        return {**dict(zip(BASIC, found)), "count": float(self.count)}


def tallied(source: RasterSource, band: int, context: Context) -> Tally:
    """Read a band and return its tally. Raises MendableError, ToolCancelled."""
    tally = Tally()
    for _, (values,) in Reader(source, [band], context).strips():
        tally.add(values)
    return tally


def statistics_of(
    source: RasterSource, band: int, statistic: str, context: Context
) -> tuple[dict[str, float], int]:
    """Return a statistic of a band ("" for all) with the count, and how many cells had no data.

    Raises MendableError for a band without data, ToolCancelled.
    """
    tally = tallied(source, band, context)
    if not tally.count:
        raise MendableError(f"Band {band} of {source.key} has no cell with data.")
    numbers = tally.numbers()
    if statistic in ("median", ""):
        numbers["median"] = _median(source, band, tally, context)
    if statistic == "distinct":
        numbers["distinct"] = float(_distinct(source, band, context))
    names = [statistic] if statistic else ["mean", "sum", "min", "max", "median", "stdev"]
    chosen = {name: numbers[name] for name in dict.fromkeys([*names, "count"])}
    return chosen, tally.cells - tally.count


def summary(reference: LayerReference, context: Context) -> dict[str, float]:
    """Return mean, min, max and count of the first band of a raster that was made."""
    source = raster_of(reference.id, context)
    numbers = tallied(source, 1, context).numbers()
    if not numbers["count"]:
        context.note(f"{reference.name} has no cell with data. Check that its inputs overlap.")
        return {"count": 0.0}
    return {name: numbers[name] for name in ("mean", "min", "max", "count")}


def _median(source: RasterSource, band: int, tally: Tally, context: Context) -> float:
    """Return the exact median; of many cells by narrowing to the bins that hold the middle."""
    low, high, inside = float(tally.least), float(tally.most), tally.count
    ranks = ((tally.count - 1) // 2, tally.count // 2)
    while inside > _HELD_CELLS:
        before = (low, high)
        low, high, inside = _narrowed(source, band, before, ranks, context)
        if (low, high) == before:
            return low
    held, below = [], 0
    for _, (values,) in Reader(source, [band], context).strips():
        held.append(values[(values >= low) & (values <= high)])
        below += int(numpy.count_nonzero(values < low))
    found = numpy.sort(numpy.concatenate(held))
    return float(found[ranks[0] - below] + found[ranks[1] - below]) / 2


def _narrowed(
    source: RasterSource,
    band: int,
    limits: tuple[float, float],
    ranks: tuple[int, int],
    context: Context,
) -> tuple[float, float, int]:
    """Return closer limits of the cells of two ranks, and how many cells lie within them."""
    edges = numpy.linspace(*limits, _BINS + 1)
    counts, below = numpy.zeros(_BINS, dtype=numpy.int64), 0
    for _, (values,) in Reader(source, [band], context).strips():
        inside = values[(values >= limits[0]) & (values <= limits[1])]
        counts += numpy.histogram(inside, edges)[0]
        below += int(numpy.count_nonzero(values < limits[0]))
    upto = numpy.cumsum(counts) + below
    first, last = (int(numpy.searchsorted(upto, rank, side="right")) for rank in ranks)
    return float(edges[first]), float(edges[last + 1]), int(counts[first : last + 1].sum())


def _distinct(source: RasterSource, band: int, context: Context) -> int:
    found = numpy.empty(0)
    for _, (values,) in Reader(source, [band], context).strips():
        found = numpy.union1d(found, values[~numpy.isnan(values)])
        if len(found) > _MOST_DISTINCT:
            raise MendableError(
                f"Band {band} of {source.key} has more than {_MOST_DISTINCT} distinct values."
            )
    return len(found)
