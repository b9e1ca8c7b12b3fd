# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands under an answer: the files it wrote, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qgis.PyQt.QtCore import QUrl
from qgis.PyQt.QtGui import QDesktopServices, QGuiApplication
from qgis.PyQt.QtWidgets import QHBoxLayout, QVBoxLayout

from ..plugin.agent.event import RunFinished, Status
from ..plugin.workflow.graph import Graph
from .flow_layout import FlowLayout
from .icon import own_icon, theme_icon
from .number import number, plain_button, plain_tip
from .outlet import Outlet
from .palette import muted
from .panel import Label, LinkButton, Panel


class AnswerRow(Panel):
    """What can be done with an answer, and what it took."""

    def __init__(
        self, outlet: Outlet, question: str, event: RunFinished, graph: Graph | None = None
    ) -> None:
        """`graph` is the workflow that answered, if one did."""
        super().__init__()
        self._row = QHBoxLayout(self)
        self._buttons = FlowLayout()
        self._row.addLayout(self._buttons, 1)
        if event.status in (Status.OK, Status.REJECTED):
            self._add("GeoOlmCopyAnswer", self.tr("Copy"), "mActionEditCopy", self._copy)
            if graph is not None:
                show = self.tr("Open as workflow")
                self._add("GeoOlmOpenWorkflow", show, "processingModel", self._open)
                save = self.tr("Save as workflow…")
                self._add("GeoOlmSaveWorkflow", save, "mActionFileSave", self._save)
            ask = self.tr("Ask again")
            self._add("GeoOlmAskAgain", ask, "mActionReload", self._ask_again)
        emit = outlet.undo_requested.emit
        self.undo = self._add("GeoOlmUndo", self.tr("Undo"), "mActionUndo", emit)
        self.undo.setToolTip(self.tr("Remove what this question made and restore the rest"))
        self.undo.setVisible(False)
        used = event.usage
        tokens = Label(
            self.tr("{0} tokens").format(number(used.prompt + used.generated)),
            faint=True,
            scale=0.92,
        )
        tokens.setObjectName("GeoOlmTokens")
        lines = (
            self.tr("{0} read, {1} of them from the cache").format(
                number(used.prompt), number(used.cached)
            ),
            self.tr("{0} written").format(number(used.generated)),
        )
        tokens.setToolTip(plain_tip("\n".join(lines)))
        tokens.setVisible(used.prompt + used.generated > 0)
        self._row.addWidget(tokens)
        self._outlet, self._question, self._answer = outlet, question, event.answer
        self._graph = graph

    def restyle(self) -> None:
        """Set the spacing."""
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(round(self.em * 0.25))

    def _add(self, name: str, text: str, icon: str, slot: Callable[[], None]) -> LinkButton:
        button = LinkButton(name, text)
        button.setIcon(theme_icon(icon))
        button.clicked.connect(lambda: slot())
        self._buttons.addWidget(button)
        return button

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._answer)

    def _open(self) -> None:
        self._outlet.workflow_open_requested.emit(self._graph)

    def _save(self) -> None:
        self._outlet.workflow_keep_requested.emit(self._graph)

    def _ask_again(self) -> None:
        self._outlet.question_chosen.emit(self._question)


class FileList(Panel):
    """The files that an answer wrote; a click opens the folder of one."""

    def __init__(self, files: tuple[str, ...]) -> None:
        super().__init__()
        self.setObjectName("GeoOlmFiles")
        self._column = QVBoxLayout(self)
        self._column.addWidget(Label(self.tr("Files written"), faint=True, scale=0.92))
        for file in files:
            button = LinkButton("GeoOlmResultFile", plain_button(Path(file).name))
            button.setToolTip(plain_tip(file))
            button.clicked.connect(self._opener(str(Path(file).parent)))
            self._column.addWidget(button)

    def restyle(self) -> None:
        """Set the spacing, and the icons in the palette's colour."""
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(round(self.em * 0.25))
        icon = own_icon("file", muted(self.palette()))
        for button in self.findChildren(LinkButton):
            button.setIcon(icon)

    def _opener(self, folder: str) -> Callable[[], None]:
        return lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder))
