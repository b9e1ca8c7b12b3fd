# SPDX-License-Identifier: GPL-2.0-or-later
"""The page "What was sent": a table of requests with a filter, to export and to clear."""

from __future__ import annotations

from qgis.PyQt.QtCore import (
    QAbstractTableModel,
    QDateTime,
    QEvent,
    QLocale,
    QModelIndex,
    QSize,
    QSortFilterProxyModel,
    Qt,
    pyqtSignal,
)
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QMessageBox,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from .check_box import CheckBox
from .number import SPACE, number, plain_tip, soften, tr
from .palette import em
from .panel import Label, Panel
from .sent_row import SentRow

SORTED = Qt.ItemDataRole.UserRole


class SentModel(QAbstractTableModel):
    """Requests as rows; the role SORTED gives a value to sort by."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: tuple[SentRow, ...] = ()
        self._purposes = {
            "model": tr("Model"), "package": tr("Packages"), "download": tr("Download"),
            "batch": tr("Batch"),
        }  # fmt: skip
        self._heads = (
            tr("Time"), tr("Host"), tr("For"), tr("Sent"), tr("Received"), tr("Status"),
            tr("Layers"), tr("Fields"), tr("Values"),
        )  # fmt: skip

    def set_rows(self, rows: tuple[SentRow, ...]) -> None:
        """Show these requests."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | None = None) -> int:
        """Return how many requests there are."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex | None = None) -> int:
        """Return how many columns there are."""
        return 0 if parent is not None and parent.isValid() else len(self._heads)

    def headerData(self, section: int, side: Qt.Orientation, role: int) -> object:
        """Return the heading of a column."""
        shown = side == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole
        return self._heads[section] if shown else None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell: its text, its tooltip, its side, or what it is sorted by."""
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown(row)[index.column()]
        if role == SORTED:
            return self._order(row)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{row.request}\n{self._shown(row)[index.column()]}")
        right = index.column() in (3, 4)
        if role == Qt.ItemDataRole.TextAlignmentRole and right:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _shown(self, row: SentRow) -> tuple[str, ...]:
        moment = QDateTime.fromMSecsSinceEpoch(int(row.time * 1000))
        when = QLocale().toString(moment, QLocale.FormatType.ShortFormat)
        more = f" +{number(row.more)}" if row.more else ""
        return (
            when,
            tr("This machine") if row.local else row.host,
            self._purposes.get(row.purpose, row.purpose),
            size(row.sent),
            size(row.received),
            str(row.status) if row.status else "–",
            ", ".join(row.layers),
            ", ".join(row.fields),
            ", ".join(row.values) + more,
        )

    def _order(self, row: SentRow) -> tuple[object, ...]:
        shown = self._shown(row)
        return (row.time, row.host, shown[2], row.sent, row.received, row.status, *shown[6:])


