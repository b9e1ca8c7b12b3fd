# SPDX-License-Identifier: GPL-2.0-or-later
"""Exported scripts run by themselves and give what their workflows give."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from exchange_case import graphs, names, run, tasks
from qgis.core import QgsApplication
from test_model_process import differences, exported

from geo_olm.plugin.exchange.catalog import is_offered
from geo_olm.plugin.exchange.script import to_script
from geo_olm.plugin.provider import GeoOlmProvider
from geo_olm.plugin.workflow.graph import Graph, Vertex
from geo_olm.plugin.workflow.value import Layer, Output, Template

pytestmark = pytest.mark.usefixtures("qgis_processing", "provider")
LONG = ("D04 gold", "D07 gold", "D10 gold", "D11 gold", "D19 gold", "D22 gold", "D24 plan")
PYTHON = "/usr/bin/python3"
"""The interpreter that QGIS was built for."""


@pytest.fixture(scope="module")
def provider() -> Iterator[None]:
    """Let QGIS know our own algorithms."""
    registry = QgsApplication.processingRegistry()
    found = GeoOlmProvider()
    registry.addProvider(found)
    yield
    registry.removeProvider(found)


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", [one for one in names(("D21 gold",)) if getattr(one, "values", (one,))[0] in
             ("D21 gold", *LONG)],
)  # fmt: skip
def test_a_script_gives_what_its_workflow_gives(name: str, tmp_path: Path) -> None:
    graph, task = graphs()[name], tasks()[name[:3]]
    here = run(graph, task, tmp_path)
    assert here.error == ""
    _, inputs, _ = exported(graph, task, tmp_path)
    script, lost = to_script(graph, is_offered)
    assert lost == ()
    path = tmp_path / "script.py"
    path.write_text(script, encoding="utf-8")
    results = ran(path, inputs)
    assert set(results) == {one for one in inputs if ":Result" in one}
    assert differences(here, results) == []


def ran(path: Path, inputs: dict[str, Any]) -> dict[str, Any]:
    """Run a script in an interpreter of its own and return its results."""
    done = subprocess.run(
        [PYTHON, str(path)], input=json.dumps({"inputs": inputs}), capture_output=True, text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_script_of_any_question_can_be_read_by_python() -> None:
    steps = (
        Vertex("v1", tool="count", parameters={"layer": Layer("a"), "where": "\"x\" = 'it''s\\n'"}),
        Vertex("v2", tool="calculate", title="it's 1",
               parameters={"expression": Template("{v1.count} / 2")}),
        Vertex("v3", tool="calculate", parameters={"expression": Output("v2")}),
    )  # fmt: skip
    for question in ('2 km²: "how"\\ many?', "多少", '"""', "", "Wie viele Straßen?\nUnd wo?"):
        script, lost = to_script(Graph(question, steps), is_offered)
        assert lost == ()
        compile(script, "script.py", "exec")
        assert "evaluated('to_string(@" in script or 'evaluated("to_string(' in script
