# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of the library: rows with picture, name, facts and faults, found while one types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qgis.PyQt.QtCore import (
    QAbstractListModel,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QRect,
    QRectF,
    QSize,
    Qt,
    pyqtSignal,
)
from qgis.PyQt.QtGui import QFontMetrics, QPainter, QPalette, QPen
from qgis.PyQt.QtWidgets import (
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ..icon import theme_icon
from ..palette import em, line, mix, muted
from ..state_shape import Shape, paint_shape
from .library_entry import Entry, Place
from .measure import scaled
from .thumbnail import Thumbnails

ENTRY = int(Qt.ItemDataRole.UserRole)
ICONS = {
    Place.TEMPLATE: "processingModel",
    Place.PROFILE: "mIconFolderHome",
    Place.PROJECT: "mIconQgsProjectFile",
    Place.FILE: "mIconFile",
}
_ROW, _WIDE, _GAP = 5.4, 8.5, 0.6


class LibraryModel(QAbstractListModel):
    """The entries that fit a place and a phrase; a name is edited in its row."""

    renamed = pyqtSignal(object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[Entry, ...] = ()
        self._shown: list[Entry] = []
        self._place: Place | None = None
        self._phrase = ""

    def set_entries(self, entries: Iterable[Entry]) -> None:
        """Take all entries."""
        self._all = tuple(entries)
        self._choose()

    def set_filter(self, place: Place | None, phrase: str) -> None:
        """Show the entries of a place, of every place with None, that have all words."""
        self._place, self._phrase = place, phrase
        self._choose()

    def count_in(self, place: Place | None) -> int:
        """Return how many entries with the present words are in a place."""
        return sum(place in (None, one.place) and one.has_words(self._phrase) for one in self._all)

    def entry(self, index: QModelIndex) -> Entry | None:
        """Return the entry of a row."""
        return self._shown[index.row()] if index.isValid() else None

    def row_of(self, place: Place, key: str) -> int:
        """Return the row of an entry, -1 where it is not shown."""
        for at, one in enumerate(self._shown):
            if (one.place, one.key) == (place, key):
                return at
        return -1

    def rowCount(self, parent: QModelIndex | None = None) -> int:
        """Return how many entries are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a row shows, and what a screen reader says."""
        if not index.isValid():
            return None
        entry = self._shown[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return entry.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(one for one in (entry.name, self.facts(entry), entry.about) if one)
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(one for one in (entry.about, entry.remark) if one)
        return entry if role == ENTRY else None

    def flags(self, index: QModelIndex) -> Qt.ItemFlags:
        """Let the names of own workflows be edited."""
        found = super().flags(index)
        entry = self.entry(index)
        if entry is not None and entry.is_own:
            found |= Qt.ItemFlag.ItemIsEditable
        return found

    def setData(self, index: QModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another name; the list is filled anew when it has it."""
        entry = self.entry(index)
        text = str(value).strip()
        if entry is None or role != Qt.ItemDataRole.EditRole or text in ("", entry.name):
            return False
        self.renamed.emit(entry, text)
        return True

    def facts(self, entry: Entry) -> str:
        """Return the place, the number of steps, the time and the versions of an entry."""
        parts = [self.place_name(entry.place)]
        if entry.graph is not None:
            count = len(entry.graph.vertices)
            one = self.tr("1 step")
            parts.append(one if count == 1 else self.tr("{} steps").replace("{}", str(count)))
        if entry.changed and entry.is_own:
            time = QDateTime.fromString(entry.changed, "yyyy-MM-dd HH:mm")
            parts.append(QLocale().toString(time, "d MMM yyyy HH:mm"))
        if entry.versions:
            one = self.tr("1 earlier version")
            many = self.tr("{} earlier versions").replace("{}", str(entry.versions))
            parts.append(one if entry.versions == 1 else many)
        return " · ".join(parts)

    def place_name(self, place: Place) -> str:
        """Return what a place is called."""
        return {
            Place.TEMPLATE: self.tr("Template"),
            Place.PROFILE: self.tr("This profile"),
            Place.PROJECT: self.tr("This project"),
            Place.FILE: self.tr("File"),
        }[place]

    def _choose(self) -> None:
        self.beginResetModel()
        self._shown = [
            one
            for one in self._all
            if self._place in (None, one.place) and one.has_words(self._phrase)
        ]
        self.endResetModel()


class LibraryDelegate(QStyledItemDelegate):
    """Paints a row: the picture left, three lines right of it."""

    def __init__(self, thumbnails: Thumbnails, parent: QWidget) -> None:
        super().__init__(parent)
        self._thumbnails, self._widget = thumbnails, parent

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return the size of every row."""
        unit = em(self._widget)
        return QSize(unit * 20, round(unit * _ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw one row."""
        entry: Entry = index.data(ENTRY)
        painter.save()
        style = self._widget.style()
        style.drawPrimitive(
            QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, self._widget
        )
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
        text = option.palette.color(role)
        faint = mix(text, option.palette.color(QPalette.ColorRole.Highlight), 0.2) if chosen else (
            muted(option.palette))  # fmt: skip
        self._picture(painter, option, entry)
        box, unit = self._words_box(option.rect), em(self._widget)
        strong, small = scaled(option.font, 1.0, bold=True), scaled(option.font, 0.92)
        for at, (said, font, colour) in enumerate((
            (entry.name, strong, text),
            (index.model().facts(entry), small, faint),
            (entry.about, small, text if entry.fault else faint),
        )):  # fmt: skip
            row = QRect(box.left(), box.top() + round(at * 1.5 * unit), box.width(),
                        round(1.5 * unit))  # fmt: skip
            if at == 2 and (entry.fault or entry.remark):
                side = round(1.1 * unit)
                mark = QRectF(row.left(), row.center().y() - side / 2, side, side)
                shape = Shape.ERROR if entry.fault else Shape.WARNING
                paint_shape(painter, mark, shape, option.palette)
                row.adjust(round(1.5 * unit), 0, 0, 0)
                said = entry.fault or entry.remark
            painter.setFont(font)
            painter.setPen(colour)
            shown = QFontMetrics(font).elidedText(
                said.replace("\n", " "), Qt.TextElideMode.ElideRight, row.width()
            )
            painter.drawText(row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading,
                             shown)  # fmt: skip
        painter.restore()

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex
    ) -> None:
        """Put the field for a name over the name."""
        box = self._words_box(option.rect)
        editor.setGeometry(box.left(), box.top(), box.width(), editor.sizeHint().height())

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex
    ) -> QWidget:
        """Return the field for a name."""
        made = super().createEditor(parent, option, index)
        made.setObjectName("GeoOlmLibraryName")
        made.setAccessibleName(self.tr("Name of the workflow"))
        made.setAutoFillBackground(True)
        return made

    def _words_box(self, rect: QRect) -> QRect:
        unit = em(self._widget)
        return rect.adjusted(
            round((_WIDE + 2 * _GAP) * unit), round(0.45 * unit), -round(_GAP * unit), 0
        )

    def _picture(self, painter: QPainter, option: QStyleOptionViewItem, entry: Entry) -> None:
        unit = em(self._widget)
        pad = round(_GAP * unit)
        box = QRect(option.rect.left() + pad, option.rect.top() + pad // 2,
                    round(_WIDE * unit), option.rect.height() - pad)  # fmt: skip
        palette = option.palette
        painter.setPen(QPen(line(palette), 1))
        painter.setBrush(palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 0.3 * unit, 0.3 * unit)
        ratio = self._widget.devicePixelRatioF()
        inner = box.adjusted(2, 2, -2, -2)
        picture = self._thumbnails.picture(entry, inner.size(), ratio)
        if picture is not None:
            painter.drawPixmap(inner.topLeft(), picture)
            return
        side = round(1.5 * unit)
        if entry.fault:
            mark = QRectF(0, 0, side, side)
            mark.moveCenter(QRectF(box).center())
            paint_shape(painter, mark, Shape.ERROR, palette)
            return
        place = QRect(0, 0, side, side)
        place.moveCenter(box.center())
        theme_icon(ICONS[entry.place]).paint(painter, place)
