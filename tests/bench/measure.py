# SPDX-License-Identifier: GPL-2.0-or-later
"""The frame of the benchmarks: ratios by alternating pairs, medians, and the table.

A benchmark is a module beside this one that has one or more of: `pairs()`, a context manager that
gives (name, ours, theirs) to be called in turn; `timings()`, milliseconds by name; `figures()`,
(name, value, unit, note). `AIM` is the ratio that its pairs aim at.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

REPEATS = 7

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
Figure = tuple[str, float, str, str]


@dataclass(frozen=True)
class Row:
    """One line of the table; ours and theirs in `unit`, `ratio` and `aim` where there are two."""

    name: str
    ours: float
    unit: str
    theirs: float | None = None
    ratio: float | None = None
    aim: float | None = None
    note: str = ""


def compare(pair: Pair, aim: float | None = None, repeats: int = REPEATS) -> Row:
    """Call both in turn, once to warm up, then `repeats` times; who begins changes each time.

    The ratio is the median of the ratios of the pairs, not the ratio of the medians.
    """
    name, ours, theirs = pair
    both: list[tuple[float, float]] = []
    for at in range(repeats + 1):
        if at % 2:
            own, other = _ms(ours), _ms(theirs)
        else:
            other, own = _ms(theirs), _ms(ours)
        both.append((own, other))
    kept = both[1:]
    return Row(
        name,
        statistics.median(own for own, _ in kept),
        "ms",
        statistics.median(other for _, other in kept),
        statistics.median(own / max(other, 1e-6) for own, other in kept),
        aim,
    )


def rows_of(module: ModuleType) -> Iterator[Row]:
    """Run a benchmark and yield its lines as they come."""
    if hasattr(module, "pairs"):
        with module.pairs() as pairs:
            for pair in pairs:
                yield compare(pair, getattr(module, "AIM", None))
    if hasattr(module, "timings"):
        yield from (Row(name, value, "ms") for name, value in module.timings().items())
    if hasattr(module, "figures"):
        yield from figure_rows(module.figures())


def figure_rows(figures: Iterable[Figure]) -> Iterator[Row]:
    """Yield a line for each figure."""
    for name, value, unit, note in figures:
        yield Row(name, value, unit, note=note)


def line(row: Row) -> str:
    """Write a row of the table."""
    theirs = f"{row.theirs:,.2f}" if row.theirs is not None else ""
    ratio = f"{row.ratio:.3f}" if row.ratio is not None else ""
    aim = f"{row.aim:g}" if row.aim is not None else ""
    cells = f"{row.ours:>12,.2f} {theirs:>12} {row.unit:<9} {ratio:>7} {aim:>5}"
    return f"{row.name:<58.58} {cells}  {row.note}".rstrip()


HEAD = f"{'benchmark':<58} {'ours':>12} {'theirs':>12} {'unit':<9} {'ratio':>7} {'aim':>5}"


def _ms(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000
