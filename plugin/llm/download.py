# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings a model of the manifest into the store: room first, several sources in turn, and the
hash before the file gets its name."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from .base import Cancelled, ModelError, RunCancelled
from .progress import Progress
from .source import BLOCK, Source
from .store import KnownModel, Store, is_verified, mark_verified
from .transfer import DownloadError, Told, size_of, written_badly

SPARE = 300 << 20
"""Bytes of the disk that a download leaves free."""

Tell = Callable[[Progress], None]

FreeSpace = Callable[[Path], int]
"""Returns the free bytes of the disk that a folder is on."""


class Download:
    """Brings models into one store from sources in turn."""

    def __init__(
        self,
        store: Store,
        sources: Sequence[Source],
        cancelled: Cancelled,
        free: FreeSpace = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self._store = store
        self._sources = sources
        self._cancelled = cancelled
        self._free = free

    def bring(self, model: KnownModel, tell: Tell) -> Path:
        """Return the model's file, brought and checked; blocks, so call it on a worker.

        A stop or a failure leaves a `.part` from which the next call goes on. A file of the
        name that is not the expected one is kept as `.bad`. Raises DownloadError with what the
        sources said, and RunCancelled.
        """
        target = self._store.models_folder / model.file
        if not model.sha256:
            raise DownloadError(f"No checksum of {model.name} is known, so it is not downloaded.")
        if not self._sources:
            raise DownloadError(
                f"No source for {model.name} is set. Add a folder or an address in the options."
            )
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_file():
                if is_verified(target, model.sha256):
                    return target
                target.replace(target.with_name(target.name + ".bad"))
        except OSError as error:
            raise written_badly(target, error) from error
        draft = target.with_name(target.name + ".part")
        self._from_sources(model, draft, tell)
        draft.replace(target)
        mark_verified(target, model.sha256)
        return target

    def _from_sources(self, model: KnownModel, draft: Path, tell: Tell) -> None:
        said: list[DownloadError] = []
        for source in self._sources:
            try:
                self._check_room(source, model, draft)
                told = _teller(tell, model.bytes, f"Downloading from {source.name}")
                told(size_of(draft))
                if not model.bytes or size_of(draft) != model.bytes:
                    source.bring(model, draft, told)
                self._check(model, draft, tell)
                return
            except DownloadError as error:
                said.append(error)
            except ModelError as error:  # it may not be contacted
                said.append(DownloadError(error.message, error.detail))
        raise DownloadError(
            " ".join(dict.fromkeys(error.message for error in said)),
            "; ".join(error.detail for error in said if error.detail),
            retry=any(error.retry for error in said),
        )

    def _check_room(self, source: Source, model: KnownModel, draft: Path) -> None:
        needed = source.room(model, draft) + SPARE
        free = self._free(draft.parent)
        if free < needed:
            raise DownloadError(
                f"{draft.parent} has {free >> 20:,} MiB free and {model.name} needs "
                f"{needed >> 20:,} MiB. Make room, or set another folder by GEO_OLM_STORE."
            )

    def _check(self, model: KnownModel, draft: Path, tell: Tell) -> None:
        """Compare the hash; a file that is not the expected one is thrown away."""
        digest, seen = hashlib.sha256(), 0
        with draft.open("rb") as file:
            while block := file.read(BLOCK):
                if self._cancelled():
                    raise RunCancelled
                digest.update(block)
                seen += len(block)
                tell(Progress(seen, model.bytes, "Checking"))
        if digest.hexdigest() != model.sha256:
            draft.unlink()
            raise DownloadError(
                f"What came as {model.file} is not the file that was meant, and was thrown away. "
                "Download again, or choose another source."
            )


def _teller(tell: Tell, total: int, doing: str) -> Told:
    return lambda done: tell(Progress(done, total, doing))
