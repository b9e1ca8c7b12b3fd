# SPDX-License-Identifier: GPL-2.0-or-later
"""Methods that ask a model, as the harness runs them: tools and model are the same for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from qgis.core import QgsProject

from ...tools.toolbox import ProjectToolbox
from ..agent import prompt
from ..agent.chat import Chat
from ..agent.event import CallProgress, Event, Status
from ..answerer import Answerer
from ..assembly import limits_of
from ..disclosure import Disclosure
from ..link import process_link
from ..llm.base import Cancelled, ModelError, RunCancelled
from ..llm.holding import AskKnown, nothing_known
from ..llm.speaker import ModelSpeaker
from ..place import RESOURCES
from ..pricing import Pricer
from ..record import Recorder, ending
from ..runner import MainThread, RunTask
from ..settings import Settings
from .chain import Chain
from .errand import Errand, Wait
from .fault_model import FaultModel
from .fault_rate import Rates
from .oracle import equipped
from .rival import example, team
from .rival.catalog import EXPOSURES, RIVALS
from .rival.desk import Desk, Mode
from .rival.play import played
from .task import Task

FOLDER = RESOURCES / "evaluation"
OWN = "geo-olm"
"""The plugin's own agent, as the chat uses it."""
STATES = "states"
"""The variant of our method that goes state by state, without a plan first."""
_TOOL_MODE = {Mode.CHAT: "native", Mode.TEXT: "text"}


class ContestError(Exception):
    """A method cannot play a task; the message says why."""


class Source(Protocol):
    """Where a method's replies come from."""

    def speaker(
        self,
        settings: Settings,
        emit: Callable[[Any], None],
        cancelled: Cancelled,
        known: AskKnown = nothing_known,
    ) -> ModelSpeaker:
        """Return what to ask, on a worker thread. Raises ModelError.

        `known` gives the names and values that the ledger looks for in each request.
        """

    def note(self, event: Event) -> None:
        """Hear an event of the run, on the worker thread, before anybody else does."""


class ModelSource:
    """The model that the settings and the machine lead to."""

    def speaker(
        self,
        settings: Settings,
        emit: Callable[[Any], None],
        cancelled: Cancelled,
        known: AskKnown = nothing_known,
    ) -> ModelSpeaker:
        """Connect to it."""
        return process_link().connect(settings, emit, cancelled, known)

    def note(self, event: Event) -> None:
        """Let it pass."""


class FaultSource:
    """The scripted model of faults, made for one question over one chain."""

    def __init__(
        self, chain: Chain, rates: Rates, seed: int, key: str, ids: Mapping[str, str]
    ) -> None:
        """`ids` are of the results of earlier turns, by their names."""
        agents = team.load(FOLDER / "team.json")
        self._model = FaultModel(chain, agents, rates, seed, key, earlier=ids)

    def speaker(
        self,
        settings: Settings,
        emit: Callable[[Any], None],
        cancelled: Cancelled,
        known: AskKnown = nothing_known,
    ) -> ModelSpeaker:
        """Let it be asked in the way that the method asks any model."""
        return ModelSpeaker(
            self._model, settings.tool_mode, settings.reply_tokens, 0.0, settings.seed
        )

    def note(self, event: Event) -> None:
        """Tell it what its calls gave."""
        self._model.note(event)

    @property
    def ids(self) -> Mapping[str, str]:
        """The ids of what was made so far, by the names that the chains give it."""
        return self._model.ids


