# SPDX-License-Identifier: GPL-2.0-or-later
"""A chat model behind Ollama's native chat endpoint, with the context always set."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from .address import is_loopback, ollama_root, shown
from .assembly import Assembly
from .base import (
    Cancelled,
    ChatRequest,
    Chunk,
    Finish,
    ModelCard,
    ModelError,
    Remark,
    RunCancelled,
    Server,
    Timing,
    Usage,
)
from .context import Room, room
from .exchange import ExchangeFactory, fetched
from .failure import Place, broken_off, context_full
from .memory import Memory, machine_memory
from .ollama_client import ollama_client, refusal_of
from .ollama_form import (
    NO_PICTURES,
    duration,
    error_of,
    message_body,
    missing,
    position,
    tool_body,
)
from .plain_exchange import PlainExchange
from .residence import Residence
from .retry import Streaming, insisted
from .usage import counted, estimate, guessed, number
from .watch import OnWait, Watch, never

LABEL = "Ollama"
_LOG = logging.getLogger(__name__)

_HIGH = 1.25
"""What a prompt may count more than its estimate, which is on the low side."""

_CUT = 0.6
"""A prompt counted at less than this share of its estimate was cut by the server."""

_SHORT = 500
"""Tokens of a prompt too short to judge by."""


class OllamaModel:
    """A ChatModel over the official client, or over the one that stands in for it.

    `model` "" takes the first one listed; a name without a tag also means its `latest`. The
    context asked for is bounded by what the model was trained for and by the memory of this
    machine. It stays the same for every request, since another value loads the model anew, but
    for a prompt that outgrows it: then it is doubled, and the user is told. `think` lets a model
    that can do so think before it answers.
    """

    def __init__(
        self,
        address: str = "",
        model: str = "",
        *,
        context: int = 8192,
        keep_alive: str = "5m",
        think: bool = False,
        watch: Watch | None = None,
        transport: ExchangeFactory = PlainExchange,
        memory: Callable[[], Memory] = machine_memory,
    ) -> None:
        self._root = ollama_root(address)
        self._name = model
        self._context = context
        self._keep_alive = duration(keep_alive)
        self._think = think
        self._watch = watch or Watch()
        self._transport = transport
        self._memory = memory
        self._made: Any = None
        self._known: ModelCard | None = None
        self._room = Room()
        self._asked = False

    @property
    def on_wait(self) -> OnWait | None:
        """Called about once a second, on the asking thread, while the first byte is awaited."""
        return self._watch.on_wait

    @on_wait.setter
    def on_wait(self, listener: OnWait | None) -> None:
        self._watch.on_wait = listener

    def card(self) -> ModelCard:
        """Describe the model. Raises ModelError when the server or the model is not there."""
        if self._known is None:
            try:
                listed = list(self._client().list().models)
                names = [str(item.model) for item in listed]
                at = position(self._name, names)
                if at is None:
                    raise self._missing(names)
                told = self._client().show(names[at])
                self._known = self._described(listed[at], told, tuple(names))
            except (ModelError, RunCancelled):
                raise
            except Exception as error:
                raise self._translated(error, "") from error
        return self._known

    def chat(self, request: ChatRequest, cancelled: Cancelled) -> Iterator[Chunk]:
        """Stream the reply; the last item is a Reply, and Remarks may come before it.

        An empty reply is asked for once more. Raises ModelError, and RunCancelled soon after
        `cancelled` turns true.
        """
        self._watch.cancelled = cancelled
        try:
            card = self.card()
            if "vision" not in card.capabilities and any(item.images for item in request.messages):
                raise ModelError(NO_PICTURES.format(card.name))
            remark = self._fit_context(request)
            if remark is not None:
                yield remark
            yield from insisted(lambda briefly: self._once(request, briefly))
        finally:
            self._watch.cancelled = never

    def residence(self) -> Residence | None:
        """Return where the model is loaded, None while it is not. Raises ModelError."""
        card = self.card()
        try:
            return self._loaded(card.name)
        except Exception as error:
            raise self._translated(error, "") from error

    def page(self, path: str) -> tuple[int, bytes]:
        """Return status and body of a page of the server. Raises ModelError."""
        try:
            return fetched(self._transport(self._watch), self._root + path)
        except Exception as error:
            raise self._translated(error, "") from error

    def log_text(self) -> str:
        """Return nothing: Ollama keeps its log to itself."""
        return ""

    def unload(self) -> None:
        """Ask Ollama to free the model's memory now. Raises ModelError."""
        card = self.card()
        try:
            self._client().generate(model=card.name, keep_alive=0)
        except Exception as error:
            raise self._translated(error, "") from error
        self._known = replace(card, residence="")

    def close(self) -> None:
        """Let go of connections; the model can be used again afterwards."""
        if self._made is not None:
            self._made.close()
            self._made = None

    def _described(self, listed: Any, told: Any, names: tuple[str, ...]) -> ModelCard:
        """Return the card of a listed model, with the context that fits it here."""
        local, capabilities = is_loopback(self._root), tuple(told.capabilities or ())
        lies = self._loaded(str(listed.model))
        size = int(listed.size or 0)
        memory = self._memory() if local else Memory()
        self._room = room(told.modelinfo or {}, 0 if lies else size, memory)
        return ModelCard(
            str(listed.model),
            Server.OLLAMA,
            shown(self._root),
            self._room.within(self._context),
            str(listed.digest or ""),
            local,
            native_tools="tools" in capabilities,
            models=names,
            size=size,
            capabilities=capabilities,
            residence=lies.words if lies else "",
        )

    def _loaded(self, name: str) -> Residence | None:
        """Return where a model lies; where Ollama does not say so, it counts as not loaded."""
        try:
            loaded = self._client().ps().models
        except Exception as error:
            told = refusal_of(error)
            if told is None or told.status != 404:
                raise
            return None
        for item in loaded:
            if name in (item.model, item.name) and item.size:
                context = int(getattr(item, "context_length", None) or 0)
                return Residence(int(item.size or 0), int(item.size_vram or 0), context)
        return None

    def _fit_context(self, request: ChatRequest) -> Remark | None:
        """Take a larger context for a prompt that needs one. Raises ContextFull."""
        card, least = self.card(), estimate(request)
        needed = int(least * _HIGH) + request.max_tokens
        if needed <= card.context:
            return None
        larger = self._room.grown(card.context, needed)
        if not larger and least > card.context:
            raise context_full(self._place())
        if not larger:
            return None
        self._known = replace(card, context=larger)
        if not self._asked:
            return None
        return Remark(
            f"The chat outgrew the context of {card.context:,} tokens, so the model is loaded "
            f"anew with {larger:,}."
        )

    def _once(self, request: ChatRequest, briefly: bool) -> Streaming:
        """Ask one time; `briefly` asks the model not to think."""
        card, assembly, last = self.card(), Assembly(), None
        think = self._think and "thinking" in card.capabilities and not briefly
        try:
            stream: Any = self._client().chat(
                model=card.name,
                messages=[message_body(item) for item in request.messages],
                tools=[tool_body(item) for item in request.tools] or None,
                stream=True,
                think=think,
                format=request.schema,
                options=self._options(card, request),
                keep_alive=self._keep_alive,
            )
            with closing(stream):
                for part in stream:
                    if self._watch.cancelled():
                        raise RunCancelled
                    yield from _pieces(part.message, assembly)
                    last = part
                    if assembly.is_endless:
                        break
        except (ModelError, RunCancelled):
            raise
        except Exception as error:
            raise self._translated(error, assembly.text) from error
        yield from assembly.flush()
        if last is None or not (last.done or assembly.is_endless):
            raise broken_off(self._place(), "the stream ended without its end", assembly.text)
        usage = counted(last.prompt_eval_count, None, last.eval_count)
        yield from self._remarks(request, usage)
        finish = Finish.LENGTH if last.done_reason == "length" else Finish.STOP
        return assembly.reply(finish, usage or guessed(request, assembly.text), _timing(last))

    def _remarks(self, request: ChatRequest, usage: Usage | None) -> Iterator[Remark]:
        """Say what a reply shows: a prompt that was cut, a model that is not on the card."""
        first, self._asked = not self._asked, True
        least = estimate(request)
        if usage is not None and least > _SHORT and usage.prompt < _CUT * least:
            yield Remark(
                f"{LABEL} read only {usage.prompt:,} of about {least:,} tokens: it cut the "
                "question's context. Choose a larger context in the options.",
                warning=True,
            )
        if first:
            try:
                lies = self.residence()
            except ModelError as error:  # the reply is whole all the same
                _LOG.info("where the model lies is not known: %s", error.detail or error)
                return
            self._known = replace(self.card(), residence=lies.words if lies else "")
            remark = lies.remark() if lies else None
            if remark is not None:
                yield remark

    def _options(self, card: ModelCard, request: ChatRequest) -> dict[str, Any]:
        options: dict[str, Any] = {
            "num_ctx": card.context,
            "num_predict": request.max_tokens,
            "temperature": request.temperature,
        }
        if request.seed is not None:
            options["seed"] = request.seed
        return options

    def _client(self) -> Any:
        if self._made is None:
            self._made = ollama_client(self._root, self._watch, self._transport)
        return self._made

    def _place(self) -> Place:
        name = self._known.name if self._known else self._name
        context = self._known.context if self._known else self._context
        return Place(LABEL, shown(self._root), name, context)

    def _missing(self, names: list[str]) -> ModelError:
        return missing(self._place(), names, self._name)

    def _translated(self, error: Exception, partial: str) -> Exception:
        """Return the error to raise for one of the client's or the connection's."""
        if isinstance(error, (ModelError, RunCancelled)):
            return error
        if self._watch.cancelled():
            return RunCancelled()
        found = error_of(error, self._place(), partial)
        if found is not None:
            return found
        return self._missing([str(item.model) for item in self._client().list().models])


def _timing(part: Any) -> Timing:
    """Return the seconds that the last part tells, which Ollama gives in nanoseconds."""
    names = ("prompt_eval_duration", "eval_duration", "load_duration")
    return Timing(*((number(part, name) or 0) / 1e9 for name in names))


def _pieces(message: Any, assembly: Assembly) -> Iterator[Chunk]:
    """Hand the pieces of one part to the assembly and yield what can be shown."""
    yield from assembly.think(message.thinking)
    yield from assembly.write(message.content)
    for call in message.tool_calls or ():
        assembly.call(None, call.function.name, dict(call.function.arguments or {}))
