# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans over a real project: the worked examples, `geo_olm:planworkflow`, a plan that is run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_case import fill, settings_for, settle
from fake_openai import FakeOpenAI, said
from qgis.core import QgsProcessingContext, QgsProcessingFeedback, QgsProject
from scripted_server import Step

from geo_olm.plugin.link import process_link
from geo_olm.plugin.place import RESOURCES
from geo_olm.plugin.plan_briefing import bank, known_numbers
from geo_olm.plugin.plan_work import plan_question
from geo_olm.plugin.plan_workflow import PlanWorkflowAlgorithm
from geo_olm.plugin.replay import agents, replay
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.change import applied
from geo_olm.plugin.workflow.file import loads
from geo_olm.plugin.workflow.plan_change import change_of
from geo_olm.plugin.workflow.plan_example import FORMS, Call, form_of
from geo_olm.plugin.workflow.plan_form import Known, PlanError, compact, read
from geo_olm.plugin.workflow.topology import order
from geo_olm.tools.catalog import build_registry

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

REGISTRY = build_registry()
ROLES = agents()
BANK = bank(frozenset())
DEFINITIONS = {one.name: one for one in REGISTRY.definitions()}
GRAPHS = json.loads((RESOURCES / "workflows" / "graph_examples.json").read_text(encoding="utf-8"))


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
HOW_MANY = (UNDERSTOOD, plan(BIG, COUNT, answer="v2.count"))


# -- worked examples


def known(layers: list[str]) -> Known:
    return Known(DEFINITIONS, ROLES, {one: one for one in layers}, known_numbers(BANK))


def test_every_worked_example_is_a_graph_that_is_read_as_it_is_written() -> None:
    assert len(BANK.examples) >= 80
    for one in BANK.examples:
        calls = [Call(step.tool, step.arguments, step.result) for step in one.steps]
        form = form_of(calls, ROLES)
        draft = read(form, known(one.keys), one.question)
        if draft.rejected:
            continue
        assert draft.remarks == (), one.question
        assert len(order(draft.graph)) == len(form["tasks"])
        again = compact(draft.graph)
        for written in again["tasks"]:
            written.pop("after", None)
        assert again == form, one.question


def test_a_graphs_own_examples_take_only_what_the_tools_take() -> None:
    for one in GRAPHS["examples"]:
        for step in one["steps"]:
            if step["tool"] in FORMS:
                continue
            asked = {key: 300 for key in step["arguments"] if key == "distance"}
            tool, _ = REGISTRY.prepare(step["tool"], {**step["arguments"], **asked})
            given = list(step["arguments"])
            names = list(tool.definition.parameters["properties"])
            assert given == [name for name in names if name in given]


def test_every_worked_change_changes_its_graph_into_one_with_an_order() -> None:
    kinds = set()
    for one in GRAPHS["changes"]:
        layers = [line.partition(" (")[0] for line in one["layers"]]
        old = read(one, known(layers), one["question"]).graph
        change = change_of({"changes": one["changes"]}, old, known(layers))
        assert not change.is_empty
        assert order(applied(old, change))
        kinds |= {item["change"] for item in one["changes"]}
        for item in (*one["tasks"], *one["changes"]):
            if "tool" in item:
                REGISTRY.prepare(item["tool"], item["arguments"])
    assert kinds >= {"edit", "insert", "add", "remove"}


def test_the_numbers_that_tools_give_are_learnt_from_the_examples() -> None:
    found = known_numbers(BANK)
    assert found["count"] == ("count",)
    assert found["calculate"] == ("value",)
    assert "mean" in found["statistics"]
    assert found["layer_info"] == ()


# -- geo_olm:planworkflow


def run(project: QgsProject, server: FakeOpenAI, output: Path, **more: Any) -> tuple[Any, bool]:
    context, feedback = QgsProcessingContext(), QgsProcessingFeedback()
    context.setProject(project)
    inputs = {
        "QUESTION": "How many towns have more than 9 people?",
        "SERVER": "openai",
        "BASE_URL": server.address,
        "OUTPUT": str(output),
        **more,
    }
    results, done = PlanWorkflowAlgorithm().create().run(inputs, context, feedback)
    return results, done


