# SPDX-License-Identifier: GPL-2.0-or-later
"""A scheduler that runs already, which addresses may be contacted, and what is not there."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_case import NEAR, own_processes, run, towns
from osgeo import gdal, osr
from qgis.core import QgsProcessingContext, QgsProcessingException, QgsProcessingFeedback

from geo_olm.plugin import batch_workflow
from geo_olm.plugin.batch import cluster
from geo_olm.plugin.batch.input import read_inputs
from geo_olm.plugin.batch.job import BatchError, Job
from geo_olm.plugin.batch.scheduler import checked
from geo_olm.plugin.batch.work import plan_of
from geo_olm.plugin.batch_workflow import BatchWorkflowAlgorithm
from geo_olm.plugin.egress import ledger
from geo_olm.plugin.llm.gate import ConsentNeeded, OfflineRefused
from geo_olm.plugin.llm.process import alive
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.file import dumps
from geo_olm.plugin.workflow.graph import Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.value import Asked

pytestmark = [pytest.mark.usefixtures("qgis_processing"), pytest.mark.timeout(240)]


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """Give the address of a scheduler with one worker of two threads, as others start them."""
    pytest.importorskip("distributed", reason="Dask is not in the venv")
    place = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(place), "--no-dashboard"]
    words = (
        ["dask_scheduler", "--host", "127.0.0.1", "--port", "0", *common],
        ["dask_worker", "--host", "127.0.0.1", "--nthreads", "2", "--no-nanny",
         "--local-directory", str(tmp_path / "dask"), *common],
    )  # fmt: skip
    started = []
    with (tmp_path / "dask.log").open("wb") as log:
        for one in words:
            command = [sys.executable, "-m", f"distributed.cli.{one[0]}", *one[1:]]
            started.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path))
            until = time.monotonic() + 30
            while not place.exists() and time.monotonic() < until:
                time.sleep(0.1)
    yield str(json.loads(place.read_text())["address"])
    for process in reversed(started):
        process.kill()
        process.wait()


def test_a_scheduler_that_runs_takes_the_jobs_and_keeps_no_qgis(
    scheduler: str, tmp_path: Path
) -> None:
    before = own_processes()
    file = str(towns(tmp_path / "towns.gpkg"))
    jobs = [Job(f"d{n}", {"towns": file, "distance": n + 1}) for n in range(3)]
    record = run(tmp_path / "out", jobs, plan=plan_of(0, checked(scheduler, Settings())))
    assert (record["status"], record["done"]) == ("ok", 3)
    until = time.monotonic() + 3
    left = [1]
    while left and time.monotonic() < until:
        left = [one for one in own_processes() if one not in before and alive(one)]
    assert left == []


@pytest.mark.long
def test_a_scheduler_that_does_not_answer_is_told_in_a_sentence(tmp_path: Path) -> None:
    jobs = [Job("a", {"towns": str(towns(tmp_path / "towns.gpkg"))})]
    with pytest.raises(BatchError, match=r"The scheduler at tcp://127\.0\.0\.1:9 did not answer"):
        run(tmp_path / "out", jobs, plan=plan_of(0, "tcp://127.0.0.1:9"))


def test_only_allowed_hosts_are_contacted_and_noted() -> None:
    assert checked("", Settings()) == ""
    assert checked(" localhost:8786 ", Settings(offline=True)) == "tcp://127.0.0.1:8786"
    assert checked("tls://[::1]:8786", Settings(offline=True)) == "tls://[::1]:8786"
    far = "tcp://cluster.example:8786"
    with pytest.raises(ConsentNeeded, match=r"GEO_OLM_SET_ALLOWED_HOSTS=cluster\.example:8786"):
        checked(far, Settings())
    allowed = Settings(allowed_hosts="cluster.example:8786")
    assert checked(far, allowed) == far
    assert (ledger().entries()[0].host, ledger().entries()[0].purpose) == (
        "cluster.example:8786",
        "batch",
    )
    with pytest.raises(OfflineRefused):
        checked(far, Settings(allowed_hosts="cluster.example:8786", offline=True))
    for wrong in ("http://127.0.0.1:8786", "tcp://", "tcp://127.0.0.1", "127.0.0.1:x"):
        with pytest.raises(BatchError, match="is no address of a scheduler"):
            checked(wrong, Settings())


def test_without_dask_a_batch_says_the_one_way_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_workflow, "is_there", lambda: False)
    (tmp_path / "near.geoflow.json").write_text(dumps(NEAR))
    towns(tmp_path / "towns.gpkg")
    names = {"WORKFLOW": "near.geoflow.json", "INPUTS": "towns.gpkg", "OUTPUT": "out"}
    parameters = {key: str(tmp_path / name) for key, name in names.items()}
    algorithm = BatchWorkflowAlgorithm()
    algorithm.initAlgorithm()
    context, feedback = QgsProcessingContext(), QgsProcessingFeedback()
    algorithm.prepareAlgorithm(parameters, context, feedback)
    with pytest.raises(QgsProcessingException, match=r"tick Dask and press Install\."):
        algorithm.processAlgorithm(parameters, context, feedback)
    assert cluster.MISSING.count(".") == 2


def test_tiles_of_a_raster_are_worked_on_one_by_one_and_become_a_mosaic_again(
    tmp_path: Path,
) -> None:
    data = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "dem.tif"), 6, 2, 1,
                                                gdal.GDT_Float32)  # fmt: skip
    data.SetGeoTransform((500000, 10, 0, 5000020, 0, -10))
    system = osr.SpatialReference()
    system.ImportFromEPSG(32632)
    data.SetProjection(system.ExportToWkt())
    for row in range(2):
        values = [float(row * 6 + at) for at in range(6)]
        data.GetRasterBand(1).WriteRaster(0, row, 6, 1, _packed(values))
    data = None
    parameters = {"layers": [Asked("dem")], "expression": '"dem@1" * 2'}
    double = Vertex("double", "raster", tool="raster_calculate", parameters=parameters)
    graph = Graph("", (double,), (Variable("dem", Type.LAYER),))
    jobs = read_inputs(
        '{"extent": [500000, 5000000, 500080, 5000020], "crs": "EPSG:32632", "tile_size": 40,'
        f' "source": "{tmp_path / "dem.tif"}"}}',
        graph,
    )
    assert len(jobs) == 2
    record = run(tmp_path / "out", jobs, graph)
    assert record["status"] == "ok", record["failures"]
    assert "double.vrt" in record["outputs"]
    found = gdal.Open(str(tmp_path / "out" / "double.vrt")).ReadAsArray()
    assert found.tolist() == [[0, 2, 4, 6, 8, 10], [12, 14, 16, 18, 20, 22]]
    assert not list(tmp_path.glob("dem.tif.*"))


def _packed(values: list[float]) -> bytes:
    return struct.pack(f"{len(values)}f", *values)
