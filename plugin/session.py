# SPDX-License-Identifier: GPL-2.0-or-later
"""A chat over one project: holds its memory, runs its questions, passes its events on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from qgis.core import QgsProject
from qgis.PyQt.QtCore import QObject, pyqtSignal

from ..tools.base import LayerProfile
from ..tools.context import Canvas
from ..tools.keeping import Kept
from ..tools.registry import Registry
from .agent.chat import Chat
from .agent.event import ApprovalGiven, CallProgress, Event, Status
from .answerer import Answerer
from .approval import AskingWord, NobodysWord
from .approval_judge import intents, make_approver
from .assembly import allowed_of, make_toolbox, output_of
from .disclosure import Disclosure
from .flow_means import User
from .flow_runner import GraphRun
from .graph_check import checker, surroundings
from .link import process_link
from .llm.base import ModelError, RunCancelled, Speaker
from .number import in_locale
from .plan_work import make_planner
from .pricing import Pricer
from .record import Recorder, ending
from .replay import agents
from .runner import MainThread, RunTask, finish, on_main_thread, start, wait
from .settings import Settings
from .sub_agent import StepAgent
from .workflow.cache import Anew, Cache
from .workflow.change import Change
from .workflow.check_algorithm import NO_ALGORITHMS, Algorithms
from .workflow.dialogue import Dialogue
from .workflow.finding import Finding
from .workflow.graph import Graph
from .workflow.role import Roles
from .workflow.start import Start
from .workflow.variable_check import checked as checked_with_variables

_LOG = logging.getLogger(__name__)
_STOP_S = 10.0
_STOPPED = "Stopped before anything was done."

Emit = Callable[[Any], None]
Cancelled = Callable[[], bool]


class Session(QObject):
    """One chat; lives on the main thread. `told` carries the agent's events in order."""

    told = pyqtSignal(object)
    running = pyqtSignal(bool)
    finished = pyqtSignal(dict)

    def __init__(
        self, project: QgsProject, settings: Settings, canvas: Canvas | None = None
    ) -> None:
        super().__init__()
        self._main = MainThread()
        self._project = project
        self._settings = settings
        self._canvas = canvas
        self._toolbox = make_toolbox(project, settings, self._main, canvas)
        self._word = AskingWord(self._wait)
        self._approver = make_approver(
            self._toolbox, self._main, lambda: self._settings, self._word
        )
        self._disclosure = Disclosure(self._toolbox.layers)
        self._cache = Cache(self._toolbox)
        self._chat = Chat()
        self._lock = Lock()
        self._speaker: Speaker | None = None
        self._emit: Emit | None = None
        self._task: RunTask | None = None
        self._recorder = Recorder("")

    @property
    def busy(self) -> bool:
        """Whether a question is being worked on."""
        return self._task is not None

    def layers(self) -> tuple[LayerProfile, ...]:
        """Return the profiles of the project's layers; reads features, so call it on a worker."""
        with self._lock:
            return tuple(layer for layer in self._toolbox.layers() if layer.id)

    def checked(
        self,
        graph: Graph,
        registry: Registry,
        roles: Roles,
        algorithms: Algorithms = NO_ALGORITHMS,
    ) -> tuple[Finding, ...]:
        """Return what the checks find in a workflow over the project; call it on a worker."""
        folder = output_of(self._settings)
        with self._lock:
            around = surroundings(self._toolbox, registry, roles, folder, algorithms=algorithms)
        return checked_with_variables(graph, checker(around))

    def ask(self, question: str, runs: bool = True) -> None:
        """Take up a question, or with `runs` off only plan it. Raises RuntimeError while another
        one runs."""
        self._begin(question, lambda emit, stopped: self._work(question, emit, stopped, runs))

    def _begin(self, question: str, work: Callable[[Emit, Cancelled], None]) -> None:
        if self.busy:
            raise RuntimeError("a question is being worked on")
        self._recorder = Recorder(question)
        title = self.tr("Geo-OLM: {}").format(question.replace("\n", " ")[:80])
        task = RunTask(title, work)
        task.told.connect(self._pass_on)
        task.ended.connect(self._end)
        self._task = task
        self.running.emit(True)
        start(task)

    def revised(
        self, graph: Graph, seen: Graph, request: str, emit: Emit, cancelled: Cancelled
    ) -> Change:
        """Return what a request changes of a workflow that the model knew as `seen` last; call it
        on a worker. Raises ModelError, PlanError and RunCancelled."""
        with self._lock:
            speaker = self._connected(cancelled)
            planner = make_planner(self._toolbox, speaker, self._settings, emit, cancelled)
            return Dialogue(planner.reviser(), seen).changed(graph, request)

    def run_graph(self, graph: Graph, user: User, begun: Start | None = None) -> None:
        """Run a workflow, or the part that `begun` tells, as if it had been asked for; results of
        earlier runs are kept where nothing has changed. Raises RuntimeError while a run goes on."""
        name = graph.question or graph.title or self.tr("Workflow")
        way = begun or Start()
        self._begin(name, lambda emit, end: self._work_graph(graph, user, way, emit, end))

    def forget_results(self) -> None:
        """Let the next run of a workflow run every step; layers in the project stay."""
        self._cache.clear()

    def stop(self) -> None:
        """Stop the running question."""
        if self._task is not None:
            self._task.cancel()

    def new_chat(self) -> None:
        """Forget the conversation; results stay in the project."""
        self.stop()
        self._chat = Chat()
        self._approver.new_chat()

    def approve(self, given: ApprovalGiven) -> None:
        """Give the user's word that a run waits for."""
        self._word.reply(given)

    @property
    def can_undo(self) -> bool:
        """Whether the last question made or changed something that can be taken back."""
        return not self.busy and self._toolbox.has_changed()

    def undo(self) -> tuple[str, ...]:
        """Take back what the last question made; returns what was done."""
        return () if self.busy else self._toolbox.undo_turn()

    def keep(self, target: Path, identities: Sequence[str], cancelled: Cancelled) -> Kept:
        """Keep temporary layers in a GeoPackage; call it on a worker. Raises ToolError and
        ToolCancelled."""
        with self._lock:
            return self._toolbox.keep(target, identities, lambda percent: None, cancelled)

    def use(self, settings: Settings) -> None:
        """Take new settings; they hold from the next question on. Results keep their ids."""
        self._settings = settings
        self._speaker = None
        self._toolbox.use_folders(output_of(settings), allowed_of(settings))

    def use_mode(self, settings: Settings) -> None:
        """Take settings that differ in what is asked before it is done; they hold at once."""
        self._settings = settings

    def close(self) -> None:
        """End the running question and let go of the project. Main thread only."""
        if self._task is not None and not finish(self._task, _STOP_S):
            _LOG.warning("a run did not end within %s s", _STOP_S)
        self._toolbox.close()

    def _work(self, question: str, emit: Emit, cancelled: Cancelled, runs: bool) -> None:
        """Carry out one question on the worker thread."""
        self._emit = emit
        self._approver.begin()
        try:
            with self._lock:
                speaker = self._connected(cancelled)
                pricer = Pricer(self._settings)
                Answerer(self._toolbox, speaker, self._settings, self._approver).answer(
                    self._chat,
                    question,
                    lambda event: emit(pricer.priced(event, speaker.card())),
                    cancelled,
                    runs,
                )
        except (ModelError, RunCancelled) as error:
            emit(ending(error))
        finally:
            self._emit = None

    def _work_graph(
        self, graph: Graph, user: User, way: Start, emit: Emit, cancelled: Cancelled
    ) -> None:
        """Run a workflow on the worker thread; a model is asked only for steps without a tool.

        Its steps were seen and started by the user: only those that change later are asked about.
        """
        self._emit = emit
        self._approver.begin()
        self._approver.grant(intents(graph))
        try:
            with self._lock:
                self._toolbox.begin_turn(graph.question or graph.title)
                agent = None
                if any(one.is_abstract for one in graph.vertices):
                    speaker = self._connected(cancelled)
                    agent = StepAgent(self._toolbox, speaker, self._settings)
                run = GraphRun(
                    self._toolbox,
                    Anew(self._cache, way.again, way.held),
                    agents(),
                    in_locale,
                    user,
                    sub_agent=agent,
                    layers=lambda: [one.key for one in self._toolbox.layers() if not one.short],
                )
                run.run(graph, emit, cancelled, way.target)
        except (ModelError, RunCancelled) as error:
            emit(ending(error))
        finally:
            self._emit = None

    def _connected(self, cancelled: Cancelled) -> Speaker:
        """Return the speaker of this chat, a new one after new settings or a failed run."""
        settings, speaker = self._settings, self._speaker
        if speaker is None:
            known = self._disclosure.known
            speaker = process_link().connect(settings, self._wait, cancelled, known)
        self._recorder.model(speaker.card())
        if settings is self._settings:
            self._speaker = speaker
        return speaker

    def _wait(self, event: Any) -> None:
        """Tell that the model or the user is waited for; both outlive the task of one question."""
        if self._emit is not None:
            self._emit(event)

    def _pass_on(self, event: Event) -> None:
        self._recorder.note(event)
        self._disclosure.note(event)
        self.told.emit(event)

    def _end(self, error: BaseException | None) -> None:
        self._task = None
        if not self._recorder.has_ended:
            self._pass_on(ending(error or RunCancelled()))
        record = self._recorder.record()
        if record["status"] == Status.FAILED.value:
            self._speaker = None
        self.running.emit(False)
        self.finished.emit(record)


