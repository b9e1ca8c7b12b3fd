# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins the library of workflows to the graph editor, the profile, the project and files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from qgis.core import QgsProject
from qgis.PyQt.QtCore import QObject

from ..ui.graph.comparison import Comparison
from ..ui.graph.graph_dock import GraphDock
from ..ui.graph.library_dialog import LibraryDialog
from ..ui.graph.library_entry import EarlierVersion, Entry, Place
from .library import KeepError, ProjectWorkflows, save, write_back
from .library_reader import LibraryReader
from .recent_file import note_recent
from .workflow.file import SUFFIX
from .workflow.graph import Graph

Show = Callable[[Graph], bool]


class LibraryDesk(QObject):
    """Does what the user wants with kept workflows; each deletion can be taken back once."""

    def __init__(self, dock: GraphDock, show: Show) -> None:
        """`show` shows a graph in the editor unless unsaved changes of another are kept; it tells
        whether it did."""
        super().__init__(dock)
        self._dock, self._show = dock, show
        self._reader = LibraryReader()
        self._undo: Callable[[], None] | None = None
        self._noted: Path | None = None
        self.dialog: LibraryDialog | None = None
        dock.library_requested.connect(self.open)
        dock.templates_requested.connect(lambda: self.open(Place.TEMPLATE))
        dock.document.changed.connect(lambda old, new: self._note())
        dock.document.was_saved.connect(self._saved)
        project = QgsProject.instance()
        project.cleared.connect(self._leave_project)
        project.readProject.connect(self._leave_project)

    def open(self, place: Place | None = None) -> None:
        """Show the library, filled anew, with the workflows of a place or of all."""
        if self.dialog is None:
            self.dialog = self._made()
        self.fill()
        self.dialog.show_place(place)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def close(self) -> None:
        """Let go of the project."""
        project = QgsProject.instance()
        project.cleared.disconnect(self._leave_project)
        project.readProject.disconnect(self._leave_project)
        if self.dialog is not None:
            self.dialog.close()

    def fill(self) -> None:
        """Fill the library with what is kept now."""
        if self.dialog is not None:
            document = self._dock.document
            self.dialog.suggest(document.title, bool(document.graph.vertices))
            self.dialog.set_entries(self._reader.entries(QgsProject.instance()))

    def _made(self) -> LibraryDialog:
        made = LibraryDialog(self._dock.document, self._dock)
        made.opened.connect(self._open)
        made.renamed.connect(lambda entry, name: self._try(lambda: self._rename(entry, name)))
        made.duplicated.connect(lambda entry: self._try(lambda: self._duplicate(entry)))
        made.deleted.connect(lambda entry: self._try(lambda: self._delete(entry)))
        made.kept.connect(lambda name, place: self._try(lambda: self._keep(name, place)))
        made.undone.connect(self._take_back)
        made.chosen.connect(self._reveal)
        made.detail.version_opened.connect(self._open_version)
        made.detail.version_restored.connect(lambda one: self._try(lambda: self._restore(one)))
        made.detail.compared.connect(self._compare)
        return made

    def _try(self, action: Callable[[], None]) -> None:
        """Do something with what is kept; what is refused is told."""
        try:
            action()
        except KeepError as error:
            self._say(str(error))

    def _say(self, text: str, undo: Callable[[], None] | None = None) -> None:
        self._undo = undo
        if self.dialog is not None:
            self.dialog.say(text, undo is not None)

    def _after(self, text: str, place: Place, key: str,
               undo: Callable[[], None] | None = None) -> None:  # fmt: skip
        """Show what is kept after a change, with the changed entry chosen."""
        self.fill()
        if self.dialog is not None:
            self.dialog.choose(place, key)
        self._say(text, undo)

    # -- opening

    def _open(self, entry: Entry) -> None:
        if entry.graph is None or not self._show(entry.graph):
            return
        document = self._dock.document
        if entry.read_only:
            document.path = None  # saving asks where a copy goes
        elif entry.place is Place.PROFILE:
            document.path = self._reader.library.path(entry.key)
        elif entry.place is Place.FILE and entry.key.endswith(SUFFIX):
            document.path = Path(entry.key)
        self._note()
        if entry.place is Place.TEMPLATE:
            self._dock.show_variables()
        if entry.remark:
            self._dock.say(entry.remark)
        if self.dialog is not None:
            self.dialog.hide()

    def _open_version(self, version: EarlierVersion) -> None:
        if version.graph is not None and self._show(version.graph) and self.dialog is not None:
            self.dialog.hide()

    def _leave_project(self, _document: object = None) -> None:
        """Show what another project holds; what was done in the one before is not taken back."""
        if self.dialog is not None and self.dialog.isVisible():
            self.fill()
            self._say("")

    def _note(self) -> None:
        path = self._dock.document.path
        if path is not None and path != self._noted:
            self._noted = path
            note_recent(path)

    def _saved(self) -> None:
        self._note()
        if self.dialog is not None and self.dialog.isVisible():
            self.fill()

    # -- changing what is kept

    def _keep(self, name: str, place: Place) -> None:
        document, library = self._dock.document, self._reader.library
        if place is Place.PROFILE:
            is_there = library.has(name)
            document.saved(library.keep(name, document.graph))
            said = self.tr('Kept "{}" in this profile.')
            if is_there:
                said = self.tr('Kept "{}". What it was before is an earlier version.')
            self._after(said.replace("{}", name), place, name)
            return
        kept = ProjectWorkflows(QgsProject.instance())
        if not name:
            raise KeepError(self.tr("A workflow needs a name."))
        before = kept.text(name) if name in kept.names() else None
        kept.keep(name, document.graph)
        if before is None:
            text = self.tr('Kept "{}" in this project, which is still to be saved.')
            self._after(text.replace("{}", name), place, name)
        else:
            text = self.tr('Kept "{}" in this project, in place of the one before.')
            self._after(text.replace("{}", name), place, name, partial(kept.put, name, before))

    def _rename(self, entry: Entry, name: str) -> None:
        key = name
        if entry.place is Place.PROFILE:
            self._reader.library.rename(entry.key, name)
            self._moved(self._reader.library.path(entry.key), self._reader.library.path(name))
        elif entry.place is Place.PROJECT:
            kept = ProjectWorkflows(QgsProject.instance())
            if name in kept.names():
                raise KeepError(self.tr('There is a workflow "{}" already. Choose another name.')
                                .replace("{}", name))  # fmt: skip
            kept.put(name, kept.delete(entry.key))
        else:
            old = Path(entry.key)
            new = old.with_name(f"{self._reader.library.path(name).name}")
            if new.exists():
                raise KeepError(self.tr("{} is there already. Choose another name.")
                                .replace("{}", new.name))  # fmt: skip
            try:
                old.rename(new)
            except OSError as error:
                raise KeepError(f"{old} cannot be renamed: {error.strerror or error}.") from error
            note_recent(new)
            self._moved(old, new)
            key = str(new)
        text = self.tr('"{0}" is called "{1}" now.').replace("{0}", entry.name)
        self._after(text.replace("{1}", name), entry.place, key)

    def _moved(self, old: Path, new: Path) -> None:
        """Let the editor follow the file of the workflow that it shows."""
        if self._dock.document.path == old:
            self._dock.document.path = new

    def _duplicate(self, entry: Entry) -> None:
        if entry.graph is None:
            raise KeepError(entry.fault)
        place, name = entry.place, entry.name
        taken = {one.name for one in self._reader.entries(QgsProject.instance())}
        free = self.tr("{} copy").replace("{}", name)
        number = 2
        while free in taken:
            free = self.tr("{0} copy {1}").replace("{0}", name).replace("{1}", str(number))
            number += 1
        key = free
        if place is Place.PROJECT:
            ProjectWorkflows(QgsProject.instance()).keep(free, entry.graph)
        elif place is Place.FILE:
            path = Path(entry.key)
            path = save(entry.graph, path.with_name(self._reader.library.path(free).name))
            note_recent(path)
            key = str(path)
        else:  # a template is copied into the profile
            place = Place.PROFILE
            self._reader.library.keep(free, entry.graph)
        text = self.tr('"{0}" is a copy of "{1}".').replace("{0}", free)
        self._after(text.replace("{1}", name), place, key)

    def _delete(self, entry: Entry) -> None:
        undo: Callable[[], None]
        if entry.place is Place.PROFILE:
            library = self._reader.library
            gone = library.delete(entry.key)
            undo = partial(library.bring_back, gone)
        elif entry.place is Place.PROJECT:
            kept = ProjectWorkflows(QgsProject.instance())
            text = kept.delete(entry.key)
            undo = partial(kept.put, entry.key, text)
        else:
            path = Path(entry.key)
            try:
                data = path.read_bytes()
                path.unlink()
            except OSError as error:
                raise KeepError(f"{path} cannot be deleted: {error.strerror or error}.") from error
            undo = partial(_written_back, path, data)
        self.fill()
        self._say(self.tr('Deleted "{}".').replace("{}", entry.name), undo)

    def _take_back(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            self._try(lambda: self._undone(undo))

    def _undone(self, undo: Callable[[], None]) -> None:
        undo()
        self.fill()
        self._say(self.tr("It is as before."))

    # -- versions

    def _reveal(self, entry: Entry) -> None:
        if self.dialog is not None and entry.versions:
            self.dialog.show_versions(self._reader.versions(entry))

    def _restore(self, version: EarlierVersion) -> None:
        entry = self.dialog.entry() if self.dialog is not None else None
        if entry is None or version.graph is None:
            return
        self._reader.library.keep(entry.key, version.graph)
        text = self.tr('"{0}" is as on {1}. What it was before is an earlier version.')
        said = text.replace("{0}", entry.name).replace("{1}", version.time)
        self._after(said, entry.place, entry.key)

    def _compare(self, versions: tuple[EarlierVersion, ...]) -> None:
        """Show on the canvas how one version differs from the workflow there, or two differ."""
        entry = self.dialog.entry() if self.dialog is not None else None
        if entry is None or not versions or any(one.graph is None for one in versions):
            return
        document = self._dock.document
        first = versions[0]
        name = f"{entry.name} ({first.time})"
        if len(versions) == 2:
            last = versions[1]
            found = Comparison(first.graph or Graph(), last.graph or Graph(), name,
                               f"{entry.name} ({last.time})")  # fmt: skip
        else:
            found = Comparison(first.graph or Graph(), document.graph, name,
                               self.tr("the canvas"), True)  # fmt: skip
        document.compare(found)
        self._dock.setUserVisible(True)
        if self.dialog is not None:
            self.dialog.hide()


def _written_back(path: Path, data: bytes) -> None:
    write_back(path, data)
    note_recent(path)
