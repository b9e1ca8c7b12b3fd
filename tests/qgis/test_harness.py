# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of scripted methods over small tasks: what is kept, counted, resumed and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graded_data import graduated, raster, squares, written
from osgeo import gdal
from qgis.core import QgsFeature, QgsProject, QgsRasterLayer, QgsVectorLayer
from record_case import record_of

from geo_olm.plugin.agent.event import CallFinished, StageChanged, TokensUsed
from geo_olm.plugin.evaluation.harness import Harness, Plan, chosen
from geo_olm.plugin.evaluation.method import MethodError, methods_named
from geo_olm.plugin.evaluation.source import (
    SourceError,
    data_folder,
    open_project,
    question_of,
    resolved,
)
from geo_olm.plugin.evaluation.task import Task, TaskLayer
from geo_olm.plugin.llm.base import ServerDown, Usage
from geo_olm.plugin.settings import Settings

Answer = Callable[..., dict[str, Any]]


class Scripted:
    """A method whose answer is a function."""

    def __init__(self, answer: Answer, name: str = "scripted") -> None:
        self.name = name
        self.calls = 0
        self._answer = answer

    def answer(self, *given: Any) -> dict[str, Any]:
        self.calls += 1
        return self._answer(*given)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    written(squares(), folder / "squares.gpkg")
    written(squares(), folder / "squares.shp", "ESRI Shapefile")
    raster(folder / "cells.tif", [[1.0, 2.0]])
    return folder


def task(
    name: str = "T1", source: str = "squares.gpkg", expect: Any = None, opened: bool = True
) -> Task:
    layers = (TaskLayer("squares", source, opened),)
    return Task(name, f"What of {name}?", layers, expect or {"number": {"value": 4}})


def plan(data: Path, method: Scripted, *tasks: Task, **more: Any) -> Plan:
    return Plan(tasks or (task(),), (method,), data, data.parent / "out", **more)


def run(made: Plan, **more: Any) -> list[dict[str, Any]]:
    path = Harness(made, **more).run()
    return list(json.loads(path.read_text(encoding="utf-8"))["runs"])


def four(*_: Any) -> dict[str, Any]:
    return record_of(value=4, answer="4", tokens={"prompt": 90, "evaluated": 40, "generated": 9})


def layer_named(project: QgsProject, name: str) -> Any:
    return project.mapLayersByName(name)[0]


def test_a_right_and_a_wrong_answer_are_told_apart(data: Path) -> None:
    second = task("T2", expect={"number": {"value": 5}})
    first, other = run(plan(data, Scripted(four), task(), second))
    assert (first["task"], first["success"], first["reasons"]) == ("T1", True, [])
    assert (other["task"], other["success"]) == ("T2", False)
    assert other["reasons"] == ["the value is 4 instead of 5"]
    assert first["tokens"]["prompt"] == 90


def test_each_run_has_a_project_of_its_own(data: Path) -> None:
    seen = []

    def look(question: str, project: QgsProject, *_: Any) -> dict[str, Any]:
        seen.append((project, [item.name() for item in project.mapLayers().values()]))
        project.addMapLayer(squares())
        return four()

    own = QgsProject.instance()
    before = set(own.mapLayers())
    run(plan(data, Scripted(look), repeats=2))
    assert [names for _, names in seen] == [["squares"], ["squares"]]
    assert all(project is not own for project, _ in seen)
    assert set(own.mapLayers()) == before


def test_the_project_has_the_ellipsoid_and_read_only_layers(data: Path) -> None:
    project = open_project(task(), data)
    assert project.ellipsoid() == "EPSG:7030"
    assert project.crs().authid() == "EPSG:32631"
    layer = layer_named(project, "squares")
    assert not layer.startEditing()
    project.clear()


def test_everything_that_a_run_made_is_kept(data: Path) -> None:
    def work(question: str, project: QgsProject, folder: Path, *_: Any) -> dict[str, Any]:
        made = squares(3)
        made.setName("three: squares/new")
        graduated(made, "POP", 3)
        project.addMapLayer(made)
        project.addMapLayer(QgsRasterLayer(raster(folder.parent / "t.tif", [[7.0]]), "seven"))
        graduated(layer_named(project, "squares"), "POP", 2)
        inside, outside = folder / "note.txt", data.parent / "outside.csv"
        inside.write_text("a", encoding="utf-8")
        outside.write_text("a,b\n1,2\n", encoding="utf-8")
        return record_of(files=[str(inside), str(outside)])

    expect = {
        "layer": {"feature_count": 3},
        "raster": {"mean": 7},
        "style": {"renderer": "graduated", "field": "POP", "classes": 2},
        "file": {"driver": "CSV"},
    }
    (found,) = run(plan(data, Scripted(work), task(expect=expect)))
    assert found["reasons"] == []
    folder = data.parent / "out" / "runs" / "T1.scripted.1"
    kept = {
        (item["kind"], str(Path(item["path"]).relative_to(folder))) for item in found["outputs"]
    }
    assert kept == {
        ("layer", "layers/three_ squares_new.gpkg"),
        ("raster", "rasters/seven.tif"),
        ("style", "styles/three_ squares_new.qml"),
        ("style", "styles/squares.qml"),
        ("style", "styles/seven.qml"),
        ("file", "files/note.txt"),
        ("file", "files/outside.csv"),
    }
    assert all(Path(item["path"]).is_file() for item in found["outputs"])
    assert (folder / "record.json").is_file()


