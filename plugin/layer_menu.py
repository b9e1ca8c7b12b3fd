# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts "Ask about this layer" into the menu of QGIS's layer tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.PyQt.QtCore import QObject
from qgis.PyQt.QtWidgets import QAction, QMenu

from ..ui.icon import mark


class LayerMenu(QObject):
    """Adds its action whenever the menu opens over layers; groups give their layers.

    `chosen` takes the layers, as pairs of id and name. Main thread only.
    """

    def __init__(self, view: Any, chosen: Callable[[list[tuple[str, str]]], None]) -> None:
        super().__init__()
        self._view = view
        self._chosen = chosen
        view.contextMenuAboutToShow.connect(self._extend)

    def close(self) -> None:
        """Leave the menu as QGIS makes it."""
        self._view.contextMenuAboutToShow.disconnect(self._extend)

    def _extend(self, menu: QMenu) -> None:
        layers = [(one.id(), one.name()) for one in self._view.selectedLayersRecursive()]
        if not layers:
            return
        text = self.tr("Ask about this layer")
        if len(layers) > 1:
            text = self.tr("Ask about these {0} layers").format(len(layers))
        menu.addSeparator()
        action = QAction(mark(), text, menu)
        action.setObjectName("GeoOlmAskAboutLayers")
        action.triggered.connect(lambda _on=False: self._chosen(layers))
        menu.addAction(action)
