# SPDX-License-Identifier: GPL-2.0-or-later
"""All workflows that are kept, as entries of the library: each is listed, readable or not."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from pathlib import Path

from qgis.core import QgsProject

from ..ui.graph.library_entry import EarlierVersion, Entry, Place
from .library import KeepError, Library, ProjectWorkflows, Version, library_folder, read
from .place import RESOURCES
from .recent_file import recent_files
from .workflow.change import between
from .workflow.file import SUFFIX, Loaded
from .workflow.graph import Graph
from .workflow.wording import titled, words

TEMPLATES = RESOURCES / "workflows" / "templates"
_MINUTE = "%Y-%m-%d %H:%M"
_MOST_LINES = 3


class LibraryReader:
    """Reads what is kept. A file is read again only when it has changed. Main thread only."""

    def __init__(self, templates: Path = TEMPLATES) -> None:
        self._templates = templates
        self._read: dict[tuple[Path, int, int], Loaded | str] = {}

    @property
    def library(self) -> Library:
        """The workflows of the profile."""
        return Library(library_folder())

    def entries(self, project: QgsProject) -> tuple[Entry, ...]:
        """Return the workflows of the profile, the project, files and the templates, in this
        order; files are those used last and those beside the project."""
        return (
            *self._profile(),
            *self._project(project),
            *self._files(project),
            *self._shipped(),
        )

    def versions(self, entry: Entry) -> tuple[EarlierVersion, ...]:
        """Return the earlier versions of an entry, the newest first, each with what has changed
        from it to the next."""
        if entry.place is not Place.PROFILE:
            return ()
        found: list[EarlierVersion] = []
        later = entry.graph
        for one in self.library.versions(entry.key):
            loaded = self._load(one.path)
            if isinstance(loaded, str):
                found.append(EarlierVersion(str(one.path), _time(one), loaded))
                continue
            summary = _changes(loaded.graph, later)
            found.append(EarlierVersion(str(one.path), _time(one), summary, loaded.graph))
            later = loaded.graph
        return tuple(found)

    def _profile(self) -> Iterator[Entry]:
        library = self.library
        for name in library.names():
            path = library.path(name)
            yield self._entry(Place.PROFILE, name, name, path, len(library.versions(name)))

    def _project(self, project: QgsProject) -> Iterator[Entry]:
        kept = ProjectWorkflows(project)
        for name in kept.names():
            try:
                yield _made(Place.PROJECT, name, name, kept.load(name))
            except KeepError as error:
                yield Entry(Place.PROJECT, name, name, fault=str(error))

    def _files(self, project: QgsProject) -> Iterator[Entry]:
        home, own = project.homePath(), library_folder()
        beside = sorted(Path(home).glob(f"*{SUFFIX}")) if home else []
        for path in dict.fromkeys((*recent_files(), *beside)):
            if path.parent != own:
                name = path.name.partition(".")[0]
                yield self._entry(Place.FILE, str(path), name, path)

    def _shipped(self) -> Iterator[Entry]:
        for path in sorted(self._templates.glob(f"*{SUFFIX}")):
            loaded = self._load(path)
            title = "" if isinstance(loaded, str) else loaded.graph.title
            yield self._entry(Place.TEMPLATE, str(path), title or path.name, path)

    def _entry(self, place: Place, key: str, name: str, path: Path, versions: int = 0) -> Entry:
        loaded = self._load(path)
        changed = ""
        if path.is_file():
            time = datetime.datetime.fromtimestamp(path.stat().st_mtime)
            changed = time.strftime(_MINUTE)
        if isinstance(loaded, str):
            return Entry(place, key, name, fault=loaded, changed=changed, versions=versions)
        return _made(place, key, name, loaded, changed, versions)

    def _load(self, path: Path) -> Loaded | str:
        """Return the workflow of a file, or the sentence that says why there is none."""
        try:
            state = path.stat()
            key = (path, state.st_mtime_ns, state.st_size)
            if key not in self._read:
                self._read[key] = read(path)
            return self._read[key]
        except OSError as error:
            return f"{path.name} cannot be read: {error.strerror or error}."
        except KeepError as error:
            self._read[key] = str(error)
            return str(error)


def _made(
    place: Place, key: str, name: str, loaded: Loaded, changed: str = "", versions: int = 0
) -> Entry:
    said = (*loaded.remarks, *(one.message for one in loaded.faults))
    remark = " ".join(said)
    return Entry(place, key, name, loaded.graph, "", remark, changed, versions, loaded.read_only)


def _time(version: Version) -> str:
    """Return the time of a version, which its file keeps with dots and parts of a second."""
    day, _, clock = version.time.partition(" ")
    return f"{day} {':'.join(clock.split('.')[:2])}"


def _changes(old: Graph, new: Graph | None) -> str:
    if new is None:
        return ""
    lines: Iterable[str] = words(old, between(old, new), titled(new, old))
    listed = list(lines)
    if not listed:
        return "The same steps."
    more = f" and {len(listed) - _MOST_LINES} more" if len(listed) > _MOST_LINES else ""
    return "Then: " + "; ".join(listed[:_MOST_LINES]) + more
