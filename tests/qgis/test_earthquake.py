# SPDX-License-Identifier: GPL-2.0-or-later
"""The study of a made-up earthquake: its facts are what geopandas and numpy find in the files, and
its 120 questions are solved through the tools."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import geopandas
import numpy
import pandas
import pytest
import shapely
from osgeo import gdal
from world_case import SIZE, world

from geo_olm.plugin.agent import state
from geo_olm.plugin.evaluation.harness import Harness, Plan
from geo_olm.plugin.evaluation.method import methods_named
from geo_olm.plugin.evaluation.result import ResultFile
from geo_olm.plugin.evaluation.task import read_tasks
from geo_olm.plugin.place import RESOURCES
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.world.world import make_table
from geo_olm.tools.catalog import build_registry
from geo_olm.tools.study_catalog import study_tools

pytestmark = pytest.mark.usefixtures("qgis_processing")
LONG = os.environ.get("GEO_OLM_LONG") == "1"
CITIES = ("Kahramanmaraş", "Nurdağı", "İslahiye", "Türkoğlu")
DAYS = {"7 February 2023": "2023_02_07", "9 February 2023": "2023_02_09"}
PLAYED = ("EQ003", "EQ032", "EQ063", "EQ092", "EQ106", "EQ112")


def questions() -> list[dict[str, Any]]:
    text = (world() / "earthquake.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["tasks"]
    return found


def found_in_files(day: str) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Return buildings with their share of damage, and blocks with people and damaged buildings."""
    folder = world() / SIZE / "earthquake"
    raster = gdal.Open(str(folder / f"damage_{day}.tif"))
    classes, (left, width, _, top, _, height) = raster.ReadAsArray(), raster.GetGeoTransform()
    x = left + (numpy.arange(classes.shape[1]) + 0.5) * width
    y = top + (numpy.arange(classes.shape[0]) + 0.5) * height
    buildings = geopandas.read_file(folder / "buildings.gpkg")
    shares = []
    for shape in buildings.geometry:
        west, south, east, north = shape.bounds
        columns, rows = (x > west - 1) & (x < east + 1), (y > south - 1) & (y < north + 1)
        mask = shapely.contains_xy(shape, *numpy.meshgrid(x[columns], y[rows]))
        shares.append(float((classes[numpy.ix_(rows, columns)][mask] == 3).mean()))
    buildings["share"] = shares
    people = gdal.Open(str(folder / "people.tif"))
    values, (left, width, _, top, _, height) = people.ReadAsArray(), people.GetGeoTransform()
    blocks = geopandas.read_file(folder / "blocks.gpkg")
    centres = blocks.geometry.centroid
    blocks["people"] = [
        float(values[int((one.y - top) / height), int((one.x - left) / width)]) for one in centres
    ]
    hit = buildings[buildings["share"] > 0].geometry
    blocks["hit"] = [int(hit.within(one).sum()) for one in blocks.geometry]
    return buildings, blocks


def test_every_fact_is_what_the_files_hold() -> None:
    asked = {one["question"]: one["expect"].get("number", {}).get("value") for one in questions()}
    for said, day in DAYS.items():
        buildings, blocks = found_in_files(day)
        for city in CITIES:
            own, around = buildings[buildings.city == city], blocks[blocks.city == city]
            damaged = (own["share"] > 0).sum()
            assert asked[f"How many buildings of {city} were damaged by {said}?"] == damaged
            share = asked[f"Which percentage of the buildings of {city} was damaged by {said}?"]
            assert share == pytest.approx(100 * damaged / len(own))
            assert asked[f"How many buildings has {city}?"] == len(own)
            affected = asked[
                f"How many people live in the blocks of {city} with damaged buildings on {said}?"
            ]
            assert affected == pytest.approx(around[around["hit"] > 0]["people"].sum(), rel=1e-5)
            together = asked[
                "What is the correlation of people and damaged buildings over the blocks of "
                f"{city} on {said}?"
            ]
            assert together == pytest.approx(around["people"].corr(around["hit"]), rel=1e-5)


def test_the_120_questions_are_the_grid_and_what_follows_from_it() -> None:
    raw = questions()
    assert len(raw) == len(read_tasks(world() / "earthquake.json").tasks) == 120
    assert len({one["question"] for one in raw}) == 120
    tolerances = {one["expect"]["number"].get("rel_tol", 0) for one in raw
                  if "number" in one["expect"]}  # fmt: skip
    assert tolerances <= {0, 0.1}
    facts = Counter(one["chains"][0]["steps"][-1]["arguments"].get("value") for one in raw[:84])
    assert facts == {"$d.damaged": 24, "$d.percent": 24, "$n.sum": 24, "$b.count": 12}
    said = " ".join(one["question"] for one in raw)
    for spelled in ("Nurdagi", "Marash", "Islahiye", "Turkoglu", *CITIES):
        assert re.search(rf"\b{spelled}\b", said), spelled
    note = json.loads((world() / "earthquake.json").read_text(encoding="utf-8"))["note"]
    assert "made up" in note


@pytest.mark.timeout(900)
def test_the_questions_are_solved_by_their_calls(tmp_path: Path) -> None:
    every = read_tasks(world() / "earthquake.json").tasks
    chosen = tuple(one for one in every if LONG or one.id in PLAYED)
    plan = Plan(chosen, tuple(methods_named("gold", Settings())), world(), tmp_path)
    runs = ResultFile(Harness(plan).run()).runs
    assert len(runs) == (120 if LONG else len(PLAYED))
    assert {one["task"]: one["reasons"] for one in runs if not one["success"]} == {}


@pytest.mark.parametrize("name", ["remote_sensing", "multi_scope", "earthquake"])
def test_the_tools_of_the_papers_workflows_exist(name: str) -> None:
    workflow = state.load(RESOURCES / "workflows" / f"{name}.json")
    known = {one.name for one in build_registry().definitions()}
    known |= {one.definition.name for one in study_tools()}
    assert {tool for one in workflow.states for tool in one.tools} - known == set()


def test_the_table_of_the_study_answers_questions_of_its_own(tmp_path: Path) -> None:
    path = make_table(world() / SIZE / "earthquake" / "table.csv", tmp_path)
    every = read_tasks(path).tasks
    assert len(every) == 2 * 4 * 4 + 2
    plan = Plan(
        (every[1], every[-1]), tuple(methods_named("gold", Settings())), tmp_path, tmp_path / "out"
    )
    runs = ResultFile(Harness(plan).run()).runs
    assert {one["task"]: one["reasons"] for one in runs if not one["success"]} == {}


def test_the_report_says_what_is_true_and_that_it_is_made_up() -> None:
    report = (world() / SIZE / "earthquake" / "report.md").read_text(encoding="utf-8")
    assert "Everything in this report is made up" in report
    for said in ("7 February 2023", "9 February 2023"):
        buildings, _ = found_in_files(DAYS[said])
        own = buildings[buildings.city == "Nurdağı"]
        day = DAYS[said].replace("_", "-")
        damaged = (own["share"] > 0).sum()
        assert f"On the image of {day}, {damaged} of {len(own)} buildings were damaged" in report
