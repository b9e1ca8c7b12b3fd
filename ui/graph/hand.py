# SPDX-License-Identifier: GPL-2.0-or-later
"""What the mouse holds on the canvas: things that are moved, or the corner of a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QPointF
from qgis.PyQt.QtGui import QPainter
from qgis.PyQt.QtWidgets import QGraphicsItem

from .group_item import GroupItem
from .layer_item import LayerItem
from .link_item import LinkItem
from .node_item import NodeItem
from .note_item import NoteItem
from .scene import GraphScene

if TYPE_CHECKING:
    from .command import Commands


class Hand:
    """What is held; the graph is asked for a change only when it is let go. `said` is what stands
    beside the pointer."""

    said = ""

    def move(self, place: QPointF) -> None:
        """Follow the pointer, in the scene."""

    def finish(self, commands: Commands) -> None:
        """Let go: ask for the change."""

    def cancel(self) -> None:
        """Let everything be as it was."""

    def paint(self, painter: QPainter) -> None:
        """Draw what is held, over the scene."""


class Moving(Hand):
    """Steps, layers and notes that are dragged together. A single step that is held over a link
    can be put into it; steps that are held over a group can join it."""

    def __init__(self, scene: GraphScene, start: QPointF, held: QGraphicsItem, snaps: bool) -> None:
        self._scene, self._start, self._held, self._snaps = scene, start, held, snaps
        self.keys = [key for key, item in scene.nodes.items() if item.isSelected()]
        self.layers = scene.selected_layers()
        self.notes = scene.selected_notes()
        self._before = {one: QPointF(one.pos()) for one in self._items()}
        self.link: LinkItem | None = None
        self.group: GroupItem | None = None
        self._has_moved = False

    @classmethod
    def begun(
        cls, scene: GraphScene, held: QGraphicsItem | None, place: QPointF, snaps: bool
    ) -> Moving | None:
        """Return the hand that holds what is selected, None where nothing there can be moved."""
        if isinstance(held, GroupItem):
            scene.document.select({*scene.document.selection, *held.card.group.vertices})
        elif not isinstance(held, (NodeItem, LayerItem, NoteItem)) or not held.isSelected():
            return None
        return cls(scene, place, held, snaps)

    def _items(self) -> list[QGraphicsItem]:
        scene = self._scene
        return [
            *(scene.nodes[key] for key in self.keys),
            *(scene.pills[name] for name in self.layers),
            *(scene.frames.notes[at] for at in self.notes),
        ]

    def move(self, place: QPointF) -> None:
        """Take all along, in whole em where the grid is on."""
        shift, unit = place - self._start, self._scene.unit
        lead = self._before.get(self._held)
        if self._snaps and lead is not None:
            there = (lead + shift) / unit
            shift = QPointF(round(there.x()), round(there.y())) * unit - lead
        elif self._snaps:
            shift = QPointF(round(shift.x() / unit), round(shift.y() / unit)) * unit
        for item, before in self._before.items():
            item.setPos(before + shift)
        self._has_moved = not shift.isNull()
        self._scene.follow((*self.keys, *(f"layer:{name}" for name in self.layers)))
        self._aim(place)

    def _aim(self, place: QPointF) -> None:
        """Light the link or group over which the steps are held."""
        self._dim()
        scene = self._scene
        if len(self.keys) == 1 and isinstance(self._held, NodeItem) and not self.layers:
            self.link = scene.link_at(place, self.keys[0])
        if self.link is not None:
            self.said = scene.joining.why_not_into(self.keys[0], self.link.key)
            if not self.said:
                self.link.light(True)
            return
        self.said = ""
        if self.keys and not isinstance(self._held, GroupItem):
            self.group = self._group_under(place)
            if self.group is not None:
                self.group.is_target = True
                self.group.update()

    def _group_under(self, place: QPointF) -> GroupItem | None:
        for item in self._scene.frames.groups.values():
            inside = set(self.keys) & set(item.card.group.vertices)
            if not inside and not item.is_collapsed and item.body().contains(place):
                return item
        return None

    def _dim(self) -> None:
        if self.link is not None:
            self.link.light(False)
        if self.group is not None:
            self.group.is_target = False
            self.group.update()
        self.link = self.group = None

    def finish(self, commands: Commands) -> None:
        """Ask for the places, or for the step to be put into the link."""
        link, group, why = self.link, self.group, self.said
        self._dim()
        if not self._has_moved:
            if isinstance(self._held, GroupItem):  # Qt has left only the frame selected
                self._scene.document.select(self._held.card.group.vertices)
            return
        if link is not None and not why:
            commands.joins.put_into(self.keys[0], link.key)
            return
        if why:
            commands.said.emit(why)
        at = -1 if group is None else group.at
        if not commands.frames.place(self.keys, self.layers, self.notes, at):
            self.cancel()

    def cancel(self) -> None:
        """Put all back."""
        self._dim()
        for item, before in self._before.items():
            item.setPos(before)
        self._scene.follow(self.keys)


class Resizing(Hand):
    """The corner of a note that is dragged."""

    def __init__(self, note: NoteItem, place: QPointF) -> None:
        self._note, self._start, self._before = note, place, note.size

    def move(self, place: QPointF) -> None:
        """Make the note larger or smaller, in steps of half an em."""
        away = (place - self._start) / self._note.unit
        width, height = self._before[0] + away.x(), self._before[1] + away.y()
        self._note.stretch(round(width * 2) / 2, round(height * 2) / 2)

    def finish(self, commands: Commands) -> None:
        """Ask for the new size."""
        size = self._note.size
        if size != self._before and not commands.frames.resize_note(self._note.at, size):
            self.cancel()

    def cancel(self) -> None:
        """Be as large as before."""
        self._note.stretch(*self._before)
