# SPDX-License-Identifier: GPL-2.0-or-later
"""A chat model behind any OpenAI-compatible server: llama.cpp, vLLM, LM Studio, a cloud."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..agent.message import Message, Role
from .address import is_loopback, openai_base, shown
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
from .exchange import ExchangeFactory, fetched
from .failure import (
    Place,
    broken_off,
    context_full,
    from_connection,
    from_status,
    model_missing,
)
from .openai_client import cause_of, openai_client, refusal_of
from .plain_exchange import PlainExchange
from .retry import Streaming, insisted
from .usage import counted, estimate, guessed, number
from .watch import OnWait, Watch, never

_LEAST_CONTEXT = 1024
"""Tokens below which no server's context ends."""

_FINISH = {"length": Finish.LENGTH, "tool_calls": Finish.CALLS, "function_call": Finish.CALLS}


class OpenAIModel:
    """A ChatModel over the official client, or over the one that stands in for it.

    `model` "" takes the first one listed. `context` counts where the server does not say its
    own; `digest` is given where the owner of the server knows the weights. The key is held in
    memory only. The list of models is read once, at the first card() or chat().
    """

    def __init__(
        self,
        address: str,
        model: str = "",
        *,
        api_key: str = "",
        context: int = 0,
        digest: str = "",
        server: Server = Server.OPENAI,
        label: str = "The server",
        watch: Watch | None = None,
        transport: ExchangeFactory = PlainExchange,
    ) -> None:
        self._base = openai_base(address)
        self._key = api_key
        self._name = model
        self._context = context
        self._digest = digest
        self._server = server
        self._label = label
        self._watch = watch or Watch()
        self._transport = transport
        self._made: Any = None
        self._known: ModelCard | None = None
        self._brief = False

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
                listed = list(self._client().models.list().data)
            except (ModelError, RunCancelled):
                raise
            except Exception as error:
                raise self._translated(error, "") from error
            names = [str(item.id) for item in listed]
            name = self._name or (names[0] if names else "")
            if name not in names:
                raise model_missing(self._place(name), names)
            card = self._described(name, listed[names.index(name)])
            self._known = replace(card, models=tuple(names))
        return self._known

    def chat(self, request: ChatRequest, cancelled: Cancelled) -> Iterator[Chunk]:
        """Stream the reply; the last item is a Reply.

        An empty reply is asked for once more, without thinking where thinking used it up.
        Raises ModelError, and RunCancelled soon after `cancelled` turns true.
        """
        self._watch.cancelled = cancelled
        try:
            card = self.card()
            if card.context and estimate(request) > card.context:
                raise context_full(self._place(card.name))
            yield from insisted(lambda brief: self._once(card.name, request, brief))
        finally:
            self._watch.cancelled = never

    def page(self, path: str) -> tuple[int, bytes]:
        """Return status and body of a page of the server, outside of /v1. Raises ModelError."""
        try:
            exchange = self._transport(self._watch)
            return fetched(exchange, self._base.removesuffix("/v1") + path)
        except (ModelError, RunCancelled):
            raise
        except Exception as error:
            raise self._translated(error, "") from error

    def log_text(self) -> str:
        """Return nothing: the log of this server lies with its owner."""
        return ""

    def close(self) -> None:
        """Let go of connections; the model can be used again afterwards."""
        if self._made is not None:
            self._made.close()
            self._made = None

    def _once(self, name: str, request: ChatRequest, brief: bool) -> Streaming:
        brief = brief or self._brief
        assembly, seen = Assembly(), _Seen()
        try:
            stream = self._client().chat.completions.create(**payload(name, request, brief))
            try:
                for chunk in stream:
                    if self._watch.cancelled():
                        raise RunCancelled
                    seen.take(chunk)
                    yield from _pieces(chunk, assembly)
                    if assembly.is_endless:
                        break
            finally:
                stream.close()
        except (ModelError, RunCancelled):
            raise
        except Exception as error:
            raise self._translated(error, assembly.text) from error
        yield from assembly.flush()
        if not seen.finish and not assembly.is_endless:
            place = self._place(name)
            raise broken_off(place, "the stream ended without a reason", assembly.text)
        self._brief = brief
        finish = _FINISH.get(seen.finish, Finish.STOP)
        if seen.usage is not None and finish is Finish.STOP and self._is_full(seen.usage):
            finish = Finish.LENGTH
            yield self._told_full(seen.usage)
        return assembly.reply(finish, seen.usage or guessed(request, assembly.text), seen.timing)

    def _is_full(self, usage: Usage) -> bool:
        """Tell whether a reply ended because the context did, though the server says otherwise.

        Ollama's OpenAI address keeps to a context of its own, a power of two, without a word.
        """
        total, known = usage.prompt + usage.generated, self._known
        told = known.context if known else 0
        return total >= told > 0 or (total >= _LEAST_CONTEXT and total & (total - 1) == 0)

    def _told_full(self, usage: Usage) -> Remark:
        total = usage.prompt + usage.generated
        return Remark(
            f"{self._label} stopped at {total:,} tokens, where its context ends: the reply is "
            "cut. Start the server with a larger context (for Ollama: use its own address, or set "
            "OLLAMA_CONTEXT_LENGTH).",
            warning=True,
        )

    def _client(self) -> Any:
        if self._made is None:
            self._made = openai_client(self._base, self._key, self._watch, self._transport)
        return self._made

    def _described(self, name: str, item: Any) -> ModelCard:
        """Return the card; llama.cpp and vLLM tell the context in force beside the name."""
        meta = getattr(item, "meta", None)
        context = number(meta, "n_ctx") or number(item, "max_model_len")
        digest = self._digest
        if isinstance(meta, dict):
            context = context or self._context_of_llama()
            weights, size = meta.get("n_params"), meta.get("size")
            digest = digest or f"{meta.get('ftype', '')} {weights} weights {size} bytes".strip()
        return ModelCard(
            name,
            self._server,
            shown(self._base),
            context or self._context,
            digest,
            is_loopback(self._base),
            native_tools=True,
        )

    def _context_of_llama(self) -> int | None:
        """Return the context that an older llama.cpp tells only on a page of its own."""
        status, body = self.page("/props")
        if status != 200:
            return None
        return number(json.loads(body), "default_generation_settings", "n_ctx")

    def _place(self, name: str) -> Place:
        context = self._known.context if self._known else self._context
        return Place(self._label, shown(self._base), name or self._name, context)

    def _translated(self, error: Exception, partial: str) -> Exception:
        """Return the error to raise for one of the client's or the connection's."""
        if self._watch.cancelled():
            return RunCancelled()
        place = self._place(self._known.name if self._known else "")
        told = refusal_of(error)
        if told is None:
            return from_connection(cause_of(error), place, partial)
        found = from_status(told.status, told.text, place)
        if told.status is None and type(found) is ModelError:
            return broken_off(place, found.detail, partial)
        return found


