# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs run over real layers: branches, results kept, failures, stops, questions."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qgis.core import QgsProcessingContext, QgsProcessingFeedback, QgsProject
from toolbox_case import Bench, layer

from geo_olm.plugin.agent.event import CallStarted, RunFinished
from geo_olm.plugin.agent.event import Status as End
from geo_olm.plugin.flow_means import Nobody, Outcome, Ways
from geo_olm.plugin.flow_runner import GraphRun
from geo_olm.plugin.replay import agents, replay
from geo_olm.plugin.run_workflow import RunWorkflowAlgorithm
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.assignment import Assignment, Done
from geo_olm.plugin.workflow.cache import Cache
from geo_olm.plugin.workflow.change import Change
from geo_olm.plugin.workflow.event import GraphChanged, QuestionAsked, ReviewReached, StepChanged
from geo_olm.plugin.workflow.file import dumps
from geo_olm.plugin.workflow.graph import (
    Answer,
    Graph,
    Kind,
    Source,
    Status,
    Type,
    Variable,
    Vertex,
)
from geo_olm.plugin.workflow.tracing import Traced
from geo_olm.plugin.workflow.value import Asked, Layer, Output, Template
from geo_olm.tools.base import MendableError, ToolResult

pytestmark = pytest.mark.usefixtures("qgis_processing")
TOWNS = [(f"POINT({x * 100} 0)", f"t{x}", x * 10) for x in range(10)]
"""Ten points 100 m apart, people 0 to 90."""
ROADS = [("LINESTRING(0 20, 420 20)", "north")]


def task(identity: str, tool: str, *after: str, **parameters: Any) -> Vertex:
    return Vertex(identity, "vector", tool=tool, parameters=parameters, after=after)


NEAR = Graph(
    "How many people live within 50 m of the road, and in how many towns?",
    (
        task("near", "buffer", layer=Layer("roads"), distance=50),
        task("big", "filter", layer=Layer("towns"), where='"people" >= 20'),
        task("in", "select_by_location", layer=Output("big"), other=Output("near"),
             predicate="within"),
        task("sum", "statistics", layer=Output("in"), field="people", statistic="sum"),
        task("count", "count", layer=Output("in")),
        task("each", "calculate", expression=Template("{sum.sum} / {count.count}")),
    ),
    answer=Answer("{sum.sum} people in {count.count} towns", Output("sum", "sum")),
)  # fmt: skip
"""Towns t2, t3 and t4 (20, 30, 40 people) lie within 50 m of the road: 90 people in 3 towns."""


class Stage:
    """A toolbox over the towns and the road, with a cache, and what runs told."""

    def __init__(self, folder: Path) -> None:
        self.bench = Bench(
            folder,
            layer("towns", "Point", "name:string people:integer", TOWNS),
            layer("roads", "LineString", "name:string", ROADS),
        )
        self.cache = Cache(self.bench.toolbox)
        self.events: list[Any] = []

    def run(
        self,
        graph: Graph,
        target: tuple[str, ...] = (),
        cancelled: Callable[[], bool] = lambda: False,
        **means: Any,
    ) -> Outcome:
        self.events = []
        self.bench.toolbox.begin_turn(graph.question)
        run = GraphRun(
            self.bench.toolbox, self.cache, agents(), lambda number: f"{number:g}", **means
        )
        return self.bench.aside(lambda: run.run(graph, self.events.append, cancelled, target))

    @property
    def end(self) -> RunFinished:
        assert [type(one) for one in self.events].count(RunFinished) == 1
        assert isinstance(self.events[-1], RunFinished)
        return self.events[-1]

    def called(self) -> list[str]:
        return [one.tool for one in self.events if isinstance(one, CallStarted)]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def statuses(outcome: Outcome) -> dict[str, Status]:
    return {one.id: one.status for one in outcome.graph.vertices}


