# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions answered by a plan first, and by the states where no plan holds or earlier results are
spoken of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_case import ANSWER as STATE_ANSWER
from chat_case import COUNT as STATE_COUNT
from chat_case import call, fill, init, settings_for, settle, wait_until
from fake_openai import FakeOpenAI, said
from qgis.core import QgsProject
from scripted_server import Step

from geo_olm.plugin.agent.chat import Chat
from geo_olm.plugin.agent.event import CallFinished, Notice, RunFinished, StageChanged, Status
from geo_olm.plugin.answerer import Answerer
from geo_olm.plugin.assembly import make_toolbox
from geo_olm.plugin.graph_check import checker, surroundings
from geo_olm.plugin.link import process_link
from geo_olm.plugin.record import Recorder
from geo_olm.plugin.replay import agents, replay
from geo_olm.plugin.runner import MainThread, RunTask, start
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.event import GraphChanged
from geo_olm.plugin.workflow.file import dumps, loads
from geo_olm.plugin.workflow.finding import Severity
from geo_olm.plugin.workflow.plan_event import PlanDone, PlanMade
from geo_olm.tools.catalog import build_registry

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

QUESTION = "How many towns have more than 9 people?"


@pytest.fixture(autouse=True)
def no_models_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    process_link.cache_clear()
    yield
    settle()
    process_link.cache_clear()


@pytest.fixture
def project() -> Iterator[QgsProject]:
    made = fill(QgsProject())
    yield made
    made.clear()


def reply(form: Any) -> Step:
    return said(json.dumps(form))


def plan(*tasks: dict[str, Any], answer: str = "") -> Step:
    return reply({"tasks": list(tasks), "answer": answer})


def task(key: str, agent: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"id": key, "agent": agent, "tool": tool, "arguments": arguments}


UNDERSTOOD = reply({"NEEDS": "towns = towns", "USER_INTENT": "Count", "layers": ["towns"]})
BIG = task(
    "v1", "vector", "filter", layer="towns", conditions=[{"field": "pop", "op": ">", "value": 9}]
)
COUNT = task("v2", "table", "count", layer="v1")
WORDED = said("There are 2 towns with more than 9 people.")
HOW_MANY = (UNDERSTOOD, plan(BIG, COUNT, answer="v2.count"), WORDED)


def talked(
    project: QgsProject,
    questions: Sequence[str],
    replies: Sequence[Step],
    chat: Chat | None = None,
    runs: bool = True,
) -> list[list[Any]]:
    """Return the events of each question, asked one after the other in one chat."""
    told: list[list[Any]] = []
    with FakeOpenAI(*replies) as server:
        settings = settings_for(server, plan_first=True)
        toolbox = make_toolbox(project, settings, MainThread())
        memory = Chat() if chat is None else chat
        for question in questions:
            events, done = list[Any](), list[Any]()

            def work(emit: Any, stopped: Any, asked: str = question) -> None:
                speaker = process_link().connect(settings, emit, stopped)
                Answerer(toolbox, speaker, settings).answer(memory, asked, emit, stopped, runs)

            made = RunTask("test", work)
            made.told.connect(events.append)
            made.ended.connect(done.append)
            start(made)
            wait_until(lambda ended=done: bool(ended))
            settle()
            assert done == [None]
            told.append(events)
        toolbox.close()
    return told


def played(project: QgsProject, *replies: Step, question: str = QUESTION) -> list[Any]:
    (events,) = talked(project, [question], replies)
    return events


def end_of(events: list[Any]) -> RunFinished:
    assert isinstance(events[-1], RunFinished)
    return events[-1]


def test_a_plan_is_run_and_its_answer_comes_from_its_results(project: QgsProject) -> None:
    events = played(project, *HOW_MANY)
    end = end_of(events)
    assert (end.status, end.value) == (Status.OK, 2)
    assert end.answer == "There are 2 towns with more than 9 people."
    assert end.usage.generated > 0
    (made,) = [one for one in events if isinstance(one, PlanMade)]
    assert (made.was_valid, made.is_valid, made.candidates) == (True, True, 1)


def test_words_with_numbers_of_nowhere_give_way_to_the_result_and_its_name(
    project: QgsProject,
) -> None:
    top = task("v1", "table", "top_n", layer="towns", field="pop", order="largest", n=1)
    strange = said("The town with the most people has 21."), said("It has 22.")
    end = end_of(played(project, UNDERSTOOD, plan(top, answer="v1.value"), *strange))
    assert (end.answer, end.value) == ("Ely: 20.", 20)


def test_a_step_that_fails_is_mended_by_the_model_and_the_run_goes_on(
    project: QgsProject,
) -> None:
    wrong = task("v1", "table", "count", layer="towns", where='"people" > ')
    change = {"change": "edit", "step": "v1", "arguments": {"where": '"pop" > 9'}}
    events = played(
        project, UNDERSTOOD, plan(wrong, answer="v1.count"), reply({"changes": [change]}), WORDED
    )
    end = end_of(events)
    assert (end.status, end.value) == (Status.OK, 2), end.answer
    (changed,) = [one for one in events if isinstance(one, GraphChanged)]
    assert changed.reason.startswith("v1 failed: ")


