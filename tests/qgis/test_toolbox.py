# SPDX-License-Identifier: GPL-2.0-or-later
"""The toolbox over a project: names, threads, results and their undo."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from osgeo import gdal, osr
from qgis.core import QgsFeature, QgsGeometry, QgsProject, QgsRasterLayer
from toolbox_case import Bench, box, layer

from geo_olm.tools.base import Family, LastingError, MendableError, ToolCancelled
from geo_olm.tools.detection_catalog import detection_tools
from geo_olm.tools.map_catalog import map_tools
from geo_olm.tools.observation_catalog import observation_tools
from geo_olm.tools.raster_catalog import raster_tools
from geo_olm.tools.store import GROUP
from geo_olm.tools.vector_catalog import file_tools, vector_tools

pytestmark = pytest.mark.usefixtures("qgis_processing")


def towns() -> Any:
    rows = [
        ("POINT(500000 5000000)", "O'Hare", 10, "1"),
        ("POINT(501000 5000000)", 'the "old" one', None, "2.5"),
        ("POINT(502000 5000000)", "Łódź", 30, "NA"),
        (None, None, 30, ""),
    ]
    return layer("towns", "Point", "name:string pop:integer code:string", rows)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "temporary", towns())


def key_set(bench: Bench) -> list[str]:
    return [profile.key for profile in bench.toolbox.layers()]


def test_a_profile_counts_empty_values_and_ranges(bench: Bench) -> None:
    profile = bench.toolbox.layers()[0]
    assert profile.family is Family.POINT
    assert (profile.crs, profile.features) == ("EPSG:32632", 4)
    name, pop, _code = profile.fields
    assert (name.type, name.empty, name.distinct) == ("text", 1, 3)
    assert (pop.type, pop.minimum, pop.maximum, pop.empty) == ("integer", "10", "30", 1)


def test_a_profile_is_made_anew_after_an_edit(bench: Bench) -> None:
    assert bench.toolbox.layers()[0].fields[1].maximum == "30"
    live = next(iter(bench.project.mapLayers().values()))
    live.startEditing()
    live.changeAttributeValue(next(live.getFeatures()).id(), 1, 99)
    assert bench.toolbox.layers()[0].fields[1].maximum == "99"
    live.rollBack()
    assert bench.toolbox.layers()[0].fields[1].maximum == "30"


def test_equal_names_get_a_number_b34(tmp_path: Path) -> None:
    lines = layer("roads", "LineString", "a:integer", [("LINESTRING(0 0,1 1)", 1)])
    areas = layer("roads", "Polygon", "a:integer", [(box(0, 0, 1, 1), 1)] * 2)
    other = layer("Straßen_Köln", "Point", "a:integer", [])
    bench = Bench(tmp_path, lines, areas, other)
    keys = key_set(bench)
    assert set(keys) == {"roads", "roads (2)", "Straßen_Köln"}
    counts = {bench.run("count", layer=key).numbers["count"] for key in keys}
    assert counts == {0, 1, 2}
    assert bench.run("count", layer="STRASSEN_KÖLN").numbers["count"] == 0


def test_an_unknown_layer_gives_the_closest_name(bench: Bench) -> None:
    with pytest.raises(MendableError, match=r'no layer "town" in this project. Did you mean towns'):
        bench.run("count", layer="town")


def test_a_result_is_known_by_its_short_id(bench: Bench) -> None:
    result = bench.run(
        "filter", layer="towns", conditions=[{"field": "pop", "op": "=", "value": 30}]
    )
    assert result.id == "r1"
    assert result.text.startswith('r1: layer "towns where pop is 30", 2 features')
    assert bench.run("count", layer="r1").numbers == {"count": 2}
    assert [one.short for one in bench.toolbox.layers()] == ["", "r1"]


def test_results_lie_in_one_group_newest_on_top_with_their_provenance(bench: Bench) -> None:
    for value in (10, 30):
        condition = {"field": "pop", "op": "=", "value": value}
        bench.run("filter", layer="towns", conditions=[condition])
    group = bench.project.layerTreeRoot().findGroup(GROUP)
    names = [node.name() for node in group.children()]
    assert names == ["towns where pop is 30", "towns where pop is 10"]
    metadata = group.children()[0].layer().metadata()
    assert metadata.abstract() == "a question"
    history = json.loads(metadata.history()[-1])
    assert history["tool"] == "filter"
    assert history["parameters"]["EXPRESSION"] == '"pop" = 30'


def test_undo_removes_the_layers_and_restores_the_style(bench: Bench) -> None:
    live = next(iter(bench.project.mapLayers().values()))
    before = live.renderer().type()
    bench.run("style_graduated", layer="towns", field="pop", classes=2)
    bench.run("filter", layer="towns", conditions=[{"field": "pop", "op": "is empty"}])
    assert live.renderer().type() == "graduatedSymbol" != before
    bench.toolbox.begin_turn("undo that")
    said = bench.run("undo").text
    assert "Removed towns where pop is empty." in said
    assert "Restored the style of towns." in said
    assert live.renderer().type() == before
    assert list(bench.project.mapLayers()) == [live.id()]
    assert bench.project.layerTreeRoot().findGroup(GROUP) is None
    assert bench.toolbox.undo_turn() == ()


def test_a_layer_removed_between_turns_is_a_lasting_error(bench: Bench) -> None:
    bench.toolbox.layers()
    bench.project.removeAllMapLayers()
    with pytest.raises(LastingError, match=r"towns was removed while it was in use"):
        bench.run("count", layer="towns")


def test_a_layer_removed_during_a_call_leaves_a_clear_error_b43(bench: Bench) -> None:
    arguments = {"layer": "towns", "name": "x", "expression": '"pop" * 2'}

    asked: list[int] = []

    def removes() -> bool:
        asked.append(1)
        if len(asked) == 3:
            bench.caller(lambda: bench.project.removeAllMapLayers())
        return False

    result, error, _ = bench.work("calculate_field", arguments, removes)
    assert result is None
    assert isinstance(error, LastingError)
    assert "was removed while it was in use" in str(error)


def test_every_tool_touches_the_project_on_the_main_thread_only_b44(bench: Bench) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_layers", {}),
        ("layer_info", {"layer": "towns"}),
        ("unique_values", {"layer": "towns", "field": "name"}),
        ("count", {"layer": "towns", "where": '"pop" > 5'}),
        ("filter", {"layer": "towns", "conditions": [{"field": "pop", "op": ">", "value": 5}]}),
        ("statistics", {"layer": "towns", "field": "pop", "statistic": "mean"}),
        ("top_n", {"layer": "towns", "field": "pop"}),
        ("calculate_field", {"layer": "towns", "name": "d", "expression": '"pop" * 2'}),
        (
            "select_by_location",
            {"layer": "towns", "predicate": "within_distance", "other": "towns", "distance": 1500},
        ),
        ("calculate", {"expression": "2 * r5.value"}),
        ("search_algorithms", {"words": "buffer"}),
        ("describe_algorithm", {"algorithm": "native:buffer"}),
        (
            "run_algorithm",
            {"algorithm": "native:buffer", "parameters": {"INPUT": "towns", "DISTANCE": 10}},
        ),
        ("style_graduated", {"layer": "towns", "field": "pop", "classes": 2}),
        ("style_categorized", {"layer": "towns", "field": "name"}),
        ("zoom_to_layer", {"layer": "towns"}),
        ("undo", {}),
        ("answer", {"text": "Four.", "value": 4, "layers": ["towns"]}),
        ("reject", {"reason": "no rivers"}),
    ]
    for tool, arguments in calls:
        result, error, _ = bench.work(tool, arguments)
        assert error is None, (tool, error)
        assert result is not None
        assert result.text


def test_all_tools_but_measure_are_called_above(bench: Bench) -> None:
    names = {one.name for one in bench.toolbox.definitions()}
    families = [
        *vector_tools(), *file_tools(), *raster_tools(), *observation_tools(), *detection_tools(),
        *map_tools(),
    ]  # fmt: skip
    assert len(names - {one.definition.name for one in families}) == 20
    assert "measure" in names


def test_the_stop_button_ends_a_long_algorithm_within_two_seconds_b45(bench: Bench) -> None:
    begun = time.monotonic()
    parameters = {
        "TYPE": "Rectangle (Polygon)",
        "EXTENT": "0,9000,0,10000 [EPSG:32632]",
        "HSPACING": 3,
        "VSPACING": 3,
        "CRS": "EPSG:32632",
    }
    arguments = {"algorithm": "native:creategrid", "parameters": parameters}
    before = set(bench.project.mapLayers())

    result, error, stall = bench.work(
        "run_algorithm", arguments, lambda: time.monotonic() - begun > 1.0
    )
    assert result is None
    assert isinstance(error, ToolCancelled)
    assert time.monotonic() - begun < 3.0
    assert set(bench.project.mapLayers()) == before
    assert stall < 1.0


def test_a_cancelled_call_reads_no_layer(bench: Bench) -> None:
    with pytest.raises(ToolCancelled):
        bench.toolbox.run("count", {"layer": "towns"}, lambda percent: None, lambda: True)


def test_the_projects_own_instance_is_left_alone(bench: Bench) -> None:
    bench.run("filter", layer="towns", conditions=[{"field": "pop", "op": "is empty"}])
    assert not QgsProject.instance().mapLayers()


def test_a_result_is_short_whatever_the_layer(tmp_path: Path) -> None:
    rows = [(f"POINT({number} 0)", "x" * 300, number) for number in range(3000)]
    bench = Bench(tmp_path, layer("long", "Point", "name:string(400) n:integer", rows))
    for tool, more in (
        ("unique_values", {"field": "n"}),
        ("top_n", {"field": "n", "n": 50}),
        ("layer_info", {}),
    ):
        assert len(bench.run(tool, layer="long", **more).text) < 2000, tool


def test_unsaved_edits_are_seen_and_left_alone_b37(bench: Bench) -> None:
    live = next(iter(bench.project.mapLayers().values()))
    live.startEditing()
    feature = QgsFeature(live.fields())
    feature.setGeometry(QgsGeometry.fromWkt("POINT(0 0)"))
    live.addFeature(feature)
    assert bench.run("count", layer="towns").numbers["count"] == 5
    assert live.isEditable()
    live.rollBack()


def test_an_answer_takes_numbers_from_results_only(bench: Bench) -> None:
    with pytest.raises(MendableError, match="call a tool first"):
        bench.run("answer", text="About 12.", value=12.5)
    bench.run("statistics", layer="towns", field="pop", statistic="mean")
    by_reference = bench.run("answer", text="It is 23.3.", value="r1.mean", unit="people")
    assert by_reference.numbers["value"] == pytest.approx(70 / 3)
    assert by_reference.units["value"] == "people"
    assert (by_reference.id, by_reference.text) == ("answer", "It is 23.3.")
    assert bench.run("answer", text="It is 23.3.", value=23.3).numbers == {"value": 23.3}
    assert bench.run("answer", text="Four.", value="4").numbers == {"value": 4}
    with pytest.raises(MendableError, match=r"No result gave 99. Known: r1.mean = 23.33"):
        bench.run("answer", text="99", value=99)
    with pytest.raises(MendableError, match=r'no number "r7.count"'):
        bench.run("answer", text="99", value="r7.count")
    assert bench.run("count", layer="towns").id == "r2"


@pytest.mark.parametrize("name", ["native:buffer", "native_buffer", "native.buffer"])
def test_an_algorithm_called_as_a_tool_is_explained(bench: Bench, name: str) -> None:
    with pytest.raises(MendableError, match='run_algorithm with algorithm "native:buffer"'):
        bench.run(name, INPUT="towns")


def test_a_stopped_gdal_program_leaves_no_file_b45(bench: Bench, tmp_path: Path) -> None:
    data = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "dem.tif"), 300, 300, 1)
    data.SetGeoTransform((500000, 10, 0, 5000000, 0, -10))
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(32632)
    data.SetProjection(reference.ExportToWkt())
    data = None
    bench.project.addMapLayer(QgsRasterLayer(str(tmp_path / "dem.tif"), "dem"))
    parameters = {"INPUT": "dem", "TARGET_CRS": "EPSG:3857", "TARGET_RESOLUTION": 0.1}
    begun = time.monotonic()
    result, error, _ = bench.work(
        "run_algorithm",
        {"algorithm": "gdal:warpreproject", "parameters": parameters},
        lambda: time.monotonic() - begun > 1.0,
    )
    assert result is None
    assert isinstance(error, ToolCancelled)
    assert time.monotonic() - begun < 3.0
    assert list(bench.folder.rglob("*.tif")) == []


def test_a_large_layer_is_sampled_and_the_rest_is_unknown(tmp_path: Path) -> None:
    rows = [(f"POINT({number} 0)", number, "a") for number in range(30_000)]
    bench = Bench(tmp_path, layer("large", "Point", "n:integer k:string", rows))
    begun = time.monotonic()
    profile = bench.toolbox.layers()[0]
    assert time.monotonic() - begun < 2.0
    assert profile.features == 30_000
    number, kind = profile.fields
    assert (number.distinct, number.empty, number.maximum) == (None, None, "")
    assert kind.samples == ("a",)
    assert bench.run("count", layer="large").numbers["count"] == 30_000


def test_a_share_is_calculated_from_results(bench: Bench) -> None:
    condition = {"field": "pop", "op": "is empty"}
    bench.run("count", layer="towns", conditions=[condition])
    bench.run("count", layer="towns")
    found = bench.run("calculate", expression="100 * r1.count / r2.count", unit="%")
    assert found.numbers == {"value": 25}
    assert found.text == "r3: 100 * r1.count / r2.count = 25 %."
    assert bench.run("answer", text="25 %", value="r3.value").units == {"value": "%"}


@pytest.mark.parametrize(
    "wrong", ["r9.count + 1", '"pop" + 1', "1 +", "1 / 0", "'a'", "env('HOME')"]
)
def test_what_is_no_arithmetic_over_results_is_refused(bench: Bench, wrong: str) -> None:
    with pytest.raises(MendableError):
        bench.run("calculate", expression=wrong)


def test_a_length_that_nobody_spoke_of_is_no_unit_of_an_answer(bench: Bench) -> None:
    bench.run("statistics", layer="towns", field="pop", statistic="mean")
    assert bench.run("answer", value="r1.mean", unit="metres").units == {"value": ""}
    assert bench.run("answer", value="r1.mean", unit="people").units == {"value": "people"}
    bench.toolbox.begin_turn("What is the mean of pop in metres?")
    assert bench.run("answer", value="r1.mean", unit="metres").units == {"value": "metres"}
