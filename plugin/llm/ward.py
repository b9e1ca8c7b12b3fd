# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands before an exchange: lets a request pass the gate, and notes it in the ledger."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from .address import is_loopback, shown
from .base import ModelError
from .exchange import Exchange, Incoming, Outgoing
from .gate import Gate
from .holding import AskKnown, holding, nothing_known
from .ledger import Ledger

MODEL, PACKAGE, DOWNLOAD = "model", "package", "download"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ward:
    """What watches over the requests of one purpose.

    Only a model's host needs the user's consent: packages and downloads are fetched because the
    user pressed a button that says so.
    """

    gate: Gate
    ledger: Ledger
    purpose: str = MODEL
    known: AskKnown = nothing_known


class Guarded:
    """An exchange that asks its ward before anything is sent."""

    def __init__(self, inner: Exchange, ward: Ward) -> None:
        self._inner, self._ward = inner, ward

    def send(self, request: Outgoing) -> Incoming:
        """Send a request that may be sent. Raises ModelError too where it may not."""
        ward = self._ward
        ward.gate.check(request.url, ward.purpose == MODEL)
        entry = self._noted(request)
        try:
            incoming = self._inner.send(request)
        except BaseException:
            _end(ward.ledger, entry, 0, 0)
            raise
        return _Counted(incoming, ward.ledger, entry)

    def _noted(self, request: Outgoing) -> str:
        """Note a request; one that leaves this machine does so only when it could be noted."""
        ward, local = self._ward, is_loopback(request.url)
        held = holding(request.body, ward.known())
        host, path = shown(request.url), urlsplit(request.url).path
        try:
            return ward.ledger.begin(
                host, local, ward.purpose, request.method, path, len(request.body), held
            )
        except OSError as error:
            _LOG.warning("a request could not be noted: %s", error)
            if local:
                return ""
            raise ModelError(
                f"What goes to {host} could not be noted, so nothing was sent. Make room in the "
                "profile's folder, then ask again.",
                str(error),
            ) from error


class _Counted:
    """A reply whose bytes are counted; the ledger learns of its end."""

    def __init__(self, inner: Incoming, ledger: Ledger, entry: str) -> None:
        self._inner, self._ledger, self._entry = inner, ledger, entry
        self._received = 0
        self._closed = False

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return self._inner.headers

    def pieces(self) -> Iterator[bytes]:
        for piece in self._inner.pieces():
            self._received += len(piece)
            yield piece

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        status = self._inner.status
        self._inner.close()
        _end(self._ledger, self._entry, status, self._received)


def _end(ledger: Ledger, entry: str, status: int, received: int) -> None:
    try:
        if entry:
            ledger.end(entry, status, received)
    except OSError as error:
        _LOG.warning("the end of a request could not be noted: %s", error)
