# SPDX-License-Identifier: GPL-2.0-or-later
"""Several model servers that share the runs of one evaluation; errands that wait for tasks."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from graded_data import squares, written
from qgis.PyQt.QtCore import QCoreApplication
from record_case import record_of

from geo_olm.plugin.evaluation.endpoint import Endpoint, endpoints
from geo_olm.plugin.evaluation.errand import Errand, Errands, Wait, spun
from geo_olm.plugin.evaluation.harness import Harness, Plan
from geo_olm.plugin.evaluation.result import ResultFile
from geo_olm.plugin.evaluation.task import Task, TaskLayer
from geo_olm.plugin.llm.base import ServerDown
from geo_olm.plugin.runner import RunTask
from geo_olm.plugin.settings import Settings


def pause(seconds: float) -> RunTask:
    """Return a task that takes so long, unless it is cancelled."""

    def work(emit: Any, stopped: Any) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not stopped():
            time.sleep(0.01)

    return RunTask("Geo-OLM", work)


class Served:
    """A method at one server: it answers four after a while, and ends after `lasts` questions."""

    name = "served"

    def __init__(self, seconds: float = 0.05, lasts: int = 99) -> None:
        self.seconds, self.lasts = seconds, lasts
        self.asked: list[str] = []

    def talk(self, *_: Any) -> Served:
        return self

    def ask(self, question: str, *_: Any) -> Errand[dict[str, Any]]:
        self.asked.append(question)
        yield Wait(pause(self.seconds))
        if len(self.asked) > self.lasts:
            raise ServerDown("This server has ended.")
        return record_of(value=4)

    def close(self) -> None:
        """Hold nothing."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    written(squares(), tmp_path / "squares.gpkg")
    return tmp_path


def plan(data: Path, number: int, *methods: Served) -> Plan:
    layers = (TaskLayer("squares", "squares.gpkg", True),)
    tasks = tuple(
        Task(f"T{at}", f"What of {at}?", layers, {"number": {"value": 4}})
        for at in range(1, number + 1)
    )
    found = tuple(Endpoint(f"127.0.0.1:{at}", (one,)) for at, one in enumerate(methods, 1))
    return Plan(tasks, methods[:1], data, data / "out", endpoints=found)


def test_servers_share_the_tasks_and_the_slower_one_does_fewer(data: Path) -> None:
    quick, slow = Served(0.02), Served(0.4)
    runs = ResultFile(Harness(plan(data, 8, quick, slow)).run()).runs
    assert [run["task"] for run in runs] == [f"T{at}" for at in range(1, 9)]
    assert all(run["success"] for run in runs)
    assert len(quick.asked) > len(slow.asked) >= 1
    assert sorted(quick.asked + slow.asked) == [f"What of {at}?" for at in range(1, 9)]


def test_the_run_of_a_server_that_ends_is_done_by_the_others(data: Path) -> None:
    lasting, ending = Served(0.05), Served(0.05, lasts=1)
    harness = Harness(plan(data, 6, lasting, ending))
    runs = ResultFile(harness.run()).runs
    assert [run["task"] for run in runs] == [f"T{at}" for at in range(1, 7)]
    assert all(run["success"] for run in runs)
    assert {address: error.message for address, error in harness.down.items()} == {
        "127.0.0.1:2": "This server has ended."
    }
    assert ending.asked[1] in lasting.asked  # the run that was lost is done again


def test_when_no_server_is_left_the_evaluation_ends_to_be_gone_on_with(data: Path) -> None:
    first, second = Served(lasts=1), Served(lasts=1)
    with pytest.raises(ServerDown, match=r"This server has ended\."):
        Harness(plan(data, 5, first, second)).run()
    assert len(ResultFile(data / "out" / "results.json").runs) == 2
    again = Served()
    runs = ResultFile(Harness(plan(data, 5, again)).run()).runs
    assert len(again.asked) == 3
    assert [run["task"] for run in runs] == [f"T{at}" for at in range(1, 6)]


def test_a_harness_that_is_closed_ends_soon_and_keeps_what_is_done(data: Path) -> None:
    ends: list[Any] = []
    harness = Harness(plan(data, 3, Served(30.0)))
    harness.begin(ends.append)
    assert ends == []
    began = time.monotonic()
    assert harness.close(5.0)
    assert time.monotonic() - began < 2.0
    assert ends == [None]


def test_addresses_are_taken_once_each_and_what_is_none_is_refused() -> None:
    found = endpoints("127.0.0.1:8090, http://localhost:8091/v1 127.0.0.1:8090", "gold", Settings())
    assert [one.address for one in found] == ["127.0.0.1:8090", "http://localhost:8091/v1"]
    assert [[method.name for method in one.methods] for one in found] == [["gold"], ["gold"]]
    assert endpoints(" ", "gold", Settings()) == ()
    with pytest.raises(ValueError, match="is not the address of a server"):
        endpoints("ftp://somewhere", "gold", Settings())


def test_an_errand_gives_what_it_returns_and_raises_what_it_raises() -> None:
    def answers() -> Errand[int]:
        yield Wait(pause(0.0))
        return 4

    def fails() -> Errand[int]:
        yield Wait(pause(0.0))
        raise KeyError("lost")

    assert spun(answers()) == 4
    with pytest.raises(KeyError, match="lost"):
        spun(fails())


def test_an_error_of_a_task_is_raised_where_the_errand_waits() -> None:
    def work(emit: Any, stopped: Any) -> None:
        raise ZeroDivisionError("by zero")

    def waits() -> Errand[str]:
        try:
            yield Wait(RunTask("Geo-OLM", work))
        except ZeroDivisionError as error:
            return str(error)
        return ""

    assert spun(waits()) == "by zero"


def test_errands_wait_beside_each_other() -> None:
    order: list[str] = []

    def errand(name: str, seconds: float) -> Errand[None]:
        yield Wait(pause(seconds))
        order.append(name)

    errands = Errands()
    errands.begin(errand("long", 0.3), lambda value, error: None)
    errands.begin(errand("short", 0.05), lambda value, error: None)
    until = time.monotonic() + 5.0

    while len(order) < 2 and time.monotonic() < until:
        QCoreApplication.processEvents()
        time.sleep(0.01)
    assert order == ["short", "long"]