class _Seen:
    """What the chunks told beside the text: why the reply ended, and the tokens."""

    def __init__(self) -> None:
        self.finish = ""
        self.usage: Usage | None = None
        self.timing = Timing()

    def take(self, chunk: Any) -> None:
        """Note the finish reason and the counts of one chunk."""
        for choice in chunk.choices or ():
            self.finish = choice.finish_reason or self.finish
        timings = getattr(chunk, "timings", None)
        if timings:
            self.timing = Timing(
                (number(timings, "prompt_ms") or 0) / 1000,
                (number(timings, "predicted_ms") or 0) / 1000,
            )
        told = number(chunk.usage, "prompt_tokens_details", "cached_tokens")
        cached = told if told is not None else number(timings, "cache_n")
        found = counted(
            number(chunk.usage, "prompt_tokens"), cached, number(chunk.usage, "completion_tokens")
        )
        self.usage = found or self.usage


def payload(name: str, request: ChatRequest, brief: bool) -> dict[str, Any]:
    """Return the parameters of the client's create() for a request; `brief` asks for no thinking.

    Every message is written the same way in every request, so that a server's prefix cache holds.
    """
    body: dict[str, Any] = {
        "model": name,
        "messages": [_message(item) for item in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.schema is not None:
        held = {"name": "reply", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": held}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    if brief:
        body["reasoning_effort"] = "none"
    return body


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.role is Role.TOOL:
        body["tool_call_id"] = message.call_id
    if message.calls:
        body["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in message.calls
        ]
    return body


def _pieces(chunk: Any, assembly: Assembly) -> Iterator[Chunk]:
    """Hand the pieces of one chunk to the assembly and yield what can be shown."""
    for choice in chunk.choices or ():
        delta = choice.delta
        if delta is None:
            continue
        for name in ("reasoning_content", "reasoning", "thinking"):
            piece = getattr(delta, name, None)
            if isinstance(piece, str) and piece:
                yield from assembly.think(piece)
                break
        yield from assembly.write(delta.content)
        for at, call in enumerate(delta.tool_calls or ()):
            key = call.index if call.index is not None else call.id or at
            function = call.function
            if function is not None:
                assembly.call_piece(key, call.id, function.name, function.arguments)
