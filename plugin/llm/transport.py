# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries the official clients' requests over QGIS's network manager, with limits and a stop of
our own. Import it only where a model is asked: it needs httpx."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
from qgis.core import QgsApplication, QgsNetworkAccessManager
from qgis.PyQt.QtCore import QByteArray, QEventLoop, QTimer, QUrl
from qgis.PyQt.QtNetwork import QNetworkReply, QNetworkRequest

from .address import is_loopback
from .base import RunCancelled
from .watch import TransportFactory, Watch

TICK_MS = 50

_NO_LIMIT_MS = 2**31 - 1
_OWN_HEADERS = {"host", "content-length", "connection", "accept-encoding", "transfer-encoding"}
_DIRECT = ("http://127.", "https://127.", "http://localhost", "https://localhost", "http://[::1]")

_Error = QNetworkReply.NetworkError
_NOT_CONNECTED = {
    _Error.ConnectionRefusedError,
    _Error.HostNotFoundError,
    _Error.SslHandshakeFailedError,
    _Error.TemporaryNetworkFailureError,
    _Error.NetworkSessionFailedError,
    _Error.ProxyConnectionRefusedError,
    _Error.ProxyConnectionClosedError,
    _Error.ProxyNotFoundError,
    _Error.ProxyTimeoutError,
    _Error.ProxyAuthenticationRequiredError,
    _Error.UnknownNetworkError,
    _Error.UnknownProxyError,
}


def qgis_transport(auth_config: str = "") -> TransportFactory:
    """Return the maker of transports that apply an authentication configuration ("" is none)."""
    return lambda watch: QgisTransport(watch, auth_config)


class QgisTransport(httpx.BaseTransport):
    """An httpx transport over QgsNetworkAccessManager of the calling thread.

    It works on the main thread, in a QThread and in a QgsTask; a request and its reply stay on
    one thread. While nothing arrives, events are handled and `watch.cancelled` is asked every
    50 ms. Raises RunCancelled, and httpx's errors for what fails. QGIS's own time limit does not
    count here, and addresses on this machine are reached without the proxy.
    """

    def __init__(self, watch: Watch, auth_config: str = "") -> None:
        self._watch = watch
        self._auth_config = auth_config

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return its response as soon as the head has come."""
        body = request.read()
        manager = QgsNetworkAccessManager.instance()
        if is_loopback(str(request.url)):
            _go_direct(manager)
        reply = manager.sendCustomRequest(
            self._prepared(request), request.method.encode(), QByteArray(body)
        )
        flow = _Flow(reply, self._watch, request, bool(body))
        try:
            flow.await_head()
        except BaseException:
            flow.close()
            raise
        status = reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute)
        headers = [(bytes(name), bytes(value)) for name, value in reply.rawHeaderPairs()]
        headers = [item for item in headers if item[0].lower() not in _DECODED]
        return httpx.Response(int(status), headers=headers, stream=_Body(flow), request=request)

    def _prepared(self, request: httpx.Request) -> QNetworkRequest:
        """Return the request in Qt's form, with the authentication applied."""
        made = QNetworkRequest(QUrl(str(request.url)))
        for name, value in request.headers.raw:
            plain = name.decode("ascii").lower()
            replaced = bool(self._auth_config) and plain == "authorization"
            if plain not in _OWN_HEADERS and not replaced:
                made.setRawHeader(QByteArray(name), QByteArray(value))
        attribute = QNetworkRequest.Attribute
        made.setAttribute(
            attribute.CacheLoadControlAttribute, QNetworkRequest.CacheLoadControl.AlwaysNetwork
        )
        made.setAttribute(attribute.CacheSaveControlAttribute, False)
        made.setAttribute(
            attribute.RedirectPolicyAttribute, QNetworkRequest.RedirectPolicy.ManualRedirectPolicy
        )
        if self._auth_config:
            done, made = QgsApplication.authManager().updateNetworkRequest(made, self._auth_config)
            if not done:
                raise httpx.ConnectError(
                    "the authentication configuration could not be applied", request=request
                )
        return made


_DECODED = {b"content-encoding", b"content-length", b"transfer-encoding"}
"""Headers that no longer hold for a body that Qt has already decoded."""


