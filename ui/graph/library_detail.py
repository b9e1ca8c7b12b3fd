# SPDX-License-Identifier: GPL-2.0-or-later
"""What the library tells of the chosen workflow: its steps, variables and earlier versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ..panel import Label, Panel
from .card import title
from .document import GraphDocument
from .library_entry import EarlierVersion, Entry

_VERSION = int(Qt.ItemDataRole.UserRole)


class LibraryDetail(Panel):
    """Tells of one entry. `version_opened` and `version_restored` carry an EarlierVersion,
    `compared` one version (with the canvas) or two."""

    version_opened = pyqtSignal(object)
    version_restored = pyqtSignal(object)
    compared = pyqtSignal(object)

    def __init__(self, known: GraphDocument, parent: QWidget | None = None) -> None:
        """`known` is the document whose tools and agents give steps their names."""
        super().__init__(parent)
        self.setObjectName("GeoOlmLibraryDetail")
        self._known = known
        self.name = Label(bold=True, wrap=True)
        self.about = Label(wrap=True)
        self.steps = Label(wrap=True, scale=0.92, faint=True)
        self.variables = Label(wrap=True, scale=0.92, faint=True)
        for label, name in ((self.name, "Title"), (self.about, "About"), (self.steps, "Steps"),
                            (self.variables, "Slots")):  # fmt: skip
            label.setObjectName(f"GeoOlmLibrary{name}")
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.versions = QListWidget()
        self.versions.setObjectName("GeoOlmVersions")
        self.versions.setAccessibleName(self.tr("Earlier versions"))
        self.versions.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.versions.setWordWrap(True)
        self.versions.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.heading = Label(self.tr("Earlier versions"), bold=True)
        self.open = self._button("Open", self.tr("Open"))
        self.restore = self._button("Restore", self.tr("Make it the present one"))
        self.compare = self._button("Compare", self.tr("Compare with the canvas"))
        self._build()
        self.versions.itemSelectionChanged.connect(self._enable)
        self.versions.itemActivated.connect(lambda _item: self._tell(self.version_opened))
        self.open.clicked.connect(lambda: self._tell(self.version_opened))
        self.restore.clicked.connect(lambda: self._tell(self.version_restored))
        self.compare.clicked.connect(lambda: self.compared.emit(tuple(self.chosen())))
        self.show_entry(None)

    def restyle(self) -> None:
        """Set the margins."""
        pad = round(self.em * 0.5)
        self._lines.setContentsMargins(pad, 0, 0, 0)
        self._lines.setSpacing(pad)

    def show_entry(self, entry: Entry | None, versions: Sequence[EarlierVersion] = ()) -> None:
        """Tell of an entry; None tells that none is chosen."""
        self.name.setText(entry.name if entry else self.tr("Choose a workflow to see its steps."))
        graph = entry.graph if entry else None
        said = entry.fault or "\n".join(filter(None, (entry.about, entry.remark))) if entry else ""
        self.about.setText(said)
        self.about.setVisible(bool(said))
        steps, slots = [], []
        if graph is not None:
            steps = [f"{at + 1}. {title(self._known, one)}" for at, one in
                     enumerate(graph.vertices)]  # fmt: skip
            slots = [f"{one.label or one.name} ({one.name})" for one in graph.variables]
        self.steps.setText("\n".join(steps))
        self.steps.setVisible(bool(steps))
        self.variables.setText(self.tr("You set: {}").replace("{}", ", ".join(slots)))
        self.variables.setVisible(bool(slots))
        self._fill(versions)

    def chosen(self) -> list[EarlierVersion]:
        """Return the versions that are chosen, the earlier one first."""
        found = [one.data(_VERSION) for one in self.versions.selectedItems()]
        return sorted(found, key=lambda one: one.key)  # whose name is the time, to the microsecond

    def _build(self) -> None:
        body = QWidget()
        texts = QVBoxLayout(body)
        texts.setContentsMargins(0, 0, 0, 0)
        for one in (self.about, self.steps, self.variables):
            texts.addWidget(one)
        texts.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidget(body)
        body.setAutoFillBackground(False)  # which setWidget turns on
        area.viewport().setAutoFillBackground(False)
        buttons = QHBoxLayout()
        for button in (self.open, self.restore):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self._lines = QVBoxLayout(self)
        self._lines.addWidget(self.name)
        self._lines.addWidget(area, 2)
        self._lines.addWidget(self.heading)
        self._lines.addWidget(self.versions, 1)
        self._lines.addLayout(buttons)
        self._lines.addWidget(self.compare, 0, Qt.AlignmentFlag.AlignLeft)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmVersion{name}")
        button.setAutoDefault(False)
        return button

    def _fill(self, versions: Sequence[EarlierVersion]) -> None:
        self.versions.clear()
        for one in versions:
            item = QListWidgetItem(f"{one.time}\n{one.summary}", self.versions)
            item.setData(_VERSION, one)
            item.setToolTip(one.summary)
        for one in (self.heading, self.versions, self.open, self.restore, self.compare):
            one.setVisible(bool(versions))
        self._enable()

    def _enable(self) -> None:
        chosen = self.chosen()
        readable = all(one.graph is not None for one in chosen)
        self.open.setEnabled(len(chosen) == 1 and readable)
        self.restore.setEnabled(len(chosen) == 1 and readable)
        self.compare.setEnabled(len(chosen) in (1, 2) and readable)
        two = len(chosen) == 2
        self.compare.setText(
            self.tr("Compare the two") if two else self.tr("Compare with the canvas")
        )

    def _tell(self, signal: Any) -> None:
        chosen = self.chosen()
        if len(chosen) == 1 and chosen[0].graph is not None:
            signal.emit(chosen[0])
