# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the pictures of the graph editor: for looking at, and those of the help page.

. .ci/headless.env; QT_QPA_PLATFORM=offscreen /usr/bin/python3 .ci/pictures.py FOLDER
… .ci/pictures.py --help-page      writes those of resources/help again
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [
    os.environ.get("QGIS_PLUGINPATH", str(ROOT / ".work" / "plugins")),
    "/usr/share/qgis/python/plugins",
    str(ROOT / "tests" / "ui"),
]

from qgis.core import QgsApplication  # noqa: E402
from qgis.PyQt.QtCore import QEvent, QLocale  # noqa: E402
from qgis.PyQt.QtGui import QImage  # noqa: E402

HELP = ROOT / "resources" / "help"
SIZES = (4, 12, 60)
STATES = ("idle", "running", "failed", "proposed")
_SIZE, _SMALL = (1400, 840), (1100, 620)
_FONT_PIXELS = 12


def workflow(size: int) -> Any:
    """Return a workflow of as many steps: stations counted near parks, branch by branch."""
    from geo_olm.plugin.workflow.graph import Graph, Vertex
    from geo_olm.plugin.workflow.value import Layer, Output

    steps = []
    for at in range(0, size, 4):
        first, second, third = (f"v{at + one}" for one in (1, 2, 3))
        steps += [
            Vertex(first, "vector", "Bring the stations to metres", "reproject",
                   {"layer": Layer("cycle_hire"), "crs": "EPSG:27700"}, title="To British grid"),
            Vertex(second, "vector", "Draw 500 m around every station, as one area", "buffer",
                   {"layer": Output(first), "distance": 500 + at, "dissolve": True},
                   title=f"Buffer {500 + at} m"),
            Vertex(third, "vector", "Keep the boroughs that the buffers reach",
                   "select_by_location",
                   {"layer": Layer("boroughs"), "other": Output(second)}, title="Reached"),
            Vertex(f"v{at + 4}", "table", "Count the boroughs that are reached", "count",
                   {"layer": Output(third)}, title="Count"),
        ]  # fmt: skip
    return Graph("How many boroughs have a cycle hire station near?", tuple(steps[:size]))


def dock_of(size: int) -> Any:
    """Return the dock with such a workflow."""
    from geo_olm.plugin.replay import agents
    from geo_olm.tools.base import Family, LayerProfile
    from geo_olm.tools.catalog import build_registry
    from geo_olm.ui.graph.graph_dock import GraphDock

    dock = GraphDock()
    layers = (
        LayerProfile("cycle_hire", "L1", Family.POINT, "Point", "EPSG:4326", features=742),
        LayerProfile("boroughs", "L2", Family.POLYGON, "Polygon", "EPSG:4326", features=33),
    )
    dock.document.know(build_registry().definitions(), layers, agents())
    dock.document.load(workflow(size))
    dock.resize(*_SIZE)
    dock.show()
    return dock


def bring(dock: Any, state: str) -> None:
    """Bring a dock to a state."""
    from geo_olm.plugin.workflow.change import Change
    from geo_olm.plugin.workflow.event import GraphStarted, StepChanged, StepProgress
    from geo_olm.plugin.workflow.graph import Status, Vertex
    from geo_olm.plugin.workflow.value import Output
    from geo_olm.tools.base import LayerReference, ToolResult

    document = dock.document
    graph = document.graph
    if state in ("running", "failed"):
        made = ToolResult("742 points.", layers=(LayerReference(
            "x", "Points", "", "Point", "EPSG:27700", 742),))  # fmt: skip
        dock.set_running(True)
        dock.handle(GraphStarted(graph, graph.ids()))
        dock.handle(StepChanged("v1", Status.COMPLETED, "742 points.", 0.2, made))
        dock.handle(StepChanged("v2", Status.RUNNING))
        dock.handle(StepProgress("v2", 64.0))
    if state == "failed":
        said = "Feature 6775 of cycle_hire is invalid: its outline crosses itself."
        dock.handle(StepChanged("v2", Status.FAILED, said, 0.3))
        dock.handle(StepChanged("v3", Status.SKIPPED, "v2 failed."))
        dock.set_running(False)
    if state == "proposed":
        buffer, reached = graph.vertex("v2"), graph.vertex("v3")
        wider = replace(buffer, parameters={**buffer.parameters, "distance": 1000})
        merge = Vertex("new", "vector", "Merge the areas", "dissolve",
                       {"layer": Output("v2")}, title="Dissolve")  # fmt: skip
        after = replace(reached, parameters={**reached.parameters, "other": Output("new")})
        document.propose(Change((wider, after), (merge,), reason="Add a dissolve, use 1 km"))


def grabbed(application: Any, dock: Any, target: Path) -> None:
    """Write the picture of a dock, as small as can be without loss."""
    for _ in range(4):
        application.processEvents()
    dock.view.fit()
    for _ in range(3):
        application.processEvents()
    image = dock.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    image.save(str(target), "PNG", 0)
    dock.close()
    dock.deleteLater()
    application.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def main(arguments: list[str]) -> int:
    """Draw all pictures into a folder, or those of the help page."""
    application = QgsApplication([], True)
    application.initQgis()
    application.setStyle("Fusion")
    font = application.font()
    font.setPixelSize(_FONT_PIXELS)
    application.setFont(font)
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    from conftest import DARK, LIGHT, palette_of

    if arguments[:1] == ["--help-page"]:
        application.setPalette(palette_of(LIGHT))
        for state in STATES:
            dock = dock_of(4)
            dock.resize(*_SMALL)
            bring(dock, state)
            dock.document.select(("v2",))
            grabbed(application, dock, HELP / f"workflow_{state}.png")
        return 0
    folder = Path(arguments[0] if arguments else "pictures")
    folder.mkdir(parents=True, exist_ok=True)
    for name, colours in (("light", LIGHT), ("dark", DARK)):
        application.setPalette(palette_of(colours))
        for size in SIZES:
            for state in STATES:
                dock = dock_of(size)
                bring(dock, state)
                grabbed(application, dock, folder / f"{size}_{state}_{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
