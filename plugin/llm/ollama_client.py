# SPDX-License-Identifier: GPL-2.0-or-later
"""The client of Ollama's native API: the official one, or a small one that stands in for it."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .exchange import Exchange, ExchangeFactory
from .standin import Caller, Record, Refusal, RefusedRequest, lines, listing, official, parsed
from .watch import Watch

if TYPE_CHECKING:
    import httpx


def ollama_client(root: str, watch: Watch, transport: ExchangeFactory) -> Any:
    """Return a client for the server at `root`, over the exchange that `transport` makes."""
    exchange = transport(watch)
    module = official("ollama", _fits)
    if module is None:
        return StandIn(root, exchange)
    from .httpx_transport import httpx_options

    hooks = {"response": [_without_blank_lines]}
    return module.Client(host=root, event_hooks=hooks, **httpx_options(watch, exchange))


def refusal_of(error: BaseException) -> Refusal | None:
    """Return what the server said, when an error of either client tells it, else None."""
    if isinstance(error, RefusedRequest):
        return error.refusal
    module = sys.modules.get("ollama")
    if module is not None and isinstance(error, module.ResponseError):
        status, told = error.status_code, error.error
        text = told if isinstance(told, str) else json.dumps(told)  # the client passes on what came
        return Refusal(status if status > 0 else None, text)
    return None


class StandIn:
    """The methods of the official client that the adapter uses, with the same names.

    Replies are records. Raises RefusedRequest, ValueError for what is no JSON, and what the
    exchange raises.
    """

    def __init__(self, root: str, exchange: Exchange) -> None:
        self._caller = Caller(exchange, root, {})

    def list(self) -> Record:
        """Return the models that the server holds."""
        return listing(self._caller.asked("GET", "/api/tags"), "models")

    def ps(self) -> Record:
        """Return the models that are loaded."""
        return listing(self._caller.asked("GET", "/api/ps"), "models")

    def show(self, model: str) -> Record:
        """Return a model's card; `modelinfo` is the official client's name for model_info."""
        told = self._caller.asked("POST", "/api/show", {"model": model})
        told["modelinfo"] = told.get("model_info")
        return told

    def chat(self, *, stream: bool = False, **body: Any) -> Any:
        """Return the reply, or with `stream` an iterator over its parts."""
        return self._call("/api/chat", body, stream)

    def generate(self, *, stream: bool = False, **body: Any) -> Any:
        """Return a completion, or with `stream` its parts; without a prompt it loads or unloads."""
        return self._call("/api/generate", body, stream)

    def pull(self, model: str, *, stream: bool = False, **body: Any) -> Any:
        """Have the server download a model; with `stream` yields its progress."""
        return self._call("/api/pull", {"model": model, **body}, stream)

    def embed(
        self,
        model: str,
        input: str | Sequence[str],
        truncate: bool | None = None,
        options: Mapping[str, Any] | None = None,
        keep_alive: float | str | None = None,
    ) -> Record:
        """Return the embeddings of texts."""
        body = {"model": model, "input": input, "truncate": truncate}
        more = {"options": options, "keep_alive": keep_alive}
        return listing(self._caller.asked("POST", "/api/embed", {**body, **more}), "embeddings")

    def close(self) -> None:
        """Let go: each request closes its own reply, so nothing is left to close."""

    def _call(self, path: str, body: Mapping[str, Any], stream: bool) -> Any:
        sent = {**body, "stream": stream}
        return self._streamed(path, sent) if stream else self._caller.asked("POST", path, sent)

    def _streamed(self, path: str, body: Mapping[str, Any]) -> Iterator[Record]:
        incoming = self._caller.opened("POST", path, body)
        try:
            for line in lines(incoming):
                part = parsed(line)
                if part.error:
                    raise RefusedRequest(None, str(part.error))
                if part.message is None:
                    part["message"] = Record()
                yield part
        finally:
            incoming.close()


def _fits(module: ModuleType) -> bool:
    return "think" in inspect.signature(module.Client.chat).parameters


def _without_blank_lines(response: httpx.Response) -> None:
    """Drop blank lines and comments from a stream: the official client stumbles over them."""
    import httpx

    class Lines(httpx.SyncByteStream):
        """The stream, line by line."""

        def __init__(self, source: httpx.SyncByteStream) -> None:
            self._source = source

        def __iter__(self) -> Iterator[bytes]:
            held = b""
            for piece in self._source:
                *found, held = (held + piece).split(b"\n")
                for line in found:
                    if line.strip() and not line.startswith(b":"):
                        yield line + b"\n"
            if held.strip():
                yield held

        def close(self) -> None:
            self._source.close()

    if isinstance(response.stream, httpx.SyncByteStream) and response.is_success:
        response.stream = Lines(response.stream)