def test_a_layer_without_crs_rejects_a_measure_d29(project: QgsProject) -> None:
    park = project.mapLayersByName("park")[0]
    park.setCrs(type(park.crs())())
    area = task("v1", "table", "measure", layer="park", what="area", unit="km2")
    replies = (UNDERSTOOD, plan(area, answer="v1.sum"))
    end = end_of(played(project, *replies, question="How large is the park?"))
    assert end.status is Status.REJECTED
    assert "no coordinate reference system" in end.reason


def test_the_stages_of_a_plan_are_those_of_the_states(project: QgsProject) -> None:
    events = played(project, *HOW_MANY)
    stages = [one.stage for one in events if isinstance(one, StageChanged)]
    assert stages == ["Init", "Load", "Load", "Filter", "Analyse", "Answer", "End"]
    recorder = Recorder(QUESTION)
    for one in events:
        recorder.note(one)
    record = recorder.record()
    assert record["intent"] == "Count"
    assert [one["tool"] for one in record["calls"]] == ["filter", "count"]
    assert record["tokens"]["prompt"] == end_of(events).usage.prompt


def test_a_plan_that_stays_wrong_gives_way_to_the_states(project: QgsProject) -> None:
    wrong = plan(task("v1", "table", "count", layer="rivers"), answer="v1.count")
    replies = (UNDERSTOOD, *[wrong] * 6, init(), STATE_COUNT, STATE_ANSWER, said("3 towns."))
    events = played(project, *replies, question="How many towns are there?")
    end = end_of(events)
    assert (end.status, end.value, end.answer) == (Status.OK, 3, "3 towns.")
    assert [one.text for one in events if isinstance(one, Notice)] == [
        "No plan held for this question, so it was worked on step by step."
    ]
    assert sum(isinstance(one, RunFinished) for one in events) == 1


def test_a_plan_that_fails_in_its_run_is_taken_back_before_the_states_begin(
    project: QgsProject,
) -> None:
    wrong = task("v2", "table", "count", layer="v1", where='"people" > ')
    unmended = reply({"changes": []})
    answer = call("Answer", "answer", value="r2.count")
    states = (init(), STATE_COUNT, answer, said("3 towns."))
    understood = (UNDERSTOOD, plan(BIG, wrong, answer="v2.count"))
    end = end_of(played(project, *understood, *[unmended] * 3, *states))
    assert (end.status, end.value) == (Status.OK, 3)
    assert len(project.mapLayers()) == 2


def test_a_later_question_may_speak_of_what_a_plan_made(project: QgsProject) -> None:
    about = reply(
        {"REFERS_TO": "r1", "NEEDS": "name = r1", "USER_INTENT": "Count", "layers": ["r1"]}
    )
    ely = [{"field": "name", "op": "=", "value": "Ely"}]
    count = plan(task("v1", "table", "count", layer="r1", conditions=ely), answer="v1.count")
    first = (UNDERSTOOD, plan(BIG), WORDED)
    chat = Chat()
    questions = ["Which towns have more than 9 people?", "How many of them are called Ely?"]
    told = talked(project, questions, [*first, about, count, said("There is 1.")], chat)
    end = end_of(told[1])
    assert (end.value, [one.features for one in end.layers]) == (1, [1])
    assert [turn.question for turn in chat.turns] == questions
    notices = [one.text for one in told[1] if isinstance(one, Notice)]
    assert notices == ["Taken as a question about r1 = towns where pop > 9."]


def test_what_was_done_last_is_taken_back_without_a_model(project: QgsProject) -> None:
    replies = (UNDERSTOOD, plan(BIG), WORDED)
    told = talked(project, ["Which towns have more than 9 people?", "Undo that."], replies)
    end = end_of(told[1])
    assert (end.status, end.answer) == (Status.OK, "Removed towns where pop > 9.")
    assert len(project.mapLayers()) == 2
    assert [one.tool for one in told[1] if isinstance(one, CallFinished)] == ["undo"]


def test_where_nothing_was_done_there_is_nothing_to_take_back(project: QgsProject) -> None:
    end = end_of(played(project, question="Undo that!"))
    assert end.answer.startswith("There is nothing to undo")


def test_a_later_question_about_a_layer_of_the_project_is_planned_again(
    project: QgsProject,
) -> None:
    parks = reply({"NEEDS": "parks = park", "USER_INTENT": "Count", "layers": ["park"]})
    count = plan(task("v1", "table", "count", layer="park"), answer="v1.count")
    replies = (UNDERSTOOD, plan(BIG), said("Shown."), parks, count, said("There is 1 park."))
    told = talked(project, ["Which towns have more than 9 people?", "How many parks?"], replies)
    assert end_of(told[1]).value == 1
    assert any(isinstance(one, PlanMade) for one in told[1])


