# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans of a real model in the embedded server, over real data, and changes of them in words."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qgis.core import QgsProject, QgsVectorLayer

from geo_olm.plugin.assembly import make_toolbox
from geo_olm.plugin.link import process_link
from geo_olm.plugin.plan_work import make_planner
from geo_olm.plugin.planner import Planner
from geo_olm.plugin.replay import replay
from geo_olm.plugin.runner import MainThread, RunTask, wait
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.change import applied
from geo_olm.plugin.workflow.dialogue import Dialogue
from geo_olm.plugin.workflow.graph import Graph
from geo_olm.plugin.workflow.value import Output

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"
pytestmark = [
    pytest.mark.model,
    pytest.mark.shared,
    pytest.mark.usefixtures("qgis_app", "qgis_processing"),
    pytest.mark.timeout(900),
]
SETTINGS = Settings(server="embedded")
Planned = Callable[[Callable[[Planner], Any]], Any]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[QgsProject]:
    made = QgsProject()
    made.setEllipsoid("EPSG:7030")
    for name in ("world.gpkg", "cycle_hire.geojson"):
        copy = shutil.copy(SHARED / name, tmp_path)
        assert made.addMapLayer(QgsVectorLayer(str(copy), Path(name).stem, "ogr"))
    yield made
    made.clear()


@pytest.fixture
def planned(project: QgsProject) -> Iterator[Planned]:
    """Give a planner over the project to a function on a worker."""
    toolbox = make_toolbox(project, SETTINGS, MainThread())

    def run(work: Callable[[Planner], Any]) -> Any:
        found: list[Any] = []

        def on_worker(emit: Any, stopped: Any) -> None:
            speaker = process_link().connect(SETTINGS, emit, stopped)
            found.append(work(make_planner(toolbox, speaker, SETTINGS, emit, stopped)))

        wait(RunTask("test", on_worker), lambda: False)
        return found[0]

    yield run
    toolbox.close()


def test_a_chain_is_planned_and_gives_the_same_result_twice_without_the_model_d10(
    planned: Planned, project: QgsProject, tmp_path: Path
) -> None:
    question = (
        "Make a 500 m buffer around the cycle_hire stations of the area Soho, merged into one "
        "polygon. How many km² does it cover?"
    )
    graph: Graph = planned(lambda planner: planner.plan(question)).graph
    records = [
        replay(graph, project, Settings(), {}, str(tmp_path), lambda event: None) for _ in range(2)
    ]
    values = [one["value"] for one in records]
    assert values[0] == values[1] == pytest.approx(1.665, rel=0.01)


def test_requests_in_words_change_only_what_they_name(planned: Planned) -> None:
    question = "How many countries in the world layer have no GDP per capita value?"
    count: Graph = planned(lambda planner: planner.plan(question)).graph

    def ask(graph: Graph, request: str) -> Graph:
        return planned(
            lambda planner: applied(
                graph, Dialogue(planner.reviser(), graph).changed(graph, request)
            )
        )

    asia = ask(count, "only those in Asia")
    conditions = [one for step in asia.vertices for one in (step.parameters or {})["conditions"]]
    assert {"field": "continent", "op": "=", "value": "Asia"} in conditions
    assert any(one["field"] == "gdpPercap" for one in conditions)
    buffer = planned(
        lambda planner: planner.plan("Buffer the cycle_hire stations of the area Soho by 500 m.")
    ).graph
    (ring,) = [one for one in buffer.vertices if one.tool == "buffer"]
    wider = ask(buffer, "use 2 km instead")
    assert wider.vertex(ring.id).parameters["distance"] in (2000, "2 km", "2000 m")
    assert [one for one in wider.vertices if one.id != ring.id] == [
        one for one in buffer.vertices if one.id != ring.id
    ]
    merged = ask(buffer, "add a dissolve after the buffer")
    (last,) = [one for one in merged.vertices if one.tool == "dissolve"]
    assert last.parameters["layer"] == Output(ring.id)
    assert all(merged.vertex(one.id) == one for one in buffer.vertices)
