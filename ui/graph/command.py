# SPDX-License-Identifier: GPL-2.0-or-later
"""What keys and menus do to a workflow: remove, copy, paste, bypass, arrange, undo, go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from qgis.PyQt.QtCore import QObject, pyqtSignal
from qgis.PyQt.QtGui import QGuiApplication

from ...plugin.workflow import form
from ...plugin.workflow.graph import Graph, Vertex
from ...plugin.workflow.value import Layer, Output
from . import editing
from .card import title
from .document import GraphDocument
from .link_item import LinkKey


class Commands(QObject):
    """Commands over a document; `said` carries a sentence for the user, `shown` a step to show."""

    said = pyqtSignal(str)
    shown = pyqtSignal(str)
    arranged = pyqtSignal()

    def __init__(
        self, document: GraphDocument, links: Callable[[], Sequence[LinkKey]], parent: QObject
    ) -> None:
        """`links` gives the links that are selected."""
        super().__init__(parent)
        self.document, self._selected_links = document, links

    def remove(self) -> None:
        """Remove the selected steps and links."""
        links = list(self._selected_links())
        if links:
            self.disconnect_links(links)
        keys = [key for key in self.document.graph.ids() if key in self.document.selection]
        if keys:
            text = self.tr("Remove {}").replace("{}", self.steps(keys))
            self.document.edit(text, lambda graph: editing.removed(graph, keys))

    def duplicate(self) -> None:
        """Put copies of the selected steps beside them."""
        chosen = self._chosen()
        self._paste(chosen, self.tr("Duplicate {}").replace("{}", self._steps_of(chosen)))

    def copy(self) -> None:
        """Copy the selected steps as JSON text."""
        chosen = self._chosen()
        if chosen:
            written = form.written(Graph(vertices=tuple(chosen)))
            QGuiApplication.clipboard().setText(json.dumps(written, ensure_ascii=False, indent=1))

    def paste(self) -> None:
        """Paste steps from JSON text; text that holds none is said to."""
        text = QGuiApplication.clipboard().text()
        try:
            steps = form.read(json.loads(text), lambda remark: None).vertices
        except (ValueError, form.FormError):
            self.said.emit(self.tr("The clipboard holds no steps."))
            return
        self._paste(list(steps), self.tr("Paste {}").replace("{}", self._steps_of(list(steps))))

    def bypass(self) -> None:
        """Bypass the selected steps, or use them again."""
        chosen = self._chosen()
        on = any(not one.bypassed for one in chosen)
        text = (self.tr("Bypass {}") if on else self.tr("Use {} again")).replace(
            "{}", self._steps_of(chosen)
        )
        keys = [one.id for one in chosen]
        self.document.edit(text, lambda graph: editing.bypassed(graph, keys, on))

    def arrange(self) -> None:
        """Let the layout place all steps."""
        self.document.edit(self.tr("Arrange the steps"), editing.unplaced)
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

    def _paste(self, steps: list[Vertex], text: str) -> None:
        if not steps:
            return
        fresh: list[str] = []

        def paste(graph: Graph) -> Graph:
            made, keys = editing.pasted(graph, steps)
            fresh[:] = keys
            return made

        self.document.edit(text, paste)
        self.document.select(fresh)

    def disconnect_links(self, keys: Sequence[LinkKey]) -> None:
        """Take links away."""
        first = self.name(keys[0].source)
        target = title(self.document, self.document.graph.vertex(keys[0].target))
        text = self.tr("Disconnect {0} from {1}").replace("{0}", first).replace("{1}", target)

        def without(graph: Graph) -> Graph:
            for one in keys:
                if one.port:
                    graph = editing.disconnected(graph, one.target, one.port, one.source)
                else:
                    graph = editing.unwaited(graph, one.target, one.source.vertex)
            return graph

        self.document.edit(text, without)

    def name(self, source: Layer | Output) -> str:
        """Return what a layer or a step is called."""
        if isinstance(source, Layer):
            return source.name
        return title(self.document, self.document.graph.vertex(source.vertex))

    def steps(self, keys: Sequence[str]) -> str:
        """Return what some steps are called: the name of one, else how many."""
        return self._steps_of([self.document.graph.vertex(key) for key in keys])

    def _steps_of(self, steps: list[Vertex]) -> str:
        if len(steps) == 1:
            return title(self.document, steps[0])
        return self.tr("{} steps").replace("{}", str(len(steps)))
