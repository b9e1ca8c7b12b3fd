# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks of the model doctor as a table; rows appear in order, the present one with an arc."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QSize, Qt
from qgis.PyQt.QtGui import QResizeEvent
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
)

from .doctor_verdict import SHAPES
from .doctor_view import CheckRow
from .number import plain_tip
from .outlet import Outlet
from .palette import em
from .panel import Label, Panel
from .state_shape import Shape, StateMark

NAME, FOUND, MEANING = 0, 1, 2
SHARES = (0.2, 0.38)


class NameCell(Panel):
    """The state of a check and its name."""

    def __init__(self, outlet: Outlet, name: str) -> None:
        super().__init__()
        self.mark = StateMark(outlet.clock, Shape.RUNNING)
        self.name = Label(name)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.mark)
        self._row.addWidget(self.name, 1)

    def restyle(self) -> None:
        """Set the margins."""
        side = round(self.em * 0.4)
        self._row.setContentsMargins(side, 0, 0, 0)
        self._row.setSpacing(side)


class CheckTable(QTableWidget):
    """Three columns: check, found, what it means. Texts wrap instead of being cut; where the page
    is too small for all rows, they scroll."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__(0, 3)
        self._outlet = outlet
        self.setObjectName("GeoOlmDoctorTable")
        self.setAccessibleName(self.tr("Checks"))
        heads = (self.tr("Check"), self.tr("Found"), self.tr("What it means"))
        self.setHorizontalHeaderLabels(heads)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(True)
        self.verticalHeader().setVisible(False)
        header = self.horizontalHeader()
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        header.setDefaultAlignment(left)

    def sizeHint(self) -> QSize:
        """Return room for all rows."""
        high = self.verticalHeader().length() + self.horizontalHeader().sizeHint().height()
        return QSize(em(self) * 24, high + 2 * self.frameWidth())

    def minimumSizeHint(self) -> QSize:
        """Return room for a few rows."""
        return QSize(em(self) * 24, self._line() * 4)

    def clear_rows(self) -> None:
        """Take all rows away."""
        self.setRowCount(0)
        self.updateGeometry()

    def show_running(self, name: str) -> None:
        """Show that a check runs; it may be told more than once."""
        at = self._at(name)
        self._cell(at).mark.set_shape(Shape.RUNNING)
        self._describe(at, self.tr("running"))

    def show_row(self, row: CheckRow) -> None:
        """Show what a check found."""
        at = self._at(row.name)
        self._cell(at).mark.set_shape(SHAPES[row.grade])
        for column, text in ((FOUND, row.found), (MEANING, row.meaning)):
            item = QTableWidgetItem(text)
            item.setToolTip(plain_tip(text))
            self.setItem(at, column, item)
        self._describe(at, f"{row.grade.value}: {row.found}. {row.meaning}")
        self._fit_rows()

    def end(self) -> None:
        """Show a check that still runs as stopped: nothing more comes."""
        for at in range(self.rowCount()):
            if self._cell(at).mark.shape is Shape.RUNNING:
                self._cell(at).mark.set_shape(Shape.STOPPED)
                self._describe(at, self.tr("stopped"))

    def texts(self) -> list[tuple[str, str, str]]:
        """Return the rows as they are read."""
        return [
            (self._cell(at).name.text(), *(self._text(at, column) for column in (FOUND, MEANING)))
            for at in range(self.rowCount())
        ]

    def shapes(self) -> list[Shape]:
        """Return the state of each row."""
        return [self._cell(at).mark.shape for at in range(self.rowCount())]

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width among the columns."""
        super().resizeEvent(event)
        width = self.viewport().width()
        for column, share in enumerate(SHARES):
            self.setColumnWidth(column, max(em(self) * 5, round(width * share)))
        self._fit_rows()

    def changeEvent(self, event: QEvent) -> None:
        """Take the heights of a new font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_rows()

    def _line(self) -> int:
        return round(em(self) * 2.2)

    def _fit_rows(self) -> None:
        self.resizeRowsToContents()
        for at in range(self.rowCount()):
            self.setRowHeight(at, max(self._line(), self.rowHeight(at)))
        self.updateGeometry()

    def _at(self, name: str) -> int:
        """Return the row of a check, made where it is not there yet."""
        for at in range(self.rowCount()):
            if self._cell(at).name.text() == name:
                return at
        at = self.rowCount()
        self.insertRow(at)
        self.setCellWidget(at, NAME, NameCell(self._outlet, name))
        self.setItem(at, NAME, QTableWidgetItem())
        self._fit_rows()
        self.scrollToBottom()
        return at

    def _cell(self, at: int) -> NameCell:
        return self.cellWidget(at, NAME)

    def _text(self, at: int, column: int) -> str:
        item = self.item(at, column)
        return item.text() if item is not None else ""

    def _describe(self, at: int, words: str) -> None:
        """Say a row for screen readers, which see no shapes."""
        said = f"{self._cell(at).name.text()}, {words}"
        self.item(at, NAME).setData(Qt.ItemDataRole.AccessibleTextRole, said)
