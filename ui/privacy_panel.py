# SPDX-License-Identifier: GPL-2.0-or-later
"""Privacy on the options page: the offline lock, the hosts that are allowed, what was sent."""

from __future__ import annotations

from qgis.PyQt.QtCore import QSize, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QVBoxLayout,
)

from .check_box import CheckBox
from .panel import Label, Panel

_ROWS = 2


class HostList(QListWidget):
    """A short list, two rows high."""

    def sizeHint(self) -> QSize:
        """Return room for two hosts."""
        return QSize(super().sizeHint().width(), self.fontMetrics().lineSpacing() * (_ROWS + 1))


class PrivacyPanel(Panel):
    """Offline, and the hosts to which the user lets questions go."""

    sent_requested = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("GeoOlmPrivacy")
        text = self.tr("Offline: refuse every address but this machine")
        self.offline = CheckBox("GeoOlmOptionsOffline", text)
        self.heading = Label(self.tr("Questions may go to these hosts, which you allowed:"))
        self.list = HostList()
        self.list.setObjectName("GeoOlmOptionsHosts")
        self.list.setAccessibleName(self.tr("Hosts that are allowed"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.itemSelectionChanged.connect(self._fit)
        self.take_back = self._button("TakeBack", self.tr("Take back"))
        self.take_back.clicked.connect(self._take_back)
        self.sent = self._button("Sent", self.tr("What was sent…"))
        self.sent.clicked.connect(lambda: self.sent_requested.emit())
        self.note = Label(faint=True, wrap=True)
        self.note.setObjectName("GeoOlmSentNote")
        self._hosts, self._foot = QHBoxLayout(), QHBoxLayout()
        self._hosts.addWidget(self.list, 1)
        self._hosts.addWidget(self.take_back)
        self._foot.addWidget(self.sent)
        self._foot.addWidget(self.note, 1)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.offline)
        self._column.addWidget(self.heading)
        self._column.addLayout(self._hosts)
        self._column.addLayout(self._foot)
        self._fit()

    def restyle(self) -> None:
        """Set the margins."""
        self._column.setContentsMargins(0, 0, 0, 0)
        for row in (self._column, self._hosts, self._foot):
            row.setSpacing(round(self.em * 0.5))

    def hosts(self) -> str:
        """Return the allowed hosts, one a line."""
        return "\n".join(self.list.item(row).text() for row in range(self.list.count()))

    def set_hosts(self, lines: str) -> None:
        """Show the allowed hosts of a setting."""
        self.list.clear()
        self.list.addItems(dict.fromkeys(lines.replace(",", " ").split()))
        self._fit()

    def allow(self, host: str) -> None:
        """Add a host."""
        self.set_hosts(f"{self.hosts()}\n{host}")

    def _take_back(self) -> None:
        for item in self.list.selectedItems():
            self.list.takeItem(self.list.row(item))
        self._fit()

    def _fit(self) -> None:
        some = self.list.count() > 0
        for widget in (self.heading, self.list, self.take_back):
            widget.setVisible(some)
        self.take_back.setEnabled(bool(self.list.selectedItems()))

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmPrivacy{name}")
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        return button
