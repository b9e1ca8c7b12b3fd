# SPDX-License-Identifier: GPL-2.0-or-later
"""What hands do to the canvas's order: move, align, group, fold, colour, and write notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qgis.PyQt.QtCore import QObject, pyqtSignal

from ...plugin.workflow import alignment, grouping
from ...plugin.workflow.alignment import Edge, Place
from ...plugin.workflow.graph import Graph, Note
from . import editing, layer_edit
from .card import names
from .note_item import HEIGHT, WIDTH
from .scene import GraphScene


class FrameCommands(QObject):
    """Commands over groups, notes and places of a scene's document; `writing` asks for the text
    of a group ("group") or note ("note") at a place to be edited on the canvas."""

    said = pyqtSignal(str)
    writing = pyqtSignal(str, int)

    def __init__(self, scene: GraphScene, parent: QObject) -> None:
        super().__init__(parent)
        self._scene, self._document = scene, scene.document

    # -- places

    def place(
        self, keys: Sequence[str], layers: Sequence[str], notes: Sequence[int], group: int = -1
    ) -> bool:
        """Keep where steps, layers and notes stand on the canvas now; the steps join a group, if
        one is given. Once a step was moved, all keep their places, so that none jumps. Returns
        whether they could be kept."""
        scene, document = self._scene, self._document
        places = scene.places() if keys else {}
        u = scene.unit
        pills = {name: scene.pills[name] for name in layers}
        spots = {
            name: (round(one.x() / u, 2), round(one.y() / u, 2)) for name, one in pills.items()
        }
        areas = {at: _area(scene, at) for at in notes}
        known = {one.key: layer_edit.source_of(one) for one in document.layers}

        def move(graph: Graph) -> Graph:
            found = layer_edit.placed(editing.moved(graph, places), spots, known)
            for at, area in areas.items():
                found = grouping.with_note(found, at, area=area)
            return found if group < 0 else grouping.joined(found, keys, group)

        return document.edit(self._moving(keys, layers, notes, group), move)

    def _moving(
        self, keys: Sequence[str], layers: Sequence[str], notes: Sequence[int], group: int
    ) -> str:
        if group >= 0:
            text = self.tr("Move {0} into {1}").replace("{0}", self._steps(keys))
            return text.replace("{1}", self._document.graph.groups[group].title)
        if keys:
            return self.tr("Move {}").replace("{}", self._steps(keys))
        if layers:
            return self.tr("Move {}").replace("{}", ", ".join(layers))
        return self.tr("Move the note") if len(notes) == 1 else self.tr("Move the notes")

    def nudge(self, across: int, down: int) -> None:
        """Move what is selected by 1 em."""
        scene = self._scene
        keys, layers, notes = self._chosen(), scene.selected_layers(), scene.selected_notes()
        items = [*(scene.nodes[key] for key in keys), *(scene.pills[name] for name in layers),
                 *(scene.frames.notes[at] for at in notes)]  # fmt: skip
        for item in items:
            item.moveBy(across * scene.unit, down * scene.unit)
        if items:
            scene.follow(keys)
            if not self.place(keys, layers, notes):
                scene.rebuild()

    def align(self, edge: Edge) -> None:
        """Bring the selected steps into line."""
        words = {
            Edge.LEFT: self.tr("Align {} left"),
            Edge.RIGHT: self.tr("Align {} right"),
            Edge.TOP: self.tr("Align {} at the top"),
            Edge.BOTTOM: self.tr("Align {} at the bottom"),
            Edge.CENTRE: self.tr("Centre {} across"),
            Edge.MIDDLE: self.tr("Centre {} down"),
        }
        boxes = self._scene.boxes(self._chosen())
        self._put(words[edge], alignment.aligned(boxes, edge), 2)

    def distribute(self, across: bool) -> None:
        """Set the selected steps apart evenly."""
        text = self.tr("Distribute {} across") if across else self.tr("Distribute {} down")
        boxes = self._scene.boxes(self._chosen())
        self._put(text, alignment.distributed(boxes, across), 3)

    def arrange_selected(self) -> None:
        """Let the layout place the selected steps, from where the first of them stands."""
        keys = self._chosen()
        if len(keys) < 2:
            self.said.emit(self.tr("Select at least {} steps first.").replace("{}", "2"))
            return
        found = self._scene.laid_out(keys)
        self._put(self.tr("Arrange {}"), found, 2)

    def _put(self, text: str, places: Mapping[str, Place], least: int) -> None:
        keys = list(places)
        if len(keys) < least:
            sentence = self.tr("Select at least {} steps first.")
            self.said.emit(sentence.replace("{}", str(least)))
            return
        whole = {**self._scene.places(), **places}
        self._document.edit(
            text.replace("{}", self._steps(keys)), lambda graph: editing.moved(graph, whole)
        )

    # -- groups

    def group(self) -> None:
        """Put a frame with a title around the selected steps, and ask for the title."""
        keys = self._chosen()
        if not keys:
            self.said.emit(self.tr("Select the steps of the group first."))
            return
        text = self.tr("Group {}").replace("{}", self._steps(keys))
        name = self.tr("Group")
        if self._document.edit(text, lambda graph: grouping.grouped(graph, keys, name)):
            self._scene.rebuild()
            self.writing.emit("group", len(self._document.graph.groups) - 1)

    def ungroup(self) -> None:
        """Take the selected steps out of their groups."""
        graph = self._document.graph
        chosen = set(self._chosen())
        for at in self._scene.selected_groups():
            chosen |= set(graph.groups[at].vertices)
        keys = [key for key in graph.ids() if key in chosen and grouping.group_of(graph, key) >= 0]
        if not keys:
            self.said.emit(self.tr("None of the selected steps is in a group."))
            return
        text = self.tr("Ungroup {}").replace("{}", self._steps(keys))
        self._document.edit(text, lambda now: grouping.ungrouped(now, keys))

    def fold(self, at: int) -> None:
        """Collapse a group, or open it."""
        group = self._document.graph.groups[at]
        text = self.tr("Open {}") if group.collapsed else self.tr("Collapse {}")
        collapsed = not group.collapsed
        self._document.edit(
            text.replace("{}", group.title),
            lambda graph: grouping.with_group(graph, at, collapsed=collapsed),
        )

    def fold_selected(self) -> None:
        """Collapse or open the group of the selected steps."""
        graph = self._document.graph
        places = {grouping.group_of(graph, key) for key in self._chosen()} - {-1}
        for at in sorted({*places, *self._scene.selected_groups()}):
            self.fold(at)

    def rename_group(self, at: int, name: str) -> None:
        """Give a group another title."""
        graph = self._document.graph
        if not name.strip() or at >= len(graph.groups):
            return
        text = self.tr("Rename {0} to {1}").replace("{0}", graph.groups[at].title)
        self._document.edit(
            text.replace("{1}", name.strip()),
            lambda now: grouping.with_group(now, at, title=name.strip()),
        )

    def colour_group(self, at: int, tone: str) -> None:
        """Give a group another colour."""
        text = self.tr("Colour {}").replace("{}", self._document.graph.groups[at].title)
        self._document.edit(text, lambda graph: grouping.with_group(graph, at, color=tone))

    # -- notes

    def add_note(self, at: Place) -> None:
        """Put a note at a place in em, and ask for its text."""
        x, y = round(at[0] - WIDTH / 2), round(at[1] - HEIGHT / 2)
        note = Note("", self._scene.free_area(x, y, WIDTH, HEIGHT), "warning")
        if self._document.edit(self.tr("Add a note"), lambda graph: grouping.noted(graph, note)):
            self._scene.rebuild()
            self.writing.emit("note", len(self._document.graph.notes) - 1)

    def write_note(self, at: int, text: str) -> None:
        """Give a note another text."""
        if at < len(self._document.graph.notes):
            self._document.edit(
                self.tr("Edit the note"), lambda graph: grouping.with_note(graph, at, text=text)
            )

    def colour_note(self, at: int, tone: str) -> None:
        """Give a note another colour."""
        self._document.edit(
            self.tr("Colour the note"), lambda graph: grouping.with_note(graph, at, color=tone)
        )

    def resize_note(self, at: int, size: tuple[float, float]) -> bool:
        """Make a note larger or smaller, in em; returns whether it is."""
        area = (*self._document.graph.notes[at].area[:2], *size)
        return self._document.edit(
            self.tr("Resize the note"), lambda graph: grouping.with_note(graph, at, area=area)
        )

    def _chosen(self) -> list[str]:
        return [key for key in self._document.graph.ids() if key in self._document.selection]

    def _steps(self, keys: Sequence[str]) -> str:
        graph = self._document.shown  # with what is proposed
        return names(self._document, [graph.vertex(key) for key in keys])


def _area(scene: GraphScene, at: int) -> tuple[float, float, float, float]:
    note = scene.frames.notes[at]
    return (round(note.x() / scene.unit, 2), round(note.y() / scene.unit, 2), *note.size)