class _Flow:
    """One reply as it comes in: waits for it without blocking events, within the limits."""

    def __init__(
        self, reply: QNetworkReply, watch: Watch, request: httpx.Request, has_body: bool
    ) -> None:
        self._reply = reply
        self._watch = watch
        self._request = request
        self._has_body = has_body
        self._sent = False
        self._begun = time.monotonic()
        self._told = self._begun
        self._first_byte = False
        self._loop = QEventLoop()
        self._tick = QTimer()
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._loop.quit)
        for signal in (reply.metaDataChanged, reply.readyRead, reply.finished):
            signal.connect(self._loop.quit)
        reply.uploadProgress.connect(self._note_sent)
        _lift_limit(reply)

    def await_head(self) -> None:
        """Wait until the status is known. Raises RunCancelled and httpx's errors."""
        status = QNetworkRequest.Attribute.HttpStatusCodeAttribute
        while self._reply.attribute(status) is None:
            if self._reply.isFinished():
                raise self._error()
            self._wait_once()
            self._check_first()

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it comes. Raises RunCancelled and httpx's errors."""
        last = time.monotonic()
        while True:
            piece = bytes(self._reply.readAll())
            if piece:
                if not _is_comment(piece):
                    self._first_byte, last = True, time.monotonic()
                yield piece
                continue
            if self._reply.isFinished():
                self._check_end()
                return
            self._wait_once()
            if not self._first_byte:
                self._check_first()
            elif time.monotonic() - last > self._watch.idle_s:
                raise httpx.ReadTimeout(
                    f"nothing came for {self._watch.idle_s:g} s", request=self._request
                )

    def close(self) -> None:
        """End the reply if it still runs, and let go of it."""
        self._tick.stop()
        for signal in (
            self._reply.metaDataChanged,
            self._reply.readyRead,
            self._reply.finished,
        ):
            signal.disconnect(self._loop.quit)
        self._reply.uploadProgress.disconnect(self._note_sent)
        if not self._reply.isFinished():
            self._reply.abort()
        self._reply.deleteLater()

    def _wait_once(self) -> None:
        """Handle events until something comes, 50 ms at most."""
        if self._watch.cancelled():
            raise RunCancelled
        self._tick.start()
        self._loop.exec()
        self._tick.stop()
        if self._watch.cancelled():
            raise RunCancelled

    def _check_first(self) -> None:
        """Tell the listener, and hold the limits, while no byte of the body has come."""
        now = time.monotonic()
        waited = now - self._begun
        if self._watch.on_wait is not None and now - self._told >= 1.0:
            self._told = now
            self._watch.on_wait(waited)
        connecting = self._has_body and not self._sent
        if connecting and waited > self._watch.connect_s:
            raise httpx.ConnectTimeout(
                f"no connection after {self._watch.connect_s:g} s", request=self._request
            )
        if not self._has_body and waited > 2 * self._watch.connect_s:
            raise httpx.ConnectTimeout(f"no answer after {waited:.0f} s", request=self._request)
        if waited > self._watch.first_token_s:
            raise httpx.ReadTimeout(f"no answer after {waited:.0f} s", request=self._request)

    def _check_end(self) -> None:
        """Raise for a body that broke off; an error status alone is no fault of the reply."""
        error = self._reply.error()
        if error in (_Error.RemoteHostClosedError, _Error.OperationCanceledError):
            raise self._error()
        if error in (_Error.TimeoutError, _Error.ProtocolFailure, *_NOT_CONNECTED):
            raise self._error()

    def _error(self) -> httpx.TransportError:
        """Return httpx's error for the reply's."""
        error, text = self._reply.error(), self._reply.errorString()
        if error in _NOT_CONNECTED:
            return httpx.ConnectError(text, request=self._request)
        if error == _Error.TimeoutError:
            kind = httpx.ReadTimeout if self._sent else httpx.ConnectTimeout
            return kind(text, request=self._request)
        return httpx.RemoteProtocolError(text, request=self._request)

    def _note_sent(self, sent: int, _total: int) -> None:
        self._sent = self._sent or sent > 0


class _Body(httpx.SyncByteStream):
    """The body of a response as httpx reads it."""

    def __init__(self, flow: _Flow) -> None:
        self._flow: _Flow | None = flow
        self._pieces = flow.pieces()

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        if self._flow is not None:
            self._flow.close()
            self._flow = None


def _is_comment(piece: bytes) -> bool:
    """Tell whether a piece holds only comments of an event stream, sent to keep it open."""
    lines = [item for item in piece.splitlines() if item.strip()]
    return all(item.startswith(b":") for item in lines)


def _lift_limit(reply: QNetworkReply) -> None:
    """Keep QGIS's own time limit (60 s) from ending a reply that only waits.

    Stopping its timer does not last, since every progress starts it again; its interval does.
    """
    timer = reply.findChild(QTimer, "timeoutTimer")
    if timer is not None:
        timer.setInterval(_NO_LIMIT_MS)


def _go_direct(manager: QgsNetworkAccessManager) -> None:
    """Keep this thread's manager from sending addresses on this machine to a proxy."""
    direct = manager.noProxyList()
    missing = [prefix for prefix in _DIRECT if prefix not in direct]
    if missing:
        manager.setFallbackProxyAndExcludes(
            manager.fallbackProxy(), manager.excludeList(), direct + missing
        )
