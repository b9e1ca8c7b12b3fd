# SPDX-License-Identifier: GPL-2.0-or-later
"""The results file: entries in the contract's form, summaries, going on after an interruption."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geo_olm.plugin.evaluation.outcome import Grade, Output
from geo_olm.plugin.evaluation.result import ResultError, ResultFile, entry, numbers

KEYS = {
    "task",
    "method",
    "model",
    "repeat",
    "success",
    "status",
    "answer",
    "value",
    "outputs",
    "correctness_paper",
    "correctness_released",
    "calls",
    "tokens",
    "seconds",
    "cost",
    "error",
}


def run(task: str = "T1", success: bool = True, asked: str = "", **record: Any) -> dict[str, Any]:
    found = {"status": "ok", "answer": "3 towns", "value": 3, "model": {"name": "qwen"}, **record}
    judged = Grade(success, () if success else ("the value is 4 instead of 3",))
    return entry((task, "geo-olm", 1), asked, found, judged, [Output("layer", "a", "a.gpkg")], "")


def test_an_entry_has_every_key_of_the_contract() -> None:
    found = run()
    assert set(found) >= KEYS
    assert found["outputs"] == [{"kind": "layer", "name": "a", "path": "a.gpkg"}]
    assert found["model"] == "qwen"


def test_token_and_time_fields_are_numbers_although_the_record_has_none() -> None:
    found = run(tokens=None, seconds={"total": None})
    assert found["tokens"] == {
        "prompt": 0,
        "cached": 0,
        "evaluated": 0,
        "generated": 0,
        "estimated": True,
    }
    assert found["seconds"] == {"model": 0, "tools": 0, "total": 0}


def test_the_file_holds_runs_and_a_summary_after_each_run(tmp_path: Path) -> None:
    results = ResultFile(tmp_path / "results.json")
    results.add(run("T1", tokens={"prompt": 100, "evaluated": 40}, seconds={"total": 2.0}))
    results.add(run("T2", False, tokens={"prompt": 300, "evaluated": 60}, seconds={"total": 4.0}))
    document = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert [item["task"] for item in document["runs"]] == ["T1", "T2"]
    found = document["summary"]["geo-olm"]
    assert (found["runs"], found["right"], found["success"]) == (2, 1, 0.5)
    assert found["tokens"]["prompt"] == 200
    assert found["tokens"]["evaluated"] == 50
    assert found["seconds"]["total"] == 3.0
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_a_finished_run_is_known_after_reading_the_file_again(tmp_path: Path) -> None:
    ResultFile(tmp_path / "results.json").add(run("T1", asked="qwen"))
    again = ResultFile(tmp_path / "results.json")
    assert again.finished(("T1", "geo-olm", 1), "qwen")
    assert not again.finished(("T1", "geo-olm", 1), "other")
    assert not again.finished(("T1", "geo-olm", 2), "qwen")
    assert not again.finished(("T2", "geo-olm", 1), "qwen")


def test_a_run_with_another_model_takes_the_place_of_the_first(tmp_path: Path) -> None:
    results = ResultFile(tmp_path / "results.json")
    results.add(run("T1", asked="a"))
    results.add(run("T1", asked="b"))
    assert [item["asked"] for item in results.runs] == ["b"]


def test_a_file_that_holds_no_results_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(ResultError, match="no results file"):
        ResultFile(path)
    assert path.read_text(encoding="utf-8") == "[1, 2]"


def test_missing_numbers_are_zero() -> None:
    found = numbers({"a": 2, "b": None, "c": "7", "d": True}, ("a", "b", "c", "d", "e"))
    assert found == {"a": 2, "b": 0, "c": 0, "d": 0, "e": 0}
    assert numbers(None, ("a",)) == {"a": 0}