def test_a_count_that_is_to_be_shown_becomes_a_layer(project: QgsProject) -> None:
    where = [{"field": "pop", "op": ">", "value": 9}]
    count = task("v1", "table", "count", layer="towns", conditions=where)
    question = "How many towns have more than 9 people? Show them."
    replies = (UNDERSTOOD, plan(count, answer="v1.count"), WORDED)
    end = end_of(played(project, *replies, question=question))
    assert (end.value, [one.features for one in end.layers]) == (2, [2])


def test_a_request_that_the_layers_cannot_answer_is_rejected_by_the_plan(
    project: QgsProject,
) -> None:
    none = reply({"NEEDS": "salinity = none", "USER_INTENT": "Count", "layers": ["towns"]})
    end = end_of(played(project, none, question="What is the mean salinity?"))
    assert end.status is Status.REJECTED
    assert "salinity" in end.reason


def test_a_follow_up_is_kept_with_the_steps_that_it_rests_on_and_runs_alone(
    project: QgsProject, tmp_path: Path
) -> None:
    big = [{"field": "pop", "op": ">", "value": 9}]
    ely = [{"field": "name", "op": "=", "value": "Ely"}]
    first = task("v1", "table", "count", layer="towns", conditions=big)
    second = task("v1", "table", "count", layer="r1", conditions=ely)
    about = reply(
        {"REFERS_TO": "r1", "NEEDS": "name = r1", "USER_INTENT": "Count", "layers": ["r1"]}
    )
    told = talked(
        project,
        [QUESTION, "How many of them are called Ely?"],
        [
            *(UNDERSTOOD, plan(first, answer="v1.count"), WORDED),
            *(about, plan(second, answer="v1.count"), said("There is 1.")),
        ],
    )
    (kept,) = [one.graph for one in told[1] if isinstance(one, PlanDone)]
    assert len(kept.vertices) == 2
    own = [one for one in project.mapLayers().values() if one.name() not in ("towns", "park")]
    project.removeMapLayers([one.id() for one in own])
    record = replay(loads(dumps(kept)).graph, project, Settings(), {}, str(tmp_path), print)
    assert (record["status"], record["value"]) == ("ok", 1)
    toolbox = make_toolbox(project, Settings(), MainThread())
    around = surroundings(toolbox, build_registry(), agents(), None)
    assert [one.message for one in checker(around)(kept) if one.severity is Severity.ERROR] == []
    toolbox.close()


def test_a_plan_can_be_made_without_running_it(project: QgsProject) -> None:
    replies = (UNDERSTOOD, plan(BIG, COUNT, answer="v2.count"))
    (events,) = talked(project, [QUESTION], replies, runs=False)
    end = end_of(events)
    assert (end.status, end.value) == (Status.OK, None)
    assert end.answer.startswith("The plan has 2 steps and waits in GeoFlow")
    (made,) = [one for one in events if isinstance(one, PlanMade)]
    assert [one.tool for one in made.graph.vertices] == ["filter", "count"]
    assert not any(isinstance(one, CallFinished) for one in events)
    assert len(project.mapLayers()) == 2


def test_where_no_plan_can_be_read_nothing_is_run_either(project: QgsProject) -> None:
    (events,) = talked(project, [QUESTION], (UNDERSTOOD, *[said("no plan")] * 6), runs=False)
    end = end_of(events)
    assert end.status is Status.FAILED
    assert end.reason == "The model made no plan that can be read. Ask in other words."


def test_words_that_leave_out_what_the_number_belongs_to_are_asked_for_again(
    project: QgsProject,
) -> None:
    top = task("v1", "table", "top_n", layer="towns", field="pop", order="largest", n=1)
    question = "Which town has the most people?"
    words = said("The largest town has 20 people."), said("Ely has the most people: 20.")
    end = end_of(played(project, UNDERSTOOD, plan(top, answer="v1.value"), *words,
                        question=question))  # fmt: skip
    assert (end.answer, end.value) == ("Ely has the most people: 20.", 20)
    wrong = said("The largest town has 20 people."), said("It has 20 people.")
    end = end_of(played(project, UNDERSTOOD, plan(top, answer="v1.value"), *wrong,
                        question=question))  # fmt: skip
    assert end.answer == "Ely: 20."


def test_a_value_that_the_layer_is_called_by_need_not_be_picked(project: QgsProject) -> None:
    towns = project.mapLayersByName("towns")[0]
    towns.setName("dis")  # as the layer lux holds the district Luxembourg
    count = plan(task("v1", "table", "count", layer="dis"), answer="v1.count")
    understood = reply({"NEEDS": "", "USER_INTENT": "Count", "layers": ["dis"]})
    question = "How many towns are in Diss?"
    yes = reply({"answer": "yes"})
    events = played(project, understood, count, yes, said("There are 3."), question=question)
    assert end_of(events).value == 3
    assert not any(isinstance(one, Notice) for one in events)
