# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the workflow of the graph editor in its ways, and asks the user where a run waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.core import QgsProject
from qgis.PyQt.QtCore import QObject

from ..tools.base import LayerReference, ToolResult
from ..ui.graph.graph_dock import GraphDock
from .agent.event import RunFinished, RunStarted
from .desk import Desk, WindowCanvas
from .rehearsal import rehearse
from .runner import MainThread
from .waiting_user import WaitingUser
from .workflow.event import QuestionAsked, ReviewReached
from .workflow.graph import Graph
from .workflow.start import Way, start
from .workflow.variable import VariableError, bound

_REHEARSAL = "rehearsal"
Emit = Callable[[Any], None]
Work = Callable[[Emit, Callable[[], bool]], None]
Background = Callable[[str, Work, Callable[[Any], None]], None]


class RunDesk(QObject):
    """The runs of one editor; the chat shows the same run and may answer too. Main thread only."""

    def __init__(self, iface: Any, dock: GraphDock, desk: Desk, background: Background) -> None:
        """`background` carries out work off the main thread and shows what it finds."""
        super().__init__(dock)
        self._iface, self._dock, self._desk = iface, dock, desk
        self._background = background
        self._user = WaitingUser()
        self._last = Graph()
        self._to_change = self._reason = ""
        self.is_own = False
        dock.run_requested.connect(self.run)
        for bar in (dock.ask, desk.ask_bar):
            bar.answered.connect(self._reply)
            bar.went_on.connect(self._reply)
            bar.change_wanted.connect(self._change)
        desk.session.told.connect(self._told)
        desk.session.running.connect(self._ran)
        QgsProject.instance().cleared.connect(self._project_closed)

    def close(self) -> None:
        """Let go of the session, the chat and the project."""
        session, bar = self._desk.session, self._desk.ask_bar
        session.told.disconnect(self._told)
        session.running.disconnect(self._ran)
        bar.answered.disconnect(self._reply)
        bar.went_on.disconnect(self._reply)
        bar.change_wanted.disconnect(self._change)
        bar.close_bar()
        QgsProject.instance().cleared.disconnect(self._project_closed)

    def run(self, name: str) -> None:
        """Run the workflow in a way: all of it or a part, anew or with what is kept."""
        document, session, way = self._dock.document, self._desk.session, Way(name)
        if way is Way.CLEAR:
            document.clear_states()
            session.forget_results()
            self._last = Graph()
            self._dock.show_answer("")
            return
        if session.busy:
            self._dock.say(self.tr("Another run goes on. Stop it, or wait until it has ended."))
            return
        try:
            graph = bound(document.graph, {})
        except VariableError as error:
            self._dock.say(str(error))
            return
        if way is Way.REHEARSE:
            self._rehearse(graph)
            return
        begun = start(way, graph, document.selection, self._results(), self._last)
        self._user.begin()
        self.is_own, self._to_change, self._reason = True, "", ""
        self._last = graph
        session.run_graph(graph, self._user, begun)

    def _results(self) -> dict[str, ToolResult]:
        """Return what the steps gave that are done."""
        states = self._dock.document.states
        return {
            key: one.result
            for key, one in states.items()
            if one.status.is_done and one.result is not None
        }

    # -- rehearsing

    def _rehearse(self, graph: Graph) -> None:
        """Try a workflow on samples of its layers in the background; what fails is a problem."""
        shown, main, project = self._dock.document.graph, MainThread(), QgsProject.instance()

        def work(emit: Emit, cancelled: Callable[[], bool]) -> None:
            emit((shown, rehearse(graph, project, main, cancelled)))

        self._dock.say(self.tr("Rehearsing on samples of the layers…"))
        self._background(self.tr("Geo-OLM: rehearsing the workflow"), work, self._rehearsed)

    def _rehearsed(self, found: Any) -> None:
        graph, rehearsal = found
        document = self._dock.document
        if graph != document.graph:
            self._dock.say(self.tr("The workflow was changed meanwhile, so rehearse again."))
            return
        kept = [one for one in document.findings if not one.code.startswith(_REHEARSAL)]
        document.set_findings((*rehearsal.findings, *kept))
        wrong = len(rehearsal.findings)
        self._dock.show_answer(
            self.tr("Rehearsed: {} to look at, see Problems.").replace("{}", str(wrong))
            if wrong
            else self.tr("Rehearsed on samples: every step worked.")
        )

    # -- what the run tells

    def _told(self, event: Any) -> None:
        if not self.is_own:
            return
        if isinstance(event, RunStarted):
            self._dock.set_running(True)
        if isinstance(event, ReviewReached):
            self._show_layers(event.layers)
            self._desk.ask_bar.show_review(event)
        elif isinstance(event, QuestionAsked):
            self._desk.ask_bar.show_question(event)
        self._dock.handle(event)
        if isinstance(event, RunFinished):
            self._dock.set_running(False)
            self._dock.show_answer(self._reason or event.answer.partition("\n")[0])

    def _ran(self, running: bool) -> None:
        if running:
            return
        self.is_own = False
        self._desk.ask_bar.close_bar()
        self._dock.set_running(False)
        step, self._to_change = self._to_change, ""
        document = self._dock.document
        if document.graph.has(step):
            made = document.graph.parents(document.graph.vertex(step))
            self._dock.view.show_step(made[0] if made else step)
            self._dock.inspector.setVisible(True)
            self._dock.say(self.tr("Change the step and run again: what is done is kept."))

    def _show_layers(self, layers: tuple[LayerReference, ...]) -> None:
        """Show what is to be looked at on the map, zoomed to it."""
        project = QgsProject.instance()
        found = [one for one in (project.mapLayer(each.id) for each in layers) if one is not None]
        for layer in found:
            node = project.layerTreeRoot().findLayer(layer.id())
            if node is not None:
                node.setItemVisibilityCheckedParentRecursive(True)
        if found:
            self._iface.setActiveLayer(found[0])
            if not found[0].extent().isEmpty():
                WindowCanvas(self._iface).zoom_to(found[0].extent(), found[0].crs())

    def _reply(self, value: Any, step: str) -> None:
        """Give what a step waits for; the other bar asks no more."""
        self._dock.ask.done(step)
        self._desk.ask_bar.done(step)
        self._user.reply(step, value)

    def _change(self, step: str) -> None:
        """Remember what is to be changed once the run has ended."""
        self._to_change = step
        self._dock.setUserVisible(True)

    def _project_closed(self) -> None:
        """Stop a run whose layers are gone; the workflow stays on the canvas."""
        if self.is_own:
            self._reason = self.tr(
                "The project was closed, so the run was stopped. The workflow is kept."
            )
            self._desk.session.stop()
