# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of what lasts over the whole catalogue, and over every algorithm of this QGIS."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest
from qgis.core import QgsApplication, QgsProcessingAlgorithm

from geo_olm.plugin.agent.event import Reach
from geo_olm.plugin.lasting import TABLE
from geo_olm.plugin.lasting_algorithm import REASONS, deed
from geo_olm.tools import offer
from geo_olm.tools.catalog import build_registry

pytestmark = pytest.mark.usefixtures("qgis_app", "qgis_processing")

WRITES = ("output_file(", ".boundary()", "output_folder", "charted(", "detector_folders")
"""What stands in the module of a tool that writes outside the temporary folder."""


def algorithms() -> list[QgsProcessingAlgorithm]:
    return list(QgsApplication.processingRegistry().algorithms())


def test_every_tool_of_the_catalogue_has_its_place_and_no_place_is_without_a_tool() -> None:
    names = {one.name for one in build_registry().definitions()}
    assert set(TABLE) == names - {"run_algorithm"}


def test_every_tool_whose_code_writes_files_is_placed_among_those_that_do() -> None:
    registry = build_registry()
    found = set()
    for name in TABLE:
        source = inspect.getsource(sys.modules[type(registry.find(name)).__module__])
        if any(word in source for word in WRITES):
            found.add(name)
    placed = {name for name, place in TABLE.items() if place.reach is Reach.FILE}
    assert found == placed


def test_every_tool_that_is_marked_as_lasting_lasts() -> None:
    marked = [one.name for one in build_registry().definitions() if one.lasting]
    assert marked
    assert all(TABLE[name].reach.lasts for name in marked)


def test_every_algorithm_with_temporary_outputs_ends_with_the_session() -> None:
    wrong = []
    for one in algorithms():
        if offer.refused(one) or not one.destinationParameterDefinitions():
            continue
        if deed(one, {}).reach is not Reach.MAKE:
            wrong.append(one.id())
    assert wrong == []


def test_every_algorithm_that_is_given_a_file_writes_one(tmp_path: Path) -> None:
    wrong = []
    for one in algorithms():
        for definition in one.destinationParameterDefinitions():
            if offer.refused(one):
                continue
            found = deed(one, {definition.name(): str(tmp_path / "x.gpkg")})
            if found.reach is not Reach.FILE or "x.gpkg" not in found.target:
                wrong.append(f"{one.id()} {definition.name()}")
    assert wrong == []


def test_every_algorithm_that_is_never_offered_would_be_asked_about() -> None:
    refused = [one for one in algorithms() if offer.refused(one)]
    assert len(refused) > 20
    assert all(deed(one, {}).reach.lasts for one in refused)
    assert set(REASONS) >= {offer.refused(one) for one in refused}


def test_algorithms_without_a_destination_only_look_or_are_asked_about() -> None:
    plain = {
        one.name(): deed(one, {}).reach
        for one in algorithms()
        if not offer.refused(one) and not one.destinationParameterDefinitions()
    }
    assert plain["layertobookmarks"] is Reach.PROJECT
    looks = {name for name, reach in plain.items() if not reach.lasts}
    assert looks <= {"rasterlayerproperties", "shpencodinginfo"}


@pytest.mark.parametrize("where", ["TEMPORARY_OUTPUT", "memory:", "", None])
def test_a_temporary_output_is_no_file(where: str | None) -> None:
    buffer = QgsApplication.processingRegistry().algorithmById("native:buffer")
    assert deed(buffer, {"INPUT": "towns", "OUTPUT": where}).reach is Reach.MAKE
