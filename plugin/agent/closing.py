# SPDX-License-Identifier: GPL-2.0-or-later
"""The confirmed end: the model summarises what was found, and the numbers are held to the results.

An end counts only when it is confirmed (Geo-OLM paper, section 3, task completion).
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace

from ...tools.base import ToolDefinition, ToolResult
from ..llm.base import Finish, Spoken
from . import prompt
from .chat import Chat
from .event import AnswerDelta, AnswerReset, Event, Notice
from .message import Message, Role
from .talk import Talk
from .wording import Format, Worded, reword

_CONTINUE = re.compile(r"^\W*CONTINUE\b[:\s]*", re.IGNORECASE)
_VALUE = re.compile(r':\s*"((?:[^"\\]|\\["\\/bfnrt])*)"')
_ABOUT = re.compile(r"^The (?:question|user)\b[^.!?]*[.!?]\s+(?=\S)")
"""A first sentence about the asking, before one that answers."""
_LISTED = re.compile(r"^(?:Results:\s*)?(?:r\d+:\s*)+")
"""How a result stands in the request, before words that only repeat it."""
_SHORTER = "That was too long and was cut. Write one short sentence."
_NO_ECHO = "Do not repeat what was asked: say what was done or found."
_RESULTS_SHOWN = 6
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WITHIN = re.compile(r"(?<=[\w,;:] )[^\W\d_][\w'-]+")
_ID = re.compile(r"^r\d+: ")
_LINE = re.compile(r"\br\d+: ")
_END = re.compile(r"[.?!]+(?:[\s\"']|$)")
_AROUND = " \"'"
ANSWER, REJECT = "answer", "reject"
"""The tools that end a question."""


def with_value(tool: ToolDefinition) -> ToolDefinition:
    """Ask the answer tool for its number: the intent says that the answer is one."""
    return replace(tool, parameters={**tool.parameters, "required": ["value"]})


def until_closing(spoken: Spoken) -> Spoken:
    """Leave out calls after the one that ends the question: they would never get a result."""
    ends = [place for place, call in enumerate(spoken.calls) if call.name in (ANSWER, REJECT)]
    if not ends:
        return spoken
    calls = spoken.calls[: ends[0] + 1]
    message = replace(spoken.message, calls=calls if spoken.message.calls else ())
    return replace(spoken, calls=calls, message=message)


@dataclass(frozen=True)
class Confirmed:
    """The end as the model confirmed it: the worded answer with the numbers of results that it
    says, or what the model says is missing."""

    answer: str = ""
    missing: str = ""
    said: tuple[float, ...] = ()


@dataclass(frozen=True)
class Close:
    """What the answer tool was given: its own words, and the number with its unit; `name` is what
    the number belongs to, where it belongs to one."""

    text: str = ""
    value: float | None = None
    unit: str = ""
    name: str = ""


@dataclass
class Closing:
    """Confirms the end of one run and words its answer; `plain` is what is said where the model's
    words do not hold, "" for the results themselves."""

    prompts: prompt.Prompts
    talk: Talk
    chat: Chat
    write: Format
    max_tokens: int
    plain: str = ""

    def confirm(
        self,
        question: str,
        close: Close,
        results: Iterable[ToolResult],
        names: Iterable[str],
    ) -> Generator[Event, None, Confirmed]:
        """Ask once for the confirming summary; a wording with unknown numbers, or with others than
        the answer's own, is asked for again, then replaced by the results themselves. One that
        was cut is asked for again, then told as cut.

        Raises ModelError and RunCancelled."""
        made = list(results)
        shown = ([item for item in made if item.id] or made)[-_RESULTS_SHOWN:]
        summary = "\n".join(_line(item) for item in shown) or close.text
        ask = prompt.confirm(self.prompts, question, summary)
        allowed = [question, *names, *(item.text for item in shown)]
        for attempt in range(2):
            reply = yield from self.talk.write(
                (*self._messages(), ask), self.max_tokens, stream=True
            )
            text = reply.text.strip()
            missing = _CONTINUE.match(text)
            if missing:
                yield AnswerReset()
                return Confirmed(missing=text[missing.end() :].strip() or "more steps")
            worded = reword(
                without_new_names(_plain(text), allowed), self.chat.numbers(), allowed, self.write
            )
            yield AnswerReset()
            cut = reply.finish is Finish.LENGTH
            hint = _SHORTER if cut and not attempt else _hint(worded, close)
            if _echoes(question, worded.text):
                hint = _NO_ECHO
            if not hint and self.prompts.is_english(question):
                hint = _names(worded.text, allowed)
            if worded.text and not hint:
                if cut:
                    yield Notice(f"The answer was cut at {self.max_tokens} tokens.", warning=True)
                yield AnswerDelta(worded.text)
                return Confirmed(worded.text, said=worded.said)
            ask = Message(Role.USER, f"{ask.content}\n{hint}")
        answer = self.from_results(close, shown)
        yield AnswerDelta(answer)
        return Confirmed(answer)

    def _messages(self) -> tuple[Message, ...]:
        return tuple(self.chat.messages)

    def from_results(self, close: Close, shown: list[ToolResult]) -> str:
        """Return the answer without the model's words: the number, else the last result."""
        if self.plain:
            return self.plain
        if close.value is not None:
            return f"{self.write(close.value)} {close.unit}".strip()
        return _ID.sub("", shown[-1].text).partition("\n")[0] if shown else close.text


