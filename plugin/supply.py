# SPDX-License-Identifier: GPL-2.0-or-later
"""Where models and the server program come from on this machine: the user's own folders and
addresses first, then the package index that pip is set to, and Debian's packages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .dependency.base import PackageError
from .dependency.interpreter import find_interpreter, index_of
from .dependency.pip_setting import configured_index
from .dependency.program import run
from .dependency.wheel_source import folder_of, source_of
from .egress import download_exchange, gate_of, ledger
from .llm.address import is_loopback, shown
from .llm.base import Cancelled, ModelError
from .llm.debian import DebianPackages, has_apt, mirror_of
from .llm.download import Download, Tell
from .llm.exchange import Exchange
from .llm.holding import Held
from .llm.program import archive_name, bring_archive
from .llm.progress import Progress
from .llm.source import AddressSource, FolderSource, PartSource, Source, blocks, copied
from .llm.store import KnownModel, Parts, Store, file_sha256
from .llm.transfer import DownloadError, Told, Transfer
from .llm.ward import DOWNLOAD
from .llm.watch import Watch
from .settings import Settings

_PATIENCE_S = 1800.0


class Supply:
    """Brings models and the server program for one run of a task. Worker thread only."""

    def __init__(self, settings: Settings, store: Store, tell: Tell, cancelled: Cancelled) -> None:
        self._settings = settings
        self._store = store
        self._tell = tell
        self._cancelled = cancelled
        watch = Watch(settings.connect_s, settings.idle_s, settings.idle_s, cancelled)
        self._exchange = download_exchange(settings)(watch)
        self._transfer = Transfer(self._exchange, cancelled)

    def bring(self, model: KnownModel) -> None:
        """Bring a model, and the server program where there is none.

        Raises DownloadError, ModelError and RunCancelled.
        """
        if self._store.find_server(self._settings.server_program) is None:
            self._bring_server()
        Download(self._store, self._sources(model), self._cancelled).bring(model, self._tell)

    def _own(self) -> list[Source]:
        """Return the folders and addresses that the user has named."""
        found: list[Source] = []
        for text in self._settings.download_sources.splitlines():
            if text.strip():
                folder = folder_of(text.strip())
                found.append(
                    AddressSource(text.strip(), self._transfer)
                    if folder is None
                    else FolderSource(folder, self._cancelled)
                )
        return found

    def _sources(self, model: KnownModel) -> Sequence[Source]:
        found = self._own()
        index = self._index() if model.parts else ""
        if index:
            parts = _Parts(index, self._exchange, self._transfer, self._cancelled)
            name = index if folder_of(index) is not None else shown(index)
            folder = self._store.folder / "parts"
            found.append(PartSource(name, parts.bring, folder, self._cancelled))
        return found

    def _index(self) -> str:
        """Return the package index: the user's, the one pip is set to, or pip's own."""
        named = self._settings.package_index or configured_index()
        if named:
            return named
        python = find_interpreter(self._cancelled)
        return index_of(python, self._cancelled) if python and python.has_pip else ""

    def _bring_server(self) -> None:
        """Bring the server program from the first place that has one."""
        said: list[str] = []
        folder = self._store.server_folder
        for source in self._own():
            try:
                bring_archive(source, folder, self._tell, self._cancelled)
                return
            except ModelError as error:
                said.append(error.message)
        mirror = mirror_of() if has_apt() else ""
        if mirror:
            self._from_debian(folder, mirror)
            return
        raise DownloadError(
            f"No llama.cpp server for this machine was found. Put {archive_name()} and SHA256SUMS "
            "into a folder and add that to the sources, or choose a server program in the options.",
            " ".join(said),
        )

    def _from_debian(self, folder: Path, mirror: str) -> None:
        gate_of(self._settings).check(mirror, with_consent=False)
        host, local = shown(mirror), is_loopback(mirror)
        entry = ledger().begin(host, local, DOWNLOAD, "apt", "", 0, Held())
        self._tell(Progress(0, 0, f"Downloading the server from {host}"))
        try:
            DebianPackages(self._call, mirror).bring(folder)
        finally:
            ledger().end(entry, 0, 0)

    def _call(self, command: Sequence[str]) -> tuple[int, str]:
        done = run(Path(command[0]), command[1:], {}, self._cancelled, _PATIENCE_S)
        return done.code, done.output


class _Parts:
    """Brings parts of a model from the wheels of an index or a folder."""

    def __init__(
        self, index: str, exchange: Exchange, transfer: Transfer, cancelled: Cancelled
    ) -> None:
        self._source = source_of(index, exchange, cancelled)
        self._transfer = transfer
        self._cancelled = cancelled

    def bring(self, parts: Parts, number: int, draft: Path, told: Told) -> None:
        """Bring the wheel of one part, going on from what an earlier try has left."""
        name = f"{parts.package}{number}"
        try:
            links = [link for link in self._source.links(name) if link.version == parts.version]
        except PackageError as error:
            raise DownloadError(error.message, error.detail) from error
        if not links:
            raise DownloadError(f"{name} {parts.version} is not in the package index.")
        link = links[0]
        path = None if link.sha256 else folder_of(link.url)
        if path is None:
            self._transfer.bring(link.url, draft, told)
        else:
            copied(blocks(path), draft, told, self._cancelled)
        if link.sha256 and file_sha256(draft) != link.sha256:
            draft.unlink()
            raise DownloadError(
                f"{link.file} is not the file that was meant, and was thrown away. Download again."
            )
