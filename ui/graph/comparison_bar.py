# SPDX-License-Identifier: GPL-2.0-or-later
"""The bar over the canvas that tells how two versions differ, and takes parts of it back."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from qgis.PyQt.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ...plugin.workflow.difference import Part, PartKind, needed, parts, taken_back
from ..palette import Tone, frame, tint, tone_colour
from ..panel import Label, Panel
from .document import GraphDocument

_PART = int(Qt.ItemDataRole.UserRole)
_MOST_ROWS = 5
_MARKS = {
    PartKind.ADDED: ("+", Tone.DONE),
    PartKind.REMOVED: ("\u2212", Tone.FAILED),
    PartKind.CHANGED: ("~", Tone.RUNNING),
    PartKind.VARIABLE: ("~", Tone.RUNNING),
    PartKind.ANSWER: ("~", Tone.RUNNING),
}


class ComparisonBar(Panel):
    """Shows the comparison of a document; `step_shown` asks the canvas for a step."""

    step_shown = pyqtSignal(str)

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmComparisonBar")
        self._document = document
        self.text = Label(wrap=True)
        self.text.setObjectName("GeoOlmComparisonText")
        self.list = QListWidget()
        self.list.setObjectName("GeoOlmComparisonParts")
        self.list.setAccessibleName(self.tr("What differs"))
        self.list.setWordWrap(True)
        self.note = Label(faint=True, wrap=True)
        self.note.setObjectName("GeoOlmComparisonNote")
        self.take = self._button("TakeBack", self.tr("Take this back"))
        self.take_all = self._button("TakeAllBack", self.tr("Take all back"))
        self.end = self._button("EndComparison", self.tr("End the comparison"))
        self._build()
        self.list.currentItemChanged.connect(lambda now, old: self._choose())
        self.take.clicked.connect(self._take_back)
        self.take_all.clicked.connect(self._take_all_back)
        self.end.clicked.connect(lambda: document.compare(None))
        document.proposal_changed.connect(self._show)
        document.changed.connect(lambda old, new: self._show())
        self.setVisible(False)

    def restyle(self) -> None:
        """Set the margins and the height of the list."""
        pad = round(self.em * 0.6)
        self._row.setContentsMargins(pad, pad // 2, pad, pad // 2)
        rows = min(max(self.list.count(), 1), _MOST_ROWS)
        self.list.setFixedHeight(round(rows * 1.7 * self.em) + 2 * self.list.frameWidth() + 2)

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of the present comparison."""
        found = self._document.comparison
        return () if found is None else parts(found.before, found.after)

    def chosen(self) -> Part | None:
        """Return the part that is chosen in the list."""
        item = self.list.currentItem()
        return None if item is None else item.data(_PART)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlm{name}")
        return button

    def _build(self) -> None:
        words = QVBoxLayout()
        for one in (self.text, self.list, self.note):
            words.addWidget(one)
        buttons = QVBoxLayout()
        for one in (self.take, self.take_all, self.end):
            buttons.addWidget(one)
        buttons.addStretch(1)
        self._row = QHBoxLayout(self)
        self._row.addLayout(words, 1)
        self._row.addLayout(buttons)

    def _show(self) -> None:
        found = self._document.comparison
        was_hidden = self.isHidden()
        self.setVisible(found is not None)
        if found is None:
            return
        said = self.tr("From {0} to {1}").replace("{0}", found.before_name)
        self.text.setText(said.replace("{1}", found.after_name))
        row = self.list.currentRow()
        self.list.clear()
        for part in self.parts():
            mark, tone = _MARKS[part.kind]
            item = QListWidgetItem(f"{mark} {'; '.join(part.lines)}", self.list)
            item.setForeground(tone_colour(self.palette(), tone))
            item.setData(_PART, part)
        if not self.list.count():
            is_same = found.before == found.after
            said = self.tr("nothing differs.") if is_same else self.tr(
                "only names, notes or places differ.")  # fmt: skip
            self.text.setText(f"{self.text.text()}: {said}")
        self.list.setVisible(bool(self.list.count()))
        self.take.setVisible(found.is_live and bool(self.list.count()))
        self.take_all.setVisible(found.is_live and found.before != found.after)
        self.list.setCurrentRow(min(max(row, 0), self.list.count() - 1))
        self.restyle()
        self._choose()
        if was_hidden:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _choose(self) -> None:
        part, found = self.chosen(), self._document.comparison
        self.take.setEnabled(part is not None)
        with_it: list[str] = []
        if part is not None and found is not None and found.is_live:
            others = needed(found.before, found.after, (part,))
            with_it = [_name(one) for one in others if one != part]
        said = self.tr("Goes with {}.").replace("{}", ", ".join(with_it)) if with_it else ""
        self.note.setText(said)
        self.note.setVisible(bool(said))
        self.take.setToolTip(said)
        if part is not None and found is not None and found.shown.has(part.key):
            self.step_shown.emit(part.key)

    def _take_back(self) -> None:
        part, found = self.chosen(), self._document.comparison
        if part is not None and found is not None and found.is_live:
            text = self.tr("Take back: {}").replace("{}", part.lines[0])
            self._document.take_back(text, lambda now: taken_back(found.before, now, (part,)))

    def _take_all_back(self) -> None:
        """Show the earlier version as it was, names, places and notes too."""
        found = self._document.comparison
        if found is not None and found.is_live:
            text = self.tr("Go back to {}").replace("{}", found.before_name)
            self._document.take_back(text, lambda now: found.before)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """End with Esc; Enter on a part takes it back."""
        if event.key() == Qt.Key.Key_Escape:
            self._document.compare(None)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.list.hasFocus():
            self._take_back()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground in the colour of what is compared."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), tint(self.palette(), Tone.RUNNING))
        painter.setPen(QPen(frame(self.palette(), Tone.RUNNING), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


def _name(part: Part) -> str:
    return part.title or "; ".join(part.lines)
