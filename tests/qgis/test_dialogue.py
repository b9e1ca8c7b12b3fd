# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks of several turns: each is asked in the same chat and judged by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from graded_data import graduated, squares, written
from qgis.core import QgsProject
from record_case import record_of

from geo_olm.plugin.evaluation.harness import Harness, Plan
from geo_olm.plugin.evaluation.method import methods_named
from geo_olm.plugin.evaluation.result import ResultFile
from geo_olm.plugin.evaluation.task import Task, TaskError, read_tasks
from geo_olm.plugin.place import RESOURCES
from geo_olm.plugin.settings import Settings

DIALOGUES = RESOURCES / "evaluation" / "dialogues.json"
LAYERS = [{"name": "squares", "source": "squares.gpkg"}]
FOUR = {"question": "How many?", "expect": {"number": {"value": 4}}}


def run(tasks: tuple[Task, ...], method: Any, data: Path) -> list[dict[str, Any]]:
    plan = Plan(tasks, (method,), data, data / "out", asked="faults:0", token_cap=0)
    return ResultFile(Harness(plan).run()).runs


@pytest.mark.usefixtures("qgis_processing")
@pytest.mark.parametrize("name", ["gold", "react", "geo-olm"])
def test_every_dialogue_is_right_when_the_model_makes_no_fault(name: str, tmp_path: Path) -> None:
    tasks = read_tasks(DIALOGUES).tasks
    assert len(tasks) >= 10
    assert all(3 <= len(task.turns) <= 5 for task in tasks)
    (method,) = methods_named(name, Settings(model="faults:0"))
    found = run(tasks, method, tmp_path)
    assert {one["task"]: one["reasons"] for one in found if not one["success"]} == {}
    assert all(len(one["turns"]) == len(task.turns) for one, task in zip(found, tasks))
    if name != "geo-olm":
        assert {one["correctness_paper"] for one in found} == {1.0}


def tasks_of(folder: Path, *turns: dict[str, Any]) -> tuple[Task, ...]:
    path = folder / "tasks.json"
    task = {"id": "C1", "layers": LAYERS, "turns": list(turns)}
    path.write_text(json.dumps({"tasks": [task]}), encoding="utf-8")
    written(squares(), folder / "squares.gpkg")
    return read_tasks(path).tasks


class Talker:
    """A method whose turns are functions of the project."""

    name = "talker"

    def __init__(self, *turns: Any) -> None:
        self._turns = list(turns)

    def answer(self, question: str, project: QgsProject, *_: Any) -> dict[str, Any]:
        return dict(self._turns.pop(0)(project) or record_of(value=4, answer=question))


def add(project: QgsProject) -> None:
    project.addMapLayer(squares(2))


def remove(project: QgsProject) -> None:
    added = [one for one in project.mapLayers().values() if one.name() != "squares"]
    project.removeMapLayer((added or list(project.mapLayers().values()))[-1].id())


def colour(project: QgsProject) -> None:
    graduated(next(iter(project.mapLayers().values())), "POP", 3)


def undone(turn: int) -> dict[str, Any]:
    return {"question": "Undo that.", "expect": {"undone": {"turn": turn}}}


def misses(folder: Path, turns: list[dict[str, Any]], *acts: Any) -> list[str]:
    (found,) = run(tasks_of(folder, *turns), Talker(*acts), folder)
    return list(found["reasons"])


def test_what_is_undone_is_as_it_was_before_that_turn(tmp_path: Path) -> None:
    before = squares(2)
    before.setName("two")

    def made(project: QgsProject) -> None:
        project.addMapLayer(before.clone())

    assert misses(tmp_path, [FOUR, undone(1)], made, remove) == []


@pytest.mark.parametrize(
    ("acts", "said"),
    [
        ((add, lambda project: None), "turn 2: 1 layers too many and 0 too few after the undo"),
        ((colour, lambda project: None), "turn 2: the styles are not as they were before"),
        ((lambda project: None, remove), "turn 2: 0 layers too many and 1 too few after the undo"),
    ],
)
def test_what_is_not_undone_is_told(tmp_path: Path, acts: Any, said: str) -> None:
    assert misses(tmp_path, [FOUR, undone(1)], *acts) == [said]


def test_a_dialogue_is_wrong_when_one_of_its_turns_is_and_says_which(tmp_path: Path) -> None:
    five = {"question": "And then?", "expect": {"number": {"value": 5}}}
    (found,) = run(
        tasks_of(tmp_path, FOUR, five, FOUR), Talker(*[lambda project: None] * 3), tmp_path
    )
    assert found["success"] is False
    assert found["reasons"] == ["turn 2: the value is 4 instead of 5"]
    assert [one["success"] for one in found["turns"]] == [True, False, True]
    assert [one["question"] for one in found["turns"]] == ["How many?", "And then?", "How many?"]


def test_tokens_and_seconds_of_the_turns_are_summed(tmp_path: Path) -> None:
    record = record_of(value=4, tokens={"prompt": 90, "evaluated": 40, "generated": 9})
    (found,) = run(tasks_of(tmp_path, FOUR, FOUR), Talker(*[lambda project: record] * 2), tmp_path)
    assert (found["tokens"]["prompt"], found["tokens"]["generated"]) == (180, 18)
    assert [one["tokens"]["prompt"] for one in found["turns"]] == [90, 90]


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([FOUR], "a dialogue has a list of at least 2 turns"),
        ([FOUR, {**FOUR, "question": " "}], "the question is missing or blank"),
        ([FOUR, undone(2)], "only an earlier turn can be undone"),
        ([FOUR, {**FOUR, "chain": {"steps": []}}], "each chain has steps"),
        ([FOUR, {**FOUR, "hint": 1}], "unknown key 'hint'"),
    ],
)
def test_a_dialogue_with_an_error_is_refused_with_its_line(
    tmp_path: Path, turns: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(TaskError, match=said) as error:
        tasks_of(tmp_path, *turns)
    assert "line 1" in str(error.value)
