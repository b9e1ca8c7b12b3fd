# SPDX-License-Identifier: GPL-2.0-or-later
"""Lasting calls wait for the user: state by state, in plans, and where nobody can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_case import HOW_MANY, call, fill, init, settings_for, settle, wait_until
from fake_openai import FakeOpenAI, said
from qgis.core import QgsProject

from geo_olm.plugin.agent.event import ApprovalAsked, ApprovalGiven, CallFinished, Event, Notice
from geo_olm.plugin.approval_judge import intents
from geo_olm.plugin.flow_means import Nobody
from geo_olm.plugin.link import process_link
from geo_olm.plugin.session import Session, answer_question
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.graph import Answer, Graph, Vertex
from geo_olm.plugin.workflow.value import Layer, Output

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

SAVE = call("Map", "save_layer", layer="towns", file="towns.csv")
ANSWER = call("Answer", "answer", value="r1.count")
COUNT = call("Analyse", "count", layer="towns")
STYLE = call("Map", "style_graduated", layer="towns", field="pop")
SAVING = (init(), COUNT, SAVE, ANSWER, said("There are 3 towns."))


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep models and servers of this machine out of the tests."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
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


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


class User:
    """A session whose cards are answered as `word` says; None stops the run instead."""

    def __init__(self, project: QgsProject, settings: Settings, word: bool | None) -> None:
        self.session, self.word = Session(project, settings), word
        self.events: list[Event] = []
        self.records: list[dict[str, Any]] = []
        self.session.told.connect(self._told)
        self.session.finished.connect(self.records.append)

    def _told(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, ApprovalAsked):
            if self.word is None:
                self.session.stop()
            else:
                self.session.approve(ApprovalGiven(event.identity, self.word))

    def asked(self) -> list[tuple[str, ...]]:
        cards = [one for one in self.events if isinstance(one, ApprovalAsked)]
        return [tuple(f"{one.reach.value} {one.target}" for one in card.deeds) for card in cards]

    def ask(self, question: str = "How many towns? Save them as towns.csv.") -> dict[str, Any]:
        self.session.ask(question)
        return self.end()

    def end(self) -> dict[str, Any]:
        wait_until(lambda: bool(self.records))
        self.session.close()
        return self.records[-1]


def test_an_allowed_file_is_written_once_and_where_the_card_said(
    project: QgsProject, out: Path
) -> None:
    with FakeOpenAI(*SAVING) as server:
        user = User(project, settings_for(server, output_folder=str(out)), True)
        record = user.ask()
    assert record["status"] == "ok"
    assert user.asked() == [("file towns.csv",)]
    card = next(one for one in user.events if isinstance(one, ApprovalAsked))
    assert card.deeds[0].where == str(out)
    assert [one.name for one in out.iterdir()] == ["towns.csv"]


def test_a_refused_file_is_not_written_and_the_question_is_answered_all_the_same(
    project: QgsProject, out: Path
) -> None:
    with FakeOpenAI(*SAVING) as server:
        user = User(project, settings_for(server, output_folder=str(out)), False)
        record = user.ask()
        sent = str(server.requests[-2]["messages"])
    assert (record["status"], record["value"]) == ("ok", 3)
    assert list(out.iterdir()) == []
    assert "towns.csv was not written: Write a file was not allowed." in sent


def test_stop_at_the_card_ends_the_run_and_keeps_what_was_made(
    project: QgsProject, out: Path
) -> None:
    big = call("Filter", "filter", layer="towns", conditions=[
        {"field": "pop", "op": ">", "value": 9}
    ])  # fmt: skip
    with FakeOpenAI(init(), big, SAVE) as server:
        user = User(project, settings_for(server, output_folder=str(out)), None)
        record = user.ask()
    assert record["status"] == "cancelled"
    assert len(project.mapLayers()) == 3
    assert list(out.iterdir()) == []


def test_a_style_of_a_layer_that_was_there_is_asked_about_and_of_a_result_is_not(
    project: QgsProject,
) -> None:
    big = call("Filter", "filter", layer="towns", conditions=[
        {"field": "pop", "op": ">", "value": 9}
    ])  # fmt: skip
    on_result = call("Map", "style_graduated", layer="r1", field="pop")
    layer = project.mapLayersByName("towns")[0]
    before = layer.renderer().type()
    with FakeOpenAI(init(), big, on_result, STYLE, ANSWER, said("2 towns.")) as server:
        user = User(project, settings_for(server), False)
        user.ask("Colour the big towns by population.")
    assert user.asked() == [("project towns",)]
    assert layer.renderer().type() == before
    made = next(one for one in project.mapLayers().values() if one.name() not in ("towns", "park"))
    assert made.renderer().type() == "graduatedSymbol"


@pytest.mark.parametrize(("mode", "cards"), [("each", 2), ("lasting", 1), ("free", 0)])
def test_the_mode_says_what_is_asked_about(
    project: QgsProject, out: Path, mode: str, cards: int
) -> None:
    big = call("Filter", "filter", layer="towns", conditions=[
        {"field": "pop", "op": ">", "value": 9}
    ])  # fmt: skip
    with FakeOpenAI(init(), big, SAVE, ANSWER, said("2 towns.")) as server:
        user = User(project, settings_for(server, output_folder=str(out), approval=mode), True)
        record = user.ask("Which towns are big? Save the towns.")
    assert record["status"] == "ok"
    assert len(user.asked()) == cards
    assert (out / "towns.csv").exists()


def test_without_anyone_to_ask_files_go_only_into_a_folder_that_was_named(
    project: QgsProject, out: Path
) -> None:
    detector = call("Load", "add_detector", file=str(out / "x.onnx"), name="Ships")
    with FakeOpenAI(init(), COUNT, SAVE, detector, ANSWER, said("There are 3.")) as server:
        record = answer_question(
            "How many towns? Save them.", project, settings_for(server), str(out), lambda one: None
        )
    calls = {one["tool"]: one for one in record["calls"]}
    assert record["status"] == "ok"
    assert calls["save_layer"]["ok"]
    assert not calls["add_detector"]["ok"]
    assert "was not allowed" in calls["add_detector"]["error"]


GRAPH = Graph(
    "Save the towns",
    (
        Vertex("v1", agent="Table", tool="count", parameters={"layer": Layer("towns")}),
        Vertex(
            "v2", agent="Data", tool="save_layer",
            parameters={"layer": Layer("towns"), "file": "all.csv"},
        ),
        Vertex(
            "v3", agent="Map", tool="style_graduated",
            parameters={"layer": Layer("towns"), "field": "pop"},
        ),
    ),
    answer=Answer("There are {v1.count} towns."),
)  # fmt: skip


def test_a_workflow_that_the_user_starts_runs_its_own_steps_without_a_card(
    project: QgsProject, out: Path
) -> None:
    user = User(project, Settings(output_folder=str(out)), False)
    user.session.run_graph(GRAPH, Nobody())
    assert user.end()["status"] == "ok"
    assert user.asked() == []
    assert (out / "all.csv").exists()


def test_in_the_careful_mode_its_lasting_steps_are_asked_about_and_the_rest_is_answered(
    project: QgsProject, out: Path
) -> None:
    user = User(project, Settings(output_folder=str(out), approval="each"), False)
    user.session.run_graph(GRAPH, Nobody())
    record = user.end()
    assert (record["status"], record["answer"]) == ("ok", "There are 3 towns.")
    assert len(user.asked()) == 2
    assert list(out.iterdir()) == []
    said_ = [one.text for one in user.events if isinstance(one, Notice)]
    assert any("all.csv was not written" in one for one in said_)


def test_a_run_whose_answer_needs_the_refused_step_ends_and_keeps_the_rest(
    project: QgsProject, out: Path
) -> None:
    graph = replace(GRAPH, answer=Answer("{v2.count} towns were written."))
    user = User(project, Settings(output_folder=str(out), approval="each"), False)
    user.session.run_graph(graph, Nobody())
    record = user.end()
    assert record["status"] == "cancelled"
    assert "all.csv was not written" in record["reason"]
    done = [one.tool for one in user.events if isinstance(one, CallFinished) and one.ok]
    assert done == ["count"]


def test_what_a_graph_means_is_told_without_what_is_not_known_yet() -> None:
    graph = Graph("", (
        Vertex("a", tool="buffer", parameters={"layer": Layer("towns"), "distance": 5}),
        Vertex("b", tool="save_layer", parameters={"layer": Output("a"), "file": "b.gpkg"}),
        Vertex("c", objective="Look"),
    ))  # fmt: skip
    first, second = intents(graph)
    assert (first.arguments, first.open) == ({"layer": "towns", "distance": 5}, False)
    assert (second.arguments, second.open) == ({"file": "b.gpkg"}, True)


def test_a_question_without_anything_lasting_is_answered_without_a_card(
    project: QgsProject,
) -> None:
    with FakeOpenAI(*HOW_MANY) as server:
        user = User(project, settings_for(server), False)
        record = user.ask("How many towns?")
    assert (record["status"], user.asked()) == ("ok", [])
