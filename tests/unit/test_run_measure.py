# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured of a run beside its answer: phases, energy, intervals, the model's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from geo_olm.plugin.agent.event import CallFinished, ModelState, TokensUsed
from geo_olm.plugin.evaluation.energy import EnergyMeter
from geo_olm.plugin.evaluation.interval import wilson
from geo_olm.plugin.evaluation.model_name import quantisation, size
from geo_olm.plugin.evaluation.phase import Phases
from geo_olm.plugin.evaluation.watch import Watch
from geo_olm.plugin.llm.base import Usage


def test_seconds_are_split_into_reading_writing_tools_and_waiting() -> None:
    phases = Phases()
    phases.note(ModelState("loading", 2.0), 2.0)
    phases.note(ModelState("reading", 5.0), 5.0)
    phases.note(ModelState("writing"), 6.0)
    phases.note(ModelState("writing"), 7.0)
    phases.note(TokensUsed(Usage(), 8192, 9.0), 9.0)
    phases.note(CallFinished("c", "count", {}, True, "", 0.5), 9.5)
    assert phases.split(12.0) == {"reading": 4.0, "writing": 3.0, "tools": 0.5, "waiting": 4.5}


def test_a_reply_that_did_not_stream_counts_as_reading() -> None:
    phases = Phases()
    phases.note(TokensUsed(Usage(), 8192, 3.0), 3.0)
    assert phases.split(3.0) == {"reading": 3.0, "writing": 0.0, "tools": 0.0, "waiting": 0.0}


def counters(folder: Path, **used: int) -> Path:
    for name, value in used.items():
        place = folder / f"intel-rapl:{name[-1]}"
        place.mkdir(exist_ok=True)
        (place / "energy_uj").write_text(f"{value}\n", encoding="ascii")
        (place / "max_energy_range_uj").write_text("1000000\n", encoding="ascii")
    return folder


def test_energy_is_the_sum_of_the_packages_in_joules_across_a_wrap(tmp_path: Path) -> None:
    meter = EnergyMeter(counters(tmp_path, package0=100_000, package1=900_000))
    counters(tmp_path, package0=600_000, package1=100_000)
    assert meter.joules() == pytest.approx(0.5 + 0.2)


def test_a_machine_without_counters_tells_no_energy(tmp_path: Path) -> None:
    assert EnergyMeter(tmp_path).joules() is None


def test_the_wilson_interval_is_that_of_the_textbook() -> None:
    assert wilson(8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775328), abs=1e-6)
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("name", "big", "how"),
    [
        ("Qwen2.5-Coder-1.5B-Instruct Q4_K_M", "1.5B", "Q4_K_M"),
        ("qwen2.5:7b-instruct-q8_0", "7B", "Q8_0"),
        ("Llama-3.2-3B-Instruct-F16.gguf", "3B", "F16"),
        ("mixtral-8x7b-iq3_xs", "8X7B", "IQ3_XS"),
        ("gpt-4o", "", ""),
    ],
)
def test_a_models_name_tells_its_size_and_quantisation(name: str, big: str, how: str) -> None:
    assert (size(name), quantisation(name)) == (big, how)


def test_the_cost_of_a_run_is_the_sum_of_its_calls_and_none_where_none_is_known(
    tmp_path: Path,
) -> None:
    watch = Watch(tmp_path / "events.jsonl", "Question")
    watch.note(TokensUsed(Usage(), 8192, 0.1))
    assert watch.cost is None
    watch.note(TokensUsed(Usage(), 8192, 0.1, cost=0.002, basis="list price"))
    watch.note(TokensUsed(Usage(), 8192, 0.1, cost=0.001, basis="list price"))
    watch.close()
    assert watch.cost == pytest.approx(0.003)
