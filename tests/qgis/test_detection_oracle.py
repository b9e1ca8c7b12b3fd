# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark's detectors give the labels of the images that are loaded, and no tool of a user's
project is one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import MendableError, ToolResult
from geo_olm.tools.catalog import build_registry
from geo_olm.tools.detection_oracle import OracleClassifier, OracleDetector
from geo_olm.tools.registry import Registry
from geo_olm.tools.toolbox import ProjectToolbox

pytestmark = pytest.mark.usefixtures("qgis_processing")
DETECTORS = {"xview1_labels": ("Swin-L", "YOLO-v8"), "fair1m_labels": ("Swin-L",)}
CLASSIFIERS = {"ben_lcc": ("ResNet-32",)}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    labels = [
        (box(n, 0, n + 1, 1), image, name, n)
        for n, (image, name) in enumerate(
            [(1, "Car"), (1, "Ship"), (2, "Car"), (3, "Car"), (2, "Car"), (None, "Car")]
        )
    ]
    cover = [(f"POINT({n} 1)", n // 2, name) for n, name in enumerate(["Forest", "Sea", "Sea"])]
    fields = "image_id:integer cat_name:string uoi:integer"
    made = Bench(
        tmp_path,
        layer("loaded", "Point", "image_id:integer", [("POINT(0 0)", 1), ("POINT(1 1)", 2)]),
        layer("xview1_labels", "Polygon", fields, labels),
        layer("ben_lcc", "Point", "image_id:integer cat_name:string", cover),
        layer("places", "Point", "name:string", [("POINT(0 0)", "here")]),
    )
    tools = Registry([OracleDetector(DETECTORS), OracleClassifier(CLASSIFIERS)])
    made.toolbox = ProjectToolbox(made.project, tools, made.caller, tmp_path)
    made.toolbox.begin_turn("a question")
    return made


def labels_of(bench: Bench, found: ToolResult) -> list[Any]:
    return sorted(one["uoi"] for one in bench.project.mapLayer(found.layers[0].id).getFeatures())


def test_the_labels_of_loaded_images_are_what_was_found(bench: Bench) -> None:
    found = bench.run("run_detector", images="loaded", labels="xview1_labels", detector="swin l")
    assert labels_of(bench, found) == [0, 1, 2, 4]
    assert found.numbers == {"count": 4, "images": 2}
    assert 'class: "Car", count: 3' in found.text
    cover = bench.run(
        "run_land_coverage_classifier", images="loaded", labels="ben_lcc", detector="ResNet-32"
    )
    assert cover.numbers["count"] == 1


def test_a_detector_of_other_labels_is_refused_with_those_that_fit(bench: Bench) -> None:
    asked = {"images": "loaded", "labels": "xview1_labels"}
    with pytest.raises(MendableError, match=r"ResNet-32 does not read xview1_labels.*Swin-L"):
        bench.run("run_detector", **asked, detector="ResNet-32")
    with pytest.raises(MendableError, match=r"No detector reads ben_lcc\. Label layers: xview1"):
        bench.run("run_detector", images="loaded", labels="ben_lcc", detector="Swin-L")
    with pytest.raises(MendableError, match="places has no field image_id"):
        bench.run("run_detector", images="places", labels="xview1_labels", detector="Swin-L")


def test_no_oracle_is_among_the_tools_of_a_project() -> None:
    names = {one.name for one in build_registry().definitions()}
    assert not {"run_detector", "run_land_coverage_classifier"} & names
