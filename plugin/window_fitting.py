# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits the chat into QGIS's own places: locator bar, layer tree, shortcuts, help menu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qgis.core import Qgis, QgsProject
from qgis.PyQt.QtCore import QObject, Qt
from qgis.PyQt.QtWidgets import QAction

from ..tools.base import ToolError
from ..ui.chat_dock import ChatDock
from ..ui.help_page import HelpPage
from ..ui.icon import mark, theme_icon
from .layer_menu import LayerMenu
from .locator_filter import LocatorFilter
from .log import TAB
from .place import ROOT
from .source import opened_in


class WindowFitting(QObject):
    """What stands outside of the dock and leads into it; `close` takes all of it out again.

    `shown` are the actions that others made and that are to have a shortcut. Main thread only.
    """

    def __init__(self, iface: Any, dock: ChatDock, shown: tuple[QAction, ...]) -> None:
        super().__init__()
        self._iface = iface
        self._dock = dock
        self._page: HelpPage | None = None
        self._filter = LocatorFilter(lambda: dock.composer.field.asked, self.ask)
        iface.registerLocatorFilter(self._filter)
        dock.composer.field.files_dropped.connect(self._open_files)
        self._menu = LayerMenu(iface.layerTreeView(), self.name_layers)
        self.about_layer = QAction(mark(), self.tr("Ask about the active layer"), self)
        self.about_layer.setObjectName("GeoOlmAskAboutActiveLayer")
        self.about_layer.triggered.connect(lambda _on=False: self._name_active())
        self._shortcuts = (*shown, self.about_layer)
        for action in self._shortcuts:
            iface.registerMainWindowAction(action, "")
        self.help = QAction(theme_icon("mActionHelpContents"), self.tr("Geo-OLM"), self)
        self.help.setObjectName("GeoOlmHelp")
        self.help.triggered.connect(lambda _on=False: self._show_help())
        iface.pluginHelpMenu().addAction(self.help)

    def ask(self, question: str, plan: bool = False) -> None:
        """Show the chat and ask; without a model the question waits in the field."""
        dock = self._dock
        dock.setUserVisible(True)
        if plan:
            dock.composer.plan_first.setChecked(True)
        if dock.composer.can_ask:
            dock.ask(question)
            return
        dock.composer.put_back(question)
        dock.composer.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def name_layers(self, layers: list[tuple[str, str]]) -> None:
        """Show the chat and name layers, pairs of id and name, in the question."""
        self._dock.setUserVisible(True)
        self._dock.composer.field.name_layers(layers)

    def close(self) -> None:
        """Take everything out again, in reverse."""
        if self._page is not None:
            self._page.close()
            self._page = None
        self._iface.pluginHelpMenu().removeAction(self.help)
        for action in reversed(self._shortcuts):
            self._iface.unregisterMainWindowAction(action)
        self._menu.close()
        self._dock.composer.field.files_dropped.disconnect(self._open_files)
        self._iface.deregisterLocatorFilter(self._filter)

    def _open_files(self, paths: list[str]) -> None:
        """Add dropped files to the project as layers, and name them in the question."""
        added: list[tuple[str, str]] = []
        for path in paths:
            try:
                layers = opened_in(path, QgsProject.instance())
            except ToolError as error:
                self._warn(error.message)
                continue
            if not layers:
                name = Path(path).name
                self._warn(self.tr("QGIS cannot open {0} as a layer.").format(name))
            added += [(one.id(), one.name()) for one in layers]
        self._dock.composer.field.name_layers(added)

    def _warn(self, text: str) -> None:
        self._iface.messageBar().pushMessage(TAB, text, Qgis.MessageLevel.Warning)

    def _name_active(self) -> None:
        layer = self._iface.activeLayer()
        self.name_layers([] if layer is None else [(layer.id(), layer.name())])

    def _show_help(self) -> None:
        if self._page is None:
            self._page = HelpPage(ROOT / "README.md", self._iface.mainWindow())
        self._page.show()
        self._page.raise_()
