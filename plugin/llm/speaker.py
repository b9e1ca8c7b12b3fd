# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a chat model for one reply in the way it understands best, and reads what it meant.

Three ways, from the closest hold to the loosest: the server keeps the reply to a JSON schema;
the server parses native calls; the call stands in the text. A server that refuses one is asked
in the next, and the way that worked is kept for the chat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from enum import Enum
from typing import Any

from ...tools.base import ToolDefinition
from ..agent.message import Message, Role, ToolCall
from .base import (
    Cancelled,
    ChatModel,
    ChatRequest,
    Choice,
    Chunk,
    FeatureRefused,
    Finish,
    ModelCard,
    Reply,
    Spoken,
    TextDelta,
    ToolSpec,
    Usage,
)
from .doctor_note import ModelNote, Recall, exposure_for, nothing_noted
from .grounding import ground
from .saying import said_in_object, said_in_text
from .textcall import find_calls, new_id, without_tags

_TOKEN = 3.2
"""Characters a token, measured on JSON and field names; low, so that estimates err high."""

_LOOKED_BACK = 200
_CUT = "the reply was cut"
_CIRCLE = re.compile(r"(.{6,40}?)\1{4}$", re.DOTALL)

_MARKS = ("x-layer", "x-field", "x-types", "x-band", "x-for", "x-result", "x-synonyms")


class Mode(str, Enum):
    """The way in which a reply is held to the tools."""

    SCHEMA = "schema"
    NATIVE = "native"
    TEXT = "text"


_FALLBACK = {Mode.SCHEMA: Mode.NATIVE, Mode.NATIVE: Mode.TEXT}


class ModelSpeaker:
    """A Speaker over one ChatModel; remembers the mode that its server takes.

    `recall` gives what the doctor has noted of the model: its mode counts where none is set, and
    its context where it is smaller than what the server says.
    """

    def __init__(
        self,
        model: ChatModel,
        mode: str,
        reply_tokens: int,
        temperature: float,
        seed: int | None,
        recall: Recall = nothing_noted,
    ) -> None:
        self._model = model
        self._recall = recall
        self._note: ModelNote | None = None
        self._noted = False
        self._mode = Mode.SCHEMA if mode == "auto" else Mode(mode)
        self._measures = mode == "auto"
        self._reply_tokens = reply_tokens
        self._temperature = temperature
        self._seed = seed

    def varied(self, temperature: float, seed: int) -> ModelSpeaker:
        """Return a speaker over the same model, in the same way, that samples otherwise."""
        other = copy(self)
        other._temperature, other._seed = temperature, seed
        return other

    @property
    def mode(self) -> Mode:
        """The mode in force now."""
        return self._mode

    def card(self) -> ModelCard:
        """Describe the model, with the context that was measured. Raises ModelError."""
        card = self._model.card()
        if not self._noted:
            self._noted, self._note = True, self._recall(card)
            if self._note is not None and self._measures:
                self._mode = Mode(self._note.mode)
        held = self._note.context if self._note is not None else 0
        return replace(card, context=held) if 0 < held < card.context else card

    def exposure(self, wanted: str) -> str:
        """Return which tools to describe: the wanted ones, or for auto those that were measured.

        Raises ModelError.
        """
        self.card()
        return exposure_for(wanted, self._note)

    def choose(
        self, messages: tuple[Message, ...], choice: Choice, cancelled: Cancelled
    ) -> Iterator[Chunk | Spoken]:
        """Ask for one reply within `choice`; the last item is a Spoken. Raises as a ChatModel."""
        self.card()
        while True:
            try:
                yield from self._once(messages, choice, cancelled)
                return
            except FeatureRefused:
                if self._mode not in _FALLBACK:
                    raise
                self._mode = _FALLBACK[self._mode]

    def _once(
        self, messages: tuple[Message, ...], choice: Choice, cancelled: Cancelled
    ) -> Iterator[Chunk | Spoken]:
        """Ask once; a reply that repeats itself is ended, not waited for."""
        stream = self._model.chat(self._request(messages, choice), cancelled)
        pieces: list[str] = []
        end = ""
        for chunk in stream:
            if isinstance(chunk, Reply):
                yield self._understand(chunk, choice)
                return
            yield chunk
            if isinstance(chunk, TextDelta):
                pieces.append(chunk.text)
                end = (end + chunk.text)[-_LOOKED_BACK:]
                if repeats(end):
                    break
        written = "".join(pieces)
        usage = Usage(
            evaluated=self.estimate(messages),
            prompt=self.estimate(messages),
            generated=int(len(written) / _TOKEN),
            estimated=True,
        )
        reply = Reply(written, finish=Finish.LENGTH, usage=usage)
        message = Message(Role.ASSISTANT, written)
        yield Spoken(reply, {}, (), message, malformed="the reply repeated itself")

    def write(
        self, messages: tuple[Message, ...], max_tokens: int, cancelled: Cancelled
    ) -> Iterator[Chunk]:
        """Ask for free text; the last item is a Reply. Raises as ChatModel.chat."""
        request = ChatRequest(
            messages,
            max_tokens=max_tokens,
            temperature=self._temperature,
            seed=self._seed,
        )
        yield from self._model.chat(request, cancelled)

    def estimate(self, messages: tuple[Message, ...]) -> int:
        """Estimate the tokens of these messages."""
        length = sum(
            len(item.content) + sum(len(json.dumps(call.arguments)) + 30 for call in item.calls)
            for item in messages
        )
        return int(length / _TOKEN) + 6 * len(messages)

    def _request(self, messages: tuple[Message, ...], choice: Choice) -> ChatRequest:
        schema = reply_schema(choice) if self._mode is Mode.SCHEMA else None
        told = choice.offered or choice.tools
        tools = tuple(_spec(tool) for tool in told) if self._mode is Mode.NATIVE else ()
        return ChatRequest(
            messages, tools, schema, self._reply_tokens, self._temperature, self._seed
        )

    def _understand(self, reply: Reply, choice: Choice) -> Spoken:
        calls = _known(reply.calls, choice)
        message = Message(Role.ASSISTANT, reply.text)
        if calls:
            message = Message(Role.ASSISTANT, without_tags(reply.text), calls)
            said = said_in_text(reply.text, choice.said)
            return Spoken(reply, said, calls, message, native=True)
        whole = _json_object(reply.text)
        cut = reply.finish is Finish.LENGTH
        if whole is None and cut and reply.text.lstrip().startswith("{"):
            return Spoken(reply, {}, (), message, malformed=_CUT)
        if whole is None:
            said = said_in_text(reply.text, choice.said)
        else:
            said = said_in_object(whole, choice.said)
            message = Message(Role.ASSISTANT, json.dumps(whole, ensure_ascii=False))
        if whole is not None and isinstance(whole.get("tool"), str):
            return Spoken(reply, said, _known(_held_call(whole), choice), message)
        found = find_calls(reply.text, [tool.name for tool in choice.tools], cut)
        calls = _known(found.calls, choice)
        malformed = _CUT if cut and found.malformed else found.malformed
        if found.ipython:
            message = Message(Role.ASSISTANT, found.text, calls)
        return Spoken(reply, said, calls, message, found.ipython, malformed)


