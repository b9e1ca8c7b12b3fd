# SPDX-License-Identifier: GPL-2.0-or-later
"""Models on the options page: download one, pull one through Ollama, how far it is, cancel."""

from __future__ import annotations

from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from .fetch_view import FetchView
from .outlet import Outlet
from .panel import ElidedLabel, Label, Panel
from .state_shape import Shape, StateMark
from .thin_bar import ThinBar

SOURCE_LINES = 2


class FetchPanel(Panel):
    """Download and Pull act at once and go on when the page closes; the sources are a setting."""

    download_requested = pyqtSignal(str, str)
    pull_requested = pyqtSignal(str)
    cancel_requested = pyqtSignal()

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self.setObjectName("GeoOlmFetch")
        self._offers: tuple[str, ...] = ()
        self.models = QComboBox()
        self.models.setObjectName("GeoOlmFetchModels")
        self.models.setAccessibleName(self.tr("Model to download"))
        self.models.setMinimumContentsLength(12)
        self.download = self._button("Download", self.tr("Download"))
        self.name = QLineEdit()
        self.name.setObjectName("GeoOlmFetchName")
        self.name.setAccessibleName(self.tr("Model to pull"))
        self.name.setPlaceholderText(self.tr("A model of Ollama's library, such as qwen3:4b"))
        self.pull = self._button("Pull", self.tr("Pull"))
        self.sources = QPlainTextEdit()
        self.sources.setObjectName("GeoOlmOptionsDownloadSources")
        self.sources.setAccessibleName(self.tr("Sources of models"))
        self.sources.setPlaceholderText(self.tr("The package index that pip is set to"))
        self.sources.setToolTip(
            self.tr(
                "Folders or addresses that hold model files, one a line; they are tried first. The "
                "llama.cpp server is looked for there too."
            )
        )
        self.sources.setTabChangesFocus(True)
        self.mark = StateMark(outlet.clock, Shape.IDLE)
        self.text = Label(wrap=True)
        self.text.setObjectName("GeoOlmFetchText")
        self.bar = ThinBar(outlet)
        self.bar.setObjectName("GeoOlmFetchBar")
        self.line = ElidedLabel(faint=True, scale=0.92)
        self.line.setObjectName("GeoOlmFetchLine")
        self.cancel = self._button("Cancel", self.tr("Cancel"))
        self._lay_out()
        self._connect()
        self.show_view(FetchView())

    def restyle(self) -> None:
        """Set margins, and the height of the sources."""
        for row in self._rows:
            row.setSpacing(round(self.em * 0.5))
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(round(self.em * 0.5))
        self.sources.setFixedHeight(round(self.em * 1.4 * SOURCE_LINES + self.em * 0.9))

    def show_view(self, view: FetchView) -> None:
        """Show the models on offer, a running download or pull, or how the last one ended."""
        self._fill(view)
        shape = Shape.DONE
        if view.busy:
            shape = Shape.RUNNING
        elif view.error:
            shape = Shape.STOPPED if view.stopped else Shape.FAILED
        text = view.error or view.ended
        if view.busy:
            text = self.tr("Bringing {0}").format(view.name)
        self.mark.set_shape(shape)
        self.text.setText(text)
        self.setAccessibleName(text)
        self.mark.setVisible(bool(text))
        self.text.setVisible(bool(text))
        for widget in (self.bar, self.line, self.cancel):
            widget.setVisible(view.busy)
        self.line.setText(view.line)
        self.bar.setRange(0, 100 if view.percent >= 0 else 0)
        self.bar.setValue(round(max(0.0, view.percent)))
        chosen = self.models.currentIndex()
        there = 0 <= chosen < len(view.offers) and view.offers[chosen].present
        self.download.setText(self.tr("Is here") if there else self.tr("Download"))
        self.download.setEnabled(not view.busy and bool(view.offers) and not there)
        self.models.setEnabled(not view.busy)
        self._can_pull = view.can_pull and not view.busy
        self._show_pull()

    def _fill(self, view: FetchView) -> None:
        """Fill the list of models, and keep the one that is chosen."""
        self._view = view
        words = tuple(offer.words for offer in view.offers)
        if words == self._offers:
            return
        self._offers = words
        chosen = self.models.currentText()
        self.models.blockSignals(True)
        self.models.clear()
        for offer in view.offers:
            self.models.addItem(offer.words, offer.name)
        self.models.setCurrentIndex(max(0, self.models.findText(chosen)))
        self.models.blockSignals(False)

    def _show_pull(self) -> None:
        """Let a model be pulled where an Ollama answers and a name is typed."""
        self.pull.setEnabled(self._can_pull and bool(self.name.text().strip()))
        tip = "" if self._view.can_pull else self.tr("No Ollama answers on this machine.")
        self.pull.setToolTip(tip)

    def _lay_out(self) -> None:
        self._column = QVBoxLayout(self)
        self._rows = []
        self._add_row(self.models, self.download)
        self._add_row(self.name, self.pull)
        self._add_row(Label(self.tr("Sources")), self.sources)
        self._add_row(self.mark, self.text, self.cancel)
        self._column.addWidget(self.bar)
        self._column.addWidget(self.line)

    def _add_row(self, *widgets: QWidget) -> None:
        """Add a row in which the widest widget takes the room."""
        row = QHBoxLayout()
        wide = (self.models, self.name, self.sources, self.text)
        for widget in widgets:
            row.addWidget(widget, 1 if widget in wide else 0)
        self._rows.append(row)
        self._column.addLayout(row)

    def _connect(self) -> None:
        self.download.clicked.connect(self._ask_download)
        self.pull.clicked.connect(self._ask_pull)
        self.name.returnPressed.connect(self._ask_pull)
        self.name.textChanged.connect(lambda _text: self._show_pull())
        self.models.currentIndexChanged.connect(lambda _at: self.show_view(self._view))
        self.cancel.clicked.connect(lambda: self.cancel_requested.emit())

    def _ask_download(self) -> None:
        self.download_requested.emit(self.models.currentData(), self.sources.toPlainText())

    def _ask_pull(self) -> None:
        if self.pull.isEnabled():
            self.pull_requested.emit(self.name.text().strip())

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmFetch{name}")
        button.setAccessibleName(f"{text} {self.tr('a model')}")
        button.setAutoDefault(False)
        return button
