# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups, notes, drops, the outline and the search of the canvas on Qt 6, by real events. Prints
what was seen as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), sys.argv[1]]

import shim  # noqa: E402

shim.install()

from qgis.PyQt.QtCore import QEvent, QPointF, Qt, qVersion  # noqa: E402
from qgis.PyQt.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent  # noqa: E402
from qgis.PyQt.QtTest import QTest  # noqa: E402
from qgis.PyQt.QtWidgets import QApplication  # noqa: E402

from geo_olm.plugin.workflow.event import StepChanged  # noqa: E402
from geo_olm.plugin.workflow.graph import Graph, Status, Vertex  # noqa: E402
from geo_olm.plugin.workflow.role import Role, Roles  # noqa: E402
from geo_olm.plugin.workflow.value import Layer, Output  # noqa: E402
from geo_olm.tools.base import Family, LayerProfile, ToolDefinition, ToolResult  # noqa: E402
from geo_olm.ui.graph.carried import layer_mime, step_mime  # noqa: E402
from geo_olm.ui.graph.document import GraphDocument  # noqa: E402
from geo_olm.ui.graph.link_item import LinkKey  # noqa: E402
from geo_olm.ui.graph.outline import Outline  # noqa: E402
from geo_olm.ui.graph.view import GraphView  # noqa: E402

app = QApplication([])
schema = {"type": "object", "properties": {"layer": {"type": "string", "x-layer": "vector"}}}
document = GraphDocument()
document.know(
    [ToolDefinition("filter", "Filter.", schema, "Filter")],
    [LayerProfile("towns", "L1", Family.POINT, "point", "EPSG:4326", features=4)],
    Roles([Role("vector", "Vector", "makes layers", ("filter",))]),
)
steps = (
    Vertex("v1", "vector", "Keep some", "filter", {"layer": Layer("towns")}),
    Vertex("v2", "vector", "Keep fewer", "filter", {"layer": Output("v1")}),
)
document.load(Graph("Which?", steps))
view, outline = GraphView(document), Outline(document)
for widget in (view, outline):
    widget.resize(1000, 600)
    widget.show()
app.processEvents()
scene = view.graph_scene
CONTROL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def key(code: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> None:
    QApplication.sendEvent(view, QKeyEvent(QEvent.Type.KeyPress, code, modifier))
    app.processEvents()


def written(text: str, modifier: Qt.KeyboardModifier = NONE) -> None:
    editor = view.findChild(object, "GeoOlmInPlace")
    QTest.keyClicks(editor, text)
    QTest.keyClick(editor, Qt.Key.Key_Return, modifier)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    app.processEvents()


def drop(mime: object, place: QPointF) -> None:
    at = view.mapFromScene(place)
    action, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(at, action, mime, left, NONE)
    QApplication.sendEvent(view.viewport(), enter)
    QApplication.sendEvent(view.viewport(), QDropEvent(QPointF(at), action, mime, left, NONE))
    app.processEvents()


seen: dict[str, object] = {"qt": qVersion()}
document.select(("v1", "v2"))
key(Qt.Key.Key_G, CONTROL)
written("Both")
seen["grouped"] = [(one.title, one.vertices) for one in document.graph.groups]
key(Qt.Key.Key_G)
seen["folded"] = not scene.nodes["v1"].isVisible()
key(Qt.Key.Key_G)
key(Qt.Key.Key_A, SHIFT)
written("Mind it", CONTROL)
seen["note"] = document.graph.notes[0].text
link = scene.links[LinkKey(Output("v1"), "v2", "layer")]
drop(step_mime(Vertex("", "vector", "", "filter", {})), link.middle())
seen["inserted"] = document.graph.vertex("v2").parameters == {"layer": Output("v3")}
drop(layer_mime("towns"), scene.nodes["v2"].mapToScene(QPointF(80, 20)))
seen["dropped"] = document.graph.vertex("v2").parameters == {"layer": Layer("towns")}
document.select(("v1",))
key(Qt.Key.Key_C)
seen["connecting"] = view.walk.is_connecting
key(Qt.Key.Key_Escape)
key(Qt.Key.Key_F, CONTROL)
QTest.keyClicks(view.finder.field, "fewer")
seen["found"] = sorted(document.selection)
document.take(StepChanged("v1", Status.COMPLETED, "4", 0.1, ToolResult("4", numbers={"n": 4.0})))
document.select(("v1",))
key(Qt.Key.Key_P)
seen["preview"] = view.previews.frame.isVisible()
seen["outline"] = [outline.model().index(at, 0).data() for at in range(4)]
seen["painted"] = not view.grab().isNull()
for _ in range(20):
    document.undo_stack.undo()
seen["undone"] = document.graph.vertices == steps and not document.graph.groups
print(json.dumps(seen))
