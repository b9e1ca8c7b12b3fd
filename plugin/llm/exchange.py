# SPDX-License-Identifier: GPL-2.0-or-later
"""One HTTP request and its reply as a stream: what every transport below the clients gives, and
the errors that it raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from .watch import Watch


@dataclass(frozen=True)
class Outgoing:
    """A request: method, whole address, headers and body."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Incoming(Protocol):
    """A reply whose head has come; the body is read once, and `close` always called."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers in order; those of a coding that is already undone are left out."""

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it comes. Raises as Exchange.send."""

    def close(self) -> None:
        """End the reply if it still runs, and let go of it; may be called twice."""


class Exchange(Protocol):
    """Sends requests for one adapter, on the thread that asks; never follows a redirect."""

    def send(self, request: Outgoing) -> Incoming:
        """Send a request and return its reply as soon as the head has come.

        Raises ExchangeError, RunCancelled, and ModelError where nothing may be sent there.
        """


ExchangeFactory = Callable[[Watch], Exchange]
"""Makes the exchange of one adapter."""


class ExchangeError(Exception):
    """A request has failed below HTTP."""


class NoConnection(ExchangeError):
    """Nobody took the request: no such host, a closed port."""


class NoProxy(NoConnection):
    """The proxy of QGIS did not take the request: it is down, or wants a name and password."""


class NoReply(ExchangeError):
    """The request was taken, and nothing came in time."""


class BrokenExchange(ExchangeError):
    """The reply broke off, or is no HTTP."""


def whole(incoming: Incoming, limit: int = 1 << 24) -> bytes:
    """Read a short reply to its end and close it. Raises BrokenExchange beyond `limit` bytes."""
    found = bytearray()
    try:
        for piece in incoming.pieces():
            found += piece
            if len(found) > limit:
                raise BrokenExchange(f"the reply is longer than {limit:,} bytes")
    finally:
        incoming.close()
    return bytes(found)


def header(incoming: Incoming, name: str) -> str:
    """Return the value of a reply's header, or ""."""
    wanted = name.lower()
    return next((value for key, value in incoming.headers if key.lower() == wanted), "")


def fetched(exchange: Exchange, url: str) -> tuple[int, bytes]:
    """Get a short page: its status and body. Raises as Exchange.send."""
    incoming = exchange.send(Outgoing("GET", url, (("Accept", "application/json"),)))
    return incoming.status, whole(incoming)
