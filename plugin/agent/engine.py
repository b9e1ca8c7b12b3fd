# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine: takes a question from Init to End through the states of a workflow.

It is dull on purpose: what a state offers and where it leads is data, what the model may reply
is a schema, and everything that happens is an event. The states, the reflection on errors and
the confirmed end follow the Geo-OLM paper, section 3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace

from ...tools.base import (
    LastingError,
    LayerProfile,
    MendableError,
    Toolbox,
    ToolCancelled,
    ToolResult,
    UnanswerableError,
)
from ..llm.base import Cancelled, Choice, ModelError, RunCancelled, Speaker, Spoken
from . import prompt
from .chat import Chat, Turn
from .closing import ANSWER, REJECT, Close, Closing, until_closing
from .event import (
    AnswerDelta,
    CallProgress,
    Event,
    Notice,
    RunFinished,
    RunStarted,
    StageChanged,
    Status,
)
from .example import ExampleBank
from .limit import Limits
from .menu import Menu
from .message import Message, Role, ToolCall
from .recall import is_too_long, opening
from .reflection import Reflection
from .state import Workflow
from .talk import Talk
from .wording import Format
from .work import Work

_NO_LAYER = "No layers yet. Add a layer, or open the demo project."
_NO_CALL = (
    "The model answered without using a tool, so nothing was checked on your layers. "
    "Ask again, or choose another model."
)
_NO_TOOL = (
    'The model asked for a tool that does not exist ("{}") and then gave no answer. '
    "Ask again, or choose another model."
)
_TOO_MANY = (
    "All tools together do not fit this model's context, so only those of each stage are offered."
)
_LOAD = "Load"
_FULL = 0.625
"""Share of the context that earlier turns may fill; a turn takes up to 3,000 tokens of 8,192."""
_INFO = "layer_info"
_ZOOM = "zoom_to_layer"


@dataclass(frozen=True)
class Agent:
    """What every run shares: the workflow as data, the tools, the speaker, the caps."""

    workflow: Workflow
    bank: ExampleBank
    prompts: prompt.Prompts
    toolbox: Toolbox
    speaker: Speaker
    limits: Limits
    write: Format
    exposure: str = "filter"

    def run(
        self,
        chat: Chat,
        question: str,
        cancelled: Cancelled,
        progress: Callable[[CallProgress], None],
    ) -> Iterator[Event]:
        """Answer one question. The last event is always RunFinished; nothing is raised for
        what a model, a server or a tool does. May be called on any thread."""
        return _Run(self, chat, question, cancelled, progress).events()


