# SPDX-License-Identifier: GPL-2.0-or-later
"""The library, the variables and the comparison on Qt 6. Prints what was seen as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), sys.argv[1]]

import shim  # noqa: E402

shim.install()

from qgis.PyQt.QtCore import QEvent, Qt, qVersion  # noqa: E402
from qgis.PyQt.QtGui import QKeyEvent  # noqa: E402
from qgis.PyQt.QtWidgets import QApplication  # noqa: E402

from geo_olm.plugin.workflow.graph import Graph, Type, Variable, Vertex  # noqa: E402
from geo_olm.plugin.workflow.value import Asked, Layer, Output  # noqa: E402
from geo_olm.ui.graph.comparison import Comparison  # noqa: E402
from geo_olm.ui.graph.comparison_bar import ComparisonBar  # noqa: E402
from geo_olm.ui.graph.document import GraphDocument  # noqa: E402
from geo_olm.ui.graph.exchange_menu import ExchangeMenu  # noqa: E402
from geo_olm.ui.graph.library_dialog import LibraryDialog  # noqa: E402
from geo_olm.ui.graph.library_entry import Entry, Place  # noqa: E402
from geo_olm.ui.graph.variable_panel import VariablePanel  # noqa: E402

app = QApplication([])
near = Vertex("v1", "vector", "Near", "buffer", {"layer": Layer("towns"), "distance": Asked("far")})
count = Vertex("v2", "table", "Count", "count", {"layer": Output("v1")})
kinds = {Type.NUMBER: 500, Type.LAYER: None, Type.TEXT: "a", Type.DATE: "2024-05-31"}
variables = (
    Variable("far", Type.NUMBER, "How far", 500, unit="m"),
    *(Variable(f"a_{one.value}", one, "", value) for one, value in kinds.items()),
    Variable("which", Type.CHOICE, "Which", "b", choices=("a", "b")),
)
graph = Graph("How many?", (near, count), variables)
document = GraphDocument()
document.load(graph)
panel = VariablePanel(document)
panel.resize(1000, 300)
panel.show()
app.processEvents()
panel.rows["far"].value.changed.emit("1,250")
was_set = document.graph.variable("far").default
panel.rows["far"].removed.emit()
refused = panel.said.text()
exchange = ExchangeMenu()

dialog = LibraryDialog(document)
dialog.set_entries([
    Entry(Place.PROFILE, "One", "One", graph, changed="2024-05-31 12:30", versions=2),
    Entry(Place.PROFILE, "Two", "Two", fault="Two is broken."),
    Entry(Place.TEMPLATE, "Three", "Three", replace(graph, question="What else?")),
])  # fmt: skip
dialog.show()
for _ in range(20):
    app.processEvents()
dialog.search.setText("else")
app.processEvents()
found = [dialog.model.index(at, 0).data() for at in range(dialog.model.rowCount())]
opened: list[Entry] = []
dialog.opened.connect(opened.append)
none = Qt.KeyboardModifier.NoModifier
QApplication.sendEvent(dialog.search, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, none))
app.processEvents()

bar = ComparisonBar(document)
bar.show()
document.compare(
    Comparison(replace(graph, vertices=(near,)), document.graph, "before", "now", True)
)
app.processEvents()
told = [bar.list.item(at).text() for at in range(bar.list.count())]
bar.take_all.click()
app.processEvents()
print(
    json.dumps(
        {
            "qt": qVersion(),
            "set": was_set,
            "refused": refused,
            "pictures": len(dialog.thumbnails._kept),
            "found": found,
            "opened": [one.name for one in opened],
            "told": told,
            "left": list(document.graph.ids()),
        }
    )
)