class ElsewhereFilter(QSortFilterProxyModel):
    """Keeps, when it is on, only the requests that left this machine."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._on = False
        self.setSortRole(SORTED)

    def set_on(self, on: bool) -> None:
        """Keep only what left this machine, or show all."""
        self._on = on
        self.invalidateFilter()

    def filterAcceptsRow(self, row: int, parent: QModelIndex) -> bool:
        """Tell whether a request is shown."""
        return not (self._on and self.sourceModel().rows[row].local)


class SentPage(QDialog):
    """The ledger of this profile; it asks for its rows again when it was cleared."""

    export_requested = pyqtSignal(str, bool)
    clear_requested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmSentPage")
        self.setWindowTitle(self.tr("What was sent"))
        self.setSizeGripEnabled(True)
        self._model = SentModel(self)
        self._filter = ElsewhereFilter(self)
        self._filter.setSourceModel(self._model)
        self.only = CheckBox("GeoOlmSentElsewhere", self.tr("Only what left this machine"))
        self.only.toggled.connect(self._narrow)
        self.note = Label(faint=True)
        self.note.setObjectName("GeoOlmSentCount")
        self.table = self._made_table()
        self.detail = Label(wrap=True, faint=True)
        self.detail.setObjectName("GeoOlmSentDetail")
        self.table.selectionModel().currentRowChanged.connect(self._describe)
        self.export = self._button("Export", self.tr("Export…"))
        self.export.clicked.connect(self._export)
        self.clear = self._button("Clear", self.tr("Clear…"))
        self.clear.clicked.connect(self._clear)
        close = self._button("Close", self.tr("Close"))
        close.clicked.connect(lambda: self.accept())
        self._lay_out(close)
        self.set_rows(())

    def sizeHint(self) -> QSize:
        """Return a size that shows all columns, and never more than a small screen has."""
        return QSize(em(self) * 56, em(self) * 36)

    def event(self, event: QEvent) -> bool:
        """Give the columns their widths when the page is shown first."""
        if event.type() == QEvent.Type.Polish:
            self._set_widths()
        return bool(super().event(event))

    def set_rows(self, rows: tuple[SentRow, ...]) -> None:
        """Show these requests, the newest first."""
        self._model.set_rows(rows)
        self.clear.setEnabled(bool(rows))
        self._describe(self.table.currentIndex())
        self._narrow()

    def _narrow(self) -> None:
        self._filter.set_on(self.only.isChecked())
        shown, elsewhere = self._filter.rowCount(), sum(not row.local for row in self._model.rows)
        text = self.tr("{0} requests, {1} of them left this machine")
        self.note.setText(text.format(number(len(self._model.rows)), number(elsewhere)))
        self.export.setEnabled(shown > 0)

    def _describe(self, index: QModelIndex, _before: QModelIndex | None = None) -> None:
        """Show all that is known of the chosen request."""
        if not index.isValid():
            self.detail.setText(self.tr("Choose a request to see all names and values it held."))
            return
        row = self._model.rows[self._filter.mapToSource(index).row()]
        words = [row.host, row.request]
        for text, held in (
            (self.tr("Layers: {0}"), row.layers),
            (self.tr("Fields: {0}"), row.fields),
            (self.tr("Values: {0}"), row.values),
        ):
            if held:
                words.append(text.format(", ".join(held)))
        if row.more:
            words.append(self.tr("and {0} more").format(number(row.more)))
        self.detail.setText(soften(" · ".join(words)))

    def _made_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("GeoOlmSentTable")
        table.setAccessibleName(self.tr("Requests"))
        table.setModel(self._filter)
        table.setSortingEnabled(True)
        table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setAlternatingRowColors(True)
        table.setWordWrap(False)
        table.setShowGrid(False)
        table.verticalHeader().setVisible(False)
        table.horizontalHeader().setStretchLastSection(True)
        table.horizontalHeader().setHighlightSections(False)
        table.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        return table

    def _set_widths(self) -> None:
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column, width in enumerate((11.0, 9.5, 5.5, 4.7, 5.3, 4.0, 5.0, 4.5, 3.0)):
            header.resizeSection(column, round(em(self) * width))
        rows = self.table.verticalHeader()
        rows.setDefaultSectionSize(round(em(self) * 1.8))

    def _lay_out(self, close: QPushButton) -> None:
        head = Panel()
        lines = QVBoxLayout(head)
        lines.setContentsMargins(0, 0, 0, 0)
        text = self.tr(
            "Each request of this plugin: when, where, how much, and which names and values it "
            "held. Questions, answers and keys are not kept. Names are found by their exact text."
        )
        lines.addWidget(Label(text, wrap=True))
        row = QHBoxLayout()
        row.addWidget(self.only)
        row.addStretch(1)
        row.addWidget(self.note)
        lines.addLayout(row)
        foot = QHBoxLayout()
        foot.addWidget(self.export)
        foot.addWidget(self.clear)
        foot.addStretch(1)
        foot.addWidget(close)
        column = QVBoxLayout(self)
        column.addWidget(head)
        column.addWidget(self.table, 1)
        below = Panel()
        room = QVBoxLayout(below)
        room.setContentsMargins(0, 0, 0, 0)
        room.addWidget(self.detail)
        column.addWidget(below)
        column.addLayout(foot)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmSent{name}")
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        return button

    def _export(self) -> None:
        title, kinds = self.tr("Export what was sent"), self.tr("Tables (*.csv)")
        path, _ = QFileDialog.getSaveFileName(self, title, "geo_olm_sent.csv", kinds)
        if path:
            self.export_requested.emit(path, self.only.isChecked())

    def _clear(self) -> None:
        title, text = self.tr("What was sent"), self.tr("Forget all requests that are kept here?")
        if QMessageBox.question(self, title, text) == QMessageBox.StandardButton.Yes:
            self.clear_requested.emit()


def size(amount: int) -> str:
    """Return bytes as "812 B", "4.1 kB" or "2.3 MB", in the user's locale."""
    if amount < 1000:
        return f"{number(amount)}{SPACE}B"
    unit, share = ("kB", 1e3) if amount < 1e6 else ("MB", 1e6)
    return QLocale().toString(amount / share, "f", 1) + f"{SPACE}{unit}"
