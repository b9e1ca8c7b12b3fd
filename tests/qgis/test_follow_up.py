# SPDX-License-Identifier: GPL-2.0-or-later
"""What a later question can mean: the features that a count, a ranking or a statistic spoke of."""

from __future__ import annotations

from pathlib import Path

import pytest
from qgis.core import QgsProject
from toolbox_case import Bench, layer

from geo_olm.tools.base import MendableError

pytestmark = pytest.mark.usefixtures("qgis_processing")

EMPTY = [{"field": "mayor", "op": "is empty"}]
SOUTH = [{"field": "region", "op": "=", "value": "South"}]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    rows = [
        ("POINT(500000 5000000)", "Ely", "South", None, 5),
        ("POINT(501000 5000000)", "Bath", "North", None, 7),
        ("POINT(502000 5000000)", "Diss", "South", "Ada", 9),
        ("POINT(503000 5000000)", "Rye", "South", None, 1),
    ]
    fields = "name:string region:string mayor:string pop:integer"
    return Bench(tmp_path / "temporary", layer("towns", "Point", fields, rows))


def names(project: QgsProject) -> list[str]:
    return sorted(one.name() for one in project.mapLayers().values())


def test_a_count_keeps_its_conditions_for_the_next_question(bench: Bench) -> None:
    counted = bench.run("count", layer="towns", conditions=EMPTY)
    assert counted.numbers == {"count": 3}
    assert counted.speaks
    bench.toolbox.begin_turn("Only those in the South.")
    spoken = bench.toolbox.layers()[-1]
    assert (spoken.name, spoken.features, spoken.parent) == ("r1", 3, "towns")
    kept = bench.run("filter", layer="r1", conditions=SOUTH)
    assert kept.numbers == {"count": 2}
    assert [one.name for one in kept.extracted] == ["towns where mayor is empty"]
    assert names(bench.project) == [
        "towns",
        "towns where mayor is empty",
        "towns where mayor is empty and region is South",
    ]


def test_a_count_makes_no_layer_by_itself_nor_by_being_described(bench: Bench) -> None:
    bench.run("count", layer="towns", conditions=EMPTY)
    bench.toolbox.begin_turn("What are they?")
    told = bench.run("layer_info", layer="r1")
    assert told.text.startswith("r1 = towns where mayor is empty: point, 3 features")
    assert names(bench.project) == ["towns"]


def test_features_of_the_present_question_are_not_listed_yet(bench: Bench) -> None:
    bench.run("count", layer="towns", conditions=EMPTY)
    assert [one.name for one in bench.toolbox.layers()] == ["towns"]


def test_a_count_of_everything_is_no_set_of_its_own(bench: Bench) -> None:
    assert not bench.run("count", layer="towns").speaks
    with pytest.raises(MendableError, match='no layer "r1"'):
        bench.run("filter", layer="r1", conditions=SOUTH)


def test_a_ranking_can_be_meant_as_a_layer(bench: Bench) -> None:
    bench.run("top_n", layer="towns", field="pop", order="largest", n=2)
    bench.toolbox.begin_turn("Zoom to them.")
    shown = bench.run("zoom_to_layer", layer="r1")
    made = bench.project.mapLayer(shown.extracted[0].id)
    assert sorted(one["name"] for one in made.getFeatures()) == ["Bath", "Diss"]


def test_a_statistic_can_be_meant_as_a_layer(bench: Bench) -> None:
    bench.run("statistics", layer="towns", field="pop", statistic="mean", conditions=SOUTH)
    bench.toolbox.begin_turn("How many of them have a mayor?")
    assert bench.run("count", layer="r1", where='"mayor" IS NOT NULL').numbers == {"count": 1}


def test_an_undo_takes_back_what_the_follow_up_made_and_forgets_its_numbers(bench: Bench) -> None:
    bench.run("count", layer="towns", conditions=EMPTY)
    bench.toolbox.begin_turn("Only those in the South.")
    bench.run("filter", layer="r1", conditions=SOUTH)
    bench.toolbox.begin_turn("Undo that.")
    bench.run("undo")
    assert names(bench.project) == ["towns"]
    assert bench.toolbox.results() == {"r1"}
    with pytest.raises(MendableError, match=r"r2\.count"):
        bench.run("answer", value="r2.count")
    bench.toolbox.begin_turn("Only those in the North.")
    north = [{"field": "region", "op": "=", "value": "North"}]
    assert bench.run("filter", layer="r1", conditions=north).numbers == {"count": 1}


def test_features_whose_layer_is_gone_are_not_offered(bench: Bench) -> None:
    bench.run("count", layer="towns", conditions=EMPTY)
    bench.toolbox.begin_turn("Only those in the South.")
    bench.project.clear()
    assert bench.toolbox.layers() == ()
