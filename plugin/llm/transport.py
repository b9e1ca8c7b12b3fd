# SPDX-License-Identifier: GPL-2.0-or-later
"""The exchange over QGIS's network manager, with limits and a stop of our own: the one way by
which this plugin reaches a server, for models, packages and downloads alike."""

from __future__ import annotations

import time
from collections.abc import Iterator

from qgis.core import QgsApplication, QgsNetworkAccessManager
from qgis.PyQt.QtCore import QByteArray, QEventLoop, QTimer, QUrl
from qgis.PyQt.QtNetwork import QNetworkProxy, QNetworkReply, QNetworkRequest

from .address import is_loopback
from .base import ModelError, RunCancelled
from .exchange import (
    BrokenExchange,
    ExchangeError,
    ExchangeFactory,
    NoConnection,
    NoProxy,
    NoReply,
    Outgoing,
)
from .ward import Guarded, Ward
from .watch import Watch

TICK_MS = 50

_NO_LIMIT_MS = 2**31 - 1
_OWN_HEADERS = {"host", "content-length", "connection", "accept-encoding", "transfer-encoding"}
_DECODED = {"content-encoding", "content-length", "transfer-encoding"}
"""Headers that no longer hold for a body that Qt has already decoded."""

_DIRECT = (
    "http://127.", "https://127.", "http://localhost:", "https://localhost:",
    "http://localhost/", "https://localhost/", "http://[::1]", "https://[::1]",
)  # fmt: skip

_Error = QNetworkReply.NetworkError
_NOT_CONNECTED = {
    _Error.ConnectionRefusedError,
    _Error.HostNotFoundError,
    _Error.SslHandshakeFailedError,
    _Error.TemporaryNetworkFailureError,
    _Error.NetworkSessionFailedError,
    _Error.UnknownNetworkError,
}
_OF_THE_PROXY = {
    _Error.ProxyConnectionRefusedError,
    _Error.ProxyConnectionClosedError,
    _Error.ProxyNotFoundError,
    _Error.ProxyTimeoutError,
    _Error.ProxyAuthenticationRequiredError,
    _Error.UnknownProxyError,
}


def qgis_exchange(ward: Ward, auth_config: str = "") -> ExchangeFactory:
    """Return the maker of exchanges that apply an authentication configuration ("" is none).

    Every request is first shown to the ward, which may refuse it, and is noted there.
    """
    return lambda watch: Guarded(_QgisExchange(watch, auth_config), ward)


class _QgisExchange:
    """An exchange over QgsNetworkAccessManager of the calling thread.

    It works on the main thread, in a QThread and in a QgsTask; a request and its reply stay on
    one thread. While nothing arrives, events are handled and `watch.cancelled` is asked every
    50 ms. QGIS's own time limit does not count here, and addresses on this machine are reached
    without the proxy.
    """

    def __init__(self, watch: Watch, auth_config: str) -> None:
        self._watch = watch
        self._auth_config = auth_config

    def send(self, request: Outgoing) -> _Flow:
        """Send a request and return its reply as soon as the head has come."""
        manager = QgsNetworkAccessManager.instance()
        if is_loopback(request.url):
            _go_direct(manager)
        reply = manager.sendCustomRequest(
            self._prepared(request), request.method.encode(), QByteArray(request.body)
        )
        flow = _Flow(reply, self._watch, bool(request.body), _goes_by_proxy(manager, request.url))
        try:
            flow.await_head()
        except BaseException:
            flow.close()
            raise
        return flow

    def _prepared(self, request: Outgoing) -> QNetworkRequest:
        """Return the request in Qt's form, with the authentication applied."""
        made = QNetworkRequest(QUrl(request.url))
        for name, value in request.headers:
            replaced = bool(self._auth_config) and name.lower() == "authorization"
            if name.lower() not in _OWN_HEADERS and not replaced:
                made.setRawHeader(QByteArray(name.encode()), QByteArray(value.encode("latin-1")))
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
                raise ModelError(
                    "The stored key could not be applied, so nothing was sent. Choose another "
                    "authentication in the options.",
                    f"authentication configuration {self._auth_config}",
                )
        return made


