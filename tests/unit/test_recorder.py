# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a measured run: kept as lines, counted, and held to the caps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from geo_olm.plugin.agent.event import (
    CallFinished,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
    TokensUsed,
)
from geo_olm.plugin.evaluation.recorder import CapReached, Recorder, RunStopped, as_json, numbers
from geo_olm.plugin.llm.base import Usage


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path / "events.jsonl", 1000, 60.0)
    yield made
    made.close()


def used(evaluated: int) -> TokensUsed:
    return TokensUsed(Usage(evaluated + 50, 50, evaluated, 20), 8192, 1.5)


def test_events_are_kept_as_json_lines(recorder: Recorder, tmp_path: Path) -> None:
    recorder.note(RunStarted("How many?", "m", "ollama", ("Init",), 12))
    recorder.note(StageChanged("Load", "count"))
    lines = [
        json.loads(line)
        for line in (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [line["event"] for line in lines] == ["RunStarted", "StageChanged"]
    assert lines[1]["stage"] == "Load"
    assert all(line["t"] >= 0 for line in lines)


def test_a_failed_run_has_its_tokens_calls_and_seconds(recorder: Recorder) -> None:
    recorder.note(RunStarted("How many?", "qwen", "openai", (), 12))
    recorder.note(used(100))
    recorder.note(used(200))
    recorder.note(CallFinished("c1", "count", {"layer": "towns"}, False, "no such layer", 0.25))
    record = recorder.record("How many?", "it crashed")
    assert record["status"] == "failed"
    assert record["reason"] == "it crashed"
    assert record["tokens"] == {
        "prompt": 400,
        "cached": 100,
        "evaluated": 300,
        "generated": 40,
        "estimated": True,
    }
    assert record["seconds"]["model"] == 3.0
    assert record["seconds"]["tools"] == 0.25
    assert record["model"] == {"name": "qwen", "server": "openai", "digest": ""}
    assert record["calls"] == [
        {
            "tool": "count",
            "arguments": {"layer": "towns"},
            "ok": False,
            "error": "no such layer",
            "seconds": 0.25,
        }
    ]


def test_a_run_ends_when_it_has_used_more_tokens_than_it_may(recorder: Recorder) -> None:
    recorder.note(used(1000))
    with pytest.raises(CapReached, match="1000 evaluated tokens"):
        recorder.note(used(1))


def test_a_run_ends_when_it_took_too_long(tmp_path: Path) -> None:
    slow = Recorder(tmp_path / "events.jsonl", 0, 0.0001)
    while slow.elapsed() < 0.001:
        pass
    with pytest.raises(CapReached, match="seconds"):
        slow.note(StageChanged("Load"))
    slow.close()


def test_a_cap_of_zero_is_none(tmp_path: Path) -> None:
    free = Recorder(tmp_path / "events.jsonl", 0, 0.0)
    free.note(used(10**9))
    free.close()


def test_the_last_event_is_heard_out_although_the_cap_is_passed(recorder: Recorder) -> None:
    with pytest.raises(CapReached):
        recorder.note(used(2000))
    recorder.note(RunFinished(Status.FAILED, "It took too much."))
    assert recorder.record("q", "r")["answer"] == "It took too much."


def test_a_stopped_evaluation_ends_the_run(tmp_path: Path) -> None:
    stopped = Recorder(tmp_path / "events.jsonl", 0, 0.0, lambda: True)
    with pytest.raises(RunStopped):
        stopped.note(StageChanged("Load"))
    stopped.close()


def test_what_json_cannot_hold_becomes_text_or_null() -> None:
    found = as_json({"a": float("nan"), "b": Path("x"), 3: (Status.OK, 1)})
    assert found == {"a": None, "b": "x", "3": ["ok", 1]}


def test_missing_numbers_are_zero() -> None:
    assert numbers({"a": 2, "b": None, "c": "7", "d": True}, ("a", "b", "c", "d", "e")) == {
        "a": 2,
        "b": 0,
        "c": 0,
        "d": 0,
        "e": 0,
    }
    assert numbers(None, ("a",)) == {"a": 0}