def test_a_graph_answers_with_numbers_of_its_results(stage: Stage) -> None:
    outcome = stage.run(NEAR)
    assert stage.end.answer == "90 people in 3 towns"
    assert (stage.end.status, stage.end.value) == (End.OK, 90)
    assert outcome.results["each"].numbers["value"] == 30
    assert set(statuses(outcome).values()) == {Status.COMPLETED}


def test_runs_on_two_lanes_give_what_one_lane_gives(stage: Stage) -> None:
    for _ in range(int(os.environ.get("GEO_OLM_LONG") == "1") * 40 + 8):
        stage.cache.clear()
        outcome = stage.run(NEAR, ways=Ways(lanes=2))
        ids = [one.id for one in outcome.results.values()]
        assert len(set(ids)) == len(ids)
        assert (stage.end.answer, outcome.results["each"].numbers["value"]) == (
            "90 people in 3 towns",
            30,
        )


def test_branches_run_at_the_same_time(stage: Stage) -> None:
    class Slow:
        """Two tools that wait for each other: one alone would never end."""

        meeting = threading.Barrier(2, timeout=20)

        def definitions(self) -> tuple[Any, ...]:
            return ()

        def run(self, name: str, *rest: Any) -> ToolResult:
            self.meeting.wait()
            return ToolResult(name, name)

    run = GraphRun(Slow(), stage.cache, agents(), str)
    graph = Graph("", (task("a", "one"), task("b", "two")))
    stage.bench.aside(lambda: run.run(graph, stage.events.append, lambda: False))
    assert stage.end.status is End.OK


def test_after_an_edit_only_what_changed_runs_again(stage: Stage) -> None:
    stage.run(NEAR)
    assert len(stage.called()) == 6
    stage.run(NEAR)
    assert stage.called() == []
    assert stage.end.value == 90
    edited = NEAR.with_vertex(task("big", "filter", layer=Layer("towns"), where='"people" >= 30'))
    outcome = stage.run(edited)
    assert sorted(stage.called()) == [
        "calculate", "count", "filter", "select_by_location", "statistics",
    ]  # fmt: skip
    assert statuses(outcome)["near"] is Status.CACHED
    assert stage.end.answer == "70 people in 2 towns"


def test_a_changed_input_and_a_removed_result_run_again(stage: Stage) -> None:
    outcome = stage.run(NEAR)
    towns = stage.bench.project.mapLayersByName("towns")[0]
    towns.startEditing()
    towns.changeAttributeValue(next(towns.getFeatures("\"name\" = 't3'")).id(), 1, 31)
    assert towns.commitChanges()
    stage.run(NEAR)
    assert stage.end.value == 91
    assert "buffer" not in stage.called()
    stage.bench.project.removeMapLayer(outcome.results["near"].layers[0].id)
    stage.run(NEAR)
    assert stage.called()[0] == "buffer"
    assert stage.end.value == 91


def test_run_to_here_runs_what_leads_there_and_no_more(stage: Stage) -> None:
    outcome = stage.run(NEAR, target=("in",))
    assert sorted(stage.called()) == ["buffer", "filter", "select_by_location"]
    assert statuses(outcome)["sum"] is Status.PENDING
    assert stage.end.status is End.OK


def test_a_failure_skips_what_needs_it_and_the_rest_goes_on(stage: Stage) -> None:
    broken = NEAR.with_vertex(task("near", "buffer", layer=Layer("motorways"), distance=50))
    outcome = stage.run(broken)
    assert statuses(outcome) == {
        "near": Status.FAILED, "big": Status.COMPLETED, "in": Status.SKIPPED,
        "sum": Status.SKIPPED, "count": Status.SKIPPED, "each": Status.SKIPPED,
    }  # fmt: skip
    assert stage.end.status is End.FAILED
    assert 'There is no layer "motorways"' in stage.end.reason
    stage.run(NEAR)
    assert "filter" not in stage.called()
    assert stage.end.value == 90


