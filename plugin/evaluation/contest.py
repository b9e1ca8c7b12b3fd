# SPDX-License-Identifier: GPL-2.0-or-later
"""Methods that ask a model, as the harness runs them: tools and model are the same for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from qgis.core import QgsProject

from ..agent import prompt
from ..agent.chat import Chat
from ..agent.event import CallProgress, Event, Status
from ..answerer import Answerer
from ..assembly import limits_of, make_toolbox
from ..disclosure import Disclosure
from ..link import process_link
from ..llm.base import Cancelled, ModelError, RunCancelled
from ..llm.holding import AskKnown, nothing_known
from ..llm.speaker import ModelSpeaker
from ..place import RESOURCES
from ..pricing import Pricer
from ..record import Recorder, ending
from ..runner import MainThread, RunTask, wait
from ..settings import Settings
from .chain import Chain
from .fault_model import FaultModel
from .fault_rate import Rates
from .rival import example, team
from .rival.catalog import EXPOSURES, RIVALS
from .rival.desk import Desk, Mode
from .rival.play import played
from .task import Task

FOLDER = RESOURCES / "evaluation"
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
    """The scripted model of faults, made for one run over one chain."""

    def __init__(self, chain: Chain, rates: Rates, seed: int, key: str) -> None:
        self._model = FaultModel(chain, team.load(FOLDER / "team.json"), rates, seed, key)

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


@dataclass(frozen=True)
class Contender:
    """One method by its name ("react", "react+chat", "geo-olm+states"), as the harness takes it.

    With `rates` the scripted model of faults replies in place of a model; then it has to be made
    for each task, whose chain that model plays.
    """

    settings: Settings
    name: str
    rates: Rates | None = None
    chain: Chain | None = None
    key: str = ""

    def of_task(self, task: Task, data: Path) -> Contender:
        """Return the method for one task; files in the task's data folder may be read."""
        folders = "\n".join(filter(None, [self.settings.allowed_folders, str(data)]))
        settings = replace(self.settings, allowed_folders=folders)
        chain = task.chains[0] if task.chains else None
        return replace(self, settings=settings, chain=chain, key=task.id)

    def answer(
        self,
        question: str,
        project: QgsProject,
        output_folder: Path,
        seed: int,
        on_event: Callable[[Event], None],
        cancelled: Cancelled,
    ) -> dict[str, Any]:
        """Answer with the method on a worker. Raises ModelError when the server has ended."""
        source = self._source(seed)
        settings = replace(self.settings, seed=seed, output_folder=str(output_folder))
        settings = replace(settings, **self._way())
        recorder, main = Recorder(question), MainThread()
        toolbox = make_toolbox(project, settings, main)
        pricer = Pricer(settings) if self.rates is None else None
        disclosure = Disclosure(toolbox.layers)

        def note(event: Event) -> None:
            disclosure.note(event)
            recorder.note(event)
            on_event(event)

        def work(emit: Callable[[Any], None], stopped: Cancelled) -> None:
            try:
                speaker = source.speaker(settings, emit, stopped, disclosure.known)
                recorder.model(speaker.card())
            except RunCancelled as error:
                emit(ending(error))
                return

            def tell(event: Event) -> None:
                source.note(event)
                emit(pricer.priced(event, speaker.card()) if pricer else event)

            if self.name.partition("+")[0] not in RIVALS:
                Answerer(toolbox, speaker, settings).answer(Chat(), question, tell, stopped)
                return
            for event in self._events(question, toolbox, speaker, settings, stopped, emit):
                tell(event)

        task = RunTask("Geo-OLM", work)
        task.told.connect(lambda event: None if isinstance(event, CallProgress) else note(event))
        try:
            wait(task, cancelled)
        finally:
            toolbox.close()
        if not recorder.has_ended:
            note(ending(RunCancelled()))
        record = recorder.record()
        if record["status"] == Status.FAILED.value:
            look_for_the_server(source, settings)
        return record

    def _source(self, seed: int) -> Source:
        if self.rates is None:
            return ModelSource()
        if self.chain is None:
            raise ContestError("The model of faults needs a task with a reference chain.")
        return FaultSource(self.chain, self.rates, seed, self.key)

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

    def _events(
        self,
        question: str,
        toolbox: Any,
        speaker: ModelSpeaker,
        settings: Settings,
        stopped: Cancelled,
        emit: Callable[[Any], None],
    ) -> Iterator[Event]:
        base = self.name.partition("+")[0]
        desk = Desk(
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
        )
        return played(RIVALS[base].make(team.load(FOLDER / "team.json")), desk)


def look_for_the_server(source: Source, settings: Settings) -> None:
    """Tell a question that failed from a server that has ended. Raises ModelError for the latter.

    Main thread only.
    """
    failed: list[ModelError] = []

    def look(emit: Callable[[Any], None], stopped: Cancelled) -> None:
        try:
            source.speaker(settings, emit, stopped).card()
        except ModelError as error:
            failed.append(error)

    wait(RunTask("Geo-OLM", look), lambda: False)
    if failed:
        raise failed[0]