def test_a_question_becomes_a_file_that_runs_without_any_server(
    project: QgsProject, tmp_path: Path
) -> None:
    path = tmp_path / "new folder" / "towns.geoflow.json"
    with FakeOpenAI(*HOW_MANY) as server:
        results, done = run(project, server, path)
    assert done
    assert results["OUTPUT"] == str(path)
    loaded = loads(path.read_bytes())
    assert (loaded.remarks, loaded.faults, loaded.graph.ids()) == ((), (), ("v1", "v2"))
    assert [(one.name, one.fields) for one in loaded.graph.sources] == [("towns", ("name", "pop"))]
    assert list(path.parent.iterdir()) == [path]
    records = [
        replay(loaded.graph, project, Settings(), {}, str(tmp_path), lambda event: None)
        for _ in range(2)
    ]
    assert [(one["status"], one["value"]) for one in records] == [("ok", 2)] * 2


def test_the_fields_that_hold_a_name_of_the_question_are_told_and_the_name_is_picked(
    project: QgsProject, tmp_path: Path
) -> None:
    path, question = tmp_path / "bath.geoflow.json", "How many people live in Bath?"
    total = task("v1", "table", "statistics", layer="towns", field="pop", statistic="sum")
    with FakeOpenAI(UNDERSTOOD, plan(total, answer="v1.sum")) as server:
        run(project, server, path, QUESTION=question)
        first, second = server.requests
    for request in (first, second):
        assert request["messages"][-1]["content"].endswith(
            f'Question: {question}\n"Bath" is a value of name of towns.'
        )
    (step,) = loads(path.read_bytes()).graph.vertices
    assert (step.parameters or {})["conditions"] == [{"field": "name", "op": "=", "value": "Bath"}]


def test_a_count_of_what_the_features_are_not_is_refused(
    project: QgsProject, tmp_path: Path
) -> None:
    count = plan(task("v1", "table", "count", layer="towns"), answer="v1.count")
    no = reply({"answer": "no"})
    with FakeOpenAI(UNDERSTOOD, count, no) as server:
        _, done = run(project, server, tmp_path / "a", QUESTION="How many hospitals are there?")
        asked = server.requests[-1]["messages"][-1]["content"]
    assert asked == "Look at towns again. Is each feature of towns one of the hospitals?"
    assert not done
    for question in ("How many towns are there?", "How many features are there?"):
        with FakeOpenAI(UNDERSTOOD, count) as server:
            assert run(project, server, tmp_path / "b", QUESTION=question)[1]


def test_the_name_of_the_file_gets_the_suffix_of_workflows(
    project: QgsProject, tmp_path: Path
) -> None:
    with FakeOpenAI(*HOW_MANY) as server:
        results, _ = run(project, server, tmp_path / "towns.json")
    assert results["OUTPUT"] == str(tmp_path / "towns.geoflow.json")


@pytest.mark.parametrize(
    "replies",
    [
        (UNDERSTOOD, *[said("I cannot.")] * 6),
        (UNDERSTOOD, plan(task("v1", "", "reject", reason="No roads."))),
        (UNDERSTOOD, said("{", finish="length"), *[said("{")] * 5),
        (reply({"NEEDS": "roads = none", "USER_INTENT": "Count", "layers": ["towns"]}),),
    ],
    ids=["no plan", "rejected", "cut", "missing"],
)  # fmt: skip
def test_where_there_is_no_plan_a_file_that_was_there_stays_as_it_was(
    project: QgsProject, tmp_path: Path, replies: tuple[Step, ...]
) -> None:
    path = tmp_path / "old.geoflow.json"
    path.write_text("mine", encoding="utf-8")
    with FakeOpenAI(*replies) as server:
        _, done = run(project, server, path)
    assert not done
    assert path.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.glob("*.part")) == []


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(
    project: QgsProject, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with FakeOpenAI(*HOW_MANY) as server:
        _, done = run(project, server, tmp_path / "file" / "towns.geoflow.json")
    assert not done


def test_a_project_without_layers_is_told(tmp_path: Path) -> None:
    with FakeOpenAI() as server, pytest.raises(PlanError, match="There are no layers"):
        plan_question("How many?", QgsProject(), settings_for(server), lambda event: None,
                      lambda: False)  # fmt: skip
