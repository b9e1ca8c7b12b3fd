# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings one file over HTTP, going on from the bytes that an earlier try has left."""

from __future__ import annotations

import errno
import re
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from .address import shown
from .base import Cancelled, ModelError, RunCancelled
from .exchange import (
    BrokenExchange,
    Exchange,
    ExchangeError,
    Incoming,
    NoConnection,
    Outgoing,
    header,
)

TRIES = 4
HOPS = 5

Told = Callable[[int], None]
"""Takes the bytes of a file that are there so far."""

_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")
_FULL = (errno.ENOSPC, errno.EDQUOT)


class DownloadError(ModelError):
    """A download failed: a sentence with the next step, details for the log."""


class Transfer:
    """Brings files by one exchange; a stop is seen between two pieces of a reply.

    `pause` waits between two tries; it is given their number.
    """

    def __init__(
        self,
        exchange: Exchange,
        cancelled: Cancelled,
        pause: Callable[[int], None] | None = None,
    ) -> None:
        self._exchange = exchange
        self._cancelled = cancelled
        self._pause = pause or self._wait

    def bring(self, url: str, part: Path, told: Told) -> None:
        """Bring all bytes of an address into `part`, after those that are in it.

        A broken connection is taken up again up to four times in a row without progress. Raises
        DownloadError, ModelError where the address may not be contacted, and RunCancelled; what
        has come stays in `part`.
        """
        failures = 0
        while True:
            had = size_of(part)
            try:
                self._once(url, part, told)
                return
            except NoConnection as error:
                raise _unreached(url, error) from error
            except ExchangeError as error:
                failures = 0 if size_of(part) > had else failures + 1
                if failures >= TRIES:
                    raise _unreached(url, error) from error
                self._pause(failures)
            except OSError as error:
                raise written_badly(part, error) from error

    def _once(self, url: str, part: Path, told: Told) -> None:
        have = size_of(part)
        incoming = self._opened(url, have)
        try:
            place, whole = _range(incoming)
            if incoming.status == 416:
                if whole != have:  # what is there is no piece of this file
                    part.unlink()
                    raise BrokenExchange(f"{have} bytes were there, the file has {whole}")
                return
            if incoming.status not in (200, 206):
                raise _refused(url, incoming.status)
            goes_on = incoming.status == 206 and place == have
            if incoming.status == 206 and not goes_on:
                raise DownloadError(
                    f"{shown(url)} sent another piece than was asked for. Try another source."
                )
            self._write(incoming, part, goes_on, told)
        finally:
            incoming.close()

    def _write(self, incoming: Incoming, part: Path, goes_on: bool, told: Told) -> None:
        done = size_of(part) if goes_on else 0
        with part.open("ab" if goes_on else "wb") as file:
            for piece in incoming.pieces():
                if self._cancelled():
                    raise RunCancelled
                file.write(piece)
                done += len(piece)
                told(done)

    def _opened(self, url: str, have: int) -> Incoming:
        """Ask for the bytes that are missing; follow redirects, but not to a less safe scheme."""
        headers = (("Accept", "*/*"), *((("Range", f"bytes={have}-"),) if have else ()))
        for _ in range(HOPS):
            incoming = self._exchange.send(Outgoing("GET", url, headers))
            aim = header(incoming, "Location") if 300 <= incoming.status < 400 else ""
            if not aim:
                return incoming
            incoming.close()
            aim = urljoin(url, aim)
            if urlsplit(url).scheme == "https" and urlsplit(aim).scheme != "https":
                raise DownloadError(
                    f"{shown(url)} sends downloads on to an unsafe address. Try another source."
                )
            url = aim
        raise DownloadError(f"{shown(url)} sends downloads on in a circle. Try another source.")

    def _wait(self, failures: int) -> None:
        until = time.monotonic() + 2.0**failures
        while time.monotonic() < until:
            if self._cancelled():
                raise RunCancelled
            time.sleep(0.1)


def size_of(path: Path) -> int:
    """Return the bytes of a file, 0 when there is none."""
    return path.stat().st_size if path.is_file() else 0


def written_badly(path: Path, error: OSError) -> DownloadError:
    """Return the error for a file that cannot be written."""
    if error.errno in _FULL:
        return DownloadError(
            f"The disk of {path.parent} is full. Make room, then download again: it goes on from "
            "where it was.",
            str(error),
        )
    return DownloadError(
        f"{path.parent} cannot be written. Mend its permissions, or set another folder by "
        "GEO_OLM_STORE.",
        str(error),
    )


def _range(incoming: Incoming) -> tuple[int, int]:
    """Return where a piece begins and how long the whole is, as the reply says; -1 unknown."""
    found = _RANGE.search(header(incoming, "Content-Range"))
    if found is None:
        return -1, -1
    place, whole = found.groups()
    return int(place or -1), int(whole) if whole != "*" else -1


def _refused(url: str, status: int) -> DownloadError:
    name = urlsplit(url).path.rpartition("/")[2]
    if status in (404, 410):
        return DownloadError(f"{shown(url)} does not have {name}. Try another source.")
    return DownloadError(f"{shown(url)} answered {status} for {name}. Try another source.")


def _unreached(url: str, error: Exception) -> DownloadError:
    return DownloadError(
        f"{shown(url)} could not be reached, or broke off. Look at the network, then download "
        "again: it goes on from where it was.",
        f"{type(error).__name__}: {error}",
        retry=True,
    )
