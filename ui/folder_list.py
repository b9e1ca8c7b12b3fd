# SPDX-License-Identifier: GPL-2.0-or-later
"""A short list of folders with buttons to add and remove one."""

from __future__ import annotations

from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

_ROWS = 3


class FolderList(QWidget):
    """Folders, one a line; each stands there once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = QListWidget()
        self.list.setObjectName("GeoOlmFolderListItems")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.itemSelectionChanged.connect(self._fit)
        self.add = QPushButton(self.tr("Add…"))
        self.add.setObjectName("GeoOlmFolderListAdd")
        self.add.setAccessibleName(self.tr("Add a folder"))
        self.add.clicked.connect(self._choose)
        self.remove = QPushButton(self.tr("Remove"))
        self.remove.setObjectName("GeoOlmFolderListRemove")
        self.remove.setAccessibleName(self.tr("Remove the chosen folders"))
        self.remove.clicked.connect(self._take_out)
        buttons = QVBoxLayout()
        buttons.addWidget(self.add)
        buttons.addWidget(self.remove)
        buttons.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.list, 1)
        row.addLayout(buttons)
        self.setFocusProxy(self.list)
        self._fit()

    def sizeHint(self) -> QSize:
        """Return room for a few folders."""
        line = self.fontMetrics().lineSpacing()
        buttons = self.add.sizeHint().height() + self.remove.sizeHint().height() + line
        return QSize(line * 20, max(buttons, line * (_ROWS + 1)))

    def folders(self) -> str:
        """Return the folders, one a line."""
        return "\n".join(self.list.item(row).text() for row in range(self.list.count()))

    def set_folders(self, text: str) -> None:
        """Show the folders of a text, one a line."""
        self.list.clear()
        self.list.addItems(dict.fromkeys(line.strip() for line in text.splitlines() if line))
        self._fit()

    def _choose(self) -> None:
        found = QFileDialog.getExistingDirectory(self, self.tr("Allow the files of a folder"))
        if found:
            self.set_folders(f"{self.folders()}\n{found}")

    def _take_out(self) -> None:
        for item in self.list.selectedItems():
            self.list.takeItem(self.list.row(item))
        self._fit()

    def _fit(self) -> None:
        self.remove.setEnabled(bool(self.list.selectedItems()))
