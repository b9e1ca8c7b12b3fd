# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins the first steps to the model, the doctor, the demo and the chat; they are offered once."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsSettings
from qgis.PyQt.QtCore import QObject, pyqtSignal
from qgis.PyQt.QtWidgets import QAction, QPushButton, QWidget

from ..ui.fetch_view import FetchView
from ..ui.first_run_dialog import FirstRunDialog
from ..ui.icon import mark
from ..ui.model_view import Action, ModelView
from .log import TAB

_OFFERED = "geo_olm/first_steps_offered"


class FirstRun(QObject):
    """At most one dialog, which never blocks QGIS. Main thread only.

    The signals say what the user wants there; `model_chosen` carries a name, `question_chosen`
    a question. `action` opens the dialog.
    """

    download_requested = pyqtSignal()
    cancel_requested = pyqtSignal()
    options_requested = pyqtSignal()
    model_chosen = pyqtSignal(str)
    check_requested = pyqtSignal()
    demo_requested = pyqtSignal()
    question_chosen = pyqtSignal(str)

    def __init__(self, iface: Any) -> None:
        super().__init__()
        self._iface = iface
        self._layers: tuple[Any, ...] = ()
        self._model, self._fetch = ModelView(), FetchView()
        self._dialog: FirstRunDialog | None = None
        self.action = QAction(mark(), self.tr("First steps"), self)
        self.action.setObjectName("GeoOlmFirstSteps")
        self.action.triggered.connect(lambda _on=False: self.open())

    def offer(self) -> None:
        """Offer the first steps in QGIS's message bar, once in a profile."""
        store = QgsSettings()
        if store.value(_OFFERED, False, type=bool):
            return
        store.setValue(_OFFERED, True)
        bar = self._iface.messageBar()
        text = self.tr("Geo-OLM is installed. The first steps take a few minutes.")
        item = bar.createMessage(TAB, text)
        button = QPushButton(self.tr("First steps"), item)
        button.setObjectName("GeoOlmOfferFirstSteps")
        button.clicked.connect(lambda _on=False: self._take_offer(item))
        item.layout().addWidget(button)
        bar.pushWidget(item)

    def open(self) -> FirstRunDialog:
        """Show the first steps with what is known now."""
        if self._dialog is None:
            self._dialog = self._made(self._iface.mainWindow())
        self._dialog.show()
        self._dialog.raise_()
        return self._dialog

    def set_model(self, view: ModelView) -> None:
        """Take the model that was found."""
        self._model = view
        if self._dialog is not None:
            self._dialog.model.set_model(view)

    def set_fetch(self, view: FetchView) -> None:
        """Take how far a download is."""
        self._fetch = view
        if self._dialog is not None:
            self._dialog.model.set_fetch(view)

    def set_layers(self, layers: tuple[Any, ...]) -> None:
        """Take the project's layers, for the questions."""
        self._layers = layers
        if self._dialog is not None:
            self._dialog.set_layers(layers)

    def close(self) -> None:
        """Close the dialog; a download goes on."""
        if self._dialog is not None:
            self._dialog.close()
            self._dialog.deleteLater()
            self._dialog = None

    def _take_offer(self, item: QWidget) -> None:
        self._iface.messageBar().popWidget(item)
        self.open()

    def _made(self, parent: QWidget) -> FirstRunDialog:
        dialog = FirstRunDialog(parent)
        dialog.model.set_model(self._model)
        dialog.model.set_fetch(self._fetch)
        dialog.set_layers(self._layers)
        dialog.model.action_chosen.connect(self._act)
        dialog.model.model_chosen.connect(self.model_chosen)
        dialog.check_requested.connect(self.check_requested)
        dialog.demo_requested.connect(self.demo_requested)
        dialog.question_chosen.connect(self.question_chosen)
        return dialog

    def _act(self, action: Action) -> None:
        {
            Action.DOWNLOAD: self.download_requested,
            Action.CANCEL_DOWNLOAD: self.cancel_requested,
            Action.MODEL_FILE: self.options_requested,
            Action.OPTIONS: self.options_requested,
        }[action].emit()
