# SPDX-License-Identifier: GPL-2.0-or-later
"""How long finding algorithms and building schemas take, in milliseconds: medians of seven."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from qgis.core import QgsApplication, QgsProcessingAlgorithm

from geo_olm.tools import search
from geo_olm.tools.algorithm import described
from geo_olm.tools.parameter_schema import schema

PHRASES = Path(__file__).resolve().parent.parent / "data" / "phrases.json"
REPEATS = 7


def median_ms(work: Callable[[], object], share: int = 1) -> float:
    """Return the median time of `work` in milliseconds, divided by the parts that it does."""
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1000 / share)
    return statistics.median(times)


def built(algorithms: list[QgsProcessingAlgorithm]) -> object:
    """Read the registry and build an index of it."""
    return search.Search(algorithms).index()


def timings() -> dict[str, float]:
    """Return milliseconds by what was done. Processing must be initialised. Main thread."""
    algorithms = QgsApplication.processingRegistry().algorithms()
    phrases = [
        one["phrase"] for one in json.loads(PHRASES.read_text(encoding="utf-8"))["phrases"][::5]
    ]
    finder, scan = search.live(), search.Search(algorithms, fts5=False)
    return {
        "search: reading the registry (main thread)": median_ms(lambda: search.Search(algorithms)),
        "search: reading it and building the index": median_ms(lambda: built(algorithms)),
        "search: seeing that it is still good": median_ms(search.live),
        "search: a phrase": median_ms(lambda: [finder.found(one) for one in phrases], len(phrases)),
        "search: a phrase without FTS5": median_ms(
            lambda: [scan.found(one) for one in phrases], len(phrases)
        ),
        "schema: every algorithm": median_ms(lambda: [schema(one) for one in algorithms]),
        "schema: one": median_ms(lambda: [schema(one) for one in algorithms], len(algorithms)),
        "description: one": median_ms(
            lambda: [described(one) for one in algorithms], len(algorithms)
        ),
    }
