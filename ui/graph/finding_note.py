# SPDX-License-Identifier: GPL-2.0-or-later
"""What the checks found, beside what it is about: the sentence, and the buttons that mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qgis.PyQt.QtCore import QRectF, QSize, Qt
from qgis.PyQt.QtGui import QIcon, QPainter, QPalette, QPixmap
from qgis.PyQt.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ...plugin.workflow.finding import Finding
from ..palette import em
from ..panel import Label, Panel
from ..state_shape import Shape, paint_shape
from .card import CHECKS, title
from .document import GraphDocument

OBJECTIVE = "objective"
_ABOUT_OBJECTIVE = (OBJECTIVE, "abstract", "return")
_WORD = re.compile(r"(?<![\w\"])[A-Za-z_]\w*(?![\w\"])")


def place_of(finding: Finding) -> str:
    """Return where in the inspector a finding stands: a parameter, "objective", or "" for the step
    as a whole."""
    return finding.parameter or (OBJECTIVE if finding.code in _ABOUT_OBJECTIVE else "")


def words_of(document: GraphDocument, text: str) -> str:
    """Return a sentence of the checks with steps by what they are called."""
    graph = document.graph

    def name(found: re.Match[str]) -> str:
        key = found.group()
        return title(document, graph.vertex(key)) if graph.has(key) else key

    return _WORD.sub(name, text)


def shape_icon(shape: Shape, side: int, palette: QPalette) -> QIcon:
    """Return the mark of a check as an icon."""
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    paint_shape(painter, QRectF(0, 0, side, side), shape, palette)
    painter.end()
    return QIcon(picture)


def mend_buttons(document: GraphDocument, finding: Finding) -> list[QPushButton]:
    """Return the buttons that mend a finding."""
    found = []
    for mend in finding.mends:
        label = words_of(document, mend.label)
        button = QPushButton(label)
        button.setObjectName("GeoOlmMend")
        button.setToolTip(label)
        button.clicked.connect(lambda _on=False, one=mend: document.mend(one))
        found.append(button)
    return found


class FindingNote(Panel):
    """Findings as lines with their marks and mends; hidden while there are none."""

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmFindingNote")
        self._document = document
        self._shown: tuple[Finding, ...] = ()
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(2)
        self.setVisible(False)

    def put(self, findings: Iterable[Finding]) -> None:
        """Show findings."""
        found = tuple(findings)
        if found == self._shown:
            return
        self._shown = found
        while self._lines.count():
            old = self._lines.takeAt(0).widget()
            old.hide()
            old.deleteLater()
        for one in found:
            self._lines.addWidget(self._line(one))
        self.setVisible(bool(found))

    def _line(self, finding: Finding) -> QWidget:
        body = Panel()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        line = QHBoxLayout()
        side = round(em(self))
        mark = QLabel()
        icon = shape_icon(CHECKS[finding.severity], side, self.palette())
        mark.setPixmap(icon.pixmap(QSize(side, side)))
        mark.setAccessibleName(finding.severity.value)
        text = words_of(self._document, finding.message).replace("EPSG:", "EPSG:\u2060")
        said = Label(text, scale=0.92, wrap=True)
        said.setObjectName("GeoOlmFinding")
        line.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(said, 1)
        column.addLayout(line)
        row = QHBoxLayout()
        row.setContentsMargins(side + 4, 0, 0, 0)
        for button in mend_buttons(self._document, finding):
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        return body
