# SPDX-License-Identifier: GPL-2.0-or-later
"""The folders that files may be read from and written to, and free names in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .base import MendableError

_SUBDATASET = re.compile(r'[A-Za-z0-9_]+:"([^"]+)"')
_INSIDE = re.compile(r"/vsi(?:zip|tar|gzip|7z|rar)/+", re.IGNORECASE)
_ARCHIVES = {".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".kmz"}


def file_of(source: str) -> Path | None:
    """Return the file that a layer's source lies in, None for an address or a database.

    Understood are plain paths, `|layername=`, NETCDF:"file":variable and archives read in place.
    """
    text = source.strip()
    subdataset = _SUBDATASET.match(text)
    if subdataset:
        text = subdataset.group(1)
    archived = _INSIDE.match(text)
    if archived:
        text = "/" + text[archived.end() :].lstrip("/")
    if "://" in text or text.lower().startswith("/vsi") or not text:
        return None
    path = Path(text.partition("|")[0])
    parents = [one for one in path.parents if one.suffix.lower() in _ARCHIVES]
    return parents[-1] if archived and parents else path


@dataclass(frozen=True)
class Boundary:
    """Where a call may read and write.

    Read: the temporary folder, the output folder, the project's own and those that the user
    allowed. Written: the output folder alone, None where there is none; `own` are the files that
    this chat wrote there. Links are followed before a path is judged.
    """

    temporary: Path
    output: Path | None = None
    project: Path | None = None
    allowed: tuple[Path, ...] = ()
    own: frozenset[str] = frozenset()

    def readable(self, source: str, name: str = "The file") -> Path:
        """Return the file of a source that may be read. Raises MendableError with the fix."""
        path = file_of(source)
        if path is None:
            raise MendableError(f"{name} cannot be an address: {source}. Give a file's path.")
        found = self._found(path)
        if not path.is_absolute() and not found.exists():
            raise MendableError(
                f"There is no file {path} in the folders that may be read: the project's, the "
                "output folder and those allowed in the options."
            )
        if not any(is_inside(found, folder) for folder in self._folders()):
            raise MendableError(
                f"{name} {path} lies outside the folders that may be read: the project's, the "
                "output folder and those allowed in the options. Allow its folder in "
                "Settings > Options > Geo-OLM, or move it there."
            )
        return found

    def free(self, text: str, adding: bool = False) -> Path:
        """Return a path in the output folder that no file has yet; its folder is made.

        With `adding` it may be a file that this chat wrote. Raises MendableError.
        """
        path = self.inside(text)
        if adding and str(path) in self.own:
            return path
        free, number = path, 2
        while free.exists():
            free, number = path.with_name(f"{path.stem}_{number}{path.suffix}"), number + 1
        path.parent.mkdir(parents=True, exist_ok=True)
        return free

    def inside(self, text: str) -> Path:
        """Return a path in the output folder, whether there is a file or not.

        Raises MendableError.
        """
        if self.output is None:
            raise MendableError("Results are temporary layers: leave the output out.")
        path = (self.output / text).resolve()
        if not is_inside(path, self.output):
            raise MendableError(f"Files are written only in {self.output}: give a file name alone.")
        return path

    def _folders(self) -> list[Path]:
        found = [self.temporary, self.output, self.project, *self.allowed]
        return [folder for folder in found if folder is not None]

    def _found(self, path: Path) -> Path:
        """Return where a path leads; one without a folder is looked for in every folder."""
        if path.is_absolute():
            return path.resolve()
        for folder in reversed(self._folders()):
            if (folder / path).exists():
                return (folder / path).resolve()
        return path.resolve()


def is_inside(path: Path, folder: Path) -> bool:
    """Tell whether a resolved path lies in a folder."""
    return folder.resolve() in path.parents
