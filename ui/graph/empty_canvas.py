# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands on the canvas while there is no step, with a way to the templates."""

from __future__ import annotations

from qgis.PyQt.QtCore import QEvent, QObject, Qt, pyqtSignal
from qgis.PyQt.QtWidgets import QAbstractScrollArea, QPushButton, QVBoxLayout

from ..panel import Label, Panel
from .document import GraphDocument

_WIDE = 24


class EmptyCanvas(Panel):
    """Stands in the middle of a view while its document is empty."""

    templates_requested = pyqtSignal()

    def __init__(self, document: GraphDocument, view: QAbstractScrollArea) -> None:
        super().__init__(view.viewport())
        self.setObjectName("GeoOlmEmptyCanvas")
        self._document, self._view = document, view
        self.text = Label(
            self.tr("No plan yet. Ask with Plan first, drag a tool here, or open a template."),
            faint=True, wrap=True,
        )  # fmt: skip
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button = QPushButton(self.tr("Open a template…"))
        self.button.setObjectName("GeoOlmOpenTemplate")
        lines = QVBoxLayout(self)
        lines.addWidget(self.text)
        lines.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.button.clicked.connect(self.templates_requested)
        view.viewport().installEventFilter(self)
        document.changed.connect(lambda old, new: self._show())
        document.proposal_changed.connect(self._show)
        self._show()

    def restyle(self) -> None:
        """Take the middle of the view."""
        room = self._view.viewport().rect()
        width = min(_WIDE * self.em, room.width())
        height = max(self.heightForWidth(width), self.minimumSizeHint().height())
        self.setGeometry(0, 0, width, height)
        self.move(room.center() - self.rect().center())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the middle."""
        if event.type() == QEvent.Type.Resize:
            self.restyle()
        return False

    def _show(self) -> None:
        graph = self._document.shown
        placed = any(one.position is not None for one in graph.sources)
        self.setVisible(not (graph.vertices or graph.notes or placed))
