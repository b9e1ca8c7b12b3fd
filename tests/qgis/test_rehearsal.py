# SPDX-License-Identifier: GPL-2.0-or-later
"""Workflows tried on samples: what is wrong shows at once, and nothing of the user's changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from qgis.core import QgsFeatureRequest
from raster_case import LEFT, TOP, raster
from test_flow_run import task
from toolbox_case import Bench, box, layer

from geo_olm.plugin.rehearsal import Rehearsal, rehearse
from geo_olm.plugin.runner import MainThread
from geo_olm.plugin.workflow.graph import Graph, Status, Vertex
from geo_olm.plugin.workflow.value import Layer, Output
from geo_olm.tools.sample import MOST_CELLS, MOST_FEATURES, is_sampled, samples

pytestmark = pytest.mark.usefixtures("qgis_processing")
Rehearse = Callable[..., Rehearsal]


@pytest.fixture
def stage(tmp_path: Path) -> Bench:
    points = [(f"POINT({LEFT + n} {TOP - 5})", n % 50, f"p{n}") for n in range(3000)]
    zones = [(box(LEFT + 2500, TOP - 20, LEFT + 2600, TOP), "far")]
    return Bench(
        tmp_path,
        layer("points", "Point", "n:integer name:string", points),
        layer("zones", "Polygon", "name:string", zones),
        raster(tmp_path, "dem", numpy.arange(640_000.0).reshape(800, 800) % 97),
        output=tmp_path,
    )


@pytest.fixture
def tried(stage: Bench) -> Rehearse:
    def run(*vertices: Vertex) -> Rehearsal:
        main = MainThread()
        graph = Graph("", vertices)
        return stage.aside(lambda: rehearse(graph, stage.project, main, lambda: False))

    return run


def test_samples_are_small_lie_near_each_other_and_meet_what_is_wanted(
    stage: Bench, tmp_path: Path
) -> None:
    found = {
        one.name(): one
        for one in samples(
            stage.project, ["points", "zones", "dem"], {"points": ["\"name\" = 'p7'"]}, tmp_path
        )
    }
    names = {one["name"] for one in found["points"].getFeatures()}
    assert len(names) == MOST_FEATURES
    assert "p7" in names
    inside = QgsFeatureRequest().setFilterRect(found["zones"].extent())
    assert len(list(found["points"].getFeatures(inside))) >= 40
    assert (found["dem"].width(), found["dem"].bandCount()) == (12, 1)  # 100 m and 10 m about it
    (whole,) = samples(stage.project, ["dem"], {}, tmp_path)
    assert (whole.width(), whole.height()) == (MOST_CELLS, MOST_CELLS)
    assert found["dem"].crs() == stage.project.mapLayersByName("dem")[0].crs()
    assert [is_sampled(stage.project.mapLayersByName(one)[0]) for one in ("points", "zones")] == [
        True,
        False,
    ]


def test_a_right_workflow_is_rehearsed_in_a_moment_and_leaves_nothing(
    stage: Bench, tried: Rehearse, tmp_path: Path
) -> None:
    before = set(stage.project.mapLayers())
    files = sorted(one.name for one in tmp_path.iterdir() if one.is_file())
    began = time.perf_counter()
    found = tried(
        task("v1", "buffer", layer=Layer("zones"), distance=10),
        task("v2", "select_by_location", layer=Layer("points"), predicate="within",
             other=Output("v1")),
        task("v3", "statistics", layer=Output("v2"), field="n", statistic="sum"),
        task("v4", "zonal_statistics", layer=Output("v1"), raster=Layer("dem")),
        task("v5", "save_layer", layer=Output("v2"), file="kept.gpkg"),
    )  # fmt: skip
    assert time.perf_counter() - began < 20
    assert found.findings == ()
    assert {one.step: one.status for one in found.steps} == dict.fromkeys(
        ("v1", "v2", "v3", "v4", "v5"), Status.COMPLETED
    )
    assert set(stage.project.mapLayers()) == before
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == files


@pytest.mark.parametrize(
    ("vertex", "code", "words"),
    [
        (task("v1", "filter", layer=Layer("points"), where='"m" > 2'), "rehearsal", "m"),
        (task("v1", "filter", layer=Layer("points"), where='"n" > 99'), "rehearsal empty",
         "makes no features"),
        (task("v1", "terrain", layer=Layer("dem"), what="slope", band=4), "rehearsal", "band"),
        (task("v1", "run_algorithm", algorithm="native:buffer",
              parameters={"INPUT": Layer("points"), "DISTANCE": "wide"}), "rehearsal", "DISTANCE"),
        (Vertex("v1", "vector", "Count the points"), "rehearsal", "asked there"),
    ],
)  # fmt: skip
def test_what_is_wrong_shows_on_the_sample(
    tried: Rehearse, vertex: Vertex, code: str, words: str
) -> None:
    found: Any = tried(vertex)
    assert [one.code for one in found.findings] == [code]
    assert words in found.findings[0].message