def _echoes(question: str, text: str) -> bool:
    """Tell whether an answer repeats a sentence of its question as one of its own, or a line of
    results by its id."""
    said, asked = (
        {part.strip(_AROUND) for part in _END.split(one.casefold())} - {""}
        for one in (text, question)
    )
    return not said.isdisjoint(asked) or bool(_LINE.search(text))


def without_new_names(text: str, allowed: Iterable[str]) -> str:
    """Drop every sentence after the first that names what neither results nor question name.

    A name is a word with a capital within a sentence.
    """
    given = " ".join(allowed).lower()
    first, *others = _SENTENCE.split(text)
    kept = [first]
    for sentence in others:
        names = [word for word in _WITHIN.findall(sentence) if word[0].isupper()]
        if all(name.lower() in given for name in names):
            kept.append(sentence)
    return " ".join(kept) if len(kept) <= len(others) else text


def _hint(worded: Worded, close: Close) -> str:
    """Return what is wrong with the numbers and the name of a wording, "" for nothing."""
    if worded.unknown:
        return f"Do not write {', '.join(worded.unknown)}: no result holds it."
    if close.value is not None and worded.leaves_out(close.value):
        return f"The answer's number is {close.value:.10g}: write it."
    if close.name and close.name.casefold() not in worded.text.casefold():
        return f"The answer is {close.name}: write it."
    return ""


def _names(text: str, allowed: Iterable[str]) -> str:
    """Return what is wrong with the names of an English wording, "" for nothing: a word with a
    capital inside a sentence is a name, and a name comes from the data."""
    given = " ".join(allowed).lower()
    named = (word for word in _WITHIN.findall(text) if word[0].isupper() and not word.isupper())
    strange = [word for word in dict.fromkeys(named) if word.lower() not in given]
    return f"Do not write {', '.join(strange)}: no result holds it." if strange else ""


def _line(result: ToolResult) -> str:
    return f"{result.id}: {result.text}" if result.id else result.text


def _unwrapped(text: str) -> str:
    """Return the longest text value of a JSON object, which may be fenced or cut; else `text`."""
    inside = re.sub(r"^```\w*\s*|\s*```$", "", text)
    if not inside.startswith("{"):
        return text
    values = [json.loads(f'"{value}"', strict=False) for value in _VALUE.findall(inside)]
    return max(values, key=len, default="")


def _plain(text: str) -> str:
    """Drop the signal words, and a wrapping code fence or JSON object, from a wording."""
    text = _unwrapped(text.strip())
    text = re.sub(r"\b(TERMINATE|CONFIRMED)\b[.:]?", "", text)
    text = re.sub(r"CURRENT_STAGE\s*=\s*\w+\.?", "", text)
    text = _LISTED.sub("", _ABOUT.sub("", text.strip().strip("`").strip()))
    return text[:-1] if text.endswith('"') and text.count('"') % 2 else text