@dataclass(frozen=True)
class Contender:
    """One method by its name ("react", "react+chat", "geo-olm+states"), as the harness takes it.

    With `rates` the scripted model of faults replies in place of a model; then it has to be made
    for each task, whose chains that model plays, one for each turn.
    """

    settings: Settings
    name: str
    rates: Rates | None = None
    chains: tuple[Chain, ...] = ()
    key: str = ""

    def of_task(self, task: Task, data: Path) -> Contender:
        """Return the method for one task; files in the task's data folder may be read."""
        folders = "\n".join(filter(None, [self.settings.allowed_folders, str(data)]))
        settings = replace(self.settings, allowed_folders=folders)
        chains = tuple(one.chains[0] for one in task.parts if one.chains)
        return replace(self, settings=settings, chains=chains, key=task.id)

    def talk(self, project: QgsProject, output_folder: Path, seed: int) -> ContestTalk:
        """Begin a chat over a project; files go into `output_folder`. Main thread only."""
        settings = replace(self.settings, seed=seed, output_folder=str(output_folder))
        return ContestTalk(self, project, replace(settings, **self._way()))

    def source(self, turn: int, seed: int, ids: Mapping[str, str]) -> Source:
        """Return where the replies to a turn come from; `ids` are of results by their names."""
        if self.rates is None:
            return ModelSource()
        if turn >= len(self.chains):
            raise ContestError("The model of faults needs a task with a reference chain.")
        return FaultSource(self.chains[turn], self.rates, seed, self.key, ids)

    def _way(self) -> dict[str, Any]:
        """Return the settings that the method, or its variant, fixes."""
        base, _, variant = self.name.partition("+")
        fixed: dict[str, Any] = {"exposure": variant} if variant in EXPOSURES else {}
        if variant == STATES:
            fixed["plan_first"] = False
        if base in RIVALS:
            fixed["tool_mode"] = _TOOL_MODE[self._mode()]
        return fixed

    def _mode(self) -> Mode:
        base, _, variant = self.name.partition("+")
        return Mode(variant) if variant in ("chat", "text") else RIVALS[base].mode

    def desk(
        self,
        question: str,
        chat: Chat,
        toolbox: ProjectToolbox,
        speaker: ModelSpeaker,
        settings: Settings,
        stopped: Cancelled,
        emit: Callable[[Any], None],
    ) -> Desk | None:
        """Return what a rival works with, None for our own method."""
        if self.name.partition("+")[0] not in RIVALS:
            return None
        return Desk(
            question,
            toolbox,
            speaker,
            limits_of(settings),
            prompt.load(RESOURCES / "prompts"),
            example.load(FOLDER / "examples.json"),
            stopped,
            emit,
            self._mode(),
            settings.exposure,
            chat,
        )

    def events(self, desk: Desk) -> Iterator[Event]:
        """Yield the events of a rival at its desk."""
        return played(
            RIVALS[self.name.partition("+")[0]].make(team.load(FOLDER / "team.json")), desk
        )


class ContestTalk:
    """A method at work over one project, in one chat. Main thread only."""

    def __init__(self, contender: Contender, project: QgsProject, settings: Settings) -> None:
        self._contender, self._settings = contender, settings
        self._main = MainThread()
        self._toolbox = equipped(project, settings, self._main)
        self._disclosure = Disclosure(self._toolbox.layers)
        self._chat = Chat()
        self._turn = 0
        self._ids: dict[str, str] = {}

    def ask(
        self, question: str, on_event: Callable[[Event], None], cancelled: Cancelled
    ) -> Errand[dict[str, Any]]:
        """Answer a question and return its record. Raises ModelError when the server has ended,
        ContestError for a turn without a chain that the model of faults could play."""
        source = self._contender.source(self._turn, self._settings.seed, self._ids)
        self._turn += 1
        recorder = Recorder(question)

        def note(event: Event) -> None:
            if not isinstance(event, CallProgress):
                self._disclosure.note(event)
                recorder.note(event)
                on_event(event)

        def work(emit: Callable[[Any], None], stopped: Cancelled) -> None:
            self._answer(question, source, recorder, emit, stopped)

        task = RunTask("Geo-OLM", work)
        task.told.connect(note)
        yield Wait(task, cancelled)
        if not recorder.has_ended:
            note(ending(RunCancelled()))
        if isinstance(source, FaultSource):
            self._ids = dict(source.ids)
        record = recorder.record()
        if record["status"] == Status.FAILED.value:
            yield from look_for_the_server(source, self._settings)
        return record

    def close(self) -> None:
        """Let go of the project's layers."""
        self._toolbox.close()

    def _answer(
        self,
        question: str,
        source: Source,
        recorder: Recorder,
        emit: Callable[[Any], None],
        stopped: Cancelled,
    ) -> None:
        """Answer on the worker thread."""
        settings, contender = self._settings, self._contender
        try:
            speaker = source.speaker(settings, emit, stopped, self._disclosure.known)
            recorder.model(speaker.card())
        except RunCancelled as error:
            emit(ending(error))
            return
        pricer = Pricer(settings) if contender.rates is None else None

        def tell(event: Event) -> None:
            source.note(event)
            emit(pricer.priced(event, speaker.card()) if pricer else event)

        desk = contender.desk(question, self._chat, self._toolbox, speaker, settings, stopped, emit)
        if desk is None:
            Answerer(self._toolbox, speaker, settings).answer(self._chat, question, tell, stopped)
            return
        for event in contender.events(desk):
            tell(event)


def look_for_the_server(source: Source, settings: Settings) -> Errand[None]:
    """Tell a question that failed from a server that has ended. Raises ModelError for the latter.

    Main thread only.
    """
    failed: list[ModelError] = []

    def look(emit: Callable[[Any], None], stopped: Cancelled) -> None:
        try:
            source.speaker(settings, emit, stopped).card()
        except ModelError as error:
            failed.append(error)

    yield Wait(RunTask("Geo-OLM", look))
    if failed:
        raise failed[0]