def test_a_layer_with_equal_fids_is_kept_whole(data: Path) -> None:
    def work(question: str, project: QgsProject, *_: Any) -> dict[str, Any]:
        layer = QgsVectorLayer("NoGeometry?field=fid:integer&field=a:string", "t", "memory")
        for text in "ab":
            feature = QgsFeature(layer.fields())
            feature.setAttributes([1, text])
            layer.dataProvider().addFeature(feature)
        project.addMapLayer(layer)
        return record_of()

    expect = {"layer": {"feature_count": 2, "fields_include": ["fid", "a"]}}
    (found,) = run(plan(data, Scripted(work), task(expect=expect)))
    assert found["reasons"] == []


def test_an_untouched_input_is_no_output(data: Path) -> None:
    (found,) = run(plan(data, Scripted(four)))
    assert found["outputs"] == []


def test_a_file_that_was_promised_and_not_written_fails_the_run(data: Path) -> None:
    (found,) = run(plan(data, Scripted(lambda *_: {**four(), "files": ["/nowhere/a.csv"]})))
    assert not found["success"]
    assert "a.csv" in found["error"]


def test_events_are_kept_as_json_lines(data: Path) -> None:
    def work(
        question: str, project: QgsProject, folder: Path, seed: int, note: Any, *_: Any
    ) -> Any:
        note(StageChanged("Load", "count"))
        return four()

    run(plan(data, Scripted(work)))
    text = (data.parent / "out/runs/T1.scripted.1/events.jsonl").read_text(encoding="utf-8")
    assert json.loads(text)["stage"] == "Load"


def test_a_method_that_crashes_counts_as_failed_and_leaves_its_trace(data: Path) -> None:
    def crash(
        question: str, project: QgsProject, folder: Path, seed: int, note: Any, *_: Any
    ) -> Any:
        note(TokensUsed(Usage(10, 0, 10, 5), 8192, 0.5))
        note(CallFinished("c", "count", {}, True, "", 0.1))
        raise KeyError("towns")

    first, second = run(plan(data, Scripted(crash), task(), task("T2")))
    assert (first["success"], first["status"], second["task"]) == (False, "failed", "T2")
    assert first["error"] == "KeyError: 'towns'"
    assert first["tokens"]["evaluated"] == 10
    assert [call["tool"] for call in first["calls"]] == ["count"]
    trace = (data.parent / "out/runs/T1.scripted.1/trace.txt").read_text(encoding="utf-8")
    assert "raise KeyError" in trace


def test_a_run_over_the_token_cap_is_ended_and_fails(data: Path) -> None:
    reached = []

    def spend(question: str, project: Any, folder: Path, seed: int, note: Any, ended: Any) -> Any:
        reached.append(ended())
        note(TokensUsed(Usage(6001, 0, 6001, 5), 8192, 0.5))
        reached.append(ended())
        return record_of(status="cancelled", tokens={"evaluated": 6001})

    (found,) = run(plan(data, Scripted(spend)))
    assert (found["success"], found["status"], reached) == (False, "failed", [False, True])
    assert found["error"] == "More than 6000 evaluated tokens."
    assert found["tokens"]["evaluated"] == 6001


def test_a_record_over_the_cap_fails_although_no_event_told(data: Path) -> None:
    method = Scripted(lambda *_: {**four(), "tokens": {"evaluated": 101}})
    (found,) = run(plan(data, method, token_cap=100))
    assert not found["success"]
    assert "100 evaluated tokens" in found["error"]


def test_finished_runs_are_not_run_again(data: Path) -> None:
    first = Scripted(four)
    run(plan(data, first, task()))
    again = Scripted(four)
    found = run(plan(data, again, task(), task("T2"), repeats=2))
    assert again.calls == 3
    assert [(item["task"], item["repeat"]) for item in found] == [
        ("T1", 1),
        ("T2", 1),
        ("T1", 2),
        ("T2", 2),
    ]


def test_another_model_is_run_again(data: Path) -> None:
    run(plan(data, Scripted(four), asked="a"))
    again = Scripted(four)
    run(plan(data, again, asked="b"))
    assert again.calls == 1


def test_repeats_differ_in_their_seed(data: Path) -> None:
    seeds = []

    def note_seed(question: str, project: QgsProject, folder: Path, seed: int, *_: Any) -> Any:
        seeds.append(seed)
        return four()

    run(plan(data, Scripted(note_seed), repeats=3, seed=10))
    assert seeds == [11, 12, 13]


