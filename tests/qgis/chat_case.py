# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies of a model as the fake server gives them, a small project, and a wait with events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from fake_openai import FakeOpenAI, said
from qgis.core import QgsApplication, QgsProject
from qgis.PyQt.QtCore import QCoreApplication, QEvent
from scripted_server import Step
from toolbox_case import box, layer

from geo_olm.plugin.settings import Settings


def init(intent: str = "Count", *layers: str) -> Step:
    """Return the reply to Init."""
    named = list(layers) or ["towns"]
    return said(json.dumps({
        "CURRENT_STAGE": "Init", "USER_INTENT": intent, "NEEDS": "towns", "layers": named,
    }))  # fmt: skip


def call(stage: str, tool: str, **arguments: Any) -> Step:
    """Return a reply with one call."""
    return said(json.dumps({"CURRENT_STAGE": stage, "tool": tool, "arguments": arguments}))


COUNT = call("Analyse", "count", layer="towns")
BIG = call("Filter", "filter", layer="towns", conditions=[{"field": "pop", "op": ">", "value": 9}])
ANSWER = call("Answer", "answer", value="r1.count")
HOW_MANY = (init(), COUNT, ANSWER, said("There are ", "3 towns."))
WHICH_BIG = (
    init(),
    BIG,
    call("Answer", "answer", value="r1.count", layers=["r1"]),
    said("There are 2 big towns."),
)


def fill(project: QgsProject) -> QgsProject:
    """Put three towns and a park into a project."""
    towns = [("POINT(1 1)", "Ely", 20), ("POINT(2 2)", "Bath", 10), ("POINT(9 9)", "Diss", 5)]
    project.addMapLayer(layer("towns", "Point", "name:string pop:integer", towns))
    project.addMapLayer(layer("park", "Polygon", "id:integer", [(box(0, 0, 3, 3), 1)]))
    project.setEllipsoid("EPSG:7030")
    return project


def settings_for(server: FakeOpenAI, **changes: Any) -> Settings:
    """Return settings that lead to a fake server, whose script is one of the states."""
    ways: dict[str, Any] = {"plan_first": False, **changes}
    return Settings(server="openai", address=server.address, **ways)


def wait_until(done: Callable[[], bool], limit: float = 20.0) -> float:
    """Handle events until `done`; return the seconds that it took."""
    started = time.monotonic()
    while not done():
        assert time.monotonic() - started < limit, "it did not happen in time"
        QCoreApplication.processEvents()
        time.sleep(0.005)
    return time.monotonic() - started


def settle() -> None:
    """Wait for the tasks of QGIS to end and for deleted objects to go."""
    wait_until(lambda: QgsApplication.taskManager().countActiveTasks() == 0)
    QCoreApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