def test_a_layer_removed_between_steps_is_told_and_nothing_is_half_done(stage: Stage) -> None:
    def remove(event: Any) -> None:
        stage.events.append(event)
        done = isinstance(event, StepChanged) and event.status is Status.COMPLETED
        if done and event.step == "big":
            gone = event.result.layers[0].id
            stage.bench.caller(lambda: stage.bench.project.removeMapLayer(gone))

    run = GraphRun(stage.bench.toolbox, stage.cache, agents(), str, ways=Ways(lanes=1))
    outcome = stage.bench.aside(lambda: run.run(NEAR, remove, lambda: False))
    assert statuses(outcome)["in"] is Status.FAILED
    assert "was removed while it was in use" in stage.end.reason


def test_a_stopped_run_ends_soon_and_keeps_what_is_done(stage: Stage) -> None:
    stopped = threading.Event()

    class Endless:
        def definitions(self) -> tuple[Any, ...]:
            return ()

        def run(self, name: str, arguments: Any, progress: Any, cancelled: Any) -> ToolResult:
            if name == "quick":
                return ToolResult("done", "r1")
            stopped.set()
            while not cancelled():
                time.sleep(0.01)
            from geo_olm.tools.base import ToolCancelled

            raise ToolCancelled()

    run = GraphRun(Endless(), stage.cache, agents(), str)
    graph = Graph("", (task("a", "quick"), task("b", "long", "a"), task("c", "quick", "b")))
    outcome = stage.bench.aside(lambda: run.run(graph, stage.events.append, stopped.is_set))
    assert stage.end.status is End.CANCELLED
    assert statuses(outcome) == {
        "a": Status.COMPLETED, "b": Status.PENDING, "c": Status.PENDING,
    }  # fmt: skip


def test_a_bypassed_step_hands_its_input_on(stage: Stage) -> None:
    graph = NEAR.with_vertex(replace(NEAR.vertex("big"), bypassed=True))
    stage.run(graph)
    assert stage.end.answer == "100 people in 5 towns"
    number = NEAR.with_vertex(replace(NEAR.vertex("sum"), bypassed=True))
    stage.run(number)
    assert stage.end.reason == "sum cannot be passed over: its sum is used."


def test_a_question_takes_its_answer_and_its_number_is_used(stage: Stage) -> None:
    class User(Nobody):
        def answer(self, question: QuestionAsked, cancelled: Any) -> str:
            assert (question.text, question.default) == ("How far, in metres?", "10")
            return "50"

    ask = Vertex("far", objective="How far, in metres?", kind=Kind.QUESTION,
                 parameters={"default": "10"})  # fmt: skip
    graph = NEAR.with_vertex(
        task("near", "buffer", layer=Layer("roads"), distance=Output("far", "answer"))
    ).with_vertex(ask)
    stage.run(graph, user=User())
    assert stage.end.value == 90
    stage.run(graph)
    assert "no feature has a value" in stage.end.reason


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_review_stop_shows_the_layer_and_waits(stage: Stage, goes_on: bool) -> None:
    seen: list[ReviewReached] = []

    class User(Nobody):
        def goes_on(self, stop: ReviewReached, cancelled: Any) -> bool:
            seen.append(stop)
            return goes_on

    look = Vertex("look", objective="Are these right?", kind=Kind.REVIEW,
                  parameters={"layer": Output("in")})  # fmt: skip
    graph = NEAR.with_vertex(look)
    for key in ("sum", "count"):
        one = graph.vertex(key)
        graph = graph.with_vertex(
            replace(one, parameters={**(one.parameters or {}), "layer": Output("look")})
        )
    stage.run(graph, user=User())
    assert [len(one.layers) for one in seen] == [1]
    assert seen[0].layers[0].features == 3
    assert stage.end.status is (End.OK if goes_on else End.CANCELLED)


