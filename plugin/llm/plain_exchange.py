# SPDX-License-Identifier: GPL-2.0-or-later
"""An exchange over the standard library, for scripts and tests without QGIS; it uses no proxy."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from .base import RunCancelled
from .exchange import BrokenExchange, NoConnection, NoReply, Outgoing
from .watch import Watch

BLOCK = 1 << 16


class PlainExchange:
    """Sends each request over a connection of its own.

    A stop is seen between two pieces of a reply; a wait without any ends only at its limit.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def send(self, request: Outgoing) -> PlainIncoming:
        """Send a request and return its reply as soon as the head has come."""
        connection = _connection(request.url, self._watch.connect_s)
        try:
            try:
                connection.connect()
            except OSError as error:
                raise NoConnection(str(error)) from error
            return PlainIncoming(connection, self._asked(connection, request), self._watch)
        except BaseException:
            connection.close()
            raise

    def _asked(
        self, connection: http.client.HTTPConnection, request: Outgoing
    ) -> http.client.HTTPResponse:
        parts = urlsplit(request.url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        own = {"host", "content-length", "connection", "accept-encoding", "transfer-encoding"}
        headers = {key: value for key, value in request.headers if key.lower() not in own}
        connection.sock.settimeout(max(self._watch.first_token_s, 0.001))
        try:
            connection.request(request.method, path, request.body or None, headers)
            return connection.getresponse()
        except socket.timeout as error:
            raise NoReply(f"no answer after {self._watch.first_token_s:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise BrokenExchange(f"{type(error).__name__}: {error}") from error


class PlainIncoming:
    """The reply of a PlainExchange."""

    def __init__(
        self,
        connection: http.client.HTTPConnection,
        response: http.client.HTTPResponse,
        watch: Watch,
    ) -> None:
        self._connection, self._response, self._watch = connection, response, watch
        self.status = response.status
        self.headers = tuple(response.getheaders())

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it comes."""
        first = True
        while True:
            if self._watch.cancelled():
                raise RunCancelled
            try:
                piece = self._response.read1(BLOCK)
            except socket.timeout as error:
                raise NoReply(str(error)) from error
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise BrokenExchange(f"{type(error).__name__}: {error}") from error
            if not piece:
                if self._response.length:
                    raise BrokenExchange(f"{self._response.length:,} bytes are missing")
                return
            yield piece
            if first and self._connection.sock is not None:
                first = False
                self._connection.sock.settimeout(self._watch.idle_s)

    def close(self) -> None:
        """Let go of the connection."""
        self._response.close()
        self._connection.close()


def _connection(url: str, connect_s: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=connect_s, context=context
        )
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=connect_s)
