# SPDX-License-Identifier: GPL-2.0-or-later
"""Methods over real tools in the harness, with the scripted model of faults in place of a model;
servers that end and disks that fill up."""

from __future__ import annotations

import errno
import json
import os
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_openai import DONE, FakeOpenAI, chunk, counts, said, stream
from qgis.core import QgsApplication
from record_case import record_of
from scripted_server import Step

from geo_olm.plugin.agent.event import RunFinished, StageChanged, Status
from geo_olm.plugin.evaluation import contest, harness
from geo_olm.plugin.evaluation.harness import Harness, Plan
from geo_olm.plugin.evaluation.method import MethodError, methods_named
from geo_olm.plugin.evaluation.result import ResultFile
from geo_olm.plugin.evaluation.rival import example, team
from geo_olm.plugin.evaluation.rival.catalog import RIVALS
from geo_olm.plugin.evaluation.rival.thread import listed, shortened
from geo_olm.plugin.evaluation.task import CHAINS, Task, read_tasks
from geo_olm.plugin.llm.base import ServerDown
from geo_olm.plugin.place import RESOURCES
from geo_olm.plugin.settings import Settings
from geo_olm.tools import schema
from geo_olm.tools.catalog import build_registry

TASKS = RESOURCES / "evaluation" / "world_tasks.json"
SHARED = Path(__file__).resolve().parents[3] / "shared"
pytestmark = pytest.mark.usefixtures("qgis_processing")


def tasks(*ids: str) -> tuple[Task, ...]:
    found = read_tasks(TASKS).tasks
    return tuple(task for task in found if not ids or task.id in ids)


def runs(
    out: Path, names: str, model: str, chosen: tuple[Task, ...], **more: Any
) -> list[dict[str, Any]]:
    settings = Settings(model=model)
    made = tuple(methods_named(names, settings))
    data = more.pop("data", TASKS.parent)
    plan = Plan(chosen, made, data, out, asked=model, token_cap=0, **more)
    return ResultFile(Harness(plan).run()).runs


def wrong(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {f"{run['task']} {run['method']}": run["reasons"] for run in found if not run["success"]}


def test_every_reference_chain_of_the_world_tasks_answers_its_question(tmp_path: Path) -> None:
    each = [
        replace(task, id=f"{task.id}-{place}", chains=(chain,))
        for task in tasks()
        for place, chain in enumerate(task.chains)
    ]
    found = runs(tmp_path, "react", "faults:0", tuple(each))
    assert len(found) == 12
    assert wrong(found) == {}
    assert {run["correctness_paper"] for run in found} == {1.0}
    assert {run["correctness_released"] for run in found} == {1.0}


def test_every_method_answers_over_real_tools_when_the_model_makes_no_fault(tmp_path: Path) -> None:
    names = ",".join(["geo-olm", *RIVALS])
    found = runs(tmp_path, names, "faults:0", tasks("W05", "W09"))
    assert len(found) == 2 * (1 + len(RIVALS))
    assert wrong(found) == {}
    assert {run["model"] for run in found} == {"faults 0 (no model)"}


def test_variants_run_under_their_own_names(tmp_path: Path) -> None:
    names = "react+chat,squad+chat,react-errtrm+text,geo-olm+hint,stateflow+hint"
    found = runs(tmp_path, names, "faults:0", tasks("W05"))
    assert wrong(found) == {}
    assert sorted(run["method"] for run in found) == sorted(names.split(","))


def test_grounded_decoding_bears_faults_that_text_does_not(tmp_path: Path) -> None:
    kinds = "faults:malformed=0.5 wrong_argument=0.3"
    found = runs(tmp_path, "geo-olm,chameleon", kinds, tasks("W03", "W05", "W06"))
    right = dict.fromkeys(("geo-olm", "chameleon"), 0)
    for run in found:
        right[run["method"]] += run["success"]
    assert right["geo-olm"] == 3
    assert right["chameleon"] < 3


def test_a_task_without_a_chain_is_no_task_for_the_model_of_faults(tmp_path: Path) -> None:
    (one,) = tasks("W01")
    (found,) = runs(tmp_path, "react", "faults:0", (replace(one, chains=()),))
    assert not found["success"]
    assert "needs a task with a reference chain" in found["error"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("geoflow+hint", "It has none"),
        ("geo-olm+chat", r"Known are geo-olm\+filter, geo-olm\+hint, geo-olm\+states"),
        ("react+hint", r"Known are react\+chat, react\+text"),
        ("swarm+chat", "It has none"),
        ("magic", "Unknown method: magic"),
        (" , ", "no name"),
    ],
)
def test_methods_that_are_not_there_are_told_with_those_that_are(names: str, said: str) -> None:
    with pytest.raises(MethodError, match=said):
        methods_named(names, Settings())


