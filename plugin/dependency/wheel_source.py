# SPDX-License-Identifier: GPL-2.0-or-later
"""Where wheels come from when pip is not there: an index over QGIS's network, or a folder."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

from ..llm.base import Cancelled, ModelError, RunCancelled
from ..llm.exchange import Exchange, ExchangeError, Incoming, Outgoing, header, whole
from .base import PackageError
from .wheel import WheelLink, canonical, is_wheel, links_of

HOPS = 5
_PAGE = "application/vnd.pypi.simple.v1+html, text/html;q=0.5"


class WheelSource(Protocol):
    """Lists the wheels of a project and brings one."""

    def links(self, project: str) -> list[WheelLink]:
        """Return the wheels of a project. Raises PackageError."""

    def bring(self, link: WheelLink, folder: Path, told: Callable[[int], None]) -> Path:
        """Put a wheel into a folder, its hash checked; `told` is given the bytes so far.

        Raises PackageError and RunCancelled.
        """


def source_of(text: str, exchange: Exchange, cancelled: Cancelled) -> WheelSource:
    """Return the source that a text means: a folder, a file: address, or an index's address."""
    folder = folder_of(text)
    return FolderSource(folder) if folder is not None else IndexSource(text, exchange, cancelled)


def folder_of(text: str) -> Path | None:
    """Return the folder that a source's text means, None for an address of the network."""
    parts = urlsplit(text)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if parts.scheme in ("http", "https") else Path(text).expanduser()


class FolderSource:
    """A folder of wheels, or of folders with the wheels of one project each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def links(self, project: str) -> list[WheelLink]:
        """Return the wheels of a project. Raises PackageError where there is no folder."""
        if not self._folder.is_dir():
            raise PackageError(f"There is no folder {self._folder}. Choose another source.")
        files = [*self._folder.glob("*.whl"), *self._folder.glob("*/*.whl")]
        return [
            WheelLink(path.name, str(path))
            for path in files
            if is_wheel(path.name) and canonical(path.name.split("-")[0]) == canonical(project)
        ]

    def bring(self, link: WheelLink, folder: Path, told: Callable[[int], None]) -> Path:
        """Copy a wheel; its own record is its check."""
        path = folder / link.file
        shutil.copyfile(link.url, path)
        told(path.stat().st_size)
        return path


class IndexSource:
    """An index with the simple repository interface; a redirect is followed to its end."""

    def __init__(self, address: str, exchange: Exchange, cancelled: Cancelled) -> None:
        self._root = address.rstrip("/") + "/"
        self._exchange, self._cancelled = exchange, cancelled

    def links(self, project: str) -> list[WheelLink]:
        """Return the wheels of a project's page."""
        url = urljoin(self._root, canonical(project) + "/")
        try:
            incoming, final = self._opened(url, _PAGE)
            text = whole(incoming).decode("utf-8", errors="replace")
        except (ExchangeError, ModelError) as error:
            raise _unreached(url, error) from error
        return links_of(text, final)

    def bring(self, link: WheelLink, folder: Path, told: Callable[[int], None]) -> Path:
        """Download a wheel; it must have the hash that the page says."""
        path, digest, size = folder / link.file, hashlib.sha256(), 0
        try:
            incoming, _ = self._opened(link.url, "*/*")
            try:
                with path.open("wb") as file:
                    for piece in incoming.pieces():
                        if self._cancelled():
                            raise RunCancelled
                        file.write(piece)
                        digest.update(piece)
                        size += len(piece)
                        told(size)
            finally:
                incoming.close()
        except (ExchangeError, ModelError) as error:
            raise _unreached(link.url, error) from error
        if digest.hexdigest() != link.sha256:
            raise PackageError(
                f"{link.file} does not have the hash that the index says. Nothing was installed; "
                "try another source."
            )
        return path

    def _opened(self, url: str, accept: str) -> tuple[Incoming, str]:
        for _ in range(HOPS):
            incoming = self._exchange.send(Outgoing("GET", url, (("Accept", accept),)))
            if incoming.status == 200:
                return incoming, url
            incoming.close()
            aim = header(incoming, "Location") if 300 <= incoming.status < 400 else ""
            if not aim:
                raise PackageError(
                    f"{urlsplit(url).netloc} answered {incoming.status} for {urlsplit(url).path}. "
                    "Check the address of the package index."
                )
            url = urljoin(url, aim)
        raise PackageError(f"{urlsplit(url).netloc} redirects in a circle. Try another source.")


def _unreached(url: str, error: Exception) -> PackageError:
    if isinstance(error, ModelError):
        return PackageError(error.message, error.detail)
    return PackageError(
        f"The package index at {urlsplit(url).hostname} could not be reached. Check the network, "
        "or choose a folder of wheels.",
        f"{type(error).__name__}: {error}",
    )
