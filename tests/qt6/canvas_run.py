# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs and proposals on Qt 6: actions, states, a failure mended, stops, parts. Prints JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), sys.argv[1]]

import shim  # noqa: E402

shim.install()

from qgis.PyQt.QtCore import QEvent, QPointF, Qt, qVersion  # noqa: E402
from qgis.PyQt.QtGui import QMouseEvent  # noqa: E402
from qgis.PyQt.QtTest import QTest  # noqa: E402
from qgis.PyQt.QtWidgets import QApplication  # noqa: E402

from geo_olm.plugin.workflow.change import Change  # noqa: E402
from geo_olm.plugin.workflow.event import GraphStarted, QuestionAsked, StepChanged  # noqa: E402
from geo_olm.plugin.workflow.finding import Finding, Mend, Severity  # noqa: E402
from geo_olm.plugin.workflow.graph import Graph, Status, Vertex  # noqa: E402
from geo_olm.plugin.workflow.role import Roles  # noqa: E402
from geo_olm.plugin.workflow.start import Way  # noqa: E402
from geo_olm.plugin.workflow.value import Layer, Output  # noqa: E402
from geo_olm.ui.graph.ask_bar import AskBar  # noqa: E402
from geo_olm.ui.graph.document import GraphDocument  # noqa: E402
from geo_olm.ui.graph.problem_list import ProblemList  # noqa: E402
from geo_olm.ui.graph.proposal_bar import ProposalBar  # noqa: E402
from geo_olm.ui.graph.run_action import RunActions  # noqa: E402
from geo_olm.ui.graph.view import GraphView  # noqa: E402

app = QApplication([])
near = Vertex("v1", "vector", "", "buffer", {"layer": Layer("towns"), "distance": 500})
count = Vertex("v2", "table", "", "count", {"layer": Output("v1")})
merge = Vertex("v3", "vector", "", "dissolve", {"layer": Output("v1")})
document = GraphDocument()
document.know((), (), Roles(()))
document.load(Graph("Which?", (near, count)))
view, bar, ask, problems = (
    GraphView(document),
    ProposalBar(document),
    AskBar(),
    ProblemList(document),
)
view.resize(1000, 600)
for one in (view, bar, ask, problems):
    one.show()
app.processEvents()
nodes = view.graph_scene.nodes
runs = RunActions(document, view)


def drag(start: QPointF, end: QPointF) -> None:
    left, none, port = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton, view.viewport()
    for kind, place, held in (
        (QEvent.Type.MouseButtonPress, start, left),
        (QEvent.Type.MouseMove, (start + end) / 2, left),
        (QEvent.Type.MouseMove, end, left),
        (QEvent.Type.MouseButtonRelease, end, none),
    ):
        at = view.mapFromScene(place)
        button = none if kind == QEvent.Type.MouseMove else left
        where = QPointF(port.mapToGlobal(at))
        no_key = Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(port, QMouseEvent(kind, QPointF(at), where, button, held, no_key))
    app.processEvents()


seen: dict[str, object] = {"qt": qVersion(), "idle": runs.ask(Way.RETRY)}
grip = nodes["v2"].mapToScene(QPointF(60, 10))
drag(grip, grip + QPointF(40, 80))
seen["dragged"] = document.undo_stack.count() == 1
document.undo_stack.undo()
document.set_running(True)
document.take(GraphStarted(document.graph, document.graph.ids()))
document.take(StepChanged("v1", Status.COMPLETED, "Done.", 0.1))
document.take(StepChanged("v2", Status.FAILED, "No such field.", 0.1))
seen["busy"] = [runs.by_way[Way.STOP].isEnabled(), runs.by_way[Way.RUN].isEnabled()]
document.set_running(False)
seen["shapes"] = [nodes[key].card.shape.value for key in ("v1", "v2")]
seen["retry"] = runs.by_way[Way.RETRY].isEnabled()
mend = Mend("Use 50 m", Change(edited=(replace(near, parameters={"distance": 50}),)))
document.set_findings((Finding("x", Severity.ERROR, "Too far.", "v1", "", (mend,)),))
seen["kept back"] = runs.ask(Way.RUN)
document.mend(mend)
document.set_findings(())
seen["mended"] = document.graph.vertex("v1").parameters == {"distance": 50}
said: list[str] = []
ask.answered.connect(lambda text, step: said.append(f"{step}: {text}"))
for key in ("v1", "v2"):
    ask.show_question(QuestionAsked(key, "How far?", (), key))
for _ in range(2):
    QTest.mouseClick(ask.go, Qt.MouseButton.LeftButton)
seen["answers"] = said
wider = replace(count, parameters={"layer": Output("v3")})
renamed = replace(document.graph.vertex("v1"), objective="Near")
document.propose(Change(edited=(renamed, wider), inserted=(merge,), reason="Merge"))
app.processEvents()
seen["parts"] = bar.list.count()
bar.list.setCurrentRow(next(
    at for at in range(bar.list.count()) if "objective" in bar.list.item(at).text()
))  # fmt: skip
QTest.keyClick(bar.list, Qt.Key.Key_N)
QTest.mouseClick(bar.accept, Qt.MouseButton.LeftButton)
seen["accepted"] = [document.graph.ids(), document.graph.vertex("v1").objective]
seen["painted"] = not view.grab().isNull()
print(json.dumps(seen))
