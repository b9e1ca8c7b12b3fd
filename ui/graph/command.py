# SPDX-License-Identifier: GPL-2.0-or-later
"""What keys and menus do to a workflow: remove, copy, paste, bypass, arrange, undo, go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from qgis.PyQt.QtCore import QObject, pyqtSignal
from qgis.PyQt.QtGui import QGuiApplication

from ...plugin.workflow import grouping
from ...plugin.workflow.file import WorkflowFileError, dumps, loads
from ...plugin.workflow.graph import Graph, Note, Vertex
from ...plugin.workflow.topology import Fault
from . import editing, layer_edit
from .card import names, title
from .frame_command import FrameCommands
from .join_command import JoinCommands
from .link_item import LinkKey
from .scene import GraphScene

_SHIFT = 2.0


class Commands(QObject):
    """Commands over a scene's document; `said` carries a sentence for the user, `shown` a step to
    show. `frames` are those for groups, notes and places, `joins` those for links."""

    said = pyqtSignal(str)
    shown = pyqtSignal(str)
    arranged = pyqtSignal()

    def __init__(self, scene: GraphScene, parent: QObject) -> None:
        super().__init__(parent)
        self.document, self._scene = scene.document, scene
        self.frames, self.joins = FrameCommands(scene, self), JoinCommands(scene, self)
        self.frames.said.connect(self.said)
        self.joins.said.connect(self.said)

    def remove(self) -> None:
        """Remove the selected steps, links, layers and notes."""
        links = list(self._scene.selected_links())
        if links:
            self.disconnect_links(links)
        layers, notes = self._scene.selected_layers(), self._scene.selected_notes()
        keys = [key for key in self.document.graph.ids() if key in self.document.selection]
        if not (keys or layers or notes):
            return

        def without(graph: Graph) -> Graph:
            found = layer_edit.without(editing.removed(graph, keys), layers)
            return grouping.without_notes(found, notes)

        self.document.edit(self._removing(keys, layers, notes), without)

    def _removing(self, keys: Sequence[str], layers: Sequence[str], notes: Sequence[int]) -> str:
        if keys:
            return self.tr("Remove {}").replace(
                "{}", names(self.document, [self.document.graph.vertex(key) for key in keys])
            )
        if layers:
            return self.tr("Remove {}").replace("{}", ", ".join(layers))
        return self.tr("Remove the note") if len(notes) == 1 else self.tr("Remove the notes")

    def duplicate(self) -> None:
        """Put copies of what is selected beside it."""
        copied = self._copied()
        self._paste(copied, self.tr("Duplicate {}").replace("{}", self._named(copied)))

    def copy(self) -> None:
        """Copy what is selected as JSON text."""
        copied = self._copied()
        if copied.vertices or copied.notes or copied.sources:
            QGuiApplication.clipboard().setText(dumps(copied))

    def cut(self) -> None:
        """Copy what is selected and remove it."""
        self.copy()
        self.remove()

    def paste(self) -> None:
        """Paste steps and notes from JSON text; of text that holds none it is said why."""
        text = QGuiApplication.clipboard().text()
        if not text.strip():
            self.said.emit(self.tr("The clipboard is empty. Copy steps first."))
            return
        try:
            loaded = loads(text, self.tr("What was copied"))
        except WorkflowFileError as error:
            self.said.emit(self.tr("Nothing was pasted. {}").replace("{}", str(error)))
            return
        twice = [one.message for one in loaded.faults if one.fault is Fault.DUPLICATE]
        graph = loaded.graph
        if twice or not (graph.vertices or graph.notes or graph.sources):
            why = twice[0] if twice else self.tr("What was copied holds no steps.")
            self.said.emit(self.tr("Nothing was pasted. {}").replace("{}", why))
            return
        self._paste(graph, self.tr("Paste {}").replace("{}", self._named(graph)))

    def _copied(self) -> Graph:
        """Return what is selected: steps with the groups that they fill, notes, placed layers."""
        graph, layers = self.document.graph, self._scene.selected_layers()
        chosen = self._chosen()
        keys = {one.id for one in chosen}
        notes = tuple(graph.notes[at] for at in self._scene.selected_notes())
        sources = tuple(
            one for one in graph.sources if one.name in layers and one.position is not None
        )
        groups = tuple(one for one in graph.groups if set(one.vertices) <= keys)
        return Graph(vertices=tuple(chosen), groups=groups, notes=notes, sources=sources)

    def _named(self, copied: Graph) -> str:
        if copied.vertices:
            return names(self.document, copied.vertices)
        if copied.notes:
            return self.tr("a note") if len(copied.notes) == 1 else self.tr("notes")
        return ", ".join(one.name for one in copied.sources)

    def bypass(self) -> None:
        """Bypass the selected steps, or use them again."""
        chosen = self._chosen()
        on = any(not one.bypassed for one in chosen)
        text = (self.tr("Bypass {}") if on else self.tr("Use {} again")).replace(
            "{}", names(self.document, chosen)
        )
        keys = [one.id for one in chosen]
        self.document.edit(text, lambda graph: editing.bypassed(graph, keys, on))

    def arrange(self) -> None:
        """Let the layout place all steps."""
        self.document.edit(self.tr("Arrange the steps"), layer_edit.unplaced)
        self.arranged.emit()

    def undo(self) -> None:
        """Undo."""
        self.document.undo_stack.undo()

    def redo(self) -> None:
        """Redo."""
        self.document.undo_stack.redo()

    def select_all(self) -> None:
        """Select all steps."""
        self.document.select(self.document.graph.ids())

    def right(self) -> None:
        """Select the first step that waits for the selected one."""
        self._go(lambda key: self.document.graph.children(key))

    def left(self) -> None:
        """Select the first step that the selected one waits for."""
        self._go(lambda key: self.document.graph.parents(self.document.graph.vertex(key)))

    def down(self) -> None:
        """Select the next step."""
        self._next(1)

    def up(self) -> None:
        """Select the step before."""
        self._next(-1)

    def _go(self, way: Callable[[str], Sequence[str]]) -> None:
        keys = [key for key in self.document.graph.ids() if key in self.document.selection]
        found = [key for key in (way(keys[0]) if keys else ()) if self.document.graph.has(key)]
        if found:
            self.shown.emit(found[0])
        elif not keys:
            self._next(1)

    def _next(self, by: int) -> None:
        keys = list(self.document.graph.ids())
        chosen = [at for at, key in enumerate(keys) if key in self.document.selection]
        if keys:
            self.shown.emit(keys[(chosen[0] + by) % len(keys)] if chosen else keys[0])

    def _chosen(self) -> list[Vertex]:
        return [one for one in self.document.graph.vertices if one.id in self.document.selection]

    def _paste(self, copied: Graph, text: str) -> None:
        """Take copies of steps, of the groups around them, and of notes and layers in."""
        if not (copied.vertices or copied.notes or copied.sources):
            return
        fresh: list[str] = []
        notes: tuple[Note, ...] = tuple(grouping.shifted(one, _SHIFT) for one in copied.notes)
        spots = {one.name: one.position for one in copied.sources if one.position is not None}

        def paste(graph: Graph) -> Graph:
            made, keys = editing.pasted(graph, copied.vertices, _SHIFT)
            fresh[:] = keys
            called = dict(zip((one.id for one in copied.vertices), keys))
            groups = grouping.pasted_groups(copied.groups, called)
            made = replace(made, groups=(*made.groups, *groups), notes=(*made.notes, *notes))
            return layer_edit.placed(made, spots, {one.name: one for one in copied.sources})

        self.document.edit(text, paste)
        if fresh:
            self.document.select(fresh)

    def disconnect_links(self, keys: Sequence[LinkKey]) -> None:
        """Take links away."""
        first = self._scene.joining.name(keys[0].source)
        target = title(self.document, self.document.shown.vertex(keys[0].target))
        text = self.tr("Disconnect {0} from {1}").replace("{0}", first).replace("{1}", target)

        def without(graph: Graph) -> Graph:
            for one in keys:
                if one.port:
                    graph = editing.disconnected(graph, one.target, one.port, one.source)
                else:
                    graph = editing.unwaited(graph, one.target, one.source.vertex)
            return graph

        self.document.edit(text, without)
