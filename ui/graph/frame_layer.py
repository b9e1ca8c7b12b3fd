# SPDX-License-Identifier: GPL-2.0-or-later
"""The groups and notes of a scene: made from the workflow, laid about the steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from qgis.PyQt.QtCore import QCoreApplication, QRectF

from ...plugin.workflow.graph import Graph, Group, Status
from ..state_shape import Shape
from .card import SHAPES
from .document import GraphDocument
from .group_item import GroupCard, GroupItem
from .note_item import NoteItem

if TYPE_CHECKING:
    from .scene import GraphScene

_WORST = (Status.FAILED, Status.WAITING, Status.RUNNING, Status.PENDING, Status.SKIPPED)


class Frames:
    """Owns the items of groups and notes, by their places in the graph."""

    def __init__(self, scene: GraphScene) -> None:
        self._scene = scene
        self.groups: dict[int, GroupItem] = {}
        self.notes: dict[int, NoteItem] = {}
        self.folded: dict[str, int] = {}
        """The steps that are not seen, with the group that hides them."""

    def rebuild(self, graph: Graph) -> None:
        """Make the items that the graph asks for; they are laid later."""
        scene = self._scene
        self.folded = {
            key: at
            for at, one in enumerate(graph.groups)
            if one.collapsed
            for key in one.vertices
            if graph.has(key)
        }
        for at in set(self.groups) - set(range(len(graph.groups))):
            scene.removeItem(self.groups.pop(at))
        for at, group in enumerate(graph.groups):
            said = _card(scene.document, group)
            if at in self.groups:
                self.groups[at].show(said)
            else:
                self.groups[at] = GroupItem(at, said, scene.unit, scene.face, scene.look)
                scene.addItem(self.groups[at])
        for at in set(self.notes) - set(range(len(graph.notes))):
            scene.removeItem(self.notes.pop(at))
        for at, note in enumerate(graph.notes):
            if at in self.notes:
                self.notes[at].show(note)
            else:
                self.notes[at] = NoteItem(at, note, scene.unit, scene.face, scene.look)
                scene.addItem(self.notes[at])
        for key, item in scene.nodes.items():
            item.setVisible(key not in self.folded)

    def lay(self, of: Iterable[str] = ()) -> None:
        """Fit the frames about their steps, all or those that hold one of some."""
        keys = set(of)
        for item in self.groups.values():
            if keys and not keys & set(item.card.group.vertices):
                continue
            item.frame([box for box in map(self._box, item.card.group.vertices) if box])

    def repaint(self) -> None:
        """Show how far the steps of each group are."""
        for item in self.groups.values():
            item.show(_card(self._scene.document, item.card.group))

    def group_at(self, key: str) -> GroupItem | None:
        """Return the collapsed group that hides a step."""
        return self.groups.get(self.folded[key]) if key in self.folded else None

    def clear(self) -> None:
        """Forget the items, which the scene has removed."""
        self.groups, self.notes = {}, {}

    def _box(self, key: str) -> QRectF | None:
        item = self._scene.nodes.get(key)
        if item is None:
            return None
        u = item.unit
        return QRectF(item.x(), item.y(), item.size[0] * u, item.size[1] * u)


def _card(document: GraphDocument, group: Group) -> GroupCard:
    states = [document.state(key).status for key in group.vertices]
    done = sum(one.is_done for one in states)
    steps = QCoreApplication.translate("GroupItem", "{} steps").replace("{}", str(len(states)))
    if len(states) == 1:
        steps = QCoreApplication.translate("GroupItem", "1 step")
    about = steps
    if done:
        text = QCoreApplication.translate("GroupItem", "{0}, {1} done")
        about = text.replace("{0}", steps).replace("{1}", str(done))
    worst = next((one for one in _WORST if one in states), Status.COMPLETED)
    shape = SHAPES[worst] if states else Shape.IDLE
    return GroupCard(group, about, shape)
