# SPDX-License-Identifier: GPL-2.0-or-later
"""The canvas on Qt 6: shown, linked by hand, undone, run, painted. Prints what was seen as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), sys.argv[1]]

import shim  # noqa: E402

shim.install()

from qgis.PyQt.QtCore import QEvent, QPointF, Qt, qVersion  # noqa: E402
from qgis.PyQt.QtGui import QKeyEvent, QMouseEvent  # noqa: E402
from qgis.PyQt.QtWidgets import QApplication  # noqa: E402

from geo_olm.plugin.workflow.event import StepChanged  # noqa: E402
from geo_olm.plugin.workflow.graph import Graph, Status, Vertex  # noqa: E402
from geo_olm.plugin.workflow.role import Role, Roles  # noqa: E402
from geo_olm.plugin.workflow.value import Layer, Output  # noqa: E402
from geo_olm.tools.base import Family, LayerProfile, ToolDefinition  # noqa: E402
from geo_olm.ui.graph.document import GraphDocument  # noqa: E402
from geo_olm.ui.graph.inspector import Inspector  # noqa: E402
from geo_olm.ui.graph.picture import save_picture  # noqa: E402
from geo_olm.ui.graph.problem_list import ProblemList  # noqa: E402
from geo_olm.ui.graph.step_palette import StepPalette  # noqa: E402
from geo_olm.ui.graph.view import GraphView  # noqa: E402

app = QApplication([])
layer = {"type": "string", "x-layer": "any"}
schema = {"type": "object", "properties": {"layer": layer}, "required": ["layer"]}
document = GraphDocument()
document.know(
    [ToolDefinition("filter", "Filter.", schema, "Filter")],
    [LayerProfile("towns", "L1", Family.POINT, "point", "EPSG:4326", features=4)],
    Roles([Role("vector", "Vector", "makes layers", ("filter",))]),
)
steps = (
    Vertex("v1", "vector", "Keep some", "filter", {"layer": Layer("towns")}),
    Vertex("v2", "vector", "Keep fewer", "filter", {}),
)
document.load(Graph("Which?", steps))
panels = [Inspector(document), StepPalette(document), ProblemList(document)]
view = GraphView(document)
view.resize(1000, 600)
view.show()
app.processEvents()
scene = view.graph_scene


def mouse(kind: QEvent.Type, place: QPointF, held: bool) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    at = QPointF(view.mapFromScene(place))
    button = none if kind == QEvent.Type.MouseMove else left
    buttons = left if held else none
    where = QPointF(view.viewport().mapToGlobal(at.toPoint()))
    event = QMouseEvent(kind, at, where, button, buttons, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view.viewport(), event)


start, end = scene.nodes["v1"].output(), dict(scene.nodes["v2"].inputs())["layer"]
mouse(QEvent.Type.MouseButtonPress, start, True)
mouse(QEvent.Type.MouseMove, (start + end) / 2, True)
mouse(QEvent.Type.MouseMove, end, True)
mouse(QEvent.Type.MouseButtonRelease, end, False)
app.processEvents()
linked = document.graph.vertex("v2").parameters == {"layer": Output("v1")}
control = Qt.KeyboardModifier.ControlModifier
QApplication.sendEvent(view, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Z, control))
app.processEvents()
undone = document.graph.vertex("v2").parameters == {}
document.select(("v1",))
document.take(StepChanged("v1", Status.COMPLETED, "Done.", 0.1))
app.processEvents()
picture = view.grab()
save_picture(scene, Path(sys.argv[2]))
print(
    json.dumps(
        {
            "qt": qVersion(),
            "linked": linked,
            "undone": undone,
            "shape": scene.nodes["v1"].card.shape.value,
            "painted": not picture.isNull(),
            "svg": Path(sys.argv[2]).stat().st_size > 500,
        }
    )
)
