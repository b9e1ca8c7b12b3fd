# SPDX-License-Identifier: GPL-2.0-or-later
"""A generated world of the smallest size, made once by the command, and a toolbox over it."""

from __future__ import annotations

import json
import os
import subprocess
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qgis.core import QgsRasterLayer, QgsVectorLayer
from toolbox_case import Bench

from geo_olm.plugin.evaluation.oracle import oracles
from geo_olm.plugin.evaluation.task import Task, read_tasks
from geo_olm.tools.base import ToolResult
from geo_olm.tools.catalog import build_registry
from geo_olm.tools.toolbox import ProjectToolbox

ROOT = Path(__file__).resolve().parents[2]
SEED, SIZE = 11, "small"
_KEPT: list[TemporaryDirectory[str]] = []


def made(out: Path | str, seed: int = SEED, size: str = SIZE) -> subprocess.CompletedProcess[str]:
    """Run the command as make world does."""
    environment = {**os.environ, "SEED": str(seed), "SIZE": size, "OUT": str(out)}
    return subprocess.run(
        ["/usr/bin/python3", str(ROOT / ".ci" / "world.py")],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@lru_cache(maxsize=1)
def world() -> Path:
    """Return the folder of the world that the tests share."""
    _KEPT.append(TemporaryDirectory(prefix="geo-olm-world-"))
    folder = Path(_KEPT[-1].name)
    done = made(folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / "tasks.json")
    return folder


def truth(folder: Path | None = None) -> dict[str, Any]:
    """Return what is true, of the shared world or another."""
    text = ((folder or world()) / "truth.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["sizes"][SIZE]
    return found


def tasks() -> tuple[Task, ...]:
    """Return the tasks of the shared world."""
    return read_tasks(world() / "tasks.json").tasks


class WorldBench(Bench):
    """A toolbox that may read the world; `zones` are opened as layers of their names."""

    def __init__(self, folder: Path, *zones: str, layers: tuple[str, ...] = ()) -> None:
        opened = [
            QgsVectorLayer(str(world() / SIZE / "zones" / f"{one}.gpkg"), one, "ogr")
            for one in zones
        ]
        for one in layers:
            path = str(world() / SIZE / one)
            kind = QgsRasterLayer if one.endswith(".tif") else QgsVectorLayer
            opened.append(kind(path, Path(one).stem))
        assert all(one.isValid() for one in opened)
        (folder / "out").mkdir()
        super().__init__(folder / "work", *opened)
        names = {one.name() for one in opened}
        registry = build_registry(oracles(names))
        self.toolbox = ProjectToolbox(
            self.project, registry, self.caller, folder / "work", folder / "out", None, (world(),)
        )
        self.toolbox.begin_turn("a question")

    def index(self, folder: str) -> str:
        """Index a folder of products and return the catalogue's id."""
        path = str(world() / SIZE / "products" / folder)
        file = f"{folder.replace('/', '_')}.gpkg"
        return self.run("index_scenes", folders=[path], file=file).id

    def rows(self, result: ToolResult) -> list[dict[str, Any]]:
        """Return the features of a result's layer as dictionaries."""
        layer = self.project.mapLayer(result.layers[0].id)
        names = layer.fields().names()
        return [dict(zip(names, one.attributes())) for one in layer.getFeatures()]
