# SPDX-License-Identifier: GPL-2.0-or-later
"""The library of workflows: templates, and what is kept in the profile, the project and files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from qgis.PyQt.QtCore import QEvent, QModelIndex, QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QGuiApplication, QKeyEvent
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from ..icon import theme_icon
from ..palette import em
from ..panel import Label
from .document import GraphDocument
from .library_detail import LibraryDetail
from .library_entry import EarlierVersion, Entry, Place
from .library_list import LibraryDelegate, LibraryModel
from .thumbnail import Thumbnails

_PLACES = (None, Place.TEMPLATE, Place.PROFILE, Place.PROJECT, Place.FILE)
_WIDE, _HIGH, _SHARE = 56, 44, 0.9
Key = Qt.Key


class LibraryDialog(QDialog):
    """Shows entries and asks for what the user wants done with them; never blocks QGIS."""

    opened = pyqtSignal(object)
    renamed = pyqtSignal(object, str)
    duplicated = pyqtSignal(object)
    deleted = pyqtSignal(object)
    kept = pyqtSignal(str, object)
    chosen = pyqtSignal(object)
    undone = pyqtSignal()

    def __init__(self, known: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmLibrary")
        self.setWindowTitle(self.tr("Library of workflows"))
        self.search = QLineEdit()
        self.places = QTabBar()
        self.list = QListView()
        self.model = LibraryModel(self)
        self.thumbnails = Thumbnails(self)
        self.detail = LibraryDetail(known)
        self.none = QLabel()
        self.pages = QStackedWidget()
        self.said = Label(wrap=True)
        self.undo = self._button("Undo", self.tr("Undo"))
        self.open = self._button("Open", self.tr("Open"))
        self.rename = self._button("Rename", self.tr("Rename"))
        self.duplicate = self._button("Duplicate", self.tr("Duplicate"))
        self.delete = self._button("Delete", self.tr("Delete"))
        self.name = QLineEdit()
        self.where = QComboBox()
        self.keep = self._button("Keep", self.tr("Keep the canvas"))
        self._dress()
        self._build()
        self._connect()
        self.say("")

    # -- what the desk tells

    def set_entries(self, entries: Iterable[Entry]) -> None:
        """Show these entries; the chosen one stays chosen while it is there."""
        before = self.entry()
        self.thumbnails.forget_wanted()
        self.model.set_entries(entries)
        if before is None or not self.choose(before.place, before.key):
            self._first()
        self._count()

    def show_place(self, place: Place | None) -> None:
        """Show the workflows of a place, of all with None."""
        self.places.setCurrentIndex(_PLACES.index(place))

    def choose(self, place: Place, key: str) -> bool:
        """Choose an entry; tells whether it is shown."""
        row = self.model.row_of(place, key)
        if row >= 0:
            self.list.setCurrentIndex(self.model.index(row, 0))
        return row >= 0

    def entry(self) -> Entry | None:
        """Return the chosen entry."""
        return self.model.entry(self.list.currentIndex())

    def show_versions(self, versions: Sequence[EarlierVersion]) -> None:
        """Show the earlier versions of the chosen entry."""
        self.detail.show_entry(self.entry(), versions)

    def say(self, text: str, can_undo: bool = False) -> None:
        """Tell what was done or refused, with a way to take it back."""
        self.said.setText(text)
        self.said.setVisible(bool(text))
        self.undo.setVisible(can_undo)

    def suggest(self, name: str, can_keep: bool) -> None:
        """Suggest a name for the workflow on the canvas; without steps none is kept."""
        if not self.name.isModified():
            self.name.setText(name)
        for one in (self.name, self.where, self.keep):
            one.setEnabled(can_keep)

    # -- building

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmLibrary{name}Button")
        button.setAutoDefault(False)
        return button

    def _dress(self) -> None:
        self.search.setObjectName("GeoOlmLibrarySearch")
        self.search.setAccessibleName(self.tr("Search workflows"))
        self.search.setPlaceholderText(self.tr("Search names, questions and steps…"))
        self.search.setClearButtonEnabled(True)
        self.search.addAction(theme_icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.places.setObjectName("GeoOlmLibraryPlaces")
        self.places.setAccessibleName(self.tr("Where workflows are kept"))
        self.places.setDrawBase(False)
        self.places.setExpanding(False)
        for _ in _PLACES:
            self.places.addTab("")
        self.list.setObjectName("GeoOlmLibraryList")
        self.list.setAccessibleName(self.tr("Workflows"))
        self.list.setModel(self.model)
        self.list.setItemDelegate(LibraryDelegate(self.thumbnails, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.none.setWordWrap(True)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setObjectName("GeoOlmLibraryNone")
        self.said.setObjectName("GeoOlmLibrarySaid")
        self.name.setObjectName("GeoOlmLibraryKeepName")
        self.name.setAccessibleName(self.tr("Name for the workflow on the canvas"))
        self.name.setPlaceholderText(self.tr("Name"))
        self.where.setObjectName("GeoOlmLibraryKeepPlace")
        self.where.setAccessibleName(self.tr("Where to keep it"))
        for place in (Place.PROFILE, Place.PROJECT):
            self.where.addItem(self.model.place_name(place), place)

    def _build(self) -> None:
        self.pages.addWidget(self.list)
        self.pages.addWidget(self.none)
        middle = QSplitter(Qt.Orientation.Horizontal)
        middle.addWidget(self.pages)
        middle.addWidget(self.detail)
        middle.setStretchFactor(0, 3)
        middle.setStretchFactor(1, 2)
        middle.setChildrenCollapsible(False)
        told = QHBoxLayout()
        told.addWidget(self.said, 1)
        told.addWidget(self.undo)
        actions = QHBoxLayout()
        for one in (self.open, self.rename, self.duplicate, self.delete):
            actions.addWidget(one)
        actions.addStretch(1)
        keeping = QHBoxLayout()
        for one in (self.name, self.where, self.keep):
            keeping.addWidget(one)
        keeping.setStretch(0, 1)
        lines = QVBoxLayout(self)
        lines.addWidget(self.search)
        lines.addWidget(self.places)
        lines.addWidget(middle, 1)
        lines.addLayout(told)
        lines.addLayout(actions)
        lines.addLayout(keeping)
        self.setTabOrder(self.search, self.list)

    def _connect(self) -> None:
        self.search.textChanged.connect(lambda _text: self._filter())
        self.search.returnPressed.connect(self._open)
        self.places.currentChanged.connect(lambda _at: self._filter())
        self.list.selectionModel().currentChanged.connect(lambda now, old: self._choose())
        self.model.modelReset.connect(self._choose)
        self.list.activated.connect(lambda _index: self._open())
        self.model.renamed.connect(self.renamed)
        self.thumbnails.drawn.connect(self.list.viewport().update)
        self.open.clicked.connect(self._open)
        self.rename.clicked.connect(self._rename)
        self.duplicate.clicked.connect(lambda: self._tell(self.duplicated))
        self.delete.clicked.connect(self._delete)
        self.undo.clicked.connect(self.undone)
        self.keep.clicked.connect(self._keep)
        self.name.returnPressed.connect(self._keep)

    # -- what hands want

    def _filter(self) -> None:
        place = _PLACES[self.places.currentIndex()]
        self.thumbnails.forget_wanted()
        self.model.set_filter(place, self.search.text())
        self._first()
        self._count()

    def _first(self) -> None:
        self.list.setCurrentIndex(self.model.index(0, 0) if self.model.rowCount() else
                                  QModelIndex())  # fmt: skip

    def _count(self) -> None:
        for at, place in enumerate(_PLACES):
            count = self.model.count_in(place)
            self.places.setTabText(at, f"{self._tab(place)} ({count})")
        phrase = self.search.text().strip()
        self.none.setText(
            self.tr('No workflow has "{}".').replace("{}", phrase) if phrase
            else self.tr("Nothing is kept here yet. Keep the canvas below, or open a template.")
        )  # fmt: skip
        self.pages.setCurrentWidget(self.list if self.model.rowCount() else self.none)

    def _tab(self, place: Place | None) -> str:
        many = {Place.TEMPLATE: self.tr("Templates"), Place.FILE: self.tr("Files")}
        return many.get(place) or (
            self.tr("All") if place is None else self.model.place_name(place)
        )

    def _choose(self) -> None:
        entry = self.entry()
        self.detail.show_entry(entry)
        is_own = entry is not None and entry.is_own
        self.open.setEnabled(entry is not None and entry.graph is not None)
        self.rename.setEnabled(is_own)
        self.duplicate.setEnabled(entry is not None and entry.graph is not None)
        self.delete.setEnabled(is_own)
        if entry is not None:
            self.chosen.emit(entry)

    def _tell(self, signal: Any) -> None:
        entry = self.entry()
        if entry is not None:
            signal.emit(entry)

    def _open(self) -> None:
        entry = self.entry()
        if entry is not None and entry.graph is not None:
            self.opened.emit(entry)
        elif entry is not None:
            self.say(entry.fault)

    def _rename(self) -> None:
        if self.rename.isEnabled():
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
            self.list.edit(self.list.currentIndex())

    def _delete(self) -> None:
        if self.delete.isEnabled():
            self._tell(self.deleted)

    def _keep(self) -> None:
        self.kept.emit(self.name.text().strip(), self.where.currentData())
        self.name.setModified(False)

    # -- Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Drive the list by keys: Down from the search, Del, Ctrl+D, Ctrl+F, Ctrl+Z."""
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if event.key() == Key.Key_Down and self.search.hasFocus():
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        elif event.key() == Key.Key_Delete and self.list.hasFocus():
            self._delete()
        elif control and event.key() == Key.Key_D and self.duplicate.isEnabled():
            self._tell(self.duplicated)
        elif control and event.key() == Key.Key_F:
            self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.search.selectAll()
        elif control and event.key() == Key.Key_Z and not self.undo.isHidden():
            self.undone.emit()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Draw the pictures anew in other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.thumbnails.set_palette(self.palette())

    def showEvent(self, event: QEvent) -> None:
        """Begin with the search, in the colours of now."""
        super().showEvent(event)
        self.thumbnails.set_palette(self.palette())
        self.said.restyle(self.font())
        self.search.setFocus(Qt.FocusReason.OtherFocusReason)

    def sizeHint(self) -> QSize:
        """Return a size that fits small screens."""
        unit = em(self)
        room = QGuiApplication.primaryScreen().availableGeometry()
        return QSize(
            min(unit * _WIDE, round(room.width() * _SHARE)),
            min(unit * _HIGH, round(room.height() * _SHARE)),
        )
