# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens the small editors of the canvas where the text of a group, note or step stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QCoreApplication, QRectF

from .card import title
from .in_place import InPlace

if TYPE_CHECKING:
    from .node_item import NodeItem
    from .view import GraphView


def write(view: GraphView, kind: str, at: int) -> None:
    """Edit the title of a group ("group") or the text of a note ("note") on a view."""
    frames, commands = view.graph_scene.frames, view.commands.frames
    if kind == "group" and at in frames.groups:
        group = frames.groups[at]
        name = QCoreApplication.translate("InPlace", "Title of the group")
        editor = InPlace(view.viewport(), name, lambda said: commands.rename_group(at, said))
        _open(view, editor, group.card.group.title, group.title_box(), True)
    elif kind == "note" and at in frames.notes:
        note = frames.notes[at]
        name = QCoreApplication.translate("InPlace", "Text of the note")
        editor = InPlace(view.viewport(), name, lambda said: commands.write_note(at, said))
        _open(view, editor, note.note.text, note.body(), False)


def write_objective(view: GraphView, node: NodeItem) -> None:
    """Edit the objective of a step where it stands."""
    document, key = view.document, node.key
    vertex = document.graph.vertex(key)

    def keep(said: str) -> None:
        words = QCoreApplication.translate("InPlace", "Edit the objective of {}")
        if document.graph.has(key) and said.strip() != vertex.objective:
            text = words.replace("{}", title(document, vertex))
            document.edit(text, lambda graph: graph.with_vertex(
                replace(graph.vertex(key), objective=said.strip())))  # fmt: skip

    editor = InPlace(view.viewport(), QCoreApplication.translate("InPlace", "Objective"), keep)
    _open(view, editor, vertex.objective, node.objective_box(), False)


def _open(view: GraphView, editor: InPlace, text: str, box: QRectF, is_line: bool) -> None:
    view.ensureVisible(box)
    editor.open(text, view.mapFromScene(box).boundingRect(), is_line)
