# SPDX-License-Identifier: GPL-2.0-or-later
"""The bar over the canvas that says what a model proposes, with Accept and Reject."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtGui import QPainter, QPaintEvent, QPen
from qgis.PyQt.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from ...plugin.workflow.wording import words
from ..palette import Tone, frame, tint
from ..panel import Panel
from .document import GraphDocument

_LINES = 6


class ProposalBar(Panel):
    """Shows the proposal of a document, a line for each part."""

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmProposalBar")
        self._document = document
        self.text = QLabel()
        self.text.setObjectName("GeoOlmProposalText")
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.accept = QPushButton(self.tr("Accept"))
        self.accept.setObjectName("GeoOlmAcceptProposal")
        self.reject = QPushButton(self.tr("Reject"))
        self.reject.setObjectName("GeoOlmRejectProposal")
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.text, 1)
        self._row.addWidget(self.accept, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addWidget(self.reject, 0, Qt.AlignmentFlag.AlignTop)
        self.accept.clicked.connect(lambda: document.decide(True))
        self.reject.clicked.connect(lambda: document.decide(False))
        document.proposal_changed.connect(self._show)
        self.setVisible(False)

    def restyle(self) -> None:
        """Set the margins."""
        pad = round(self.em * 0.6)
        self._row.setContentsMargins(pad, pad // 2, pad, pad // 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground in the colour of what is under way."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), tint(self.palette(), Tone.RUNNING))
        painter.setPen(QPen(frame(self.palette(), Tone.RUNNING), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _show(self) -> None:
        change = self._document.proposal
        self.setVisible(change is not None)
        if change is None:
            return
        lines = list(words(self._document.graph, change))
        if len(lines) > _LINES:
            more = self.tr("and {} more").replace("{}", str(len(lines) - _LINES + 1))
            lines = [*lines[: _LINES - 1], more]
        said = change.reason or self.tr("Proposed change")
        self.text.setText("\n".join([said, *(f"• {one}" for one in lines)]))
        self.accept.setFocus(Qt.FocusReason.OtherFocusReason)
