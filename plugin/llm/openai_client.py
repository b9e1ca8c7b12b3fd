# SPDX-License-Identifier: GPL-2.0-or-later
"""The client of OpenAI-compatible servers: the official one, or a small one that stands in."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .exchange import Exchange, ExchangeFactory, Incoming
from .standin import Caller, Record, Refusal, RefusedRequest, lines, listing, official, parsed
from .watch import Watch

NO_KEY = "none"
"""Sent where a server asks for no key: the official client insists on one."""


def openai_client(base: str, key: str, watch: Watch, transport: ExchangeFactory) -> Any:
    """Return a client for the server at `base`, over the exchange that `transport` makes.

    The key is held in memory only.
    """
    exchange = transport(watch)
    module = official("openai", _fits)
    if module is None:
        return StandIn(base, key, exchange)
    import httpx

    from .httpx_transport import httpx_options

    http = httpx.Client(**httpx_options(watch, exchange))  # type: ignore[arg-type]
    return module.OpenAI(
        base_url=base,
        api_key=key or NO_KEY,
        max_retries=0,
        timeout=http.timeout,
        http_client=http,
    )


def refusal_of(error: BaseException) -> Refusal | None:
    """Return what the server said, when an error of either client tells it, else None."""
    if isinstance(error, RefusedRequest):
        return error.refusal
    module = sys.modules.get("openai")
    if module is None or isinstance(error, module.APIConnectionError):
        return None
    if isinstance(error, module.APIStatusError):
        return Refusal(error.status_code, error.response.text)
    if isinstance(error, module.APIError):
        told = json.dumps(error.body) if error.body is not None else str(error)
        return Refusal(None, told)
    return None


def cause_of(error: BaseException) -> BaseException:
    """Return what the connection raised, from under the official client's own error."""
    module = sys.modules.get("openai")
    wrapped = module is not None and isinstance(error, module.APIConnectionError)
    return error.__cause__ or error if wrapped else error


class StandIn:
    """The parts of the official client that the adapter uses, with the same names.

    Replies are records. Raises RefusedRequest, ValueError for what is no JSON, and what the
    exchange raises.
    """

    def __init__(self, base: str, key: str, exchange: Exchange) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        caller = Caller(exchange, base, headers)
        self.models = Models(caller)
        self.chat = Chat(caller)
        self.embeddings = Embeddings(caller)

    def close(self) -> None:
        """Let go: each request closes its own reply, so nothing is left to close."""


class Models:
    """The list of models."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(self) -> Record:
        """Return the server's models as `data`."""
        return listing(self._caller.asked("GET", "/models"), "data")


class Embeddings:
    """Embeddings of texts."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(self, **body: Any) -> Record:
        """Return the embeddings as `data`, as lists of numbers."""
        sent = {"encoding_format": "float", **body}
        return listing(self._caller.asked("POST", "/embeddings", sent), "data")


class Chat:
    """Holds the completions, as the official client does."""

    def __init__(self, caller: Caller) -> None:
        self.completions = Completions(caller)


class Completions:
    """Replies of a chat."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(self, **body: Any) -> Any:
        """Return the reply, or with `stream` its chunks."""
        path = "/chat/completions"
        if not body.get("stream"):
            return self._caller.asked("POST", path, body)
        return Stream(self._caller.opened("POST", path, body))


class Stream:
    """The chunks of a reply as they come; to be closed."""

    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming

    def __iter__(self) -> Iterator[Record]:
        for line in lines(self._incoming):
            name, _, value = line.partition(b":")
            if name.strip() != b"data":
                continue
            if value.strip().startswith(b"[DONE]"):
                return
            chunk = parsed(value)
            if chunk.error:
                raise RefusedRequest(None, json.dumps({"error": chunk.error}))
            yield chunk

    def close(self) -> None:
        """End the reply."""
        self._incoming.close()


def _fits(module: ModuleType) -> bool:
    return hasattr(module, "OpenAI")