class _Flow:
    """One reply as it comes in: waits for it without blocking events, within the limits."""

    def __init__(self, reply: QNetworkReply, watch: Watch, has_body: bool, by_proxy: bool) -> None:
        self._reply = reply
        self._by_proxy = by_proxy
        self._watch = watch
        self._has_body = has_body
        self._sent = False
        self._begun = time.monotonic()
        self._told = self._begun
        self._first_byte = False
        self._closed = False
        self._loop = QEventLoop()
        self._tick = QTimer()
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._loop.quit)
        for signal in (reply.metaDataChanged, reply.readyRead, reply.finished):
            signal.connect(self._loop.quit)
        reply.uploadProgress.connect(self._note_sent)
        _lift_limit(reply)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(self._reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute))

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers, without those of a coding that Qt has undone."""
        pairs = [
            (bytes(name).decode("latin-1"), bytes(value).decode("latin-1"))
            for name, value in self._reply.rawHeaderPairs()
        ]
        return tuple(pair for pair in pairs if pair[0].lower() not in _DECODED)

    def await_head(self) -> None:
        """Wait until the status is known. Raises as Exchange.send."""
        status = QNetworkRequest.Attribute.HttpStatusCodeAttribute
        while self._reply.attribute(status) is None:
            if self._reply.isFinished():
                raise self._error()
            self._wait_once()
            self._check_first()

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it comes. Raises as Exchange.send."""
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
                raise NoReply(f"nothing came for {self._watch.idle_s:g} s")

    def close(self) -> None:
        """End the reply if it still runs, and let go of it."""
        if self._closed:
            return
        self._closed = True
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
            raise NoConnection(f"no connection after {self._watch.connect_s:g} s")
        if not self._has_body and waited > 2 * self._watch.connect_s:
            raise NoConnection(f"no answer after {waited:.0f} s")
        if waited > self._watch.first_token_s:
            raise NoReply(f"no answer after {waited:.0f} s")

    def _check_end(self) -> None:
        """Raise for a body that broke off; an error status alone is no fault of the reply."""
        error = self._reply.error()
        if error in (_Error.RemoteHostClosedError, _Error.OperationCanceledError):
            raise self._error()
        if error in (_Error.TimeoutError, _Error.ProtocolFailure, *_NOT_CONNECTED, *_OF_THE_PROXY):
            raise self._error()

    def _error(self) -> ExchangeError:
        """Return the exchange's error for the reply's."""
        error, text = self._reply.error(), self._reply.errorString()
        refused = self._by_proxy and error == _Error.ConnectionRefusedError
        if refused or error in _OF_THE_PROXY:
            return NoProxy(text)
        if error in _NOT_CONNECTED:
            return NoConnection(text)
        if error == _Error.TimeoutError:
            return NoReply(text) if self._sent else NoConnection(text)
        return BrokenExchange(text)

    def _note_sent(self, sent: int, _total: int) -> None:
        self._sent = self._sent or sent > 0


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


def _goes_by_proxy(manager: QgsNetworkAccessManager, url: str) -> bool:
    """Tell whether the user's own proxy is used for an address."""
    kinds = QNetworkProxy.ProxyType
    by_hand = (kinds.HttpProxy, kinds.HttpCachingProxy, kinds.Socks5Proxy)
    past = (*manager.excludeList(), *manager.noProxyList())
    return manager.fallbackProxy().type() in by_hand and not url.startswith(past)


def _go_direct(manager: QgsNetworkAccessManager) -> None:
    """Keep this thread's manager from sending addresses on this machine to a proxy."""
    direct = manager.noProxyList()
    missing = [prefix for prefix in _DIRECT if prefix not in direct]
    if missing:
        manager.setFallbackProxyAndExcludes(
            manager.fallbackProxy(), manager.excludeList(), direct + missing
        )
