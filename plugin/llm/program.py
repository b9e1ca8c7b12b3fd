# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings a llama.cpp server for this machine from a place that holds it as an archive, and
unpacks it into the store.

The place is a folder or an address of the user's or an administrator's own. It holds
llama-server-SYSTEM-MACHINE.zip, and in SHA256SUMS its hash.
"""

from __future__ import annotations

import platform
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from .base import Cancelled, RunCancelled
from .download import Tell
from .progress import Progress
from .source import Source
from .store import SERVER_NAMES, KnownModel, checksums, file_sha256
from .transfer import DownloadError, written_badly

SUMS = "SHA256SUMS"


def archive_name(system: str = "", machine: str = "") -> str:
    """Return the name of the archive for a machine, this one when nothing is said, as in
    llama-server-linux-x86_64.zip."""
    known = {"amd64": "x86_64", "aarch64": "arm64"}
    kind = (machine or platform.machine()).lower()
    return f"llama-server-{(system or platform.system()).lower()}-{known.get(kind, kind)}.zip"


def bring_archive(source: Source, folder: Path, tell: Tell, cancelled: Cancelled) -> Path:
    """Return the program in `folder`, brought from one source, checked and unpacked.

    Raises DownloadError, ModelError and RunCancelled; the folder is then as it was.
    """
    name = archive_name()
    folder.parent.mkdir(parents=True, exist_ok=True)
    sums = folder.with_name(SUMS)
    archive = folder.with_name(name)
    try:
        source.bring(KnownModel(SUMS, SUMS), sums, lambda _done: None)
        digest = checksums(sums).get(name, "")
        sums.unlink()
        if not digest:
            raise DownloadError(f"{source.name} does not list {name}. Try another source.")
        source.bring(KnownModel(name, name), archive, _teller(tell, source.name))
        if file_sha256(archive) != digest:
            archive.unlink()
            raise DownloadError(
                f"{name} from {source.name} is not the file that was meant, and was thrown away."
            )
        unpack(archive, folder, cancelled)
        archive.unlink()
    except OSError as error:
        raise written_badly(folder, error) from error
    return _program(folder)


def unpack(archive: Path, folder: Path, cancelled: Cancelled) -> None:
    """Unpack an archive beside the folder and put it in its place when all of it is there."""
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        with zipfile.ZipFile(archive) as packed:
            for item in packed.infolist():
                path = PurePosixPath(item.filename)
                if path.is_absolute() or ".." in path.parts or "\\" in item.filename:
                    raise DownloadError(f"{archive.name} is damaged, and was not unpacked.")
                packed.extract(item, new)
                if cancelled():
                    raise RunCancelled
        _program(new)
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    except zipfile.BadZipFile as error:
        raise DownloadError(f"{archive.name} is damaged.", str(error)) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _program(folder: Path) -> Path:
    """Return the server in a folder, made executable."""
    for name in SERVER_NAMES:
        for path in (folder / name, *sorted(folder.glob(f"*/{name}"))):
            if path.is_file():
                path.chmod(path.stat().st_mode | 0o755)
                return path
    raise DownloadError("The archive holds no llama-server. Try another source.")


def _teller(tell: Tell, name: str) -> Callable[[int], None]:
    return lambda done: tell(Progress(done, 0, f"Downloading the server from {name}"))
