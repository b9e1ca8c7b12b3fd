# SPDX-License-Identifier: GPL-2.0-or-later
"""The frame of the benchmarks: pairs alternate, the ratio is a median, the table is aligned."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
from source_tree import ROOT


@pytest.fixture
def measure() -> ModuleType:
    path = ROOT / "tests" / "bench" / "measure.py"
    spec = importlib.util.spec_from_file_location("measure", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["measure"] = module
    spec.loader.exec_module(module)
    return module


def test_the_pairs_alternate_and_the_first_one_does_not_count(measure: ModuleType) -> None:
    order: list[str] = []
    row = measure.compare(("x", lambda: order.append("o"), lambda: order.append("t")), 1.5)
    assert "".join(order) == "to" + "otto" * 3 + "ot"
    assert len(order) == 2 * (measure.REPEATS + 1)
    assert (row.name, row.unit, row.aim) == ("x", "ms", 1.5)


def test_the_ratio_is_the_median_of_the_ratios_of_pairs(
    measure: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours takes 2 ms in all pairs; theirs 1, and in two pairs 100."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    slow = iter([0.001, 0.1, 0.001, 0.001, 0.1, 0.001, 0.001, 0.001])

    def ours() -> None:
        now[0] += 0.002

    def theirs() -> None:
        now[0] += next(slow)

    row = measure.compare(("x", ours, theirs))
    assert row.ratio == pytest.approx(2.0)
    assert row.ours == pytest.approx(2.0)
    assert row.theirs == pytest.approx(1.0)


def test_a_module_gives_pairs_times_and_figures(measure: ModuleType) -> None:
    module: Any = ModuleType("some")

    @contextmanager
    def pairs() -> Iterator[list[Any]]:
        yield [("a pair", lambda: None, lambda: None)]

    module.pairs, module.AIM = pairs, 1.05
    module.timings = lambda: {"a time": 3.0}
    module.figures = lambda: [("a share", 79.3, "%", "kept results")]
    rows = list(measure.rows_of(module))
    assert [row.name for row in rows] == ["a pair", "a time", "a share"]
    assert [row.aim for row in rows] == [1.05, None, None]
    assert "79.30" in measure.line(rows[2])
    assert measure.line(rows[2]).endswith("kept results")
    places = {measure.line(row).index(row.unit) for row in rows[1:]}
    assert len(places) == 1
