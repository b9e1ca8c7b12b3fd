# SPDX-License-Identifier: GPL-2.0-or-later
"""Batches on a real cluster: processes killed, jobs that fail, a stop, a second call."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import geopandas
import pytest
from batch_case import NEAR, Listener, own_processes, run, towns
from qgis.core import QgsProcessingContext, QgsProcessingFeedback, QgsProject

from geo_olm.plugin.batch.job import BatchError, Job
from geo_olm.plugin.batch_workflow import BatchWorkflowAlgorithm
from geo_olm.plugin.llm.process import alive
from geo_olm.plugin.workflow.file import dumps

psutil = pytest.importorskip("psutil", reason="Dask is not in the venv")
pytestmark = [pytest.mark.usefixtures("qgis_processing"), pytest.mark.timeout(240)]


def jobs_of(file: Path, count: int) -> list[Job]:
    return [
        Job(f"d{n}", {"towns": str(file), "distance": n + 1}, f"line {n}") for n in range(count)
    ]


def qgis_of(pids: list[int]) -> list[int]:
    """Return those of some processes that are the QGIS of a worker."""
    found = []
    for pid in pids:
        try:
            words = psutil.Process(pid).cmdline()
        except psutil.Error:
            continue
        if words[-1:] == ["child"]:
            found.append(pid)
    return found


def gone(pids: list[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while any(alive(one) for one in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def check(record: dict[str, Any], folder: Path, count: int) -> None:
    """Compare what was gathered with what the towns give: 450 people, ten areas a job."""
    assert (record["status"], record["done"], record["failed"]) == ("ok", count, 0)
    assert {one["value"] for one in record["jobs"]} == {450}
    near = geopandas.read_file(folder / "results.gpkg", layer="near")
    assert len(near) == 10 * count
    assert sorted(near.groupby("job").size()) == [10] * count
    radius = (near.geometry.bounds.maxx - near.geometry.bounds.minx) / 2
    assert (radius / near["distance"] - 1).abs().max() < 0.005  # metres on the ground, not of UTM
    table = geopandas.read_file(folder / "results.gpkg", layer="jobs")
    assert len(table) == count
    assert set(table["answer"]) == {"450 people"}
    assert list((folder / "jobs").glob(".*")) == []


@pytest.mark.parametrize(
    ("count", "several", "victim"),
    [
        (6, 2, "QGIS"),
        pytest.param(3, 1, "worker", marks=pytest.mark.long),
    ],
)
def test_all_inputs_are_done_though_a_process_is_killed_in_mid_job(
    tmp_path: Path, count: int, several: int, victim: str
) -> None:
    before = own_processes()
    workers: dict[str, int] = {}
    killed: list[int] = []

    def after(line: str) -> None:
        if ": ok" in line and not killed:
            new = [one for one in own_processes() if one not in before]
            killed.append(qgis_of(new)[0] if victim == "QGIS" else next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    jobs = jobs_of(towns(tmp_path / "towns.gpkg"), count)
    listener = Listener(after)
    record = run(tmp_path / "out", jobs, workers=several, listener=listener,
                 on_workers=workers.update)  # fmt: skip
    assert len(killed) == 1
    check(record, tmp_path / "out", count)
    assert listener.percent == 100
    assert gone([one for one in own_processes() if one not in before], 2)


@pytest.mark.long
def test_a_second_call_runs_only_what_failed_is_new_or_has_changed(tmp_path: Path) -> None:
    file, out = towns(tmp_path / "towns.gpkg"), tmp_path / "out"
    broken = tmp_path / "broken.gpkg"
    broken.write_text("no layer")
    jobs = [*jobs_of(file, 2), Job("bad", {"towns": str(broken)}, "line 9")]
    first = run(out, jobs)
    assert (first["status"], first["done"]) == ("failed", 2)
    [failure] = first["failures"]
    assert (failure["id"], failure["place"]) == ("bad", "line 9")
    assert "broken.gpkg cannot be opened" in failure["reason"]
    assert first["jobs"][2]["attempts"] == 2
    broken.unlink()
    towns(broken)
    listener = Listener()
    second = run(out, [*jobs, *jobs_of(file, 3)[2:]], listener=listener)
    assert [one["skipped"] for one in second["jobs"]] == [True, True, False, False]
    assert listener.lines[0] == "2 of 4 jobs are done already."
    table = geopandas.read_file(out / "results.gpkg", layer="jobs")
    assert list(table["job"]) == ["d0", "d1", "bad", "d2"]
    assert set(table["status"]) == {"ok"}


def test_a_stop_ends_every_process_within_two_seconds_and_keeps_what_is_done(
    tmp_path: Path,
) -> None:
    before = own_processes()
    started: list[int] = []

    def after(line: str) -> bool:
        started.extend(one for one in own_processes() if one not in before)
        return ": ok" in line

    listener = Listener(after)
    jobs = jobs_of(towns(tmp_path / "towns.gpkg"), 40)
    record = run(tmp_path / "out", jobs, workers=2, listener=listener)
    assert time.monotonic() - listener.stopped_at < 2.5
    assert len(qgis_of(started)) == 0
    assert gone(started, 1)
    assert record["status"] == "cancelled"
    assert 1 <= record["done"] < 40
    assert not (tmp_path / "out" / "results.gpkg").exists()
    again = run(tmp_path / "out", jobs[:2], workers=1)
    assert again["skipped"] >= 1
    check(again, tmp_path / "out", 2)


@pytest.mark.long
def test_the_algorithm_reads_a_table_and_writes_the_record(tmp_path: Path) -> None:
    towns(tmp_path / "towns.gpkg")
    (tmp_path / "near.geoflow.json").write_text(dumps(NEAR))
    (tmp_path / "rows.csv").write_text("id,towns,distance\none,towns.gpkg,7\n")
    algorithm, context = BatchWorkflowAlgorithm().create(), QgsProcessingContext()
    project = QgsProject()
    context.setProject(project)
    parameters = {
        "WORKFLOW": str(tmp_path / "near.geoflow.json"), "INPUTS": str(tmp_path / "rows.csv"),
        "WORKERS": 1, "OUTPUT": str(tmp_path / "out"), "JSON": str(tmp_path / "record.json"),
    }  # fmt: skip
    found, ok = algorithm.run(parameters, context, QgsProcessingFeedback())
    assert ok
    assert (found["STATUS"], found["OUTPUT"]) == ("ok", str(tmp_path / "out"))
    near = geopandas.read_file(tmp_path / "out" / "results.gpkg", layer="near")
    assert list(near["distance"]) == ["7"] * 10
    assert '"total": 1' in (tmp_path / "record.json").read_text()


@pytest.mark.long
def test_no_process_outlives_the_one_that_speaks_with_dask(tmp_path: Path) -> None:
    before, started = own_processes(), []

    def after(line: str) -> None:
        if ": ok" in line and not started:
            started.extend(one for one in own_processes() if one not in before)
            (driver,) = [one for one in psutil.Process().children() if one.pid in started]
            driver.kill()

    with pytest.raises(BatchError, match="The process of the cluster ended early"):
        run(tmp_path / "out", jobs_of(towns(tmp_path / "towns.gpkg"), 20), workers=2,
            listener=Listener(after))  # fmt: skip
    assert len(started) >= 5
    assert gone(started, 3)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_two_hundred_inputs_are_all_done_though_a_worker_is_killed(tmp_path: Path) -> None:
    workers: dict[str, int] = {}
    killed: list[int] = []

    def after(line: str) -> None:
        if line.startswith("100 of 200") and not killed:
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    began = time.monotonic()
    record = run(tmp_path / "out", jobs_of(towns(tmp_path / "towns.gpkg"), 200), workers=2,
                 listener=Listener(after), on_workers=workers.update)  # fmt: skip
    print(f"200 inputs: {time.monotonic() - began:.1f} s")
    assert killed
    check(record, tmp_path / "out", 200)
