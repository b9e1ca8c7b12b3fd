# SPDX-License-Identifier: GPL-2.0-or-later
"""Where workflows are kept: files, the profile's library with versions, the project."""

from __future__ import annotations

import datetime
import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from qgis.core import QgsProject

from .place import store_folder
from .workflow.file import SUFFIX, Loaded, WorkflowFileError, dumps, loads
from .workflow.graph import Graph

_SCOPE = "geo_olm"
_KEY = "/workflows/"
_KEPT = 20
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_RESERVED = {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)),
             *(f"lpt{n}" for n in range(1, 10))}  # fmt: skip
_LONGEST = 100


class KeepError(Exception):
    """A workflow could not be kept or found; the message says why and what to do."""


@dataclass(frozen=True)
class Version:
    """An earlier state of a workflow in the library, newest first by `time` (local, seconds)."""

    name: str
    time: str
    path: Path


@dataclass(frozen=True)
class Deleted:
    """What was deleted of the library, so that it can be brought back: the name, and the bytes of
    the file and of each version by their paths."""

    name: str
    files: tuple[tuple[Path, bytes], ...]


def save(graph: Graph, path: Path, over: bool = False) -> Path:
    """Write a workflow as a file and return its path, with the suffix added where it lacks.

    Nothing is half-written. Raises KeepError for a file that is there (unless `over`) and for one
    that cannot be written.
    """
    if not path.name.endswith(SUFFIX):
        path = path.with_name(path.name.rsplit(".json", 1)[0] + SUFFIX)
    if path.exists() and not over:
        raise KeepError(f"{path.name} is there already. Choose another name, or write over it.")
    text = dumps(graph)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            temporary.write_text(text, encoding="utf-8")
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise KeepError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def save_over(graph: Graph, path: Path) -> Path:
    """Write a workflow where it lies already; in the profile's library what was there becomes a
    version. Raises KeepError."""
    if path.parent == library_folder() and path.name.endswith(SUFFIX):
        return Library(path.parent).keep(_shown(path.name), graph)
    return save(graph, path, over=True)


def read(path: Path) -> Loaded:
    """Return the workflow in a file. Raises KeepError."""
    try:
        return loads(path.read_bytes(), path.name)
    except OSError as error:
        raise KeepError(f"{path} cannot be read: {error.strerror or error}.") from error
    except WorkflowFileError as error:
        raise KeepError(str(error)) from error


def library_folder() -> Path:
    """Return the folder of the profile's workflows."""
    return store_folder() / "workflows"


class Library:
    """Workflows by name in one folder; what a save replaces is kept as a version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the names, in alphabetical order."""
        files = self._folder.glob(f"*{SUFFIX}") if self._folder.is_dir() else ()
        return tuple(sorted((_shown(one.name) for one in files), key=str.casefold))

    def keep(self, name: str, graph: Graph) -> Path:
        """Keep a workflow; an earlier one of that name becomes a version. Raises KeepError."""
        path = self.path(name)
        if path.exists():
            self._put_away(path)
        return save(graph, path, over=True)

    def has(self, name: str) -> bool:
        """Tell whether a workflow is called so. Raises KeepError for what is no name."""
        return self.path(name).exists()

    def path(self, name: str) -> Path:
        """Return the file of a workflow. Raises KeepError for what is no name."""
        return self._folder / f"{file_name(name)}{SUFFIX}"

    def load(self, name: str) -> Loaded:
        """Return a workflow. Raises KeepError."""
        path = self.path(name)
        if not path.exists():
            raise KeepError(f'There is no workflow "{name}" in the library.')
        return read(path)

    def versions(self, name: str) -> tuple[Version, ...]:
        """Return the earlier states of a workflow, the newest first."""
        folder = self._versions(self.path(name))
        files = sorted(folder.glob(f"*{SUFFIX}"), reverse=True) if folder.is_dir() else []
        return tuple(Version(name, one.name[: -len(SUFFIX)], one) for one in files)

    def restore(self, version: Version) -> Path:
        """Make an earlier state the present one, which becomes a version. Raises KeepError."""
        return self.keep(version.name, read(version.path).graph)

    def rename(self, name: str, new: str) -> None:
        """Call a workflow otherwise, its versions too. Raises KeepError."""
        old_path, new_path = self.path(name), self.path(new)
        if new_path.exists():
            raise KeepError(f'There is a workflow "{new}" already. Choose another name.')
        try:
            if self._versions(old_path).is_dir():
                os.replace(self._versions(old_path), self._versions(new_path))
            os.replace(old_path, new_path)
        except OSError as error:
            raise KeepError(f"{name} cannot be renamed: {error.strerror or error}.") from error

    def delete(self, name: str) -> Deleted:
        """Delete a workflow and its versions; what is returned brings them back. Raises
        KeepError."""
        path = self.path(name)
        try:
            files = tuple(
                (one, one.read_bytes()) for one in (*(x.path for x in self.versions(name)), path)
            )
            for one, _ in files:
                one.unlink()
            if self._versions(path).is_dir():
                self._versions(path).rmdir()
        except OSError as error:
            raise KeepError(f"{name} cannot be deleted: {error.strerror or error}.") from error
        return Deleted(name, files)

    def bring_back(self, deleted: Deleted) -> None:
        """Bring back what was deleted. Raises KeepError where its name is taken by now."""
        if self.has(deleted.name):
            raise KeepError(f'There is a workflow "{deleted.name}" already. Rename it first.')
        for path, data in deleted.files:
            write_back(path, data)

    def _versions(self, path: Path) -> Path:
        return self._folder / "versions" / path.name[: -len(SUFFIX)]

    def _put_away(self, path: Path) -> None:
        folder = self._versions(path)
        now = datetime.datetime.now().strftime("%Y-%m-%d %H.%M.%S.%f")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.replace(path, folder / f"{now}{SUFFIX}")
            for one in sorted(folder.glob(f"*{SUFFIX}"), reverse=True)[_KEPT:]:
                one.unlink()
        except OSError as error:
            raise KeepError(f"{path} cannot be kept: {error.strerror or error}.") from error


