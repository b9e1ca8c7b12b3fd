# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of what the checks found, each with the step, one sentence and what mends it."""

from __future__ import annotations

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from ...plugin.workflow.finding import Finding
from ..palette import em
from .card import CHECKS, title
from .document import GraphDocument
from .finding_note import mend_buttons, place_of, shape_icon, words_of

_ROLE = int(Qt.ItemDataRole.UserRole)
_PARAMETER = _ROLE + 1


class ProblemList(QWidget):
    """The findings of a document; `step_shown` asks the canvas for a step, `parameter_shown` the
    inspector for the parameter of it, or for "objective"."""

    step_shown = pyqtSignal(str)
    parameter_shown = pyqtSignal(str)
    counted = pyqtSignal(int)

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmProblems")
        self._document = document
        self.tree = QTreeWidget()
        self.tree.setObjectName("GeoOlmProblemTree")
        self.tree.setAccessibleName(self.tr("Problems"))
        self.tree.setRootIsDecorated(False)
        self.tree.setHeaderLabels([self.tr("Step"), self.tr("What is wrong"), self.tr("Mend")])
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self._none = QLabel(self.tr("No problems found."))
        self._none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self._none)
        self._pages.addWidget(self.tree)
        self.tree.itemClicked.connect(lambda item, _column: self._show(item))
        self.tree.itemActivated.connect(lambda item, _column: self._show(item))
        document.findings_changed.connect(self.fill)
        self.fill()

    def fill(self) -> None:
        """Show the findings, the worst first."""
        findings = self._document.findings
        self.tree.clear()
        for finding in findings:
            self._add(finding)
        for column in (0, 2):
            self.tree.resizeColumnToContents(column)
        self._pages.setCurrentWidget(self.tree if findings else self._none)
        self.counted.emit(len(findings))

    def _add(self, finding: Finding) -> None:
        graph = self._document.graph
        known = finding.vertex and graph.has(finding.vertex)
        name = title(self._document, graph.vertex(finding.vertex)) if known else ""
        said = words_of(self._document, finding.message)
        item = QTreeWidgetItem(self.tree, [name or self.tr("Workflow"), said])
        item.setData(0, _ROLE, finding.vertex)
        item.setData(0, _PARAMETER, place_of(finding))
        side = round(em(self) * 1.1)
        item.setIcon(0, shape_icon(CHECKS[finding.severity], side, self.palette()))
        item.setToolTip(1, said)
        if not finding.mends:
            return
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(2, 0, 2, 0)
        for button in mend_buttons(self._document, finding):
            row.addWidget(button)
        self.tree.setItemWidget(item, 2, buttons)

    def _show(self, item: QTreeWidgetItem) -> None:
        key = item.data(0, _ROLE)
        if key:
            self.step_shown.emit(key)
            if item.data(0, _PARAMETER):
                self.parameter_shown.emit(item.data(0, _PARAMETER))
