# SPDX-License-Identifier: GPL-2.0-or-later
"""Every kind of step and of reference that a gold chain may hold, and what ends a chain."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from graded_data import raster, written
from toolbox_case import box, layer

from geo_olm.plugin.evaluation.harness import Harness, Plan
from geo_olm.plugin.evaluation.method import methods_named
from geo_olm.plugin.evaluation.task import Task, TaskLayer
from geo_olm.plugin.settings import Settings

pytestmark = pytest.mark.usefixtures("qgis_processing")

OPEN = {"OUTPUT": "TEMPORARY_OUTPUT"}
TOWNS = [(box(n * 10, 0, n * 10 + 5, 5), name, pop) for n, (name, pop) in
         enumerate((("Ely", 20), ("Bath", 94), ("Diss", 7), ("Wells", None)))]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "real").mkdir(parents=True)
    towns = layer("towns", "Polygon", "name:string pop:integer", TOWNS)
    written(towns, folder / "real" / "towns.gpkg")
    spots = [("POINT(1 1)", 3), ("POINT(2 2)", 4), ("POINT(11 1)", 5)]
    written(layer("spots", "Point", "m:integer", spots), folder / "real" / "spots.gpkg")
    raster(folder / "real" / "cells.tif", [[1.0, 2.0], [3.0, 4.0]])
    return folder


def played(data: Path, *steps: dict[str, Any], expect: Any = None) -> dict[str, Any]:
    """Play a chain over the towns and return its record, with the kept outputs beside it."""
    layers = (TaskLayer("towns", "real/towns.gpkg"),)
    task = Task("T", "What?", layers, expect or {"number": {"value": 0}}, gold=steps)
    out = data.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    path = Harness(Plan((task,), tuple(methods_named("gold", Settings())), data, out)).run()
    (run,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    record = json.loads((out / "runs" / "T.gold.1" / "record.json").read_text(encoding="utf-8"))
    return {**record, "outputs": run["outputs"], "success": run["success"]}


def extract(text: str, name: str, source: str = "towns") -> dict[str, Any]:
    parameters = {"INPUT": source, "EXPRESSION": text, **OPEN}
    return {"algorithm": "native:extractbyexpression", "parameters": parameters, "as": name}


def number(reference: Any) -> dict[str, Any]:
    return {"tool": "answer", "number": reference}


BIG = extract('"pop" > 10', "big")
STATISTICS = {"tool": "statistics", "layer": "big", "field": "pop", "stat": "sum", "as": "s"}
BASIC = {
    "algorithm": "native:basicstatisticsforfields",
    "parameters": {"INPUT_LAYER": "big", "FIELD_NAME": "pop"},
    "as": "basic",
}


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ({"count_of": "big"}, 2),
        ("s", 114),
        ({"step": "s", "key": "sum"}, 114),
        ({"step": "basic", "key": "MAX"}, 94),
        ({"step": "basic", "key": "max"}, 94),
        ("$basic.MIN", 20),
        ("$big.count", 2),
        ({"layer": "big", "field": "pop"}, 20),
        ({"layer": "big", "field": "pop", "row": 1}, 94),
        ({"layer": "big", "field": "pop", "row": -1}, 94),
        ({"layer": "big", "aggregate": 'sum("pop") / 2'}, 57),
        ({"layer": "big", "aggregate": "aggregate('towns', 'max', \"pop\")"}, 94),
        ({"layer": "towns", "max_of": "pop"}, 94),
        ({"max_of": "towns", "field": "pop"}, 94),
        ({"max_of": {"layer": "towns", "field": "pop"}}, 94),
        ({"max_of": "towns.pop"}, 94),
        ({"max_of": [{"count_of": "big"}, {"step": "s", "key": "sum"}]}, 114),
        ({"min_of": "towns", "field": "pop"}, 7),
        ({"mean_of": "big", "field": "pop"}, 57),
        (42, 42),
    ],
)
def test_a_number_is_referred_to_in_every_form(data: Path, reference: Any, value: float) -> None:
    record = played(data, BIG, STATISTICS, BASIC, number(reference))
    assert (record["status"], record["reason"]) == ("ok", "")
    assert record["value"] == value


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ({"layer": "towns", "field": "name", "row": 1}, "Bath"),
        ({"layer": "towns", "label_of_max": "name", "max_of": "pop"}, "Bath"),
        ({"layer": "towns", "label_of_max": "name", "field": "pop"}, "Bath"),
        ({"layer": "towns", "label_of_min": "name", "by": "pop"}, "Diss"),
        ({"label_of_max": {"layer": "towns", "field": "pop", "label": "name"}}, "Bath"),
        ({"label_of_max": {"many": {"count_of": "towns"}, "few": {"count_of": "big"}}}, "many"),
        ({"step": "i", "key": "crs"}, "EPSG:32632"),
        ("$i.geometry_type", "Polygon"),
        ("There are $big.count big ones", "There are 2 big ones"),
    ],
)
def test_a_text_is_referred_to_in_every_form(data: Path, reference: Any, text: str) -> None:
    info = {"tool": "layer_info", "layer": "towns", "as": "i"}
    record = played(data, BIG, info, {"tool": "answer", "text": reference})
    assert (record["status"], record["reason"]) == ("ok", "")
    assert text in record["answer"]


def test_steps_name_layers_by_step_file_source_and_output(data: Path) -> None:
    record = played(
        data,
        extract('"pop" > 0', "n"),
        {
            "algorithm": "native:fieldcalculator",
            "parameters": {"INPUT": "n", "FIELD_NAME": "n", "FORMULA": '"pop" * 2',
                           "OUTPUT": "doubled.gpkg"},
        },
        extract('"n" > 20', "kept", "doubled.gpkg"),
        {
            "algorithm": "native:countpointsinpolygon",
            "parameters": {"POLYGONS": "kept", "POINTS": "real/spots.gpkg|layername=spots",
                           "FIELD": "k", **OPEN},
            "as": "counted",
        },
        {
            "algorithm": "qgis:checkvalidity",
            "parameters": {"INPUT_LAYER": "counted", "METHOD": 2, "VALID_OUTPUT": OPEN["OUTPUT"],
                           "INVALID_OUTPUT": OPEN["OUTPUT"], "ERROR_OUTPUT": OPEN["OUTPUT"]},
            "as": "v",
        },
        extract("1 = 1", "invalid", "v.INVALID_OUTPUT"),
        extract("1 = 1", "valid", "v"),
        number({"layer": "valid", "aggregate": 'sum("k")'}),
    )  # fmt: skip
    assert (record["status"], record["reason"]) == ("ok", "")
    assert record["value"] == 3
    assert {Path(one["path"]).name for one in record["outputs"]} >= {"doubled.gpkg", "valid.gpkg"}


def test_a_layer_made_earlier_goes_by_its_name_in_expressions_and_calculations(data: Path) -> None:
    calculated = {
        "algorithm": "native:fieldcalculator",
        "parameters": {
            "INPUT": "towns", "FIELD_NAME": "rest", **OPEN,
            "FORMULA": "aggregate('big', 'sum', \"pop\") - \"pop\"",
        },
        "as": "calc",
    }  # fmt: skip
    record = played(data, BIG, calculated, number({"layer": "calc", "field": "rest"}))
    assert record["value"] == 94
    doubled = {
        "algorithm": "native:rastercalc",
        "parameters": {"LAYERS": ["real/cells.tif"], "EXPRESSION": '"cells@1" * 2', **OPEN},
        "as": "dbl",
    }
    again = {
        "algorithm": "native:rastercalc",
        "parameters": {"LAYERS": ["dbl"], "EXPRESSION": '"dbl@1" + 1', **OPEN},
        "as": "more",
    }
    told = {
        "algorithm": "native:rasterlayerstatistics",
        "parameters": {"INPUT": "more", "BAND": 1},
        "as": "s",
    }
    second = played(data, doubled, again, told, number({"step": "s", "key": "MAX"}))
    assert (second["reason"], second["value"]) == ("", 9)


def test_content_is_written_with_its_references(data: Path) -> None:
    content = {"count": "$big.count", "box": "$big.extent", "note": "as is", "sum": "$s"}
    step = {"tool": "write_json", "path": "told.json", "content": content}
    record = played(data, BIG, STATISTICS, step)
    (file,) = [one["path"] for one in record["outputs"] if one["kind"] == "file"]
    assert json.loads(Path(file).read_text(encoding="utf-8")) == {
        "count": 2, "box": [0, 0, 15, 5], "note": "as is", "sum": 114,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{"do": "something"}], "Step 1: it is of no known kind"),
        ([{"tool": "paint"}], 'Step 1: there is no tool "paint"'),
        ([{"algorithm": "native:nothing", "parameters": {}}], "Step 1: There is no algorithm"),
        ([BIG, number({"step": "nobody", "key": "x"})], "Step 2: No step and no layer is called"),
        ([BIG, number({"step": "big", "key": "x"})], 'Step 2: "big" has no value "x"'),
        ([number({"layer": "towns", "field": "zzz"})], 'has no field "zzz"'),
        ([number({"layer": "towns", "field": "pop", "row": 9})], "has 4 rows, so none at 9"),
        ([number({"guess": 3})], "is of no known form"),
        ([{"tool": "answer", "layer": "nowhere"}], 'no step and no layer is called "nowhere"'),
        ([], "Task T has no gold chain"),
    ],
)
def test_a_step_that_cannot_be_played_ends_the_chain(
    data: Path, steps: list[dict[str, Any]], said: str
) -> None:
    record = played(data, *steps)
    assert record["status"] == "failed"
    assert said in record["reason"]
    assert not record["success"]


def test_a_refusal_is_a_status_with_its_reason(data: Path) -> None:
    expect = {"reject": {"reason_any_of": ["no income"]}}
    record = played(data, {"tool": "answer", "reject": "no income field"}, expect=expect)
    assert (record["status"], record["reason"]) == ("rejected", "no income field")
    assert record["success"]
