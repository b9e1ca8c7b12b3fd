# SPDX-License-Identifier: GPL-2.0-or-later
"""Wheels: the links of an index's page, and unpacking one with every file checked."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import zipfile
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

from .base import PackageError

MOST_BYTES = 1 << 28
"""The largest sum of unpacked files of one wheel."""


@dataclass(frozen=True)
class WheelLink:
    """A wheel that a page or folder offers; `sha256` is "" where only its own record counts."""

    file: str
    url: str
    sha256: str = ""
    requires_python: str = ""

    @property
    def version(self) -> str:
        """The version in the file's name."""
        return self.file.split("-")[1]


def canonical(name: str) -> str:
    """Return a project's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def links_of(page: str, address: str) -> list[WheelLink]:
    """Return the wheels that a page of the simple repository interface links, withdrawn ones
    left out."""
    reader = _Anchors()
    reader.feed(page)
    found = []
    for attributes in reader.found:
        url = urljoin(address, attributes.get("href") or "")
        parts = urlsplit(url)
        file = unquote(parts.path.rpartition("/")[2])
        if not is_wheel(file) or "data-yanked" in attributes:
            continue
        kind, _, digest = parts.fragment.partition("=")
        found.append(
            WheelLink(
                file,
                parts._replace(fragment="").geturl(),
                digest.lower() if kind == "sha256" else "",
                attributes.get("data-requires-python") or "",
            )
        )
    return found


def is_wheel(file: str) -> bool:
    """Tell whether a file's name is that of a wheel."""
    return file.endswith(".whl") and len(file[:-4].split("-")) in (5, 6)


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append(dict(attrs))


def requirements_of(wheel: Path) -> list[str]:
    """Return what a wheel needs, as its metadata writes it. Raises PackageError."""
    with _opened(wheel) as archive:
        text = archive.read(f"{_info(archive, wheel)}/METADATA").decode("utf-8", errors="replace")
    head = text.partition("\n\n")[0]
    return [
        line.partition(":")[2].strip()
        for line in head.splitlines()
        if line.lower().startswith("requires-dist:")
    ]


def unpack(wheel: Path, folder: Path) -> None:
    """Unpack a wheel's packages into a folder; scripts and headers are left out.

    Every file must have the size and hash of the wheel's own record, and stay within the folder.
    Raises PackageError.
    """
    with _opened(wheel) as archive:
        info = _info(archive, wheel)
        record = archive.read(f"{info}/RECORD").decode("utf-8")
        rows = {row[0]: row[1] for row in csv.reader(io.StringIO(record)) if len(row) >= 2}
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if sum(archive.getinfo(name).file_size for name in names) > MOST_BYTES:
            raise _broken(wheel, "it is too large")
        for name in names:
            aim = _aim(PurePosixPath(name), info)
            if aim is None:
                continue
            if aim.is_absolute() or ".." in aim.parts or "\\" in name or ":" in name:
                raise _broken(wheel, f"{name} leads out of the folder")
            data = archive.read(name)
            if name != f"{info}/RECORD" and rows.get(name) != _recorded(data):
                raise _broken(wheel, f"{name} is not as its record says")
            path = folder.joinpath(*aim.parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _aim(name: PurePosixPath, info: str) -> PurePosixPath | None:
    """Return where a file of a wheel goes, None for what is not unpacked."""
    data = info[: -len(".dist-info")] + ".data"
    if name.parts[0] != data:
        return name
    inside = len(name.parts) > 2 and name.parts[1] in ("purelib", "platlib")
    return PurePosixPath(*name.parts[2:]) if inside else None


def _recorded(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={digest}"


def _opened(wheel: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(wheel)
    except (zipfile.BadZipFile, OSError) as error:
        raise _broken(wheel, str(error)) from error


def _info(archive: zipfile.ZipFile, wheel: Path) -> str:
    for name in archive.namelist():
        head = name.partition("/")[0]
        if head.endswith(".dist-info") and name == f"{head}/METADATA":
            return head
    raise _broken(wheel, "it has no metadata")


def _broken(wheel: Path, reason: str) -> PackageError:
    return PackageError(
        f"{wheel.name} is damaged: {reason}. Nothing was installed; try another source.", reason
    )
