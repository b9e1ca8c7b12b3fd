# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole plugin with a real model in the embedded server, over real data."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from chat_case import wait_until
from qgis.core import QgsProject, QgsVectorLayer

from geo_olm.plugin.session import Session, answer_question
from geo_olm.plugin.settings import Settings

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"
pytestmark = [
    pytest.mark.model,
    pytest.mark.shared,
    pytest.mark.usefixtures("qgis_app", "qgis_processing"),
    pytest.mark.timeout(900),
]


def asked(tmp_path: Path, question: str, *names: str) -> dict[str, Any]:
    project = QgsProject()
    project.setEllipsoid("EPSG:7030")
    for name in names:
        copy = shutil.copy(SHARED / name, tmp_path)
        assert project.addMapLayer(QgsVectorLayer(str(copy), Path(name).stem, "ogr"))
    settings = Settings(server="embedded")
    return answer_question(question, project, settings, str(tmp_path / "out"), lambda _event: None)


def test_the_missing_values_of_the_world_are_counted_d01(tmp_path: Path) -> None:
    question = "How many countries in the world layer have no GDP per capita value?"
    record = asked(tmp_path, question, "world.gpkg")
    assert (record["status"], record["value"]) == ("ok", 17)
    assert "17" in record["answer"]
    assert record["model"]["server"] == "embedded"
    assert record["model"]["digest"]


def test_a_distance_in_a_projected_layer_is_right_d08(tmp_path: Path) -> None:
    question = "How many buildings are within 100 m of the pump?"
    record = asked(tmp_path, question, "buildings.gpkg", "b_pump.gpkg")
    assert (record["status"], record["value"]) == ("ok", 15)
    assert [layer["features"] for layer in record["layers"]] == [15]


def test_a_layer_that_is_not_there_is_refused_d18(tmp_path: Path) -> None:
    shapes = [path.name for path in SHARED.glob("lux.*")]
    for name in shapes:
        shutil.copy(SHARED / name, tmp_path)
    question = "Clip the roads layer to the Luxembourg districts and give me the road length."
    record = asked(tmp_path, question, "lux.shp")
    assert record["status"] == "rejected"
    assert "road" in record["reason"].lower()


def test_a_chat_of_four_turns_keeps_to_what_was_made_before(tmp_path: Path) -> None:
    project = QgsProject()
    project.setEllipsoid("EPSG:7030")
    copy = shutil.copy(SHARED / "world.gpkg", tmp_path)
    world = QgsVectorLayer(str(copy), "world", "ogr")
    assert project.addMapLayer(world)
    session = Session(project, Settings(server="embedded"))
    records: list[dict[str, Any]] = []
    session.finished.connect(records.append)

    def ask(question: str) -> dict[str, Any]:
        before = len(records)
        session.ask(question)
        wait_until(lambda: len(records) > before, limit=240)
        return records[-1]

    try:
        counted = ask("How many countries have no GDP per capita value? Show them.")
        assert (counted["value"], [one["features"] for one in counted["layers"]]) == (17, [17])
        kept = ask("Only those in Asia.")
        assert (kept["value"], [one["features"] for one in kept["layers"]]) == (4, [4])
        made = project.mapLayer(kept["layers"][0]["id"])
        missing = {"Dem. Rep. Korea", "Syria", "Taiwan", "Northern Cyprus"}
        assert {one["name_long"] for one in made.getFeatures()} == missing
        coloured = ask("Colour them by population.")
        assert coloured["status"] == "ok"
        assert made.renderer().type() in ("graduatedSymbol", "categorizedSymbol")
        assert world.renderer().type() == "singleSymbol"
        undone = ask("Undo that.")
        assert undone["status"] == "ok"
        assert made.renderer().type() == "singleSymbol"
    finally:
        session.close()