class ProjectWorkflows:
    """Workflows that travel with a project. They are data: nothing of them runs by itself, so a
    project that is not trusted shows them as any other does. Main thread only."""

    def __init__(self, project: QgsProject) -> None:
        self._project = project

    def names(self) -> tuple[str, ...]:
        """Return the names, in alphabetical order."""
        titles = (
            self._project.readEntry(_SCOPE, f"{_KEY}{key}/name")[0]
            for key in self._project.subkeyList(_SCOPE, _KEY)
        )
        return tuple(sorted(filter(None, titles), key=str.casefold))

    def keep(self, name: str, graph: Graph) -> None:
        """Keep a workflow in the project, which is saved by the user."""
        self.put(name, dumps(graph))

    def load(self, name: str) -> Loaded:
        """Return a workflow of the project. Raises KeepError."""
        try:
            return loads(self.text(name), name)
        except WorkflowFileError as error:
            raise KeepError(str(error)) from error

    def delete(self, name: str) -> str:
        """Take a workflow out of the project and return its text. Raises KeepError."""
        text = self.text(name)
        self._project.removeEntry(_SCOPE, f"{_KEY}{self._key(name)}")
        return text

    def text(self, name: str) -> str:
        """Return a workflow as it is kept, broken or not. Raises KeepError."""
        key = self._key(name)
        if not key:
            raise KeepError(f'There is no workflow "{name}" in this project.')
        return str(self._project.readEntry(_SCOPE, f"{_KEY}{key}/graph")[0])

    def put(self, name: str, text: str) -> None:
        """Keep a text under a name, as it was."""
        key = self._key(name) or self._free()
        self._project.writeEntry(_SCOPE, f"{_KEY}{key}/name", name)
        self._project.writeEntry(_SCOPE, f"{_KEY}{key}/graph", text)

    def _key(self, name: str) -> str:
        for key in self._project.subkeyList(_SCOPE, _KEY):
            if self._project.readEntry(_SCOPE, f"{_KEY}{key}/name")[0] == name:
                return str(key)
        return ""

    def _free(self) -> str:
        taken, number = set(self._project.subkeyList(_SCOPE, _KEY)), 1
        while f"w{number}" in taken:
            number += 1
        return f"w{number}"


def write_back(path: Path, data: bytes) -> None:
    """Write a file that was deleted. Raises KeepError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        raise KeepError(f"{path} cannot be written: {error.strerror or error}.") from error


def file_name(name: str) -> str:
    """Return a name as every system takes it for a file. Raises KeepError for an empty one."""
    text = unicodedata.normalize("NFC", name).strip()
    text = _FORBIDDEN.sub(lambda found: f"%{ord(found.group()):02X}", text.replace("%", "%25"))
    text = text.strip(". ")
    if not text:
        raise KeepError("A workflow needs a name.")
    if len(text.encode("utf-8")) > 2 * _LONGEST:
        raise KeepError(f"The name is longer than {_LONGEST} characters: choose a shorter one.")
    return f"%5F{text}" if text.split(".")[0].casefold() in _RESERVED else text


def _shown(file: str) -> str:
    """Return the name that a file was made of."""
    text = file[: -len(SUFFIX)]
    text = text[3:] if text.startswith("%5F") else text
    return re.sub(r"%([0-9A-F]{2})", lambda found: chr(int(found.group(1), 16)), text)