def repeats(text: str) -> bool:
    """Tell whether a text has begun to go round in circles: a short piece five times in a row."""
    return _CIRCLE.search(text[-_LOOKED_BACK:]) is not None


def reply_schema(choice: Choice) -> dict[str, Any]:
    """Return the schema of one reply within `choice`, each tool held to its own states."""
    if not choice.tools:
        said = dict(choice.said)
        return {
            "type": "object",
            "properties": said,
            "required": list(said),
            "additionalProperties": False,
        }
    schema = ground(choice.tools, choice.layers, choice.results, choice.said).schema
    for branch in schema.get("anyOf", [schema]):
        properties = branch["properties"]
        states = choice.stages.get(properties["tool"]["enum"][0])
        if states and "CURRENT_STAGE" in properties:
            properties["CURRENT_STAGE"] = {"type": "string", "enum": list(states)}
    return schema


def _spec(tool: ToolDefinition) -> ToolSpec:
    return ToolSpec(tool.name, tool.description, _without_marks(tool.parameters))


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_marks(item) for key, item in value.items() if key not in _MARKS}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _held_call(whole: dict[str, Any]) -> tuple[ToolCall, ...]:
    arguments = whole.get("arguments")
    return (ToolCall(new_id(), whole["tool"], arguments if isinstance(arguments, dict) else {}),)


def _known(calls: tuple[ToolCall, ...], choice: Choice) -> tuple[ToolCall, ...]:
    """Return the calls with the names of tools as they are spelled, whatever their case."""
    names = {tool.name.lower(): tool.name for tool in choice.tools}
    return tuple(
        replace(call, name=names.get(call.name.strip().lower(), call.name)) for call in calls
    )
