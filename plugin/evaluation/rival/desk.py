# SPDX-License-Identifier: GPL-2.0-or-later
"""What every method works with: the same tools, model layer, caps and worked examples."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from ....tools.base import MendableError, Toolbox, ToolDefinition, ToolResult
from ...agent import prompt
from ...agent.chat import Chat
from ...agent.closing import ANSWER, REJECT
from ...agent.event import CallProgress, Event, Reflected, Status
from ...agent.limit import Limits
from ...agent.message import Message, Role, ToolCall
from ...agent.talk import Talk
from ...agent.work import Work
from ...llm.base import Cancelled, Choice, Speaker, Spoken
from .ask import Ask, rejection, value_in
from .example import WorkedBank
from .thread import OBSERVED, fitted, listed, shortened, without_runs

_TURNS, _LONGEST = 6, 300
"""Earlier questions that a method is told of, and the characters of each with its answer."""
_UNREAD = 2
"""How often in a run a reply whose call cannot be read is asked for again."""


class Mode(str, Enum):
    """How tools reach the model: through the server's chat API, or in the prompt's text."""

    CHAT = "chat"
    TEXT = "text"


class MethodEnded(Exception):
    """A method cannot go on; the message says why. The run counts as failed."""


@dataclass(frozen=True)
class Ending:
    """What a method answers."""

    status: Status
    text: str
    value: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Used:
    """What a call gave: its text for the model, and the result, None where it failed."""

    text: str
    result: ToolResult | None = None


@dataclass
class Desk:
    """One question at work. `ending` is set once the answer or the reject tool was called.

    Its generators yield the events of the run; they raise ModelError, RunCancelled, LastingError,
    ToolCancelled and MethodEnded.
    """

    question: str
    toolbox: Toolbox
    speaker: Speaker
    limits: Limits
    prompts: prompt.Prompts
    bank: WorkedBank
    cancelled: Cancelled
    progress: Callable[[CallProgress], None] = lambda progress: None
    mode: Mode = Mode.TEXT
    exposure: str = "filter"
    chat: Chat = field(default_factory=Chat)
    ending: Ending | None = None
    unread: int = 0

    def __post_init__(self) -> None:
        self.talk = Talk(self.speaker, self.cancelled, self.limits.tokens)
        self.work = Work(self.toolbox, self.chat, self.limits, self.cancelled, self.progress)

    # -- what there is

    def tools(self, names: Sequence[str] | None = None) -> tuple[ToolDefinition, ...]:
        """Return the tools with these names, or all, as the toolbox orders them."""
        known = self.toolbox.definitions()
        return tuple(one for one in known if names is None or one.name in names)

    def task(self, text: str = "") -> str:
        """Return the layers, a line each, what was asked before in this chat, and the question,
        or another task in its place."""
        asked = text or f"Question: {self.question}"
        lines = prompt.layer_lines(self.toolbox.layers(), f"{self.question} {text}")
        return "\n".join(["Layers:", *(f"- {line}" for line in lines), *self._before(), asked])

    def _before(self) -> list[str]:
        """Return a line for each earlier question, with its answer and the ids of its results."""
        turns = [
            " ".join(f"- {one.question} {one.answer}".split())[:_LONGEST]
            + (f" ({', '.join(one.results)})" if one.results else "")
            for one in self.chat.turns[-_TURNS:]
        ]
        return ["Asked before in this chat:", *turns] if turns else []

    @property
    def in_text(self) -> bool:
        """Whether tools stand in the prompt: as the method has it, or as the server forces it."""
        return getattr(self.speaker, "mode", self.mode) == Mode.TEXT or self.mode is Mode.TEXT

    # -- asking the model

    def ask(self, *messages: Message) -> Generator[Event, None, str]:
        """Ask for free text."""
        sent = fitted(without_runs(messages), self.speaker, self.limits.reply_tokens)
        reply = yield from self.talk.write(sent, self.limits.reply_tokens, stream=False)
        return reply.text.strip()

    def act(
        self, thread: Sequence[Message], tools: Sequence[ToolDefinition]
    ) -> Generator[Event, None, Spoken]:
        """Ask for the next call of one of the tools, or for a text."""
        while True:
            in_text = self.in_text
            offered = tuple(tools) if in_text else shortened(tools, self.speaker.card().context)
            first = thread[0]
            if in_text:
                first = replace(first, content=f"{first.content}\n{listed(tools)}".strip())
            sent = without_runs([first, *thread[1:]])
            sent = fitted(sent, self.speaker, self.limits.reply_tokens, () if in_text else offered)
            spoken = yield from self.talk.choose(sent, Choice(offered))
            if in_text == self.in_text:
                return spoken

    # -- calls

    def use(self, call: ToolCall) -> Generator[Event, None, Used]:
        """Run one call; what the model can mend comes back as its text."""
        if self.work.steps >= self.limits.steps:
            raise MethodEnded(f"Not answered within {self.limits.steps} steps.")
        try:
            result = yield from self.work.run(call)
        except MendableError as error:
            if self.work.errors >= self.limits.errors:
                raise MethodEnded(error.message) from error
            return Used(f"Error: {error.message}")
        if call.name == ANSWER:
            self.ending = self._answered(result)
        elif call.name == REJECT:
            self.ending = Ending(Status.REJECTED, result.texts.get("reason") or result.text)
        return Used(result.text, result)

    def use_mended(self, call: ToolCall) -> Generator[Event, None, Used]:
        """Run one call; after an error ask about it by itself and run the corrected call.

        This is the error reflection of the Geo-OLM paper (section 3), one request for an error.
        """
        used = yield from self.use(call)
        for _ in range(self.limits.retries):
            if used.result is not None:
                break
            known = self.tools([call.name])
            about = prompt.reflection(
                self.prompts,
                self.question,
                call,
                used.text,
                known[0] if known else None,
                self.toolbox.layers(),
            )
            spoken = yield from self.act((Message(Role.SYSTEM, ""), about), known or self.tools())
            corrected = spoken.calls[0] if spoken.calls else call
            if (corrected.name, corrected.arguments) == (call.name, call.arguments):
                yield Reflected(call.id, "No correction was found.")
                break
            yield Reflected(call.id, prompt.as_json(corrected.arguments))
            call = corrected
            used = yield from self.use(call)
        return used

    def visit(
        self,
        thread: list[Message],
        tools: Sequence[ToolDefinition],
        mend: bool = False,
        single: bool = False,
    ) -> Generator[Event, None, str]:
        """Let the model call tools until it replies without a call; return that text.

        K replies with calls make K + 1 requests. `thread` grows by all that is said; with `single`
        only the first call of a reply counts. Ends as soon as `ending` is set.
        """
        while True:
            spoken = yield from self.act(thread, tools)
            calls = spoken.calls[:1] if single else spoken.calls
            thread.append(_remembered(spoken, calls))
            if not calls:
                if not spoken.malformed or self.unread >= _UNREAD:
                    return spoken.reply.text.strip()
                self.unread += 1
                thread.append(
                    Message(
                        Role.USER,
                        f"That call could not be read: {spoken.malformed}. Write it again.",
                    )
                )
            for call in calls:
                used = yield from (self.use_mended(call) if mend else self.use(call))
                thread.append(observed(call, used.text, spoken.native))
                if self.ending is not None:
                    return self.ending.text

    # -- the end

    def closed(self, text: str) -> Ending:
        """Return the ending that the tools told, else the one that a text tells.

        A text rejects by a line that begins with REJECTED; its value is the last sentence's number.
        """
        if self.ending is not None:
            return self.ending
        reason = rejection(text)
        if reason is not None:
            return Ending(Status.REJECTED, reason or text)
        if not text.strip():
            return Ending(Status.FAILED, "The model gave no answer.")
        return Ending(Status.OK, text.strip(), value_in(text, self.chat.numbers().values()))

    def confirm(self, ending: Ending) -> Generator[Event, None, tuple[Ending, str]]:
        """Ask once whether the work is done; return the ending, and what is missing or "".

        This is the termination check of the Geo-OLM paper (section 3).
        """
        made = [one for one in self.work.results if one.id not in (ANSWER, REJECT)]
        results = "\n".join(one.text for one in made[-6:]) or ending.text
        text = yield from self.ask(prompt.confirm(self.prompts, self.question, results))
        if text.upper().startswith("CONTINUE"):
            return ending, text.partition(":")[2].strip() or "more steps"
        if ending.status is not Status.OK:
            return ending, ""
        value = ending.value
        if value is None:
            value = value_in(text, self.chat.numbers().values())
        return replace(ending, text=text or ending.text, value=value), ""

    def _answered(self, result: ToolResult) -> Ending:
        value, unit = result.numbers.get("value"), result.units.get("value", "")
        made = [one.text for one in self.work.results if one.id not in (ANSWER, REJECT)]
        said = f"{value:.10g} {unit}".strip() if value is not None else ""
        text = result.text or said or (made[-1].partition("\n")[0] if made else "Done.")
        return Ending(Status.OK, text, value, unit)


def observed(call: ToolCall, text: str, native: bool) -> Message:
    """Return the message that tells a result: a tool message, or text where calls are text."""
    if native:
        return Message(Role.TOOL, text, call_id=call.id, name=call.name)
    return Message(Role.USER, f"{OBSERVED} {text}")


def asking(kind: Ask, text: str) -> Message:
    """Return a message that steers a method, told by its first words."""
    return Message(Role.USER, f"{kind.value} {text}")


def _remembered(spoken: Spoken, calls: Sequence[ToolCall]) -> Message:
    """Return what the model said, without calls that do not count and results it made up."""
    message = spoken.message
    if spoken.native:
        return replace(message, calls=tuple(calls))
    return replace(message, content=message.content.partition(f"\n{OBSERVED}")[0])
