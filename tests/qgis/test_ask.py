# SPDX-License-Identifier: GPL-2.0-or-later
"""`geo_olm:ask` in the toolbox's way, in a batch, and through qgis_process, with a fake server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_case import HOW_MANY, WHICH_BIG, fill, settle, wait_until
from fake_openai import FakeOpenAI
from osgeo import ogr
from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsProcessingAlgorithm,
    QgsProcessingAlgRunnerTask,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProject,
    QgsVectorFileWriter,
)

from geo_olm.plugin.link import process_link
from geo_olm.plugin.provider import GeoOlmProvider
from geo_olm.plugin.question_algorithm import own_project

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

AWKWARD = 'How many "towns"; it\'s\n{simple} | 100 % $HOME?'


@pytest.fixture(autouse=True)
def no_models_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.setenv("GEO_OLM_SET_PLAN_FIRST", "0")
    monkeypatch.setenv("GEO_OLM_STORE", str(tmp_path / "store"))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    process_link.cache_clear()
    yield
    settle()
    process_link.cache_clear()


@pytest.fixture
def ask() -> Iterator[QgsProcessingAlgorithm]:
    registry = QgsApplication.processingRegistry()
    provider = GeoOlmProvider()
    registry.addProvider(provider)
    yield registry.algorithmById("geo_olm:ask")
    registry.removeProvider(provider)


@pytest.fixture
def project() -> Iterator[QgsProject]:
    made = fill(QgsProject())
    yield made
    made.clear()


@pytest.fixture
def towns(tmp_path: Path, project: QgsProject) -> Path:
    """Write the towns into a GeoPackage in a folder of its own."""
    path = tmp_path / "input data" / "towns.gpkg"
    path.parent.mkdir()
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.layerName = "towns"
    layer = project.mapLayersByName("towns")[0]
    done = QgsVectorFileWriter.writeAsVectorFormatV3(
        layer, str(path), project.transformContext(), options
    )
    assert done[0] == QgsVectorFileWriter.WriterError.NoError
    return path


def run(
    algorithm: QgsProcessingAlgorithm, project: QgsProject | None, **inputs: Any
) -> tuple[dict[str, Any], bool, QgsProcessingContext]:
    context, feedback = QgsProcessingContext(), QgsProcessingFeedback()
    if project is not None:
        context.setProject(project)
    results, done = algorithm.run(inputs, context, feedback)
    return results, done, context


def given(server: FakeOpenAI, **inputs: Any) -> dict[str, Any]:
    return {"QUESTION": "How many?", "SERVER": "openai", "BASE_URL": server.address, **inputs}


# -- in this process


def test_a_question_over_the_projects_layers_gives_answer_value_and_status(
    ask: QgsProcessingAlgorithm, project: QgsProject
) -> None:
    with FakeOpenAI(*HOW_MANY) as server:
        results, done, _context = run(ask, project, **given(server))
    assert done
    assert (results["ANSWER"], results["VALUE"], results["STATUS"]) == (
        "There are 3 towns.",
        3,
        "ok",
    )


def test_only_the_named_layers_are_seen(ask: QgsProcessingAlgorithm, project: QgsProject) -> None:
    layer = project.mapLayersByName("towns")[0]
    with FakeOpenAI(*HOW_MANY) as server:
        run(ask, project, **given(server, LAYERS=[layer.id()]))
        sent = server.requests[0]["messages"][-1]["content"]
    assert "towns" in sent
    assert "park" not in sent


def test_result_layers_are_handed_over_to_be_loaded(
    ask: QgsProcessingAlgorithm, project: QgsProject
) -> None:
    with FakeOpenAI(*WHICH_BIG) as server:
        results, done, context = run(ask, project, **given(server))
    assert done
    assert results["VALUE"] == 2
    loaded = context.layersToLoadOnCompletion()
    assert [details.project is project for details in loaded.values()] == [True]
    layer = context.temporaryLayerStore().mapLayer(next(iter(loaded)))
    assert layer.featureCount() == 2
    assert len(project.mapLayers()) == 2


def test_the_toolbox_runs_it_in_the_background(
    ask: QgsProcessingAlgorithm, project: QgsProject
) -> None:
    context, feedback = QgsProcessingContext(), QgsProcessingFeedback()
    context.setProject(project)
    ended: list[tuple[bool, dict[str, Any]]] = []
    with FakeOpenAI(*WHICH_BIG) as server:
        task = QgsProcessingAlgRunnerTask(ask, given(server), context, feedback)
        task.executed.connect(lambda done, results: ended.append((done, results)))
        QgsApplication.taskManager().addTask(task)
        wait_until(lambda: bool(ended))
    done, results = ended[0]
    assert done
    assert (results["STATUS"], results["VALUE"]) == ("ok", 2)
    assert len(context.layersToLoadOnCompletion()) == 1


def test_a_batch_answers_one_after_the_other(
    ask: QgsProcessingAlgorithm, project: QgsProject
) -> None:
    with FakeOpenAI(*HOW_MANY, *HOW_MANY) as server:
        statuses = [run(ask, project, **given(server))[0]["STATUS"] for _ in range(2)]
    assert statuses == ["ok", "ok"]


def test_the_inputs_of_the_project_are_untouched(
    ask: QgsProcessingAlgorithm, project: QgsProject
) -> None:
    before = sorted(project.mapLayers())
    with FakeOpenAI(*WHICH_BIG) as server:
        run(ask, project, **given(server))
    assert sorted(project.mapLayers()) == before


def test_the_record_is_written_as_json(
    ask: QgsProcessingAlgorithm, project: QgsProject, tmp_path: Path
) -> None:
    path = tmp_path / "record.json"
    with FakeOpenAI(*HOW_MANY) as server:
        run(ask, project, **given(server, QUESTION=AWKWARD, JSON=str(path)))
        assert AWKWARD in server.requests[0]["messages"][-1]["content"]
    record = json.loads(path.read_text(encoding="utf-8"))
    assert (record["question"], record["status"], record["value"]) == (AWKWARD, "ok", 3)


def test_an_answer_is_not_lost_where_its_record_cannot_be_written(
    ask: QgsProcessingAlgorithm, project: QgsProject, tmp_path: Path
) -> None:
    with FakeOpenAI(*HOW_MANY) as server:
        asked = given(server, JSON=str(tmp_path / "gone" / "record.json"))
        (tmp_path / "gone").write_text("a file where the folder should be")
        results, done, _context = run(ask, project, **asked)
    assert done
    assert (results["STATUS"], results["VALUE"]) == ("ok", 3)


def test_steps_and_seed_reach_the_run(ask: QgsProcessingAlgorithm, project: QgsProject) -> None:
    with FakeOpenAI(HOW_MANY[0], HOW_MANY[1]) as server:
        results, _done, _context = run(ask, project, **given(server, MAX_STEPS=2, SEED=99))
        seeds = {item.get("seed") for item in server.requests}
    assert results["STATUS"] == "failed"
    assert "within 2 steps" in results["ANSWER"]
    assert seeds == {99}


def test_an_empty_question_is_refused(ask: QgsProcessingAlgorithm, project: QgsProject) -> None:
    with FakeOpenAI() as server:
        _results, done, _context = run(ask, project, **given(server, QUESTION=" \n"))
    assert not done


@pytest.mark.parametrize("layers", [["/no/such.gpkg"], "/no/such.gpkg"])
def test_a_source_that_cannot_be_opened_is_told_before_a_model_is_asked(
    ask: QgsProcessingAlgorithm, project: QgsProject, layers: object
) -> None:
    with FakeOpenAI() as server:
        _results, done, _context = run(ask, project, **given(server, LAYERS=layers))
    assert not done


def test_a_file_with_several_layers_gives_them_all_by_their_names(
    ask: QgsProcessingAlgorithm, towns: Path
) -> None:
    second = ogr.Open(str(towns), 1)
    second.CreateLayer("rivers", geom_type=ogr.wkbLineString)
    del second
    with FakeOpenAI(*HOW_MANY) as server:
        run(ask, QgsProject(), **given(server, LAYERS=[str(towns)]))
        sent = server.requests[0]["messages"][-1]["content"]
    assert "- towns (3 " in sent
    assert "- rivers (0 lines" in sent


def test_one_layer_of_a_file_is_called_by_its_own_name(
    ask: QgsProcessingAlgorithm, towns: Path
) -> None:
    file = towns.rename(towns.with_name("all.gpkg"))
    with FakeOpenAI(*HOW_MANY) as server:
        run(ask, QgsProject(), **given(server, LAYERS=[f"{file}|layername=towns"]))
        sent = server.requests[0]["messages"][-1]["content"]
    assert "- towns (3 " in sent


def test_no_layers_at_all_is_a_rejection(ask: QgsProcessingAlgorithm) -> None:
    empty = QgsProject()
    with FakeOpenAI() as server:
        results, done, _context = run(ask, empty, **given(server))
    assert done
    assert results["STATUS"] == "rejected"


def test_a_server_that_is_down_is_a_status_and_not_an_exception(
    ask: QgsProcessingAlgorithm, project: QgsProject
) -> None:
    results, done, _context = run(
        ask, project, QUESTION="How many?", SERVER="openai", BASE_URL="http://127.0.0.1:9"
    )
    assert done
    assert results["STATUS"] == "failed"
    assert "127.0.0.1:9" in results["ANSWER"]


def test_a_wrong_model_is_told_with_those_that_are_there(
    ask: QgsProcessingAlgorithm, project: QgsProject
) -> None:
    with FakeOpenAI() as server:
        results, _done, _context = run(ask, project, **given(server, MODEL="gpt-99"))
    assert results["STATUS"] == "failed"
    assert "gpt-99" in results["ANSWER"]


def test_a_broken_model_file_is_told_by_name(
    ask: QgsProcessingAlgorithm, project: QgsProject, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and no more")
    program = tmp_path / "llama-server"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEO_OLM_SET_SERVER_PROGRAM", str(program))
        results, _done, _context = run(
            ask, project, QUESTION="How many?", SERVER="embedded", MODEL=str(broken)
        )
    assert results["STATUS"] == "failed"
    assert "broken.gguf" in results["ANSWER"]


def test_a_canceled_run_ends_as_cancelled(ask: QgsProcessingAlgorithm, project: QgsProject) -> None:
    context, feedback = QgsProcessingContext(), QgsProcessingFeedback()
    context.setProject(project)
    feedback.cancel()
    with FakeOpenAI() as server:
        results, _done = ask.run(given(server), context, feedback)
    assert results["STATUS"] == "cancelled"


# -- through qgis_process


def process(tmp_path: Path, inputs: dict[str, Any]) -> tuple[int, dict[str, Any], str]:
    """Run the algorithm as QGIS's own command does; return code, results and what was said."""
    environ = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QGIS_CUSTOM_CONFIG_PATH": os.environ["QGIS_PROFILES_PATH"],
        "GEO_OLM_STORE": str(tmp_path / "store"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        ["qgis_process", "run", "geo_olm:ask", "-"],
        input=json.dumps({"inputs": inputs}),
        capture_output=True,
        text=True,
        env=environ,
        timeout=90,
        check=False,
    )
    start = done.stdout.find("{")
    results = json.loads(done.stdout[start:])["results"] if start >= 0 else {}
    return done.returncode, results, done.stdout + done.stderr