class Mender:
    """Proposes the right layer for the first failure, and then nothing."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def propose(self, graph: Graph, vertex: str, error: str) -> Change | None:
        self.asked.append((vertex, error))
        one = graph.vertex(vertex)
        return Change(
            edited=(replace(one, parameters={**(one.parameters or {}), "layer": Layer("roads")}),)
        )


def test_a_failed_step_is_mended_and_what_was_done_is_kept(stage: Stage) -> None:
    broken = NEAR.with_vertex(task("near", "buffer", layer=Layer("motorways"), distance=50))
    mender = Mender()
    outcome = stage.run(broken, refiner=mender)
    assert [one[0] for one in mender.asked] == ["near"]
    assert stage.called().count("filter") == 1
    assert stage.end.value == 90
    assert outcome.concrete.vertex("near").parameters == {"layer": Layer("roads"), "distance": 50}


def test_an_argument_that_a_call_would_do_without_is_left_out_before_anyone_is_asked(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stage.bench.toolbox.run

    def refuses(name: str, arguments: dict[str, Any], *more: Any) -> ToolResult:
        if "segments" in arguments:
            raise MendableError("Leave the segments out.", without=["segments"])
        return run(name, arguments, *more)

    monkeypatch.setattr(stage.bench.toolbox, "run", refuses)
    near = task("near", "buffer", layer=Layer("roads"), distance=50, segments=9)
    mender = Mender()
    outcome = stage.run(NEAR.with_vertex(near), refiner=mender)
    assert mender.asked == []
    assert stage.end.value == 90
    assert outcome.concrete.vertex("near").parameters == {"layer": Layer("roads"), "distance": 50}


def test_a_refused_change_leaves_the_failure_as_it_is(stage: Stage) -> None:
    class User(Nobody):
        def accepts(self, change: GraphChanged, cancelled: Any) -> bool:
            return False

    broken = NEAR.with_vertex(task("near", "buffer", layer=Layer("motorways"), distance=50))
    outcome = stage.run(broken, refiner=Mender(), user=User())
    assert statuses(outcome)["near"] is Status.FAILED


def test_an_abstract_step_is_carried_out_and_becomes_concrete(stage: Stage) -> None:
    bench = stage.bench

    class Agent:
        def carry_out(self, assignment: Assignment, emit: Any, cancelled: Any) -> Done:
            assert {one.name for one in assignment.tools} >= {"buffer", "filter"}
            arguments = {"layer": assignment.results["big"].id, "distance": 5}
            result = bench.toolbox.run("buffer", arguments, lambda percent: None, cancelled)
            return Done(result, (Traced("buffer", arguments, (result.id,)),))

    step = Vertex("around", "vector", "Buffer the big towns by 5 m.", after=("big",))
    graph = Graph("", (NEAR.vertex("big"), step))
    outcome = stage.run(graph, sub_agent=Agent(), layers=lambda: ["towns", "roads"])
    assert stage.end.layers[0].features == 8
    made = outcome.concrete.vertex("around")
    assert (made.tool, made.parameters) == ("buffer", {"layer": Output("big"), "distance": 5})
    again = stage.run(outcome.concrete)
    assert again.results["around"].layers[0].features == 8


def test_an_abstract_step_without_a_model_says_what_to_do(stage: Stage) -> None:
    stage.run(Graph("", (Vertex("v1", "vector", "Buffer the towns"),)))
    assert "Choose its tool and parameters" in stage.end.reason


def test_a_failed_call_of_the_model_s_kind_is_not_tried_twice(stage: Stage) -> None:
    class Broken:
        tries = 0

        def definitions(self) -> tuple[Any, ...]:
            return ()

        def run(self, *rest: Any) -> ToolResult:
            Broken.tries += 1
            if self.tries == 1:
                raise OSError("the file is locked")
            raise MendableError("wrong")

    run = GraphRun(Broken(), stage.cache, agents(), str, ways=Ways(tries=3))
    graph = Graph("", (task("a", "x"),))
    stage.bench.aside(lambda: run.run(graph, stage.events.append, lambda: False))
    assert Broken.tries == 2
    assert stage.end.reason == "a (x): wrong"


# -- the algorithm


@pytest.fixture
def project() -> Iterator[QgsProject]:
    """A project whose layers go before QGIS does."""
    found = QgsProject()
    yield found
    found.clear()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    from qgis.core import QgsVectorFileWriter

    found = {}
    for one in (
        layer("towns", "Point", "name:string people:integer", TOWNS),
        layer("roads", "LineString", "name:string", ROADS),
    ):
        options = QgsVectorFileWriter.SaveVectorOptions()
        options.layerName = one.name()
        path = tmp_path / f"{one.name()}.gpkg"
        QgsVectorFileWriter.writeAsVectorFormatV3(
            one, str(path), QgsProject.instance().transformContext(), options
        )
        found[one.name()] = str(path)
    return found


def test_a_workflow_runs_from_the_toolbox_twice_alike(
    tmp_path: Path, files: dict[str, str]
) -> None:
    far = replace(NEAR, variables=(Variable("far", Type.NUMBER, default=500, unit="m"),))
    far = far.with_vertex(task("near", "buffer", layer=Layer("roads"), distance=Asked("far")))
    path = tmp_path / "near.geoflow.json"
    path.write_text(dumps(far), encoding="utf-8")
    records = []
    for turn in range(2):
        record = tmp_path / f"{turn}.json"
        found, done = (
            RunWorkflowAlgorithm()
            .create()
            .run(
                {
                    "WORKFLOW": str(path),
                    "VARIABLES": json.dumps({"far": 50, "towns": files["towns"]}),
                    "LAYERS": [files["roads"]],
                    "JSON": str(record),
                },
                QgsProcessingContext(),
                QgsProcessingFeedback(),
            )
        )
        assert done
        assert (found["ANSWER"], found["STATUS"]) == ("90 people in 3 towns", "ok")
        records.append(json.loads(record.read_text(encoding="utf-8")))
    for one in records:
        assert (one["value"], one["model"]["name"], one["tokens"]["prompt"]) == (90, "", 0)
        assert {call["tool"] for call in one["calls"]} == {
            "buffer", "filter", "select_by_location", "statistics", "count", "calculate",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "needs the layer roads, which is not there"),
        ({"roads": "/no/such.gpkg"}, "/no/such.gpkg is no layer of the project"),
        ({"far": 3}, "no variable far; it takes roads, towns"),
    ],
)
def test_a_workflow_that_cannot_start_says_what_it_needs(
    project: QgsProject, files: dict[str, str], variables: dict[str, Any], words: str
) -> None:
    graph = replace(NEAR, sources=(Source("towns", files["towns"]),))
    record = replay(graph, project, Settings(), variables, "", lambda event: None)
    assert record["status"] == "failed"
    assert words in record["reason"]


def test_layers_come_from_the_sources_that_the_workflow_noted(
    project: QgsProject, files: dict[str, str]
) -> None:
    graph = replace(NEAR, sources=tuple(Source(key, one) for key, one in files.items()))
    record = replay(graph, project, Settings(), {}, "", lambda event: None)
    assert (record["status"], record["value"]) == ("ok", 90)


def test_two_given_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for folder, count in (("a", 2), ("b", 5)):
        (tmp_path / folder).mkdir()
        lines = ["id,x,y", *(f"{at},{at},{at}" for at in range(count))]
        (tmp_path / folder / "towns.csv").write_text("\n".join(lines), encoding="utf-8")
    given = {key: str(tmp_path / key / "towns.csv") for key in ("a", "b")}
    graph = Graph(
        "How many more?",
        (
            Vertex("v1", "table", "", "count", {"layer": Asked("a")}),
            Vertex("v2", "table", "", "count", {"layer": Asked("b")}),
            Vertex("v3", "table", "", "calculate",
                   {"expression": Template("{v2.count} - {v1.count}")}),
        ),
        (Variable("a", Type.LAYER), Variable("b", Type.LAYER)),
        Answer(value=Output("v3", "value")),
    )  # fmt: skip
    made = QgsProject()
    record = replay(graph, made, Settings(), given, "", lambda event: None)
    assert (record["status"], record["value"]) == ("ok", 3)
    made.clear()
