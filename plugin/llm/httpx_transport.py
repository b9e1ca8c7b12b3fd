# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries the official clients' requests over an exchange. Import it only where an official
client is made: it needs httpx."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from .exchange import Exchange, Incoming, Outgoing
from .watch import Watch


class HttpxTransport(httpx.BaseTransport):
    """An httpx transport over an exchange; the exchange's own errors come through unchanged."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return its response as soon as the head has come."""
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
        )
        outgoing = Outgoing(request.method, str(request.url), headers, request.read())
        incoming = self._exchange.send(outgoing)
        return httpx.Response(
            incoming.status,
            headers=list(incoming.headers),
            stream=_Body(incoming),
            request=request,
        )


class _Body(httpx.SyncByteStream):
    """The body of a response as httpx reads it."""

    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming

    def __iter__(self) -> Iterator[bytes]:
        return self._incoming.pieces()

    def close(self) -> None:
        self._incoming.close()


def httpx_options(watch: Watch, exchange: Exchange) -> dict[str, object]:
    """Return the keyword arguments of httpx.Client for an exchange; the exchange holds the limits,
    redirects are not followed and no proxy of the environment counts."""
    timeout = httpx.Timeout(
        connect=watch.connect_s,
        read=max(watch.first_token_s, watch.idle_s),
        write=watch.idle_s,
        pool=watch.connect_s,
    )
    return {
        "timeout": timeout,
        "transport": HttpxTransport(exchange),
        "trust_env": False,
        "follow_redirects": False,
    }
