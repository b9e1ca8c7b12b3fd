# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums by zone over the blocks of a grid: the truth of the tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy


@dataclass(frozen=True)
class Summary:
    """What the cells with a value in a zone are together."""

    count: int
    sum: float
    least: float
    most: float

    @property
    def mean(self) -> float:
        """The mean of the cells. Raises ZeroDivisionError without one."""
        return self.sum / self.count


class Tally:
    """Adds up values by zone; NaN is no value."""

    def __init__(self, zones: int) -> None:
        self._count = numpy.zeros(zones, dtype=numpy.int64)
        self._sum = numpy.zeros(zones)
        self._least = numpy.full(zones, numpy.inf)
        self._most = numpy.full(zones, -numpy.inf)

    def add(self, labels: Any, values: Any) -> None:
        """Take a block: labels of zones (-1 for none) and values, both (rows, columns)."""
        there = (labels >= 0) & ~numpy.isnan(values)
        zones, found = labels[there], values[there]
        size = len(self._sum)
        self._count += numpy.bincount(zones, minlength=size)
        self._sum += numpy.bincount(zones, weights=found, minlength=size)
        numpy.minimum.at(self._least, zones, found)
        numpy.maximum.at(self._most, zones, found)

    def of(self, place: int) -> Summary:
        """Return what was found in a zone."""
        return Summary(
            int(self._count[place]), float(self._sum[place]), float(self._least[place]),
            float(self._most[place]),
        )  # fmt: skip
