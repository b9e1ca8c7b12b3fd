# SPDX-License-Identifier: GPL-2.0-or-later
"""A chat model behind Ollama's native chat endpoint, with the context always set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from ..agent.message import Message, Role
from .address import is_loopback, ollama_root, shown
from .assembly import Assembly
from .base import (
    Cancelled,
    ChatRequest,
    Chunk,
    Finish,
    ModelCard,
    ModelError,
    RunCancelled,
    Server,
)
from .exchange import ExchangeFactory
from .failure import (
    Place,
    broken_off,
    context_full,
    from_connection,
    from_status,
    model_missing,
)
from .ollama_client import ollama_client, refusal_of
from .plain_exchange import PlainExchange
from .retry import Streaming, insisted
from .usage import counted, estimate, guessed
from .watch import OnWait, Watch, never

LABEL = "Ollama"


class OllamaModel:
    """A ChatModel over the official client, or over the one that stands in for it.

    `model` "" takes the first one listed; a name without a tag also means its `latest`. The
    context asked for is bounded by what the model was trained for, and stays the same for every
    request, since another value would load the model anew.
    """

    def __init__(
        self,
        address: str = "",
        model: str = "",
        *,
        context: int = 8192,
        keep_alive: str = "5m",
        watch: Watch | None = None,
        transport: ExchangeFactory = PlainExchange,
    ) -> None:
        self._root = ollama_root(address)
        self._name = model
        self._context = context
        self._keep_alive = _duration(keep_alive)
        self._watch = watch or Watch()
        self._transport = transport
        self._made: Any = None
        self._known: ModelCard | None = None

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
                at = _position(self._name, names)
                if at is None:
                    raise self._missing(names)
                told = self._client().show(names[at])
            except (ModelError, RunCancelled):
                raise
            except Exception as error:
                raise self._translated(error, "") from error
            trained = _trained_context(told.modelinfo or {})
            self._known = ModelCard(
                names[at],
                Server.OLLAMA,
                shown(self._root),
                min(self._context, trained) if trained else self._context,
                str(listed[at].digest or ""),
                is_loopback(self._root),
                native_tools="tools" in (told.capabilities or ()),
                models=tuple(names),
            )
        return self._known

    def chat(self, request: ChatRequest, cancelled: Cancelled) -> Iterator[Chunk]:
        """Stream the reply; the last item is a Reply.

        An empty reply is asked for once more. Raises ModelError, and RunCancelled soon after
        `cancelled` turns true.
        """
        self._watch.cancelled = cancelled
        try:
            card = self.card()
            if estimate(request) > card.context:
                raise context_full(self._place())
            yield from insisted(lambda _: self._once(card, request))
        finally:
            self._watch.cancelled = never

    def unload(self) -> None:
        """Ask Ollama to free the model's memory now. Raises ModelError."""
        try:
            self._client().generate(model=self.card().name, keep_alive=0)
        except (ModelError, RunCancelled):
            raise
        except Exception as error:
            raise self._translated(error, "") from error

    def close(self) -> None:
        """Let go of connections; the model can be used again afterwards."""
        if self._made is not None:
            self._made.close()
            self._made = None

    def _once(self, card: ModelCard, request: ChatRequest) -> Streaming:
        assembly, last = Assembly(), None
        try:
            stream: Any = self._client().chat(
                model=card.name,
                messages=[_message(item) for item in request.messages],
                tools=[_tool(item) for item in request.tools] or None,
                stream=True,
                think=False,
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
        except (ModelError, RunCancelled):
            raise
        except Exception as error:
            raise self._translated(error, assembly.text) from error
        yield from assembly.flush()
        if last is None or not last.done:
            raise broken_off(self._place(), "the stream ended without its end", assembly.text)
        finish = Finish.LENGTH if last.done_reason == "length" else Finish.STOP
        usage = counted(last.prompt_eval_count, None, last.eval_count)
        return assembly.reply(finish, usage or guessed(request, assembly.text))

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
        wanted = self._name or "NAME"
        return model_missing(self._place(), names, f"Or run: ollama pull {wanted}")

    def _translated(self, error: Exception, partial: str) -> Exception:
        """Return the error to raise for one of the client's or the connection's."""
        if self._watch.cancelled():
            return RunCancelled()
        told = refusal_of(error)
        if told is None:
            return from_connection(error, self._place(), partial)
        if told.status == 404:
            return self._missing([str(item.model) for item in self._client().list().models])
        found = from_status(told.status, told.text, self._place())
        if told.status is None and type(found) is ModelError:
            return broken_off(self._place(), found.detail, partial)
        return found


def _pieces(message: Any, assembly: Assembly) -> Iterator[Chunk]:
    """Hand the pieces of one part to the assembly and yield what can be shown."""
    yield from assembly.think(message.thinking)
    yield from assembly.write(message.content)
    for call in message.tool_calls or ():
        assembly.call(None, call.function.name, dict(call.function.arguments or {}))


def _message(message: Message) -> dict[str, Any]:
    """Return a message as the native endpoint takes it: arguments as objects, results as text."""
    body: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.role is Role.TOOL:
        body["tool_name"] = message.name
    if message.calls:
        body["tool_calls"] = [
            {"function": {"name": call.name, "arguments": call.arguments}} for call in message.calls
        ]
    return body


def _tool(tool: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _position(name: str, names: list[str]) -> int | None:
    """Return where a model stands in the list; "" is the first, no tag also means latest."""
    if not name:
        return 0 if names else None
    for wanted in (name, f"{name}:latest"):
        for at, listed in enumerate(names):
            if listed.lower() == wanted.lower():
                return at
    return None


def _trained_context(info: Any) -> int:
    """Return the context that a model was trained for, 0 when its card does not say."""
    for key, value in info.items():
        if str(key).endswith(".context_length") and isinstance(value, (int, float)):
            return int(value)
    return 0


def _duration(text: str) -> float | str:
    """Return a keep_alive as Ollama takes it: plain seconds as a number, else as written."""
    try:
        return float(text)
    except ValueError:
        return text
