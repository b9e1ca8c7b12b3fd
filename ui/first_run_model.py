# SPDX-License-Identifier: GPL-2.0-or-later
"""The first page of the first steps: which model answers, found, downloaded, a file or a server."""

from __future__ import annotations

from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import QComboBox, QPushButton, QVBoxLayout, QWidget

from .fetch_view import FetchView
from .first_run_choice import ChoiceCard
from .model_view import Action, ModelCondition, ModelView
from .outlet import Outlet
from .panel import Label, Panel
from .thin_bar import ThinBar


class ModelPage(Panel):
    """Four cards, one of them chosen; the first model that works is chosen from the start.

    `model_chosen` carries the name of a found model, `action_chosen` an Action of a button.
    """

    model_chosen = pyqtSignal(str)
    action_chosen = pyqtSignal(object)

    def __init__(self, outlet: Outlet) -> None:
        super().__init__()
        self._touched = False
        self.models = QComboBox()
        self.models.setObjectName("GeoOlmFirstModels")
        self.models.setAccessibleName(self.tr("Model"))
        self.models.activated.connect(lambda at: self.model_chosen.emit(self.models.itemText(at)))
        self.bar = ThinBar(outlet)
        self.bar.setObjectName("GeoOlmFirstBar")
        self.line = Label(faint=True, scale=0.92, wrap=True)
        self.line.setObjectName("GeoOlmFirstLine")
        self.download = self._button(Action.DOWNLOAD, self.tr("Download"))
        self.cancel = self._button(Action.CANCEL_DOWNLOAD, self.tr("Cancel"))
        self.cards = self._cards()
        self._column = QVBoxLayout(self)
        for card in self.cards.values():
            self._column.addWidget(card)
            card.chosen.connect(lambda chosen=card: self._choose(chosen))
        self._column.addStretch(1)
        self.set_model(ModelView())
        self.set_fetch(FetchView())

    def restyle(self) -> None:
        """Set the gaps."""
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(round(self.em * 0.75))

    def set_model(self, view: ModelView) -> None:
        """Show what answers; it is chosen unless the user chose another way already."""
        found = self.cards["found"]
        missing = (ModelCondition.NONE, ModelCondition.UNREACHABLE)
        ready = view.condition not in missing and not view.consent
        found.setEnabled(ready)
        text = self.tr("Nothing answers yet. Choose another way.")
        if ready:
            stays = self.tr("{0} answers. Questions stay on this machine.")
            goes = self.tr("{0} answers. Questions leave this machine.")
            text = (stays if view.local else goes).format(view.server or view.name)
        found.text.setText(text)
        self.models.clear()
        self.models.addItems(list(view.models) or ([view.name] if view.name else []))
        self.models.setCurrentText(view.name)
        if not self._touched:
            self._mark("found" if ready else "download")

    def set_fetch(self, view: FetchView) -> None:
        """Show what can be downloaded, and how far a download is."""
        card = self.cards["download"]
        offers = [one for one in view.offers if not one.present]
        card.setEnabled(view.busy or bool(offers))
        if offers:
            card.text.setText(offers[0].words)
        self.bar.setVisible(view.busy)
        self.bar.setRange(0, 100 if view.percent >= 0 else 0)
        self.bar.setValue(round(max(0.0, view.percent)))
        self.line.setText(view.line if view.busy else view.error or view.ended)
        self.line.setVisible(bool(self.line.text()))
        self.download.setVisible(not view.busy)
        self.cancel.setVisible(view.busy)

    def _cards(self) -> dict[str, ChoiceCard]:
        file = self._button(Action.MODEL_FILE, self.tr("Choose the file…"))
        server = self._button(Action.OPTIONS, self.tr("Connect…"))
        rows = (
            ("found", "geo_olm", self.tr("A model that is here"), "", (self.models,)),
            (
                "download",
                "download",
                self.tr("Download a small model"),
                self.tr("No graphics card needed."),
                (self.bar, self.line, self.download, self.cancel),
            ),
            (
                "file",
                "file",
                self.tr("A model file"),
                self.tr("Any GGUF file that you have, for a machine without network."),
                (file,),
            ),
            (
                "server",
                "server",
                self.tr("Another server"),
                self.tr("LM Studio, vLLM, llama.cpp or a hosted one. Asks before data leave."),
                (server,),
            ),
        )
        return {
            name: ChoiceCard(name, icon, title, text, _Body(widgets))
            for name, icon, title, text, widgets in rows
        }

    def _button(self, action: Action, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"GeoOlmFirst_{action.value}")
        button.setAutoDefault(False)
        button.clicked.connect(lambda _on=False: self.action_chosen.emit(action))
        return button

    def _choose(self, card: ChoiceCard) -> None:
        self._touched = True
        for other in self.cards.values():
            if other is not card:
                other.radio.setChecked(False)

    def _mark(self, name: str) -> None:
        """Choose a card for the user, who may still choose another."""
        self.cards[name].radio.setChecked(True)
        self._touched = False


class _Body(Panel):
    """What a chosen card shows under its text."""

    def __init__(self, widgets: tuple[QWidget, ...]) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            column.addWidget(widget)
