# SPDX-License-Identifier: GPL-2.0-or-later
"""What the stand-ins for the official clients share: requests in JSON over an exchange, replies
as records, lines and events of a stream, and the official client where it is there."""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .exchange import Exchange, Incoming, Outgoing, whole

LONGEST_LINE = 1 << 24
_LOG = logging.getLogger(__name__)


class Record(dict[str, Any]):
    """A JSON object whose members are attributes too; one that is not there is None."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


@dataclass(frozen=True)
class Refusal:
    """What a server said by way of an error; `status` None is an error in mid-stream."""

    status: int | None
    text: str


class RefusedRequest(Exception):
    """A server answered a stand-in with an error."""

    def __init__(self, status: int | None, text: str) -> None:
        super().__init__(f"HTTP {status}: {text[:200]}" if status else text[:200])
        self.refusal = Refusal(status, text)


class Caller:
    """Sends requests in JSON to the paths of one server."""

    def __init__(self, exchange: Exchange, root: str, headers: Mapping[str, str]) -> None:
        self._exchange = exchange
        self._root = root
        kind = "application/json"
        self._headers = (("Content-Type", kind), ("Accept", kind), *headers.items())

    def asked(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Record:
        """Return the object that a page answers with. Raises RefusedRequest and ValueError."""
        return _object(whole(self.opened(method, path, body)))

    def opened(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Incoming:
        """Return a reply that is no error; members that are None are not sent."""
        given = {key: value for key, value in (body or {}).items() if value is not None}
        raw = json.dumps(given, ensure_ascii=False, separators=(",", ":")) if given else ""
        request = Outgoing(method, self._root + path, self._headers, raw.encode())
        incoming = self._exchange.send(request)
        if not 200 <= incoming.status < 300:
            text = whole(incoming).decode(errors="replace")
            raise RefusedRequest(incoming.status, text)
        return incoming


def lines(incoming: Incoming) -> Iterator[bytes]:
    """Yield the lines of a stream, without those that are blank or comments.

    Raises ValueError for a line beyond 16 MB.
    """
    held = bytearray()
    for piece in incoming.pieces():
        held += piece
        if len(held) > LONGEST_LINE:
            raise ValueError("a line of the reply has no end")
        *ready, rest = held.split(b"\n")
        held = bytearray(rest)
        yield from (bytes(line) for line in ready if _says(line))
    if _says(held):
        yield bytes(held)


def parsed(line: bytes) -> Record:
    """Return the object in one line of a stream. Raises ValueError."""
    return _object(line)


def listing(told: Record, name: str) -> Record:
    """Return an answer that holds a list of this name. Raises ValueError without one."""
    if not isinstance(told.get(name), list):
        raise ValueError(f"the server's answer has no list named {name}")
    return told


def _says(line: bytes | bytearray) -> bool:
    return bool(line.strip()) and not line.startswith(b":")


def _object(raw: bytes) -> Record:
    found = json.loads(raw, object_hook=Record)
    if not isinstance(found, Record):
        raise ValueError(f"the server answered with a {type(found).__name__}, not an object")
    return found


def official(name: str, fits: Callable[[ModuleType], bool]) -> ModuleType | None:
    """Return an official client's module, or None when it, or what it needs, is not there, is
    broken, or is too old to fit."""
    try:
        importlib.import_module("httpx")
        found = importlib.import_module(name)
        if fits(found):
            return found
        _LOG.info("the package %s is too old; the plugin's own client is used", name)
    except Exception as error:
        _LOG.info("the plugin's own client stands in for %s: %s", name, error)
    return None