def test_a_stop_keeps_finished_runs_and_drops_the_one_in_progress(data: Path) -> None:
    stopped = []

    def work(question: str, project: Any, folder: Path, seed: int, note: Any, ended: Any) -> Any:
        if "T2" in question:
            stopped.append(True)
        return record_of(status="cancelled") if ended() else four()

    made = plan(data, Scripted(work), task(), task("T2"), task("T3"))
    found = run(made, cancelled=lambda: bool(stopped))
    assert [item["task"] for item in found] == ["T1"]
    rest = Scripted(four)
    found = run(plan(data, rest, task(), task("T2"), task("T3")))
    assert rest.calls == 2
    assert [item["task"] for item in found] == ["T1", "T2", "T3"]


def test_an_ended_server_stops_the_evaluation_without_a_false_failure(data: Path) -> None:
    def down(*_: Any) -> Any:
        raise ServerDown("No server answers.")

    with pytest.raises(ServerDown):
        run(plan(data, Scripted(down)))
    assert not (data.parent / "out" / "results.json").exists()


def state(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_inputs_stay_as_they_are_and_nothing_appears_beside_them(data: Path) -> None:
    def read(question: str, project: QgsProject, *_: Any) -> dict[str, Any]:
        for layer in project.mapLayers().values():
            if isinstance(layer, QgsRasterLayer):
                dataset = gdal.Open(layer.source())
                dataset.GetRasterBand(1).ComputeStatistics(False)
            else:
                list(layer.getFeatures())
        return four()

    before = state(data)
    option = gdal.GetConfigOption("GDAL_PAM_ENABLED")
    sources = ["squares.gpkg", "squares.shp", "cells.tif"]
    tasks = [task(f"T{number}", source) for number, source in enumerate(sources)]
    found = run(plan(data, Scripted(read), *tasks))
    assert len(found) == 3
    assert all(item["success"] for item in found)
    assert state(data) == before
    assert gdal.GetConfigOption("GDAL_PAM_ENABLED") == option


def test_a_run_that_leaves_a_file_beside_its_input_fails(data: Path) -> None:
    def litter(*_: Any) -> dict[str, Any]:
        (data / "cells.tif.aux.xml").write_text("<a/>", encoding="utf-8")
        return four()

    (found,) = run(plan(data, Scripted(litter)))
    assert not found["success"]
    assert "cells.tif.aux.xml" in found["error"]


def test_missing_data_are_told_before_anything_runs(data: Path) -> None:
    method = Scripted(four)
    with pytest.raises(SourceError, match=r"T2: squares: .*gone\.gpkg"):
        run(plan(data, method, task(), task("T2", "gone.gpkg")))
    assert method.calls == 0


def test_data_that_cannot_be_opened_fail_their_run_alone(data: Path) -> None:
    (data / "broken.gpkg").write_text("no database", encoding="utf-8")
    first, second = run(plan(data, Scripted(four), task("T1", "broken.gpkg"), task("T2")))
    assert "cannot be opened" in first["error"]
    assert first["tokens"]["prompt"] == 0
    assert second["success"]


def test_a_file_to_look_into_is_named_in_the_question(data: Path) -> None:
    inside = task(opened=False)
    assert question_of(inside, data).endswith(f"File squares: {data / 'squares.gpkg'}")
    project = open_project(inside, data)
    assert project.mapLayers() == {}


def test_sources_are_resolved(tmp_path: Path) -> None:
    assert resolved("a b/c.gpkg|layername=x", tmp_path)[0] == f"{tmp_path}/a b/c.gpkg|layername=x"
    netcdf = resolved('NETCDF:"real/t.nc":tas', tmp_path)
    assert netcdf == (f'NETCDF:"{tmp_path}/real/t.nc":tas', tmp_path / "real" / "t.nc")
    source, path = resolved("qgis:world_map.gpkg|layername=countries", tmp_path)
    assert path.name == "world_map.gpkg"
    assert path.is_file()
    assert source == f"{path}|layername=countries"


def test_the_data_folder_is_the_given_one_or_lies_beside_the_tasks(tmp_path: Path) -> None:
    tasks = tmp_path / "sets" / "tasks.json"
    (tmp_path / "sets").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "other").mkdir()
    assert data_folder(tasks) == tmp_path / "data"
    assert data_folder(tasks, str(tmp_path / "other")) == tmp_path / "other"
    with pytest.raises(SourceError, match="DATA"):
        data_folder(tasks, str(tmp_path / "gone"))


def test_only_the_named_tasks_are_run() -> None:
    tasks = (task("T1"), task("T2"), task("T3"))
    assert [item.id for item in chosen(tasks, "T3, T1")] == ["T1", "T3"]
    assert chosen(tasks, "") == tasks
    with pytest.raises(ValueError, match="T9"):
        chosen(tasks, "T1,T9")


def test_an_unknown_method_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(MethodError, match=r"magic.*geo-olm"):
        methods_named("geo-olm,magic", Settings())
    assert [item.name for item in methods_named("geo-olm, geo-olm", Settings())] == ["geo-olm"]
