# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a measured run: kept as lines, counted, and compared with the caps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from geo_olm.plugin.agent.event import (
    CallFinished,
    CallProgress,
    RunStarted,
    StageChanged,
    Status,
    TokensUsed,
)
from geo_olm.plugin.evaluation.watch import Watch, as_json
from geo_olm.plugin.llm.base import Usage


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    made = Watch(tmp_path / "events.jsonl", "How many?", 1000, 60.0)
    yield made
    made.close()


def used(evaluated: int) -> TokensUsed:
    return TokensUsed(Usage(evaluated + 50, 50, evaluated, 20), 8192, 1.5)


def test_events_are_kept_as_json_lines(watch: Watch, tmp_path: Path) -> None:
    watch.note(RunStarted("How many?", "m", "ollama", ("Init",), 12))
    watch.note(CallProgress("c1", 50.0))
    watch.note(StageChanged("Load", "count"))
    text = (tmp_path / "events.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["event"] for line in lines] == ["RunStarted", "StageChanged"]
    assert lines[1]["stage"] == "Load"
    assert all(line["t"] >= 0 for line in lines)


def test_a_failed_run_has_its_tokens_calls_and_seconds(watch: Watch) -> None:
    watch.note(RunStarted("How many?", "qwen", "openai", (), 12))
    watch.note(used(100))
    watch.note(used(200))
    watch.note(CallFinished("c1", "count", {"layer": "towns"}, False, "no such layer", 0.25))
    record = watch.failure("it crashed")
    assert (record["status"], record["reason"]) == ("failed", "it crashed")
    assert record["question"] == "How many?"
    assert record["tokens"] == {
        "prompt": 400,
        "cached": 100,
        "evaluated": 300,
        "generated": 40,
        "estimated": False,
    }
    assert record["seconds"]["model"] == 3.0
    assert record["seconds"]["tools"] == 0.25
    assert record["model"]["name"] == "qwen"
    assert [call["error"] for call in record["calls"]] == ["no such layer"]


def test_a_run_has_to_end_when_it_has_used_more_tokens_than_it_may(watch: Watch) -> None:
    watch.note(used(1000))
    assert not watch.cancelled()
    watch.note(used(1))
    assert watch.cancelled()
    assert watch.excess() == "More than 1000 evaluated tokens."


def test_tokens_that_only_the_record_tells_count_too(watch: Watch) -> None:
    assert watch.excess(1000) == ""
    assert watch.excess(1001) == "More than 1000 evaluated tokens."


def test_a_run_has_to_end_when_it_took_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [5.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    slow = Watch(tmp_path / "events.jsonl", "q", 0, 180.0)
    now[0] = 185.0
    assert not slow.cancelled()
    now[0] = 185.1
    assert slow.cancelled()
    assert slow.excess() == "More than 180 seconds."
    slow.close()


def test_a_cap_of_zero_is_none(tmp_path: Path) -> None:
    free = Watch(tmp_path / "events.jsonl", "q")
    free.note(used(10**9))
    assert not free.cancelled()
    free.close()


def test_a_stopped_evaluation_ends_the_run_without_an_excess(tmp_path: Path) -> None:
    stopped = Watch(tmp_path / "events.jsonl", "q", stopped=lambda: True)
    assert stopped.cancelled()
    assert stopped.excess() == ""
    stopped.close()


def test_what_json_cannot_hold_becomes_text_or_null() -> None:
    found = as_json({"a": float("nan"), "b": Path("x"), 3: (Status.OK, 1)})
    assert found == {"a": None, "b": "x", "3": ["ok", 1]}
