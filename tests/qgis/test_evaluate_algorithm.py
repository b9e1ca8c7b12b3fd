# SPDX-License-Identifier: GPL-2.0-or-later
"""The evaluate algorithm: its parameters, its lines, and one sentence where it cannot start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from graded_data import squares, written
from qgis.core import (
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProject,
)
from record_case import record_of

from geo_olm.plugin.agent.event import RunFinished, Status
from geo_olm.plugin.evaluation import contest, method
from geo_olm.plugin.evaluation.algorithm import EvaluateAlgorithm, run_line, summary_line
from geo_olm.plugin.evaluation.errand import spun
from geo_olm.plugin.evaluation.method import TalkingMethod, methods_named
from geo_olm.plugin.evaluation.outcome import Grade
from geo_olm.plugin.evaluation.result import entry, summary
from geo_olm.plugin.llm.base import ModelCard, ModelError, NoModel, Server
from geo_olm.plugin.settings import Settings


class Lines(QgsProcessingFeedback):
    """Gathers what the algorithm says."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def pushInfo(self, info: str) -> None:
        self.said.append(info)


class FourMethod:
    """Answers four, and tells which settings it was made with."""

    name = "four"
    made_with: ClassVar[list[Settings]] = []

    def __init__(self, settings: Settings) -> None:
        self.made_with.append(settings)

    def answer(self, *_: Any) -> dict[str, Any]:
        return record_of(value=4, tokens={"prompt": 1200, "evaluated": 300, "generated": 4})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(method.METHODS, "four", FourMethod)
    FourMethod.made_with.clear()
    (tmp_path / "data").mkdir()
    (tmp_path / "tasks").mkdir()
    written(squares(), tmp_path / "data" / "squares.gpkg")
    layers = [{"name": "squares", "source": "squares.gpkg"}]
    tasks = [
        {"id": "T1", "question": "a?", "layers": layers, "expect": {"number": {"value": 4}}},
        {"id": "T2", "question": "b?", "layers": layers, "expect": {"number": {"value": 5}}},
    ]
    (tmp_path / "tasks" / "t.json").write_text(json.dumps({"tasks": tasks}), encoding="utf-8")
    return tmp_path


def evaluate(folder: Path, **parameters: Any) -> tuple[dict[str, Any], list[str]]:
    algorithm = EvaluateAlgorithm().create()
    lines = Lines()
    given = {"TASKS": str(folder / "tasks" / "t.json"), "OUT": str(folder / "out"), **parameters}
    results = algorithm.processAlgorithm(given, QgsProcessingContext(), lines)
    return results, lines.said


def test_it_has_the_parameters_of_the_command() -> None:
    algorithm = EvaluateAlgorithm().create()
    names = {item.name() for item in algorithm.parameterDefinitions()}
    assert names >= {
        *("TASKS", "DATA", "METHODS", "MODEL", "SERVER", "REPEATS", "OUT", "IDS", "ENDPOINTS")
    }
    assert [item.name() for item in algorithm.outputDefinitions() if item.name() == "RESULTS"]
    assert algorithm.flags() & QgsProcessingAlgorithm.Flag.FlagNoThreading


def test_it_runs_a_task_file_and_says_a_line_for_each_run(folder: Path) -> None:
    results, said = evaluate(folder, METHODS="four")
    assert said[0] == "T1 four 1: right, 4, 0.0 s, 1,204 tokens"
    assert said[1].startswith("T2 four 1: wrong, 4, 0.0 s, 1,204 tokens (the value is 4")
    assert said[2].startswith("four: 1 of 2 right (50%)")
    document = json.loads(Path(results["RESULTS"]).read_text(encoding="utf-8"))
    assert document["summary"]["four"]["success"] == 0.5


def test_only_the_named_tasks_are_run(folder: Path) -> None:
    _, said = evaluate(folder, METHODS="four", IDS="T2", REPEATS=2)
    assert [line.split(":")[0] for line in said] == ["T2 four 1", "T2 four 2", "four"]


def test_model_and_server_reach_the_method(folder: Path) -> None:
    evaluate(folder, METHODS="four", MODEL="qwen; rm", SERVER="openai")
    (settings,) = FourMethod.made_with
    assert (settings.model, settings.server) == ("qwen; rm", "openai")
    assert settings.run_tokens == 6000


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"METHODS": "magic"}, "Unknown method: magic"),
        ({"METHODS": "four", "IDS": "T9"}, "No such task: T9"),
        ({"METHODS": "four", "DATA": "/nowhere"}, "No data folder"),
        ({"METHODS": "four", "TASKS": "/nowhere.json"}, "cannot be read"),
    ],
)
def test_what_cannot_start_is_told_in_a_sentence(
    folder: Path, parameters: dict[str, Any], said: str
) -> None:
    with pytest.raises(QgsProcessingException, match=said):
        evaluate(folder, **parameters)


def test_a_line_without_a_value_has_none() -> None:
    judged = Grade(True)
    run = entry(("D06", "geo-olm", 2), "", record_of(), judged, [], "")
    assert run_line(run) == "D06 geo-olm 2: right, 0.0 s, 0 tokens"
    assert "1 of 1 right (100%)" in summary_line("geo-olm", summary([run])["geo-olm"])


class Silent:
    """Where no model replies: `fault` is raised where one is looked for."""

    fault: ModelError | None = None
    asked_with: ClassVar[list[Settings]] = []

    def speaker(self, settings: Settings, *_: Any) -> Silent:
        self.asked_with.append(settings)
        if Silent.fault is not None:
            raise Silent.fault
        return self

    def card(self) -> ModelCard:
        return ModelCard("m", Server.OPENAI, "http://127.0.0.1:1", 8192)

    def note(self, event: Any) -> None:
        pass


def test_the_plugins_own_method_hands_all_on_and_tells_when_there_is_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    class Said:
        def __init__(self, *made: Any) -> None:
            asked.append(made[-1])

        def answer(self, chat: Any, question: str, emit: Any, stopped: Any) -> None:
            asked.append(question)
            emit(RunFinished(Status.OK, "4", 4.0))

    monkeypatch.setattr(contest, "Answerer", Said)
    monkeypatch.setattr(contest, "ModelSource", Silent)
    monkeypatch.setattr(Silent, "fault", None)
    (made,) = methods_named("geo-olm", Settings(model="m", seed=1))
    assert isinstance(made, TalkingMethod)
    talk = made.talk(QgsProject(), tmp_path, 42)
    heard: list[Any] = []
    record = spun(talk.ask("How many?", heard.append, lambda: False))
    assert (record["status"], record["value"], record["model"]["name"]) == ("ok", 4.0, "m")
    given = Settings(model="m", seed=42, output_folder=str(tmp_path))
    assert (asked, Silent.asked_with) == ([given, "How many?"], [given])
    assert [type(event) for event in heard] == [RunFinished]
    monkeypatch.setattr(Silent, "fault", NoModel("No model."))
    with pytest.raises(NoModel, match="No model"):
        spun(talk.ask("How many?", heard.append, lambda: False))
    talk.close()