needs_process = pytest.mark.skipif(
    not shutil.which("qgis_process") or "QGIS_PROFILES_PATH" not in os.environ,
    reason="needs qgis_process and the project's own profile",
)


@needs_process
def test_qgis_process_answers_and_leaves_the_inputs_as_they_were(
    tmp_path: Path, towns: Path
) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in towns.parent.iterdir()}
    content = towns.read_bytes()
    record = tmp_path / "a record.json"
    with FakeOpenAI(*WHICH_BIG) as server:
        inputs = given(
            server, QUESTION=AWKWARD, LAYERS=[f"{towns}|layername=towns"], JSON=str(record)
        )
        code, results, said = process(tmp_path, inputs)
    assert code == 0, said
    assert (results["STATUS"], results["VALUE"]) == ("ok", 2)
    assert json.loads(record.read_text(encoding="utf-8"))["question"] == AWKWARD
    assert {path.name: path.stat().st_mtime_ns for path in towns.parent.iterdir()} == before
    assert towns.read_bytes() == content


@needs_process
def test_qgis_process_tells_a_source_that_is_not_there(tmp_path: Path) -> None:
    with FakeOpenAI() as server:
        code, _results, said = process(tmp_path, given(server, LAYERS=["/no/such.gpkg"]))
    assert code != 0
    assert "could not be opened" in said


@needs_process
def test_qgis_process_tells_a_server_that_is_down(tmp_path: Path, towns: Path) -> None:
    inputs = {
        "QUESTION": "How many?",
        "LAYERS": [str(towns)],
        "SERVER": "openai",
        "BASE_URL": "http://127.0.0.1:9",
    }
    code, results, said = process(tmp_path, inputs)
    assert code == 0, said
    assert results["STATUS"] == "failed"
    assert "Traceback" not in said


def test_areas_are_on_the_ellipsoid_where_the_project_has_no_crs(project: QgsProject) -> None:
    bare = QgsProject()
    bare.setCrs(QgsCoordinateReferenceSystem())
    made = own_project(list(project.mapLayers().values()), bare)
    assert made.crs().isValid()
    assert made.ellipsoid() == "EPSG:7030"
    made.clear()
    bare.clear()
