# SPDX-License-Identifier: GPL-2.0-or-later
"""Every algorithm of the registry: its schema is built, and it runs on small layers through the
tool run_algorithm, or stands in a list with the reason. Crashes of QGIS end a child only."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from qgis.core import QgsApplication

from geo_olm.tools import offer, parameter
from geo_olm.tools.parameter_schema import schema

pytestmark = pytest.mark.usefixtures("qgis_processing")

PROGRAM = Path(__file__).with_name("sweep.py")
LEAST = 250
WHY = {
    "atlaslayouttopdf": "atlas",
    "b3dmtogltf": "INPUT",
    "convertgpsdata": "GPSBabel|gpsbabel",
    "convertgpxfeaturetype": "gpsbabel",
    "coveragesimplify": "GEOS 3.12",
    "coverageunion": "GEOS 3.12",
    "coveragevalidate": "GEOS 3.12",
    "flattenrelationships": "No relations found",
    "gltftovector": "INPUT",
    "printlayoutmapextenttolayer": "Could not write feature",
}
"""What cannot run on the layers here, by name, and a part of what is said: no atlas, no relations,
no 3D tiles are made; gpsbabel and a newer GEOS may be missing; the last fails in QGIS itself."""

TAKES_MINUTES = {"findprojection"}
"""It tries every CRS that there is."""


def offered() -> list[str]:
    algorithms = QgsApplication.processingRegistry().algorithms()
    found = [one for one in algorithms if not offer.refused(one)]
    return sorted(one.id() for one in found if one.name() not in TAKES_MINUTES)


def swept(ids: list[str], folder: Path) -> dict[str, dict[str, Any]]:
    """Run the algorithms in child processes; one on which a child ends is marked as crashed."""
    results, todo = folder / "results.jsonl", list(ids)
    found: dict[str, dict[str, Any]] = {}
    while todo:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(PROGRAM), str(folder), str(results), *todo],
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        )
        assert results.exists(), done.stderr[-2000:]
        rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
        found.update({row["id"]: row for row in rows if "ran" in row or row["id"] not in found})
        begun = [one for one in todo if one in found]
        if "ran" not in found[begun[-1]]:
            said = f"crashed: {done.stderr.strip()[-200:]}"
            found[begun[-1]] = {"id": begun[-1], "ran": False, "said": said}
        elif done.returncode != 0:
            pytest.fail(f"the sweep ended early: {done.stderr[-2000:]}")
        todo = todo[len(begun) :]
    return found


def unexplained(found: dict[str, dict[str, Any]]) -> list[str]:
    """Return those that did not run and have no reason in the list."""
    return [
        f"{one}: {row['said']}"
        for one, row in found.items()
        if not row["ran"] and not re.search(WHY.get(one.split(":")[1], r"\A\Z"), row["said"])
    ]


def test_a_schema_is_built_for_every_algorithm_present() -> None:
    algorithms = QgsApplication.processingRegistry().algorithms()
    assert len(algorithms) > 300
    for one in algorithms:
        found = schema(one)
        assert set(found["required"]) <= set(found["properties"]), one.id()
        assert json.loads(json.dumps(found)) == found, one.id()
        shown = {item.name() for item in one.parameterDefinitions() if not offer.is_hidden(item)}
        assert set(found["properties"]) == shown, one.id()
        for name, wanted in found["properties"].items():
            assert wanted["x-type"], name
            if "default" in wanted and "enum" in wanted:
                assert wanted["default"] in wanted["enum"], (one.id(), name)


def test_what_the_schema_does_not_require_has_a_default_that_processing_takes() -> None:
    for one in QgsApplication.processingRegistry().algorithms():
        required = schema(one)["required"]
        for item in one.parameterDefinitions():
            left_out = item.name() not in required and not item.isDestination()
            if left_out and not parameter.needs_value(item):
                taken = item.checkValueIsAcceptable(None) or parameter.stated(item)
                assert taken, (one.id(), item.name())


def test_some_of_every_kind_run_on_small_layers(tmp_path: Path) -> None:
    ids = offered()[::10]
    found = swept(ids, tmp_path)
    assert set(found) == set(ids)
    assert unexplained(found) == []
    assert sum(row["ran"] for row in found.values()) >= 28


def test_a_crash_ends_the_child_and_the_sweep_goes_on(tmp_path: Path) -> None:
    found = swept(["native:centroids", "no:such", "native:boundary"], tmp_path)
    assert [row["ran"] for row in found.values()] == [True, False, True]
    assert found["no:such"]["said"].startswith("crashed")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_every_offered_algorithm_runs_or_says_why_not(tmp_path: Path) -> None:
    ids = offered()
    found = swept(ids, tmp_path)
    registry = QgsApplication.processingRegistry()
    refused = {one.id(): offer.refused(one) for one in registry.algorithms() if offer.refused(one)}
    lines = [f"{len(ids)} offered, {sum(row['ran'] for row in found.values())} ran"]
    lines += [f"not run: {one}: {row['said']}" for one, row in found.items() if not row["ran"]]
    lines += [f"not run: {one}: takes minutes" for one in sorted(TAKES_MINUTES)]
    lines += [f"refused: {one}: it {reason}" for one, reason in sorted(refused.items())]
    (tmp_path / "sweep.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    assert set(found) == set(ids)
    assert unexplained(found) == []
    assert sum(row["ran"] for row in found.values()) >= LEAST
    assert len(ids) + len(refused) + len(TAKES_MINUTES) == len(registry.algorithms())