COUNT = {"layer": "states_provinces", "where": "\"admin\" = 'Turkey'"}
ANSWER = {"value": "r1.count"}


def acted(tool: str, arguments: dict[str, Any]) -> Step:
    call = json.dumps({"tool": tool, "arguments": arguments})
    return said("Thought: next.\n", f"Action: {call}")


def called(tool: str, arguments: dict[str, Any], identity: str) -> Step:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": identity, "type": "function", "function": function}
    return stream([chunk(tool_calls=[call]), chunk("tool_calls"), counts(50, 9, 40), DONE])


TEXT = (acted("count", COUNT), acted("answer", ANSWER))
NATIVE = (called("count", COUNT, "abcdefgh1"), called("answer", ANSWER, "abcdefgh2"))


@pytest.mark.parametrize(("name", "steps"), [("react", TEXT), ("react+chat", NATIVE)])
def test_a_method_asks_a_server_in_text_or_by_the_chat_api(
    tmp_path: Path, name: str, steps: tuple[Step, ...]
) -> None:
    with FakeOpenAI(*steps, models=["qwen2.5-1.5b-q4_k_m"]) as server:
        settings = Settings(server="openai", address=f"{server.address}/v1", run_tokens=6000)
        plan = Plan(
            tasks("W01"), tuple(methods_named(name, settings)), TASKS.parent, tmp_path, seed=4
        )
        (found,) = ResultFile(Harness(plan).run()).runs
    assert (found["reasons"], found["value"], found["method"]) == ([], 81, name)
    assert (found["model"], found["size"]) == ("qwen2.5-1.5b-q4_k_m", "1.5B")
    assert (found["quantisation"], found["server"]) == ("Q4_K_M", "openai")
    assert found["tokens"]["prompt"] == sum((20, 20) if name == "react" else (50, 50))
    first, second = server.requests
    assert ("tools" in first) is (name == "react+chat")
    assert {first["seed"], second["seed"]} == {5}
    roles = [message["role"] for message in second["messages"][-2:]]
    assert roles == ["assistant", "user" if name == "react" else "tool"]


class Down:
    """A server that answers while a run begins and has ended when it is looked for."""

    def __init__(self) -> None:
        self.asked = 0

    def speaker(self, *_: Any) -> Any:
        self.asked += 1
        if self.asked > 1:
            raise ServerDown("No server answers.")
        return self

    def card(self) -> Any:
        from geo_olm.plugin.llm.base import ModelCard, Server

        return ModelCard("qwen", Server.OPENAI, "http://127.0.0.1:1", 8192)

    def choose(self, *_: Any) -> Any:
        raise ServerDown("The connection broke.")

    write = choose

    def estimate(self, messages: Any) -> int:
        return 0

    def note(self, event: Any) -> None:
        pass


def test_a_server_that_ends_in_a_run_stops_the_evaluation_to_be_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs(tmp_path, "react", "faults:0", tasks("W01"))
    monkeypatch.setattr(contest, "ModelSource", Down)
    with pytest.raises(ServerDown):
        runs(tmp_path, "react", "", tasks("W01", "W02"))
    kept = ResultFile(tmp_path / "results.json").runs
    assert [(run["task"], run["success"]) for run in kept] == [("W01", True)]