@dataclass
class _Run:
    agent: Agent
    chat: Chat
    question: str
    cancelled: Cancelled
    progress: Callable[[CallProgress], None]
    stage: str = ""
    close: Close | None = None
    reminded: int = 0
    unfinished: int = 0
    kept: int = 0
    narrowed: str = ""

    def __post_init__(self) -> None:
        agent = self.agent
        self.shown = frozenset(self.chat.shown)
        self.menu = Menu(
            agent.workflow, agent.bank, agent.toolbox, self.chat, agent.exposure, self.question
        )
        self.talk = Talk(agent.speaker, self.cancelled, agent.limits.tokens)
        self.work = Work(agent.toolbox, self.chat, agent.limits, self.cancelled, self.progress)
        self.closing = Closing(
            agent.prompts, self.talk, self.chat, agent.write, agent.limits.reply_tokens
        )
        self.reflection = Reflection(
            agent.prompts, self.talk, self.work, self.menu, self.chat, agent.limits, self._enter
        )

    # -- the run as a whole

    def events(self) -> Iterator[Event]:
        """Yield the events of the run, the last one a RunFinished."""
        started = time.monotonic()
        self.kept = len(self.chat.messages)
        self.agent.toolbox.begin_turn(self.question)
        self.chat.retain(self.agent.toolbox.results())
        status, text, whole = Status.OK, "", False
        try:
            status, text = yield from self._carry()
            whole = status is not Status.FAILED
        except (RunCancelled, ToolCancelled):
            status, text = Status.CANCELLED, "Stopped. What was made so far is kept."
        except ModelError as error:
            status, text = Status.FAILED, error.message
        except UnanswerableError as error:
            status, text = Status.REJECTED, error.message
        except LastingError as error:
            status, text = Status.FAILED, error.message
        except Exception:
            self._shorten("The run stopped with an error.")
            raise
        if not whole:
            self._shorten(text)
        self.chat.turns.append(
            Turn(
                self.question,
                text,
                tuple(item.id for item in self.work.results if item.id),
            )
        )
        yield self._finished(status, text, time.monotonic() - started)

    def _carry(self) -> Generator[Event, None, tuple[Status, str]]:
        agent = self.agent
        card = agent.speaker.card()
        yield RunStarted(
            self.question,
            card.name,
            card.server.value,
            agent.workflow.stages,
            agent.limits.steps,
        )
        layers = agent.toolbox.layers()
        yield self._enter(agent.workflow.initial)
        if not layers:
            return Status.REJECTED, _NO_LAYER
        yield from self._fit_head()
        yield from self._make_room(card.context)
        needed = yield from self._init(layers)
        details = yield from self._load(needed)
        self.chat.messages += self.menu.offer(self.stage)
        self._say(prompt.begin(details, self.question, self.menu.english))
        while self.work.steps < agent.limits.steps:
            ended = yield from self._step()
            if ended is not None:
                yield self._enter(agent.workflow.final)
                return ended
        return Status.FAILED, (
            f"The question was not answered within {agent.limits.steps} steps. "
            "Ask for less at once, or raise the number of steps in the options."
        )

    def _finished(self, status: Status, text: str, total: float) -> RunFinished:
        layers = {
            layer.id: layer
            for item in self.work.results
            for layer in (*item.extracted, *item.layers)
        }
        files = dict.fromkeys(path for item in self.work.results for path in item.files)
        close = self.close or Close()
        ok = status is Status.OK
        return RunFinished(
            status,
            text,
            close.value if ok else None,
            close.unit if ok else "",
            "" if ok else text,
            tuple(layers.values()),
            tuple(files),
            self.talk.usage,
            {"model": self.talk.seconds, "tools": self.work.seconds, "total": total},
        )

    def _shorten(self, text: str) -> None:
        """Keep a failed turn in the chat as two plain lines, so that it does not mislead later."""
        self._open_chat()
        del self.chat.messages[self.kept :]
        self.chat.shown &= self.shown
        self.chat.messages += [
            Message(Role.USER, f"Question: {self.question}"),
            Message(Role.ASSISTANT, f"Not answered: {text}"),
        ]

    # -- messages and states

    def _enter(self, stage: str) -> StageChanged:
        self.stage = stage
        return StageChanged(stage, self.menu.intent)

    def _say(self, message: Message) -> None:
        self.chat.messages.append(message)

    def _messages(self) -> tuple[Message, ...]:
        return tuple(self.chat.messages)

    def _open_chat(self) -> None:
        if not self.chat.messages:
            self._begin_chat(opening(self.agent, self.menu))

    def _fit_head(self) -> Generator[Event, None, None]:
        """Describe fewer tools where all of them leave too little of the context."""
        if is_too_long(self.agent, self.menu):
            self.menu.exposure = "filter"
            if not self.chat.turns:
                yield Notice(_TOO_MANY)

    def _make_room(self, context: int) -> Generator[Event, None, None]:
        """Summarise the older turns when too little of the context is left for this one."""
        self._open_chat()
        if not self.chat.turns or self._fits(context):
            return
        ask = Message(Role.USER, self.agent.prompts.summary)
        reply = yield from self.talk.write(
            (*self._messages(), ask), self.agent.limits.reply_tokens, stream=False
        )
        self._begin_chat(
            [
                *opening(self.agent, self.menu),
                Message(Role.USER, f"Earlier in this chat:\n{reply.text.strip()}"),
                Message(Role.ASSISTANT, "Understood."),
            ]
        )
        yield Notice("The chat filled the model's context, so its older turns were summarised.")

    def _begin_chat(self, messages: list[Message]) -> None:
        self.chat.messages = messages
        self.chat.shown.clear()
        self.menu.begin_chat()
        self.shown = frozenset(self.chat.shown)
        self.kept = len(messages)

    def _fits(self, context: int) -> bool:
        return self.agent.speaker.estimate(self._messages()) < context * _FULL

    # -- the states

    def _init(self, layers: tuple[LayerProfile, ...]) -> Generator[Event, None, list[str]]:
        """Init: the model names its intent, what the question needs and the layers that hold it."""
        self._say(prompt.question(self.question, layers))
        prompts = self.agent.prompts
        is_part = bool(self.chat.turns) and prompts.continues(self.question)
        is_whole = prompts.is_english(self.question) and not is_part
        choice = self.menu.initial(layers, prompts.refers(self.question), is_whole)
        spoken = yield from self.talk.choose(self._messages(), choice)
        self._say(spoken.message)
        needed = self.menu.understood(spoken.said, layers)
        if self.menu.follows is not None:
            yield Notice(f"Taken as a question about {self.menu.follows.title}.", warning=False)
        return needed

    def _load(self, needed: list[str]) -> Generator[Event, None, list[str]]:
        """Load: a look at the named layers needs no judgement, so no model is asked."""
        yield self._enter(_LOAD)
        details = []
        for number, key in enumerate(needed):
            call = ToolCall(f"load{len(self.chat.turns):02d}{number:03d}", _INFO, {"layer": key})
            try:
                details.append((yield from self.work.run(call)).text)
            except MendableError as error:
                details.append(f"Error: {error.message}")
        return details

    def _step(self) -> Generator[Event, None, tuple[Status, str] | None]:
        """One call, chosen by the model, carried out and remembered."""
        choice = self.menu.choice(self.stage)
        self._narrow(choice)
        spoken = until_closing((yield from self.talk.choose(self._messages(), choice)))
        self._say(spoken.message)
        if not spoken.calls:
            return self._without_call(spoken)
        for call in spoken.calls:
            stage = str(spoken.said.get("CURRENT_STAGE", "")) or self.agent.workflow.home(call.name)
            if stage and stage != self.stage:
                yield self._enter(stage)
            self.menu.called.add(call.name)
            ended = yield from self._call(call, spoken.native)
            if ended is not None:
                return ended
        return None

    def _narrow(self, choice: Choice) -> None:
        """Name the tools of a choice at the end of the message that has not been sent yet."""
        line = self.menu.narrowing(choice)
        if line != self.narrowed:
            self.narrowed = line
            last = self.chat.messages[-1]
            self.chat.messages[-1] = replace(last, content=f"{last.content}\n{line}")

    def _without_call(self, spoken: Spoken) -> tuple[Status, str] | None:
        """A reply without a call: remind once, then stop with a plain sentence."""
        self.reminded += 1
        self.menu.free = True
        if self.reminded > 1:
            unknown = self.work.unknown
            return Status.FAILED, _NO_TOOL.format(unknown) if unknown else _NO_CALL
        said = spoken.malformed or "no tool was called"
        self._say(
            Message(
                Role.USER,
                f"That could not be used: {said}. Reply with one JSON call of a tool.",
            )
        )
        return None

    # -- calls

    def _call(
        self, call: ToolCall, native: bool
    ) -> Generator[Event, None, tuple[Status, str] | None]:
        made, result = yield from self.reflection.run(call, self.stage)
        if isinstance(result, str):
            self._say(prompt.result(call, f"Error: {result}", native))
            if self.work.errors >= self.agent.limits.errors:
                return Status.FAILED, result
            return None
        self._say(prompt.result(call, result.text, native))
        if made.name == REJECT:
            return Status.REJECTED, result.texts.get("reason") or result.text
        if made.name == ANSWER:
            return (yield from self._answer(result))
        return None

    def _take_value(self, said: tuple[float, ...]) -> None:
        """Where the model left the number out of its call, take the only one that it words."""
        close = self.close
        if close is not None and close.value is None and len(set(said)) == 1:
            self.close = replace(close, value=said[0])

    def _show(self, results: list[ToolResult]) -> Generator[Event, None, None]:
        """Where the question asks to show what was only counted, make a layer of it."""
        speaking = [item for item in results if item.speaks]
        made = any(item.layers for item in results)
        if speaking and not made and self.agent.prompts.shows(self.question):
            number = f"show{len(self.chat.turns):05d}"
            yield from self.work.run(ToolCall(number, _ZOOM, {"layer": speaking[-1].id}))

    def _answer(self, result: ToolResult) -> Generator[Event, None, tuple[Status, str] | None]:
        """TERMINATE: the end is confirmed before it counts."""
        self.close = Close(result.text, result.numbers.get("value"), result.units.get("value", ""))
        names = [layer.key for layer in self.agent.toolbox.layers()]
        gathered = [item for item in self.work.results if item is not result]
        yield from self._show(gathered)
        confirmed = yield from self.closing.confirm(self.question, self.close, gathered, names)
        answer = confirmed.answer
        self._take_value(confirmed.said)
        if not answer and self.unfinished > 1:
            answer = self.closing.from_results(self.close, gathered)
            yield AnswerDelta(answer)
        if answer:
            self._say(Message(Role.ASSISTANT, answer))
            return Status.OK, answer
        self.unfinished += 1
        self._say(Message(Role.USER, f"Not finished: {confirmed.missing}"))
        return None
