# SPDX-License-Identifier: GPL-2.0-or-later
"""A layout that puts widgets side by side and goes on in the next row where the width ends."""

from __future__ import annotations

from qgis.PyQt.QtCore import QPoint, QRect, QSize, Qt
from qgis.PyQt.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Items in rows; the height follows from the width. Mirrors with the layout direction."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        """Add an item at the end."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item, or None past the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item, or None past the end."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        """Tell that the height follows from the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows at a width."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, box: QRect) -> None:
        """Put the items into the box."""
        super().setGeometry(box)
        self._place(box, move=True)

    def sizeHint(self) -> QSize:
        """Return the least size."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Return the size of the largest item."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, box: QRect, move: bool) -> int:
        x, y, height, gap = 0, 0, 0, max(0, self.spacing())
        for item in self._items:
            hint = item.sizeHint()
            width = min(hint.width(), box.width())
            if x and x + width > box.width():
                x, y, height = 0, y + height + gap, 0
            if move:
                mirrored = self.parentWidget().layoutDirection() == Qt.LayoutDirection.RightToLeft
                left = box.right() + 1 - x - width if mirrored else box.x() + x
                item.setGeometry(QRect(QPoint(left, box.y() + y), QSize(width, hint.height())))
            x, height = x + width + gap, max(height, hint.height())
        return y + height
