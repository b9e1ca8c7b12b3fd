# SPDX-License-Identifier: GPL-2.0-or-later
"""A chat over a real project with a fake server: records, results, turns, stops, faults."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_case import (
    COUNT,
    HOW_MANY,
    WHICH_BIG,
    call,
    fill,
    init,
    settings_for,
    settle,
    wait_until,
)
from fake_openai import DONE, FakeOpenAI, chunk, refused, said, stream
from qgis.core import QgsProject
from scripted_server import Step

from geo_olm.plugin.agent.event import Event, RunFinished, Status
from geo_olm.plugin.link import process_link
from geo_olm.plugin.session import Session, answer_question
from geo_olm.plugin.settings import Settings

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep models and servers of this machine out of the tests."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    process_link.cache_clear()
    yield
    settle()
    process_link.cache_clear()


@pytest.fixture
def project() -> Iterator[QgsProject]:
    made = fill(QgsProject())
    yield made
    made.clear()


class Talker:
    """A session that keeps what it tells."""

    def __init__(self, project: QgsProject, settings: Settings) -> None:
        self.session = Session(project, settings)
        self.events: list[Event] = []
        self.records: list[dict[str, Any]] = []
        self.running: list[bool] = []
        self.session.told.connect(self.events.append)
        self.session.finished.connect(self.records.append)
        self.session.running.connect(self.running.append)

    def ask(self, question: str = "How many towns?") -> dict[str, Any]:
        before = len(self.records)
        self.session.ask(question)
        wait_until(lambda: len(self.records) > before)
        return self.records[-1]


@pytest.fixture
def talk(project: QgsProject) -> Iterator[Any]:
    made: list[Talker] = []

    def talking(settings: Settings) -> Talker:
        made.append(Talker(project, settings))
        return made[-1]

    yield talking
    for talker in made:
        talker.session.close()


def silent(seconds: float = 8.0) -> Step:
    """Return a reply of which nothing comes."""
    return stream([seconds, chunk(content="late"), chunk("stop"), DONE])


def test_a_question_gives_the_record_of_the_contract(talk: Any) -> None:
    with FakeOpenAI(*HOW_MANY) as server:
        record = talk(settings_for(server)).ask("How many towns?")
    assert (record["status"], record["answer"], record["value"]) == ("ok", "There are 3 towns.", 3)
    assert record["stages"] == ["Init", "Load", "Analyse", "Answer", "End"]
    assert [one["tool"] for one in record["calls"]] == ["layer_info", "count", "answer"]
    assert record["model"]["name"] == "small-model"
    assert record["tokens"]["prompt"] == 80
    assert record["intent"] == "Count"


def test_a_result_layer_lands_in_a_group_of_the_project_and_can_be_undone(
    talk: Any, project: QgsProject
) -> None:
    with FakeOpenAI(*WHICH_BIG) as server:
        talker = talk(settings_for(server))
        record = talker.ask("Which towns are big?")
    made = [project.mapLayer(item["id"]) for item in record["layers"]]
    assert [layer.featureCount() for layer in made] == [2]
    node = project.layerTreeRoot().findLayer(made[0].id())
    assert node.parent() is not project.layerTreeRoot()
    assert talker.session.can_undo
    assert talker.session.undo()
    assert set(project.mapLayers()) == {
        layer.id() for layer in project.mapLayers().values() if layer.name() in ("towns", "park")
    }
    assert talker.session.undo() == ()


def test_a_second_question_uses_the_result_of_the_first(talk: Any) -> None:
    second = (
        init("Count", "r1"),
        call("Analyse", "count", layer="r1"),
        call("Answer", "answer", value="r2.count"),
        said("2 of them."),
    )
    with FakeOpenAI(*WHICH_BIG, *second) as server:
        talker = talk(settings_for(server))
        talker.ask("Which towns are big?")
        record = talker.ask("How many are those?")
        sent = [json.dumps(item["messages"]) for item in server.requests]
    assert (record["status"], record["value"]) == ("ok", 2)
    assert "There are 2 big towns." in sent[4]


def test_a_new_chat_forgets_the_talk_but_keeps_the_results(talk: Any, project: QgsProject) -> None:
    again = (init(), COUNT, call("Answer", "answer", value="r2.count"), said("3."))
    with FakeOpenAI(*WHICH_BIG, *again) as server:
        talker = talk(settings_for(server))
        talker.ask("Which towns are big?")
        talker.session.new_chat()
        record = talker.ask("How many towns?")
        sent = json.dumps(server.requests[4]["messages"])
    assert record["status"] == "ok"
    assert "Which towns are big?" not in sent
    assert len(project.mapLayers()) == 3


def test_a_question_while_one_runs_is_refused_and_the_first_goes_on(talk: Any) -> None:
    with FakeOpenAI(*HOW_MANY) as server:
        talker = talk(settings_for(server))
        talker.session.ask("How many towns?")
        with pytest.raises(RuntimeError, match="worked on"):
            talker.session.ask("And parks?")
        wait_until(lambda: bool(talker.records))
    assert talker.records[0]["status"] == "ok"
    assert talker.running == [True, False]


def test_a_stop_while_the_model_reads_ends_within_two_seconds(talk: Any) -> None:
    with FakeOpenAI(silent()) as server:
        talker = talk(settings_for(server))
        talker.session.ask("How many towns?")
        wait_until(lambda: bool(server.requests))
        talker.session.stop()
        assert wait_until(lambda: bool(talker.records)) < 2.0
    assert talker.records[0]["status"] == "cancelled"
    assert [event.status for event in talker.events if isinstance(event, RunFinished)] == [
        Status.CANCELLED
    ]


def test_a_stop_during_a_long_algorithm_ends_within_two_seconds(talk: Any) -> None:
    grid = call(
        "Analyse",
        "run_algorithm",
        algorithm="native:creategrid",
        parameters={
            "TYPE": 2,
            "EXTENT": "0,950,0,950 [EPSG:32632]",
            "HSPACING": 1,
            "VSPACING": 1,
            "CRS": "EPSG:32632",
        },
    )
    with FakeOpenAI(init("Transform"), grid) as server:
        talker = talk(settings_for(server))
        talker.session.ask("Make a grid.")
        wait_until(lambda: any(getattr(e, "percent", 0) > 0 for e in talker.events))
        talker.session.stop()
        assert wait_until(lambda: bool(talker.records)) < 2.0
    assert talker.records[0]["status"] == "cancelled"


def test_a_stop_before_the_task_has_begun_is_told_as_a_stop(talk: Any) -> None:
    with FakeOpenAI() as server:
        talker = talk(settings_for(server))
        talker.session.ask("How many towns?")
        talker.session.stop()
        wait_until(lambda: bool(talker.records))
    assert talker.records[0]["status"] == "cancelled"
    assert isinstance(talker.events[-1], RunFinished)


def test_closing_in_the_middle_of_a_run_takes_less_than_two_seconds(talk: Any) -> None:
    with FakeOpenAI(silent()) as server:
        talker = talk(settings_for(server))
        talker.session.ask("How many towns?")
        wait_until(lambda: bool(server.requests))
        started = time.monotonic()
        talker.session.close()
        assert time.monotonic() - started < 2.0


def test_a_layer_removed_in_the_middle_is_told_by_name(talk: Any, project: QgsProject) -> None:
    slow = stream([1.0, *COUNT.pieces])
    with FakeOpenAI(init(), slow) as server:
        talker = talk(settings_for(server))
        talker.session.ask("How many towns?")
        wait_until(lambda: len(server.requests) == 2)
        project.removeMapLayer(project.mapLayersByName("towns")[0].id())
        wait_until(lambda: bool(talker.records))
    record = talker.records[0]
    assert record["status"] == "failed"
    assert record["reason"] == (
        "towns was removed while it was in use. The results so far are kept."
    )


def test_after_a_failure_the_next_question_finds_the_model_anew(talk: Any) -> None:
    with FakeOpenAI(refused(500, "broken")) as server:
        talker = talk(settings_for(server))
        failed = talker.ask()
    assert failed["status"] == "failed"
    with FakeOpenAI(*HOW_MANY) as other:
        talker.session.use(settings_for(other))
        assert talker.ask()["status"] == "ok"


def test_settings_changed_during_a_run_hold_from_the_next_question(talk: Any) -> None:
    slow = stream([0.5, *HOW_MANY[0].pieces])
    with FakeOpenAI(slow, *HOW_MANY[1:]) as first, FakeOpenAI(*HOW_MANY) as second:
        second.steps[2] = call("Answer", "answer", value="r2.count")
        talker = talk(settings_for(first))
        talker.session.ask("How many towns?")
        wait_until(lambda: bool(first.requests))
        talker.session.use(settings_for(second))
        wait_until(lambda: bool(talker.records))
        assert talker.ask("How many towns?")["status"] == "ok"
    assert talker.records[0]["status"] == "ok"


def test_a_server_that_is_down_is_one_sentence(talk: Any) -> None:
    record = talk(Settings(server="openai", address="http://127.0.0.1:9")).ask()
    assert record["status"] == "failed"
    assert "127.0.0.1:9" in record["reason"]
    assert "\n" not in record["reason"]
    assert record["tokens"]["prompt"] == 0


def test_a_wrong_model_name_is_told_with_those_that_are_there(talk: Any) -> None:
    with FakeOpenAI() as server:
        record = talk(settings_for(server, model="gpt-99")).ask()
    assert record["status"] == "failed"
    assert "gpt-99" in record["reason"]
    assert "small-model" in record["reason"]


def test_nothing_is_asked_of_a_project_without_layers(talk: Any, project: QgsProject) -> None:
    project.removeAllMapLayers()
    with FakeOpenAI() as server:
        record = talk(settings_for(server)).ask()
    assert record["status"] == "rejected"
    assert record["reason"] == "No layers yet. Add a layer, or open the demo project."


def test_hints_in_the_question_arrive_as_they_were_typed(talk: Any) -> None:
    text = "How many; \"towns\"\n'and' {braces} %s \\n?"
    with FakeOpenAI(*HOW_MANY) as server:
        record = talk(settings_for(server)).ask(text)
        assert text in server.requests[0]["messages"][-1]["content"]
    assert record["question"] == text


# -- answer_question, as the algorithm and the evaluation use it


def test_a_question_is_answered_on_the_main_thread(project: QgsProject) -> None:
    events: list[Event] = []
    with FakeOpenAI(*HOW_MANY) as server:
        record = answer_question(
            "How many towns?", project, settings_for(server), "", events.append
        )
    assert (record["status"], record["value"]) == ("ok", 3)
    assert isinstance(events[-1], RunFinished)


def test_a_question_is_answered_on_a_worker_thread(project: QgsProject) -> None:
    from geo_olm.plugin.runner import RunTask, wait

    records: list[dict[str, Any]] = []
    with FakeOpenAI(*HOW_MANY) as server:
        settings = settings_for(server)
        wait(
            RunTask(
                "test",
                lambda _emit, _stopped: records.append(
                    answer_question("How many?", project, settings, "", lambda _event: None)
                ),
            ),
            lambda: False,
        )
    assert (records[0]["status"], records[0]["value"]) == ("ok", 3)


def test_a_stop_from_outside_ends_the_question(project: QgsProject) -> None:
    with FakeOpenAI(silent()) as server:
        started = time.monotonic()
        record = answer_question(
            "How many?",
            project,
            settings_for(server),
            "",
            lambda _event: None,
            lambda: bool(server.requests),
        )
        assert time.monotonic() - started < 3.0
    assert record["status"] == "cancelled"