def answer_question(
    question: str,
    project: QgsProject,
    settings: Settings,
    output_folder: str,
    on_event: Callable[[Event], None],
    cancelled: Cancelled = lambda: False,
) -> dict[str, Any]:
    """Answer one question over `project` and return its record; blocks until the end.

    On the main thread the work runs in a task while an event loop spins; on any other thread it
    runs here. Nothing is raised for what a model, a server or a tool does.
    """
    settings = replace(settings, output_folder=output_folder or settings.output_folder)
    main, recorder = MainThread(), Recorder(question)
    toolbox = make_toolbox(project, settings, main)
    disclosure = Disclosure(toolbox.layers)
    word = NobodysWord(bool(settings.output_folder))
    approver = make_approver(toolbox, main, lambda: settings, word)

    def note(event: Event) -> None:
        disclosure.note(event)
        if not isinstance(event, CallProgress):
            recorder.note(event)
        on_event(event)

    def work(emit: Emit, stopped: Cancelled) -> None:
        try:
            speaker = process_link().connect(settings, emit, stopped, disclosure.known)
            recorder.model(speaker.card())
        except (ModelError, RunCancelled) as error:
            emit(ending(error))
            return
        pricer = Pricer(settings)
        Answerer(toolbox, speaker, settings, approver).answer(
            Chat(),
            question,
            lambda event: emit(pricer.priced(event, speaker.card())),
            stopped,
        )

    try:
        if on_main_thread():
            task = RunTask("Geo-OLM", work)
            task.told.connect(note)
            wait(task, cancelled)
        else:
            work(note, cancelled)
    except Exception as error:
        _LOG.info("the question was not answered: %s", error)
        note(ending(error))
    if not recorder.has_ended:
        note(ending(RunCancelled()))
    toolbox.close()
    return recorder.record()
