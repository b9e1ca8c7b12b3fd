# SPDX-License-Identifier: GPL-2.0-or-later
"""Task files: what is read, and how a file with errors is refused."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from geo_olm.plugin.evaluation.task import TaskError, read_tasks

GOOD: dict[str, Any] = {
    "id": "T1",
    "question": "How many towns?",
    "layers": [{"name": "towns", "source": "towns.gpkg"}],
    "expect": {"number": {"value": 3, "rel_tol": 0}},
    "gold": [{"tool": "answer", "number": "n"}],
}


def write(folder: Path, *tasks: Any) -> Path:
    path = folder / "tasks.json"
    path.write_text(json.dumps({"format": 1, "tasks": list(tasks)}, indent=1), encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(TaskError) as caught:
        read_tasks(path)
    return str(caught.value)


def changed(*keys: str, value: Any) -> dict[str, Any]:
    task = deepcopy(GOOD)
    part = task
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    return task


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_task_keeps_its_question_layers_and_expectation(tmp_path: Path) -> None:
    inside = changed("layers", value=[{"name": "box", "source": "a.gpkg", "open": "file"}])
    inside["id"] = "T2"
    first, second = read_tasks(write(tmp_path, GOOD, inside)).tasks
    assert (first.id, first.question) == ("T1", "How many towns?")
    assert [(item.name, item.source, item.opened) for item in first.layers] == [
        ("towns", "towns.gpkg", True)
    ]
    assert first.expect == {"number": {"value": 3, "rel_tol": 0}}
    assert not second.layers[0].opened


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text('{"tasks": [\n {"id": "T1",\n  "question" "x"}\n]}', encoding="utf-8")
    assert "line 3" in refusal(path)


def test_a_fault_is_named_with_task_place_and_line(tmp_path: Path) -> None:
    second = changed("expect", "number", "value", value="three")
    second["id"] = "T2"
    path = write(tmp_path, GOOD, second)
    said = refusal(path)
    assert f"line {line_of(path, 'three')}:" in said
    assert "task T2, expect.number.value" in said


@pytest.mark.parametrize(
    ("keys", "value", "said"),
    [
        (("id",), "a/b", "id"),
        (("question",), " ", "question"),
        (("layers",), [], "list of layers"),
        (("layers",), [{"name": "a"}], "source"),
        (("layers",), [{"name": "a", "source": "x"}] * 2, "two layers"),
        (("layers",), [{"name": "a", "source": "x", "open": "no"}], "'open'"),
        (("expect",), {}, "'expect'"),
        (("expect",), {"numbr": {"value": 1}}, "numbr"),
        (("expect",), {"number": {"rel_tol": 0}}, "'value' is missing"),
        (("expect",), {"number": {"value": True}}, "'value'"),
        (("expect",), {"number": {"value": 1, "rel_tol": -1}}, "rel_tol"),
        (("expect",), {"text": {"any_of": []}}, "any_of"),
        (("expect",), {"layer": {"feature_count": 1.5}}, "feature_count"),
        (("expect",), {"layer": {"sum": {"field": "a"}}}, "sum"),
        (("expect",), {"raster": {"bands": 1}}, "bands"),
        (("expect",), {"style": {"field": "a"}}, "'renderer' is missing"),
        (("expect",), {"file": {"name": "a"}}, "'driver' is missing"),
        (("expect",), {"checks": [{"value": 1, "agg": "count"}]}, "expected file"),
        (("expect",), {"reject": {"reason_any_of": ["no"]}, "text": {"any_of": ["a"]}}, "alone"),
        (("gold",), [{"algorithm": "a", "tool": "b"}], "gold"),
        (("chains",), [{"steps": [{"tool": "count"}]}], "the last answer or reject"),
        (("chains",), [{"steps": [{"arguments": {}}, {"tool": "answer"}]}], "each with a tool"),
    ],
)
def test_each_kind_of_error_is_refused(
    tmp_path: Path, keys: tuple[str, ...], value: Any, said: str
) -> None:
    assert said in refusal(write(tmp_path, changed(*keys, value=value)))


@pytest.mark.parametrize(
    "check",
    [
        {"value": 1, "agg": "median", "expression": "1"},
        {"value": 1, "agg": "sum"},
        {"value": None, "agg": "count"},
        {"value": 1, "agg": "count", "filter": "x"},
        {"value": 1, "json": "a", "agg": "mean"},
        {"value": 1, "agg": "count", "tolerance": "some"},
    ],
)
def test_a_check_that_cannot_be_computed_is_refused(tmp_path: Path, check: Any) -> None:
    task = changed("expect", value={"file": {"driver": "CSV"}, "checks": [check]})
    assert "expect.checks" in refusal(write(tmp_path, task))


def test_an_id_used_twice_is_refused(tmp_path: Path) -> None:
    assert "used twice" in refusal(write(tmp_path, GOOD, GOOD))


def test_a_file_without_tasks_is_refused(tmp_path: Path) -> None:
    assert "empty" in refusal(write(tmp_path))
    assert "cannot be read" in refusal(tmp_path / "nowhere.json")


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps({"format": 9, "tasks": [GOOD]}), encoding="utf-8")
    assert "format 9" in refusal(path)
