# SPDX-License-Identifier: GPL-2.0-or-later
"""The bar over the canvas that says what a model proposes, to accept or reject by part or whole."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QObject, Qt, pyqtSignal
from qgis.PyQt.QtGui import QPainter, QPaintEvent, QPen
from qgis.PyQt.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ...plugin.workflow.change import Change
from ...plugin.workflow.deciding import goes_with, parts_of
from ...plugin.workflow.difference import Part
from ...plugin.workflow.wording import words
from ..palette import Tone, frame, tint
from ..panel import Panel
from .document import GraphDocument

_PART = Qt.ItemDataRole.UserRole
_MOST_ROWS = 5


class ProposalBar(Panel):
    """Shows the proposal of a document, a row for each part; `step_shown` asks the canvas for its
    step. Y and N in the list accept and reject the chosen part."""

    step_shown = pyqtSignal(str)

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmProposalBar")
        self._document = document
        self.text = QLabel()
        self.text.setObjectName("GeoOlmProposalText")
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.list = QListWidget()
        self.list.setObjectName("GeoOlmProposalParts")
        self.list.setAccessibleName(self.tr("Proposed changes"))
        self.accept = self._button("AcceptProposal", self.tr("Accept all"))
        self.accept.setToolTip(self.tr("Accepting is one step of undo"))
        self.reject = self._button("RejectProposal", self.tr("Reject all"))
        self.accept_part = self._button("AcceptPart", self.tr("Accept this"))
        self.reject_part = self._button("RejectPart", self.tr("Reject this"))
        self.list.installEventFilter(self)
        self._build()
        self.accept.clicked.connect(lambda: document.decide(True))
        self.reject.clicked.connect(lambda: document.decide(False))
        self.accept_part.clicked.connect(lambda: self._decide(True))
        self.reject_part.clicked.connect(lambda: self._decide(False))
        self.list.currentItemChanged.connect(lambda now, old: self._choose())
        document.proposal_changed.connect(self._show)
        self.setVisible(False)

    def restyle(self) -> None:
        """Set the margins and the height of the list."""
        pad = round(self.em * 0.6)
        self._row.setContentsMargins(pad, pad // 2, pad, pad // 2)
        rows = min(max(self.list.count(), 1), _MOST_ROWS)
        self.list.setFixedHeight(round(rows * 1.7 * self.em) + 2 * self.list.frameWidth() + 2)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take Y and N of the list for the chosen part, before it searches for them."""
        if event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride):
            key = event.key()
            if key in (Qt.Key.Key_Y, Qt.Key.Key_N):
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    self._decide(key == Qt.Key.Key_Y)
                return True
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground in the colour of what is under way."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), tint(self.palette(), Tone.RUNNING))
        painter.setPen(QPen(frame(self.palette(), Tone.RUNNING), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlm{name}")
        button.setAutoDefault(False)
        return button

    def _build(self) -> None:
        lines = QVBoxLayout()
        lines.addWidget(self.text)
        lines.addWidget(self.list)
        wholes, parts = QVBoxLayout(), QVBoxLayout()
        for column, pair in ((parts, (self.accept_part, self.reject_part)),
                             (wholes, (self.accept, self.reject))):  # fmt: skip
            for one in pair:
                column.addWidget(one)
            column.addStretch(1)
        self._row = QHBoxLayout(self)
        self._row.addLayout(lines, 1)
        self._row.addLayout(parts)
        self._row.addLayout(wholes)

    def _show(self) -> None:
        change = self._document.proposal
        self.setVisible(change is not None)
        if change is None:
            return
        listed = parts_of(self._document.graph, change)
        self._tell(change, len(listed) > 1)
        row = max(self.list.currentRow(), 0)
        self.list.clear()
        for part in listed:
            item = QListWidgetItem("; ".join(part.lines), self.list)
            item.setData(_PART, part)
        is_many = self.list.count() > 1
        for one in (self.list, self.accept_part, self.reject_part):
            one.setVisible(is_many)
        self.accept.setText(self.tr("Accept all") if is_many else self.tr("Accept"))
        self.reject.setText(self.tr("Reject all") if is_many else self.tr("Reject"))
        self.list.setCurrentRow(min(row, self.list.count() - 1))
        self.restyle()
        (self.list if is_many else self.accept).setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell(self, change: Change, is_many: bool) -> None:
        """Say why, and what, where no list says it."""
        lines = [] if is_many else words(self._document.graph, change)
        said = change.reason or self.tr("Proposed change")
        self.text.setText("\n".join([said, *(f"• {one}" for one in lines)]))

    def _choose(self) -> None:
        """Show the step of the chosen part, and say what goes with it."""
        item, change = self.list.currentItem(), self._document.proposal
        if item is None or change is None:
            return
        part: Part = item.data(_PART)
        others = goes_with(self._document.graph, change, part)
        named = ", ".join(one.title or "; ".join(one.lines) for one in others)
        said = self.tr("Goes with {}.").replace("{}", named) if named else ""
        self.accept_part.setToolTip(said)
        if self.list.count() > 1 and self._document.shown.has(part.key):
            self.step_shown.emit(part.key)

    def _decide(self, accepts: bool) -> None:
        item = self.list.currentItem()
        if item is not None:
            self._document.decide_part(item.data(_PART), accepts)