class Four:
    """A method of one answer."""

    name = "four"

    def __init__(self, status: str = "ok") -> None:
        self._status = status

    def answer(
        self, question: str, project: Any, folder: Path, seed: int, note: Any, ended: Any
    ) -> dict[str, Any]:
        note(StageChanged("Load"))
        note(RunFinished(Status(self._status), "4"))
        return record_of(status=self._status, value=81)


def four(out: Path, status: str = "ok") -> list[dict[str, Any]]:
    plan = Plan(tasks("W01"), (Four(status),), TASKS.parent, out)
    return ResultFile(Harness(plan).run()).runs


def test_a_disk_that_is_full_stops_the_evaluation_and_a_later_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        usage = namedtuple("usage", "total used free")
        patch.setattr(harness.shutil, "disk_usage", lambda path: usage(10, 10, 0))
        with pytest.raises(OSError, match=r"No space left") as caught:
            four(tmp_path, "failed")
    assert caught.value.errno == errno.ENOSPC
    assert not (tmp_path / "results.json").exists()
    assert [run["success"] for run in four(tmp_path)] == [True]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_events_that_cannot_be_written_stop_the_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = Harness._fresh_folder

    def full(self: Harness, *given: Any) -> Path:
        folder = fresh(self, *given)
        (folder / "events.jsonl").symlink_to("/dev/full")
        return folder

    monkeypatch.setattr(Harness, "_fresh_folder", full)
    with pytest.raises(OSError, match=r"No space left"):
        four(tmp_path)
    assert not (tmp_path / "results.json").exists()


def test_examples_of_the_rivals_are_calls_that_the_tools_take() -> None:
    registry = build_registry()
    for worked in example.load(RESOURCES / "evaluation" / "examples.json").examples:
        for step in worked.example.steps:
            tool = registry.find(step.tool)
            assert tool.definition.name == step.tool
            schema.coerce(tool.definition.parameters, dict(step.arguments))


def test_agents_of_the_team_have_tools_that_are_there_and_each_tool_has_an_agent() -> None:
    names = {one.name for one in build_registry().definitions()}
    agents = team.load(RESOURCES / "evaluation" / "team.json")
    assert {tool for one in agents.members for tool in one.tools} <= names
    nobody = {name for name in names if not agents.owner(name)}
    assert nobody == {"answer", "reject", "undo"}


def test_the_table_of_same_calls_names_tools_algorithms_and_arguments_that_are_there() -> None:
    known = {one.name: one.parameters["properties"] for one in build_registry().definitions()}
    registry = QgsApplication.processingRegistry()
    table = json.loads((RESOURCES / "evaluation" / "same_calls.json").read_text(encoding="utf-8"))
    for tool, row in table["tools"].items():
        found = [registry.algorithmById(name) for name in row["algorithms"]]
        assert all(found), tool
        assert set(row["arguments"]) <= set(known[tool]), tool
        for name in row["arguments"].values():
            assert any(one.parameterDefinition(name) for one in found), (tool, name)


def test_all_tools_fit_into_half_of_a_small_models_context() -> None:
    definitions = build_registry().definitions()
    native = json.dumps(
        [[one.name, one.description, one.parameters] for one in shortened(definitions, 8192)]
    )
    assert len(native) / 3.2 < 8192 * 0.6
    assert len(listed(definitions)) / 3.2 < 8192 * 0.4


@pytest.mark.shared
def test_chains_and_gold_of_gis_dev_answer_their_questions_and_score_one(tmp_path: Path) -> None:
    path = SHARED / "tasks" / "gis_dev.json"
    own = tuple(task for task in read_tasks(path).tasks if task.chains)
    assert len(own) == len(json.loads(CHAINS.read_text(encoding="utf-8"))["chains"]["gis_dev"])
    own = own if os.environ.get("GEO_OLM_LONG") == "1" else own[::5]
    found = runs(tmp_path, "react,gold", "faults:0", own, data=SHARED / "data")
    assert wrong(found) == {}
    assert {run["correctness_paper"] for run in found} == {1.0}
    assert {run["correctness_released"] for run in found} == {1.0}
