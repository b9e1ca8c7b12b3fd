# SPDX-License-Identifier: GPL-2.0-or-later
"""The graders agree with the shared reference chains, and disagree with spoiled ones."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gold_chain import GoldChain
from osgeo import ogr

from geo_olm.plugin.evaluation.harness import Harness, Plan
from geo_olm.plugin.evaluation.result import ResultFile
from geo_olm.plugin.evaluation.task import Task, read_tasks

SHARED = Path(__file__).resolve().parents[3] / "shared"
PARQUET = {
    "crs-l1-nyc-webmercator-cycleways",
    "geo-l1-tokyo-busstop-buffer",
    "spa-l1-capetown-hospital-nn",
}
pytestmark = [
    pytest.mark.shared,
    pytest.mark.usefixtures("qgis_processing"),
]


def tasks_of(name: str) -> tuple[Task, ...]:
    return read_tasks(SHARED / "tasks" / f"{name}.json").tasks


def outcomes(tasks: tuple[Task, ...], out: Path) -> dict[str, list[str]]:
    data = SHARED / "data"
    path = Harness(Plan(tasks, (GoldChain(tasks, data),), data, out)).run()
    return {run["task"]: run["reasons"] for run in ResultFile(path).runs}


def state(folder: Path) -> dict[str, tuple[int, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def test_every_reference_chain_of_gis_dev_is_graded_right_and_leaves_the_inputs_alone(
    tmp_path: Path,
) -> None:
    before = state(SHARED / "data")
    found = outcomes(tasks_of("gis_dev"), tmp_path)
    assert len(found) == 30
    assert {name: reasons for name, reasons in found.items() if reasons} == {}
    assert state(SHARED / "data") == before


def test_every_reference_chain_of_geoagentbench_is_graded_right(tmp_path: Path) -> None:
    tasks = tasks_of("geoagentbench_dev")
    if ogr.GetDriverByName("Parquet") is None:
        tasks = tuple(task for task in tasks if task.id not in PARQUET)
    found = outcomes(tasks, tmp_path)
    assert len(found) >= 9
    assert {name: reasons for name, reasons in found.items() if reasons} == {}


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
    "D13": ("another code", key_of(1, "text", {"step": "i", "key": "other"}), "KeyError"),
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
