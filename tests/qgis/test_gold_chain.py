# SPDX-License-Identifier: GPL-2.0-or-later
"""Every shared gold chain gives what its task expects through the tools; spoiled ones do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geo_olm.plugin.evaluation.harness import Harness, Plan
from geo_olm.plugin.evaluation.method import methods_named
from geo_olm.plugin.evaluation.result import ResultFile
from geo_olm.plugin.evaluation.task import Task, read_tasks
from geo_olm.plugin.settings import Settings

SHARED = Path(__file__).resolve().parents[3] / "shared"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.usefixtures("qgis_processing"),
]


def tasks_of(name: str) -> tuple[Task, ...]:
    return read_tasks(SHARED / "tasks" / f"{name}.json").tasks


def outcomes(tasks: tuple[Task, ...], out: Path) -> dict[str, list[str]]:
    """Return by task why its chain was graded wrong: the reasons, and what its record says."""
    methods = tuple(methods_named("gold", Settings()))
    path = Harness(Plan(tasks, methods, SHARED / "data", out)).run()
    found = {}
    for run in ResultFile(path).runs:
        record = out / "runs" / f"{run['task']}.gold.1" / "record.json"
        said = json.loads(record.read_text(encoding="utf-8"))["reason"]
        found[run["task"]] = [*run["reasons"], *([said] if run["reasons"] and said else [])]
    return found


def state(folder: Path) -> dict[str, tuple[int, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize(("name", "count"), [("gis_dev", 30), ("geoagentbench_dev", 12)])
def test_every_gold_chain_is_graded_right_and_leaves_the_inputs_alone(
    tmp_path: Path, name: str, count: int
) -> None:
    before = state(SHARED / "data")
    found = outcomes(tasks_of(name), tmp_path)
    assert len(found) == count
    assert {name: reasons for name, reasons in found.items() if reasons} == {}
    assert state(SHARED / "data") == before


def parameter(step: int, key: str, value: Any) -> Callable[[list[Any]], None]:
    def spoil(gold: list[Any]) -> None:
        gold[step]["parameters"][key] = value

    return spoil


def key_of(step: int, key: str, value: Any) -> Callable[[list[Any]], None]:
    def spoil(gold: list[Any]) -> None:
        gold[step][key] = value

    return spoil


def without(step: int) -> Callable[[list[Any]], None]:
    def spoil(gold: list[Any]) -> None:
        del gold[step]

    return spoil


SPOILED = {
    "D01": ("gdpPercap = 0", parameter(0, "EXPRESSION", '"gdpPercap" = 0'), "the value is 0"),
    "D02": ("most deaths", parameter(0, "FORMULA", '"SID74"'), "Anson"),
    "D03": ("August", parameter(0, "BAND", 8), "the value is 2"),
    "D06": (
        "first value in place of the sum",
        lambda gold: gold[1]["parameters"]["AGGREGATES"][1].update(aggregate="first_value"),
        "the sum of 'POP8'",
    ),
    "D07": ("sorted the wrong way", parameter(2, "ASCENDING", True), "Westminster"),
    "D09": ("in degrees", parameter(1, "INPUT", "cycle_hire"), "instead of 212.89"),
    "D10": ("not dissolved", parameter(2, "DISSOLVE", False), "features instead of 1"),
    "D12": ("labelled, not moved", parameter(1, "TARGET_CRS", "EPSG:4326"), "the CRS is"),
    "D13": (
        "another code",
        key_of(1, "text", {"step": "i", "key": "other"}),
        'has no value "other"',
    ),
    "D15": ("the largest value", key_of(1, "number", {"step": "s", "key": "MAX"}), "the value is"),
    "D17": ("bands swapped", parameter(0, "EXPRESSION", '"L7_ETMs@3"/"L7_ETMs@4"'), "its mean"),
    "D21": ("the lowest", parameter(1, "ASCENDING", True), "Clervaux"),
    "D25": ("one class too few", key_of(0, "classes", 4), "4 classes instead of 5"),
    "D26": ("no picture", without(2), "no file was made"),
    "D27": ("a scratch layer", parameter(1, "OUTPUT", "TEMPORARY_OUTPUT"), "no file was made"),
    "D28": ("another reason", key_of(1, "reject", "I do not want to."), "the reason is another"),
    "D30": ("no reason", key_of(1, "reject", ""), "without a reason"),
}


def test_spoiled_chains_are_graded_wrong_for_their_reason(tmp_path: Path) -> None:
    tasks = []
    for task in tasks_of("gis_dev"):
        if task.id in SPOILED:
            gold = deepcopy(list(task.gold))
            SPOILED[task.id][1](gold)
            tasks.append(replace(task, gold=tuple(gold)))
    found = outcomes(tuple(tasks), tmp_path)
    assert len(found) == len(SPOILED)
    for name, (what, _, said) in SPOILED.items():
        assert said in "; ".join(found[name]), f"{name}: {what}: {found[name]}"
        assert found[name], f"{name}: {what}"
